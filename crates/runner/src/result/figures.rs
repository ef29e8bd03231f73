//! From counters and histograms to figures.

use hdrhistogram::Histogram;
use triphammer_core::error::ErrorClass;
use triphammer_core::outcome::Counts;
use triphammer_core::recorder::TypeInterval;
use triphammer_core::stats::{Times, rate, share};
use triphammer_core::workload::{CounterDef, TransactionDef};

use super::document::{ClassCount, CounterFigure, Figures, TypeFigures};
use super::percentiles::PercentileIntervals;
use super::slices::Slicer;

/// Counts that only the whole run has, by transaction type.
#[derive(Clone, Copy)]
pub(super) struct Edges<'a> {
    pub started: &'a [u64],
    pub in_flight: &'a [u64],
}

impl Figures {
    /// The figures of a stretch of `seconds`, of which `seen` holds every transaction type.
    pub(super) fn new(
        definitions: &[TransactionDef],
        seen: &[TypeInterval],
        seconds: f64,
        edges: Option<Edges<'_>>,
    ) -> Self {
        assert_eq!(definitions.len(), seen.len(), "a run counts every transaction type");
        let mut all = TypeInterval::default();
        for seen in seen {
            all.add(seen);
        }
        let completed = all.counts.completed();
        let types = definitions
            .iter()
            .zip(seen)
            .enumerate()
            .map(|(index, (definition, seen))| TypeFigures {
                name: definition.name.to_string(),
                title: definition.title.to_string(),
                started: edges.map(|edges| edges.started[index]),
                in_flight: edges.map(|edges| edges.in_flight[index]),
                counter: definition
                    .counter
                    .as_ref()
                    .map(|counter| CounterFigure::new(counter, &seen.counts)),
                ..TypeFigures::of(seen, completed, seconds)
            })
            .collect();
        let total = TypeFigures {
            name: "all".to_owned(),
            title: "All".to_owned(),
            started: edges.map(|edges| edges.started.iter().sum()),
            in_flight: edges.map(|edges| edges.in_flight.iter().sum()),
            ..TypeFigures::of(&all, completed, seconds)
        };
        Self { seconds, types, total }
    }

    /// The same with how sure the percentiles are, as the slices of the stretch say.
    pub(super) fn with_intervals(mut self, slicer: &Slicer) -> Self {
        for (index, seen) in self.types.iter_mut().enumerate() {
            seen.response_intervals = slicer.intervals(Some(index));
        }
        self.total.response_intervals = slicer.intervals(None);
        self
    }
}

impl TypeFigures {
    /// What can be read off the counters; names, counter and the whole run's counts are the caller's.
    fn of(seen: &TypeInterval, all_completed: u64, seconds: f64) -> Self {
        let counts = &seen.counts;
        let own = |histogram: &Option<Histogram<u32>>| Times::of(histogram.as_ref(), None);
        Self {
            name: String::new(),
            title: String::new(),
            started: None,
            ended: counts.ended(),
            completed: counts.completed(),
            per_minute: rate(counts.completed(), seconds, 60),
            share: share(counts.completed(), all_completed),
            committed: counts.committed,
            rolled_back: counts.rolled_back,
            failed: counts.failures(),
            failed_by_class: by_class(&counts.failed),
            indeterminate: counts.indeterminate,
            unread: counts.unread,
            in_flight: None,
            retries_by_class: by_class(&counts.retries),
            retried: counts.retried,
            counter: None,
            response: Times::of(seen.response.as_ref(), Some(counts.response_ns)),
            response_intervals: PercentileIntervals::default(),
            service: Times::of(seen.service_times(), Some(counts.service_ns)),
            rolled_back_times: own(&seen.rolled_back),
            failed_times: own(&seen.failed),
            saturated: seen.saturated,
        }
    }

    /// Attempts after the first.
    #[must_use]
    pub fn retries(&self) -> u64 {
        self.retries_by_class.iter().map(|class| class.count).sum()
    }
}

impl CounterFigure {
    fn new(definition: &CounterDef, counts: &Counts) -> Self {
        let possible = counts.committed * u64::from(definition.per_transaction);
        let count = u64::try_from(counts.counter).unwrap_or_default();
        Self {
            name: definition.name.to_string(),
            title: definition.title.to_string(),
            count,
            possible,
            share: share(count, possible),
            warn_above: definition.warn_above,
        }
    }
}

/// The classes that occurred.
fn by_class(counts: &[u64; ErrorClass::COUNT]) -> Vec<ClassCount> {
    ErrorClass::ALL
        .into_iter()
        .zip(counts)
        .filter(|(_, count)| **count > 0)
        .map(|(class, count)| ClassCount { class, count: *count })
        .collect()
}
