//! A run or a build by several hosts: `--cluster`. The engine's part of a run is in
//! [`hosts`](triphammer_engine::hosts); here are the processes and what they are given.
//!
//! Every host has a process of this program, `triphammer share` (`share`), which reads frames from
//! stdin and writes frames to stdout (`frames`): it says who it is, is given its share of the
//! resolved run (`order`), and drives it. The coordinator reads and writes those frames (`processes`).
//! The data of a build is loaded in the same way (`load`): each host is given some of the chunks.
//!
//! ```text
//! --cluster local          processes of this host, by their pipes
//! --cluster ray://…|auto   one process here, the bridge: it starts an actor of Ray on each host, and
//!                          each actor a share; frames carry the number of their host
//! ```
//!
//! The bridge belongs to the Python package, which names it to [`use_programs`]; nothing here knows
//! Ray. A process that is killed closes its pipe, and so is noticed at once at the other end, in
//! either direction.

mod frames;
mod load;
mod order;
mod processes;
mod share;

use std::ffi::OsString;
use std::sync::OnceLock;

use triphammer_core::pace::Load;
use triphammer_core::spec::RunSpec;
use triphammer_core::workload::{Description, Workload as _, WorkloadSettings};
use triphammer_core::{DbError, ErrorClass, SpecError};
use triphammer_engine::hosts::{Coordination, FromShare, OnHostLoss, Permit, coordinate};
use triphammer_engine::{RunError, RunHandle};
use triphammer_load::Plan;
use triphammer_settings::Settings;
use triphammer_settings::command::{Command, JobKind};
use triphammer_settings::failure::Failure;
use triphammer_settings::handle::Handle;
use triphammer_settings::target::{Origin, Target};

use crate::watch::Watch;
use order::{Order, RunOrder, SentTarget};
use processes::{Message, Messages};

pub use load::SharedBuild;
pub(crate) use processes::Processes;
pub use share::share;

/// Name of the command, which is not for users.
pub const SHARE: &str = "share";
/// Maximum number of hosts of a run.
pub const HOSTS_MAX: u32 = 1_000;
/// Number of processes of a run on this host, unless given.
const LOCAL_HOSTS: u32 = 2;
/// Where the hosts are if they are processes of this host.
const LOCAL: &str = "local";
/// An address of Ray, or the cluster that this host belongs to.
const RAY_PREFIX: &str = "ray://";
const RAY_AUTO: &str = "auto";

/// Programs that a run by several hosts starts.
#[derive(Clone, Debug)]
pub struct Programs {
    /// The beginning of the command line of this program.
    pub this: Vec<OsString>,
    /// That of the bridge to Ray; `None` without the Python package.
    pub bridge: Option<Vec<OsString>>,
}

static PROGRAMS: OnceLock<Programs> = OnceLock::new();

/// Names the programs, where this library is not in the program itself. The first call counts.
pub fn use_programs(programs: Programs) {
    let _ = PROGRAMS.set(programs);
}

/// The programs; by default, the one that is running.
fn programs() -> std::io::Result<Programs> {
    match PROGRAMS.get() {
        Some(programs) => Ok(programs.clone()),
        None => Ok(Programs { this: vec![std::env::current_exe()?.into()], bridge: None }),
    }
}

/// Why queries are not shared.
const QUERIES: &str = "queries are run by one process";

/// Where the hosts of a run are.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    /// Processes of this host.
    Local,
    /// Nodes of the Ray cluster at this address.
    Ray(String),
}

/// The hosts that a run is spread over.
#[derive(Clone, Debug)]
pub(crate) struct Cluster {
    place: Place,
    /// Number of hosts; `None` for all nodes.
    hosts: Option<u32>,
    on_host_loss: OnHostLoss,
}

