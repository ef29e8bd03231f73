//! Ends a job from any thread: the current work and everything that would follow.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use triphammer_core::pace::{LoadChange, LoadChangeError, LoadChanged, LoadNow};

use crate::cancel::Cancel;

/// Ends a job. It may be used before the job starts, which then ends right after its start. The
/// interrupted run of a campaign is stored as such, and `--resume` repeats it.
#[derive(Clone, Debug, Default)]
pub struct Handle {
    shared: Arc<HandleState>,
    cancel: Cancel,
}

#[derive(Debug, Default)]
struct HandleState {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    stopped: bool,
    aborted: bool,
    /// Whether the runs of the job are compared.
    compares: bool,
    /// The runs in progress: two if a pair takes place at once.
    runs: Vec<triphammer_engine::StopHandle>,
}

impl Handle {
    /// Requests the end: transactions in flight finish, no further run starts, and a build or check
    /// abandons its current work. Idempotent.
    pub fn stop(&self) {
        self.cancel.cancel();
        let mut state = self.state();
        state.stopped = true;
        for run in &state.runs {
            run.stop();
        }
        self.shared.changed.notify_all();
    }

    /// Also abandons transactions in flight.
    pub fn abort(&self) {
        self.stop();
        let mut state = self.state();
        state.aborted = true;
        for run in &state.runs {
            run.abort();
        }
    }

    /// Declares that the runs of the job are compared, so that their loads stay as they are.
    pub fn compares(&self) {
        self.state().compares = true;
    }

    /// Changes the load of the run in progress.
    ///
    /// # Errors
    /// Says why it is not possible.
    pub fn change_load(&self, change: LoadChange) -> Result<LoadChanged, LoadChangeError> {
        self.the_run()?.change_load(change)
    }

    /// The load of the run in progress.
    ///
    /// # Errors
    /// Says why it cannot change.
    pub fn load_now(&self) -> Result<LoadNow, LoadChangeError> {
        self.the_run()?.load_now()
    }

    /// The run in progress, whose load can change.
    fn the_run(&self) -> Result<triphammer_engine::StopHandle, LoadChangeError> {
        let refuse = |reason| Err(LoadChangeError::state(reason));
        let state = self.state();
        if state.compares {
            return refuse("the runs of this job are compared: their loads must stay as they are");
        }
        match state.runs.as_slice() {
            [] => refuse("no run is in progress, whose load could be changed"),
            [run] => Ok(run.clone()),
            _ => refuse("two runs take place at once, whose loads must stay the same"),
        }
    }

    /// Whether the end was requested.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.state().stopped
    }

    /// Whether the end was requested without waiting for what is in flight.
    pub fn is_aborted(&self) -> bool {
        self.state().aborted
    }

    /// The cancellation flag for a build or check.
    pub const fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// Registers a run, and ends it immediately if the end was already requested.
    pub fn begins(&self, run: triphammer_engine::StopHandle) {
        let mut state = self.state();
        if state.stopped {
            run.stop();
        }
        if state.aborted {
            run.abort();
        }
        state.runs.push(run);
    }

    /// Removes the runs, which have ended.
    pub fn ended(&self) {
        self.state().runs.clear();
    }

    /// Waits for this time, or until the end is requested.
    pub fn wait(&self, rest: Duration) {
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
