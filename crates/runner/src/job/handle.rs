//! Ends a job from any thread: what is running, and what would follow it.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use triphammer_core::engine;

use crate::cancel::Cancel;

/// Ends a job. It may be used before the job begins, which then ends as soon as it has begun. What a campaign
/// was at is stored as interrupted; `--resume` makes it again.
#[derive(Clone, Debug, Default)]
pub struct Handle {
    shared: Arc<Shared>,
    cancel: Cancel,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    stopped: bool,
    aborted: bool,
    run: Option<engine::StopHandle>,
}

impl Handle {
    /// Asks for the end: transactions in flight end, no other run begins, a build or check gives up what it
    /// has in hand. Harmless when said twice.
    pub fn stop(&self) {
        self.cancel.cancel();
        let mut state = self.state();
        state.stopped = true;
        if let Some(run) = &state.run {
            run.stop();
        }
        self.shared.changed.notify_all();
    }

    /// Gives up what is in flight, too.
    pub fn abort(&self) {
        self.stop();
        let mut state = self.state();
        state.aborted = true;
        if let Some(run) = &state.run {
            run.abort();
        }
    }

    /// Whether the end was asked for.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.state().stopped
    }

    /// What a build or check looks at.
    pub(crate) const fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// A run begins; it ends at once when the end was asked for before.
    pub(crate) fn begins(&self, run: engine::StopHandle) {
        let mut state = self.state();
        if state.stopped {
            run.stop();
        }
        if state.aborted {
            run.abort();
        }
        state.run = Some(run);
    }

    /// It has ended.
    pub(crate) fn ended(&self) {
        self.state().run = None;
    }

    /// Waits, but not longer than until the end is asked for.
    pub(crate) fn wait(&self, rest: Duration) {
        let waited =
            self.shared.changed.wait_timeout_while(self.state(), rest, |state| !state.stopped);
        drop(waited);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rest_ends_when_the_end_is_asked_for() {
        let handle = Handle::default();
        let other = handle.clone();
        let waiting = std::thread::spawn(move || {
            other.wait(Duration::from_secs(600));
            other.is_stopped()
        });
        handle.stop();
        assert!(waiting.join().unwrap());
    }
}
