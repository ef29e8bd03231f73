//! The declarations, in the order of columns in files. Names that are older than this list differ
//! between outputs and stay as they are; a new metric needs only [`Metric::new`].

use hdrhistogram::Histogram;
use triphammer_core::outcome::Counts;
use triphammer_core::recorder::{Arrived, LoginInterval, WorkerCpu};
use triphammer_core::stats::{Times, share};
use triphammer_core::traffic::Traffic;

use super::ValueSource::{Derived, Second as OfSecond, Type as OfType};
use super::values::float;
use super::{Chart, Merge, Metric, MetricKind, Part, Unit};
use crate::result::RunResult;
use crate::second::Second;

/// Closures become part of the declaration and must not capture anything: hence macros instead of
/// functions.
macro_rules! arrivals {
    ($name:literal, $help:literal, $read:expr) => {
        Metric::new(
            [$name, $name, $help],
            Unit::Count,
            MetricKind::Counter,
            Merge::Sum,
            OfSecond(|s| {
                let read: fn(&Arrived) -> u64 = $read;
                s.interval.arrived.as_ref().map(|arrived| float(read(arrived)))
            }),
        )
        .api(None, None, None)
    };
}

/// Times of all types.
macro_rules! of_histogram {
    ($name:literal, $help:literal, $kind:expr, $times:expr, $read:expr) => {
        Metric::new(
            [$name, $name, $help],
            Unit::Us,
            $kind,
            Merge::Max,
            OfSecond(|s| {
                let times: fn(&Second) -> Option<&Histogram<u64>> = $times;
                of_times(times(s), $read)
            }),
        )
        .api(None, None, None)
    };
}

/// Wait for a session.
macro_rules! pool_wait {
    ($name:literal, $help:literal, $kind:expr, $read:expr) => {
        of_histogram!($name, $help, $kind, |s| s.interval.pool_wait.as_ref(), $read)
    };
}

/// A percentile of the times of logins.
macro_rules! login {
    ($name:literal, $title:literal, $help:literal, $at:literal) => {
        Metric::new(
            [$name, $title, $help],
            Unit::Us,
            MetricKind::Percentile,
            Merge::Max,
            OfSecond(|s| quantile(s.interval.logins.whole.as_ref(), $at)),
        )
    };
}

/// Bytes or packets of the worker threads' sockets.
macro_rules! traffic {
    ($names:expr, $unit:expr, $read:expr) => {
        Metric::new(
            $names,
            $unit,
            MetricKind::Counter,
            Merge::Sum,
            OfSecond(|s| {
                let read: fn(&Traffic) -> Option<u64> = $read;
                let traffic = Some(&s.interval.gauges.traffic).filter(|of| of.is_counted());
                traffic.and_then(read).map(float)
            }),
        )
        .api(Some($names[0]), Some($names[0]), None)
    };
}

/// The logins of a second; `None` if there was none.
fn logins(second: &Second) -> Option<&LoginInterval> {
    Some(&second.interval.logins).filter(|logins| !logins.is_empty())
}

/// A time of the logins of the window; `None` if there was none.
fn of_logins(result: &RunResult, read: fn(&Times) -> u64) -> Option<f64> {
    let window = &result.logins.as_ref()?.window;
    (window.count > 0).then(|| float(read(&window.whole)))
}

/// Response times of all types together; those of single types are below.
macro_rules! of_all {
    ($name:literal, $help:literal, $kind:expr, $read:expr) => {
        of_histogram!($name, $help, $kind, |s| s.total.response.as_ref(), $read)
    };
}

/// A count of a transaction type.
macro_rules! of_type {
    ($name:literal, $title:literal, $help:literal, $read:expr) => {
        Metric::new(
            [$name, $title, $help],
            Unit::Count,
            MetricKind::Counter,
            Merge::Sum,
            OfType(|t| {
                let read: fn(&Counts) -> u64 = $read;
                Some(float(read(&t.counts)))
            }),
        )
        .zero()
        .api(None, None, None)
    };
}

/// A percentile of the response times of a transaction type.
macro_rules! times {
    ($name:literal, $title:literal, $help:literal, $at:literal) => {
        Metric::new(
            [$name, $title, $help],
            Unit::Us,
            MetricKind::Percentile,
            Merge::Max,
            OfType(|t| quantile(t.response.as_ref(), $at)),
        )
        .zero()
        .api(Some($name), Some($name), None)
    };
}

