//! Intervals.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::numbers::finite;

/// A 95 % interval, in the unit of what it is of.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// From `centre` - `half_width` to `centre` + `half_width`.
    #[must_use]
    pub fn around(centre: f64, half_width: f64) -> Self {
        Self { low: centre - half_width, high: centre + half_width }
    }

    /// The same in a unit that is `factor` (above 0) times smaller.
    #[must_use]
    pub(crate) fn times(self, factor: f64) -> Self {
        Self { low: finite(self.low * factor), high: finite(self.high * factor) }
    }

    /// Whether `value` lies in it, edges included.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Half the distance between the edges.
    #[must_use]
    pub fn half_width(&self) -> f64 {
        self.high / 2.0 - self.low / 2.0
    }
}

/// A figure and how sure it is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// Its 95 % interval; `None` where the data cannot give one.
    pub interval: Option<Interval>,
}
