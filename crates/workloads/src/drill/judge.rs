//! Compares the rows of one user with its ledger, in one pass over both and in constant memory.

use std::collections::VecDeque;
use std::iter::Peekable;

use super::chain::hash;
use super::ledger::{Fate, Ledger, Stretch};

/// Rows that a row may follow: the last acknowledged one, and those after it that are in doubt. Of
/// more than this many, the oldest are forgotten.
const PREDECESSORS_MAX: usize = 1024;
/// Ranges of lost commits that are kept per user; all are counted.
const RANGES_MAX: usize = 8;

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the columns are explained in the module's comment")]
pub struct RowOfDrill {
    pub seq: u64,
    pub input: i64,
    pub prev: i64,
    pub hash: i64,
}

/// Counts of the transactions of one or more users.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LedgerCounts {
    /// Acknowledged commits.
    pub acknowledged: u64,
    /// Acknowledged commits without a row.
    pub lost: u64,
    /// Rows beyond the first of a transaction.
    pub duplicated: u64,
    /// Rows that do not follow the row before them.
    pub reordered: u64,
    /// Transactions that failed.
    pub failed: u64,
    /// Transactions that were reported as failed and have a row.
    pub undead: u64,
    /// Rows without their hash, or of a transaction that never was.
    pub altered: u64,
    /// Transactions in doubt that have a row.
    pub indeterminate_committed: u64,
    /// Transactions in doubt that have none.
    pub indeterminate_absent: u64,
}

impl LedgerCounts {
    /// Adds the counts of another user.
    pub const fn add(&mut self, other: &Self) {
        self.acknowledged += other.acknowledged;
        self.lost += other.lost;
        self.duplicated += other.duplicated;
        self.reordered += other.reordered;
        self.failed += other.failed;
        self.undead += other.undead;
        self.altered += other.altered;
        self.indeterminate_committed += other.indeterminate_committed;
        self.indeterminate_absent += other.indeterminate_absent;
    }

    /// Counts transactions of one fate, with a row or without.
    const fn count(&mut self, fate: Fate, transactions: u64, has_row: bool) {
        match (fate, has_row) {
            (Fate::Acknowledged, true) => self.acknowledged += transactions,
            (Fate::Acknowledged, false) => {
                self.acknowledged += transactions;
                self.lost += transactions;
            }
            (Fate::Failed, true) => {
                self.failed += transactions;
                self.undead += transactions;
            }
            (Fate::Failed, false) => self.failed += transactions,
            (Fate::Indeterminate, true) => self.indeterminate_committed += transactions,
            (Fate::Indeterminate, false) => self.indeterminate_absent += transactions,
        }
    }
}

/// Lost commits of one user without a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostCommits {
    /// The user.
    pub user: u32,
    /// Sequence number of the first.
    pub first: u64,
    /// Sequence number of the last.
    pub last: u64,
    /// Second since 1970 in which the first began.
    pub from: i64,
    /// Second since 1970 in which the last began.
    pub to: i64,
}

/// Judges the rows of one user, which it receives in the order of their sequence numbers.
#[derive(Debug)]
pub struct Judge<'a, S: Iterator<Item = Stretch>> {
    ledger: &'a Ledger,
    seed: u64,
    rest: Peekable<S>,
    /// First transaction that is not judged yet.
    next: u64,
    predecessors: VecDeque<i64>,
    judged: LedgerCounts,
    /// First and last second of lost commits.
    lost_span: Option<(i64, i64)>,
    lost: Vec<LostCommits>,
}

/// Creates the judge of a ledger of the drill with this seed.
pub fn judge(seed: u64, ledger: &Ledger) -> Judge<'_, impl Iterator<Item = Stretch> + '_> {
    Judge {
        ledger,
        seed,
        rest: ledger.stretches().peekable(),
        next: 1,
        predecessors: VecDeque::from([0]),
        judged: LedgerCounts::default(),
        lost_span: None,
        lost: Vec::new(),
    }
}

