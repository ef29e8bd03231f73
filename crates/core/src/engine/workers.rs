//! The worker threads as the control thread sees them: what they say, who is home, and sessions that
//! must be cancelled from outside.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::timeout;

use super::lag::{self, HeartbeatSender};
use super::slots::Slots;
use super::uplink::{FromWorker, WorkerEnd};
use crate::clock::{Clock, Elapsed};

/// Messages that may wait for the control thread.
pub(super) const MESSAGES_MAX: usize = 1024;
/// How long the database may take to be asked to stop.
const CANCEL_LIMIT: Duration = Duration::from_secs(2);

/// The worker threads.
pub(super) struct Workers {
    pub messages: mpsc::Receiver<FromWorker>,
    pub slots: Slots,
    /// Sessions that they open.
    pub sessions: u32,
    /// Sessions open so far, before the start.
    pub connected: u32,
    /// How many threads there are.
    pub threads: usize,
    /// Those that have come home.
    pub ends: Vec<WorkerEnd>,
    /// To the workers, until the run begins.
    pub heartbeats: Vec<HeartbeatSender>,
    /// Longest attempt on sessions that block their thread.
    pub watchdog: Option<Duration>,
}

impl Workers {
    /// How many have not come home.
    pub fn missing(&self) -> usize {
        self.threads - self.ends.len()
    }

    /// Begins to measure their scheduling lag.
    pub fn listen(&mut self, clock: Clock) {
        tokio::spawn(lag::send_heartbeats(clock, std::mem::take(&mut self.heartbeats)));
    }

    /// Asks the database to stop what all sessions are doing.
    pub fn cancel_all(&self) {
        for canceller in self.slots.iter().filter_map(|slot| slot.take_canceller()) {
            tokio::spawn(async move {
                let _ = timeout(CANCEL_LIMIT, canceller.cancel()).await;
            });
        }
    }

    /// Cancels attempts over the limit on sessions that block their thread, which no timer there can.
    pub fn watch(&self, now: Elapsed) {
        let Some(limit) = self.watchdog else { return };
        let limit = Elapsed::from_duration(limit).0;
        for slot in self.slots.iter() {
            if slot.began_at().is_some_and(|began| now.since(began) > limit) {
                slot.cancel_now();
            }
        }
    }

    /// The sum of something over all that came home.
    pub fn sum<T: std::iter::Sum>(&self, read: impl FnMut(&WorkerEnd) -> T) -> T {
        self.ends.iter().map(read).sum()
    }

    /// The sums of something by transaction type over all that came home.
    pub fn by_type(&self, types: usize, read: fn(&WorkerEnd) -> &Vec<u64>) -> Vec<u64> {
        (0..types).map(|t| self.sum(|end| read(end)[t])).collect()
    }
}
