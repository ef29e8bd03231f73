//! The data of a build, loaded by several hosts. The coordinator does everything else of the build, holds
//! its advisory lock, and gives each host some of the chunks that are not loaded yet; a host loads
//! them as the coordinator would, each with its record in one transaction.
//!
//! A build needs all of its hosts: when one fails or is lost, the others abandon their work, and the
//! same command resumes the build from the record. A host that no longer hears from the coordinator
//! abandons its work, too.

use std::collections::BTreeMap;
use std::io::{BufReader, Stdin};
use std::mem;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};
use triphammer_core::SpecError;
use triphammer_core::clock::process_cpu_ns;
use triphammer_core::session::{Database as _, Role};
use triphammer_core::workload::{Chunk, Description, Workload as _, WorkloadSettings};
use triphammer_dialects::catalogues;
use triphammer_document::build::BuildHost;
use triphammer_engine::hosts::{FromHost, HEARTBEAT, Hello, SILENCE_MAX};
use triphammer_settings::Settings;
use triphammer_settings::cancel::Cancel;
use triphammer_settings::command::JobKind;
use triphammer_settings::failure::Failure;
use triphammer_settings::target::{Origin, Target};
use triphammer_settings::worker_pool::{WorkerPool, on_this_thread};
use triphammer_workloads::AnyWorkload;

use super::frames;
use super::order::{BuildOrder, Order, SentTarget, cpus};
use super::processes::{Message, Messages, Processes, names};
use super::{Cluster, refused};
use crate::loader::Loader;
use crate::watch::Watch;

/// How often a host reports the rows that it has consumed.
const REPORT: Duration = Duration::from_millis(250);
/// How often the coordinator looks for the end of the job, and for hosts that are silent.
const POLL: Duration = Duration::from_millis(100);

/// Why a build has not ended, and what to do.
const RESUMED: &str = "what was loaded is kept, and the build can be resumed";

/// A message of a host that loads chunks.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FromLoader {
    /// The first message: that of every process.
    Hello(Hello),
    /// Rows by table that were consumed since the last such message. None shows that it is there.
    Rows(BTreeMap<String, u64>),
    /// All of its chunks are loaded; nothing follows.
    Loaded(BuildHost),
    /// They could not be loaded.
    Failed(String),
}

impl Message for FromLoader {
    fn failed(reason: String) -> Self {
        Self::Failed(reason)
    }

    fn greeting(self) -> Option<Result<Hello, String>> {
        match self {
            Self::Hello(hello) => Some(Ok(hello)),
            Self::Failed(reason) => Some(Err(reason)),
            Self::Rows(_) | Self::Loaded(_) => None,
        }
    }
}

/// The hosts that load the data of a build.
#[derive(Clone, Debug)]
pub struct SharedBuild {
    cluster: Cluster,
    target: Origin,
    workload: String,
    settings: WorkloadSettings,
    /// Number of loader sessions of all hosts together; `None` for twice as many as CPUs.
    jobs: Option<u32>,
}

impl SharedBuild {
    /// Reads the settings; `None` for a build by this process.
    ///
    /// # Errors
    /// When a value is invalid, or the data cannot be loaded by several hosts.
    pub(crate) fn from_settings(
        settings: &mut Settings,
        workload: &Description,
        of_workload: &WorkloadSettings,
        target: &Target,
        jobs: u32,
    ) -> Result<Option<Self>, SpecError> {
        let Some(cluster) = Cluster::from_settings(settings)? else { return Ok(None) };
        refuse(settings, workload, target)?;
        Ok(Some(Self {
            cluster,
            target: target.origin.clone(),
            workload: workload.name.to_string(),
            settings: of_workload.clone(),
            jobs: settings.get("jobs").is_some().then_some(jobs),
        }))
    }