impl<S: Iterator<Item = Stretch>> Judge<'_, S> {
    /// Judges the next row.
    pub fn row(&mut self, row: &RowOfDrill) {
        if row.seq < self.next && row.seq > 0 {
            self.judged.duplicated += 1;
            self.check_row(row, None);
            return;
        }
        self.absent_until(row.seq);
        let fate = self.fate(row.seq);
        match fate {
            Some(fate) => {
                self.judged.count(fate, 1, true);
                self.next = row.seq + 1;
                self.check_row(row, Some(fate));
            }
            None => self.judged.altered += 1,
        }
    }

    /// Ends the rows: everything that remains has none.
    pub fn finish(mut self) -> (LedgerCounts, Vec<LostCommits>, Option<(i64, i64)>) {
        self.absent_until(u64::MAX);
        (self.judged, self.lost, self.lost_span)
    }

    /// Checks the hash of a row, and that it follows those before it.
    fn check_row(&mut self, row: &RowOfDrill, fate: Option<Fate>) {
        if hash(self.seed, self.ledger.user(), row.seq, row.input, row.prev) != row.hash {
            self.judged.altered += 1;
        } else if fate.is_some() && !self.predecessors.contains(&row.prev) {
            self.judged.reordered += 1;
        }
        if fate == Some(Fate::Acknowledged) {
            self.predecessors.clear();
        } else if self.predecessors.len() == PREDECESSORS_MAX {
            self.predecessors.pop_front();
        }
        self.predecessors.push_back(row.hash);
    }

    /// The fate of a transaction, which is not before those judged; `None` if it never was.
    fn fate(&mut self, seq: u64) -> Option<Fate> {
        let stretch = self.rest.peek()?;
        (seq >= stretch.first && seq <= stretch.last).then_some(stretch.fate)
    }

    /// Counts the transactions before `seq` that are not judged yet: they have no row.
    fn absent_until(&mut self, seq: u64) {
        while let Some(stretch) = self.rest.peek().copied() {
            let first = self.next.max(stretch.first);
            let last = stretch.last.min(seq.saturating_sub(1));
            if first <= last {
                self.judged.count(stretch.fate, last - first + 1, false);
                if stretch.fate == Fate::Acknowledged {
                    self.lose(first, last);
                }
                self.next = last + 1;
            }
            if stretch.last >= seq {
                return;
            }
            self.rest.next();
        }
    }

    fn lose(&mut self, first: u64, last: u64) {
        let (from, to) = (self.ledger.began_at(first), self.ledger.began_at(last));
        let span = self.lost_span.get_or_insert((from, to));
        span.1 = span.1.max(to);
        if self.lost.len() < RANGES_MAX {
            let user = self.ledger.user();
            self.lost.push(LostCommits { user, first, last, from, to });
        }
    }
}

#[cfg(test)]
mod tests {
    use triphammer_core::Elapsed;

    use super::*;
    use Fate::{Acknowledged, Failed, Indeterminate};

    const SEED: u64 = 7;
    const USER: u32 = 2;

    fn ledger(fates: &[Fate]) -> Ledger {
        let mut ledger = Ledger::new(USER);
        for (second, fate) in (100..).zip(fates) {
            ledger.begin(second);
            ledger.end(*fate, Elapsed(0));
        }
        ledger
    }

    fn row(seq: u64, prev: i64) -> RowOfDrill {
        let input = 1_000 + i64::try_from(seq).unwrap();
        RowOfDrill { seq, input, prev, hash: hash(SEED, USER, seq, input, prev) }
    }

    /// Rows with these numbers, each after the one before it.
    fn chain(seqs: &[u64]) -> Vec<RowOfDrill> {
        let mut rows: Vec<RowOfDrill> = Vec::new();
        for seq in seqs {
            rows.push(row(*seq, rows.last().map_or(0, |row| row.hash)));
        }
        rows
    }

    fn judged(fates: &[Fate], rows: &[RowOfDrill]) -> (LedgerCounts, Vec<LostCommits>) {
        let ledger = ledger(fates);
        let mut judge = judge(SEED, &ledger);
        rows.iter().for_each(|row| judge.row(row));
        let (judged, lost, _) = judge.finish();
        (judged, lost)
    }

