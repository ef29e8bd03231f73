//! A percentile and how sure it is, by order statistics (David and Nagaraja, "Order Statistics", 3rd
//! edition, section 7.1): the number of values below the true percentile is binomial, whatever the values'
//! distribution, so two ranks enclose it.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::Interval;

/// A percentile and how sure it is, in the unit of the values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Percentile {
    /// Which, from 0 to 100 (exclusive): 99.9.
    pub percent: f64,
    /// Values that it is of.
    pub count: u64,
    /// The smallest value that at least this share of all values do not exceed.
    pub value: f64,
    /// 95 % interval; `None` when there are fewer than `count_needed` values.
    pub interval: Option<Interval>,
    /// Standard error: the interval's width over that of a normal one.
    pub standard_error: Option<f64>,
    /// Fewest values that can enclose this percentile.
    pub count_needed: u64,
}

/// Why there is no percentile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PercentileError {
    /// No values.
    #[error("there are no values")]
    Empty,
    /// The percentile is not between 0 and 100.
    #[error("a percentile lies between 0 and 100, both excluded")]
    Percent,
    /// A value is not finite.
    #[error("a value is not a finite number")]
    NotFinite,
}

/// The percentile of a histogram: (value, count) in ascending order of value.
///
/// `inflation` is by how much autocorrelation makes the variance greater than that of independent values
/// (1 = independent; points over effective points of [`crate::series`] is a fair choice); below 1 counts as 1.
///
/// # Errors
/// When there are no values, one is not finite, or `percent` is not between 0 and 100.
pub fn of_histogram(
    buckets: &[(f64, u64)],
    percent: f64,
    inflation: f64,
) -> Result<Percentile, PercentileError> {
    todo!()
}

/// The percentile of `count` values; `value_at` gives the value of a share from 0 to 1, such as a
/// histogram's `value_at_quantile`. `inflation` as in [`of_histogram`].
///
/// # Errors
/// As [`of_histogram`].
pub fn of_quantiles(
    count: u64,
    percent: f64,
    inflation: f64,
    value_at: impl Fn(f64) -> f64,
) -> Result<Percentile, PercentileError> {
    todo!()
}
