//! What a user of a drill knows about its own transactions. The ledger is small however long the
//! drill lasts: consecutive transactions with the same fate are one entry.

use triphammer_core::Elapsed;

use super::silence::Silences;

/// Entries of a ledger: a user whose fates alternate more often stops.
const STRETCHES_MAX: usize = 1 << 20;
/// Times of a ledger; then every second one is dropped.
const TIMES_MAX: usize = 4096;

/// What the client knows about a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The database acknowledged the commit.
    Acknowledged,
    /// The database rolled back, or the commit was never sent.
    Failed,
    /// The commit was sent and not answered.
    Indeterminate,
}

/// Consecutive transactions with the same fate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Sequence number of the first transaction.
    pub first: u64,
    /// Sequence number of the last transaction.
    pub last: u64,
    /// Their fate.
    pub fate: Fate,
}

impl Stretch {
    /// Number of transactions.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.last - self.first + 1
    }
}

/// The transactions of one user, numbered from 1, with their fates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ledger {
    user: u32,
    stretches: Vec<Stretch>,
    /// Number of the transaction that was begun last.
    last: u64,
    /// When a transaction began: the second, and its number. In order, at least `every` seconds
    /// apart.
    times: Vec<(i64, u64)>,
    every: i64,
    silences: Silences,
}

impl Ledger {
    /// Creates the empty ledger of a user.
    #[must_use]
    pub const fn new(user: u32) -> Self {
        let silences = Silences::new();
        Self { user, stretches: Vec::new(), last: 0, times: Vec::new(), every: 1, silences }
    }

    /// The user.
    #[must_use]
    pub const fn user(&self) -> u32 {
        self.user
    }

    /// Whether there is no room for another transaction.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        self.stretches.len() >= STRETCHES_MAX
    }

    /// Begins the next transaction at a second since 1970, and returns its number. Until
    /// [`Ledger::end`] its fate is indeterminate.
    pub fn begin(&mut self, second: i64) -> u64 {
        self.last += 1;
        let is_due = self.times.last().is_none_or(|(last, _)| second >= last + self.every);
        if is_due {
            if self.times.len() == TIMES_MAX {
                let mut place = 0;
                self.times.retain(|_| {
                    place += 1;
                    place % 2 == 1
                });
                self.every *= 2;
            }
            self.times.push((second, self.last));
        }
        self.last
    }

    /// Ends the transaction that was begun last, at a time since the start of the run.
    pub fn end(&mut self, fate: Fate, at: Elapsed) {
        if fate == Fate::Acknowledged {
            self.silences.acknowledged(at);
        }
        let seq = self.last;
        match self.stretches.last_mut() {
            Some(stretch) if stretch.fate == fate && stretch.last + 1 == seq => stretch.last = seq,
            _ => self.stretches.push(Stretch { first: seq, last: seq, fate }),
        }
    }

    /// All transactions in order: each belongs to one stretch. One that was begun and never ended is
    /// indeterminate.
    pub fn stretches(&self) -> impl Iterator<Item = Stretch> + '_ {
        let ended = self.stretches.last().map_or(0, |stretch| stretch.last);
        let open = (ended < self.last).then_some(Stretch {
            first: ended + 1,
            last: self.last,
            fate: Fate::Indeterminate,
        });
        self.stretches.iter().copied().chain(open)
    }

    /// The second since 1970 in which a transaction began, at most [`Ledger::resolution_s`] too
    /// early; 0 if it never began.
    #[must_use]
    pub fn began_at(&self, seq: u64) -> i64 {
        let after = self.times.partition_point(|(_, first)| *first <= seq);
        after.checked_sub(1).map_or(0, |place| self.times[place].0)
    }

    /// The second since 1970 in which the first transaction began; `None` without one.
    #[must_use]
    pub fn first_second(&self) -> Option<i64> {
        self.times.first().map(|(second, _)| *second)
    }

    pub(super) const fn silences(&self) -> &Silences {
        &self.silences
    }

    /// Resolution of [`Ledger::began_at`], in seconds.
    #[must_use]
    pub const fn resolution_s(&self) -> i64 {
        self.every
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_fates_are_one_stretch_and_what_never_ended_is_in_doubt() {
        let mut ledger = Ledger::new(3);
        for fate in [Fate::Acknowledged, Fate::Acknowledged, Fate::Failed, Fate::Acknowledged] {
            ledger.begin(100);
            ledger.end(fate, Elapsed(0));
        }
        ledger.begin(101);
        let stretch = |first, last, fate| Stretch { first, last, fate };
        let all: Vec<_> = ledger.stretches().collect();
        assert_eq!(
            all,
            [
                stretch(1, 2, Fate::Acknowledged),
                stretch(3, 3, Fate::Failed),
                stretch(4, 4, Fate::Acknowledged),
                stretch(5, 5, Fate::Indeterminate),
            ]
        );
        assert_eq!((ledger.began_at(4), ledger.began_at(5)), (100, 101));
    }

    #[test]
    fn a_long_drill_keeps_few_times() {
        let mut ledger = Ledger::new(0);
        for second in 0..100_000 {
            for _ in 0..3 {
                ledger.begin(second);
                ledger.end(Fate::Acknowledged, Elapsed(0));
            }
        }
        assert!(ledger.times.len() <= TIMES_MAX && ledger.stretches.len() == 1);
        let most = ledger.resolution_s();
        assert!(most <= 64, "{most}");
        for seq in [1, 1_000, 299_999] {
            let exact = i64::try_from((seq - 1) / 3).unwrap();
            let late = exact - ledger.began_at(seq);
            assert!((0..most).contains(&late), "{seq}: {late}");
        }
    }
}
