//! The metrics of a running job, as families of points: one list, which the Prometheus endpoint and
//! the OpenTelemetry exporter write in their formats. Counters start at the start of the run and
//! include ramp-up and drain; the phase distinguishes them.

use std::borrow::Cow;

use hdrhistogram::Histogram;
use triphammer_core::error::ErrorClass;
use triphammer_core::event::{Event, Phase};
use triphammer_core::outcome::Counts;
use triphammer_core::recorder::TypeInterval;
use triphammer_core::workload::TransactionDef;
use triphammer_document::metrics::{Export, Merge, Metric, MetricKind, Unit, Values};
use triphammer_document::second::Second;
use triphammer_document::series::phase_name;
use triphammer_observe::Measured;

use crate::watch::JobEvent;

/// Upper bounds of the histograms' buckets, in seconds; the last bucket has none.
const BOUNDS: [f64; 18] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5,
    5.0, 10.0, 30.0, 60.0,
];

/// Kind of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FamilyKind {
    /// A value that only increases.
    Counter,
    /// A value that increases and decreases.
    Gauge,
    /// A histogram of times.
    Histogram,
}

/// Points with one metric name.
#[derive(Clone, Debug)]
pub(super) struct Family {
    /// Base name, such as `transactions`; each format adds its conventions.
    pub name: Cow<'static, str>,
    /// Unit in UCUM, as used by OpenTelemetry: `s`, `1`, `{transaction}`.
    pub unit: &'static str,
    pub help: Cow<'static, str>,
    pub kind: FamilyKind,
    pub points: Vec<Point>,
}

/// Name and value of a label.
pub(super) type Label = (Cow<'static, str>, String);

/// A value with its labels.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub labels: Vec<Label>,
    pub value: Value,
}

#[derive(Clone, Debug)]
pub(super) enum Value {
    Count(u64),
    Number(f64),
    Times(Buckets),
}

/// A histogram of times.
#[derive(Clone, Debug)]
pub(super) struct Buckets {
    /// Counts by bucket, one more than there are [bounds](Buckets::bounds).
    pub counts: Vec<u64>,
    /// Sum of the times, in seconds.
    pub sum: f64,
}

impl Buckets {
    fn new() -> Self {
        Self { counts: vec![0; BOUNDS.len() + 1], sum: 0.0 }
    }

    /// Inclusive upper bounds of the buckets, in seconds.
    pub fn bounds(&self) -> &'static [f64] {
        &BOUNDS
    }

    /// Creates buckets; `sum_us` is the sum of the times in microseconds.
    fn take(&mut self, times: Option<&Histogram<u64>>, sum_us: f64) {
        self.sum += sum_us / 1e6;
        for step in times.into_iter().flat_map(Histogram::iter_recorded) {
            let seconds = step.value_iterated_to() as f64 / 1e6;
            let bucket = BOUNDS.partition_point(|bound| *bound < seconds);
            self.counts[bucket] += step.count_at_value();
        }
    }
}

/// Counts of a transaction type since the start of the run.
#[derive(Clone, Debug)]
struct TypeTotals {
    name: String,
    counts: Counts,
    response: Buckets,
    service: Buckets,
}

