//! Statistics of histograms and counters.

use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A summary of times in microseconds. Percentiles are exact to three significant digits; the mean
/// is exact where the sum is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Times {
    /// Number of times summarised; if it is 0, all other values are 0.
    pub count: u64,
    /// Shortest time, in microseconds.
    pub min_us: u64,
    /// Mean, in microseconds; exact for committed transactions.
    pub mean_us: f64,
    /// Standard deviation, in microseconds, of times to three significant digits; `None` without
    /// times, and in old results.
    #[serde(default)]
    pub stdev_us: Option<f64>,
    /// Median (50th percentile), in microseconds.
    pub p50_us: u64,
    /// 90th percentile, in microseconds.
    pub p90_us: u64,
    /// 95th percentile, in microseconds.
    pub p95_us: u64,
    /// 99th percentile, in microseconds.
    pub p99_us: u64,
    /// 99.9th percentile, in microseconds.
    pub p99_9_us: u64,
    /// 99.99th percentile, in microseconds.
    #[serde(default)]
    pub p99_99_us: u64,
    /// Longest time, in microseconds.
    pub max_us: u64,
}

impl Times {
    /// Summarises a histogram; `sum_ns` is the exact sum of its values in nanoseconds, if known.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a mean of microseconds")]
    pub fn of(histogram: Option<&Histogram<u64>>, sum_ns: Option<u64>) -> Self {
        let Some(h) = histogram.filter(|h| !h.is_empty()) else { return Self::default() };
        let mean_us = match sum_ns {
            Some(sum) => sum as f64 / 1000.0 / h.len() as f64,
            None => h.mean(),
        };
        Self {
            count: h.len(),
            min_us: h.min(),
            mean_us,
            stdev_us: Some(h.stdev()),
            p50_us: h.value_at_quantile(0.5),
            p90_us: h.value_at_quantile(0.9),
            p95_us: h.value_at_quantile(0.95),
            p99_us: h.value_at_quantile(0.99),
            p99_9_us: h.value_at_quantile(0.999),
            p99_99_us: h.value_at_quantile(0.9999),
            max_us: h.max(),
        }
    }
}

/// Rate of `count` events in `seconds`, per unit of `per_seconds`; 0 when there was no time.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "a rate")]
pub fn rate(count: u64, seconds: f64, per_seconds: u32) -> f64 {
    if seconds <= 0.0 { 0.0 } else { count as f64 / seconds * f64::from(per_seconds) }
}

/// Share of `part` in `whole`; 0 when `whole` is 0.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "a share")]
pub fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
