//! Runs an activity on its own thread: the job of its form, and its outcome.

use serde_json::Value;
use triphammer_document::Document;
use triphammer_document::parts::Status;
use triphammer_settings::handle::Handle;

use super::ActivityState;
use super::form::ValidForm;
use super::queue::Activities;
use super::watch::Watch;
use crate::error::ApiError;

/// The outcome of an activity that ran to its end or was stopped.
#[derive(Debug)]
pub struct ActivityOutcome {
    /// Complete, interrupted, aborted or failed.
    pub state: ActivityState,
    /// Whether the result is good.
    pub good: bool,
    /// Outcome in one line.
    pub outcome: String,
    /// Name and value of the primary metric; `None` if there is none.
    pub primary_metric: Option<(String, f64)>,
    /// Result document of the job.
    pub document: Value,
}

/// Runs the job of an activity.
pub fn perform(
    all: &Activities,
    id: u64,
    asked: &ValidForm,
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
