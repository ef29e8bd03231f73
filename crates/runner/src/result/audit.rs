//! Whether sums over the data moved by what the run's own transactions say, over the whole run:
//!
//! ```text
//! Σ counters of committed − m × unknown  ≤  after − before  ≤  Σ counters of committed + m × unknown
//! ```
//!
//! where `unknown` are the transactions in doubt or in flight at abort, and m the most that one of them
//! moves the sum.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::workload::AuditDef;

use super::facts::DatabaseCount;
use super::verification::Verdict;
use crate::report::format::signed;

/// A sum over the data before and after the run, and what the client says of the difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Audit {
    /// Key: `abalance`.
    pub id: String,
    /// The equation: `ΔΣ abalance = Σ delta`.
    pub title: String,
    /// The client's own sum over committed transactions; `None` when its counts are not whole.
    pub expected: Option<i64>,
    /// The least that can be, with what is in doubt or was in flight.
    pub low: Option<i64>,
    /// The most that can be.
    pub high: Option<i64>,
    /// How much the database's sum moved; `None` when it could not be asked before and after.
    pub found: Option<i64>,
    /// Whether the two agree.
    pub verdict: Verdict,
    /// The verdict for people.
    pub words: String,
}

/// The client's own sum.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClientSum {
    /// Over committed transactions.
    pub sum: i128,
    /// Transactions in doubt, or in flight at abort.
    pub unknown: u64,
}

impl Audit {
    pub(super) fn new(
        definition: &AuditDef,
        client: Option<ClientSum>,
        database: DatabaseCount,
    ) -> Self {
        let found = match (database.before, database.after) {
            (Some(before), Some(after)) => Some(after.saturating_sub(before)),
            _ => None,
        };
        let bounds = client.map(|client| {
            let slack = i128::from(client.unknown) * i128::from(definition.most);
            [client.sum, client.sum - slack, client.sum + slack].map(narrow)
        });
        let (verdict, words) = match (client, bounds, found) {
            (Some(client), Some(bounds), Some(found)) => judge(client.unknown, bounds, found),
            (_, _, None) => {
                let words = "the database could not be asked before and after";
                (Verdict::NotCounted, words.to_owned())
            }
            _ => {
                let words = "a worker thread did not end, so the client's sum is not whole";
                (Verdict::NotCounted, words.to_owned())
            }
        };
        Self {
            id: definition.id.to_string(),
            title: definition.title.to_string(),
            expected: bounds.map(|[expected, ..]| expected),
            low: bounds.map(|[_, low, _]| low),
            high: bounds.map(|[.., high]| high),
            found,
            verdict,
            words,
        }
    }
}

fn narrow(sum: i128) -> i64 {
    i64::try_from(sum).unwrap_or(if sum < 0 { i64::MIN } else { i64::MAX })
}

fn judge(unknown: u64, [expected, low, high]: [i64; 3], found: i64) -> (Verdict, String) {
    if found == expected {
        return (Verdict::Verified, format!("both {}", signed(found)));
    }
    let apart = format!("{} in the database, {} by the client", signed(found), signed(expected));
    if (low..=high).contains(&found) {
        let words = format!("{apart}; {unknown} were in doubt or in flight, so that can be");
        (Verdict::WithinBounds, words)
    } else if unknown == 0 {
        (Verdict::Violated, apart)
    } else {
        let words = format!(
            "{apart}; the {unknown} in doubt or in flight make {} to {} possible",
            signed(low),
            signed(high)
        );
        (Verdict::Violated, words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One whose transactions move it by 5,000 at most.
    fn definition() -> AuditDef {
        crate::describe("tpc-b").unwrap().audits[0].clone()
    }

    fn verdict(sum: i128, unknown: u64, moved: i64) -> Verdict {
        let read = DatabaseCount { before: Some(100), after: Some(100 + moved) };
        Audit::new(&definition(), Some(ClientSum { sum, unknown }), read).verdict
    }

    #[test]
    fn a_sum_may_differ_by_what_is_indeterminate_and_no_more() {
        assert_eq!(verdict(-7_000, 0, -7_000), Verdict::Verified);
        assert_eq!(verdict(-7_000, 0, -6_999), Verdict::Violated);
        assert_eq!(verdict(-7_000, 2, 3_000), Verdict::WithinBounds);
        assert_eq!(verdict(-7_000, 2, -17_000), Verdict::WithinBounds);
        assert_eq!(verdict(-7_000, 2, 3_001), Verdict::Violated);
    }

    #[test]
    fn a_sum_that_could_not_be_asked_is_not_judged() {
        let client = ClientSum { sum: 5, unknown: 0 };
        let audit = Audit::new(&definition(), Some(client), DatabaseCount::default());
        assert_eq!((audit.verdict, audit.found), (Verdict::NotCounted, None));
        let read = DatabaseCount { before: Some(0), after: Some(5) };
        assert_eq!(Audit::new(&definition(), None, read).verdict, Verdict::NotCounted);
    }
}
