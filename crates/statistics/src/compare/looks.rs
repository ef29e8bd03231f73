//! Looks at the blocks of two runs before their end: a comparison that ends when it is decided must
//! not look with all of its chance of a false verdict each time. Each look spends a part of it (Lan and
//! DeMets, Biometrika 70, 1983, with their function like that of Pocock), and its interval misses with
//! that part: together, all intervals hold in 95 %, whatever they have in common.

use super::BLOCKS_MIN;
use crate::numbers::{length, size};

/// The chance that any interval misses.
const CHANCE: f64 = 0.05;
/// A look comes when there are this many times the blocks of the last one.
const APART: f64 = 1.4;

/// The looks at a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Looks {
    /// Number of blocks after which it ends in any case.
    pub most: usize,
}

impl Looks {
    /// The numbers of blocks at which is looked, ascending; the last one is the most.
    #[must_use]
    pub fn at(self) -> Vec<usize> {
        let mut looks = Vec::new();
        let mut next = BLOCKS_MIN;
        while next < self.most {
            looks.push(next);
            next = length((size(next) * APART).ceil());
        }
        looks.push(self.most);
        looks
    }

    /// The last look at or before a number of blocks, and the chance that it spends; `None` before the
    /// first.
    #[must_use]
    pub fn last(self, blocks: usize) -> Option<(usize, f64)> {
        let looks = self.at();
        let place = looks.iter().rposition(|look| *look <= blocks)?;
        let before = place.checked_sub(1).map_or(0.0, |before| self.spent(looks[before]));
        Some((looks[place], self.spent(looks[place]) - before))
    }

    /// The chance that is spent up to a look.
    fn spent(self, look: usize) -> f64 {
        let share = size(look) / size(self.most.max(1));
        CHANCE * (1.0 + (std::f64::consts::E - 1.0) * share).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{Better, Verdict, blocks};
    use crate::random::Random;

    #[test]
    fn looks_spend_the_chance_once() {
        let looks = Looks { most: 84 };
        assert_eq!(looks.at(), [10, 14, 20, 28, 40, 56, 79, 84]);
        let spent: f64 = looks.at().iter().map(|look| looks.last(*look).unwrap().1).sum();
        assert!((spent - CHANCE).abs() < 1e-12, "{spent}");
        assert_eq!(looks.last(9), None);
        assert_eq!(looks.last(27).unwrap().0, 20);
        assert_eq!(Looks { most: 10 }.at(), [10]);
        assert!((Looks { most: 10 }.last(10).unwrap().1 - CHANCE).abs() < 1e-12);
    }

    /// Verdict of a comparison that ends at the first look that decides, and its number of blocks.
    fn until_decided(random: &mut Random, ln_ratio: f64) -> (Verdict, usize) {
        let looks = Looks { most: 80 };
        let ratios: Vec<f64> = (0..80).map(|_| ln_ratio + 0.03 * random.normal()).collect();
        let at = |look: usize| blocks(&ratios[..look], Better::Higher, 0.02, Some(looks)).unwrap();
        let mut found = looks.at().into_iter().map(|look| (at(look).verdict, look));
        let is_open =
            |(verdict, _): &(Verdict, usize)| matches!(verdict, Verdict::Inconclusive { .. });
        found.find(|of| !is_open(of)).unwrap_or((at(80).verdict, 80))
    }

    #[test]
    fn a_comparison_that_ends_when_it_is_decided_is_rarely_wrong() {
        let mut random = Random::new(5);
        let mut many =
            |ln_ratio: f64| (0..400).map(|_| until_decided(&mut random, ln_ratio)).collect();
        let same: Vec<(Verdict, usize)> = many(0.0);
        let wrong = same.iter().filter(|(verdict, _)| *verdict != Verdict::Equivalent);
        assert!(wrong.count() <= 20, "{same:?}");
        let slower: Vec<(Verdict, usize)> = many(0.95_f64.ln());
        let found = slower.iter().filter(|(verdict, _)| *verdict == Verdict::Slower).count();
        let blocks = slower.iter().map(|(_, blocks)| blocks).sum::<usize>() / slower.len();
        assert!(found >= 390 && blocks < 40, "{found} of 400, after {blocks} blocks");
    }
}