/// Metrics of all threads in a second.
pub static OF_SECOND: &[Metric] = &[
    Metric::new(
        ["connected", "sessions", "Sessions connected."],
        Unit::Count,
        MetricKind::Level,
        Merge::Last,
        OfSecond(|s| Some(f64::from(s.interval.connected))),
    )
    .column("connected")
    .zero()
    .api(Some("connected"), Some("connected"), Some(Chart::Sessions))
    .gauge("sessions", "{session}", 1.0),
    Metric::new(
        ["sessions_lost", "sessions lost", "Sessions lost."],
        Unit::Count,
        MetricKind::Counter,
        Merge::Sum,
        OfSecond(|s| Some(float(s.interval.lost))),
    )
    .column("lost")
    .zero()
    .api(Some("lost"), Some("lost"), Some(Chart::Trouble))
    .counter("sessions_lost", "{session}", 1.0)
    .of_run("sessions.lost", Part::Run, |r| Some(float(r.sessions.lost))),
    Metric::new(
        ["sessions_reconnected", "sessions reconnected", "Sessions reconnected."],
        Unit::Count,
        MetricKind::Counter,
        Merge::Sum,
        OfSecond(|s| Some(float(s.interval.reconnected))),
    )
    .column("reconnected")
    .zero()
    .api(Some("reconnected"), Some("reconnected"), None)
    .counter("sessions_reconnected", "{session}", 1.0)
    .of_run("sessions.reconnected", Part::Run, |r| Some(float(r.sessions.reconnected))),
    Metric::new(
        ["logins", "logins", "Sessions that logged in again, also after they were lost."],
        Unit::Count,
        MetricKind::Counter,
        Merge::Sum,
        OfSecond(|s| logins(s).map(|logins| float(logins.count()))),
    )
    .counter("logins", "{login}", 1.0)
    .of_run("logins", Part::Window, |r| r.logins.as_ref().map(|all| float(all.window.count))),
    Metric::new(
        ["logins_failed", "failed logins", "Attempts to log in that failed."],
        Unit::Count,
        MetricKind::Counter,
        Merge::Sum,
        OfSecond(|s| logins(s).map(|logins| float(logins.failed))),
    )
    .counter("logins_failed", "{login}", 1.0)
    .of_run("logins.failed", Part::Window, |r| {
        r.logins.as_ref().map(|all| float(all.window.failed))
    }),
    login!("login_p50_us", "login, median", "Median time of logins.", 0.5).of_run(
        "login.p50",
        Part::Window,
        |r| of_logins(r, |whole| whole.p50_us),
    ),
    login!("login_p99_us", "login, p99", "99th percentile of the times of logins.", 0.99).of_run(
        "login.p99",
        Part::Window,
        |r| of_logins(r, |whole| whole.p99_us),
    ),
    Metric::new(
        ["client_cpu", "client threads", "Mean CPU use of the worker threads."],
        Unit::Share,
        MetricKind::Gauge,
        Merge::Parts,
        Derived(|v, _| v.ratio("cpu_ns", "wall_ns", 1.0)),
    )
    .zero()
    .api(None, Some("client_busy"), None)
    .gauge("client_threads_busy", "1", 1.0),
    Metric::new(
        ["client_busiest", "client thread", "CPU use of the busiest worker thread."],
        Unit::Share,
        MetricKind::Gauge,
        Merge::Max,
        OfSecond(|s| Some(s.interval.gauges.busiest_share())),
    )
    .column("busiest_share")
    .zero()
    .api(Some("busiest_thread"), Some("busiest_thread"), Some(Chart::Cpu))
    .gauge("client_busiest", "1", 1.0)
    .of_run("client.busiest", Part::Run, |r| Some(r.client.busiest_share)),
    Metric::new(
        [
            "lag_p99_us",
            "lag",
            "Event-loop lag of the worker threads, 99th percentile: the delay \
                               before they handled what was ready.",
        ],
        Unit::Us,
        MetricKind::Percentile,
        Merge::Max,
        OfSecond(|s| quantile(s.interval.gauges.lag.as_ref(), 0.99)),
    )
    .column("lag_p99_us")
    .api(Some("lag_p99_us"), Some("lag_p99_us"), Some(Chart::Lag))
    .gauge("client_lag", "s", 1e-6)
    .of_run("client.lag_p99", Part::Window, |r| r.bottleneck.figures.lag_p99_us.map(float)),
    Metric::new(
        ["round_trip_us", "fastest round trip", "Fastest round trip measured."],
        Unit::Us,
        MetricKind::Gauge,
        Merge::Min,
        OfSecond(|s| of_times(s.interval.gauges.round_trip.as_ref(), Histogram::min)),
    )
    .column("round_trip_us")
    .api(Some("round_trip_us"), Some("round_trip_us"), None)
    .gauge("round_trip", "s", 1e-6),
    traffic!(
        ["bytes_sent", "bytes sent", "Bytes that the worker threads' sockets sent."],
        Unit::Bytes,
        |t| Some(t.sent_bytes)
    )
    .counter("bytes_sent", "By", 1.0),
    traffic!(
        ["bytes_received", "bytes received", "Bytes that the worker threads' sockets received."],
        Unit::Bytes,
        |t| Some(t.received_bytes)
    )
    .counter("bytes_received", "By", 1.0),
    traffic!(
        ["packets_sent", "packets sent", "TCP segments that the worker threads' sockets sent."],
        Unit::Count,
        |t| t.packets.map(|packets| packets.sent)
    )
    .counter("packets_sent", "{packet}", 1.0),
    traffic!(
        [
            "packets_received",
            "packets received",
            "TCP segments that the worker threads' sockets received."
        ],
        Unit::Count,
        |t| t.packets.map(|packets| packets.received)
    )
    .counter("packets_received", "{packet}", 1.0),
    Metric::new(
        ["host_cpu", "host", "CPU use of the client's host."],
        Unit::Share,
        MetricKind::Gauge,
        Merge::Max,
        OfSecond(|s| s.interval.gauges.host.share()),
    )
    .column("host_share")
    .api(Some("host_busy"), Some("host_busy"), Some(Chart::Cpu))
    .gauge("host_cpu", "1", 1.0),
    hidden(
        [
            "server_count",
            "Increase of the database's own transaction counter since it was first read.",
        ],
        Unit::Count,
        OfSecond(|s| s.server.map(|server| float(server.count))),
    )
    .column("server_count")
    .counter("server_transactions", "{transaction}", 1.0),
    hidden(
        ["server_seconds", "Seconds between the two readings of that counter."],
        Unit::S,
        OfSecond(|s| s.server.map(|server| server.seconds)),
    )
    .column("server_seconds"),
    Metric::new(
        [
            "tpm_server",
            "transactions counted by the database",
            "Transactions per minute, from the database's own counter.",
        ],
        Unit::PerMinute,
        MetricKind::Rate,
        Merge::Parts,
        Derived(|v, _| match v.get("server_count") {
            Some(_) => v.ratio("server_count", "server_seconds", 60.0).or(Some(0.0)),
            None => None,
        }),
    )
    .api(None, None, None)
    .of_run("tpm_server", Part::Window, |r| r.tpm_server),
    arrivals!("arrivals", "Arrivals that became due.", |a| a.due)
        .column("arrivals")
        .counter("arrivals", "{arrival}", 1.0)
        .of_run("arrivals.offered", Part::Run, |r| r.arrivals.map(|a| float(a.offered))),
    arrivals!("arrivals_started", "Arrivals started.", |a| a.started).no_file().counter(
        "arrivals_started",
        "{arrival}",
        1.0,
    ),
    arrivals!("skipped", "Arrivals skipped because they were too late.", |a| a.skipped)
        .column("skipped")
        .counter("arrivals_skipped", "{arrival}", 1.0)
        .of_run("arrivals.skipped", Part::Run, |r| r.arrivals.map(|a| float(a.skipped))),
    arrivals!("given_up", "Arrivals dropped because the backlog was full.", |a| a.given_up)
        .column("given_up")
        .counter("arrivals_given_up", "{arrival}", 1.0),
    Metric::new(
        ["backlog", "backlog", "Transactions that are due and waiting for a session."],
        Unit::Count,
        MetricKind::Level,
        Merge::Last,
        OfSecond(|s| s.interval.backlog.map(float)),
    )
    .column("backlog")
    .api(None, None, None)
    .gauge("backlog", "{transaction}", 1.0)
    .of_run("backlog", Part::Window, |r| r.backlog_max.map(float)),
    pool_wait!("pool_wait_p50_us", "Median wait for a session.", MetricKind::Percentile, |h| h
        .value_at_quantile(0.5))
    .column("wait_p50_us"),
    pool_wait!(
        "pool_wait_p99_us",
        "99th percentile of the wait for a session.",
        MetricKind::Percentile,
        |h| h.value_at_quantile(0.99)
    )
    .column("wait_p99_us"),
    pool_wait!(
        "pool_wait_max_us",
        "Longest wait for a session.",
        MetricKind::Longest,
        Histogram::max
    )
    .column("wait_max_us"),
    of_all!("all.p50_us", "Median response time of all types.", MetricKind::Percentile, |h| h
        .value_at_quantile(0.5))
    .column("p50_us"),
    of_all!(
        "all.p95_us",
        "95th percentile of the response time of all types.",
        MetricKind::Percentile,
        |h| h.value_at_quantile(0.95)
    )
    .column("p95_us"),
    of_all!(
        "all.p99_us",
        "99th percentile of the response time of all types.",
        MetricKind::Percentile,
        |h| h.value_at_quantile(0.99)
    )
    .column("p99_us"),
    of_all!(
        "all.max_us",
        "Longest response time of all types.",
        MetricKind::Longest,
        Histogram::max
    )
    .column("max_us"),
    hidden(
        ["cpu_ns", "CPU time of the worker threads."],
        Unit::Ns,
        OfSecond(|s| Some(cpu(s, |cpu| cpu.cpu_ns))),
    )
    .column("cpu_ns")
    .zero()
    .counter("client_cpu", "s", 1e-9),
    hidden(
        ["wall_ns", "Elapsed time, summed over the worker threads."],
        Unit::Ns,
        OfSecond(|s| Some(cpu(s, |cpu| cpu.wall_ns))),
    )
    .column("wall_ns")
    .zero(),
    Metric::new(
        [
            "client_cores",
            "CPU cores that the client's worker threads used",
            "CPU time of all worker threads, in cores (1.5 means one and a half cores).",
        ],
        Unit::Cores,
        MetricKind::Gauge,
        Merge::Max,
        OfSecond(|s| {
            let cpu = s.interval.gauges.cpu.iter();
            Some(cpu.map(|cpu| share(cpu.cpu_ns, cpu.wall_ns)).sum())
        }),
    )
    .zero()
    .no_file()
    .api(Some("client_cores"), None, None)
    .figure("client.cores", Part::Window),
];