/// Counts of a run so far.
#[derive(Clone, Debug)]
pub struct RunMetrics {
    info: Vec<(&'static str, String)>,
    /// Label of every point, which distinguishes this run from others that are exported with it.
    label: Option<(&'static str, String)>,
    types: Vec<TypeTotals>,
    phase: Option<Phase>,
    /// Waits for a session; `None` for a closed load.
    pool_wait: Option<Buckets>,
    /// Exported metrics: values of the last second, or sums.
    declared: Values,
    /// The last values of what was observed in the database and on hosts.
    observed: Measured,
}

impl RunMetrics {
    /// Creates metrics for a run that has not started; `info` has facts about it, without secrets.
    #[must_use]
    pub fn new(transactions: &[TransactionDef], info: &[(&'static str, String)]) -> Self {
        let total = |transaction: &TransactionDef| TypeTotals {
            name: transaction.name.to_string(),
            counts: Counts::default(),
            response: Buckets::new(),
            service: Buckets::new(),
        };
        Self {
            info: info.to_vec(),
            label: None,
            types: transactions.iter().map(total).collect(),
            phase: None,
            pool_wait: None,
            declared: Values::of_nothing(),
            observed: Measured::new(),
        }
    }

    /// Adds a label to every point, which distinguishes this run from others.
    #[must_use]
    pub fn labelled(mut self, name: &'static str, value: String) -> Self {
        self.info.retain(|(known, _)| *known != name);
        self.label = Some((name, value));
        self
    }

    /// Updates the metrics from an event of the job: the phase of a run, or a second.
    pub fn on_event(&mut self, event: JobEvent<'_>) {
        match event {
            JobEvent::Run(Event::Phase(phase, _)) => self.phase = Some(*phase),
            JobEvent::Second(second) => self.take(second),
            JobEvent::Observed(latest) => self.observed.clone_from(latest),
            _ => {}
        }
    }

    /// Adds a complete second.
    pub(super) fn take(&mut self, second: &Second) {
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

    /// All families; those without points are omitted.
    pub(super) fn families(&self) -> Vec<Family> {
        let mut families = vec![self.info(), self.phases()];
        families.extend(self.transactions());
        families.push(self.waits());
        families.extend(self.declared());
        families.extend(self.observed());
        families.retain(|family| !family.points.is_empty());
        for point in families.iter_mut().flat_map(|family| &mut family.points) {
            point.labels.extend(self.label.clone().map(own));
        }
        families
    }

    fn info(&self) -> Family {
        let labels = self.info.iter().cloned().map(own).collect();
        let point = Point { labels, value: Value::Count(1) };
        Family {
            name: "run_info".into(),
            unit: "",
            help: "The running job and its conditions, as labels; always 1.".into(),
            kind: FamilyKind::Gauge,
            points: vec![point],
        }
    }

    fn phases(&self) -> Family {
        let points =
            [Phase::RampUp, Phase::Window, Phase::Drain, Phase::Abort].map(|phase| Point {
                labels: vec![("phase".into(), phase_name(phase).to_owned())],
                value: Value::Count(u64::from(self.phase == Some(phase))),
            });
        Family {
            name: "phase".into(),
            unit: "",
            help: "1 for the current phase of the run, 0 for the others.".into(),
            kind: FamilyKind::Gauge,
            points: points.to_vec(),
        }
    }

    fn transactions(&self) -> Vec<Family> {
        let counter = |name: &'static str, unit, help: &'static str, points| Family {
            name: name.into(),
            unit,
            help: help.into(),
            kind: FamilyKind::Counter,
            points,
        };
        let times =
            |name: &'static str, help: &'static str, read: fn(&TypeTotals) -> &Buckets| Family {
                name: name.into(),
                unit: "s",
                help: help.into(),
                kind: FamilyKind::Histogram,
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
                "Finished transactions, by type and outcome.",
                self.types.iter().flat_map(TypeTotals::outcomes).collect(),
            ),
            counter(
                "failures",
                "{transaction}",
                "Failed transactions, by type and error class.",
                self.types.iter().flat_map(|t| t.by_class(&t.counts.failed)).collect(),
            ),
            counter(
                "retries",
                "{attempt}",
                "Repeated attempts, by type and class of the preceding error.",
                self.types.iter().flat_map(|t| t.by_class(&t.counts.retries)).collect(),
            ),
            times(
                "response",
                "Response time of committed transactions, from when they were due to \
                               their end.",
                |t| &t.response,
            ),
            times(
                "service",
                "Service time of committed transactions, from their first attempt to \
                              their end.",
                |t| &t.service,
            ),
        ]
    }

    fn waits(&self) -> Family {
        let value = self.pool_wait.clone().map(Value::Times);
        Family {
            name: "pool_wait".into(),
            unit: "s",
            help: "Wait for a session of finished transactions, from when they were due to their \
                   first attempt."
                .into(),
            kind: FamilyKind::Histogram,
            points: without_labels(value),
        }
    }

    /// The metrics that [`triphammer_document::metrics`] declares as exported.
    fn declared(&self) -> Vec<Family> {
        let family = |(metric, value): (&Metric, Option<f64>)| {
            let export = metric.export?;
            // Counters and states are 0 before the first second.
            let is_known =
                metric.zero && matches!(metric.kind, MetricKind::Counter | MetricKind::Level);
            let value = value.or(is_known.then_some(0.0));
            Some(Family {
                name: export.name.into(),
                unit: export.unit,
                help: metric.help.into(),
                kind: if export.sums { FamilyKind::Counter } else { FamilyKind::Gauge },
                points: without_labels(value.map(|value| exported(metric, export, value))),
            })
        };
        self.declared.iter().filter_map(family).collect()
    }

    /// What was observed in the database and on hosts: gauges by their own names.
    fn observed(&self) -> Vec<Family> {
        let mut families: Vec<Family> = Vec::new();
        for (series, value) in &self.observed {
            let (unit, scale) = of_unit(series.unit);
            let labels = series.labels.iter();
            let point = Point {
                labels: labels.map(|(name, value)| (name.clone().into(), value.clone())).collect(),
                value: Value::Number(value * scale),
            };
            match families.iter_mut().find(|known| known.name == series.metric) {
                Some(known) => known.points.push(point),
                None => families.push(Family {
                    name: series.metric.clone().into(),
                    unit,
                    help: format!("Observed during the run: {}.", series.title).into(),
                    kind: FamilyKind::Gauge,
                    points: vec![point],
                }),
            }
        }
        families
    }
}

/// The families of several runs: points of one name are together.
pub(super) fn families_of(runs: &[RunMetrics]) -> Vec<Family> {
    let mut all: Vec<Family> = Vec::new();
    for family in runs.iter().flat_map(RunMetrics::families) {
        match all.iter_mut().find(|known| known.name == family.name) {
            Some(known) => known.points.extend(family.points),
            None => all.push(family),
        }
    }
    all
}

/// Counts are integers, for which OTLP has a separate field.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is a count")]
fn exported(metric: &Metric, export: Export, value: f64) -> Value {
    match metric.unit {
        Unit::Count => Value::Count(value as u64),
        _ => Value::Number(value * export.scale),
    }
}

/// The unit of an observed figure in UCUM, and the factor to it.
const fn of_unit(unit: Unit) -> (&'static str, f64) {
    match unit {
        Unit::Count | Unit::Average => ("", 1.0),
        Unit::PerSecond => ("1/s", 1.0),
        Unit::PerMinute => ("1/s", 1.0 / 60.0),
        Unit::Share => ("1", 1.0),
        Unit::Cores => ("{cpu}", 1.0),
        Unit::Us => ("s", 1e-6),
        Unit::Ns => ("s", 1e-9),
        Unit::Ms => ("s", 1e-3),
        Unit::S => ("s", 1.0),
        Unit::Bytes => ("By", 1.0),
        Unit::BytesPerSecond => ("By/s", 1.0),
        Unit::Hz => ("Hz", 1.0),
        Unit::Watts => ("W", 1.0),
    }
}

fn own((name, value): (&'static str, String)) -> Label {
    (name.into(), value)
}

/// Whether a metric is exported as the sum since the start of the run.
fn sums(metric: &Metric) -> bool {
    metric.export.is_some_and(|export| export.sums)
}

/// A family without labels; without a point while the value is unknown.
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
        let labels = std::iter::once(("type", self.name.clone())).chain(more).map(own).collect();
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

    /// The count of each error class, 0 until the first one: a rate needs a value before it.
    fn by_class(&self, counts: &[u64; ErrorClass::COUNT]) -> Vec<Point> {
        let labels = |class: ErrorClass| vec![("class", class.label().to_owned())];
        let value = |class: ErrorClass| Value::Count(counts[class.index()]);
        ErrorClass::ALL.map(|class| self.point(labels(class), value(class))).to_vec()
    }
}