impl Cluster {
    /// Reads the settings; `None` for a run by this process.
    ///
    /// # Errors
    /// When a value is invalid, or a setting of a cluster is given without one.
    pub fn from_settings(settings: &mut Settings) -> Result<Option<Self>, SpecError> {
        // Shown only where it is given.
        if settings.get("cluster").is_none() {
            for name in ["hosts", "on-host-loss"] {
                if settings.get(name).is_some() {
                    let message = format!("--{name} applies to a cluster: give --cluster too");
                    return Err(SpecError::new(message).about(name));
                }
            }
            return Ok(None);
        }
        let place = settings.read_or("cluster", parse_place, Place::text, || Place::Local)?;
        let absent = match place {
            Place::Local => "2",
            Place::Ray(_) => "all nodes",
        };
        let hosts = settings.optional("hosts", parse_hosts, u32::to_string, absent)?;
        // A build needs all of its hosts.
        let on_host_loss = match settings.command() {
            Command::Job(JobKind::Build) => OnHostLoss::Abort,
            _ => settings.read("on-host-loss", parse_loss, show_loss)?,
        };
        Ok(Some(Self { place, hosts, on_host_loss }))
    }

    /// Rejects a run that cannot be shared.
    ///
    /// # Errors
    /// With the reason.
    pub fn refuse(
        &self,
        settings: &Settings,
        workload: &Description,
        target: &Target,
        spec: &RunSpec,
    ) -> Result<(), SpecError> {
        let reason = if workload.transactions.is_empty() {
            QUERIES
        } else if matches!(spec.load, Load::Replay(_)) {
            "a recording is a file of this host, and is replayed by one process"
        } else if !spec.pacing.changes.is_empty() {
            "a load that changes (--change) is driven by one process"
        } else if workload.is_of_user() {
            "your own transactions are run by one process"
        } else if self.place != Place::Local && target.is_file() {
            "this database is a file of this host"
        } else if target.nodes.is_some() {
            "transactions are routed to the nodes of a target by one process"
        } else if settings.get("dialect-dir").is_some() {
            "--dialect-dir names a folder of this host"
        } else {
            return Ok(());
        };
        Err(refused(reason))
    }

    /// Starts the processes; they live as long as the first value.
    fn open<M: Message>(&self, watch: &Watch<'_>) -> Result<(Processes, Messages<M>), Failure> {
        match &self.place {
            Place::Local => Processes::local(self.hosts.unwrap_or(LOCAL_HOSTS)),
            Place::Ray(address) => {
                watch.note(&format!("starting a process on each host of Ray at {address}"));
                Processes::by_bridge(address, self.hosts)
            }
        }
    }

    /// Rejects streams of queries beside the transactions.
    ///
    /// # Errors
    /// If there are any.
    pub fn refuse_streams(&self, has_streams: bool) -> Result<(), SpecError> {
        if has_streams { Err(refused(QUERIES)) } else { Ok(()) }
    }
}

fn refused(reason: &str) -> SpecError {
    let message = format!("the load cannot be spread over hosts: {reason}; omit --cluster");
    SpecError::new(message).about("cluster")
}

impl Place {
    fn text(&self) -> String {
        match self {
            Self::Local => LOCAL.to_owned(),
            Self::Ray(address) => address.clone(),
        }
    }
}

fn parse_place(text: &str) -> Result<Place, String> {
    match text.trim() {
        LOCAL => Ok(Place::Local),
        RAY_AUTO => Ok(Place::Ray(RAY_AUTO.to_owned())),
        address if address.len() > RAY_PREFIX.len() && address.starts_with(RAY_PREFIX) => {
            Ok(Place::Ray(address.to_owned()))
        }
        _ => {
            Err("expected the address of a Ray cluster, such as ray://head:10001, or auto on one \
                  of its nodes, or local for several processes on this host"
                .to_owned())
        }
    }
}

fn parse_hosts(text: &str) -> Result<u32, String> {
    let hosts = text.trim().parse().ok().filter(|hosts| (1..=HOSTS_MAX).contains(hosts));
    hosts.ok_or_else(|| format!("expected a number from 1 to {HOSTS_MAX}"))
}

