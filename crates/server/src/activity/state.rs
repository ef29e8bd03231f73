//! What is known of an activity, and where it is.

use serde::{Deserialize, Serialize};
use triphammer_runner::command::JobKind;
use utoipa::ToSchema;

use crate::error::ApiError;

/// Something that the server does, or is going to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Activity {
    /// Its number, from 1 after each start of the server. Not a job's number.
    pub id: u64,
    /// What it does.
    pub command: JobKind,
    /// Where it is.
    pub state: ActivityState,
    /// Its place in the queue, from 1; `null` when it does not wait.
    pub position: Option<u32>,
    /// Name of the saved target; `null` for the embedded default.
    pub target: Option<String>,
    /// URL of the target, without secrets.
    pub url: String,
    /// The same of B in a comparison.
    pub other_url: Option<String>,
    /// The workload.
    pub workload: String,
    /// What the user called it.
    pub label: Option<String>,
    /// Number of its job in the store, once it has one; drops have none.
    pub job: Option<i64>,
    /// Who comes: virtual users of a run.
    pub users: Option<u32>,
    /// Ramp-up of a run, in seconds.
    pub rampup_s: Option<f64>,
    /// Timed window of a run, in seconds; `null` when its length is a number of transactions.
    pub window_s: Option<f64>,
    /// Name of the first figure: `NOPM`; of what a search found once it has ended.
    pub primary_metric_name: Option<String>,
    /// Its value, at the end of what runs.
    pub primary_metric_value: Option<f64>,
    /// Whether it did what it was to do: a run with too many failures, and a check that does not hold, did
    /// not. `null` until the end.
    pub good: Option<bool>,
    /// What came out, in a line.
    pub outcome: Option<String>,
    /// Why it failed.
    pub error: Option<ApiError>,
    /// When it was asked for, RFC 3339, UTC.
    pub created_at: String,
    /// When it began.
    pub started_at: Option<String>,
    /// When it ended.
    pub ended_at: Option<String>,
}

impl Activity {
    /// URLs of the targets that nothing else may work on beside it.
    pub fn urls(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.url.as_str()).chain(self.other_url.as_deref())
    }
}

/// Where an activity is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActivityState {
    /// It waits for another on the same target.
    Queued,
    /// It goes on.
    Running,
    /// It was asked to end; a run lets transactions in flight end.
    Stopping,
    /// It was asked to end at once.
    Aborting,
    /// It came to its end.
    Complete,
    /// It was stopped before its time.
    Interrupted,
    /// It was stopped, and what was in flight was abandoned.
    Aborted,
    /// It could not go on.
    Failed,
    /// It was taken out of the queue.
    Cancelled,
}

impl ActivityState {
    /// Whether it has ended.
    #[must_use]
    pub const fn is_over(self) -> bool {
        !matches!(self, Self::Queued | Self::Running | Self::Stopping | Self::Aborting)
    }
}
