//! The figures of a run that goes on, as families of points: one list, which the Prometheus endpoint and
//! the OpenTelemetry exporter each write in their own form. Counters count from the run's zero, ramp-up
//! and drain included; the phase tells them apart.

use hdrhistogram::Histogram;
use triphammer_core::error::ErrorClass;
use triphammer_core::event::Phase;
use triphammer_core::outcome::Counts;
use triphammer_core::recorder::TypeInterval;

use crate::metrics::{Export, Kind as Counted, Merge, Metric, Unit, Values};
use crate::second::Second;
use crate::store::phase_name;

/// Upper bounds of the histograms' buckets, in seconds; the last bucket has none.
const BOUNDS: [f64; 18] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5,
    5.0, 10.0, 30.0, 60.0,
];

/// What a family counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It only grows.
    Counter,
    /// It goes up and down.
    Gauge,
    /// Times in buckets.
    Histogram,
}

/// Points of one name.
#[derive(Clone, Debug)]
pub(super) struct Family {
    /// `transactions`; each form lays its own conventions around it.
    pub name: &'static str,
    /// By UCUM, as OpenTelemetry has it: `s`, `1`, `{transaction}`.
    pub unit: &'static str,
    pub help: &'static str,
    pub kind: Kind,
    pub points: Vec<Point>,
}

/// One value with what tells it from others of the same family.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub labels: Vec<(&'static str, String)>,
    pub value: Value,
}

#[derive(Clone, Debug)]
pub(super) enum Value {
    Count(u64),
    Number(f64),
    Times(Buckets),
}

/// Times in buckets.
#[derive(Clone, Debug)]
pub(super) struct Buckets {
    /// By bucket, one more than there are [bounds](Buckets::bounds).
    pub counts: Vec<u64>,
    /// Σ, in seconds.
    pub sum: f64,
}

impl Buckets {
    fn new() -> Self {
        Self { counts: vec![0; BOUNDS.len() + 1], sum: 0.0 }
    }

    /// Upper bounds, in seconds, each within its bucket.
    pub fn bounds(&self) -> &'static [f64] {
        &BOUNDS
    }

    /// `sum_us` is Σ of the times.
    fn take(&mut self, times: Option<&Histogram<u32>>, sum_us: f64) {
        self.sum += sum_us / 1e6;
        for step in times.into_iter().flat_map(Histogram::iter_recorded) {
            let seconds = step.value_iterated_to() as f64 / 1e6;
            let bucket = BOUNDS.partition_point(|bound| *bound < seconds);
            self.counts[bucket] += u64::from(step.count_at_value());
        }
    }
}

/// A transaction type since the run's zero.
#[derive(Clone, Debug)]
struct TypeTotals {
    name: String,
    counts: Counts,
    response: Buckets,
    service: Buckets,
}

