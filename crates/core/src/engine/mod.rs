//! The engine: drives a workload on a database as a [`RunSpec`] says, and gives back what happened.
//!
//! ```text
//!  caller's thread        control thread (control.rs)       N worker threads (worker.rs)
//!  ───────────────        ───────────────────────────       ────────────────────────────
//!  start(plan) ────────►  waits until all are connected ◄── connect their users
//!                         go(clock) ──────────────────────► each user: the one loop (user.rs)
//!  events  ◄───────────   merges seconds, tells phases  ◄── one Interval a second
//!  stop(), abort() ────►  moves the stop signal ──────────► users end, or are dropped
//!  join()  ◄───────────   RunEnd, identities checked    ◄── totals
//! ```
//!
//! A worker thread owns its users, their sessions, generators and histograms; nothing on it is shared
//! but the stop signal, which it reads. Nothing crosses threads more often than once a second.

mod accounts;
mod context;
mod control;
mod demand;
mod exemplar;
mod host;
mod lag;
mod ledger;
pub mod merge;
mod metered;
mod outage;
mod outbox;
mod phases;
mod probes;
mod procfs;
mod queue;
mod recorded;
mod replay;
mod session_slot;
mod share;
mod signal;
mod slots;
mod timer_queue;
mod turn;
mod uplink;
mod virtual_user;
mod waiting;
mod wake_timer;
mod worker;
mod workers;

use std::ops::Range;
use std::sync::Arc;
use std::thread::JoinHandle;

use hdrhistogram::Histogram;
use tokio::sync::mpsc;

use crate::clock::Elapsed;
use crate::error::{DbError, ErrorClass};
use crate::event::{Event, Note};
use crate::recorder::{Gauges, TypeInterval};
use crate::session::Database;
use crate::spec::RunSpec;
use crate::sql::StatementCatalogue;
use crate::value::Timestamp;
use crate::workload::Workload;

pub use accounts::Violation;
pub use exemplar::{EXEMPLARS, Exemplar, Origin};
pub use metered::Metered;
pub use replay::{Replay, replay};
pub use share::Share;
pub use signal::StopHandle;

/// Seconds that may wait in the channel to the sinks before they are merged.
const EVENTS_MAX: usize = 256;

/// What to run.
#[derive(Debug)]
pub struct RunPlan<W, D> {
    /// The workload.
    pub workload: Arc<W>,
    /// The database.
    pub database: Arc<D>,
    /// The workload's SQL in the database's spelling.
    pub catalogue: Arc<StatementCatalogue>,
    /// How the whole of it is driven.
    pub spec: RunSpec,
    /// What of it is driven here.
    pub share: Share,
}

impl<W, D> Clone for RunPlan<W, D> {
    fn clone(&self) -> Self {
        Self {
            workload: Arc::clone(&self.workload),
            database: Arc::clone(&self.database),
            catalogue: Arc::clone(&self.catalogue),
            spec: self.spec.clone(),
            share: self.share,
        }
    }
}

/// A run that goes on. Everything in it may be used from any thread.
#[derive(Debug)]
pub struct RunHandle {
    /// What happens, in order; ends when the run has ended.
    pub events: mpsc::Receiver<Event>,
    stopper: StopHandle,
    control: JoinHandle<Result<RunEnd, RunError>>,
}

impl RunHandle {
    /// A handle that stops or aborts the run.
    #[must_use]
    pub fn stopper(&self) -> StopHandle {
        self.stopper.clone()
    }

