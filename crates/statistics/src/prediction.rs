//! How much another run would differ: a 95 % prediction interval from earlier ones. Runs of one day
//! have that day in common, so that they say less about another day than their number suggests: the
//! scatter between days and that within them are estimated apart, from the means of days and from
//! the runs about them (a random effect of the day; degrees of freedom by Satterthwaite). Noise is
//! proportional to the figure, so all of it is on a logarithmic scale.
//!
//! By simulation (the tests), it contains the next run on a new day in 93 % or more, with 2 to 10 days of 1
//! to 5 runs each, and days that differ by as much as runs do, by nothing, or by three times as much.

use serde::{Deserialize, Serialize};

use crate::Interval;
use crate::distribution::{freedom, t_975};
use crate::numbers::{mean, size, squares};

/// What is known about another run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// The interval that contains its figure in 95 %.
    pub interval: Interval,
    /// Number of runs that it is based on.
    pub runs: usize,
    /// Number of their days. From one day, the interval is that of another run on the same day: what
    /// days differ by is unknown.
    pub days: usize,
}

/// Predicts the next figure from earlier ones, by day; `None` from fewer than two, or from one that is
/// not positive and finite.
#[must_use]
pub fn predict(days: &[Vec<f64>]) -> Option<Prediction> {
    let days: Vec<Vec<f64>> =
        days.iter().filter(|day| !day.is_empty()).map(|day| logs(day)).collect();
    let runs = days.iter().map(Vec::len).sum();
    let usable = days.iter().flatten().all(|log| log.is_finite());
    if runs < 2 || !usable {
        return None;
    }
    let (centre, variance, freedom) = match days.as_slice() {
        [day] => {
            let n = size(day.len());
            (mean(day), squares(day) / (n - 1.0) * (1.0 + 1.0 / n), n - 1.0)
        }
        days => of_days(days),
    };
    let half_width = t_975(freedom) * variance.sqrt();
    let interval = Interval { low: (centre - half_width).exp(), high: (centre + half_width).exp() };
    let is_finite = interval.high.is_finite();
    is_finite.then_some(Prediction { interval, runs, days: days.len() })
}

fn logs(day: &[f64]) -> Vec<f64> {
    day.iter().map(|figure| figure.ln()).collect()
}

/// Centre, variance and degrees of freedom of a run on a new day. The variance of the means of days
/// contains that of a day, and a part of that of a run: the mean of 1 / runs. The rest of it is added.
fn of_days(days: &[Vec<f64>]) -> (f64, f64, f64) {
    let means: Vec<f64> = days.iter().map(|day| mean(day)).collect();
    let n = size(days.len());
    let between = squares(&means) / (n - 1.0) * (1.0 + 1.0 / n);
    let within_freedom = days.iter().map(|day| size(day.len() - 1)).sum::<f64>();
    if within_freedom == 0.0 {
        return (mean(&means), between, n - 1.0);
    }
    let within = days.iter().map(|day| squares(day)).sum::<f64>() / within_freedom;
    let part = mean(&days.iter().map(|day| 1.0 / size(day.len())).collect::<Vec<f64>>());
    let rest = within * (1.0 - part);
    (mean(&means), between + rest, freedom((between, n - 1.0), (rest, within_freedom)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Share of next runs, on a new day, that are within the interval.
    fn coverage(days: usize, most: usize, of_day: f64, of_run: f64, seed: u64) -> f64 {
        let mut random = Random::new(seed);
        let (mut held, simulations) = (0, 2_000);
        for _ in 0..simulations {
            let mut day = |runs: usize| -> Vec<f64> {
                let level = of_day * random.normal();
                (0..runs).map(|_| (7.0 + level + of_run * random.normal()).exp()).collect()
            };
            let known: Vec<Vec<f64>> = (0..days).map(|at| day(1 + at % most)).collect();
            let next = day(1)[0];
            held += usize::from(predict(&known).unwrap().interval.contains(next));
        }
        size(held) / size(simulations)
    }

    #[test]
    fn the_next_run_on_another_day_is_within_the_interval() {
        for days in [2, 3, 5, 10] {
            for most in [1, 3, 5] {
                for (of_day, of_run) in [(0.0, 0.01), (0.01, 0.01), (0.03, 0.01)] {
                    let held = coverage(days, most, of_day, of_run, 3);
                    let what = format!("{days} days, up to {most} runs, days {of_day}: {held}");
                    assert!(held >= 0.93, "{what}");
                }
            }
        }
    }

    #[test]
    fn one_run_says_nothing_and_one_day_says_so() {
        assert_eq!(predict(&[]), None);
        assert_eq!(predict(&[vec![100.0]]), None);
        assert_eq!(predict(&[vec![100.0, 0.0]]), None);
        let one_day = predict(&[vec![100.0, 101.0, 99.0]]).unwrap();
        assert_eq!((one_day.days, one_day.runs), (1, 3));
        assert!(one_day.interval.contains(100.0) && !one_day.interval.contains(110.0));
        let level = predict(&[vec![5.0], vec![5.0]]).unwrap();
        assert!((level.interval.low - 5.0).abs() < 1e-9, "{level:?}");
    }
}
