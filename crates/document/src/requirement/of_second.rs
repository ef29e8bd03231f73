//! The metrics that a second of a run has, for conditions that are evaluated while it runs. Each
//! has the meaning that it has for the whole run.

use triphammer_core::recorder::{Arrived, TypeInterval};
use triphammer_core::stats::{Times, rate, share};
use triphammer_core::workload::Description;

use super::metric::{ALL, Metric, MetricSource, OF_RUN, OF_TIMES, OF_TYPE, number};
use crate::measure::{Measure, counted};
use crate::second::Second;

type OfSecond = (&'static str, Part, fn(&Second) -> Option<f64>);
type OfTypeSecond = (&'static str, fn(&TypeInterval, f64) -> Option<f64>);

/// The part of a run that the value in its result is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// All of it, with ramp-up and drain.
    Run,
    /// The timed window.
    Window,
}

/// Metrics of the run that a second has, too.
const OF_SECOND: &[OfSecond] = &[
    ("tpm", Part::Window, |s| Some(rate(s.total.counts.completed(), seconds(s), 60))),
    ("tpm_server", Part::Window, |s| s.server.map(|server| server.per_minute())),
    ("failures", Part::Window, |s| failed(&s.total)),
    ("indeterminate", Part::Window, |s| Some(number(s.total.counts.indeterminate))),
    ("retries", Part::Window, |s| retried(&s.total)),
    ("sessions.lost", Part::Run, |s| Some(number(s.interval.lost))),
    ("sessions.reconnected", Part::Run, |s| Some(number(s.interval.reconnected))),
    ("client.busiest", Part::Run, |s| Some(s.interval.gauges.busiest_share())),
    ("client.lag_p99", Part::Window, |s| {
        let lag = s.interval.gauges.lag.as_ref().filter(|lag| !lag.is_empty())?;
        Some(number(lag.value_at_quantile(0.99)))
    }),
    ("arrivals.offered", Part::Run, |s| arrived(s, |a| a.due)),
    ("arrivals.skipped", Part::Run, |s| arrived(s, |a| a.skipped)),
    ("backlog", Part::Window, |s| s.interval.backlog.map(number)),
];

/// Metrics of a transaction type that a second has, too; the number is that of seconds.
const OF_TYPE_SECOND: &[OfTypeSecond] = &[
    ("per_minute", |t, seconds| Some(rate(t.counts.completed(), seconds, 60))),
    ("completed", |t, _| Some(number(t.counts.completed()))),
    ("committed", |t, _| Some(number(t.counts.committed))),
    ("rolled_back", |t, _| Some(number(t.counts.rolled_back))),
    ("failures", |t, _| failed(t)),
    ("indeterminate", |t, _| Some(number(t.counts.indeterminate))),
    ("retries", |t, _| retried(t)),
];

impl Metric {
    /// Whether the value in a result is that of the whole run, not of its timed window.
    #[must_use]
    pub(super) fn is_of_whole_run(&self) -> bool {
        match self.source {
            MetricSource::Run(place) => entry(place).is_some_and(|of| of.1 == Part::Run),
            _ => false,
        }
    }

    /// Whether seconds have a value of it.
    #[must_use]
    pub fn is_of_seconds(&self) -> bool {
        match &self.source {
            MetricSource::PrimaryMetric | MetricSource::PoolWait(_) | MetricSource::Times(..) => {
                true
            }
            MetricSource::Run(place) => of_run(*place).is_some(),
            MetricSource::Type(_, place) => of_type(*place).is_some(),
            MetricSource::Figure
            | MetricSource::Query(_)
            | MetricSource::Declared
            | MetricSource::Node(_) => false,
        }
    }

    /// The value in a second of a run of this workload, in the metric's unit; `None` if nothing was
    /// measured in it.
    #[must_use]
    pub fn read_second(&self, second: &Second, workload: &Description) -> Option<f64> {
        let of = |name: &str| match name {
            ALL => Some(&second.total),
            name => {
                let place = workload.transactions.iter().position(|of| of.name == name)?;
                second.interval.types.get(place)
            }
        };
        match &self.source {
            MetricSource::PrimaryMetric => {
                let metric = &workload.primary_metric;
                let count = counted(metric, &second.interval.types);
                Some(Measure::from(metric.measure).value(count, seconds(second)))
            }
            MetricSource::Run(place) => of_run(*place)?(second),
            MetricSource::PoolWait(place) => {
                let waits = Times::of(second.interval.pool_wait.as_ref(), None);
                OF_TIMES[*place].1(&waits).filter(|_| waits.count > 0)
            }
            MetricSource::Type(name, place) => of_type(*place)?(of(name)?, seconds(second)),
            MetricSource::Times(name, is_service, place) => {
                let of = of(name)?;
                let counts = &of.counts;
                let times = if *is_service {
                    Times::of(of.service_times(), Some(counts.service_ns))
                } else {
                    Times::of(of.response.as_ref(), Some(counts.response_ns))
                };
                OF_TIMES[*place].1(&times).filter(|_| times.count > 0)
            }
            MetricSource::Figure
            | MetricSource::Query(_)
            | MetricSource::Declared
            | MetricSource::Node(_) => None,
        }
    }
}

/// How a second's value of a metric of the run is read.
fn of_run(place: usize) -> Option<fn(&Second) -> Option<f64>> {
    entry(place).map(|of| of.2)
}

fn entry(place: usize) -> Option<&'static OfSecond> {
    OF_SECOND.iter().find(|of| of.0 == OF_RUN[place].0)
}

/// The same for a metric of a transaction type.
fn of_type(place: usize) -> Option<fn(&TypeInterval, f64) -> Option<f64>> {
    OF_TYPE_SECOND.iter().find(|(name, _)| *name == OF_TYPE[place].0).map(|of| of.1)
}

fn seconds(second: &Second) -> f64 {
    number(second.seconds())
}

fn failed(of: &TypeInterval) -> Option<f64> {
    let ended = of.counts.ended();
    (ended > 0).then(|| share(of.counts.failures() + of.counts.indeterminate, ended))
}

fn retried(of: &TypeInterval) -> Option<f64> {
    let ended = of.counts.ended();
    (ended > 0).then(|| share(of.counts.retried, ended))
}

fn arrived(second: &Second, read: fn(&Arrived) -> u64) -> Option<f64> {
    second.interval.arrived.as_ref().map(|arrived| number(read(arrived)))
}
