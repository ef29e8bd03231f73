//! Two runs that take place at once, as a pair: when each of them works, and on which CPUs. Pure
//! functions of a seed and the time, so that the halves agree without exchanging anything.
//!
//! ```text
//! slices   A ────····────────········────   each pair of slices is A B or B A, by chance
//!          B ····────········────────····
//!
//! duet     A ──────────────────────────┬──····────··──────────── blocks of CPUs ──────
//!          B ──────────────────────────┴··────····────────────── swapped by chance ───
//!            ramp-up, together           each alone  timed window, together
//! ```
//!
//! The slices in which one half works alone begin and end on whole seconds, so that every second
//! belongs to one half. What is due in an open load is due by the time that a half has worked: both
//! halves have the same arrivals.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::Elapsed;
use crate::random::Rng;

/// Purposes of the random numbers.
const SLICES: u64 = 0x51;
const BLOCKS: u64 = 0x52;

/// Pairs of slices in which the halves of a duet work alone.
pub const ALONE_PAIRS: u64 = 2;

/// One half of a pair of runs that take place at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PairHalf {
    /// Whether it is that of B.
    pub is_b: bool,
    /// Seed of the order of the sides.
    pub seed: u64,
    /// Whether both halves drive the same database, so that its own counts are those of both.
    pub same_target: bool,
    /// Number of blocks after which the pair ends, if it ends earlier as soon as it is decided; `None`
    /// if it ends by the clock.
    #[serde(default)]
    pub looks_most: Option<u64>,
    /// How the halves share the time.
    pub sharing: Sharing,
}

/// How the halves of a pair share the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Sharing {
    /// One half works at a time, from the start of the run to its end.
    Slices {
        /// Length of a slice in seconds, at least 1.
        slice_s: u64,
    },
    /// Both halves work at every moment, except at the end of the ramp-up, where each works alone.
    Duet {
        /// The second from which each works alone, in pairs of slices.
        alone_from_s: u64,
        /// Length of such a slice in seconds; 0 if there are none.
        alone_s: u64,
        /// Mean length of a block in seconds, at least 1. At its end, the halves swap their CPUs.
        block_s: u64,
    },
}

/// A part of a pair of blocks, or of slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockPart {
    /// Number of the pair of blocks, from the start of the run.
    pub pair: u64,
    /// Whether it is the second of the two.
    pub is_second: bool,
}

/// The stretch of time in which the halves take turns.
#[derive(Clone, Copy, Debug)]
struct Turns {
    from: u64,
    /// Seconds of a slice.
    slice: u64,
    /// Number of pairs of slices.
    pairs: u64,
}

/// Longest part of a pair, in seconds.
const PART_MAX_S: u64 = 86_400;
/// Longest time before the slices in which the halves of a duet are alone: that of any duration.
const BEFORE_MAX_S: u64 = 366 * 86_400;

impl PairHalf {
    /// Whether its lengths are those of a run: what was read from a file may be anything.
    #[must_use]
    pub fn is_possible(&self) -> bool {
        let part = 1..=PART_MAX_S;
        match self.sharing {
            Sharing::Slices { slice_s } => part.contains(&slice_s),
            Sharing::Duet { alone_from_s, alone_s, block_s } => {
                let from = alone_from_s <= BEFORE_MAX_S;
                from && alone_s <= PART_MAX_S && part.contains(&block_s)
            }
        }
    }

    /// When the halves take turns; `None` if they never do.
    const fn turns(&self) -> Option<Turns> {
        match self.sharing {
            Sharing::Slices { slice_s } => Some(Turns { from: 0, slice: slice_s, pairs: u64::MAX }),
            Sharing::Duet { alone_s: 0, .. } => None,
            Sharing::Duet { alone_from_s, alone_s, .. } => {
                Some(Turns { from: alone_from_s, slice: alone_s, pairs: ALONE_PAIRS })
            }
        }
    }

    /// Whether this half works first in a pair of slices.
    fn is_first(&self, pair: u64) -> bool {
        let b_first = Rng::of(self.seed, &[SLICES, pair]).below(2) == 1;
        b_first == self.is_b
    }

    /// Whether the half works in a second of the run.
    #[must_use]
    pub fn works(&self, second: u64) -> bool {
        self.state(second).0
    }

