//! The order of the runs of a comparison in pairs: which level is next, and which side is first.
//!
//! A fixed order such as A B B A has a period, and a host that has the same period then looks like
//! a difference between the sides. The side that is first is therefore drawn for each pair, and of
//! several such orders the one is used that resembles a periodic one the least.

use std::f64::consts::PI;

use triphammer_core::random::Rng;

/// Distinguishes the random numbers of the sides from those of levels.
const SIDES: u64 = 0x5349_4445;
/// Number of orders of which the least periodic is used.
const CANDIDATES: usize = 16;
/// Number of periods that are examined, from 2 pairs to all.
const PERIODS: u32 = 16;

/// A run of a comparison in pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    /// Index of its level; 0 without levels.
    pub level: usize,
    /// Whether it belongs to B.
    pub is_b: bool,
}

/// The order of all runs, two per pair: every level once per block, each block in a separate random
/// order. The same seed gives the same order.
pub(super) fn turns(pairs: u32, levels: usize, seed: u64) -> Vec<Turn> {
    let firsts: Vec<Vec<bool>> =
        (0..levels).map(|level| b_first(pairs as usize, seed, level as u64)).collect();
    let mut turns = Vec::new();
    for block in 0..pairs {
        let mut order: Vec<usize> = (0..levels).collect();
        Rng::of(seed, &[u64::from(block)]).shuffle(&mut order);
        for level in order {
            let first = firsts[level][block as usize];
            turns.extend([first, !first].map(|is_b| Turn { level, is_b }));
        }
    }
    turns
}

/// The runs of pairs that take place at once, two per pair: that of A has the even number.
pub(super) fn turns_at_once(pairs: u32) -> Vec<Turn> {
    let pair = |_| [false, true].map(|is_b| Turn { level: 0, is_b });
    (0..pairs).flat_map(pair).collect()
}

/// Whether B is first, for each pair of a level.
fn b_first(pairs: usize, seed: u64, level: u64) -> Vec<bool> {
    let mut rng = Rng::of(seed, &[SIDES, level]);
    let mut draw = || (0..pairs).map(|_| rng.below(2) == 1).collect::<Vec<bool>>();
    let mut best = draw();
    for _ in 1..CANDIDATES {
        let other = draw();
        if periodicity(&other) < periodicity(&best) {
            best = other;
        }
    }
    best
}

/// How much an order resembles a periodic one: the greatest power of its periodogram. Period 0 is
/// an order with one side first in all pairs.
fn periodicity(order: &[bool]) -> f64 {
    let power = |period: u32| {
        let step = PI * f64::from(period) / f64::from(PERIODS);
        let (mut real, mut imaginary, mut angle) = (0.0, 0.0, 0.0_f64);
        for is_first in order {
            let sign = if *is_first { 1.0 } else { -1.0 };
            real += sign * angle.cos();
            imaginary += sign * angle.sin();
            angle += step;
        }
        real * real + imaginary * imaginary
    };
    (0..=PERIODS).map(power).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_has_both_sides_and_every_block_every_level() {
        let all = turns(6, 4, 3);
        assert_eq!(all.len(), 48);
        for pair in all.chunks(2) {
            assert!(pair[0].level == pair[1].level && pair[0].is_b != pair[1].is_b, "{pair:?}");
        }
        for block in all.chunks(8) {
            let mut levels: Vec<usize> = block.iter().step_by(2).map(|turn| turn.level).collect();
            levels.sort_unstable();
            assert_eq!(levels, [0, 1, 2, 3]);
        }
        assert_eq!(all, turns(6, 4, 3));
        assert_ne!(all, turns(6, 4, 4));
    }

    #[test]
    fn orders_are_not_periodic_and_depend_on_the_seed() {
        let mut orders: Vec<Vec<bool>> = (0..200).map(|seed| b_first(7, seed, 0)).collect();
        for order in &orders {
            // Half of what A B A B or A B B A would have.
            assert!(periodicity(order) < 0.5 * 49.0, "{order:?}");
        }
        orders.sort_unstable();
        orders.dedup();
        assert!(orders.len() >= 8, "{}", orders.len());
    }
}
