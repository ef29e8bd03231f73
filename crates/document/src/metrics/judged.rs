//! The metrics that only requirements name: outputs do not contain them every second. A metric
//! without a source has no value before the end of a run.

use triphammer_core::recorder::TypeInterval;
use triphammer_core::stats::share;

use super::ValueSource::{Derived, Second as OfSecond, Type as OfType};
use super::values::float;
use super::{Merge, Metric, MetricKind, Part, Unit};
use crate::result::{QUERIES_PER_HOUR, QUERY_GEOMEAN, RunResult};

/// Metrics of a run.
pub static JUDGED: &[Metric] = &[
    judged("failures", "Failed, in doubt, or with an unreadable response.", Unit::Share)
        .read(OfSecond(|s| failures(&s.total)))
        .of_run("failures", Part::Window, |r| (r.run.total.ended > 0).then_some(r.failures.share)),
    judged("window", "Length of the timed window.", Unit::Us)
        .of_run("window", Part::Window, |r| Some(r.durations.window_s * 1e6)),
    judged("client.cpu_us", "CPU time of the client per completed transaction.", Unit::Us).of_run(
        "client.cpu_us",
        Part::Window,
        |r| of_completed(r, r.client.cpu_us_per_transaction),
    ),
    judged("arrivals.never_started", "Arrivals that never started.", Unit::Count).of_run(
        "arrivals.never_started",
        Part::Run,
        |r| r.arrivals.map(|a| float(a.never_started)),
    ),
    judged("arrivals.missed", "Arrivals skipped or never started.", Unit::Share).of_run(
        "arrivals.missed",
        Part::Run,
        |r| r.arrivals.map(|a| a.missed_share()),
    ),
    judged("efficiency", "Share of what keying and thinking times allow.", Unit::Share).of_run(
        "efficiency",
        Part::Window,
        |r| r.efficiency.map(|e| e.share),
    ),
    judged("round_trips", "Round trips per completed transaction.", Unit::Average).of_run(
        "round_trips",
        Part::Run,
        |r| of_completed(r, r.round_trips.per_transaction),
    ),
    judged("bytes.sent", "Bytes sent per completed transaction.", Unit::Bytes).of_run(
        "bytes.sent",
        Part::Window,
        |r| of_time(r, "bytes_sent"),
    ),
    judged("bytes.received", "Bytes received per completed transaction.", Unit::Bytes).of_run(
        "bytes.received",
        Part::Window,
        |r| of_time(r, "bytes_received"),
    ),
    judged("packets.sent", "Packets sent per completed transaction.", Unit::Average).of_run(
        "packets.sent",
        Part::Window,
        |r| of_time(r, "packets_sent"),
    ),
    judged("packets.received", "Packets received per completed transaction.", Unit::Average)
        .of_run("packets.received", Part::Window, |r| of_time(r, "packets_received")),
    judged("server.cpu_us", "CPU time of the server per completed transaction.", Unit::Us).of_run(
        "server.cpu_us",
        Part::Window,
        |r| of_time(r, "server_cpu_used"),
    ),
    judged(QUERIES_PER_HOUR, "Queries of streams answered per hour.", Unit::Count).of_run(
        QUERIES_PER_HOUR,
        Part::Window,
        |r| of_streams(r, QUERIES_PER_HOUR),
    ),
    judged(QUERY_GEOMEAN, "Geometric mean of their queries' median times.", Unit::Ms).of_run(
        QUERY_GEOMEAN,
        Part::Window,
        |r| of_streams(r, QUERY_GEOMEAN),
    ),
];

/// Metrics of a transaction type.
pub static JUDGED_OF_TYPE: &[Metric] = &[
    judged("per_minute", "Transactions completed per minute.", Unit::PerMinute)
        .read(Derived(|v, seconds| {
            let completed = v.get("committed")? + v.get("rolled_back")?;
            Some(if seconds > 0.0 { completed * 60.0 / seconds } else { 0.0 })
        }))
        .of_type_of_run("per_minute", |t| Some(t.per_minute))
        .named_of_all("tpm"),
    judged("share", "Share of the completed transactions of all types.", Unit::Share)
        .of_type_of_run("share", |t| Some(t.share)),
    judged("completed", "Transactions completed.", Unit::Count)
        .read(OfType(|t| Some(float(t.counts.completed()))))
        .of_type_of_run("completed", |t| Some(float(t.completed))),
    judged("failures", "Failed, in doubt, or with an unreadable response.", Unit::Share)
        .read(OfType(failures))
        .of_type_of_run("failures", |t| {
            (t.ended > 0).then(|| share(t.failed + t.indeterminate + t.unread, t.ended))
        }),
    judged("retries", "Needed more than one attempt.", Unit::Share)
        .read(OfType(|t| {
            let ended = t.counts.ended();
            (ended > 0).then(|| share(t.counts.retried, ended))
        }))
        .of_type_of_run("retries", |t| Some(share(t.retried, t.ended)))
        .named_of_all("retries"),
];

/// A metric with this name in requirements, without a value in a second.
const fn judged(name: &'static str, help: &'static str, unit: Unit) -> Metric {
    Metric {
        name,
        title: name,
        help,
        unit,
        kind: MetricKind::Gauge,
        merge: Merge::Last,
        source: None,
        of_run: None,
        zero: false,
        file: false,
        column: None,
        live: None,
        points: None,
        export: None,
        chart: None,
    }
}

impl Metric {
    /// Reads its value in a second, too.
    const fn read(mut self, source: super::ValueSource) -> Self {
        self.source = Some(source);
        self
    }
}

/// Share of the transactions that ended.
fn failures(of: &TypeInterval) -> Option<f64> {
    let counts = &of.counts;
    let failures = counts.failures() + counts.indeterminate + counts.unread;
    (counts.ended() > 0).then(|| share(failures, counts.ended()))
}

/// A part of a transaction's time, or an amount that it needs.
fn of_time(result: &RunResult, part: &str) -> Option<f64> {
    result.transaction_time.as_ref()?.value(part)
}

fn of_completed(result: &RunResult, value: f64) -> Option<f64> {
    (result.run.total.completed > 0).then_some(value)
}

fn of_streams(result: &RunResult, name: &str) -> Option<f64> {
    result.query_streams.as_ref()?.value(name)
}