    /// Whether the other half works in a second of the run.
    #[must_use]
    pub fn other_works(&self, second: u64) -> bool {
        Self { is_b: !self.is_b, ..*self }.works(second)
    }

    /// Whether the half works at `now`, and until when that does not change.
    #[must_use]
    pub fn at(&self, now: Elapsed) -> (bool, Elapsed) {
        let (works, until) = self.state(now.second());
        (works, until.map_or(Elapsed::NEVER, Elapsed::at_second))
    }

    /// Whether the half works in a second, and the second in which that may change.
    fn state(&self, second: u64) -> (bool, Option<u64>) {
        let Some(turns) = self.turns() else { return (true, None) };
        let Some(into) = second.checked_sub(turns.from) else { return (true, Some(turns.from)) };
        let (slice, pair) = (into / turns.slice, into / turns.slice / 2);
        if pair >= turns.pairs {
            return (true, None);
        }
        let works = (slice % 2 == 0) == self.is_first(pair);
        (works, Some(turns.from + (slice + 1) * turns.slice))
    }

    /// Time for which the half has worked at `now`.
    #[must_use]
    pub fn worked(&self, now: Elapsed) -> Elapsed {
        let Some(turns) = self.turns() else { return now };
        let [from, slice] = [turns.from, turns.slice].map(|seconds| Elapsed::at_second(seconds).0);
        let Some(into) = now.0.checked_sub(from) else { return now };
        let pair = into / slice / 2;
        if pair >= turns.pairs {
            return Elapsed(now.0 - turns.pairs * slice);
        }
        let rest = into - pair * 2 * slice;
        let own = if self.is_first(pair) { rest.min(slice) } else { rest.saturating_sub(slice) };
        Elapsed(from + pair * slice + own)
    }

    /// When the half will have worked for this time and works: the inverse of
    /// [`PairHalf::worked`].
    #[must_use]
    pub fn when(&self, worked: Elapsed) -> Elapsed {
        let Some(turns) = self.turns() else { return worked };
        let [from, slice] = [turns.from, turns.slice].map(|seconds| Elapsed::at_second(seconds).0);
        let Some(into) = worked.0.checked_sub(from) else { return worked };
        let pair = into / slice;
        if pair >= turns.pairs {
            return Elapsed(worked.0.saturating_add(turns.pairs * slice));
        }
        let before = if self.is_first(pair) { 0 } else { slice };
        let others = pair.saturating_mul(slice).saturating_add(before);
        Elapsed(into.saturating_add(from).saturating_add(others))
    }

    /// Seconds of a pair of blocks or slices.
    #[must_use]
    pub const fn pair_s(&self) -> u64 {
        match self.sharing {
            Sharing::Slices { slice_s } => 2 * slice_s,
            Sharing::Duet { block_s, .. } => 2 * block_s,
        }
    }

    /// The part of a pair of blocks that a second belongs to. The first block of a pair of a duet has a
    /// random length, and the second one has the rest.
    #[must_use]
    pub fn block(&self, second: u64) -> BlockPart {
        let (pair, rest) = (second / self.pair_s(), second % self.pair_s());
        let first_s = match self.sharing {
            Sharing::Slices { slice_s } => slice_s,
            Sharing::Duet { block_s, .. } => {
                let spread = block_s / 2;
                block_s - spread + self.blocks(pair).below(2 * spread + 1)
            }
        };
        BlockPart { pair, is_second: rest >= first_s }
    }

    /// Whether the half uses the upper half of the CPUs in a second; `None` if CPUs are not divided.
    #[must_use]
    pub fn is_upper(&self, second: u64) -> Option<bool> {
        if matches!(self.sharing, Sharing::Slices { .. }) {
            return None;
        }
        let block = self.block(second);
        let mut drawn = self.blocks(block.pair);
        drawn.bits();
        let first_is_upper = drawn.below(2) == 1;
        Some((first_is_upper != block.is_second) != self.is_b)
    }

