//! What jobs with a load of their own have in common, a drill and a test of isolation: their settings,
//! the build of their tables, and how they are stored.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use triphammer_core::Scale;
use triphammer_core::clock::wall;
use triphammer_core::session::Database as _;
use triphammer_core::spec::SESSIONS_MAX;
use triphammer_core::sql::StatementCatalogue;
use triphammer_core::workload::WorkloadSettings;
use triphammer_dialects::catalogues;
use triphammer_document::{Document, JobDocument};
use triphammer_settings::failure::Failure;
use triphammer_settings::fault::{self, Fault};
use triphammer_settings::target::Target;
use triphammer_settings::{GivenValue, Settings};
use triphammer_store::Store;
use triphammer_workloads::AnyWorkload;

use crate::build::build;
use crate::build_request::BuildRequest;
use crate::job::{FinishedJob, Job};
use crate::journal::Journal;
use crate::watch::{JobEvent, Watch};

/// Seeds are small enough to be typed.
const SEEDS: u64 = 1_000_000_000;

/// The settings of the load.
pub(crate) struct LoadSettings {
    pub(crate) users: u32,
    pub(crate) duration: Duration,
    pub(crate) faults: Vec<Fault>,
    pub(crate) seed: u64,
    attempt: Duration,
}

impl LoadSettings {
    /// Reads them; `users` are those where one writes at a time, and where several do.
    pub(crate) fn read(
        settings: &mut Settings,
        target: &Target,
        users: [u32; 2],
    ) -> Result<Self, Failure> {
        let [of_one_writer, of_several] = users;
        let one_writer = target.database.capabilities().one_writer;
        let users = if one_writer { of_one_writer } else { of_several };
        let duration = settings.duration("duration")?;
        Ok(Self {
            users: settings.count_or("vus", SESSIONS_MAX, || users)?,
            duration,
            faults: fault::faults(settings, duration)?,
            seed: settings.parse_or("seed", || wall().0.unsigned_abs() % SEEDS)?,
            attempt: settings.duration("transaction-timeout")?,
        })
    }

    /// The statements of the job's workload; rejects faults that need others.
    pub(crate) fn catalogue(&self, job: &Job) -> Result<StatementCatalogue, Failure> {
        let database = &job.target().database;
        let catalogue = catalogues::catalogue(job.workload(), database.dialect(), false)?;
        fault::refuse_impossible(&self.faults, database, &catalogue)?;
        Ok(catalogue)
    }

    /// The settings of a run of this length.
    pub(crate) fn of_run(
        &self,
        settings: &Settings,
        duration: Duration,
        more: impl IntoIterator<Item = (&'static str, GivenValue)>,
    ) -> Settings {
        let decided = [
            ("vus", self.users.into()),
            ("seed", self.seed.into()),
            ("rampup", Duration::ZERO.into()),
            ("duration", duration.into()),
            ("transaction-timeout", self.attempt.into()),
            // Failures are what such a load is about.
            ("max-failures", GivenValue::from("100%")),
            // Observers would report every outage, too.
            ("no-observe", GivenValue::from("true")),
        ];
        let decided = decided.into_iter().chain(more);
        let decided: Vec<_> = decided.map(|(name, value)| (name.to_owned(), value)).collect();
        settings.of_run(&decided)
    }
}

/// Builds the tables, in place of those of an earlier job, does `work`, and stores how it ended.
pub(crate) fn conduct<D: JobDocument + Into<Document>>(
    job: &Job,
    users: u32,
    store: Option<&mut Store>,
    watch: &Watch<'_>,
    work: impl FnOnce(&mut Journal<'_>) -> Result<D, Failure>,
) -> Result<FinishedJob, Failure> {
    let warn = &mut |text: &str| watch.warn(text);
    let of = (&**job.workload(), job.target());
    let mut journal = Journal::of_own_load(store, job.kind(), of, job.settings(), users, warn);
    watch.report(JobEvent::Began(journal.job));
    let done = build_tables(job, watch).and_then(|()| work(&mut journal));
    job.handle().ended();
    match done {
        Ok(result) => {
            journal.checkpoint(&result, result.primary_metric(), warn);
            journal.end_with(&result, warn);
            let status = result.head().status;
            let stored = FinishedJob::stored(result, journal.job, journal.is_whole());
            Ok(FinishedJob { status, ..stored })
        }
        Err(failure) => {
            journal.failed(&failure, warn);
            Err(failure)
        }
    }
}

fn build_tables(job: &Job, watch: &Watch<'_>) -> Result<(), Failure> {
    let target = job.target();
    let settings = WorkloadSettings { scale: Scale::ONE, ..WorkloadSettings::default() };
    let request = BuildRequest {
        workload: Arc::new(AnyWorkload::new(&job.workload().name, &settings)?),
        settings,
        dialect_options: BTreeMap::new(),
        jobs: 1,
        replace: true,
        force: false,
        add: false,
        create_database: false,
        observe: None,
        host_exporter: None,
        hosts: None,
        connect_limit: target.connect_limit,
        cancel: job.handle().cancel().clone(),
    };
    build(&target.database, &request, watch, &mut || None).map(drop)
}
