//! A run by several hosts. Each host drives a [`Share`](super::Share) of the plan in a process of its
//! own; the *coordinator* makes one run of them:
//!
//! ```text
//!  coordinator (coordinator.rs)                 host k of n (participant.rs)
//!  ────────────────────────────                 ────────────────────────────
//!  Ping ──────────────────────────────────────► its clock:       Pong
//!  all sessions connected?  ◄────────────────── Connecting
//!  Begin, at one instant of each host's clock ► the engine's gate opens: Started
//!  merges, judges, shows  ◄──────────────────── Second, every second; Note; Alive
//!  Stop, Abort, EndWindow ────────────────────► the engine's stop signal
//!  RunEnd, identities checked  ◄─────────────── Ended: what a share knows only at its end
//! ```
//!
//! For its caller, a coordinated run is a run: a [`RunHandle`] with events, a stop handle and a
//! [`RunEnd`](super::RunEnd). Who carries the messages is up to the caller, too: a [`Link`] takes
//! those to a host, one channel those of all hosts. So neither side knows a network or a cluster.
//!
//! A host whose link ends, or that is silent for [`SILENCE_MAX`], is lost. What it had reported stays
//! in the result; the transactions that were in flight at its last second are in doubt; what it did
//! after that second is unknown. A host that loses its coordinator abandons its transactions.

mod coordinator;
mod host;
mod message;
mod participant;

use std::fmt;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use triphammer_core::clock::{Elapsed, wall};
use triphammer_core::spec::RunSpec;

use super::{EVENTS_MAX, RunHandle, runtime, signal};

pub use host::{ClockOffset, HostEnd, HostLoss};
pub use message::{FromShare, Hello, ShareEnd, ToShare};
pub use participant::{Engine, participate};

/// Longest silence of a process that reports every second.
pub const SILENCE_MAX: Duration = Duration::from_secs(10);
/// Kind of the note that a host was lost.
pub const HOST_LOST: &str = "host_lost";
/// Interval at which both sides show that they are there.
pub const HEARTBEAT: Duration = Duration::from_secs(1);

/// The zero of a run's clock, as the hosts agreed on it.
#[derive(Clone, Copy, Debug)]
pub struct Zero {
    /// The instant.
    pub at: Instant,
    /// Its date, in seconds since 1970: the same for all hosts.
    pub date: i64,
}

impl Zero {
    /// A run by one process starts now.
    #[must_use]
    pub fn now() -> Self {
        Self { at: Instant::now(), date: wall().0 / 1_000_000 }
    }
}

/// Opens when the start of a run by several hosts is known.
pub type Gate = oneshot::Receiver<Zero>;

/// Allows a run by several hosts to start, once all sessions are connected; a sender that is dropped
/// ends it.
pub type Permit = oneshot::Receiver<()>;

/// What to do when a host is lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnHostLoss {
    /// The other hosts continue with their shares.
    #[default]
    Continue,
    /// The run is aborted.
    Abort,
}

/// A host before a run.
pub struct Link {
    /// Name for people, unique in the run.
    pub name: String,
    /// Number of its CPUs.
    pub cpus: u32,
    /// The machine that it runs on: hosts with the same number share their CPUs.
    pub machine: usize,
    /// Sends a message to it without waiting; false if that is not possible any more.
    pub send: Box<dyn Fn(&ToShare) -> bool + Send>,
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A message of a host, by its number; or why there will be none any more.
#[derive(Debug)]
pub struct FromHost<M = FromShare> {
    /// Number of the host, from 0: that of its share.
    pub host: usize,
    /// The message, or why the link ended.
    pub message: Result<M, String>,
}

/// A run by several hosts, whose processes have the plan and wait.
#[derive(Debug)]
pub struct Coordination {
    /// How the whole run is driven.
    pub spec: RunSpec,
    /// Number of the workload's transaction types.
    pub types: usize,
    /// What to do when a host is lost.
    pub on_host_loss: OnHostLoss,
    /// The hosts, in the order of their shares.
    pub hosts: Vec<Link>,
    /// Messages of all of them.
    pub messages: mpsc::Receiver<FromHost>,
    /// No transaction starts before this.
    pub permit: Permit,
}

/// Starts a run by several hosts. Its control thread does what that of a run by one process does
/// with its worker threads.
///
/// # Errors
/// When the thread or its event loop cannot be created.
pub fn coordinate(run: Coordination) -> std::io::Result<RunHandle> {
    let (events, receiver) = mpsc::channel(EVENTS_MAX);
    let (stopper, signal) = signal::channel();
    let handle = stopper.clone();
    let runtime = runtime()?;
    let control = std::thread::Builder::new()
        .name("coordinator".into())
        .spawn(move || runtime.block_on(coordinator::coordinate(run, events, handle, signal)))?;
    Ok(RunHandle { events: receiver, stopper, control })
}

/// Does the same on the calling task; for tests in virtual time.
///
/// # Errors
/// When the run could not start.
pub async fn coordinate_here(
    run: Coordination,
    events: mpsc::Sender<triphammer_core::event::Event>,
    act: impl AsyncFnOnce(super::StopHandle),
) -> Result<super::RunEnd, super::RunError> {
    let (stopper, signal) = signal::channel();
    let act = act(stopper.clone());
    tokio::join!(coordinator::coordinate(run, events, stopper.clone(), signal), act).0
}

/// The date and time by a monotonic clock: read once, so that no step of the system's clock moves
/// it.
#[derive(Clone, Copy, Debug)]
struct WallClock {
    instant: Instant,
    unix_ns: i64,
}

impl WallClock {
    fn new() -> Self {
        Self { instant: Instant::now(), unix_ns: wall().0.saturating_mul(1_000) }
    }

    /// Nanoseconds since 1970.
    fn now(&self) -> i64 {
        let passed = Elapsed::from_duration(self.instant.elapsed()).0;
        self.unix_ns.saturating_add_unsigned(passed)
    }

    /// The instant at which this clock shows a time.
    fn instant(&self, unix_ns: i64) -> Instant {
        let distance = unix_ns.saturating_sub(self.unix_ns);
        let duration = Duration::from_nanos(distance.unsigned_abs());
        match distance {
            0.. => self.instant + duration,
            _ => self.instant.checked_sub(duration).unwrap_or(self.instant),
        }
    }
}
