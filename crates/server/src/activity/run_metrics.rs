//! Metrics of the current runs, by activity: an activity makes one run at a time.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use triphammer_runner::outputs::RunMetrics;
use triphammer_runner::watch::JobEvent;

/// Metrics of the current runs.
#[derive(Debug, Default)]
pub struct MetricsOfRuns(Mutex<BTreeMap<u64, RunMetrics>>);

impl MetricsOfRuns {
    /// Adds the run that an activity starts.
    pub fn begin(&self, activity: u64, run: RunMetrics) {
        self.lock().insert(activity, run);
    }

    /// Updates the metrics of an activity's run.
    pub fn on_event(&self, activity: u64, event: JobEvent<'_>) {
        if let Some(run) = self.lock().get_mut(&activity) {
            run.on_event(event);
        }
    }

    /// Removes the run of an activity.
    pub fn end(&self, activity: u64) {
        self.lock().remove(&activity);
    }

    /// Returns the current metrics of all runs.
    pub fn all(&self) -> Vec<RunMetrics> {
        self.lock().values().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, RunMetrics>> {
        self.0.lock().expect("no thread panics while it holds the lock")
    }
}
