//! Intervals and estimates.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::numbers::finite;

/// A 95 % interval, in the unit of its value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

impl Interval {
    /// Creates the interval from `centre` - `half_width` to `centre` + `half_width`.
    #[must_use]
    pub fn around(centre: f64, half_width: f64) -> Self {
        Self { low: centre - half_width, high: centre + half_width }
    }

    /// Converts to a unit that is smaller by `factor` (above 0).
    #[must_use]
    pub(crate) fn times(self, factor: f64) -> Self {
        Self { low: finite(self.low * factor), high: finite(self.high * factor) }
    }

    /// Whether `value` is in the interval, including its ends.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Half the distance between the ends.
    #[must_use]
    pub fn half_width(&self) -> f64 {
        self.high / 2.0 - self.low / 2.0
    }
}

/// A figure and its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// Value of the figure.
    pub value: f64,
    /// Its 95 % interval; `None` where the data does not allow one.
    pub interval: Option<Interval>,
}