    /// Loads chunks, given as positions in the workload's list. Returns the hosts.
    ///
    /// # Errors
    /// When a host fails or is lost; what is recorded is loaded.
    pub(crate) fn load(
        &self,
        chunks: &[usize],
        cancel: &Cancel,
        watch: &Watch<'_>,
    ) -> Result<Vec<BuildHost>, Failure> {
        if chunks.is_empty() {
            return Ok(Vec::new());
        }
        // The caller's thread has a runtime, which cannot have another one within.
        std::thread::scope(|scope| {
            let loading = scope.spawn(|| on_this_thread(self.coordinate(chunks, cancel, watch)));
            loading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    async fn coordinate(
        &self,
        chunks: &[usize],
        cancel: &Cancel,
        watch: &Watch<'_>,
    ) -> Result<Vec<BuildHost>, Failure> {
        let (mut processes, mut messages) = self.cluster.open::<FromLoader>(watch)?;
        let known = processes.greet(&mut messages, cancel).await?;
        let mut names = names(&known);
        // No host without a chunk and a session.
        let jobs = self.jobs.map_or(usize::MAX, |jobs| jobs as usize);
        names.truncate(chunks.len().min(jobs));
        let of = names.len();
        for (index, host) in (0..of).zip(0..) {
            let order = BuildOrder {
                workload: self.workload.clone(),
                settings: self.settings.clone(),
                // Neighbouring chunks are alike, so that all hosts have the same to do.
                chunks: chunks.iter().skip(index).step_by(of).copied().collect(),
                jobs: self.jobs.map(|jobs| part(jobs, index, of)),
                target: SentTarget::new(&self.target),
            };
            processes.order(host, &Order::Build(order))?;
        }
        Hosts::new(names).follow(&processes, &mut messages, cancel, watch).await
    }
}

/// Rejects data that only one process can load.
fn refuse(settings: &Settings, workload: &Description, target: &Target) -> Result<(), SpecError> {
    let reason = if workload.is_of_user() {
        "your own set-up script is run by one process"
    } else if target.is_file() || target.database.capabilities().one_writer {
        "this database is written to by one process"
    } else if settings.get("load-from").is_some() {
        "with --load-from, the server loads the tables itself"
    } else if settings.get("dialect-dir").is_some() {
        "--dialect-dir names a folder of this host"
    } else {
        return Ok(());
    };
    Err(refused(reason))
}

/// The sessions of a host: those of all hosts, divided as evenly as possible.
fn part(jobs: u32, index: usize, of: usize) -> u32 {
    let until = |index: usize| (u64::from(jobs) * index as u64) / of.max(1) as u64;
    u32::try_from(until(index + 1) - until(index)).unwrap_or(u32::MAX)
}

/// The hosts of a build while they load.
struct Hosts {
    names: Vec<String>,
    /// What they have loaded; `None` while they do.
    loaded: Vec<Option<BuildHost>>,
    /// When each was last heard.
    last_signs: Vec<Instant>,
}

impl Hosts {
    fn new(names: Vec<String>) -> Self {
        let (loaded, last_signs) = (vec![None; names.len()], vec![Instant::now(); names.len()]);
        Self { names, loaded, last_signs }
    }

    /// Shows their progress until all have loaded their chunks.
    async fn follow(
        mut self,
        processes: &Processes,
        messages: &mut Messages<FromLoader>,
        cancel: &Cancel,
        watch: &Watch<'_>,
    ) -> Result<Vec<BuildHost>, Failure> {
        let mut shown = Instant::now();
        while self.loaded.iter().any(Option::is_none) {
            match timeout(POLL, messages.recv()).await {
                Ok(Some(message)) => self.take(message, watch)?,
                Ok(None) => return Err(self.failure(0, "the processes of all hosts ended")),
                Err(_) => {}
            }
            if cancel.is_cancelled() {
                return Err(Failure::Cancelled);
            }
            if shown.elapsed() >= HEARTBEAT {
                shown = Instant::now();
                (0..).take(self.names.len()).for_each(|host| processes.show_life(host));
            }
            self.refuse_silence()?;
        }
        Ok(self.loaded.into_iter().flatten().collect())
    }

    fn take(
        &mut self,
        FromHost { host, message }: FromHost<FromLoader>,
        watch: &Watch<'_>,
    ) -> Result<(), Failure> {
        // It has no chunks, or has done its work.
        if self.loaded.get(host).is_none_or(Option::is_some) {
            return Ok(());
        }
        self.last_signs[host] = Instant::now();
        match message {
            Ok(FromLoader::Rows(tables)) => {
                tables.iter().for_each(|(table, rows)| watch.rows(table, *rows));
            }
            Ok(FromLoader::Loaded(loaded)) => {
                self.loaded[host] = Some(BuildHost { host: self.names[host].clone(), ..loaded });
            }
            Ok(FromLoader::Failed(reason)) | Err(reason) => {
                return Err(self.failure(host, &reason));
            }
            Ok(FromLoader::Hello(_)) => {}
        }
        Ok(())
    }

    fn refuse_silence(&self) -> Result<(), Failure> {
        let is_silent = |host: &usize| {
            self.loaded[*host].is_none() && self.last_signs[*host].elapsed() > SILENCE_MAX
        };
        match (0..self.names.len()).find(is_silent) {
            None => Ok(()),
            Some(host) => {
                let reason = format!("it has not reported for {} s", SILENCE_MAX.as_secs());
                Err(self.failure(host, &reason))
            }
        }
    }

    fn failure(&self, host: usize, reason: &str) -> Failure {
        let name = self.names.get(host).map_or("a host", String::as_str);
        Failure::refuse(format!("loading on {name}: {reason}; {RESUMED}"))
    }
}

/// Loads the chunks of an order on this host.
pub(super) fn load(
    order: BuildOrder,
    input: BufReader<Stdin>,
    to: &mpsc::Sender<FromLoader>,
) -> Result<(), Failure> {
    let cancel = Cancel::default();
    follow(input, cancel.clone());
    let (begun, cpu_before) = (Instant::now(), process_cpu_ns());
    let jobs = order.jobs.unwrap_or_else(|| 2 * cpus());
    let workload = AnyWorkload::new(&order.workload, &order.settings)?;
    let chunks = chosen(&workload, &order.chunks)?;
    let consumed = &Mutex::new(BTreeMap::new());
    let (end, ended) = channel();
    let rows = std::thread::scope(|scope| {
        // From now on: a server may not answer for a while.
        scope.spawn(move || report(consumed, to, &ended));
        let target = order.target.open(JobKind::Build, &order.workload);
        let loaded = target.and_then(|target| {
            let pool = WorkerPool {
                database: target.database,
                size: jobs,
                role: Role::Loader,
                connect_limit: target.connect_limit,
                cancel,
            };
            load_with(&pool, &workload, &chunks, consumed)
        });
        drop(end);
        loaded
    })?;
    let loaded = BuildHost {
        host: String::new(),
        jobs: jobs.min(u32::try_from(chunks.len()).unwrap_or(u32::MAX)),
        rows,
        seconds: begun.elapsed().as_secs_f64(),
        cpu_s: Duration::from_nanos(process_cpu_ns().saturating_sub(cpu_before)).as_secs_f64(),
    };
    let _ = to.blocking_send(FromLoader::Loaded(loaded));
    Ok(())
}

/// The chunks at these positions of the workload's list.
fn chosen(workload: &AnyWorkload, positions: &[usize]) -> Result<Vec<Chunk>, Failure> {
    let mut all: Vec<Option<Chunk>> = workload.chunks().into_iter().map(Some).collect();
    let chosen: Option<Vec<Chunk>> =
        positions.iter().map(|at| all.get_mut(*at).and_then(Option::take)).collect();
    chosen.ok_or_else(|| Failure::refuse("the workload has no such chunk"))
}

/// Loads chunks; counts the rows that are consumed, by table.
fn load_with(
    pool: &WorkerPool,
    workload: &AnyWorkload,
    chunks: &[Chunk],
    consumed: &Mutex<BTreeMap<String, u64>>,
) -> Result<u64, Failure> {
    let (description, database) = (workload.description(), &pool.database);
    let procedures = database.capabilities().procedures;
    let catalogue = &catalogues::catalogue(description, database.dialect(), procedures)?;
    let loader = Loader { description, workload, catalogue, pool };
    loader.load(chunks, &|table, rows| {
        let mut consumed = consumed.lock().unwrap_or_else(PoisonError::into_inner);
        *consumed.entry(table.to_owned()).or_default() += rows;
    })
}

/// Reports what was consumed, until the work has ended.
fn report(
    consumed: &Mutex<BTreeMap<String, u64>>,
    to: &mpsc::Sender<FromLoader>,
    ended: &Receiver<()>,
) {
    let mut is_last = false;
    while !is_last {
        is_last = ended.recv_timeout(REPORT) != Err(RecvTimeoutError::Timeout);
        let rows = mem::take(&mut *consumed.lock().unwrap_or_else(PoisonError::into_inner));
        // Without a coordinator, the pipe that `follow` reads ends, too.
        let _ = to.blocking_send(FromLoader::Rows(rows));
    }
}

/// Cancels the work when stdin ends, or brings nothing for too long. The threads end with the process.
fn follow(mut input: BufReader<Stdin>, cancel: Cancel) {
    let (last_signs, signs) = channel();
    std::thread::spawn(move || {
        while matches!(frames::read(&mut input), Ok(Some(_))) && last_signs.send(()).is_ok() {}
    });
    std::thread::spawn(move || {
        while signs.recv_timeout(SILENCE_MAX).is_ok() {}
        cancel.cancel();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_divided_among_hosts() {
        let parts = |jobs, of| (0..of).map(|index| part(jobs, index, of)).collect::<Vec<_>>();
        assert_eq!(parts(8, 4), [2; 4]);
        assert_eq!(parts(3, 2), [1, 2]);
        assert_eq!(parts(2, 2), [1, 1]);
    }

    #[test]
    fn the_first_message_is_that_of_every_process() {
        let hello = r#"{"hello":{"version":"1","host":"a","cpus":2,"boot":""}}"#;
        let of_loader: FromLoader = serde_json::from_str(hello).unwrap();
        assert_eq!(serde_json::to_string(&of_loader).unwrap(), hello);
        let of_share: triphammer_engine::hosts::FromShare = serde_json::from_str(hello).unwrap();
        assert_eq!(of_loader.greeting(), of_share.greeting());
    }
}
