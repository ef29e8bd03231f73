//! Measurements of a probe: the percentile with its interval, and whether the target kept up. Both
//! are computed from the slices of the run's window, so a stored run gives the same result as a new
//! one.

use triphammer_core::stats::Times;
use triphammer_core::workload::TransactionDef;
use triphammer_statistics::search::backlog::{self, Stretch};
use triphammer_statistics::{Estimate, Interval, percentile};

use super::limit::{LatencyLimit, Percentile};
use crate::result::{Figures, RunResult, Slice, TypeFigures};

/// Share of arrivals that may be missed or not completed before the target is considered unable to
/// keep up.
const MISSED_MAX: f64 = 0.01;
/// Number of standard deviations within which a difference of counts is attributed to chance.
const CHANCE: f64 = 4.0;
/// Minimum length of a slice, as a share of the first: the last one may be cut short.
const WHOLE: f64 = 0.9;

/// A run as seen by the probe of a limit.
pub(super) struct MeasuredRun<'a> {
    result: &'a RunResult,
    percentile: Percentile,
    /// Index of the limited type; `None` for all types.
    place: Option<usize>,
}

impl<'a> MeasuredRun<'a> {
    pub fn new(result: &'a RunResult, limit: &LatencyLimit, types: &[TransactionDef]) -> Self {
        let place = types.iter().position(|known| known.name == limit.transaction);
        Self { result, percentile: limit.percentile, place }
    }

    /// Figures of the limited type in the window.
    fn figures(&self) -> &TypeFigures {
        let window = &self.result.window;
        self.place.map_or(&window.total, |place| &window.types[place])
    }

    /// Response times of the limited type in the window.
    fn times(&self) -> &Times {
        &self.figures().response
    }

    /// The percentile in microseconds; `None` if no transaction of the type committed.
    #[expect(clippy::cast_precision_loss, reason = "microseconds")]
    pub fn value_us(&self) -> Option<f64> {
        let times = self.times();
        (times.count > 0).then(|| self.percentile.of(times) as f64)
    }

    /// 95 % confidence interval of the percentile, in microseconds; `None` with too few
    /// transactions, or if the run says that the response times wander.
    #[expect(clippy::cast_precision_loss, reason = "microseconds")]
    pub fn interval_us(&self) -> Option<Interval> {
        if self.figures().response_intervals.wanders {
            return None;
        }
        let times = self.times();
        let of_slice = |slice: &Slice| {
            let figures = self.place.map_or(&slice.total, |place| &slice.types[place]);
            let count = figures.response.count;
            (count > 0).then(|| self.percentile.of(&figures.response) as f64)
        };
        let batches: Vec<f64> = self.slices().filter_map(of_slice).collect();
        let value_at = |share| quantile(times, share);
        let found =
            percentile::of_sections(times.count, self.percentile.percent(), value_at, &batches);
        found.ok()?.interval
    }

