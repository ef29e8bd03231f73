//! Live outputs of a run: the series file, the Prometheus endpoint, exports to an OpenTelemetry
//! collector.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use triphammer_testbed::{PostgresOptions, PostgresServer, write_certificates};

use crate::program::{Program, finish, signal};

/// Polls until there is a result.
fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    for _ in 0..2_400 {
        if let Some(found) = look() {
            return found;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("waited in vain for {what}");
}

/// An address at which nothing listens, and nothing else will: others use 127.0.0.1.
fn free_address() -> SocketAddr {
    static NEXT: AtomicU8 = AtomicU8::new(1);
    let process = (std::process::id() % 250) as u8;
    let host = Ipv4Addr::new(127, 77, process, NEXT.fetch_add(1, Ordering::Relaxed));
    TcpListener::bind((host, 0)).unwrap().local_addr().unwrap()
}

const LONG: &[&str] =
    &["run", "null:?service=1ms", "--vus", "2", "--rampup", "1s", "--duration", "10m"];

#[test]
fn a_killed_run_leaves_its_seconds_in_whole_lines() {
    let program = Program::new();
    let mut child = program.start(&[LONG, &["--series", "s.jsonl"]].concat());
    let path = program.path("s.jsonl");
    let lines = || std::fs::read_to_string(&path).ok().filter(|text| text.lines().count() >= 3);
    wait_for("three seconds", lines);
    signal(&child, "KILL");
    child.wait().unwrap();
    let phases: Vec<String> = std::fs::read_to_string(&path)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|row| row["phase"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(phases[..3], ["ramp_up", "window", "window"]);
}

/// Status line, head and body of an answer.
fn http(at: SocketAddr, request: &str) -> Option<(String, String, String)> {
    let mut stream = TcpStream::connect(at).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    write!(stream, "{request} HTTP/1.1\r\nHost: localhost\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let (status, head) = head.split_once("\r\n")?;
    Some((status.to_owned(), head.to_lowercase(), body.to_owned()))
}

/// Samples of the text format by name and labels; every rule that is broken panics.
fn samples(text: &str) -> BTreeMap<String, f64> {
    let mut samples = BTreeMap::new();
    let mut family: Option<(String, String)> = None;
    let mut helped = String::new();
    assert!(text.ends_with('\n'));
    for line in text.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            helped = help.split_once(' ').unwrap().0.to_owned();
        } else if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (name, kind) = kind.split_once(' ').unwrap();
            assert_eq!(name, helped, "HELP before TYPE");
            assert!(["counter", "gauge", "histogram"].contains(&kind));
            assert_eq!(kind == "counter", name.ends_with("_total"), "{name}");
            family = Some((name.to_owned(), kind.to_owned()));
        } else {
            let (series, value) = line.rsplit_once(' ').unwrap();
            let name = series.split('{').next().unwrap();
            let (family, kind) = family.as_ref().unwrap();
            let ending = name.strip_prefix(family.as_str()).unwrap();
            let endings =
                if kind == "histogram" { &["_bucket", "_sum", "_count"][..] } else { &[""] };
            assert!(endings.contains(&ending), "{line}");
            let value: f64 = value.parse().unwrap();
            assert!(samples.insert(series.to_owned(), value).is_none(), "twice: {line}");
        }
    }
    samples
}

