//! Audits: whether sums over the data changed by the amount that the run's own transactions report,
//! over the whole run:
//!
//! ```text
//! Σ changes by committed + Σ least × unknown  ≤  after − before  ≤  Σ changes by committed + Σ most × unknown
//! ```
//!
//! where `unknown` is the number of transactions of a type that are in doubt, in flight at abort, or committed with an
//! answer that could not be read, and least and most the changes of the sum by one of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::outcome::Counts;
use triphammer_core::workload::{AuditDef, AuditTerm};
use triphammer_settings::format::signed;

use super::facts::DatabaseCount;
use super::verification::Verdict;

/// A sum over the data before and after the run, compared with the client's own sum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Audit {
    /// Key of the audit: `abalance`.
    pub id: String,
    /// The equation: `ΔΣ abalance = Σ delta`.
    pub title: String,
    /// The client's own sum over committed transactions; `None` if its counts are incomplete.
    pub expected: Option<i64>,
    /// Minimum possible change, given transactions in doubt or in flight; `None` if unknown.
    pub low: Option<i64>,
    /// Maximum possible change, likewise.
    pub high: Option<i64>,
    /// Change of the database's sum; `None` if it could not be queried both before and after.
    pub found: Option<i64>,
    /// Whether client and database agree.
    pub verdict: Verdict,
    /// The verdict in words.
    pub words: String,
}

/// The client's own sum over its transactions.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClientSum {
    /// Sum over committed transactions.
    sum: i128,
    /// Number of transactions whose change is unknown.
    unknown: u64,
    /// Least and largest change by these together.
    range: [i128; 2],
}

impl ClientSum {
    /// Sums over the types that change it, each with its counts and the number of transactions in
    /// flight when the run was aborted.
    pub(super) fn of<'a>(types: impl Iterator<Item = (&'a AuditTerm, &'a Counts, u64)>) -> Self {
        let mut client = Self { sum: 0, unknown: 0, range: [0, 0] };
        for (term, counts, in_flight) in types {
            let each = i128::from(term.each);
            client.sum += each * i128::from(counts.committed) + i128::from(counts.counter);
            let (least, most) = (i128::from(*term.range.start()), i128::from(*term.range.end()));
            let open = counts.indeterminate + in_flight;
            let unread = if term.is_answered { counts.unread } else { 0 };
            client.unknown += open + unread;
            let (open, unread) = (i128::from(open), i128::from(unread));
            // What is in doubt may have changed nothing. An unread one has, but not by a known sum.
            client.range[0] += open * least.min(0) + unread * (least - each).min(0);
            client.range[1] += open * most.max(0) + unread * (most - each).max(0);
        }
        client
    }
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
            let [least, most] = client.range;
            [client.sum, client.sum + least, client.sum + most].map(narrow)
        });
        let (verdict, words) = match (client, bounds, found) {
            (Some(client), Some(bounds), Some(found)) => judge(client.unknown, bounds, found),
            (_, _, None) => {
                let words = "the database could not be queried both before and after the run";
                (Verdict::NotCounted, words.to_owned())
            }
            _ => {
                let words = "a worker thread did not end, so the client's sum is incomplete";
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
        let words = format!("{apart}; {unknown} were in doubt or in flight, which can explain it");
        (Verdict::WithinBounds, words)
    } else if unknown == 0 {
        (Verdict::Violated, apart)
    } else {
        let words = format!(
            "{apart}; with {unknown} in doubt or in flight, {} to {} would be possible",
            signed(low),
            signed(high)
        );
        (Verdict::Violated, words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An audit whose transactions change the sum by at most 5,000.
    fn definition() -> AuditDef {
        triphammer_workloads::describe("tpc-b").unwrap().audits[0].clone()
    }

    fn verdict(counter: i64, indeterminate: u64, moved: i64) -> Verdict {
        let read = DatabaseCount { before: Some(100), after: Some(100 + moved) };
        let counts = Counts { counter, indeterminate, ..Counts::default() };
        let definition = definition();
        let client = ClientSum::of([(&definition.terms[0], &counts, 0)].into_iter());
        Audit::new(&definition, Some(client), read).verdict
    }

    #[test]
    fn a_type_changes_the_sum_by_a_fixed_number_and_by_its_counter_in_one_direction() {
        let tproc_c = triphammer_workloads::describe("tproc-c").unwrap();
        let audit = tproc_c.audits.iter().find(|audit| audit.id == "new_order").unwrap();
        let orders = Counts { committed: 100, indeterminate: 2, ..Counts::default() };
        let verdict = |unread: u64, moved: i64| {
            let deliveries = Counts { committed: 5, counter: 3, unread, ..Counts::default() };
            let types = audit.terms.iter().zip([&orders, &deliveries]);
            let client = ClientSum::of(types.map(|(term, counts)| (term, counts, 0)));
            let read = DatabaseCount { before: Some(0), after: Some(moved) };
            Audit::new(audit, Some(client), read).verdict
        };
        // 100 orders, and 5 deliveries of 10 districts, 3 of which were skipped.
        for (unread, moved, expected) in [
            (0, 53, Verdict::Verified),
            (0, 55, Verdict::WithinBounds),
            (0, 56, Verdict::Violated),
            (0, 52, Verdict::Violated),
            (1, 65, Verdict::WithinBounds),
        ] {
            assert_eq!(verdict(unread, moved), expected, "{unread} {moved}");
        }
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
        let client = ClientSum { sum: 5, unknown: 0, range: [0, 0] };
        let audit = Audit::new(&definition(), Some(client), DatabaseCount::default());
        assert_eq!((audit.verdict, audit.found), (Verdict::NotCounted, None));
        let read = DatabaseCount { before: Some(0), after: Some(5) };
        assert_eq!(Audit::new(&definition(), None, read).verdict, Verdict::NotCounted);
    }
}