/// Metrics of a transaction type, or of all types together, in a second.
pub static OF_TYPE: &[Metric] = &[
    of_type!("committed", "committed", "Transactions committed.", |c| c.committed)
        .column("committed")
        .api(Some("committed"), None, None)
        .of_type_of_run("committed", |t| Some(float(t.committed))),
    of_type!(
        "rolled_back",
        "rolled back",
        "Transactions rolled back as the workload requires.",
        |c| c.rolled_back
    )
    .column("rolled_back")
    .api(Some("rolled_back"), None, None)
    .of_type_of_run("rolled_back", |t| Some(float(t.rolled_back))),
    of_type!("failed", "failed", "Transactions failed.", Counts::failures).column("failed"),
    of_type!("indeterminate", "in doubt", "Transactions whose commit status is unknown.", |c| c
        .indeterminate)
    .column("indeterminate")
    .of_type_of_run("indeterminate", |t| Some(float(t.indeterminate)))
    .named_of_all("indeterminate"),
    Metric::new(
        ["failures", "failed", "Transactions failed, or with unknown commit status."],
        Unit::Count,
        MetricKind::Counter,
        Merge::Sum,
        Derived(|v, _| Some(v.get("failed")? + v.get("indeterminate")?)),
    )
    .no_file()
    .zero()
    .api(Some("failed"), Some("failed"), Some(Chart::Trouble)),
    of_type!("retries", "retries", "Repeated attempts.", |c| c.retries.iter().sum())
        .column("retries")
        .api(Some("retries"), Some("retries"), Some(Chart::Trouble)),
    Metric::new(
        ["mean_us", "mean", "Mean response time of committed transactions."],
        Unit::Us,
        MetricKind::Mean,
        Merge::Parts,
        Derived(|v, _| v.ratio("response_ns", "committed", 1.0).map(|ns| ns / 1e3)),
    )
    .zero()
    .api(None, Some("mean_us"), None),
    times!("p50_us", "p50", "Median response time of committed transactions.", 0.5)
        .column("p50_us"),
    times!(
        "p95_us",
        "p95",
        "95th percentile of the response time of committed transactions.",
        0.95
    )
    .column("p95_us"),
    times!(
        "p99_us",
        "p99",
        "99th percentile of the response time of committed transactions.",
        0.99
    )
    .column("p99_us"),
    Metric::new(
        ["max_us", "max", "Longest response time of committed transactions."],
        Unit::Us,
        MetricKind::Longest,
        Merge::Max,
        OfType(|t| of_times(t.response.as_ref(), Histogram::max)),
    )
    .column("max_us")
    .zero()
    .api(Some("max_us"), Some("max_us"), None),
    hidden(
        ["counter", "Events that the transaction type itself counts."],
        Unit::Count,
        OfType(|t| Some(signed(t.counts.counter))),
    )
    .column("counter")
    .zero(),
    hidden(
        ["response_ns", "Sum of the response times of committed transactions."],
        Unit::Ns,
        OfType(|t| Some(float(t.counts.response_ns))),
    )
    .column("response_ns")
    .zero(),
    hidden(
        ["service_ns", "Sum of the service times of committed transactions."],
        Unit::Ns,
        OfType(|t| Some(float(t.counts.service_ns))),
    )
    .column("service_ns")
    .zero(),
    Metric::new(
        [
            "per_second",
            "throughput",
            "Transactions completed (committed, or rolled back as the \
                                      workload requires) per second.",
        ],
        Unit::PerSecond,
        MetricKind::Rate,
        Merge::Mean,
        Derived(|v, seconds| {
            Some((v.get("committed")? + v.get("rolled_back")?) / seconds.max(f64::MIN_POSITIVE))
        }),
    )
    .no_file()
    .zero()
    .api(Some("per_second"), Some("per_second"), None),
];

