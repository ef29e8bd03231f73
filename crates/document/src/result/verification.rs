//! Whether the database's own count agrees with the client's, over the whole run:
//!
//! ```text
//! committed ≤ database ≤ committed + in doubt + in flight at abort
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::facts::DatabaseCount;

/// Verification of the primary metric's count with the database, over the whole run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verification {
    /// Number of committed transactions counted by the client.
    pub committed: u64,
    /// Number of transactions in doubt, which may have committed.
    pub indeterminate: u64,
    /// Number of transactions in flight when the run was aborted, which may have committed.
    pub in_flight: u64,
    /// The database's count before the run; `None` if it could not be queried.
    pub database_before: Option<i64>,
    /// The database's count after the run; `None` likewise.
    pub database_after: Option<i64>,
    /// Increase of the counter.
    pub database: Option<i64>,
    /// Whether client and database agree.
    pub verdict: Verdict,
    /// The verdict in words.
    pub words: String,
}

/// Whether the database's count agrees with the client's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Both counts are equal.
    Verified,
    /// The counts differ by no more than the transactions in doubt or in flight.
    WithinBounds,
    /// The counts contradict each other.
    Violated,
    /// There is no count to compare with.
    NotCounted,
}

impl Verdict {
    /// Human-readable name: `within bounds`.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::WithinBounds => "within bounds",
            Self::Violated => "violated",
            Self::NotCounted => "not counted",
        }
    }
}

/// The client's counts of the primary metric's transactions, over the whole run.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClientCount {
    pub committed: u64,
    pub indeterminate: u64,
    pub in_flight: u64,
}

/// Why the counts cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Obstacle {
    /// The workload names no statement.
    NoStatement,
    /// A worker thread did not end, so the client's own counts are incomplete.
    CountsMissing,
    /// Another run worked on the same data at the same time.
    OtherRun,
    /// A host was lost, and what it did last is unknown.
    HostLost,
}

/// Why nothing is compared if another run worked on the same data.
pub(super) const OTHER_RUN: &str =
    "the other half of the pair worked on the same data, so the database counts those of both";

impl Verification {
    pub(super) fn new(
        client: ClientCount,
        database: DatabaseCount,
        obstacle: Option<Obstacle>,
    ) -> Self {
        let grown = match (database.before, database.after) {
            (Some(before), Some(after)) => Some(after.saturating_sub(before)),
            _ => None,
        };
        let committed = i64::try_from(client.committed).unwrap_or(i64::MAX);
        let (verdict, words) = match (obstacle, grown) {
            (Some(Obstacle::NoStatement), _) => {
                (Verdict::NotCounted, "the workload has no count to compare with".to_owned())
            }
            (Some(Obstacle::CountsMissing), _) => (
                Verdict::NotCounted,
                "a worker thread did not end, so the client's count is incomplete".to_owned(),
            ),
            (Some(Obstacle::OtherRun), _) => (Verdict::NotCounted, OTHER_RUN.to_owned()),
            (Some(Obstacle::HostLost), Some(grown)) if grown >= committed => {
                let surplus = grown - committed;
                let words = format!(
                    "the database counts {surplus} more; what the lost host committed after its last \
                     report is unknown"
                );
                (Verdict::WithinBounds, words)
            }
            (None | Some(Obstacle::HostLost), None) => (
                Verdict::NotCounted,
                "the database could not be queried both before and after the \
                                       run"
                .to_owned(),
            ),
            (None | Some(Obstacle::HostLost), Some(grown)) => judge(client, grown),
        };
        Self {
            committed: client.committed,
            indeterminate: client.indeterminate,
            in_flight: client.in_flight,
            database_before: database.before,
            database_after: database.after,
            database: grown,
            verdict,
            words,
        }
    }

    /// Whether the database contradicts the client.
    #[must_use]
    pub const fn is_violated(&self) -> bool {
        matches!(self.verdict, Verdict::Violated)
    }
}

fn judge(client: ClientCount, database: i64) -> (Verdict, String) {
    let surplus = i128::from(database) - i128::from(client.committed);
    let unknown = i128::from(client.indeterminate) + i128::from(client.in_flight);
    if surplus == 0 {
        (Verdict::Verified, "the database counts the same".to_owned())
    } else if surplus < 0 {
        let words = format!(
            "the database counts {} fewer than it confirmed to the client",
            surplus.unsigned_abs()
        );
        (Verdict::Violated, words)
    } else if surplus <= unknown {
        let words = format!(
            "the database counts {surplus} more; {unknown} were in doubt or in flight, which can \
             explain it"
        );
        (Verdict::WithinBounds, words)
    } else {
        let words = format!(
            "the database counts {surplus} more, but only {unknown} were in doubt or in flight"
        );
        (Verdict::Violated, words)
    }
}
