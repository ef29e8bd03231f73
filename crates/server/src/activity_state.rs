//! The state of an activity.

use serde::{Deserialize, Serialize};
use triphammer_settings::command::JobKind;
use utoipa::ToSchema;

use crate::error::ApiError;

/// A job that the server runs or has queued.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Activity {
    /// Activity number, from 1 after each start of the server. Not a job number.
    pub id: u64,
    /// The command that it runs.
    pub command: JobKind,
    /// Current state of the activity.
    pub state: ActivityState,
    /// Position in the queue, from 1; `null` when it is not waiting.
    pub position: Option<u32>,
    /// Name of the saved target; `null` for the default SQLite file.
    pub target: Option<String>,
    /// URL of the target, without secrets.
    pub url: String,
    /// URL of the target of B in a comparison, without secrets.
    pub other_url: Option<String>,
    /// Name of the workload.
    pub workload: String,
    /// Label given by the user; `null` without one.
    pub label: Option<String>,
    /// Job number in the store, once it has one; drops have none.
    pub job: Option<i64>,
    /// Number of virtual users of a run.
    pub users: Option<u32>,
    /// Ramp-up of a run, in seconds.
    pub rampup_s: Option<f64>,
    /// Timed window of a run, in seconds; `null` when its length is a number of transactions.
    pub window_s: Option<f64>,
    /// Name of the primary metric: `NOPM`; after a search, the name of its result.
    pub primary_metric_name: Option<String>,
    /// Value of the primary metric, at the end.
    pub primary_metric_value: Option<f64>,
    /// Whether it was successful; false for a run with too many failures or a check that found
    /// violations. `null` until the end.
    pub good: Option<bool>,
    /// Outcome in one line.
    pub outcome: Option<String>,
    /// Reason for the failure; `null` if it did not fail.
    pub error: Option<ApiError>,
    /// Time of the request, RFC 3339, UTC.
    pub created_at: String,
    /// Start time, RFC 3339, UTC; `null` before.
    pub started_at: Option<String>,
    /// End time, RFC 3339, UTC; `null` before.
    pub ended_at: Option<String>,
}

impl Activity {
    /// URLs of the targets that no other activity may use at the same time.
    pub fn urls(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.url.as_str()).chain(self.other_url.as_deref())
    }
}

/// State of an activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActivityState {
    /// Waiting for another activity on the same target.
    Queued,
    /// Its job is running now.
    Running,
    /// Asked to stop; a run waits for transactions in flight.
    Stopping,
    /// Asked to abort; a run abandons transactions in flight.
    Aborting,
    /// Ran to its end.
    Complete,
    /// Stopped early.
    Interrupted,
    /// Aborted; transactions in flight were abandoned.
    Aborted,
    /// Ended with an error.
    Failed,
    /// Removed from the queue.
    Cancelled,
}

impl ActivityState {
    /// Whether it has ended.
    #[must_use]
    pub const fn is_over(self) -> bool {
        !matches!(self, Self::Queued | Self::Running | Self::Stopping | Self::Aborting)
    }
}
