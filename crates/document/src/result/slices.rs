//! The timed window in slices of equal length, which show drifts that the figures of the whole
//! window hide: caches that fill, tables that grow, a checkpoint. Slices are exact merges of the
//! seconds' counters and histograms.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::event::Phase;
use triphammer_core::histogram::{self, TimeCounts};
use triphammer_core::outcome::Counts;
use triphammer_core::recorder::{RecordedInterval, TypeInterval};
use triphammer_core::spec::Length;
use triphammer_core::stats::{Times, rate};
use triphammer_core::workload::TransactionDef;
use triphammer_engine::Window;

use super::percentiles::PercentileIntervals;
use crate::second::Second;

/// Maximum number of slices in a window.
pub const SLICES_MAX: usize = 20;

/// A slice of the timed window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Slice {
    /// Start of the slice, in seconds since the start of the run.
    pub start_s: f64,
    /// Length of the part, in seconds.
    pub seconds: f64,
    /// Number of arrivals that became due; `None` unless the load is open, and in old results.
    pub arrived: Option<u64>,
    /// Figures by transaction type, in the workload's order.
    pub types: Vec<SliceFigures>,
    /// Total of all transaction types.
    pub total: SliceFigures,
}

/// Figures of a transaction type in a slice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SliceFigures {
    /// Key of the transaction type: `new_order`; `all` for the total.
    pub name: String,
    /// Number of transactions completed: committed, or rolled back as the workload requires.
    pub completed: u64,
    /// Transactions completed per minute.
    pub per_minute: f64,
    /// Number of transactions failed or in doubt.
    pub failed: u64,
    /// Response times of committed transactions, from when they were due to their end.
    pub response: Times,
}

/// Collects the slices during a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Slicer {
    width: u64,
    slices: Vec<SliceTotals>,
    /// Committed transactions of each second and the sum of their response times in nanoseconds, by
    /// type: 7 MB a day for five types. Not serialised: the stored seconds have them.
    #[serde(skip)]
    seconds: Vec<Vec<[u64; 2]>>,
}

/// The sums of a slice.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SliceTotals {
    /// First second, counted from the start of the run.
    pub first: u64,
    /// Last second, inclusive.
    pub last: u64,
    /// Number of arrivals that became due; `None` unless the load is open.
    pub arrived: Option<u64>,
    /// The sums of each transaction type.
    pub types: Vec<TypeTotals>,
}

/// The sums of a transaction type in a slice.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TypeTotals {
    /// Counters of outcomes and retries.
    pub counts: Counts,
    /// Response times of committed transactions, µs.
    pub times: Option<TimeCounts>,
}

impl Slicer {
    /// Creates slices for a run of this length, unless its window ends by its interval.
    #[must_use]
    pub fn of_run(length: Length, until_ci: Option<f64>) -> Self {
        Self::new(until_ci.map_or(length, |_| Length::Transactions(0)))
    }

    /// Creates slices for a run of this length. If that is not a time, slices start at one second
    /// and are doubled whenever there are too many.
    #[must_use]
    pub fn new(length: Length) -> Self {
        let asked = match length {
            Length::Time(asked) => asked,
            Length::Transactions(_) => Duration::ZERO,
        };
        let width = asked.as_secs().div_ceil(SLICES_MAX as u64).max(1);
        Self { width, slices: Vec::new(), seconds: Vec::new() }
    }

    /// Adds a second, if it is in the window.
    pub fn take(&mut self, second: &Second) {
        let interval = &second.interval;
        if second.phase != Phase::Window {
            return;
        }
        let start = self.slices.first().map_or(interval.first, |slice| slice.first);
        let slice_of = |first: u64, width: u64| (first - start) / width;
        while slice_of(interval.first, self.width) >= SLICES_MAX as u64 {
            self.width *= 2;
            let gathered = std::mem::take(&mut self.slices);
            for slice in gathered {
                match self.slices.last_mut() {
                    Some(last)
                        if slice_of(last.first, self.width)
                            == slice_of(slice.first, self.width) =>
                    {
                        last.add(&slice);
                    }
                    _ => self.slices.push(slice),
                }
            }
        }
        self.take_level(interval);
        let taken = SliceTotals::of(interval);
        match self.slices.last_mut() {
            Some(last)
                if slice_of(last.first, self.width) == slice_of(interval.first, self.width) =>
            {
                last.add(&taken);
            }
            _ => self.slices.push(taken),
        }
    }

