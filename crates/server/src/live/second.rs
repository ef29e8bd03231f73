//! A second of a run as it is sent: figures instead of histograms.

use std::sync::Arc;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use triphammer_core::recorder::{Interval, TypeInterval};
use triphammer_core::stats::{rate, share};
use triphammer_core::workload::Description;
use utoipa::ToSchema;

/// A second of a run. When `last` is after `first`, several seconds are merged: counts are sums, times and
/// shares are those of the worst second.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LiveSecond {
    /// The activity.
    pub activity: u64,
    /// First second, from the run's zero.
    pub first: u64,
    /// Last second.
    pub last: u64,
    /// The workload's first figure, from these seconds: in its own unit, such as a minute.
    pub headline: f64,
    /// All types together.
    pub total: LiveType,
    /// By transaction type, in the workload's order.
    pub types: Vec<LiveType>,
    /// Sessions connected at the end.
    pub connected: u32,
    /// Sessions lost.
    pub lost: u64,
    /// Sessions made anew.
    pub reconnected: u64,
    /// CPU time of all worker threads, of a core: 1.5 is one and a half cores.
    pub client_cores: f64,
    /// CPU time of the busiest worker thread, of a core.
    pub busiest_thread: f64,
    /// Scheduling lag of the worker threads, 99th percentile, µs; `null` where it is not measured.
    pub lag_p99_us: Option<u64>,
    /// The fastest round trip measured, µs; `null` where there was none.
    pub round_trip_us: Option<u64>,
    /// How busy all CPUs of the client's host were, from 0 to 1; `null` where unknown.
    pub host_busy: Option<f64>,
}

/// What a transaction type did in a second.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LiveType {
    /// Key: `new_order`; `all` in a total.
    pub name: String,
    /// Completed (committed or rolled back by rule) a second.
    pub per_second: f64,
    /// Ended committed.
    pub committed: u64,
    /// Ended rolled back by rule.
    pub rolled_back: u64,
    /// Ended failed or in doubt.
    pub failed: u64,
    /// Attempts after the first.
    pub retries: u64,
    /// Median response time of committed ones, µs; 0 when there are none.
    pub p50_us: u64,
    /// 95th percentile.
    pub p95_us: u64,
    /// 99th percentile.
    pub p99_us: u64,
    /// The longest.
    pub max_us: u64,
}

/// Makes seconds of a run's intervals.
#[derive(Clone, Debug)]
pub struct SecondsOf {
    /// The activity.
    pub activity: u64,
    /// What is run.
    pub workload: Arc<Description>,
}

impl SecondsOf {
    /// An interval as it is sent.
    #[must_use]
    pub fn second(&self, interval: &Interval) -> LiveSecond {
        let headline = &self.workload.headline;
        let seconds = length(interval.first, interval.last);
        let mut all = TypeInterval::default();
        for seen in &interval.types {
            all.add(seen);
        }
        let counted: u64 =
            headline.transactions.iter().map(|t| interval.types[*t].counts.committed).sum();
        let gauges = &interval.gauges;
        let at = |times: &Option<Histogram<u32>>, read: fn(&Histogram<u32>) -> u64| {
            times.as_ref().filter(|h| !h.is_empty()).map(read)
        };
        let cores = gauges.cpu.iter().map(|cpu| share(cpu.cpu_ns, cpu.wall_ns)).sum();
        LiveSecond {
            activity: self.activity,
            first: interval.first,
            last: interval.last,
            headline: rate(counted, seconds, headline.per_seconds),
            total: live_type("all", &all, seconds),
            types: self
                .workload
                .transactions
                .iter()
                .zip(&interval.types)
                .map(|(definition, seen)| live_type(&definition.name, seen, seconds))
                .collect(),
            connected: interval.connected,
            lost: interval.lost,
            reconnected: interval.reconnected,
            client_cores: cores,
            busiest_thread: gauges.busiest_share(),
            lag_p99_us: at(&gauges.lag, |h| h.value_at_quantile(0.99)),
            round_trip_us: at(&gauges.round_trip, Histogram::min),
            host_busy: gauges.host.share(),
        }
    }
}

fn live_type(name: &str, seen: &TypeInterval, seconds: f64) -> LiveType {
    let counts = &seen.counts;
    let quantile = |q| seen.response.as_ref().map_or(0, |h| h.value_at_quantile(q));
    LiveType {
        name: name.to_owned(),
        per_second: rate(counts.completed(), seconds, 1),
        committed: counts.committed,
        rolled_back: counts.rolled_back,
        failed: counts.failures() + counts.in_doubt,
        retries: counts.retries.iter().sum(),
        p50_us: quantile(0.5),
        p95_us: quantile(0.95),
        p99_us: quantile(0.99),
        max_us: seen.response.as_ref().map_or(0, Histogram::max),
    }
}

#[expect(clippy::cast_precision_loss, reason = "seconds of a run")]
fn length(first: u64, last: u64) -> f64 {
    (last + 1 - first) as f64
}

/// The mean of two rates over stretches of these lengths.
fn mean([a, b]: [f64; 2], [seconds_a, seconds_b]: [f64; 2]) -> f64 {
    (a * seconds_a + b * seconds_b) / (seconds_a + seconds_b)
}

impl LiveSecond {
    /// Takes a later second in.
    pub(super) fn merge(&mut self, later: &Self) {
        let seconds = [length(self.first, self.last), length(later.first, later.last)];
        self.headline = mean([self.headline, later.headline], seconds);
        self.total.merge(&later.total, seconds);
        for (mine, theirs) in self.types.iter_mut().zip(&later.types) {
            mine.merge(theirs, seconds);
        }
        self.last = later.last;
        self.connected = later.connected;
        self.lost += later.lost;
        self.reconnected += later.reconnected;
        self.client_cores = self.client_cores.max(later.client_cores);
        self.busiest_thread = self.busiest_thread.max(later.busiest_thread);
        self.lag_p99_us = self.lag_p99_us.max(later.lag_p99_us);
        self.round_trip_us = match (self.round_trip_us, later.round_trip_us) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        self.host_busy = match (self.host_busy, later.host_busy) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        };
    }
}

impl LiveType {
    fn merge(&mut self, later: &Self, seconds: [f64; 2]) {
        self.per_second = mean([self.per_second, later.per_second], seconds);
        self.committed += later.committed;
        self.rolled_back += later.rolled_back;
        self.failed += later.failed;
        self.retries += later.retries;
        self.p50_us = self.p50_us.max(later.p50_us);
        self.p95_us = self.p95_us.max(later.p95_us);
        self.p99_us = self.p99_us.max(later.p99_us);
        self.max_us = self.max_us.max(later.max_us);
    }
}
