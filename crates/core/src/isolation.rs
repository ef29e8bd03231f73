//! Isolation levels of transactions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Isolation levels by the names of the SQL standard, plus snapshot isolation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the standard's own names")]
pub enum Isolation {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Snapshot,
    Serializable,
}

impl Isolation {
    /// All levels, each with its name on the command line.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::ReadUncommitted, "read-uncommitted"),
        (Self::ReadCommitted, "read-committed"),
        (Self::RepeatableRead, "repeatable-read"),
        (Self::Snapshot, "snapshot"),
        (Self::Serializable, "serializable"),
    ];

    /// Name of the level on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(level, _)| *level == self).expect("ALL has every level").1
    }
}

impl std::str::FromStr for Isolation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = text.replace(['_', ' '], "-").to_lowercase();
        Self::ALL.iter().find(|(_, name)| *name == wanted).map(|(level, _)| *level).ok_or_else(
            || {
                let names: Vec<_> = Self::ALL.iter().map(|(_, name)| *name).collect();
                format!("unknown isolation level `{text}`: expected one of {}", names.join(", "))
            },
        )
    }
}
