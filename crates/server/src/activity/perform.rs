//! Does an activity, on its own thread: its form's job, and what came of it.

use serde_json::Value;
use triphammer_runner::job::{Document, Handle};
use triphammer_runner::result::Status;

use super::ActivityState;
use super::form::Asked;
use super::queue::Activities;
use super::watch::Watch;
use crate::error::ApiError;

/// How an activity ended that did what it was to do, or was stopped in doing it.
#[derive(Debug)]
pub struct ActivityOutcome {
    /// Complete, interrupted, aborted or failed.
    pub state: ActivityState,
    /// Whether what it found is good.
    pub good: bool,
    /// What came out, in a line.
    pub outcome: String,
    /// Its first figure.
    pub primary_metric: Option<(String, f64)>,
    /// What it left.
    pub document: Value,
}

/// Does it.
pub fn perform(
    all: &Activities,
    id: u64,
    asked: &Asked,
    handle: &Handle,
) -> Result<ActivityOutcome, ApiError> {
    let mut job = asked.job(Some(all.store()), handle)?;
    let mut watch = Watch::new(all, id, job.workload());
    let finished = job.run(&mut watch)?;
    Ok(ActivityOutcome {
        state: state(finished.status),
        good: finished.is_good(),
        outcome: finished.outcome(),
        primary_metric: finished.document.as_ref().and_then(Document::primary_metric),
        document: serde_json::to_value(&finished.document).unwrap_or_default(),
    })
}

const fn state(status: Status) -> ActivityState {
    match status {
        Status::Complete => ActivityState::Complete,
        Status::Interrupted => ActivityState::Interrupted,
        Status::Aborted => ActivityState::Aborted,
        Status::Failed => ActivityState::Failed,
    }
}
