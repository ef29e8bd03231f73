//! Statistics of histograms and counters.

use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::histogram::TimeCounts;

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
    pub fn of(histogram: Option<&Histogram<u64>>, sum_ns: Option<u64>) -> Self {
        let counts = histogram.filter(|h| !h.is_empty()).map(TimeCounts::of);
        Self::of_counts(counts.as_ref(), sum_ns)
    }

    /// Summarises counts of times, as [`Times::of`] does the histogram that they are from.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a mean of microseconds")]
    pub fn of_counts(counts: Option<&TimeCounts>, sum_ns: Option<u64>) -> Self {
        let Some(counts) = counts.filter(|counts| !counts.is_empty()) else {
            return Self::default();
        };
        let [p50_us, p90_us, p95_us, p99_us, p99_9_us, p99_99_us] =
            counts.at_quantiles([0.5, 0.9, 0.95, 0.99, 0.999, 0.9999]);
        let (mean_us, stdev_us) = counts.moments();
        let count = counts.total();
        Self {
            count,
            min_us: counts.min(),
            mean_us: sum_ns.map_or(mean_us, |sum| sum as f64 / 1000.0 / count as f64),
            stdev_us: Some(stdev_us),
            p50_us,
            p90_us,
            p95_us,
            p99_us,
            p99_9_us,
            p99_99_us,
            max_us: counts.max(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::histogram;

    #[test]
    fn a_summary_is_what_the_histogram_says() {
        let mut seen = histogram();
        for step in 0..2_000_u64 {
            seen.record_n(step * step % 7_919 * 40 + 1, 1 + step % 5).unwrap();
            let of = Times::of(Some(&seen), None);
            let percentiles =
                [of.p50_us, of.p90_us, of.p95_us, of.p99_us, of.p99_9_us, of.p99_99_us];
            let quantiles = [0.5, 0.9, 0.95, 0.99, 0.999, 0.9999];
            assert_eq!(percentiles, quantiles.map(|quantile| seen.value_at_quantile(quantile)));
            // To the last bit: a result that is computed again must be the same text.
            assert_eq!((of.mean_us, of.stdev_us), (seen.mean(), Some(seen.stdev())));
            assert_eq!((of.count, of.min_us, of.max_us), (seen.len(), seen.min(), seen.max()));
        }
        assert_eq!(Times::of(Some(&histogram()), None), Times::default());
    }
}