    /// Waits for the end. Read `events` to their end first, or drop them.
    ///
    /// # Errors
    /// When the run could not start.
    ///
    /// # Panics
    /// When the engine panicked: a defect.
    pub fn join(self) -> Result<RunEnd, RunError> {
        drop(self.events);
        self.control.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// Why a run did not start.
#[derive(Debug, thiserror::Error)]
#[error("connected {connected} of {of} virtual users: {error}")]
pub struct RunError {
    /// How many virtual users had their session.
    pub connected: u32,
    /// How many were asked for.
    pub of: u32,
    /// The first error.
    pub error: DbError,
}

/// What happened in a run, from its zero to the end of the last transaction.
#[derive(Clone, Debug)]
pub struct RunEnd {
    /// The date and time of zero.
    pub started_at: Timestamp,
    /// When the last transaction ended.
    pub ended: Elapsed,
    /// The timed window that really was: shorter than asked for when the run was stopped in it, empty
    /// when it never came to it.
    pub window: Window,
    /// Transactions started, by type.
    pub started: Vec<u64>,
    /// Transactions in flight when the run was aborted, by type.
    pub in_flight: Vec<u64>,
    /// Everything that ended, by type, ramp-up and drain included.
    pub run: Vec<TypeInterval>,
    /// What ended in the timed window, by type.
    pub timed: Vec<TypeInterval>,
    /// What arrived, where the load is open.
    pub offered: Option<Offered>,
    /// From due to the start of the first attempt, of what ended in the timed window, µs; `None` where
    /// the load is closed.
    pub pool_wait: Option<Histogram<u32>>,
    /// Most arrivals, or terminals, that waited for a session at the end of a second of the timed window;
    /// `None` where the load is closed.
    pub backlog_max: Option<u64>,
    /// The slowest transactions that ended in the timed window, the slowest first.
    pub exemplars: Vec<Exemplar>,
    /// What was measured of the client and its host in the timed window; round trips in the whole run.
    pub gauges: Gauges,
    /// CPU time of the worker threads from zero on, nanoseconds, by thread.
    pub worker_cpu_ns: Vec<u64>,
    /// Sessions lost, and reconnected.
    pub sessions: (u64, u64),
    /// Sessions that were lost and could not be reconnected before the end.
    pub away: u32,
    /// Stretches of seconds, of ramp-up and window, in which no transaction completed although some
    /// should have.
    pub outages: Vec<Range<u64>>,
    /// Counting identities that do not hold: a defect of the engine. The counts are not to be trusted.
    pub violations: Vec<Violation>,
    /// Statements and calls sent by committed and rolled-back transactions: round trips.
    pub round_trips: u64,
    /// The first error of each type and class, with how often that happened.
    pub errors: Vec<ErrorSample>,
    /// How the run came to its end.
    pub ending: RunEnding,
    /// Remarks.
    pub notes: Vec<Note>,
}

/// What became of the arrivals of an open load, in the whole run.
///
/// ```text
/// offered = started + skipped + never started
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offered {
    /// Arrivals that were due before the stop.
    pub offered: u64,
    /// Skipped because they were too late, as [`Late`](crate::pace::Late) asks.
    pub skipped: u64,
    /// Pushed out of the backlog, or still waiting when the run stopped.
    pub never_started: u64,
}

/// A stretch of the run's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "a start and an end")]
pub struct Window {
    pub start: Elapsed,
    pub end: Elapsed,
}

impl Window {
    /// Its length in seconds.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.end.duration().saturating_sub(self.start.duration()).as_secs_f64()
    }
}

/// How a run came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnding {
    /// By the clock, or all users did all they had to.
    Complete,
    /// Stopped early; what was in flight ended.
    Stopped,
    /// Stopped, and what was in flight was abandoned.
    Aborted,
    /// Every virtual user ended early, because the database refused it for good.
    UsersEnded,
}

/// The first error of its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorSample {
    /// Transaction type.
    pub transaction: usize,
    /// Class of the error.
    pub class: ErrorClass,
    /// The error in words, without secrets.
    pub message: String,
    /// Attempts that ended with it, retried ones included.
    pub count: u64,
}

/// Starts a run on threads of its own.
///
/// # Errors
/// When no thread, or nothing for it to wait with, is to be had.
pub fn start<W: Workload, D: Database>(plan: RunPlan<W, D>) -> std::io::Result<RunHandle> {
    let (events, receiver) = mpsc::channel(EVENTS_MAX);
    let (stopper, signal) = signal::channel();
    let control_stopper = stopper.clone();
    let runtime = runtime()?;
    let control = std::thread::Builder::new().name("control".into()).spawn(move || {
        runtime.block_on(control::threaded(plan, events, control_stopper, signal))
    })?;
    Ok(RunHandle { events: receiver, stopper, control })
}

/// Runs on the calling task's own thread, all users in one worker: for tests in virtual time.
///
/// # Errors
/// When the run could not start.
pub async fn run_here<W: Workload, D: Database>(
    plan: RunPlan<W, D>,
    events: mpsc::Sender<Event>,
    run: impl AsyncFnOnce(StopHandle),
) -> Result<RunEnd, RunError> {
    let (stopper, signal) = signal::channel();
    let local = tokio::task::LocalSet::new();
    local
        .run_until(async {
            let run = run(stopper.clone());
            tokio::join!(control::here(plan, events, stopper.clone(), signal), run).0
        })
        .await
}

/// The runtime of a thread that owns its work.
///
/// # Errors
/// When the system has no file or event left for it.
pub fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

/// What failed when there is no [`runtime`].
pub const NO_RUNTIME: &str = "making an event loop (`ulimit -n` shows how many files may be open)";
