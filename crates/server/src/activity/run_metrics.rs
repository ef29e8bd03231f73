//! The metrics of the runs that go on, by activity: an activity makes one run at a time.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use triphammer_runner::outputs::RunMetrics;
use triphammer_runner::watch::JobEvent;

/// The metrics of the runs that go on.
#[derive(Debug, Default)]
pub struct MetricsOfRuns(Mutex<BTreeMap<u64, RunMetrics>>);

impl MetricsOfRuns {
    /// A run of an activity begins.
    pub fn begin(&self, activity: u64, run: RunMetrics) {
        self.lock().insert(activity, run);
    }

    /// Something happened in it.
    pub fn hear(&self, activity: u64, event: JobEvent<'_>) {
        if let Some(run) = self.lock().get_mut(&activity) {
            run.hear(event);
        }
    }

    /// It has ended.
    pub fn end(&self, activity: u64) {
        self.lock().remove(&activity);
    }

    /// All, as they are now.
    pub fn all(&self) -> Vec<RunMetrics> {
        self.lock().values().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, RunMetrics>> {
        self.0.lock().expect("nobody panics with it")
    }
}
