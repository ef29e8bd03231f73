//! The metrics that a second of a run has, for conditions that are evaluated while it runs. Each
//! has the meaning that it has for the whole run.

use triphammer_core::stats::Times;
use triphammer_core::workload::Description;

use super::metric::{ALL, Metric, MetricSource, OF_TIMES, number};
use crate::measure::{Measure, counted};
use crate::second::Second;

impl Metric {
    /// Whether seconds have a value of it.
    #[must_use]
    pub fn is_of_seconds(&self) -> bool {
        match &self.source {
            MetricSource::PrimaryMetric | MetricSource::PoolWait(_) | MetricSource::Times(..) => {
                true
            }
            MetricSource::Run(declared) | MetricSource::Type(_, declared) => {
                declared.metric.source.is_some()
            }
            MetricSource::Figure
            | MetricSource::Query(_)
            | MetricSource::AtEnd
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
            MetricSource::Run(declared) => declared.metric.read_second(second),
            MetricSource::PoolWait(place) => {
                let waits = Times::of(second.interval.pool_wait.as_ref(), None);
                OF_TIMES[*place].1(&waits).filter(|_| waits.count > 0)
            }
            MetricSource::Type(name, declared) => {
                declared.metric.read_type(of(name)?, seconds(second))
            }
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
            | MetricSource::AtEnd
            | MetricSource::Node(_) => None,
        }
    }
}

fn seconds(second: &Second) -> f64 {
    number(second.seconds())
}
