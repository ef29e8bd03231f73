//! Reports from a worker thread to the control thread, and their channel, on which no user ever
//! waits.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use triphammer_core::clock::Elapsed;
use triphammer_core::error::DbError;
use triphammer_core::event::Note;
use triphammer_core::recorder::{Login, RecordedInterval, Totals};
use triphammer_core::session::ServerProcess;

use super::merge::may_join;
use super::node_events::{Failover, NodeChange};
use super::outage::Recovery;
use super::{ErrorSample, Exemplar};

/// Intervals that may wait for the control thread; further intervals are merged.
const PENDING_MAX: usize = 64;

/// A message from a worker to the control thread.
pub(super) enum FromWorker {
    /// Connected; with the server's process, if the session is the run's first and can report it.
    Connected(Option<ServerProcess>),
    ConnectFailed(DbError),
    /// Every second before `complete` of this thread has been sent.
    Second {
        thread: usize,
        complete: u64,
        interval: Box<RecordedInterval>,
    },
    Note(Note),
    /// A lost session cannot be re-created, and no other session of the thread is away.
    Away(Elapsed, String),
    /// The thread's first error of a kind.
    Failing(Note),
    Recovered(Recovery),
    /// A node was lost, is back, or was promoted or demoted.
    Node(NodeChange),
    /// Writes of the thread moved to another node.
    Failover(Failover),
    /// The workload has no more work: what would have been due at this time was the first without.
    WorkDone(Elapsed),
    Done(Box<WorkerEnd>),
}

/// Counts of a worker over the whole run.
#[derive(Default)]
pub(super) struct WorkerEnd {
    pub thread: usize,
    pub totals: Totals,
    pub in_flight: Vec<u64>,
    pub last_finish: Elapsed,
    pub cpu_ns: u64,
    pub round_trips: u64,
    pub errors: Vec<ErrorSample>,
    pub skipped: u64,
    pub given_up: u64,
    /// Due times of the arrivals that sessions returned because the run stopped first.
    pub returned: Vec<Elapsed>,
    pub slowest: Vec<Exemplar>,
    /// Sessions that were lost and not reconnected at the end.
    pub away: u32,
    /// Virtual users whose code panicked, which is a defect: they did no more work.
    pub panicked: u64,
    /// The logins of the start, each with when it ended after the first began.
    pub first_logins: Vec<(Login, Duration)>,
}

/// A worker's channel to the control thread.
pub(super) struct Uplink {
    thread: usize,
    control: mpsc::Sender<FromWorker>,
    pending: RefCell<VecDeque<FromWorker>>,
    /// Seconds at which the timed window begins and ends: intervals are not merged across them.
    edges: [u64; 2],
}

impl Uplink {
    pub const fn new(thread: usize, control: mpsc::Sender<FromWorker>, edges: [u64; 2]) -> Self {
        Self { thread, control, pending: RefCell::new(VecDeque::new()), edges }
    }

    /// Number of the thread, from 0.
    pub const fn thread(&self) -> usize {
        self.thread
    }

    /// Sends an interval; every second before `complete` has then been sent.
    pub fn second(&self, complete: u64, interval: Box<RecordedInterval>) {
        self.send(FromWorker::Second { thread: self.thread, complete, interval });
    }

    /// Sends without blocking; what does not fit is kept, and merged when it becomes too much.
    pub fn send(&self, message: FromWorker) {
        let mut pending = self.pending.borrow_mut();
        pending.push_back(message);
        while let Some(message) = pending.pop_front() {
            if let Err(TrySendError::Full(message)) = self.control.try_send(message) {
                pending.push_front(message);
                break;
            }
        }
        if pending.len() > PENDING_MAX {
            self.merge_last(&mut pending);
        }
    }

    /// Merges the last two messages if both are seconds that may be merged.
    fn merge_last(&self, pending: &mut VecDeque<FromWorker>) {
        let (Some(last), Some(before)) = (pending.pop_back(), pending.back_mut()) else { return };
        match (before, last) {
            (
                FromWorker::Second { interval, complete, .. },
                FromWorker::Second { interval: later, complete: until, .. },
            ) if may_join(self.edges, interval, &later) => {
                interval.add_later(&later);
                *complete = until;
            }
            (_, last) => pending.push_back(last),
        }
    }

    /// Sends a message, waiting for room rather than keeping it back.
    pub async fn deliver(&self, message: FromWorker) {
        let _ = self.control.send(message).await;
    }

    /// Sends what was kept, and then this last message.
    pub async fn finish(&self, end: WorkerEnd) {
        for message in self.pending.take() {
            self.deliver(message).await;
        }
        self.deliver(FromWorker::Done(Box::new(end))).await;
    }
}