    #[test]
    fn a_table_that_kept_everything_has_no_findings() {
        let (found, lost) = judged(&[Acknowledged; 5], &chain(&[1, 2, 3, 4, 5]));
        assert_eq!(found, LedgerCounts { acknowledged: 5, ..LedgerCounts::default() });
        assert!(lost.is_empty());
    }

    #[test]
    fn a_lost_end_is_lost_and_nothing_is_reordered() {
        // 3 to 5 were lost in a failover, and the user went on after 2.
        let (found, lost) = judged(&[Acknowledged; 7], &chain(&[1, 2, 6, 7]));
        assert_eq!(found, LedgerCounts { acknowledged: 7, lost: 3, ..LedgerCounts::default() });
        assert_eq!(lost, [LostCommits { user: USER, first: 3, last: 5, from: 102, to: 104 }]);
        let (found, _) = judged(&[Acknowledged; 3], &[]);
        assert_eq!(found.lost, 3);
    }

    #[test]
    fn a_hole_is_lost_and_what_follows_it_is_reordered() {
        let mut rows = chain(&[1, 2, 3, 4]);
        rows.remove(1);
        let (found, _) = judged(&[Acknowledged; 4], &rows);
        assert_eq!(
            found,
            LedgerCounts { acknowledged: 4, lost: 1, reordered: 1, ..LedgerCounts::default() }
        );
    }

    #[test]
    fn a_row_that_did_not_see_the_one_before_it_is_reordered() {
        let rows = chain(&[1, 2]);
        let stale = row(3, rows[0].hash);
        let (found, _) = judged(&[Acknowledged; 3], &[rows[0], rows[1], stale]);
        assert_eq!(
            found,
            LedgerCounts { acknowledged: 3, reordered: 1, ..LedgerCounts::default() }
        );
    }

    #[test]
    fn what_is_in_doubt_is_resolved_and_may_be_overtaken() {
        let fates = [Acknowledged, Indeterminate, Acknowledged, Indeterminate, Acknowledged];
        let (found, _) = judged(&fates, &chain(&[1, 2, 3, 5]));
        let all = LedgerCounts {
            acknowledged: 3,
            indeterminate_committed: 1,
            indeterminate_absent: 1,
            ..LedgerCounts::default()
        };
        assert_eq!(found, all);
        // The commit in doubt became visible only after the next transaction had read.
        let first = row(1, 0);
        let rows = [first, row(2, first.hash), row(3, first.hash)];
        let (found, _) = judged(&fates[..3], &rows);
        assert_eq!((found.reordered, found.indeterminate_committed), (0, 1));
    }

    #[test]
    fn duplicates_undead_and_altered_rows_are_counted() {
        let rows = chain(&[1, 2, 3]);
        let (found, _) = judged(&[Acknowledged; 3], &[rows[0], rows[1], rows[1], rows[2]]);
        assert_eq!(
            found,
            LedgerCounts { acknowledged: 3, duplicated: 1, ..LedgerCounts::default() }
        );
        let (found, _) = judged(&[Acknowledged, Failed, Acknowledged], &rows);
        let undead =
            LedgerCounts { acknowledged: 2, failed: 1, undead: 1, ..LedgerCounts::default() };
        assert_eq!(found, undead);
        let mut wrong = rows;
        wrong[1].input += 1;
        let (found, _) = judged(&[Acknowledged; 3], &wrong);
        assert_eq!(found, LedgerCounts { acknowledged: 3, altered: 1, ..LedgerCounts::default() });
        let (found, _) = judged(&[], &chain(&[1]));
        assert_eq!(found.altered, 1, "a row of a transaction that never was");
    }

    #[test]
    fn only_a_few_ranges_are_kept_but_all_are_counted() {
        let odd: Vec<u64> = (1..100).filter(|seq| seq % 2 == 1).collect();
        let (found, lost) = judged(&[Acknowledged; 99], &chain(&odd));
        assert_eq!((found.lost, lost.len()), (49, RANGES_MAX));
    }
}
