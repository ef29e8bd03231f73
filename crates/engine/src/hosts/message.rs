//! The messages between the coordinator of a run and the shares that drive it.

use serde::{Deserialize, Serialize};
use triphammer_core::clock::Elapsed;
use triphammer_core::event::Note;
use triphammer_core::recorder::{Gauges, LoginInterval, RecordedInterval, TypeInterval};

use crate::{ErrorSample, Exemplar, Offered, RunEnd, RunEnding, Violation};

/// A message to a share.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToShare {
    /// Asks for the host's clock.
    Ping {
        /// When it was sent, by the coordinator's clock: nanoseconds since 1970.
        sent_ns: i64,
    },
    /// The zero of the run's clock.
    Begin {
        /// By the host's clock: nanoseconds since 1970.
        at_ns: i64,
        /// Its date for transactions, in seconds since 1970: the same for all hosts.
        date: i64,
    },
    /// The timed window ends at this second.
    EndWindow {
        /// Second of the run.
        second: u64,
    },
    /// No new transactions; those in flight complete.
    Stop,
    /// Transactions in flight are abandoned.
    Abort,
    /// The coordinator is there.
    Alive,
}

/// A message of a share.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromShare {
    /// The first message. Its form is the same in all versions, so that a different one is noticed.
    Hello(Hello),
    /// Answers a ping.
    Pong {
        /// As in the ping.
        sent_ns: i64,
        /// The host's clock: nanoseconds since 1970.
        clock_ns: i64,
    },
    /// Sessions are being opened.
    Connecting {
        /// Number of sessions open so far.
        connected: u32,
    },
    /// The share began.
    Started {
        /// How long after the agreed instant, in nanoseconds.
        late_ns: u64,
    },
    /// A second of the share is complete.
    Second(Box<RecordedInterval>),
    /// A remark.
    Note(Note),
    /// The share is there.
    Alive,
    /// The share could not start.
    Failed(String),
    /// The share has ended; nothing follows.
    Ended(Box<ShareEnd>),
}

/// Who drives a share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Version of the program: all of a run must have the same.
    pub version: String,
    /// Name of the host.
    pub host: String,
    /// Number of CPUs that the process may use.
    pub cpus: u32,
    /// Identifies the running kernel, and so the machine.
    pub boot: String,
}

/// What a share knows only at its end, besides its seconds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ShareEnd {
    /// Time of the last transaction's end.
    pub last_finish: Elapsed,
    /// Transactions started, by type.
    pub started: Vec<u64>,
    /// Transactions in flight when the run was aborted, by type.
    pub in_flight: Vec<u64>,
    /// Transactions of all types that ended in the timed window.
    pub window: TypeInterval,
    /// Measurements of the process and its host in the timed window.
    pub gauges: Gauges,
    /// Outcome of the arrivals; `None` unless the load is open.
    pub offered: Option<Offered>,
    /// The slowest transactions of the timed window.
    pub exemplars: Vec<Exemplar>,
    /// CPU time of each worker thread, in nanoseconds.
    pub worker_cpu_ns: Vec<u64>,
    /// Sessions that were lost and not reconnected before the end.
    pub away: u32,
    /// The logins of its sessions at the start.
    pub first_logins: LoginInterval,
    /// Statements and calls sent.
    pub round_trips: u64,
    /// The first error of each type and class.
    pub errors: Vec<ErrorSample>,
    /// Counting identities that do not hold.
    pub violations: Vec<Violation>,
    /// How the share ended.
    pub ending: RunEnding,
}

impl From<RunEnd> for ShareEnd {
    fn from(end: RunEnd) -> Self {
        let mut window = TypeInterval::default();
        end.timed.iter().for_each(|of_type| window.add(of_type));
        Self {
            last_finish: end.ended,
            started: end.started,
            in_flight: end.in_flight,
            window,
            gauges: end.gauges,
            offered: end.offered,
            exemplars: end.exemplars,
            worker_cpu_ns: end.worker_cpu_ns,
            away: end.away,
            first_logins: end.logins.start,
            round_trips: end.round_trips,
            errors: end.errors,
            violations: end.violations,
            ending: end.ending,
        }
    }
}
