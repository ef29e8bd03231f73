//! Confidence intervals of response time percentiles: the slices of the window are used as batches,
//! which accounts for clusters of slow transactions (see `percentile` in the statistics crate). There
//! are none where the level of the response times wanders more slowly than the window can show.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::histogram::TimeCounts;
use triphammer_statistics::Interval;
use triphammer_statistics::percentile::{Batch, of_batches, wanders};

/// 95 % confidence intervals of percentiles, in microseconds; `None` if the window has too few
/// slices or transactions, or if the response times wander.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PercentileIntervals {
    /// Interval of the median, in microseconds.
    pub p50_us: Option<Interval>,
    /// Interval of the 90th percentile, in microseconds.
    pub p90_us: Option<Interval>,
    /// Interval of the 95th percentile, in microseconds.
    pub p95_us: Option<Interval>,
    /// Interval of the 99th percentile, in microseconds.
    pub p99_us: Option<Interval>,
    /// Interval of the 99.9th percentile, in microseconds.
    pub p99_9_us: Option<Interval>,
    /// Whether there are none because the level of the response times drifts or wanders so slowly
    /// that the window does not show how far.
    pub wanders: bool,
}

impl PercentileIntervals {
    /// All intervals, in the order of the percentiles.
    #[must_use]
    pub const fn all(&self) -> [Option<Interval>; 5] {
        [self.p50_us, self.p90_us, self.p95_us, self.p99_us, self.p99_9_us]
    }