#[test]
fn prometheus_reads_a_run_that_goes_on() {
    let program = Program::new();
    let at = free_address();
    let more = ["--metrics-listen", &at.to_string(), "--label", "a \"quoted\" label"];
    let child = program.start(&[LONG, &more].concat());
    let committed = "triphammer_transactions_total{type=\"new_order\",outcome=\"committed\"}";
    let in_window = "triphammer_phase{phase=\"window\"}";
    let found = wait_for("figures", || {
        let (status, head, body) = http(at, "GET /metrics")?;
        assert_eq!(status, "HTTP/1.1 200 OK");
        assert!(head.contains("content-type: text/plain; version=0.0.4"), "{head}");
        let found = samples(&body);
        (found[committed] > 0.0 && found[in_window] == 1.0).then_some(found)
    });
    let bucket = |le: &str| {
        found[&format!("triphammer_response_seconds_bucket{{type=\"new_order\",le=\"{le}\"}}")]
    };
    assert_eq!(bucket("+Inf"), found["triphammer_response_seconds_count{type=\"new_order\"}"]);
    assert_eq!(bucket("+Inf"), found[committed], "what is committed is timed");
    assert_eq!(bucket("0.0005"), 0.0, "the database takes 1 ms for each call");
    assert!(bucket("10") <= bucket("+Inf") && bucket("0.1") <= bucket("10"));
    assert_eq!(found["triphammer_sessions"], 2.0);
    let info = found.keys().find(|name| name.starts_with("triphammer_run_info{")).unwrap();
    assert!(info.contains("workload=\"tproc-c\"") && info.contains("a \\\"quoted\\\" label"));
    let outside: Vec<String> =
        ["GET /", "POST /metrics"].iter().map(|r| http(at, r).unwrap().0).collect();
    assert_eq!(outside, ["HTTP/1.1 404 Not Found", "HTTP/1.1 405 Method Not Allowed"]);
    let again = program.run(&["run", "null:", "--metrics-listen", &at.to_string()]);
    assert_eq!(again.code, 2, "{}", again.err);
    let message = format!("listening at {at}: Address already in use");
    assert!(again.err.contains(&message), "{}", again.err);
    signal(&child, "INT");
    assert_eq!(finish(child).code, 130);
}

#[test]
fn clients_that_never_ask_keep_nobody_out_and_nothing_up() {
    let program = Program::new();
    let at = free_address();
    let child = program.start(&[LONG, &["--metrics-listen", &at.to_string()]].concat());
    let idle = || TcpStream::connect(at).ok();
    let first = wait_for("the endpoint", idle);
    let _more: Vec<TcpStream> = (0..30).filter_map(|_| idle()).collect();
    drop(first);
    // Connections over the limit are closed, the others time out: then there is room again.
    wait_for("an answer in the window", || {
        http(at, "GET /metrics").filter(|answer| answer.2.contains("{phase=\"window\"} 1\n"))
    });
    signal(&child, "INT");
    assert_eq!(finish(child).code, 130);
}

/// Requests received by a collector: paths and bodies.
type Got = Receiver<(String, serde_json::Value)>;

/// A collector that accepts everything.
fn collector(status: &'static str) -> (u16, Got) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    (port, collect(listener, status, |stream| stream))
}

/// A collector at `address` with TLS, using the certificate in `folder`.
fn tls_collector(address: &str, folder: &Path) -> (u16, Got) {
    let chain = CertificateDer::pem_file_iter(folder.join("server.crt")).unwrap();
    let key = PrivateKeyDer::from_pem_file(folder.join("server.key")).unwrap();
    let provider = rustls::crypto::ring::default_provider();
    let config = rustls::ServerConfig::builder_with_provider(Arc::new(provider))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain.map(Result::unwrap).collect(), key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind((address, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let secure = move |stream| {
        let connection = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
        rustls::StreamOwned::new(connection, stream)
    };
    (port, collect(listener, "200 OK", secure))
}

/// Serves one connection after the other; broken ones are ignored.
fn collect<S: Read + Write>(
    listener: TcpListener,
    status: &'static str,
    wrap: impl Fn(TcpStream) -> S + Send + 'static,
) -> Got {
    let (tell, told) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            if let Ok(got) = take(wrap(stream.unwrap()), status)
                && tell.send(got).is_err()
            {
                break;
            }
        }
    });
    told
}

