//! Availability of the database: outages, and sessions that did not reconnect.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_engine::{RunEnd, Window};
use triphammer_settings::format::{counted, integer};

use super::facts::RunFacts;

/// Availability of the database during the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Availability {
    /// Seconds of the timed window without service. They are included in the window and its
    /// figures.
    #[schemars(range(min = 0.0))]
    pub without_service_s: f64,
    /// Outages: intervals of ramp-up and window in which no transaction completed although some
    /// should have.
    pub outages: Vec<Outage>,
    /// Number of sessions that were lost and had not reconnected when the run ended. If not 0, the
    /// status is `failed`.
    pub sessions_away: u32,
    /// Whether the database answered after the run and returned every number that it returned
    /// before. If false, the status is `failed`. `None` in results of versions that did not check.
    pub answered_at_end: Option<bool>,
}

/// An outage, in seconds since the start of the run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outage {
    /// First second of the outage.
    #[schemars(range(min = 0.0))]
    pub from_s: f64,
    /// End of the outage, exclusive.
    #[schemars(range(min = 0.0))]
    pub until_s: f64,
}

/// A violated counting identity: a defect of the engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ViolatedIdentity {
    /// The violated equation.
    pub identity: String,
    /// Key of the transaction type; `None` for all types together.
    pub transaction: Option<String>,
    /// Value of its left side.
    pub left: u64,
    /// Value of its right side.
    pub right: u64,
}

impl ViolatedIdentity {
    /// Formats `started = ended + in flight, new_order: 9 and 7`.
    #[must_use]
    pub fn words(&self) -> String {
        let of = self.transaction.as_ref().map(|name| format!(", {name}")).unwrap_or_default();
        let (left, right) = (integer(self.left), integer(self.right));
        format!("{}{of}: {left} and {right}", self.identity)
    }
}

impl Outage {
    /// How long it lasted, in seconds.
    #[must_use]
    pub fn length_s(&self) -> f64 {
        self.until_s - self.from_s
    }
}

impl Availability {
    pub(super) fn new(facts: &RunFacts, end: &RunEnd) -> Self {
        let Window { start, end: stop } = end.window;
        let window = start.second()..stop.second();
        let inside = |outage: &std::ops::Range<u64>| {
            outage.end.min(window.end).saturating_sub(outage.start.max(window.start))
        };
        let without: u64 = end.outages.iter().map(inside).sum();
        let sums = facts.audits.iter().map(|(_, sum)| sum);
        let mut asked = std::iter::once(&facts.database_count).chain(sums);
        let all_again = asked.all(|number| number.before.is_none() || number.after.is_some());
        #[expect(clippy::cast_precision_loss, reason = "seconds of a run")]
        let seconds = |second: u64| second as f64;
        Self {
            without_service_s: seconds(without),
            outages: (end.outages.iter())
                .map(|o| Outage { from_s: seconds(o.start), until_s: seconds(o.end) })
                .collect(),
            sessions_away: end.away,
            answered_at_end: Some(facts.answers_at_end && all_again),
        }
    }

    /// Whether the database was unavailable at the end of the run, for some or all sessions.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.sessions_away > 0 || self.answered_at_end == Some(false)
    }

    /// Describes how the database was unavailable; `None` if it was available.
    #[must_use]
    pub fn gone(&self, sessions: u32) -> Option<String> {
        let away = (self.sessions_away > 0).then(|| {
            let sessions = counted(u64::from(sessions), "sessions");
            format!(
                "{} of {sessions} were lost and had not reconnected at the end",
                self.sessions_away
            )
        });
        let silent = (self.answered_at_end == Some(false))
            .then(|| "the database answered before the run but not after it".to_owned());
        let parts: Vec<String> = away.into_iter().chain(silent).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}
