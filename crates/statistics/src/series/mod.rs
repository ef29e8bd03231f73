//! The mean of a series, its uncertainty, and whether the series was steady.
//!
//! The figures of a server vary slowly, so neighbours are correlated and n points say less than n
//! independent ones; `long_run.rs` and `drift.rs` explain how that is taken into account. By
//! simulation (the tests):
//!
//! - Intervals cover the true mean in 94 to 98 % of the series that get one: AR(1) noise from 300
//!   points with ρ ≤ 0.6 and from 900 points with ρ = 0.8, AR(2), moving averages, skewed noise.
//! - Rare, large values make the mean itself skewed, and [`skewness`] moves both ends of the
//!   interval: stalls of 90 % in one point of a hundred are covered in 94 % at 300 points and in
//!   97 % at 600, Pareto noise (α = 1.5, whose variance is infinite) in 90 %. A third of the series
//!   of 120 points contains no such stall, and no method can know of it.
//! - Long memory: if the slowest swings are greater than the correlation of neighbours explains,
//!   the interval is based on them alone, and is wider. Noise with a memory of 33 points under
//!   white noise is then covered in 91 % at 300 points and 94 % at 600 (75 % without). Nothing
//!   helps if the memory is as long as the series: 80 % at 110 points, and 85 % for fractional
//!   noise (d = 0.3).
//! - Steady series are called drifting in at most 5 %.
//! - A drift is found in 8 of 10 when it is four of its standard errors, which are √12 times that
//!   of the mean: 5 % over 300 points with noise of 3 % and ρ = 0.6.

use serde::{Deserialize, Serialize};

use self::drift::drift;
use self::long_run::{long_run, slow_noise};
use crate::Interval;
use crate::numbers::{finite, mean, scaled, size};

mod drift;
pub(crate) mod long_run;
mod skewness;

/// Minimum number of points, after allowing for autocorrelation, for a trusted mean.
pub const EFFECTIVE_MIN: f64 = 45.0;
/// Share of the mean below which a drift or step does not matter, however certain it is.
pub const DRIFT_MIN: f64 = 0.01;
/// Value of [`Summary::memory`] above which a series swings more slowly than chance explains.
pub const MEMORY_MIN: f64 = 2.5;
/// Probability of a false alarm about a trend.
const TREND_ALARM: f64 = 0.02;
/// Probability of a false alarm about a step: lower, because a step is easier to detect.
const STEP_ALARM: f64 = 0.01;
/// Correlation of neighbours, in its standard errors, above which a short series is prewhitened.
const CORRELATED: f64 = 1.0;
/// Minimum number of points whose noise is estimated.
const POINTS_MIN: usize = 20;

/// Summary of a series of one figure per interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Number of points, without those that are not finite.
    pub points: usize,
    /// Mean, in the unit of the series; 0 without points.
    pub mean: f64,
    /// 95 % interval of the mean, allowing for autocorrelation; `None` if the series is too short.
    pub interval: Option<Interval>,
    /// Standard error of the mean, allowing for autocorrelation; `None` if the series is too short.
    pub standard_error: Option<f64>,
    /// Degrees of freedom of that standard error.
    pub degrees_of_freedom: Option<f64>,
    /// Standard deviation over the mean; `None` if the mean is 0.
    pub coefficient_of_variation: Option<f64>,
    /// Correlation of neighbours, from -1 to 1, corrected for the bias of short series.
    pub lag_1: f64,
    /// Power of the slowest swings, which last half the series or longer, relative to what the
    /// correlation of neighbours explains: about 1, and above [`MEMORY_MIN`] in one series of
    /// fifty, unless the series has a long memory.
    #[serde(default = "one")]
    pub memory: f64,
    /// Number of independent points that would say as much about the mean; at most `points`.
    pub effective_points: f64,
    /// The rise of the straight line through the series, from start to end.
    pub trend: Change,
    /// The greatest change of level.
    pub step: LevelShift,
    /// Whether the mean represents the series.
    pub verdict: Verdict,
}

/// A change within a series, tested.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Change from before to after, as a share of the mean: -0.05 is 5 % down; `None` if the mean
    /// is 0 or the series is level or too short.
    pub share: Option<f64>,
    /// Probability of a change at least as great in a steady series with the same noise.
    pub p_value: f64,
}

/// A change of level at one point, tested.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelShift {
    /// First point of the new level.
    pub at: usize,
    /// New level minus old level.
    pub change: Change,
}

/// Whether the mean represents the series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// No trend and no step that matters: the interval can be trusted.
    Steady,
    /// A trend or a step of at least 1 % that chance does not explain.
    Drifting,
    /// Too few points, or too much correlation between them, for a verdict.
    TooShort,
}

