//! The engine: drives a workload on a database as a [`RunSpec`] specifies, and returns what
//! happened.
//!
//! ```text
//!  caller's thread        control thread (control.rs)       N worker threads (worker.rs)
//!  ───────────────        ───────────────────────────       ────────────────────────────
//!  start(plan) ────────►  waits until all are connected ◄── connect their users
//!                         go(clock) ──────────────────────► each session: the one loop
//!  events  ◄───────────   merges seconds, sets phases   ◄── one Interval per second
//!  stop(), abort() ────►  moves the stop signal ──────────► users end, or are dropped
//!  join()  ◄───────────   RunEnd, identities checked    ◄── totals
//! ```
//!
//! A worker thread owns its users, their sessions, generators and histograms. It sends one interval
//! per second, and receives the stop signal and heartbeats. Besides the plan, threads share only
//! the number of the next arrival of an open load (`queue`), the states of nodes, and per session
//! the start of its attempt and how to cancel it (`slots`).
//!
//! ```text
//! control thread  control    combines the modules of this block
//!   course                   phases, sums of the seconds, outages, events
//!   workers                  the worker threads as seen from outside
//!   merge accounts           parts to seconds; verifies the counts
//!   load_change planned      another rate, number of users or mix, by request or as planned
//!   phases demand outage     clock and window; offered load; stretches without service
//!   outbox node_events       events and notes; losses and promotions of nodes
//!   host procfs              CPUs and processes of this host
//! several hosts   share      the part of a run that this process drives
//!   hosts/                   the coordinator, and the hosts' side of it
//! worker thread   thread     a runtime or a ring
//!   worker session_slot      connects and ends; the one loop
//!   turn virtual_user        who is next, and when; users, terminals, arrivals
//!   slices cpus              when a half of a pair works, and where
//!   node_sessions node_watch a slot's session on each node; asks the nodes
//!   silence failing          ends waits for silent nodes; slows down what fails at once
//!   context                  what the sessions share, combined from the modules below
//!     ledger slots uplink    counts; attempts in flight; to the control thread
//!     waiting                timer_queue, wake_timer and queue
//!     probes lag             gauges
//!   metered recorded         sessions with a meter, and with a record of their SQL
//!   exemplar replay          the slowest transactions, and their repetition
//! ```

mod accounts;
mod context;
mod control;
mod course;
mod cpus;
mod demand;
mod exemplar;
mod failing;
mod host;
pub mod hosts;
mod lag;
mod ledger;
mod load_change;
pub mod merge;
mod metered;
mod node_events;
mod node_sessions;
mod node_watch;
mod outage;
mod outbox;
mod phases;
mod planned;
mod probes;
mod procfs;
mod queue;
mod recorded;
mod replay;
mod session_slot;
mod share;
mod signal;
mod silence;
mod slots;
mod thread;
mod timer_queue;
mod uplink;
mod user_tasks;
mod virtual_user;
mod waiting;
mod wake_timer;
mod worker;
mod workers;

use std::ops::Range;
use std::sync::Arc;
use std::thread::JoinHandle;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use triphammer_core::clock::Elapsed;
use triphammer_core::error::{DbError, ErrorClass};
use triphammer_core::event::{Event, Note};
use triphammer_core::nodes::{NodeInterval, Nodes};
pub use triphammer_core::origin::Origin;
use triphammer_core::pace::LoadChanged;
use triphammer_core::recorder::{Gauges, LoginInterval, TypeInterval};
use triphammer_core::session::Database;
use triphammer_core::spec::RunSpec;
use triphammer_core::sql::StatementCatalogue;
use triphammer_core::value::Timestamp;
use triphammer_core::workload::Workload;

pub use accounts::Violation;
pub use cpus::NOT_DIVIDED;
pub use exemplar::{EXEMPLARS, Exemplar};
pub use load_change::CHANGES_MAX;
pub use metered::Metered;
pub use node_events::{Failover, NodeChange};
pub use replay::{Replay, replay};
pub use share::Share;
pub use signal::StopHandle;

/// Seconds that may wait in the channel to the sinks; further seconds are merged.
const EVENTS_MAX: usize = 256;

/// Inputs of a run: the workload, the database, its SQL, and how it is driven.
#[derive(Debug)]
pub struct RunPlan<W, D> {
    /// Workload whose transactions are run.
    pub workload: Arc<W>,
    /// Database to run it on.
    pub database: Arc<D>,
    /// The nodes that transactions are routed to; `None` for a single server, the database.
    pub nodes: Option<Arc<Nodes<D>>>,
    /// The workload's SQL in the database's dialect.
    pub catalogue: Arc<StatementCatalogue>,
    /// How the whole run is driven.
    pub spec: RunSpec,
    /// Which share of the run this process drives.
    pub share: Share,
}

