//! An endpoint for Prometheus: its text format, version 0.0.4
//! (<https://prometheus.io/docs/instrumenting/exposition_formats/>), at `/metrics`, on a separate
//! thread.

use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, ALLOW};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::sync::{Semaphore, oneshot};
use triphammer_core::text::lines;
use triphammer_settings::failure::Failure;

use super::Shared;
use super::metrics::{Family, FamilyKind, Point, RunMetrics, Value, families_of};

/// The media type of the format.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";
/// Maximum number of simultaneous connections; more are closed at once.
const CONNECTIONS_MAX: usize = 8;
/// Maximum time for a connection, from its start to the end of its only response.
const ANSWER: Duration = Duration::from_secs(10);
/// Maximum size of a request, in bytes: the smallest that hyper allows.
const REQUEST_MAX: usize = 8192;

/// A thread that serves a port until this is dropped.
#[derive(Debug)]
pub(super) struct Endpoint {
    over: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Endpoint {
    /// Starts to listen at an address.
    pub fn open(at: SocketAddr, metrics: Shared) -> Result<Self, Failure> {
        let failed = |error| Failure::System { doing: format!("listening at {at}"), error };
        let listener = TcpListener::bind(at).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let (over, is_over) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name("metrics".into())
            .spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                if let Ok(runtime) = runtime {
                    runtime.block_on(async {
                        tokio::select! {
                            () = listen(listener, metrics) => {}
                            _ = is_over => {}
                        }
                    });
                }
            })
            .map_err(failed)?;
        Ok(Self { over: Some(over), thread: Some(thread) })
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        drop(self.over.take());
        if let Some(thread) = self.thread.take() {
            // A panic there was a defect that did not affect the run.
            let _ = thread.join();
        }
    }
}

async fn listen(listener: TcpListener, metrics: Shared) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let free = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // For instance out of file descriptors: they become free when a client disconnects.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let Ok(place) = Arc::clone(&free).try_acquire_owned() else { continue };
        let metrics = Arc::clone(&metrics);
        tokio::spawn(async move {
            let answer = http1::Builder::new()
                .timer(TokioTimer::new())
                .keep_alive(false)
                .max_buf_size(REQUEST_MAX)
                .serve_connection(
                    TokioIo::new(stream),
                    service_fn(move |request| std::future::ready(answer(&request, &metrics))),
                );
            let _ = tokio::time::timeout(ANSWER, answer).await;
            drop(place);
        });
    }
}

fn answer(
    request: &Request<Incoming>,
    metrics: &Shared,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let plain = |status, kind: &'static str, text: String| {
        let mut response = Response::new(Full::new(Bytes::from(text)));
        *response.status_mut() = status;
        response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(kind));
        response
    };
    let text = "text/plain; charset=utf-8";
    if request.uri().path() != "/metrics" {
        let body = "the metrics of the run are at /metrics\n".to_owned();
        return Ok(plain(StatusCode::NOT_FOUND, text, body));
    }
    if request.method() != Method::GET && request.method() != Method::HEAD {
        let mut refused = plain(StatusCode::METHOD_NOT_ALLOWED, text, String::new());
        refused.headers_mut().insert(ALLOW, header::HeaderValue::from_static("GET, HEAD"));
        return Ok(refused);
    }
    let now = metrics.lock().expect("no thread panics while it holds the lock").clone();
    Ok(plain(StatusCode::OK, CONTENT_TYPE, exposition(&[now])))
}

/// Formats the metrics of runs as Prometheus text.
#[must_use]
pub fn exposition(runs: &[RunMetrics]) -> String {
    text(&families_of(runs))
}

