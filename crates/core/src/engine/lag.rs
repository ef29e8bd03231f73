//! Scheduling lag: how late a worker thread takes up what is ready. The control thread sends each
//! worker a beat that bears the time, some 70 a second, and the worker notes how old it is. A beat
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

/// Shortest time between two beats; the longest is twice that, so that they keep no step with what the
/// users do.
const BEAT: Duration = Duration::from_millis(10);
/// Beats that may wait for a worker.
const WAITING_MAX: usize = 512;

/// Sends beats to a worker.
pub(super) type Beats = mpsc::Sender<Elapsed>;
/// The worker's end.
pub(super) type Heard = mpsc::Receiver<Elapsed>;

pub(super) fn channel() -> (Beats, Heard) {
    mpsc::channel(WAITING_MAX)
}

/// Beats until all workers have gone home.
pub(super) async fn beat(clock: Clock, mut workers: Vec<Beats>) {
    let mut jitter = Rng::of(0, &[]);
    while !workers.is_empty() {
        tokio::time::sleep(BEAT.mul_f64(1.0 + jitter.unit())).await;
        workers
            .retain(|worker| !matches!(worker.try_send(clock.now()), Err(TrySendError::Closed(_))));
    }
}
