//! Event-loop lag: how late a worker thread handles what is ready. The control thread sends each
//! worker a heartbeat with the time, about 70 per second, and the worker records its age. A
//! heartbeat wakes the worker just as a server's answer does, so its age is the delay that is added
//! to every answer. It is exact to the microsecond, where a timer in the worker would be exact to
//! the millisecond. Waiting heartbeats are kept: a worker that stalled for a second receives all
//! heartbeats of that second.
//!
//! Where sessions block their thread, the thread is busy with the database's work, which is not
//! lag; no heartbeats are sent there.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use triphammer_core::clock::{Clock, Elapsed};
use triphammer_core::random::Rng;

/// Shortest time between two heartbeats; the longest is twice that, so that heartbeats do not
/// synchronise with the users' work.
const HEARTBEAT: Duration = Duration::from_millis(10);
/// Heartbeats that may wait for a worker.
const WAITING_MAX: usize = 512;

/// Sends heartbeats to a worker.
pub(super) type HeartbeatSender = mpsc::Sender<Elapsed>;
/// The worker's end of the heartbeat channel.
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