fn parse_loss(text: &str) -> Result<OnHostLoss, String> {
    match text.trim() {
        "continue" => Ok(OnHostLoss::Continue),
        "abort" => Ok(OnHostLoss::Abort),
        _ => Err("expected continue or abort".to_owned()),
    }
}

fn show_loss(on_host_loss: &OnHostLoss) -> String {
    match on_host_loss {
        OnHostLoss::Continue => "continue",
        OnHostLoss::Abort => "abort",
    }
    .to_owned()
}

/// A run that is to be shared.
#[derive(Clone, Debug)]
pub(crate) struct SharedRun {
    cluster: Cluster,
    target: Origin,
    settings: WorkloadSettings,
    /// Whether each host has as many threads as it has CPUs.
    threads_by_cpus: bool,
}

impl SharedRun {
    pub fn new(
        cluster: Cluster,
        settings: &Settings,
        target: &Target,
        of_workload: &WorkloadSettings,
    ) -> Self {
        let threads_by_cpus = settings.get("threads").is_none();
        let (target, settings) = (target.origin.clone(), of_workload.clone());
        Self { cluster, target, settings, threads_by_cpus }
    }

    /// Starts the processes, gives each its share of the plan, and starts the run, in which no
    /// transaction begins before the permit. The processes live as long as the second value.
    ///
    /// # Errors
    /// When a process cannot be started, does not answer, or is of another version.
    pub async fn start(
        &self,
        plan: &Plan,
        handle: &Handle,
        watch: &Watch<'_>,
        permit: Permit,
    ) -> Result<(RunHandle, Processes), Failure> {
        let sessions = plan.spec.sessions();
        let (mut processes, mut messages) = self.cluster.open::<FromShare>(watch)?;
        let known = processes.greet(&mut messages, handle.cancel()).await;
        let known = known.map_err(|failure| match failure {
            Failure::Cancelled => interrupted(sessions).into(),
            other => other,
        })?;
        let mut links = processes.links(known);
        if links.len() > sessions as usize {
            watch.note(&format!(
                "{sessions} of {} hosts drive the load: one per session",
                links.len()
            ));
            links.truncate(sessions as usize);
        }
        let of = u32::try_from(links.len()).unwrap_or(u32::MAX);
        for index in 0..of {
            let order = RunOrder {
                workload: plan.workload.description().name.to_string(),
                settings: self.settings.clone(),
                spec: plan.spec.clone(),
                threads_by_cpus: self.threads_by_cpus,
                index,
                of,
                target: SentTarget::new(&self.target),
            };
            processes.order(index, &Order::Run(Box::new(order)))?;
        }
        let run = coordinate(Coordination {
            spec: plan.spec.clone(),
            types: plan.workload.description().transactions.len(),
            on_host_loss: self.cluster.on_host_loss,
            hosts: links,
            messages,
            permit,
        });
        let run =
            run.map_err(|error| Failure::System { doing: "starting the run".into(), error })?;
        Ok((run, processes))
    }
}

fn interrupted(sessions: u32) -> RunError {
    let error = DbError::new(ErrorClass::Cancelled, "interrupted while the hosts started");
    RunError { connected: 0, of: sessions, error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_is_ray_or_this_host() {
        assert_eq!(parse_place("local"), Ok(Place::Local));
        assert_eq!(parse_place("auto"), Ok(Place::Ray("auto".to_owned())));
        assert_eq!(parse_place("ray://head:10001").unwrap().text(), "ray://head:10001");
        for text in ["", "ray://", "head:10001", "http://head"] {
            assert!(parse_place(text).unwrap_err().contains("ray://head:10001"), "{text}");
        }
        assert!(parse_hosts("0").is_err() && parse_hosts("1001").is_err());
        assert_eq!(parse_loss("abort"), Ok(OnHostLoss::Abort));
    }
}