impl Summary {
    /// Half the interval over the mean; `None` if the series is too short or the mean is 0.
    #[must_use]
    pub fn relative_half_width(&self) -> Option<f64> {
        let half = self.interval?.half_width();
        (self.mean != 0.0).then(|| finite(half / self.mean.abs()))
    }
}

/// Memory of a series without a long memory, or for which it is unknown.
const fn one() -> f64 {
    1.0
}

/// Summarises a series of one figure per interval, without its warm-up.
#[must_use]
pub fn summarise(series: &[f64]) -> Summary {
    let (points, scale) = scaled(series);
    let mean = mean(&points);
    let centred: Vec<f64> = points.iter().map(|x| x - mean).collect();
    let squares: f64 = centred.iter().map(|x| x * x).sum();
    let level = squares <= 1e-24 * size(points.len());
    if level || points.len() < POINTS_MIN {
        return plain(points.len(), mean, squares, scale);
    }
    let (noise, drift) = (long_run(&centred, 0).with_memory(&centred), drift(&centred));
    let n = size(points.len());
    let share = |change: f64| (mean != 0.0).then(|| finite(change / mean.abs()));
    let trend = Change { share: share(drift.rise), p_value: drift.rise_p };
    let step = Change { share: share(drift.step), p_value: drift.step_p };
    let verdict = if independent(n, drift.noise.rho) < EFFECTIVE_MIN {
        Verdict::TooShort
    } else if trend.matters(TREND_ALARM) || step.matters(STEP_ALARM) {
        Verdict::Drifting
    } else if independent(n, noise.rho) < EFFECTIVE_MIN {
        Verdict::TooShort
    } else {
        Verdict::Steady
    };
    let error = (noise.variance / n).sqrt();
    let known = verdict != Verdict::TooShort;
    Summary {
        interval: known.then(|| skewness::interval(&centred, mean, &noise, 0.05).times(scale)),
        standard_error: known.then(|| finite(error * scale)),
        degrees_of_freedom: known.then_some(noise.freedom),
        lag_1: noise.rho,
        memory: finite(noise.memory),
        effective_points: (squares / noise.variance).min(n),
        trend,
        step: LevelShift { at: drift.at, change: step },
        verdict,
        ..plain(points.len(), mean, squares, scale)
    }
}

/// The interval of the mean of a series, whatever its drift, which misses the true one with this
/// probability; `None` if it is level. For series that may be short and nearly independent, such as
/// blocks whose order is random: the variance is that of the slowest swings without prewhitening,
/// which would cost as much precision as it saves there, unless neighbours are correlated or there is a
/// long memory.
pub(crate) fn interval_of_mean(series: &[f64], chance: f64) -> Option<Interval> {
    let mean = mean(series);
    let centred: Vec<f64> = series.iter().map(|x| x - mean).collect();
    let squares: f64 = centred.iter().map(|x| x * x).sum();
    if squares == 0.0 {
        return None;
    }
    let noise = || {
        let prewhitened = long_run(&centred, 0);
        let is_correlated = prewhitened.rho * size(series.len()).sqrt() > CORRELATED;
        if series.len() >= POINTS_MIN && is_correlated { prewhitened } else { slow_noise(&centred) }
    };
    let with_memory = noise().with_memory(&centred);
    let noise = if with_memory.memory > MEMORY_MIN { with_memory } else { noise() };
    Some(skewness::interval(&centred, mean, &noise, chance))
}

/// A summary without noise (the series is level), or without enough points to estimate it.
fn plain(points: usize, mean: f64, squares: f64, scale: f64) -> Summary {
    let n = size(points);
    let level = squares <= 1e-24 * n && n >= EFFECTIVE_MIN;
    let nothing = Change { share: None, p_value: 1.0 };
    let deviation = if points < 2 { 0.0 } else { (squares / (n - 1.0)).sqrt() };
    Summary {
        points,
        mean: finite(mean * scale),
        interval: level.then(|| Interval::around(mean, 0.0).times(scale)),
        standard_error: level.then_some(0.0),
        degrees_of_freedom: level.then_some(n - 1.0),
        coefficient_of_variation: (mean != 0.0).then(|| finite(deviation / mean.abs())),
        lag_1: 0.0,
        memory: 1.0,
        effective_points: n,
        trend: nothing,
        step: LevelShift { at: 0, change: nothing },
        verdict: if level { Verdict::Steady } else { Verdict::TooShort },
    }
}

/// Number of independent points that say as much about the mean as `n` points of an AR(1).
fn independent(n: f64, rho: f64) -> f64 {
    n * ((1.0 - rho) / (1.0 + rho)).min(1.0)
}

impl Change {
    /// Whether the change is neither chance nor too small to matter.
    fn matters(&self, alarm: f64) -> bool {
        let large = self.share.is_none_or(|share| share.abs() >= DRIFT_MIN);
        large && self.p_value < alarm
    }
}

#[cfg(test)]
mod tests;
