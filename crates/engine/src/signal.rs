//! The stop signal: one number that all users read after every transaction, and a watch channel
//! that wakes those that wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::sync::watch;

use triphammer_core::clock::{Clock, Elapsed};

use triphammer_core::pace::{LoadChange, LoadChangeError, LoadChanged, LoadNow};

use super::load_change::LoadControl;

/// Stops a run from any thread.
#[derive(Clone, Debug)]
pub struct StopHandle {
    shared: Arc<Shared>,
    state: watch::Sender<State>,
}

/// State of the signal, watched by the control thread and the workers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct State {
    /// Set when all users are connected and the run begins.
    pub clock: Option<Clock>,
    /// A stop was requested.
    pub stop_requested: bool,
    /// The stopping rule is satisfied: the window ends at this second, or with the current one if
    /// that has begun.
    pub window_over: Option<u64>,
    /// No transaction may start any more.
    pub stopped: bool,
    /// Transactions in flight are abandoned.
    pub aborted: bool,
    /// The run does not start, or all users may finish.
    pub over: bool,
    /// Number of changes of the load.
    pub load_version: u64,
}

#[derive(Debug)]
struct Shared {
    stop_at_ns: AtomicU64,
    aborted: AtomicBool,
    load: LoadControl,
}

/// The receiving half of the stop signal.
#[derive(Clone, Debug)]
pub(super) struct Signal {
    shared: Arc<Shared>,
    pub state: watch::Receiver<State>,
}

pub(super) fn channel() -> (StopHandle, Signal) {
    let shared = Arc::new(Shared {
        stop_at_ns: AtomicU64::new(u64::MAX),
        aborted: AtomicBool::new(false),
        load: LoadControl::default(),
    });
    let (sender, state) = watch::channel(State::default());
    (StopHandle { shared: Arc::clone(&shared), state: sender }, Signal { shared, state })
}

impl StopHandle {
    /// Requests the end: transactions in flight complete, no new ones start. Idempotent.
    pub fn stop(&self) {
        self.state.send_modify(|state| state.stop_requested = true);
    }

    /// Ends the timed window with the current second, and so the run, as if that length had been
    /// requested. Has no effect outside the window, or where the length is a number of
    /// transactions.
    pub fn end_window(&self) {
        self.end_window_at(0);
    }

    /// Does the same at a later second, which several processes agree on.
    pub fn end_window_at(&self, second: u64) {
        self.state.send_modify(|state| state.window_over = Some(second));
    }

    /// Abandons transactions in flight.
    pub fn abort(&self) {
        self.shared.stop_at_ns.store(0, Ordering::Relaxed);
        self.shared.aborted.store(true, Ordering::Relaxed);
        self.state.send_modify(|state| {
            state.stop_requested = true;
            state.stopped = true;
            state.aborted = true;
        });
    }

    /// The load of the run now.
    ///
    /// # Errors
    /// Says why it cannot change.
    pub fn load_now(&self) -> Result<LoadNow, LoadChangeError> {
        self.shared.load.now()
    }

    /// Changes the load of the run, during the run.
    ///
    /// # Errors
    /// Says why it is not possible.
    pub fn change_load(&self, change: LoadChange) -> Result<LoadChanged, LoadChangeError> {
        let made = self.shared.load.change(change)?;
        self.load_has_changed();
        Ok(made)
    }

    /// Makes a change that the run has planned for a time.
    pub(super) fn change_as_planned(
        &self,
        change: LoadChange,
        due: Elapsed,
    ) -> Result<(), LoadChangeError> {
        self.shared.load.planned(change, due)?;
        self.load_has_changed();
        Ok(())
    }

    /// Wakes what waits for another load.
    fn load_has_changed(&self) {
        let version = self.shared.load.version();
        self.state.send_modify(|state| state.load_version = version);
    }

    /// The load of the run.
    pub(super) fn load(&self) -> &LoadControl {
        &self.shared.load
    }

    pub(super) fn go(&self, clock: Clock) {
        self.shared.load.begin(clock);
        self.state.send_modify(|state| state.clock = Some(clock));
    }

    /// Lets no transaction start from `at` on.
    pub(super) fn stop_at(&self, at: Elapsed) {
        self.shared.stop_at_ns.fetch_min(at.0, Ordering::Relaxed);
    }

    /// Wakes users that wait for a session or for a retry: the run has stopped.
    pub(super) fn stopped(&self) {
        self.shared.stop_at_ns.store(0, Ordering::Relaxed);
        self.state.send_modify(|state| state.stopped = true);
    }

    pub(super) fn over(&self) {
        self.state.send_modify(|state| state.over = true);
    }
}

impl Signal {
    /// Whether no transaction may start at `now` any more.
    #[inline]
    pub fn is_stopped(&self, now: Elapsed) -> bool {
        now.0 >= self.shared.stop_at_ns.load(Ordering::Relaxed)
    }

    /// The load of the run.
    pub fn load(&self) -> &LoadControl {
        &self.shared.load
    }

    /// Whether transactions in flight are abandoned.
    #[inline]
    pub fn is_aborted(&self) -> bool {
        self.shared.aborted.load(Ordering::Relaxed)
    }

    /// Waits until `condition` holds.
    pub async fn until(&mut self, condition: impl FnMut(&State) -> bool) -> State {
        // The sender lives in the control's stopper, which outlives all workers.
        self.state.wait_for(condition).await.map(|state| *state).unwrap_or_default()
    }
}