    /// Computes the intervals. `merged` are all times; `of_types` are those of equal time intervals, in
    /// order, for each transaction type; `seconds` are the mean response times of the seconds.
    pub(super) fn of(merged: &TimeCounts, of_types: &[Vec<TimeCounts>], seconds: &[f64]) -> Self {
        if wanders(seconds) {
            return Self { wanders: true, ..Self::default() };
        }
        let mut below = 0;
        let running = merged.pairs().iter().map(|(us, count)| {
            below += count;
            (*us, below)
        });
        let running: Vec<(u64, u64)> = running.collect();
        let value_at = |share: f64| {
            // Rounding must not push 0.999 × 1,000 to the next rank.
            let rank = share * below as f64 * (1.0 - 1e-12);
            let bucket = running.partition_point(|(_, below)| (*below as f64) < rank);
            running.get(bucket).map_or(0, |(us, _)| *us)
        };
        let stretches = of_types.first().map_or(0, Vec::len);
        let sums = |count: &dyn Fn(&TimeCounts) -> u64| -> Vec<u64> {
            (0..stretches).map(|at| of_types.iter().map(|of| count(&of[at])).sum()).collect()
        };
        let all = sums(&TimeCounts::total);
        let interval = |percent: f64| {
            let value = value_at(percent / 100.0);
            let above = sums(&|times| times.above(value));
            let batches =
                all.iter().zip(above).map(|(count, above)| Batch { count: *count, above });
            let batches: Vec<Batch> = batches.collect();
            of_batches(&batches, percent, |share| value_at(share) as f64).ok()?.interval
        };
        Self {
            p50_us: interval(50.0),
            p90_us: interval(90.0),
            p95_us: interval(95.0),
            p99_us: interval(99.0),
            p99_9_us: interval(99.9),
            wanders: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use triphammer_core::event::Phase;
    use triphammer_core::random::Rng;
    use triphammer_core::recorder::{RecordedInterval, histogram};
    use triphammer_core::spec::Length;

    use super::*;
    use crate::result::Slicer;
    use crate::second::Second;

    const MEAN_US: f64 = 10_000.0;

    /// Seconds of a run with one type: exponential times whose mean wanders as an AR(1) of 20 %, with
    /// a memory of 10 s.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "microseconds")]
    fn intervals(seed: u64, seconds: u64, a_second: u64) -> PercentileIntervals {
        let mut rng = Rng::of(seed, &[]);
        let mut slicer = Slicer::new(Length::Time(Duration::from_secs(seconds)));
        let mut wander = normal(&mut rng);
        for second in 0..seconds {
            wander = 0.9 * wander + 0.19_f64.sqrt() * normal(&mut rng);
            let (mut times, mut sum_us) = (histogram(), 0);
            for _ in 0..a_second {
                let us = rng.exponential(MEAN_US * (0.2 * wander).exp());
                times.record((us as u64).max(1)).unwrap();
                sum_us += us as u64;
            }
            let mut interval = RecordedInterval::new(second, 1);
            interval.types[0].counts.committed = a_second;
            interval.types[0].counts.response_ns = 1_000 * sum_us;
            interval.types[0].response = Some(times);
            slicer.take(&Second::new(interval, Phase::Window, None));
        }
        let (types, of_all) = slicer.intervals();
        let of_type = types[0];
        assert_eq!(of_type, of_all, "there is but one type");
        of_all
    }

    fn normal(rng: &mut Rng) -> f64 {
        (2.0 * rng.exponential(1.0)).sqrt() * (std::f64::consts::TAU * rng.unit()).cos()
    }

    /// The true percentiles: the share of a mixture over the wandering mean, by its quantiles.
    fn truth(percent: f64) -> f64 {
        let mut rng = Rng::of(9, &[]);
        let levels: Vec<f64> =
            (0..20_000).map(|_| MEAN_US * (0.2 * normal(&mut rng)).exp()).collect();
        let above = |us: f64| levels.iter().map(|level| (-us / level).exp()).sum::<f64>();
        let (mut low, mut high) = (0.0, 100.0 * MEAN_US);
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            let is_low = above(middle) / levels.len() as f64 > 1.0 - percent / 100.0;
            (low, high) = if is_low { (middle, high) } else { (low, middle) };
        }
        low
    }

    /// Share of intervals of p50, p95 and p99 that hold the truth, of so many runs.
    fn held(seconds: u64, runs: u64) -> [f64; 3] {
        let truths = [50.0, 95.0, 99.0].map(truth);
        let (mut held, mut given) = ([0.0; 3], [0.0; 3]);
        for seed in 0..runs {
            let found = intervals(seed, seconds, 50);
            for (index, interval) in
                [found.p50_us, found.p95_us, found.p99_us].into_iter().enumerate()
            {
                let Some(interval) = interval else { continue };
                given[index] += 1.0;
                // Histograms are exact to a thousandth.
                let near = truths[index] * 0.001;
                let wide = Interval { low: interval.low - near, high: interval.high + near };
                held[index] += f64::from(u8::from(wide.contains(truths[index])));
            }
        }
        // In 300 s a memory of 10 s is often too long; in 900 s it never is.
        let least = if seconds < 900 { 0.0 } else { 0.6 };
        assert!(given.iter().all(|given| *given >= runs as f64 * least), "{given:?} of {runs}");
        std::array::from_fn(|index| held[index] / given[index])
    }

    #[test]
    fn intervals_hold_the_true_percentiles() {
        let held = held(900, 25);
        assert!(held.iter().all(|held| *held >= 0.8), "{held:?}");
    }

    #[test]
    #[ignore = "a minute of CPU; prints the figures of docs/steadiness.md"]
    fn intervals_hold_the_true_percentiles_of_many() {
        for seconds in [300, 900] {
            let held = held(seconds, 500);
            println!("{seconds} s: p50 {:.3}, p95 {:.3}, p99 {:.3}", held[0], held[1], held[2]);
            let least = if seconds > 300 { 0.9 } else { 0.86 };
            assert!(held.iter().all(|held| *held >= least), "{held:?}");
        }
    }

    #[test]
    fn few_slices_or_transactions_say_nothing() {
        assert_eq!(intervals(1, 7, 50), PercentileIntervals::default());
        let mut sparse = (1..20).map(|seed| intervals(seed, 300, 1));
        let found = sparse.find(|found| !found.wanders).unwrap();
        assert!(found.p50_us.is_some() && found.p99_9_us.is_none(), "{found:?}");
        let empty = vec![TimeCounts::default(); 20];
        let nothing = PercentileIntervals::of(&TimeCounts::merged(&empty), &[empty], &[]);
        assert_eq!(nothing, PercentileIntervals::default());
    }

    #[test]
    fn times_that_drift_have_no_interval_and_say_so() {
        let mut times = histogram();
        times.record_n(1_000, 50).unwrap();
        let rising: Vec<f64> = (0..100).map(|second| 1_000.0 + f64::from(second)).collect();
        let slices = vec![TimeCounts::of(&times); 20];
        let merged = TimeCounts::merged(&slices);
        let of_types = [slices];
        let of = |seconds| PercentileIntervals::of(&merged, &of_types, seconds);
        assert!(of(&rising).wanders && of(&rising).p50_us.is_none());
        assert!(!of(&[1_000.0; 100]).wanders && of(&[1_000.0; 100]).p50_us.is_some());
    }
}