/// A run so far.
#[derive(Clone, Debug)]
pub(super) struct Metrics {
    info: Vec<(&'static str, String)>,
    types: Vec<TypeTotals>,
    phase: Option<Phase>,
    /// Waits for a session; `None` where the load is closed.
    pool_wait: Option<Buckets>,
    /// The declared figures that are exported: those of the last second, or their sums.
    declared: Values,
}

impl Metrics {
    pub fn new(types: Vec<String>, info: Vec<(&'static str, String)>) -> Self {
        let total = |name| TypeTotals {
            name,
            counts: Counts::default(),
            response: Buckets::new(),
            service: Buckets::new(),
        };
        Self {
            info,
            types: types.into_iter().map(total).collect(),
            phase: None,
            pool_wait: None,
            declared: Values::of_nothing(),
        }
    }

    /// The run is in another phase.
    pub fn enter(&mut self, phase: Phase) {
        self.phase = Some(phase);
    }

    /// A second is complete.
    pub fn take(&mut self, second: &Second) {
        let interval = &second.interval;
        for (total, seen) in self.types.iter_mut().zip(&interval.types) {
            total.take(seen);
        }
        if let Some(waits) = &interval.pool_wait {
            let sum_us = waits.mean() * waits.len() as f64;
            self.pool_wait.get_or_insert_with(Buckets::new).take(Some(waits), sum_us);
        }
        let before = std::mem::replace(&mut self.declared, Values::of_second(second));
        for (metric, sum) in before.iter().filter(|(metric, _)| sums(metric)) {
            let both = [sum, self.declared.get(metric.name)];
            self.declared.set(metric.name, Merge::Sum.of(both, [1.0; 2]));
        }
    }

    /// Everything there is to tell; families without a point are left out.
    pub fn families(&self) -> Vec<Family> {
        let mut families = vec![self.info(), self.phases()];
        families.extend(self.transactions());
        families.push(self.waits());
        families.extend(self.declared());
        families.retain(|family| !family.points.is_empty());
        families
    }

    fn info(&self) -> Family {
        let point = Point { labels: self.info.clone(), value: Value::Count(1) };
        Family {
            name: "run_info",
            unit: "",
            help: "What is run; always 1.",
            kind: Kind::Gauge,
            points: vec![point],
        }
    }

    fn phases(&self) -> Family {
        let points =
            [Phase::RampUp, Phase::Window, Phase::Drain, Phase::Abort].map(|phase| Point {
                labels: vec![("phase", phase_name(phase).to_owned())],
                value: Value::Count(u64::from(self.phase == Some(phase))),
            });
        Family {
            name: "phase",
            unit: "",
            help: "1 for the phase that the run is in, 0 for the others.",
            kind: Kind::Gauge,
            points: points.to_vec(),
        }
    }

    fn transactions(&self) -> Vec<Family> {
        let counter =
            |name, unit, help, points| Family { name, unit, help, kind: Kind::Counter, points };
        let times = |name, help, read: fn(&TypeTotals) -> &Buckets| Family {
            name,
            unit: "s",
            help,
            kind: Kind::Histogram,
            points: self
                .types
                .iter()
                .map(|t| t.point(Vec::new(), Value::Times(read(t).clone())))
                .collect(),
        };
        vec![
            counter(
                "transactions",
                "{transaction}",
                "Transactions ended, by type and outcome.",
                self.types.iter().flat_map(TypeTotals::outcomes).collect(),
            ),
            counter(
                "failures",
                "{transaction}",
                "Transactions failed, by type and class of the error.",
                self.types.iter().flat_map(|t| t.by_class(&t.counts.failed)).collect(),
            ),
            counter(
                "retries",
                "{attempt}",
                "Attempts after the first, by type and class of the error before.",
                self.types.iter().flat_map(|t| t.by_class(&t.counts.retries)).collect(),
            ),
            times("response", "From due to finish, of committed transactions.", |t| &t.response),
            times("service", "From the first attempt to finish, of committed transactions.", |t| {
                &t.service
            }),
        ]
    }

    fn waits(&self) -> Family {
        let value = self.pool_wait.clone().map(Value::Times);
        Family {
            name: "pool_wait",
            unit: "s",
            help: "From due to the first attempt, of all that ended: the wait for a session.",
            kind: Kind::Histogram,
            points: without_labels(value),
        }
    }

    /// The figures that [`crate::metrics`] declares to be exported.
    fn declared(&self) -> Vec<Family> {
        let family = |(metric, value): (&Metric, Option<f64>)| {
            let export = metric.export?;
            // What is counted, or there at any time, is 0 before the first second.
            let is_known = metric.zero && matches!(metric.kind, Counted::Counter | Counted::Level);
            let value = value.or(is_known.then_some(0.0));
            Some(Family {
                name: export.name,
                unit: export.unit,
                help: metric.help,
                kind: if export.sums { Kind::Counter } else { Kind::Gauge },
                points: without_labels(value.map(|value| exported(metric, export, value))),
            })
        };
        self.declared.iter().filter_map(family).collect()
    }
}

/// Counts are whole numbers, which OTLP has a form of its own for.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is a count")]
fn exported(metric: &Metric, export: Export, value: f64) -> Value {
    match metric.unit {
        Unit::Count => Value::Count(value as u64),
        _ => Value::Number(value * export.scale),
    }
}

/// Whether exporters get a figure as the sum since the run's zero.
fn sums(metric: &Metric) -> bool {
    metric.export.is_some_and(|export| export.sums)
}

/// A figure without labels; no point while it is not known.
fn without_labels(value: Option<Value>) -> Vec<Point> {
    value.map(|value| Point { labels: Vec::new(), value }).into_iter().collect()
}

impl TypeTotals {
    fn take(&mut self, seen: &TypeInterval) {
        self.counts.add(&seen.counts);
        self.response.take(seen.response.as_ref(), seen.counts.response_ns as f64 / 1e3);
        self.service.take(seen.service_times(), seen.counts.service_ns as f64 / 1e3);
    }

    fn point(&self, more: Vec<(&'static str, String)>, value: Value) -> Point {
        let labels = std::iter::once(("type", self.name.clone())).chain(more).collect();
        Point { labels, value }
    }

    fn outcomes(&self) -> Vec<Point> {
        let counts = &self.counts;
        [
            ("committed", counts.committed),
            ("rolled_back", counts.rolled_back),
            ("failed", counts.failures()),
            ("indeterminate", counts.indeterminate),
        ]
        .into_iter()
        .map(|(outcome, count)| {
            self.point(vec![("outcome", outcome.to_owned())], Value::Count(count))
        })
        .collect()
    }

    /// The classes that occurred.
    fn by_class(&self, counts: &[u64; ErrorClass::COUNT]) -> Vec<Point> {
        let occurred = ErrorClass::ALL.into_iter().zip(counts).filter(|(_, count)| **count > 0);
        occurred
            .map(|(class, count)| {
                self.point(vec![("class", class.label().to_owned())], Value::Count(*count))
            })
            .collect()
    }
}
