//! The timed window in slices of equal length, so that a drift shows that the figures of the whole window
//! hide: caches that fill, tables that grow, a checkpoint. Slices are exact merges of the seconds'
//! counters and histograms.

use std::time::Duration;

use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::engine::Window;
use triphammer_core::event::Phase;
use triphammer_core::outcome::Counts;
use triphammer_core::recorder::{RecordedInterval, TypeInterval, histogram};
use triphammer_core::spec::Length;
use triphammer_core::stats::{Times, rate};
use triphammer_core::workload::TransactionDef;

use super::percentiles::PercentileIntervals;
use crate::second::Second;

/// Most slices of a window.
pub const SLICES_MAX: usize = 20;

/// A slice of the timed window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Slice {
    /// Its begin, in seconds since the run's zero.
    pub start_s: f64,
    /// Its length, in seconds.
    pub seconds: f64,
    /// Transactions that fell due; `None` where the load is not open, and in old results.
    #[serde(default)]
    pub arrived: Option<u64>,
    /// By transaction type, in the workload's order.
    pub types: Vec<SliceFigures>,
    /// All types together.
    pub total: SliceFigures,
}

/// What a transaction type did in a slice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SliceFigures {
    /// Key: `new_order`; `all` in a total.
    pub name: String,
    /// Committed or rolled back by rule.
    pub completed: u64,
    /// Completed, a minute.
    pub per_minute: f64,
    /// Ended failed or in doubt.
    pub failed: u64,
    /// From due to finish, of committed ones.
    pub response: Times,
}

/// Gathers the slices while a run goes on.
#[derive(Clone, Debug)]
pub struct Slicer {
    width: u64,
    slices: Vec<Gathered>,
}

#[derive(Clone, Debug)]
struct Gathered {
    first: u64,
    last: u64,
    arrived: Option<u64>,
    types: Vec<(Counts, Option<Histogram<u32>>)>,
}

impl Slicer {
    /// For a run of this length. Where that is no time, slices begin with a second and double whenever
    /// there are too many.
    #[must_use]
    pub fn new(length: Length) -> Self {
        let asked = match length {
            Length::Time(asked) => asked,
            Length::Transactions(_) => Duration::ZERO,
        };
        Self { width: asked.as_secs().div_ceil(SLICES_MAX as u64).max(1), slices: Vec::new() }
    }

    /// Takes a second in, where it is in the window.
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
        let taken = Gathered::of(interval);
        match self.slices.last_mut() {
            Some(last)
                if slice_of(last.first, self.width) == slice_of(interval.first, self.width) =>
            {
                last.add(&taken);
            }
            _ => self.slices.push(taken),
        }
    }

    /// The slices of a window that really was so long, in order; those in which no second came to its end
    /// are left out.
    #[must_use]
    pub fn slices(&self, definitions: &[TransactionDef], window: Window) -> Vec<Slice> {
        let end = window.end.duration().as_secs_f64();
        let slices = self.slices.iter().filter(|slice| (slice.first as f64) < end);
        slices.map(|slice| slice.figures(definitions, end)).collect()
    }
}

impl Slicer {
    /// How sure the percentiles of a transaction type's response times are, by its number; of all without.
    pub(super) fn intervals(&self, kind: Option<usize>) -> PercentileIntervals {
        let Some(kind) = kind else {
            let all: Vec<_> = self.slices.iter().map(Gathered::all_times).collect();
            return PercentileIntervals::of(all.iter().map(Some));
        };
        PercentileIntervals::of(self.slices.iter().map(|slice| slice.types.get(kind)?.1.as_ref()))
    }
}

impl Gathered {
    /// The times of all types.
    fn all_times(&self) -> Histogram<u32> {
        let mut all = histogram();
        for times in self.types.iter().filter_map(|(_, times)| times.as_ref()) {
            all.add(times).expect("all have the same bounds");
        }
        all
    }

    fn of(interval: &RecordedInterval) -> Self {
        let of_type = |t: &TypeInterval| (t.counts.clone(), t.response.clone());
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
        for ((counts, times), (more, later)) in self.types.iter_mut().zip(&later.types) {
            counts.add(more);
            if let Some(later) = later {
                times.get_or_insert_with(histogram).add(later).expect("all have the same bounds");
            }
        }
    }

    /// `end` is where the window ends, in seconds.
    fn figures(&self, definitions: &[TransactionDef], end: f64) -> Slice {
        let start_s = self.first as f64;
        let seconds = (self.last as f64 + 1.0).min(end) - start_s;
        let figures = |name: &str, counts: &Counts, times: Option<&Histogram<u32>>| SliceFigures {
            name: name.to_owned(),
            completed: counts.completed(),
            per_minute: rate(counts.completed(), seconds, 60),
            failed: counts.failures() + counts.indeterminate,
            response: Times::of(times, Some(counts.response_ns)),
        };
        let mut all = Counts::default();
        self.types.iter().for_each(|(counts, _)| all.add(counts));
        let types = definitions.iter().zip(&self.types);
        let types = types.map(|(d, (counts, times))| figures(&d.name, counts, times.as_ref()));
        let total = figures("all", &all, Some(&self.all_times()));
        Slice { start_s, seconds, arrived: self.arrived, types: types.collect(), total }
    }
}

#[cfg(test)]
mod tests {
    use triphammer_core::clock::Elapsed;

    use super::*;

    /// Second `n` has n + 1 transactions of n + 1 ms.
    fn second(n: u64, phase: Phase) -> Second {
        let mut interval = RecordedInterval::new(n, 1);
        let mut times = histogram();
        times.record_n((n + 1) * 1000, u32::try_from(n + 1).unwrap()).unwrap();
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
