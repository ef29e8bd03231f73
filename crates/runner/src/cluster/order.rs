//! What a share is given: the resolved run, or the chunks that it loads, so that nothing depends on the
//! settings, the environment or the folder of its host; and how to reach the database. The password
//! is in it, because hosts have none of their own: it goes to the share's stdin, never to a command
//! line or a file.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use triphammer_core::SpecError;
use triphammer_core::session::Database as _;
use triphammer_core::spec::{RunSpec, Sessions};
use triphammer_core::workload::{Workload as _, WorkloadSettings};
use triphammer_dialects::catalogues;
use triphammer_engine::Share;
use triphammer_load::Plan;
use triphammer_settings::command::{Command, JobKind};
use triphammer_settings::failure::Failure;
use triphammer_settings::target::{Origin, Reach, Secrets, Target, open};
use triphammer_settings::worker_pool::identify;
use triphammer_settings::{Settings, Source};
use triphammer_workloads::AnyWorkload;
use triphammer_workloads::describe;

use crate::resources;

/// What a process is to do.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Order {
    Run(Box<RunOrder>),
    Build(BuildOrder),
}

/// A share of a run.
#[derive(Serialize, Deserialize)]
pub(super) struct RunOrder {
    /// Name of the workload.
    pub workload: String,
    /// The workload's settings, as resolved.
    pub settings: WorkloadSettings,
    /// How the whole run is driven.
    pub spec: RunSpec,
    /// Whether there are as many worker threads as CPUs.
    pub threads_by_cpus: bool,
    /// Number of the share, from 0.
    pub index: u32,
    /// Number of shares.
    pub of: u32,
    /// How to reach the database.
    pub target: SentTarget,
}

/// Chunks of a build.
#[derive(Serialize, Deserialize)]
pub(super) struct BuildOrder {
    /// Name of the workload.
    pub workload: String,
    /// The workload's settings, as resolved.
    pub settings: WorkloadSettings,
    /// The chunks, as positions in the workload's list.
    pub chunks: Vec<usize>,
    /// Number of parallel sessions; `None` for twice as many as CPUs.
    pub jobs: Option<u32>,
    /// How to reach the database.
    pub target: SentTarget,
}

/// A target, for a process on another host.
#[derive(Serialize, Deserialize)]
pub(super) struct SentTarget {
    /// Its settings.
    given: Vec<(String, String)>,
    /// Password given outside the URL.
    password: Option<String>,
}

impl SentTarget {
    pub fn new(origin: &Origin) -> Self {
        let password = origin.password.as_ref().map(|secret| secret.reveal().to_owned());
        Self { given: origin.given.clone(), password }
    }

    /// Opens the database, and identifies the server.
    pub fn open(self, kind: JobKind, workload: &str) -> Result<Target, Failure> {
        let mut settings = Settings::new(Command::Job(kind));
        for (name, value) in self.given {
            settings.set(&name, value, Source::Flag);
        }
        let workload = describe(workload)?;
        let target = open(&mut settings, Some(&workload), &SentPassword(self.password))?;
        identify(&workload, &target.database)?;
        Ok(target)
    }
}

impl RunOrder {
    /// Resolves it on this host.
    pub fn plan(self) -> Result<Plan, Failure> {
        let database = self.target.open(JobKind::Run, &self.workload)?.database;
        let workload = Arc::new(AnyWorkload::new(&self.workload, &self.settings)?);
        let catalogue = catalogues::catalogue(
            workload.description(),
            database.dialect(),
            database.capabilities().procedures,
        )?;
        let share = Share::new(self.index, self.of, &self.spec)?;
        let mut spec = self.spec;
        if self.threads_by_cpus && !database.capabilities().blocks {
            spec.threads = cpus();
        }
        resources::check(&part(&spec, share), &database)?;
        Ok(Plan { workload, database, nodes: None, catalogue: Arc::new(catalogue), spec, share })
    }
}

/// Number of CPUs that this process may use.
pub(super) fn cpus() -> u32 {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    u32::try_from(cpus).unwrap_or(u32::MAX)
}

/// What a share needs of its host, as a run of its own.
fn part(spec: &RunSpec, share: Share) -> RunSpec {
    let count = |all| {
        let ids = share.range(all);
        ids.end - ids.start
    };
    let mut part = spec.clone();
    part.users = count(spec.users);
    if let Sessions::Pool(sessions) = spec.pacing.sessions {
        part.pacing.sessions = Sessions::Pool(count(sessions));
    }
    part
}

/// The password that was sent.
struct SentPassword(Option<String>);

impl Secrets for SentPassword {
    fn variable(&self, name: &str) -> Option<String> {
        match name {
            "TRIPHAMMER_PASSWORD" => self.0.clone(),
            _ => None,
        }
    }

    fn prompt(&self, _: &str) -> Result<String, SpecError> {
        Err(SpecError::new("a host of a run cannot ask for the password"))
    }

    fn reach(&self) -> Reach {
        Reach::Process
    }

    fn is_of_client(&self) -> bool {
        false
    }
}
