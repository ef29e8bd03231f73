//! The worker threads as seen by the control thread: their messages, which of them have finished,
//! and sessions that must be cancelled from outside.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;
use triphammer_core::clock::{Clock, Elapsed};

use super::lag::{self, HeartbeatSender};
use super::slots::Slots;
use super::uplink::{FromWorker, WorkerEnd};

/// Messages that may wait for the control thread.
pub(super) const MESSAGES_MAX: usize = 1024;
/// How long a cancel request to the database may take, and the end of a run that waits for it.
const CANCEL_LIMIT: Duration = Duration::from_secs(1);

/// The worker threads of a run.
pub(super) struct Workers {
    pub messages: mpsc::Receiver<FromWorker>,
    pub slots: Slots,
    /// Number of sessions that the workers open.
    pub sessions: u32,
    /// Number of sessions open so far, before the start.
    pub connected: u32,
    /// Number of worker threads.
    pub threads: usize,
    /// Results of the workers that have finished.
    pub ends: Vec<WorkerEnd>,
    /// Senders of heartbeats to the workers, until the run begins.
    pub heartbeats: Vec<HeartbeatSender>,
    /// Longest attempt on sessions that block their thread.
    pub watchdog: Option<Duration>,
    /// Requests to cancel that are on their way.
    pub cancels: JoinSet<()>,
}

impl Workers {
    /// Number of workers that have not finished.
    pub fn missing(&self) -> usize {
        self.threads - self.ends.len()
    }

    /// Starts measuring the workers' event-loop lag.
    pub fn listen(&mut self, clock: Clock) {
        tokio::spawn(lag::send_heartbeats(clock, std::mem::take(&mut self.heartbeats)));
    }

    /// Asks the database to stop what all sessions are doing.
    pub fn cancel_all(&mut self) {
        for canceller in self.slots.iter().filter_map(|slot| slot.take_canceller()) {
            self.cancels.spawn(async move {
                let _ = timeout(CANCEL_LIMIT, canceller.cancel()).await;
            });
        }
    }

    /// Waits for the requests to cancel. Without them, the server would go on with statements, and keep their locks,
    /// after the workers have closed their connections.
    pub async fn cancelled(&mut self) {
        while self.cancels.join_next().await.is_some() {}
    }

    /// Cancels attempts over the limit on sessions that block their thread, where no timer of the
    /// thread can.
    pub fn watch(&self, now: Elapsed) {
        let Some(limit) = self.watchdog else { return };
        let limit = Elapsed::from_duration(limit).0;
        for slot in self.slots.iter() {
            if slot.began_at().is_some_and(|began| now.since(began) > limit) {
                slot.cancel_now();
            }
        }
    }

    /// Sums a value over all workers that have finished.
    pub fn sum<T: std::iter::Sum>(&self, read: impl FnMut(&WorkerEnd) -> T) -> T {
        self.ends.iter().map(read).sum()
    }

    /// Sums a value by transaction type over all workers that have finished.
    pub fn by_type(&self, types: usize, read: fn(&WorkerEnd) -> &Vec<u64>) -> Vec<u64> {
        (0..types).map(|t| self.sum(|end| read(end)[t])).collect()
    }
}
