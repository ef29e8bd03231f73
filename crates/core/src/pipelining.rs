//! Pipelining of a transaction: which of its messages share a round trip.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which messages of a transaction share a round trip. Statements, their order and what a failed one does to its
/// transaction are the same in all cases; round trips, and so figures, are not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pipelining {
    /// None: BEGIN, each statement and COMMIT take a round trip each.
    #[default]
    Off,
    /// BEGIN is sent with the first statement.
    Begin,
    /// BEGIN is sent with the first statement, and COMMIT with the last one, where the workload commits whatever
    /// that returns ([`Session::execute_and_commit`](crate::session::Session::execute_and_commit)).
    On,
}

impl Pipelining {
    /// All of them, each with its name on the command line.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Off, "off"), (Self::Begin, "begin"), (Self::On, "on")];

    /// Name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(pipelining, _)| *pipelining == self).expect("ALL has each").1
    }

    /// Whether BEGIN is sent with the first statement.
    #[must_use]
    pub const fn defers_begin(self) -> bool {
        !matches!(self, Self::Off)
    }

    /// Whether COMMIT is sent with the last statement.
    #[must_use]
    pub const fn joins_commit(self) -> bool {
        matches!(self, Self::On)
    }
}

impl std::str::FromStr for Pipelining {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.iter().find(|(_, name)| *name == text);
        known
            .map(|(pipelining, _)| *pipelining)
            .ok_or_else(|| format!("unknown pipelining `{text}`: expected off, begin or on"))
    }
}

/// A step of a pipeline: statements that are sent without waiting for their answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pipeline {
    /// From here on, statements are only sent.
    Start,
    /// Marks the end of an implicit transaction, without waiting.
    Sync,
    /// Waits for all answers; statements are answered one by one again.
    End,
}