    /// Random numbers of a pair of blocks: its first length, then its order.
    fn blocks(&self, pair: u64) -> Rng {
        Rng::of(self.seed, &[BLOCKS, pair])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn halves(sharing: Sharing, seed: u64) -> [PairHalf; 2] {
        [false, true].map(|is_b| PairHalf {
            is_b,
            seed,
            same_target: false,
            looks_most: None,
            sharing,
        })
    }

    const SLICED: Sharing = Sharing::Slices { slice_s: 3 };
    const DUET: Sharing = Sharing::Duet { alone_from_s: 10, alone_s: 4, block_s: 3 };

    #[test]
    fn exactly_one_half_works_in_each_slice_and_each_is_first_as_often() {
        let [a, b] = halves(SLICED, 7);
        assert!((0..3_000).all(|second| a.works(second) != b.works(second)));
        assert!((0..3_000).all(|second| a.works(second) == b.other_works(second)));
        for pair in 0..500 {
            let of_a: Vec<bool> = (0..6).map(|at| a.works(6 * pair + at)).collect();
            assert!(of_a == [true, true, true, false, false, false] || of_a[3..] == [true; 3]);
        }
        let first = (0..500).filter(|pair| a.works(6 * pair)).count();
        assert!((200..300).contains(&first), "{first}");
        let other = halves(SLICED, 8)[0];
        assert!((0..600).any(|second| other.works(second) != a.works(second)));
    }

    #[test]
    fn a_duet_works_together_but_for_the_slices_in_which_each_is_alone() {
        let [a, b] = halves(DUET, 7);
        let both = |second| a.works(second) && b.works(second);
        assert!((0..10).all(both) && (26..1_000).all(both));
        assert!((10..26).all(|second| a.works(second) != b.works(second)));
        for half in [a, b] {
            assert_eq!((10..26).filter(|second| half.works(*second)).count(), 8);
        }
        assert_eq!(a.at(Elapsed::at_second(9)), (true, Elapsed::at_second(10)));
        assert_eq!(a.at(Elapsed::at_second(26)), (true, Elapsed::NEVER));
        let without = halves(Sharing::Duet { alone_from_s: 0, alone_s: 0, block_s: 1 }, 1)[0];
        assert_eq!(without.at(Elapsed::at_second(5)), (true, Elapsed::NEVER));
    }

    #[test]
    fn time_worked_counts_the_seconds_of_work_and_has_an_inverse() {
        for sharing in [SLICED, DUET] {
            for half in halves(sharing, 3) {
                let mut worked = 0;
                for second in 0..200 {
                    let now = Elapsed::at_second(second);
                    assert_eq!(half.worked(now), Elapsed::at_second(worked), "{half:?} {second}");
                    if half.works(second) {
                        let due = Elapsed(Elapsed::at_second(worked).0 + 250_000_000);
                        let when = half.when(due);
                        assert_eq!(when, Elapsed(now.0 + 250_000_000), "{half:?} {second}");
                        assert_eq!(half.worked(when), due);
                        worked += 1;
                    }
                }
                assert_eq!(half.when(Elapsed::NEVER), Elapsed::NEVER);
            }
        }
    }

    #[test]
    fn blocks_of_a_duet_have_random_lengths_and_swap_the_cpus_in_balance() {
        let [a, b] = halves(DUET, 5);
        let upper = |half: PairHalf, second| half.is_upper(second).unwrap();
        assert!((0..6_000).all(|second| upper(a, second) != upper(b, second)));
        let mut lengths = [0; 7];
        let mut first_upper = 0;
        for pair in 0..1_000 {
            let seconds = 6 * pair..6 * (pair + 1);
            let first = seconds.clone().filter(|second| !a.block(*second).is_second).count();
            lengths[first] += 1;
            assert!(seconds.clone().all(|second| {
                let swapped = upper(a, second) != upper(a, 6 * pair);
                a.block(second) == BlockPart { pair, is_second: swapped }
            }));
            first_upper += usize::from(upper(a, 6 * pair));
        }
        assert_eq!((lengths[0], lengths[1], lengths[5], lengths[6]), (0, 0, 0, 0));
        assert!(lengths[2..5].iter().all(|count| *count > 250), "{lengths:?}");
        assert!((400..600).contains(&first_upper), "{first_upper}");
        assert_eq!(halves(SLICED, 5)[0].is_upper(3), None);
    }
}