/// Reads one request and answers it.
fn take(stream: impl Read + Write, status: &str) -> io::Result<(String, serde_json::Value)> {
    let mut reader = BufReader::new(stream);
    let (mut request, mut length) = (String::new(), 0);
    reader.read_line(&mut request)?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim().to_lowercase();
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.parse().unwrap();
        }
        assert!(!line.starts_with("content-type") || line.ends_with("application/json"));
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    write!(reader.get_mut(), "HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\n{{}}")?;
    let path = request.split(' ').nth(1).ok_or(io::ErrorKind::InvalidData)?.to_owned();
    Ok((path, serde_json::from_slice(&body)?))
}

#[test]
fn a_collector_gets_the_whole_run_in_the_json_form_of_otlp() {
    let program = Program::new();
    let (port, told) = collector("200 OK");
    let url = format!("http://127.0.0.1:{port}");
    let run = ["run", "null:?service=1ms", "--vus", "2", "--transactions", "300", "--otlp", &url];
    let result = program.json(&run);
    let (path, last) = told.iter().take(1).last().unwrap();
    assert_eq!(path, "/v1/metrics");
    let resource = &last["resourceMetrics"][0];
    let name = &resource["resource"]["attributes"][0];
    assert_eq!(
        (&name["key"], &name["value"]["stringValue"]),
        (&"service.name".into(), &"triphammer".into())
    );
    let metrics = resource["scopeMetrics"][0]["metrics"].as_array().unwrap();
    let metric = |name: &str| metrics.iter().find(|m| m["name"] == name).unwrap();
    let sum = &metric("triphammer.transactions")["sum"];
    assert_eq!((&sum["aggregationTemporality"], &sum["isMonotonic"]), (&2.into(), &true.into()));
    let of = |points: &serde_json::Value, value: &str| -> u64 {
        let of_type = |point: &&serde_json::Value| {
            let text = point["attributes"].to_string();
            text.contains("\"new_order\"")
                && (text.contains("committed") || !text.contains("outcome"))
        };
        let point = points.as_array().unwrap().iter().find(of_type).unwrap();
        assert!(
            point["timeUnixNano"].as_str().unwrap() > point["startTimeUnixNano"].as_str().unwrap()
        );
        point[value].as_str().expect("64-bit integers are strings").parse().unwrap()
    };
    let committed = result["run"]["types"][0]["committed"].as_u64().unwrap();
    assert_eq!(of(&sum["dataPoints"], "asInt"), committed);
    let histogram = &metric("triphammer.response")["histogram"];
    assert_eq!(of(&histogram["dataPoints"], "count"), committed);
    let point = &histogram["dataPoints"][0];
    let buckets = point["bucketCounts"].as_array().unwrap();
    assert_eq!(buckets.len(), point["explicitBounds"].as_array().unwrap().len() + 1);
    assert!(metric("triphammer.sessions")["gauge"]["dataPoints"][0]["asInt"].is_string());
}

#[test]
fn a_collector_that_fails_is_told_of_once_and_ends_no_run() {
    let program = Program::new();
    let (port, _told) = collector("503 Service Unavailable");
    let failing = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    for (at, reason) in
        [(free_address(), "Connection refused"), (failing, "503 Service Unavailable")]
    {
        let url = format!("http://{at}");
        let run =
            ["run", "null:?service=1ms", "--transactions", "50", "--vus", "1", "--otlp", &url];
        let done = program.run(&run);
        assert_eq!(done.code, 0, "{}", done.err);
        assert_eq!(done.err.matches("cannot send metrics").count(), 1, "{}", done.err);
        assert!(done.err.contains(reason), "{}", done.err);
    }
}

