//! What each host did, in a run by several.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::stats::share;
use triphammer_engine::RunEnd;
use triphammer_engine::hosts::HostEnd;

use super::bottleneck::{BottleneckVerdict, LimitFigures, Part};
use super::facts::RunFacts;
use crate::measure::Measure;

/// One of several hosts that drove a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostShare {
    /// Name of the host; processes of one host are numbered.
    pub name: String,
    /// Number of CPUs that its process may use.
    pub cpus: u32,
    /// Number of sessions of its share.
    pub sessions: u32,
    /// Number of transactions that it completed in the timed window.
    pub completed: u64,
    /// How far its clock was ahead of the coordinator's before the start, in milliseconds. An offset
    /// within its error is not taken into account.
    pub clock_offset_ms: f64,
    /// Largest possible error of that, in milliseconds.
    #[schemars(range(min = 0.0))]
    pub clock_error_ms: f64,
    /// How long after the agreed instant its load began, in milliseconds; `None` if unknown.
    #[schemars(range(min = 0.0))]
    pub start_late_ms: Option<f64>,
    /// CPU cores that its process used in the timed window; `None` if it was lost.
    #[schemars(range(min = 0.0))]
    pub client_cpus: Option<f64>,
    /// 99th percentile of its event-loop lag, in microseconds.
    pub lag_p99_us: Option<u64>,
    /// Time of a round trip on its sessions, 10th percentile, in microseconds.
    pub round_trip_us: Option<u64>,
    /// What limited its share; `None` if it was lost.
    pub bottleneck: Option<BottleneckVerdict>,
    /// How it was lost; `None` if it was not.
    pub loss: Option<LostHost>,
}

/// How a host was lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LostHost {
    /// When that was noticed, in seconds since the start of the run.
    #[schemars(range(min = 0.0))]
    pub at_s: f64,
    /// Why.
    pub reason: String,
    /// Number of transactions that were in flight when it last reported: they count as in doubt.
    pub in_doubt: u64,
}

#[expect(clippy::cast_precision_loss, reason = "nanoseconds of a clock's offset")]
fn milliseconds(ns: i64) -> f64 {
    ns as f64 / 1e6
}

fn of_unsigned(ns: u64) -> f64 {
    milliseconds(i64::try_from(ns).unwrap_or(i64::MAX))
}

impl HostShare {
    pub(super) fn all(facts: &RunFacts, end: &RunEnd) -> Vec<Self> {
        end.hosts.iter().map(|host| Self::of(facts, end, host)).collect()
    }

    fn of(facts: &RunFacts, end: &RunEnd, host: &HostEnd) -> Self {
        let evidence = Measure::from(facts.description.primary_metric.measure).evidence();
        let figures = host.end.as_ref().map(|of_share| {
            let completed: u64 = of_share.started.iter().sum();
            let part = Part {
                all: &of_share.window,
                sessions: host.sessions,
                // Only where the server's processes are seen is it known to be there.
                same_host: of_share.gauges.host_use.server.map(|_| true),
                offered: of_share.offered,
                gauges: &of_share.gauges,
            };
            let per_transaction = share(of_share.round_trips, completed);
            LimitFigures::of_part(facts, &part, end.window.seconds(), per_transaction)
        });
        Self {
            name: host.name.clone(),
            cpus: host.cpus,
            sessions: host.sessions,
            completed: host.completed,
            clock_offset_ms: milliseconds(host.clock.ns),
            clock_error_ms: of_unsigned(host.clock.error_ns),
            start_late_ms: host.late_ns.map(of_unsigned),
            client_cpus: figures.and_then(|of| of.client_cpus),
            lag_p99_us: figures.and_then(|of| of.lag_p99_us),
            round_trip_us: figures.and_then(|of| of.round_trip_us),
            bottleneck: figures.map(|of| BottleneckVerdict::new(of, evidence)),
            loss: host.loss.as_ref().map(|loss| LostHost {
                at_s: loss.at.duration().as_secs_f64(),
                reason: loss.reason.clone(),
                in_doubt: loss.open.iter().sum(),
            }),
        }
    }
}
