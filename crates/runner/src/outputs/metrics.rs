//! The figures of a run that goes on, as families of points: one list, which the Prometheus endpoint and
//! the OpenTelemetry exporter each write in their own form. Counters count from the run's zero, ramp-up
//! and drain included; the phase tells them apart.

use hdrhistogram::Histogram;
use triphammer_core::error::ErrorClass;
use triphammer_core::event::Phase;
use triphammer_core::outcome::Counts;
use triphammer_core::recorder::{Arrived, Gauges, Interval, TypeInterval};
use triphammer_core::stats::share;

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

/// A load that waits, since the run's zero; nothing of it where the load is closed.
#[derive(Clone, Debug, Default)]
struct Waits {
    arrived: Option<Arrived>,
    /// At the end of the last second.
    backlog: Option<u64>,
    pool: Option<Buckets>,
}

/// A run so far.
#[derive(Clone, Debug)]
pub(super) struct Metrics {
    info: Vec<(&'static str, String)>,
    types: Vec<TypeTotals>,
    phase: Option<Phase>,
    connected: u32,
    lost: u64,
    reconnected: u64,
    cpu_ns: u64,
    server: Option<u64>,
    waits: Waits,
    /// Of the last second.
    gauges: Gauges,
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
            connected: 0,
            lost: 0,
            reconnected: 0,
            cpu_ns: 0,
            server: None,
            waits: Waits::default(),
            gauges: Gauges::default(),
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
        self.connected = interval.connected;
        self.lost += interval.lost;
        self.reconnected += interval.reconnected;
        self.cpu_ns += interval.gauges.cpu.iter().map(|cpu| cpu.cpu_ns).sum::<u64>();
        if let Some(server) = second.server {
            *self.server.get_or_insert(0) += server.count;
        }
        self.waits.take(interval);
        self.gauges = interval.gauges.clone();
    }

    /// Everything there is to tell; families without a point are left out.
    pub fn families(&self) -> Vec<Family> {
        let mut families = vec![self.info(), self.phases()];
        families.extend(self.transactions());
        families.extend(self.waits.families());
        families.extend(self.client());
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

    fn client(&self) -> Vec<Family> {
        let seconds = |us: u64| Value::Number(us as f64 / 1e6);
        let lag = self.gauges.lag.as_ref().map(|lag| seconds(lag.value_at_quantile(0.99)));
        let trip = self.gauges.round_trip.as_ref().map(|trips| seconds(trips.min()));
        let cpu: u64 = self.gauges.cpu.iter().map(|cpu| cpu.cpu_ns).sum();
        let wall: u64 = self.gauges.cpu.iter().map(|cpu| cpu.wall_ns).sum();
        let busiest = (wall > 0).then(|| Value::Number(self.gauges.busiest_share()));
        let mean = (wall > 0).then(|| Value::Number(share(cpu, wall)));
        let connected = Value::Count(u64::from(self.connected));
        let (counter, gauge) = (Kind::Counter, Kind::Gauge);
        vec![
            one("sessions", "{session}", "Sessions connected.", gauge, Some(connected)),
            one(
                "sessions_lost",
                "{session}",
                "Sessions lost.",
                counter,
                Some(Value::Count(self.lost)),
            ),
            one(
                "sessions_reconnected",
                "{session}",
                "Sessions made anew.",
                counter,
                Some(Value::Count(self.reconnected)),
            ),
            one(
                "server_transactions",
                "{transaction}",
                "Growth of the database's own transaction counter since it was first read.",
                counter,
                self.server.map(Value::Count),
            ),
            one(
                "client_cpu",
                "s",
                "CPU time of the worker threads.",
                counter,
                Some(Value::Number(self.cpu_ns as f64 / 1e9)),
            ),
            one("client_threads_busy", "1", "CPU use of the worker threads, mean.", gauge, mean),
            one("client_busiest", "1", "CPU use of the busiest worker thread.", gauge, busiest),
            one(
                "client_lag",
                "s",
                "Scheduling lag in the last second, 99th percentile.",
                gauge,
                lag,
            ),
            one("round_trip", "s", "Fastest round trip in the last second.", gauge, trip),
            one(
                "host_cpu",
                "1",
                "How busy the CPUs of the client's host were in the last second.",
                gauge,
                self.gauges.host.share().map(Value::Number),
            ),
        ]
    }
}

impl Waits {
    fn take(&mut self, interval: &Interval) {
        if let Some(arrived) = &interval.arrived {
            self.arrived.get_or_insert_default().add(arrived);
        }
        self.backlog = interval.backlog;
        if let Some(waits) = &interval.pool_wait {
            let sum_us = waits.mean() * waits.len() as f64;
            self.pool.get_or_insert_with(Buckets::new).take(Some(waits), sum_us);
        }
    }

    fn families(&self) -> Vec<Family> {
        let (arrival, counter) = ("{arrival}", Kind::Counter);
        let count = |read: fn(&Arrived) -> u64| self.arrived.as_ref().map(read).map(Value::Count);
        let waited = "From due to the first attempt, of all that ended: the wait for a session.";
        vec![
            one("arrivals", arrival, "Arrivals that fell due.", counter, count(|a| a.due)),
            one("arrivals_started", arrival, "Arrivals started.", counter, count(|a| a.started)),
            one(
                "arrivals_skipped",
                arrival,
                "Arrivals skipped because they were too late.",
                counter,
                count(|a| a.skipped),
            ),
            one(
                "arrivals_given_up",
                arrival,
                "Arrivals pushed out of the backlog.",
                counter,
                count(|a| a.given_up),
            ),
            one(
                "backlog",
                "{transaction}",
                "Transactions that are due and wait for a session.",
                Kind::Gauge,
                self.backlog.map(Value::Count),
            ),
            one("pool_wait", "s", waited, Kind::Histogram, self.pool.clone().map(Value::Times)),
        ]
    }
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
            ("in_doubt", counts.in_doubt),
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

/// A figure without labels; no point while it is not known.
fn one(
    name: &'static str,
    unit: &'static str,
    help: &'static str,
    kind: Kind,
    value: Option<Value>,
) -> Family {
    let points = value.map(|value| Point { labels: Vec::new(), value }).into_iter().collect();
    Family { name, unit, help, kind, points }
}
