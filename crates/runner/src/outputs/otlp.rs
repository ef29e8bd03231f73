//! Exports to an OpenTelemetry collector: OTLP over HTTP with JSON, which is proto3's JSON mapping
//! of `ExportMetricsServiceRequest`
//! (<https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding>): 64-bit integers are
//! strings, enumerations numbers. Runs on a separate thread; a failing collector is reported once
//! and retried at the next interval.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use http_body_util::Full;
use hyper::Request;
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HOST};
use hyper_util::rt::TokioIo;
use serde_json::{Value as Json, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio_rustls::TlsConnector;
use triphammer_core::clock;
use triphammer_settings::failure::Failure;

use super::Shared;
use super::address::Collector;
use super::metrics::{Family, FamilyKind, Point, RunMetrics, Value};
use super::tls;

/// Time between two exports.
const EVERY: Duration = Duration::from_secs(10);
/// Maximum time for an export.
const EXPORT: Duration = Duration::from_secs(5);
/// Cumulative, in the enumeration AggregationTemporality.
const CUMULATIVE: u32 = 2;

/// A thread that exports at intervals, and once more at the end.
#[derive(Debug)]
pub(super) struct Exporter {
    over: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    trouble: Mutex<Receiver<String>>,
}

impl Exporter {
    /// Starts to export; a collector with TLS is verified against `authorities`, or the system's.
    pub fn start(
        to: Collector,
        authorities: Option<PathBuf>,
        metrics: Shared,
    ) -> Result<Self, Failure> {
        let tls = to.has_tls.then(|| tls::connector(authorities)).transpose()?;
        let (over, is_over) = oneshot::channel();
        let (report_result, trouble) = channel();
        let thread = std::thread::Builder::new()
            .name("otlp".into())
            .spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                if let Ok(runtime) = runtime {
                    let to = (&to, tls.as_ref());
                    runtime.block_on(export_all(to, &metrics, is_over, &report_result));
                    // A pending name lookup is not waited for.
                    runtime.shutdown_background();
                }
            })
            .map_err(|error| Failure::System { doing: "starting the exporter".into(), error })?;
        Ok(Self { over: Some(over), thread: Some(thread), trouble: Mutex::new(trouble) })
    }

    /// Returns a pending message, if any.
    pub fn trouble(&self) -> Option<String> {
        self.trouble.lock().expect("no thread panics while it holds the lock").try_recv().ok()
    }

    /// Exports the last metrics; returns a pending message.
    pub fn finish(mut self) -> Option<String> {
        self.end();
        self.trouble()
    }

    fn end(&mut self) {
        drop(self.over.take());
        if let Some(thread) = self.thread.take() {
            // A panic there was a defect that did not affect the run.
            let _ = thread.join();
        }
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        self.end();
    }
}

/// A collector and its TLS configuration.
type Route<'a> = (&'a Collector, Option<&'a TlsConnector>);

async fn export_all(
    to: Route<'_>,
    metrics: &Shared,
    mut is_over: oneshot::Receiver<()>,
    report_result: &Sender<String>,
) {
    let since = nanoseconds();
    let mut warned = false;
    let mut over = false;
    while !over {
        over = tokio::time::timeout(EVERY, &mut is_over).await.is_ok();
        let now =
            RunMetrics::clone(&metrics.lock().expect("no thread panics while it holds the lock"));
        let body = request(&now.families(), since, nanoseconds()).to_string();
        let sent = tokio::time::timeout(EXPORT, send(to, body)).await;
        let sent = sent.unwrap_or_else(|_| Err(format!("no answer within {} s", EXPORT.as_secs())));
        if let Err(problem) = sent
            && !std::mem::replace(&mut warned, true)
        {
            // The receiver is gone after the run.
            let _ = report_result
                .send(format!("cannot send metrics to the collector {}: {problem}", to.0));
        }
    }
}

async fn send((to, tls): Route<'_>, body: String) -> Result<(), String> {
    let stream =
        TcpStream::connect((to.host.as_str(), to.port)).await.map_err(|e| e.to_string())?;
    match tls {
        Some(tls) => post(tls::secure(tls, stream, &to.host).await?, to, body).await,
        None => post(stream, to, body).await,
    }
}

async fn post(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    to: &Collector,
    body: String,
) -> Result<(), String> {
    let words = |error: &dyn std::fmt::Display| error.to_string();
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(|e| words(&e))?;
    let connection = tokio::spawn(connection);
    let request = Request::post(&to.path)
        .header(HOST, to.authority())
        .header(CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::from(body)))
        .map_err(|e| words(&e))?;
    let answer = sender.send_request(request).await.map_err(|e| words(&e));
    connection.abort();
    match answer?.status() {
        status if status.is_success() => Ok(()),
        status => Err(format!("it answered {status}")),
    }
}

/// The current time, in nanoseconds since 1970.
fn nanoseconds() -> u64 {
    u64::try_from(clock::wall().0).unwrap_or_default() * 1000
}

/// The export request with the families.
fn request(families: &[Family], since: u64, now: u64) -> Json {
    let version = env!("CARGO_PKG_VERSION");
    let metrics: Vec<Json> = families.iter().map(|family| metric(family, since, now)).collect();
    json!({ "resourceMetrics": [{
        "resource": { "attributes": [
            attribute("service.name", "triphammer"),
            attribute("service.version", version),
        ] },
        "scopeMetrics": [{
            "scope": { "name": "triphammer", "version": version },
            "metrics": metrics,
        }],
    }] })
}

fn metric(family: &Family, since: u64, now: u64) -> Json {
    let points: Vec<Json> = family.points.iter().map(|p| data_point(p, since, now)).collect();
    let mut metric = json!({
        "name": format!("triphammer.{}", family.name),
        "description": family.help,
        "unit": family.unit,
    });
    let (kind, data) = match family.kind {
        FamilyKind::Gauge => ("gauge", json!({ "dataPoints": points })),
        FamilyKind::Counter => (
            "sum",
            json!({
                "dataPoints": points,
                "aggregationTemporality": CUMULATIVE,
                "isMonotonic": true,
            }),
        ),
        FamilyKind::Histogram => {
            ("histogram", json!({ "dataPoints": points, "aggregationTemporality": CUMULATIVE }))
        }
    };
    metric[kind] = data;
    metric
}

fn data_point(point: &Point, since: u64, now: u64) -> Json {
    let attributes: Vec<Json> = point.labels.iter().map(|(k, v)| attribute(k, v)).collect();
    let mut data = json!({
        "attributes": attributes,
        "startTimeUnixNano": since.to_string(),
        "timeUnixNano": now.to_string(),
    });
    match &point.value {
        Value::Count(count) => data["asInt"] = count.to_string().into(),
        Value::Number(number) => data["asDouble"] = (*number).into(),
        Value::Times(buckets) => {
            data["count"] = buckets.counts.iter().sum::<u64>().to_string().into();
            data["sum"] = buckets.sum.into();
            data["bucketCounts"] = buckets.counts.iter().map(u64::to_string).collect();
            data["explicitBounds"] = buckets.bounds().into();
        }
    }
    data
}

fn attribute(key: &str, value: &str) -> Json {
    json!({ "key": key, "value": { "stringValue": value } })
}