#[test]
fn a_collector_with_tls_gets_figures_when_its_certificate_will_do() {
    let mut program = Program::new();
    let folder = program.path("certificates");
    std::fs::create_dir(&folder).unwrap();
    write_certificates(&folder, "nobody").unwrap();
    let file = |name: &str| folder.join(name).display().to_string();
    let run = |program: &Program, host: &str, port: u16, authority: &str| {
        let url = format!("https://{host}:{port}");
        let mut run = vec!["run", "null:?service=1ms", "--transactions", "50", "--vus", "1"];
        run.extend(["--otlp", &url]);
        run.extend(["--otlp-ca", authority].iter().filter(|_| !authority.is_empty()));
        let done = program.run(&run);
        assert_eq!(done.code, 0, "{}", done.err);
        done.err
    };
    let (port, got) = tls_collector("127.0.0.1", &folder);
    for host in ["localhost", "127.0.0.1"] {
        let err = run(&program, host, port, &file("ca.crt"));
        assert!(!err.contains("cannot send metrics"), "{err}");
        let (path, body) = got.recv().unwrap();
        assert_eq!(path, "/v1/metrics");
        assert!(body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"][0].is_object());
    }
    let other = run(&program, "localhost", port, &file("other-ca.crt"));
    assert_eq!(other.matches("cannot send metrics").count(), 1, "{other}");
    assert!(other.contains("invalid peer certificate: UnknownIssuer"), "{other}");
    assert!(
        other.contains("use --otlp-ca to give the file with its certificate authority"),
        "{other}"
    );
    let (elsewhere, _) = tls_collector("127.0.0.2", &folder);
    let misnamed = run(&program, "127.0.0.2", elsewhere, &file("ca.crt"));
    assert!(misnamed.contains("certificate not valid for name \"127.0.0.2\""), "{misnamed}");
    assert!(got.try_recv().is_err(), "nothing is sent without trust");
    program.set("SSL_CERT_FILE", &file("ca.crt"));
    let of_system = run(&program, "localhost", port, "");
    assert!(!of_system.contains("cannot send metrics"), "{of_system}");
    assert_eq!(got.recv().unwrap().0, "/v1/metrics");
}

#[test]
fn a_series_that_cannot_be_written_is_told_of_once_and_ends_no_run() {
    let program = Program::new();
    for file in ["s.jsonl", "s.csv"] {
        std::os::unix::fs::symlink("/dev/full", program.path(file)).unwrap();
    }
    let run = ["run", "null:?service=1ms", "--rampup", "0s", "--duration", "3s", "--vus", "1"];
    let done = program.run(&[&run[..], &["--series", "s.jsonl"]].concat());
    assert_eq!(done.code, 2, "what was asked for is not there: {}", done.err);
    assert!(done.out.contains("tproc-c") || done.out.contains("TPROC-C"), "{}", done.out);
    assert_eq!(done.err.matches("the series ends here").count(), 1, "{}", done.err);
    let refused = program.run(&[&run[..], &["--series", "s.csv"]].concat());
    assert_eq!(refused.code, 2, "its head is written before the run starts: {}", refused.err);
}

#[test]
fn the_servers_own_count_is_told_each_second_and_an_outage_leaves_a_gap() {
    let mut server = PostgresServer::start(PostgresOptions::default()).unwrap();
    let target = server.fresh_database("counted").unwrap();
    let program = Program::new();
    program.ok(&["build", &target, "-w", "tpc-b"]);
    let child = program.start(&[
        "run",
        &target,
        "-w",
        "tpc-b",
        "--vus",
        "2",
        "--rampup",
        "1s",
        "--duration",
        "10m",
        "--max-failures",
        "100%",
        "--series",
        "s.csv",
        "--json",
    ]);
    let rows = || {
        let text = std::fs::read_to_string(program.path("s.csv")).unwrap_or_default();
        let rows: Vec<BTreeMap<String, String>> =
            csv::Reader::from_reader(text.as_bytes()).deserialize().map_while(Result::ok).collect();
        rows
    };
    let told = |row: &BTreeMap<String, String>| row["tpm_server"].parse::<f64>().ok();
    wait_for("the server's count", || rows().iter().find_map(told).filter(|tpm| *tpm > 0.0));
    let before = rows().len();
    server.kill9();
    let gap = || rows()[before..].iter().position(|row| told(row).is_none());
    let gap = before + wait_for("a gap", gap);
    server.restart().unwrap();
    wait_for("the count after the outage", || rows()[gap..].iter().find_map(told));
    signal(&child, "INT");
    let done = finish(child);
    let result: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(result["status"], "interrupted", "{}", done.err);
}