    /// Adds the level of a second of the window: its committed transactions and their times.
    pub(crate) fn take_level(&mut self, interval: &RecordedInterval) {
        self.seconds.resize_with(interval.types.len(), Vec::new);
        for (of_type, seen) in self.seconds.iter_mut().zip(&interval.types) {
            of_type.push([seen.counts.committed, seen.counts.response_ns]);
        }
    }

    /// Width of the slices in seconds.
    #[must_use]
    pub const fn width(&self) -> u64 {
        self.width
    }

    /// The sums of the slices, in order.
    pub fn totals(&self) -> impl Iterator<Item = &SliceTotals> {
        self.slices.iter()
    }

    /// Forgets the levels of the seconds: those of the stored seconds follow, one by one.
    pub(crate) fn forget_levels(&mut self) {
        self.seconds.clear();
    }

    /// Returns the slices of a window of this actual length, in order; slices in which no second
    /// ended are omitted.
    #[must_use]
    pub fn slices(&self, definitions: &[TransactionDef], window: Window) -> Vec<Slice> {
        let end = window.end.duration().as_secs_f64();
        let slices = self.slices.iter().filter(|slice| (slice.first as f64) < end);
        slices.map(|slice| slice.figures(definitions, end)).collect()
    }
}

impl Slicer {
    /// Computes the intervals of the response time percentiles of each transaction type, and of all
    /// types together.
    pub(super) fn intervals(&self) -> (Vec<PercentileIntervals>, PercentileIntervals) {
        let count = self.slices.first().map_or(0, |slice| slice.types.len());
        let of_type = |kind: usize| {
            let times = self.slices.iter().map(|slice| slice.types.get(kind)?.times.as_ref());
            times.map(|times| times.cloned().unwrap_or_default()).collect()
        };
        let of_types: Vec<Vec<TimeCounts>> = (0..count).map(of_type).collect();
        let merged: Vec<TimeCounts> = of_types.iter().map(TimeCounts::merged).collect();
        let each = of_types.chunks(1).zip(&merged).enumerate();
        let types = each.map(|(kind, (slices, merged))| {
            PercentileIntervals::of(merged, slices, &self.levels(Some(kind)))
        });
        let all = TimeCounts::merged(&merged);
        (types.collect(), PercentileIntervals::of(&all, &of_types, &self.levels(None)))
    }

    /// Mean response times of the seconds in which a transaction of the type, or of any, committed.
    fn levels(&self, kind: Option<usize>) -> Vec<f64> {
        let of_second = |second: usize| {
            let types = self.seconds.iter().enumerate();
            let wanted = types.filter(|(index, _)| kind.is_none_or(|kind| kind == *index));
            wanted.fold([0, 0], |sum, (_, seconds)| {
                [sum[0] + seconds[second][0], sum[1] + seconds[second][1]]
            })
        };
        let seconds = 0..self.seconds.first().map_or(0, Vec::len);
        let known = seconds.map(of_second).filter(|[committed, _]| *committed > 0);
        known.map(|[committed, ns]| ns as f64 / committed as f64).collect()
    }
}

impl SliceTotals {
    fn of(interval: &RecordedInterval) -> Self {
        let of_type = |t: &TypeInterval| TypeTotals {
            counts: t.counts.clone(),
            times: t.response.as_ref().map(TimeCounts::of),
        };
        Self {
            first: interval.first,
            last: interval.last,
            arrived: interval.arrived.map(|arrived| arrived.due),
            types: interval.types.iter().map(of_type).collect(),
        }
    }

