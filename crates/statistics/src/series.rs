//! The mean of a series, how sure it is, and whether the series was steady.

use serde::{Deserialize, Serialize};

use crate::Interval;

/// Fewest points, after allowing for autocorrelation, that a mean is trusted from.
pub const EFFECTIVE_MIN: f64 = 45.0;
/// Share of the mean: a drift or step that is smaller does not matter, however sure it is.
pub const DRIFT_MIN: f64 = 0.01;

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
    /// Independent points that would say as much about the mean; at most `points`.
    pub effective_points: f64,
    /// The straight line through the series.
    pub trend: Change,
    /// The greatest change of level.
    pub step: Step,
    /// Whether the mean stands for the series.
    pub verdict: Verdict,
}

/// A change within a series, tested.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Over the whole series, as a share of the mean: -0.05 is 5 % down; `None` when the mean is 0.
    pub share: Option<f64>,
    /// Chance of a change as great in a steady series with the same noise.
    pub p_value: f64,
}

/// A change of level at one point, tested.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// First point of the new level.
    pub at: usize,
    /// Level after over level before, less 1: share as in [`Change`].
    pub change: Change,
}

/// Whether the mean stands for the series.
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
        todo!()
    }
}

/// Sums up a series of one figure an interval, without its warm-up.
#[must_use]
pub fn summarise(series: &[f64]) -> Summary {
    todo!()
}
