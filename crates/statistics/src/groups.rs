//! Intervals of the means of several small groups of runs, such as the levels of a profile. Noise
//! is proportional to the figure, so they are computed on a logarithmic scale. Each group is judged
//! by its own scatter (Student's t): groups scatter unequally (a level beyond saturation more than
//! one below it), and an interval from the scatter of all covered the noisiest one's mean in 68 %
//! instead of 95.

use crate::Interval;
use crate::distribution::t_975;
use crate::numbers::{mean, size, squares};

/// The 95 % interval of each group's mean; `None` for a group with fewer than two figures, or with
/// one that is not positive and finite.
#[must_use]
pub fn intervals(groups: &[Vec<f64>]) -> Vec<Option<Interval>> {
    groups.iter().map(|group| interval(group)).collect()
}

fn interval(group: &[f64]) -> Option<Interval> {
    let usable = group.iter().all(|value| value.is_finite() && *value > 0.0);
    if group.len() < 2 || !usable {
        return None;
    }
    let (runs, logs) =
        (size(group.len()), group.iter().map(|value| value.ln()).collect::<Vec<_>>());
    let error = (squares(&logs) / (runs - 1.0) / runs).sqrt();
    let (mean, factor) = (mean(group), (t_975(runs - 1.0) * error).exp());
    let high = mean * factor;
    high.is_finite().then_some(Interval { low: mean / factor, high })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Levels of which the last scatters five times as much as the others; two to five runs each.
    #[test]
    fn each_groups_interval_holds_its_mean_as_often_as_it_says() {
        let mut random = Random::new(11);
        let levels = [(10.0, 0.01), (30.0, 0.01), (100.0, 0.02), (300.0, 0.01), (1_000.0, 0.05)];
        for runs in [2, 3, 5] {
            let mut held = [0_u32; 5];
            for _ in 0..2_000 {
                let groups = levels.map(|(level, noise): (f64, f64)| {
                    (0..runs).map(|_| level * (noise * random.normal()).exp()).collect()
                });
                for (at, interval) in intervals(&groups).iter().enumerate() {
                    held[at] += u32::from(interval.unwrap().contains(levels[at].0));
                }
            }
            for of_level in held.map(|held| f64::from(held) / 2_000.0) {
                assert!((0.93..0.97).contains(&of_level), "{runs} runs: {of_level}");
            }
        }
    }

    #[test]
    fn what_cannot_be_said_is_not() {
        assert_eq!(intervals(&[]), []);
        assert_eq!(intervals(&[vec![1.0], vec![2.0]]), [None, None]);
        let mixed = intervals(&[vec![1.0, 1.1], vec![2.0], vec![0.0, 1.0], vec![]]);
        assert!(mixed[0].is_some());
        assert_eq!(mixed[1..], [None, None, None]);
    }
}
