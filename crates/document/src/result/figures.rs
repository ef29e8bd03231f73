//! Computes figures from counters and histograms.

use hdrhistogram::Histogram;
use triphammer_core::outcome::Counts;
use triphammer_core::recorder::TypeInterval;
use triphammer_core::stats::{Times, rate, share};
use triphammer_core::workload::{CounterDef, TransactionDef};

use super::document::{CounterFigure, Figures, TypeFigures};
use super::percentiles::PercentileIntervals;
use super::slices::Slicer;
use crate::parts::ClassCount;

/// Counts that exist only for the whole run, by transaction type.
#[derive(Clone, Copy)]
pub(super) struct Edges<'a> {
    pub started: &'a [u64],
    pub in_flight: &'a [u64],
}

impl Figures {
    /// Computes the figures of a part of `seconds` length; `seen` has every transaction type.
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

    /// Computes the figures with intervals of the percentiles, from the slices of the part.
    pub(super) fn with_intervals(mut self, slicer: &Slicer) -> Self {
        let (types, all) = slicer.intervals();
        for (seen, intervals) in self.types.iter_mut().zip(types) {
            seen.response_intervals = intervals;
        }
        self.total.response_intervals = all;
        self
    }
}

impl TypeFigures {
    /// Computes the figures available from counters; the caller adds names, counter and counts of the
    /// whole run.
    fn of(seen: &TypeInterval, all_completed: u64, seconds: f64) -> Self {
        let counts = &seen.counts;
        let own = |histogram: &Option<Histogram<u64>>| Times::of(histogram.as_ref(), None);
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
            failed_by_class: ClassCount::occurred(&counts.failed),
            indeterminate: counts.indeterminate,
            unread: counts.unread,
            unconfirmed: counts.unconfirmed,
            in_flight: None,
            retries_by_class: ClassCount::occurred(&counts.retries),
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

    /// Repeated attempts.
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
