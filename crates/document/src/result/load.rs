//! Parts of the document about open and keyed loads: arrivals, efficiency, and the slowest
//! transactions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::clock::Elapsed;
use triphammer_core::outcome::Outcome;
use triphammer_core::stats::share;
use triphammer_engine::{Exemplar, Origin, RunEnd};

use super::document::PrimaryMetricFigure;
use super::facts::RunFacts;

/// Arrivals of an open load, in the whole run. `offered = started + skipped + never_started`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Arrivals {
    /// Number of arrivals due before the load ended.
    pub offered: u64,
    /// Number of arrivals started.
    pub started: u64,
    /// Number of arrivals skipped because they were too late (`--late`).
    pub skipped: u64,
    /// Number of arrivals dropped from the backlog, or still waiting when the load ended.
    pub never_started: u64,
}

impl Arrivals {
    pub(super) fn of(end: &RunEnd) -> Option<Self> {
        let offered = end.offered?;
        Some(Self {
            offered: offered.offered,
            started: end.started.iter().sum(),
            skipped: offered.skipped,
            never_started: offered.never_started,
        })
    }

    /// Share of arrivals that were not started, from 0 to 1.
    #[must_use]
    pub fn missed_share(&self) -> f64 {
        share(self.skipped + self.never_started, self.offered)
    }
}

/// The primary metric relative to the maximum that keying and thinking times allow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Efficiency {
    /// Maximum for this number of terminals.
    #[schemars(range(min = 0.0))]
    pub maximum: f64,
    /// Share of that maximum, from 0 to 1.
    #[schemars(range(min = 0.0))]
    pub share: f64,
}

impl Efficiency {
    pub(super) fn of(facts: &RunFacts, primary_metric: &PrimaryMetricFigure) -> Option<Self> {
        let maximum = facts.description.metric_max_per_terminal? * f64::from(facts.spec.users);
        Some(Self { maximum, share: primary_metric.value / maximum })
    }
}

/// One of the slowest transactions of the timed window, with the origin of its input: `triphammer
/// run TARGET --replay-exemplar JOB:N` runs it again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlowTransaction {
    /// Key of the transaction type: `new_order`.
    pub transaction: String,
    /// Origin of the transaction: user or arrival.
    pub origin: Origin,
    /// When it was due, in seconds since the start of the run.
    #[schemars(range(min = 0.0))]
    pub due_s: f64,
    /// When its first attempt started, in seconds since the start of the run.
    #[schemars(range(min = 0.0))]
    pub started_s: f64,
    /// When it ended, in seconds since the start of the run.
    #[schemars(range(min = 0.0))]
    pub finished_s: f64,
    /// Response time from when it was due to its end, in microseconds.
    pub response_us: u64,
    /// Service time from the start of the first attempt to its end, in microseconds.
    pub service_us: u64,
    /// How the run ended.
    pub outcome: Outcome,
    /// Number of attempts, including the first.
    pub attempts: u32,
}

impl SlowTransaction {
    pub(super) fn of(facts: &RunFacts, exemplar: &Exemplar) -> Self {
        let seconds = |at: Elapsed| at.duration().as_secs_f64();
        let timing = &exemplar.timing;
        Self {
            transaction: facts.description.transactions[exemplar.transaction].name.to_string(),
            origin: exemplar.origin,
            due_s: seconds(timing.due),
            started_s: seconds(timing.started),
            finished_s: seconds(timing.finished),
            response_us: timing.response_ns() / 1000,
            service_us: timing.service_ns() / 1000,
            outcome: exemplar.outcome,
            attempts: exemplar.attempts,
        }
    }
}