impl<W, D> Clone for RunPlan<W, D> {
    fn clone(&self) -> Self {
        Self {
            workload: Arc::clone(&self.workload),
            database: Arc::clone(&self.database),
            nodes: self.nodes.clone(),
            catalogue: Arc::clone(&self.catalogue),
            spec: self.spec.clone(),
            share: self.share,
        }
    }
}

impl<W, D> RunPlan<W, D> {
    /// Number of nodes that have sessions of users.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.nodes.as_ref().map_or(1, |nodes| nodes.list.len())
    }

    /// The database handle of a node.
    fn database_of(&self, node: usize) -> &Arc<D> {
        self.nodes.as_ref().map_or(&self.database, |nodes| &nodes.list[node].database)
    }
}

/// A run in progress. All of it may be used from any thread.
#[derive(Debug)]
pub struct RunHandle {
    /// Events of the run, in order; the channel closes when the run has ended.
    pub events: mpsc::Receiver<Event>,
    stopper: StopHandle,
    control: JoinHandle<Result<RunEnd, RunError>>,
}

impl RunHandle {
    /// Returns a handle that stops or aborts the run.
    #[must_use]
    pub fn stopper(&self) -> StopHandle {
        self.stopper.clone()
    }

    /// The events, a handle that ends the run, and what waits for its end; for callers that do not
    /// keep them together.
    pub fn into_parts(
        self,
    ) -> (
        mpsc::Receiver<Event>,
        StopHandle,
        impl FnOnce() -> Result<RunEnd, RunError> + Send + 'static,
    ) {
        let Self { events, stopper, control } = self;
        (events, stopper, move || {
            control.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Waits for the end. Read `events` to the end first, or drop them.
    ///
    /// # Errors
    /// When the run could not start.
    ///
    /// # Panics
    /// When the engine panicked, which is a defect.
    pub fn join(self) -> Result<RunEnd, RunError> {
        drop(self.events);
        self.control.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// Why a run did not start.
#[derive(Debug, thiserror::Error)]
#[error("connected {connected} of {of} virtual users: {error}")]
pub struct RunError {
    /// Number of virtual users that had a session.
    pub connected: u32,
    /// Number of virtual users requested.
    pub of: u32,
    /// The error that stopped the run from starting.
    pub error: DbError,
}

/// The output of a run, from its zero to the end of the last transaction.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunEnd {
    /// Date and time of the run's zero.
    pub started_at: Timestamp,
    /// Time of the last transaction's end, since zero.
    pub ended: Elapsed,
    /// The actual timed window: shorter than requested when the run was stopped within it, empty
    /// when the run never reached it.
    pub window: Window,
    /// Transactions started, by type.
    pub started: Vec<u64>,
    /// Transactions in flight when the run was aborted, by type.
    pub in_flight: Vec<u64>,
    /// Counts of all transactions, by type, including ramp-up and drain.
    pub run: Vec<TypeInterval>,
    /// Counts of transactions that ended in the timed window, by type.
    pub timed: Vec<TypeInterval>,
    /// Outcome of the arrivals; `None` unless the load is open.
    pub offered: Option<Offered>,
    /// Time from due to the start of the first attempt, of transactions that ended in the timed
    /// window, µs; `None` where the load is closed.
    #[serde(with = "triphammer_core::histogram::optional")]
    pub pool_wait: Option<Histogram<u64>>,
    /// Largest number of arrivals, or terminals, waiting for a session at the end of a second of
    /// the timed window; `None` where the load is closed.
    pub backlog_max: Option<u64>,
    /// The slowest transactions that ended in the timed window, the slowest first.
    pub exemplars: Vec<Exemplar>,
    /// Measurements of the client and its host in the timed window; round trips of the whole run.
    pub gauges: Gauges,
    /// CPU time of each worker thread since zero, in nanoseconds.
    pub worker_cpu_ns: Vec<u64>,
    /// Numbers of sessions lost and reconnected.
    pub sessions: (u64, u64),
    /// Sessions opened at the start, during the run, and in the timed window.
    #[serde(default)]
    pub logins: RunLogins,
    /// Sessions that were lost and not reconnected before the end.
    pub away: u32,
    /// What happened on each node, in the whole run and in the timed window; empty for a single
    /// server.
    pub nodes: Vec<[NodeInterval; 2]>,
    /// Changes of the load by request, in order.
    #[serde(default)]
    pub load_changes: Vec<LoadChanged>,
    /// Losses, returns and promotions of nodes, in order.
    pub node_changes: Vec<NodeChange>,
    /// Moves of the writes from one node to another, in order.
    pub failovers: Vec<Failover>,
    /// Ranges of seconds, in ramp-up and window, in which no transaction completed although some
    /// should have.
    pub outages: Vec<Range<u64>>,
    /// Counting identities that do not hold, which is a defect of the engine. The counts cannot be
    /// trusted then.
    pub violations: Vec<Violation>,
    /// Statements and calls sent by committed and rolled-back transactions: round trips.
    pub round_trips: u64,
    /// The first error of each type and class, with its number of occurrences.
    pub errors: Vec<ErrorSample>,
    /// How the run ended.
    pub ending: RunEnding,
    /// Remarks made during the run.
    pub notes: Vec<Note>,
    /// What each host did, if several drove the run; otherwise empty.
    pub hosts: Vec<hosts::HostEnd>,
}

/// Logins of a run, by its parts.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RunLogins {
    /// Those before the run's zero: one of each session.
    pub start: LoginInterval,
    /// Those after it, of the whole run.
    pub run: LoginInterval,
    /// Those in the timed window.
    pub window: LoginInterval,
}

/// Outcome of the arrivals of an open load, in the whole run.
///
/// ```text
/// offered = started + skipped + never started
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offered {
    /// Arrivals that were due before the stop.
    pub offered: u64,
    /// Arrivals skipped because they were too late, as [`Late`](triphammer_core::pace::Late) specifies.
    pub skipped: u64,
    /// Arrivals dropped from the backlog, or still waiting when the run stopped.
    pub never_started: u64,
}

/// A range of time on the run's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "a start and an end")]
pub struct Window {
    pub start: Elapsed,
    pub end: Elapsed,
}

impl Window {
    /// Length in seconds.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.end.duration().saturating_sub(self.start.duration()).as_secs_f64()
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RunEnding {
    /// Ended by the clock, or because all users finished their work.
    Complete,
    /// Stopped early; transactions in flight were completed.
    Stopped,
    /// Stopped, and transactions in flight were abandoned.
    Aborted,
    /// Every virtual user ended early, because the database rejected it permanently.
    UsersEnded,
}

/// The first error of a kind, with its count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorSample {
    /// Index of the transaction type.
    pub transaction: usize,
    /// Class that the driver assigned to the error.
    pub class: ErrorClass,
    /// Error message, without secrets.
    pub message: String,
    /// Number of attempts that ended with it, including retried ones.
    pub count: u64,
}

/// Starts a run on its own threads.
///
/// # Errors
/// When a thread or its event loop cannot be created.
pub fn start<W: Workload, D: Database>(plan: RunPlan<W, D>) -> std::io::Result<RunHandle> {
    start_gated(plan, None)
}

/// Does the same; with a gate, no transaction starts before the instant that it receives.
///
/// # Errors
/// As [`start`].
pub fn start_gated<W: Workload, D: Database>(
    plan: RunPlan<W, D>,
    gate: Option<hosts::Gate>,
) -> std::io::Result<RunHandle> {
    let (events, receiver) = mpsc::channel(EVENTS_MAX);
    let (stopper, signal) = signal::channel();
    let control_stopper = stopper.clone();
    let runtime = Arc::new(runtime()?);
    let control = std::thread::Builder::new().name("control".into()).spawn(move || {
        let shared = Arc::clone(&runtime);
        runtime.block_on(control::threaded(plan, events, control_stopper, signal, gate, shared))
    })?;
    Ok(RunHandle { events: receiver, stopper, control })
}

/// Runs on the calling task's thread, with all users in one worker; for tests in virtual time.
///
/// # Errors
/// When the run could not start.
pub async fn run_here<W: Workload, D: Database>(
    plan: RunPlan<W, D>,
    events: mpsc::Sender<Event>,
    run: impl AsyncFnOnce(StopHandle),
) -> Result<RunEnd, RunError> {
    run_here_gated(plan, events, None, run).await
}

/// Does the same; with a gate, no transaction starts before the instant that it receives.
///
/// # Errors
/// As [`run_here`].
pub async fn run_here_gated<W: Workload, D: Database>(
    plan: RunPlan<W, D>,
    events: mpsc::Sender<Event>,
    gate: Option<hosts::Gate>,
    run: impl AsyncFnOnce(StopHandle),
) -> Result<RunEnd, RunError> {
    let (stopper, signal) = signal::channel();
    let local = tokio::task::LocalSet::new();
    local
        .run_until(async {
            let run = run(stopper.clone());
            tokio::join!(control::here(plan, events, stopper.clone(), signal, gate), run).0
        })
        .await
}

/// The error of a run that nobody lets start.
fn called_off() -> DbError {
    DbError::new(ErrorClass::Cancelled, "ended before the start")
}

/// Creates the runtime of a thread that owns its work.
///
/// # Errors
/// When the system has no file descriptor or event left for it.
pub fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

/// Context of the error when a [`runtime`] cannot be created.
pub const NO_RUNTIME: &str = "creating an event loop (check the limit on open files: `ulimit -n`)";
