//! Whether the first points of each of several stretches differ from the rest of their stretch:
//! what one side leaves behind, such as pages to write, the other side meets at the start of its
//! slice.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::distribution::t_two_sided;
use crate::numbers::{finite, mean, size, squares};

/// Probability of a false alarm about one point of one side.
const ALARM: f64 = 0.02;
/// Minimum number of stretches that are tested.
const STRETCHES_MIN: usize = 5;

/// How much the points at one place of their stretches differ from those after them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FirstPoint {
    /// Mean difference from the rest of the stretch: -0.05 is 5 % less.
    pub share: f64,
    /// Probability of a difference at least as great where there is none.
    pub p_value: f64,
}

impl FirstPoint {
    /// Whether chance does not explain the difference.
    #[must_use]
    pub fn differs(&self) -> bool {
        self.p_value < ALARM
    }
}

/// The first `most` points of stretches of figures above 0, each beside the mean of those after it;
/// empty with too few stretches. Stretches without a figure above 0 at the place, or after it, are
/// left out.
#[must_use]
pub fn first_points(stretches: &[Vec<f64>], most: usize) -> Vec<FirstPoint> {
    (0..most).map_while(|place| first_point(stretches, place)).collect()
}

fn first_point(stretches: &[Vec<f64>], place: usize) -> Option<FirstPoint> {
    let ratio = |stretch: &Vec<f64>| {
        let (point, rest) = (*stretch.get(place)?, mean(stretch.get(place + 1..)?));
        (point > 0.0 && rest > 0.0).then(|| (point / rest).ln())
    };
    let ratios: Vec<f64> = stretches.iter().filter_map(ratio).collect();
    if ratios.len() < STRETCHES_MIN {
        return None;
    }
    let n = size(ratios.len());
    let (centre, error) = (mean(&ratios), (squares(&ratios) / (n - 1.0) / n).sqrt());
    let p_value = match (centre == 0.0, error == 0.0) {
        (true, _) => 1.0,
        (false, true) => 0.0,
        (false, false) => t_two_sided(centre / error, n - 1.0),
    };
    Some(FirstPoint { share: finite(centre.exp_m1()), p_value })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Stretches of ten points with 3 % of noise, the first of which are lower by these shares.
    fn stretches(random: &mut Random, lower: &[f64]) -> Vec<Vec<f64>> {
        let mut stretch = || {
            (0..10)
                .map(|at| {
                    1_000.0 * (1.0 - lower.get(at).unwrap_or(&0.0)) * (1.0 + 0.03 * random.normal())
                })
                .collect()
        };
        (0..40).map(|_| stretch()).collect()
    }

    #[test]
    fn what_the_other_side_leaves_behind_is_measured() {
        let found = first_points(&stretches(&mut Random::new(1), &[0.1, 0.04]), 5);
        assert_eq!(found.len(), 5);
        assert!((found[0].share + 0.1).abs() < 0.02 && found[0].differs(), "{found:?}");
        assert!((found[1].share + 0.04).abs() < 0.02 && found[1].differs(), "{found:?}");
    }

    #[test]
    fn equal_points_rarely_differ() {
        let mut random = Random::new(2);
        let differ =
            (0..500).filter(|_| first_points(&stretches(&mut random, &[]), 1)[0].differs()).count();
        assert!(differ <= 20, "{differ} of 500");
    }

    #[test]
    fn few_or_empty_stretches_say_nothing() {
        assert!(first_points(&[], 3).is_empty());
        assert!(first_points(&vec![vec![1.0, 1.0]; 4], 1).is_empty());
        assert!(first_points(&vec![vec![0.0, 0.0]; 9], 1).is_empty());
        let level = first_points(&vec![vec![1.0; 4]; 9], 2);
        assert!(level.iter().all(|point| point.share == 0.0 && !point.differs()), "{level:?}");
    }
}
