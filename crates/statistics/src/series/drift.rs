//! Whether a series drifts: a trend, and a change of level.
//!
//! The noise is estimated after the trend and the greatest step have been removed, because a drift
//! would otherwise count as noise. The trend is tested by t; the step by the greatest excursion of
//! the cumulative sum (CUSUM, Brown, Durbin and Evans, JRSS B 37, 1975), which follows Kolmogorov's
//! distribution in a steady series.

use super::long_run::{LongRun, long_run};
use crate::distribution::{NORMAL_975, kolmogorov_tail, t_975, t_two_sided};
use crate::numbers::{mean, size};

/// The drift that was removed from a series, and the remaining noise.
pub(super) struct Drift {
    /// Rise of the straight line over the whole series, in the unit of the series.
    pub rise: f64,
    pub rise_p: f64,
    /// First point of the new level.
    pub at: usize,
    /// New level minus old level.
    pub step: f64,
    pub step_p: f64,
    /// The noise without both.
    pub noise: LongRun,
}

/// Analyses a series about its mean, of at least 8 points.
pub(super) fn drift(centred: &[f64]) -> Drift {
    let n = size(centred.len());
    let line = line(centred.len());
    let rise = dot(centred, &line) / dot(&line, &line);
    let (at, excursion) = excursion(centred);
    let step = mean(&centred[at..]) - mean(&centred[..at]);
    let rest = without_both(centred, &line, at);
    let exact = dot(&rest, &rest) <= 1e-24 * dot(centred, centred);
    let noise = if exact { LongRun::NONE } else { long_run(&rest, 2) };
    let rise_error = (noise.variance / dot(&line, &line)).sqrt();
    let sure = NORMAL_975 / t_975(noise.freedom);
    Drift {
        rise,
        rise_p: t_two_sided(rise / rise_error, noise.freedom),
        at,
        step,
        step_p: kolmogorov_tail(sure * excursion / (n * noise.variance).sqrt()),
        noise,
    }
}

/// A line from -1/2 to 1/2.
fn line(points: usize) -> Vec<f64> {
    let last = size(points - 1);
    (0..points).map(|t| size(t) / last - 0.5).collect()
}

/// Returns where the cumulative sum is farthest from 0, and its value there.
fn excursion(centred: &[f64]) -> (usize, f64) {
    let mut sum = 0.0;
    let mut best = (1, 0.0);
    for (t, x) in centred[..centred.len() - 1].iter().enumerate() {
        sum += x;
        if f64::abs(sum) > best.1 {
            best = (t + 1, f64::abs(sum));
        }
    }
    best
}

/// The residuals of a least-squares fit of a mean, the line and a step.
fn without_both(centred: &[f64], line: &[f64], at: usize) -> Vec<f64> {
    let n = size(centred.len());
    let after = size(centred.len() - at) / n;
    let level: Vec<f64> =
        (0..centred.len()).map(|t| if t < at { -after } else { 1.0 - after }).collect();
    // The line is about its mean by construction, as the level and the series are.
    let (ll, ls, ss) = (dot(line, line), dot(line, &level), dot(&level, &level));
    let (yl, ys) = (dot(centred, line), dot(centred, &level));
    let determinant = ll * ss - ls * ls;
    let (a, b) = ((yl * ss - ys * ls) / determinant, (ys * ll - yl * ls) / determinant);
    let rest = centred.iter().zip(line).zip(&level);
    rest.map(|((y, l), s)| y - a * l - b * s).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