/// A metric that is only used to compute others and is not shown.
const fn hidden([name, help]: [&'static str; 2], unit: Unit, source: super::ValueSource) -> Metric {
    Metric::new([name, name, help], unit, MetricKind::Counter, Merge::Sum, source)
        .no_file()
        .api(None, None, None)
}

fn cpu(second: &Second, read: fn(&WorkerCpu) -> u64) -> f64 {
    float(second.interval.gauges.cpu.iter().map(read).sum())
}

/// Reads a value from a histogram; `None` if it is empty.
fn of_times(times: Option<&Histogram<u64>>, read: fn(&Histogram<u64>) -> u64) -> Option<f64> {
    times.filter(|times| !times.is_empty()).map(|times| float(read(times)))
}

fn quantile(times: Option<&Histogram<u64>>, at: f64) -> Option<f64> {
    times.filter(|times| !times.is_empty()).map(|times| float(times.value_at_quantile(at)))
}

#[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
const fn signed(count: i64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_name_is_declared_twice_anywhere() {
        let of_type = super::super::of_type_of_run();
        let of_all: Vec<_> = of_type.filter_map(|(_, of_run)| of_run.of_all).collect();
        let of_run = super::super::of_run().map(|(_, of_run)| of_run.name);
        let names: Vec<_> = of_run.chain(of_all).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
        let once = |what: &str, names: Vec<&str>| {
            let different: BTreeSet<&str> = names.iter().copied().collect();
            assert_eq!(different.len(), names.len(), "{what}: {names:?}");
        };
        for metrics in [OF_SECOND, OF_TYPE] {
            let some = |read: fn(&Metric) -> Option<&'static str>| {
                metrics.iter().filter_map(read).collect::<Vec<_>>()
            };
            once("names", some(|m| Some(m.name)));
            once("columns", some(|m| m.column));
            once("live", some(|m| m.live));
            once("points", some(|m| m.points));
            once("exports", some(|m| m.export.map(|export| export.name)));
        }
    }

    #[test]
    fn what_is_made_of_parts_is_derived_and_what_is_derived_is_in_no_column() {
        for metric in OF_SECOND.iter().chain(OF_TYPE) {
            let is_derived = matches!(metric.source, Some(Derived(_)));
            assert!(metric.merge != Merge::Parts || is_derived, "{}", metric.name);
            assert!(metric.column.is_none() || !is_derived, "{}", metric.name);
            assert!(metric.help.ends_with('.'), "{}: help is a sentence", metric.name);
        }
    }
}