    fn add(&mut self, later: &Self) {
        self.last = later.last;
        if let Some(later) = later.arrived {
            *self.arrived.get_or_insert(0) += later;
        }
        for (mine, later) in self.types.iter_mut().zip(&later.types) {
            mine.counts.add(&later.counts);
            histogram::merge(&mut mine.times, later.times.as_ref());
        }
    }

    /// `end` is the end of the window, in seconds.
    fn figures(&self, definitions: &[TransactionDef], end: f64) -> Slice {
        let start_s = self.first as f64;
        let seconds = (self.last as f64 + 1.0).min(end) - start_s;
        let figures = |name: &str, counts: &Counts, times: Option<&TimeCounts>| SliceFigures {
            name: name.to_owned(),
            completed: counts.completed(),
            per_minute: rate(counts.completed(), seconds, 60),
            failed: counts.failures() + counts.indeterminate,
            response: Times::of_counts(times, Some(counts.response_ns)),
        };
        let mut all = Counts::default();
        self.types.iter().for_each(|of_type| all.add(&of_type.counts));
        let types = definitions.iter().zip(&self.types);
        let types = types.map(|(d, of)| figures(&d.name, &of.counts, of.times.as_ref()));
        let times = self.types.iter().filter_map(|of_type| of_type.times.as_ref());
        let total = figures("all", &all, Some(&TimeCounts::merged(times)));
        Slice { start_s, seconds, arrived: self.arrived, types: types.collect(), total }
    }
}

#[cfg(test)]
mod tests {
    use triphammer_core::clock::Elapsed;
    use triphammer_core::recorder::histogram;

    use super::*;

    /// Second `n` has n + 1 transactions of n + 1 ms.
    fn second(n: u64, phase: Phase) -> Second {
        let mut interval = RecordedInterval::new(n, 1);
        let mut times = histogram();
        times.record_n((n + 1) * 1000, n + 1).unwrap();
        interval.types[0].counts.committed = n + 1;
        interval.types[0].response = Some(times);
        Second::new(interval, phase, None)
    }

    fn slices(length: Length, window: [u64; 2]) -> Vec<Slice> {
        let mut slicer = Slicer::new(length);
        for n in 0..window[1] + 3 {
            let phase = match n {
                n if n < window[0] => Phase::RampUp,
                n if n < window[1] => Phase::Window,
                _ => Phase::Drain,
            };
            slicer.take(&second(n, phase));
        }
        let [start, end] = window.map(Elapsed::at_second);
        slicer.slices(&[TransactionDef::new("a", "A", 1)], Window { start, end })
    }

    #[test]
    fn slices_cover_the_window_and_nothing_else() {
        let asked = Length::Time(Duration::from_secs(50));
        for (length, width, count) in [(asked, 3, 17), (Length::Transactions(9), 4, 13)] {
            let slices = slices(length, [10, 60]);
            assert_eq!(slices.len(), count);
            let seconds: f64 = slices.iter().map(|slice| slice.seconds).sum();
            assert!((seconds - 50.0).abs() < 1e-9, "{seconds}");
            let completed: u64 = slices.iter().map(|slice| slice.total.completed).sum();
            assert_eq!(completed, (11..=60u64).sum::<u64>());
            let first = &slices[0];
            assert_eq!((first.start_s, first.seconds), (10.0, width as f64));
            assert_eq!(first.types[0].response, first.total.response);
            assert_eq!(first.total.response.min_us, 11_000);
            let slowest = histogram().highest_equivalent((10 + width) * 1000);
            assert_eq!(first.total.response.max_us, slowest, "the last second of the slice");
        }
    }

    #[test]
    fn a_drift_shows() {
        let slices = slices(Length::Time(Duration::from_secs(40)), [0, 40]);
        let p50: Vec<u64> = slices.iter().map(|s| s.total.response.p50_us).collect();
        assert!(p50.is_sorted() && p50[19] > 10 * p50[0], "{p50:?}");
    }
}
