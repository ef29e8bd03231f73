//! Scheduling lag: how late a worker thread takes up what is ready. The control thread sends each
//! worker a heartbeat with the time, about 70 per second, and the worker notes how old it is. A beat
//! wakes the worker just as a server's answer does, so its age is what every answer waits on top,
//! and is exact to the microsecond where a timer of the worker's own would be to the millisecond.
//! Beats that wait are kept: a worker that stood still for a second finds all of that second's.
//!
//! Sessions that block their thread are the database's work on that thread, not a lag; there nobody
//! beats.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use crate::clock::{Clock, Elapsed};
use crate::random::Rng;

/// Shortest time between two heartbeats; the longest is twice that, so that they keep no step with what the
/// users do.
const HEARTBEAT: Duration = Duration::from_millis(10);
/// Heartbeats that may wait for a worker.
const WAITING_MAX: usize = 512;

/// Sends heartbeats to a worker.
pub(super) type HeartbeatSender = mpsc::Sender<Elapsed>;
/// The worker's end.
pub(super) type HeartbeatReceiver = mpsc::Receiver<Elapsed>;

pub(super) fn channel() -> (HeartbeatSender, HeartbeatReceiver) {
    mpsc::channel(WAITING_MAX)
}

/// Sends heartbeats until all workers have ended.
pub(super) async fn send_heartbeats(clock: Clock, mut workers: Vec<HeartbeatSender>) {
    let mut jitter = Rng::of(0, &[]);
    while !workers.is_empty() {
        tokio::time::sleep(HEARTBEAT.mul_f64(1.0 + jitter.unit())).await;
        workers
            .retain(|worker| !matches!(worker.try_send(clock.now()), Err(TrySendError::Closed(_))));
    }
}