    /// The slices of full length.
    fn slices(&self) -> impl Iterator<Item = &'a Slice> {
        let slices = &self.result.slices;
        let whole = slices.first().map_or(0.0, |first| first.seconds * WHOLE);
        slices.iter().filter(move |slice| slice.seconds > 0.0 && slice.seconds >= whole)
    }

    /// Arrivals and completions per slice; empty if a stored run lacks the arrivals.
    #[expect(clippy::cast_precision_loss, reason = "counts")]
    fn stretches(&self) -> Vec<Stretch> {
        let stretch = |slice: &Slice| {
            Some(Stretch {
                seconds: slice.seconds,
                arrived: slice.arrived? as f64,
                ended: (slice.total.completed + slice.total.failed) as f64,
            })
        };
        self.slices().map(stretch).collect::<Option<_>>().unwrap_or_default()
    }

    /// Transactions per second that the target served, if it clearly did not keep up with `asked`
    /// arrivals per second: the backlog grew from slice to slice, or, with few slices, more was
    /// left than chance explains.
    #[expect(clippy::cast_precision_loss, reason = "counts")]
    pub fn served(&self, asked: f64) -> Option<Estimate> {
        let stretches = self.stretches();
        let Figures { seconds, total, .. } = &self.result.window;
        let whole =
            Stretch { seconds: *seconds, arrived: self.due(asked), ended: total.ended as f64 };
        let behind = backlog::grows(&stretches)
            .unwrap_or_else(|| backlog::left_behind(whole, total.response.mean_us / 1e6));
        let served = || backlog::served(&stretches).or_else(|| backlog::served(&[whole]));
        behind.then(served).flatten()
    }

    /// Whether far fewer transactions ended than were due, or more found no session than can wait
    /// within the limit.
    #[expect(clippy::cast_precision_loss, reason = "counts")]
    pub fn falls_short(&self, asked: f64, limit: &LatencyLimit) -> bool {
        let due = self.due(asked);
        let short = due - self.result.window.total.ended as f64;
        let within = asked * limit.under_us() / 1e6;
        let missed = self.result.arrivals.is_some_and(|arrivals| {
            let missed = (arrivals.skipped + arrivals.never_started) as f64;
            missed > within + arrivals.offered as f64 * MISSED_MAX
        });
        missed || short > due * MISSED_MAX + within && short > CHANCE * due.sqrt()
    }

    /// Number of arrivals in the window; estimated if a stored run lacks it.
    fn due(&self, asked: f64) -> f64 {
        match self.stretches().iter().map(|stretch| stretch.arrived).sum::<f64>() {
            0.0 => asked * self.result.window.seconds,
            arrived => arrived,
        }
    }
}

/// The time at a share from 0 to 1, interpolated between the stored percentiles: linear in the
/// logarithms of time and of the remaining share, as for an exponential tail.
#[expect(clippy::cast_precision_loss, reason = "counts and microseconds")]
fn quantile(times: &Times, share: f64) -> f64 {
    let least = 0.5 / times.count.max(1) as f64;
    let beyond = |share: f64| -(1.0 - share).max(least).ln();
    let kept = [
        (0.0, times.min_us),
        (0.5, times.p50_us),
        (0.9, times.p90_us),
        (0.95, times.p95_us),
        (0.99, times.p99_us),
        (0.999, times.p99_9_us),
        (0.9999, times.p99_99_us),
        (1.0, times.max_us),
    ];
    let kept = kept.map(|(share, us)| (beyond(share), (us.max(1)) as f64));
    let at = beyond(share);
    for pair in kept.windows(2) {
        let [(from, low), (to, high)] = [pair[0], pair[1]];
        if at <= to && to > from {
            return (low.ln() + (high / low).ln() * ((at - from) / (to - from)).max(0.0)).exp();
        }
    }
    kept[kept.len() - 1].1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_between_those_kept_are_those_of_an_exponential_tail() {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "microseconds above 0"
        )]
        let at = |share: f64| (-(1.0 - share).ln() * 10_000.0).round() as u64;
        let times = Times {
            count: 1_000_000,
            min_us: 1,
            mean_us: 10_000.0,
            stdev_us: Some(10_000.0),
            p50_us: at(0.5),
            p90_us: at(0.9),
            p95_us: at(0.95),
            p99_us: at(0.99),
            p99_9_us: at(0.999),
            p99_99_us: at(0.9999),
            max_us: at(0.999_999),
        };
        for share in [0.5, 0.9, 0.94, 0.95, 0.96, 0.99, 0.995] {
            let (found, truth) = (quantile(&times, share), -(1.0 - share).ln() * 10_000.0);
            assert!((found / truth - 1.0).abs() < 0.03, "{share}: {found} {truth}");
        }
        assert!((quantile(&times, 1.0) / at(0.999_999) as f64 - 1.0).abs() < 1e-9);
        let few = Times { count: 1, min_us: 5, p50_us: 5, p90_us: 5, max_us: 5, ..times };
        let few = Times { p95_us: 5, p99_us: 5, p99_9_us: 5, p99_99_us: 5, ..few };
        assert!((quantile(&few, 0.95) - 5.0).abs() < 1e-9);
    }
}