fn text(families: &[Family]) -> String {
    let mut out = String::new();
    for family in families {
        let name = name(family);
        let kind = match family.kind {
            FamilyKind::Counter => "counter",
            FamilyKind::Gauge => "gauge",
            FamilyKind::Histogram => "histogram",
        };
        let help = family.help.replace('\\', "\\\\").replace('\n', "\\n");
        out.push_str(&format!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
        for point in &family.points {
            sample(&mut out, &name, point);
        }
    }
    out
}

/// Adds prefix and suffix by Prometheus's conventions: `triphammer_client_cpu_seconds_total`.
fn name(family: &Family) -> String {
    let unit = match (family.unit, family.kind) {
        ("s", _) => "_seconds",
        ("1", FamilyKind::Gauge) => "_ratio",
        ("1/s", _) => "_per_second",
        ("By", _) => "_bytes",
        ("By/s", _) => "_bytes_per_second",
        ("Hz", _) => "_hertz",
        _ => "",
    };
    let ending = if family.kind == FamilyKind::Counter { "_total" } else { "" };
    format!("triphammer_{}{unit}{ending}", base(family))
}

/// A family's name in the format. That of a gauge must not end like a part of a histogram: what is
/// counted stands in the plural instead, as in `system_processes` for `system.process.count`.
fn base(family: &Family) -> String {
    let name = identifier(&family.name);
    match name.strip_suffix("_count") {
        // Words such as "process" take "es".
        Some(counted) if family.kind == FamilyKind::Gauge => {
            format!("{counted}{}", if counted.ends_with('s') { "es" } else { "s" })
        }
        _ => name,
    }
}

/// A name of OpenTelemetry's conventions in the format: `system_cpu_utilization`.
fn identifier(name: &str) -> String {
    name.replace(|sign: char| !sign.is_ascii_alphanumeric(), "_")
}

fn sample(out: &mut String, name: &str, point: &Point) {
    match &point.value {
        Value::Count(count) => out.push_str(&format!("{name}{} {count}\n", labels(point, None))),
        Value::Number(number) => out.push_str(&format!("{name}{} {number}\n", labels(point, None))),
        Value::Times(buckets) => {
            let mut below = 0;
            let bounds = buckets.bounds().iter().map(f64::to_string).chain(["+Inf".to_owned()]);
            for (bound, count) in bounds.zip(&buckets.counts) {
                below += count;
                out.push_str(&format!("{name}_bucket{} {below}\n", labels(point, Some(&bound))));
            }
            out.push_str(&format!("{name}_sum{} {}\n", labels(point, None), buckets.sum));
            out.push_str(&format!("{name}_count{} {below}\n", labels(point, None)));
        }
    }
}

fn labels(point: &Point, bound: Option<&str>) -> String {
    let escape = |text: &str| {
        let text = lines(text).replace('\\', "\\\\");
        text.replace('"', "\\\"").replace('\n', "\\n")
    };
    let own = point
        .labels
        .iter()
        .map(|(name, value)| format!("{}=\"{}\"", identifier(name), escape(value)));
    let bound = bound.map(|bound| format!("le=\"{bound}\""));
    let all: Vec<String> = own.chain(bound).collect();
    if all.is_empty() { String::new() } else { format!("{{{}}}", all.join(",")) }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use triphammer_core::error::ErrorClass;
    use triphammer_core::event::Phase;
    use triphammer_core::recorder::{Arrived, HostCpu, RecordedInterval, WorkerCpu, histogram};
    use triphammer_core::workload::TransactionDef;

    use super::*;
    use crate::watch::JobEvent;
    use triphammer_document::metrics::{Merge, Unit};
    use triphammer_document::parts::ServerTransactions;
    use triphammer_document::samples::SampleSeries;
    use triphammer_document::second::Second;

    /// Metrics of a run with a second in which everything was measured.
    fn everything() -> RunMetrics {
        let mut interval = RecordedInterval::new(0, 1);
        let counts = &mut interval.types[0].counts;
        counts.failed[ErrorClass::Deadlock.index()] = 2;
        counts.retries[ErrorClass::Deadlock.index()] = 3;
        (counts.committed, counts.response_ns) = (3, 6_201_000_000);
        let mut times = histogram();
        [1_000, 1_200_000, 5_000_000].iter().for_each(|us| times.record(*us).unwrap());
        interval.types[0].response = Some(times.clone());
        interval.pool_wait = Some(times.clone());
        interval.arrived = Some(Arrived { due: 9, started: 4, skipped: 3, given_up: 2 });
        interval.backlog = Some(17);
        interval.gauges.cpu = vec![WorkerCpu { thread: 0, cpu_ns: 1, wall_ns: 4, wait_ns: None }];
        (interval.gauges.lag, interval.gauges.round_trip) = (Some(times.clone()), Some(times));
        interval.gauges.host = HostCpu { busy: 1, total: 2 };
        let server = Some(ServerTransactions { count: 7, seconds: 1.0 });
        let transactions = [TransactionDef::new("a", "A", 1)];
        let mut metrics = RunMetrics::new(&transactions, &[("workload", "w".into())]);
        metrics.take(&Second::new(interval, Phase::Window, server));
        metrics
    }

    #[test]
    fn the_guide_to_outputs_names_every_family() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/outputs.md");
        let guide = std::fs::read_to_string(path).unwrap();
        for family in everything().families() {
            assert!(guide.contains(&format!("`{}`", name(&family))), "{}", name(&family));
        }
    }

    /// The text of every query in the dashboard.
    fn queries(json: &serde_json::Value, found: &mut Vec<String>) {
        match json {
            serde_json::Value::Object(members) => {
                for (name, value) in members {
                    match value.as_str() {
                        Some(text) if name == "expr" || name == "query" => found.push(text.into()),
                        _ => queries(value, found),
                    }
                }
            }
            serde_json::Value::Array(values) => values.iter().for_each(|v| queries(v, found)),
            _ => {}
        }
    }

    #[test]
    fn the_dashboard_shows_every_metric_and_no_other() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/grafana.json");
        let dashboard = std::fs::read_to_string(path).unwrap();
        let mut texts = Vec::new();
        queries(&serde_json::from_str(&dashboard).unwrap(), &mut texts);
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let shown: BTreeSet<&str> = texts
            .iter()
            .flat_map(|text| text.split(|c| !is_part(c)))
            .filter(|word| word.starts_with("triphammer_"))
            .collect();
        // Prometheus queries a histogram by the names of its buckets.
        let offered = everything().families();
        let offered = offered.iter().map(|family| match family.kind {
            FamilyKind::Histogram => format!("{}_bucket", name(family)),
            FamilyKind::Counter | FamilyKind::Gauge => name(family),
        });
        let offered: BTreeSet<String> = offered.collect();
        assert_eq!(shown, offered.iter().map(String::as_str).collect());
    }

    #[test]
    fn points_of_several_runs_stand_together_with_their_labels() {
        let [a, b] = ["a", "b"].map(|url| everything().labelled("target", url.into()));
        let text = exposition(&[a, b]);
        let of_sessions: Vec<&str> =
            text.lines().filter(|line| line.starts_with("triphammer_sessions{")).collect();
        assert_eq!(
            of_sessions,
            ["triphammer_sessions{target=\"a\"} 0", "triphammer_sessions{target=\"b\"} 0"],
            "{text}"
        );
        assert_eq!(text.matches("# TYPE triphammer_sessions gauge").count(), 1);
    }

    #[test]
    fn observed_figures_are_gauges_by_their_own_names() {
        let series = |metric: &str, class: &str, unit| {
            Arc::new(SampleSeries {
                metric: metric.into(),
                labels: BTreeMap::from([("db.class".to_owned(), class.to_owned())]),
                title: "Title".into(),
                unit,
                merge: Merge::Mean,
            })
        };
        let latest = vec![
            (series("db.sessions.active", "cpu", Unit::Average), 1.5),
            (series("db.sessions.active", "log", Unit::Average), 2.5),
            (series("postgresql.wal.sync_time", "", Unit::Ms), 4.0),
            (series("system.disk.io", "", Unit::BytesPerSecond), 8.0),
        ];
        let mut metrics = everything();
        metrics.on_event(JobEvent::Observed(&latest));
        let text = exposition(&[metrics]);
        for line in [
            "# TYPE triphammer_db_sessions_active gauge",
            "triphammer_db_sessions_active{db_class=\"cpu\"} 1.5",
            "triphammer_db_sessions_active{db_class=\"log\"} 2.5",
            "triphammer_postgresql_wal_sync_time_seconds{db_class=\"\"} 0.004",
            "triphammer_system_disk_io_bytes_per_second{db_class=\"\"} 8",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
        assert_eq!(text.matches("# TYPE triphammer_db_sessions_active").count(), 1);
    }

    #[test]
    fn buckets_are_cumulative_and_bounds_belong_to_them() {
        let text = exposition(&[everything()]);
        for line in [
            "triphammer_failures_total{type=\"a\",class=\"deadlock\"} 2",
            "triphammer_retries_total{type=\"a\",class=\"deadlock\"} 3",
            "triphammer_server_transactions_total 7",
            "triphammer_response_seconds_bucket{type=\"a\",le=\"0.0005\"} 0",
            "triphammer_response_seconds_bucket{type=\"a\",le=\"0.001\"} 1",
            "triphammer_response_seconds_bucket{type=\"a\",le=\"1\"} 1",
            "triphammer_response_seconds_bucket{type=\"a\",le=\"2.5\"} 2",
            "triphammer_response_seconds_bucket{type=\"a\",le=\"+Inf\"} 3",
            "triphammer_response_seconds_sum{type=\"a\"} 6.201",
            "triphammer_response_seconds_count{type=\"a\"} 3",
            "triphammer_arrivals_total 9",
            "triphammer_arrivals_given_up_total 2",
            "triphammer_backlog 17",
            "triphammer_pool_wait_seconds_count 3",
            "triphammer_host_cpu_ratio 0.5",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
        }
    }

    #[test]
    fn names_values_and_labels_follow_the_format() {
        let point = |labels, value| Point { labels, value };
        let family = |name: &'static str, unit, kind, point| Family {
            name: name.into(),
            unit,
            help: "A \\ and\na line.".into(),
            kind,
            points: vec![point],
        };
        let text = text(&[
            family("cpu", "s", FamilyKind::Counter, point(vec![], Value::Number(0.25))),
            family(
                "busy",
                "1",
                FamilyKind::Gauge,
                point(vec![("a".into(), "\"\\\n".into())], Value::Number(1.0)),
            ),
        ]);
        assert_eq!(
            text,
            "# HELP triphammer_cpu_seconds_total A \\\\ and\\na line.\n\
             # TYPE triphammer_cpu_seconds_total counter\n\
             triphammer_cpu_seconds_total 0.25\n\
             # HELP triphammer_busy_ratio A \\\\ and\\na line.\n\
             # TYPE triphammer_busy_ratio gauge\n\
             triphammer_busy_ratio{a=\"\\\"\\\\\\n\"} 1\n"
        );
    }
}
