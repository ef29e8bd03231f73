//! Stretches in which the database acknowledged no commit of any user, to the millisecond. Seconds
//! without a commit would hide an outage of 300 ms.
//!
//! Nobody was acknowledged in a stretch if every user was silent in it. Each user therefore keeps its
//! own silences, and the stretches of all are what these have in common.

use std::ops::Range;

use triphammer_core::Elapsed;

use super::ledger::{Fate, Ledger, Stretch};

/// Shorter silences are not kept: a healthy server waits as long for its disk.
const SHORTEST: Elapsed = Elapsed(100_000_000);
/// A stretch is an outage if it is this many times longer than commits are apart on average.
const TIMES_APART: u64 = 10;
/// Silences that a user keeps; beyond it, short ones are dropped.
const SILENCES_MAX: usize = 1 << 14;

/// The silences of one user: between two acknowledged commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Silences {
    /// When the last commit was acknowledged; the start of the run before the first one.
    since: Elapsed,
    shortest: u64,
    list: Vec<Range<Elapsed>>,
}

impl Silences {
    pub const fn new() -> Self {
        Self { since: Elapsed(0), shortest: SHORTEST.0, list: Vec::new() }
    }

    /// A commit of the user was acknowledged.
    pub fn acknowledged(&mut self, at: Elapsed) {
        if at.since(self.since) >= self.shortest {
            self.list.push(self.since..at);
        }
        self.since = at;
        while self.list.len() >= SILENCES_MAX {
            self.shortest *= 2;
            self.list.retain(|silence| length(silence) >= self.shortest);
        }
    }

    /// All silences until the end of the load, in order.
    fn until(&self, end: Elapsed) -> impl Iterator<Item = Range<Elapsed>> + '_ {
        let open = std::iter::once(self.since..end);
        self.list.iter().cloned().chain(open).filter(|silence| length(silence) >= SHORTEST.0)
    }
}

/// The outages of a load that ended at `end`, in order: stretches of at least 100 ms without an
/// acknowledged commit of anybody, and of at least ten times the mean time between two commits.
#[must_use]
pub fn outages(ledgers: &[Ledger], end: Elapsed) -> Vec<Range<Elapsed>> {
    let all = ledgers.iter().flat_map(Ledger::stretches);
    let acknowledged = all.filter(|stretch| stretch.fate == Fate::Acknowledged);
    let commits: u64 = acknowledged.map(|stretch| Stretch::count(&stretch)).sum();
    let shortest = match commits {
        0 => SHORTEST.0,
        commits => SHORTEST.0.max(TIMES_APART * (end.0 / commits)),
    };
    let whole = std::iter::once(Elapsed(0)..end).collect();
    let mut common = ledgers.iter().fold(whole, |common: Vec<_>, ledger| {
        intersection(&common, &ledger.silences().until(end).collect::<Vec<_>>())
    });
    common.retain(|stretch| length(stretch) >= shortest);
    common
}

/// What two ordered lists have in common, in stretches that are not too short.
fn intersection(a: &[Range<Elapsed>], b: &[Range<Elapsed>]) -> Vec<Range<Elapsed>> {
    let (mut i, mut j, mut common) = (0, 0, Vec::new());
    while let (Some(one), Some(other)) = (a.get(i), b.get(j)) {
        let both = one.start.max(other.start)..one.end.min(other.end);
        if length(&both) >= SHORTEST.0 {
            common.push(both);
        }
        if one.end <= other.end {
            i += 1;
        } else {
            j += 1;
        }
    }
    common
}

fn length(stretch: &Range<Elapsed>) -> u64 {
    stretch.end.since(stretch.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Elapsed {
        Elapsed(ms * 1_000_000)
    }

    /// The ledger of a user whose commits were acknowledged at these times, in ms.
    fn user(times: impl IntoIterator<Item = u64>) -> Ledger {
        let mut ledger = Ledger::new(0);
        for time in times {
            ledger.begin(0);
            ledger.end(Fate::Acknowledged, ms(time));
        }
        ledger
    }

    #[test]
    fn an_outage_of_300_ms_has_its_length() {
        let users = [
            user((0..2_000).step_by(5).chain((2_300..5_000).step_by(5))),
            user((2..2_010).step_by(10).chain((2_312..5_000).step_by(10))),
        ];
        assert_eq!(outages(&users, ms(5_000)), [ms(2_002)..ms(2_300)]);
    }

    #[test]
    fn no_outage_while_one_user_commits() {
        let users = [user([5, 4_000]), user((0..4_000).step_by(20))];
        assert_eq!(outages(&users, ms(4_000)), []);
    }

    #[test]
    fn what_lasts_until_the_end_is_an_outage_and_so_is_a_load_without_commits() {
        let mut failing = user((0..1_000).step_by(10));
        failing.begin(1);
        failing.end(Fate::Failed, ms(1_500));
        assert_eq!(outages(&[failing], ms(3_000)), [ms(990)..ms(3_000)]);
        assert_eq!(outages(&[user([])], ms(3_000)), [ms(0)..ms(3_000)]);
    }

    #[test]
    fn slow_commits_are_no_outages() {
        let times = (0..60).map(|number| number * 400);
        assert_eq!(outages(&[user(times)], ms(24_000)), []);
    }

    #[test]
    fn a_user_keeps_few_silences_and_the_longest_ones() {
        let mut silences = Silences::new();
        for number in 0..100_000_u64 {
            silences.acknowledged(ms(number * 150 + if number >= 50_000 { 20_000 } else { 0 }));
        }
        assert!(silences.list.len() < SILENCES_MAX);
        assert!(silences.list.iter().any(|silence| length(silence) >= 20_000_000_000));
    }
}
