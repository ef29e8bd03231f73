//! Intervals of the means of several small groups of runs that scatter alike: each level of a profile has
//! two or three runs, too few for an interval of their own, but all levels together show how far runs
//! of the same kind lie apart. Noise is a share of the figure, so variances are pooled on a logarithmic
//! scale (analysis of variance, one way: Jain, "The Art of Computer Systems Performance Analysis", 1991,
//! chapter 20).

use crate::Interval;
use crate::distribution::t_975;

/// The 95 % interval of each group's mean; `None` for all when no group has two figures, and for a group with
/// a figure that is not positive and finite.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts of runs")]
pub fn intervals(groups: &[Vec<f64>]) -> Vec<Option<Interval>> {
    let usable = |group: &&Vec<f64>| {
        !group.is_empty() && group.iter().all(|value| value.is_finite() && *value > 0.0)
    };
    let (mut squares, mut freedom) = (0.0, 0_usize);
    for group in groups.iter().filter(usable) {
        let logs: Vec<f64> = group.iter().map(|value| value.ln()).collect();
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        squares += logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>();
        freedom += logs.len() - 1;
    }
    let interval = |group: &Vec<f64>| {
        if freedom == 0 || !usable(&group) {
            return None;
        }
        let runs = group.len() as f64;
        let mean = group.iter().sum::<f64>() / runs;
        let error = (squares / freedom as f64 / runs).sqrt();
        let factor = (t_975(freedom as f64) * error).exp();
        let high = mean * factor;
        high.is_finite().then_some(Interval { low: mean / factor, high })
    };
    groups.iter().map(interval).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Two runs at each of five levels that differ a hundredfold, each 3 % off.
    #[test]
    fn intervals_hold_the_truth_as_often_as_they_say() {
        let mut random = Random::new(11);
        let truths = [10.0, 30.0, 100.0, 300.0, 1000.0];
        let (mut held, mut all) = (0, 0);
        for _ in 0..2_000 {
            let groups = truths
                .map(|truth| (0..2).map(|_| truth * (0.03 * random.normal()).exp()).collect());
            for (truth, interval) in truths.iter().zip(intervals(&groups)) {
                held += u32::from(interval.unwrap().contains(*truth));
                all += 1;
            }
        }
        let share = f64::from(held) / f64::from(all);
        assert!((0.94..0.96).contains(&share), "{share}");
    }

    #[test]
    fn what_cannot_be_said_is_not() {
        assert_eq!(intervals(&[]), []);
        assert_eq!(intervals(&[vec![1.0], vec![2.0]]), [None, None]);
        let mixed = intervals(&[vec![1.0, 1.1], vec![2.0], vec![0.0, 1.0], vec![]]);
        assert!(mixed[0].is_some() && mixed[1].is_some());
        assert_eq!(mixed[2..], [None, None]);
    }
}
