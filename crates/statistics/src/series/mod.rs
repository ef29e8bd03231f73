//! The mean of a series, how sure it is, and whether the series was steady.
//!
//! The figures of a server wander, so that neighbours are alike and n points say less than n independent
//! ones; `long_run.rs` and `drift.rs` tell how that is allowed for. By simulation (the tests):
//!
//! - Intervals hold the true mean in 94 to 98 % of the series that are answered: AR(1) noise from 300 points
//!   with ρ ≤ 0.6 and from 900 points with ρ = 0.8, AR(2), moving averages, skewed noise.
//! - Long memory: where the slowest swings are greater than the correlation of neighbours explains, the
//!   interval rests on them alone, and is wider. Noise with a memory of 33 points under white noise is then
//!   held in 91 % at 300 points and 94 % at 600 (75 % without). Nothing helps where the memory is as long as
//!   the series: 80 % at 110 points, and fractional noise (d = 0.3) in 85 %.
//! - Steady series are called drifting in at most 5 %.
//! - A drift is found in 8 of 10 when it is four of its standard errors, which are √12 times that of the
//!   mean: 5 % over 300 points with noise of 3 % and ρ = 0.6.

use serde::{Deserialize, Serialize};

use self::drift::drift;
use self::long_run::long_run;
use crate::Interval;
use crate::distribution::t_975;
use crate::numbers::{finite, mean, scaled, size};

mod drift;
pub(crate) mod long_run;

/// Fewest points, after allowing for autocorrelation, that a mean is trusted from.
pub const EFFECTIVE_MIN: f64 = 45.0;
/// Share of the mean: a drift or step that is smaller does not matter, however sure it is.
pub const DRIFT_MIN: f64 = 0.01;
/// [`Summary::memory`] above which a series swings more slowly than chance makes others.
pub const MEMORY_MIN: f64 = 2.5;
/// Chance of a false alarm that a trend is allowed.
const TREND_ALARM: f64 = 0.02;
/// Chance of a false alarm that a step is allowed: less, because it is the easier one to see.
const STEP_ALARM: f64 = 0.01;
/// Fewest points whose noise is looked at.
const POINTS_MIN: usize = 20;

/// What a series of one figure an interval says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Points, those that are not finite left out.
    pub points: usize,
    /// Mean, in the unit of the series; 0 without points.
    pub mean: f64,
    /// 95 % interval of the mean with allowance for autocorrelation; `None` when too short.
    pub interval: Option<Interval>,
    /// Standard error of the mean with the same allowance; `None` when too short.
    pub standard_error: Option<f64>,
    /// Degrees of freedom of that standard error.
    pub degrees_of_freedom: Option<f64>,
    /// Standard deviation over the mean; `None` when the mean is 0.
    pub coefficient_of_variation: Option<f64>,
    /// Correlation of neighbours, from -1 to 1, corrected for the bias of short series.
    pub lag_1: f64,
    /// Power of the slowest swings, those that last half the series and longer, over what the correlation of
    /// neighbours explains: about 1, and above [`MEMORY_MIN`] in one series of fifty, unless the series
    /// has a long memory.
    #[serde(default = "one")]
    pub memory: f64,
    /// Independent points that would say as much about the mean; at most `points`.
    pub effective_points: f64,
    /// The rise of the straight line through the series, from its start to its end.
    pub trend: Change,
    /// The greatest change of level.
    pub step: LevelShift,
    /// Whether the mean represents the series.
    pub verdict: Verdict,
}

/// A change within a series, tested.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// From before to after, as a share of the mean: -0.05 is 5 % down; `None` when the mean is 0 or the
    /// series is level or too short to look.
    pub share: Option<f64>,
    /// Chance of a change as great in a steady series with the same noise.
    pub p_value: f64,
}

/// A change of level at one point, tested.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelShift {
    /// First point of the new level.
    pub at: usize,
    /// New level less old.
    pub change: Change,
}

/// Whether the mean represents the series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// No trend and no step that matters: the interval can be trusted.
    Steady,
    /// A trend or a step of at least [`DRIFT_MIN`] that chance does not explain.
    Drifting,
    /// Too few points, or too much alike from one to the next, to say.
    TooShort,
}

impl Summary {
    /// Half the interval over the mean; `None` when too short or the mean is 0.
    #[must_use]
    pub fn relative_half_width(&self) -> Option<f64> {
        let half = self.interval?.half_width();
        (self.mean != 0.0).then(|| finite(half / self.mean.abs()))
    }
}

/// Of a series without a long memory, or of which that is not known.
const fn one() -> f64 {
    1.0
}

/// Sums up a series of one figure an interval, without its warm-up.
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
        interval: known.then(|| Interval::around(mean, t_975(noise.freedom) * error).times(scale)),
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

/// A summary without noise (the series is level), or without enough points to know it.
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

/// Independent points that say as much about the mean as `n` points of an AR(1).
fn independent(n: f64, rho: f64) -> f64 {
    n * ((1.0 - rho) / (1.0 + rho)).min(1.0)
}

impl Change {
    /// Neither chance nor too small to care.
    fn matters(&self, alarm: f64) -> bool {
        let large = self.share.is_none_or(|share| share.abs() >= DRIFT_MIN);
        large && self.p_value < alarm
    }
}

#[cfg(test)]
mod tests;
