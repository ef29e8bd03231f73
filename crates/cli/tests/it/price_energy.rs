//! Price and energy with the real program: price files, counters that a test writes, a real node
//! exporter, and exporters whose texts are those of their documentation.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;
use triphammer_core::clock::Clock;

use crate::program::{Program, until};

/// A run whose throughput is that of the service time.
const RUN: [&str; 9] =
    ["run", "null:?service=2ms", "-w", "tpc-b", "--vus", "2", "--rampup", "1s", "--duration"];
/// Microjoules after which a counter begins at 0 again.
const RANGE: u64 = 262_143_328_850;

const CHEAP: &str = "currency = \"EUR\"\nsource = \"offer 7\"\n[[component]]\n\
                     name = \"server\"\nper_hour = 0.36\n";
const DEAR: &str = "currency = \"EUR\"\nsource = \"offer 8\"\n[[component]]\n\
                    name = \"big server\"\nper_hour = 0.72\n";

/// Counters of a host, which grow by 30 W and 5 W until the end of the test.
struct Host {
    sysfs: PathBuf,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

fn write(zone: &Path, file: &str, text: &str) {
    // A reader finds the old or the new counter, as with the kernel.
    let new = zone.join("new");
    // A test may have removed the zone.
    let _ = std::fs::write(&new, format!("{text}\n"));
    let _ = std::fs::rename(new, zone.join(file));
}

impl Host {
    /// Counters that begin again at 0 after four seconds.
    fn new(program: &Program) -> Self {
        Self::beginning(program, RANGE - 4_000_000)
    }

    /// Counters that begin as after this number of microseconds at one watt, times their power.
    fn beginning(program: &Program, first: u64) -> Self {
        let sysfs = program.path("sys");
        let class = sysfs.join("class/powercap");
        let zones = [("intel-rapl:0", "package-0", 30), ("intel-rapl:0:0", "dram", 5)];
        for (zone, name, _) in zones {
            let zone = class.join(zone);
            std::fs::create_dir_all(&zone).unwrap();
            write(&zone, "name", name);
            write(&zone, "enabled", "1");
            write(&zone, "max_energy_range_uj", &RANGE.to_string());
        }
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let clock = Clock::start();
        let count = move || {
            for (zone, _, watts) in zones {
                let zone = class.join(zone);
                if zone.is_dir() {
                    let us = u64::try_from(clock.now().duration().as_micros()).unwrap();
                    let begin = RANGE - (RANGE - first) * watts % RANGE;
                    let joules = (begin + us * watts) % RANGE;
                    write(&zone, "energy_uj", &joules.to_string());
                }
            }
        };
        count();
        let thread = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                count();
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        Self { sysfs, stop, thread: Some(thread) }
    }

    fn path(&self) -> &str {
        self.sysfs.to_str().unwrap()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join);
    }
}

/// An exporter that answers with the text that a function makes of the seconds since its start.
fn exporter(text: impl Fn(f64) -> String + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let clock = Clock::start();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 4096];
            let _ = stream.read(&mut request);
            let body = text(clock.now().duration().as_secs_f64());
            let length = body.len();
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}");
            let _ = stream.write_all(head.as_bytes());
        }
    });
    address
}

fn is_near(value: &Value, expected: f64) -> bool {
    value.as_f64().is_some_and(|value| (value / expected - 1.0).abs() < 0.15)
}

#[test]
fn energy_of_the_timed_window_is_read_from_counters_that_begin_again() {
    let program = Program::new();
    let host = Host::new(&program);
    let args = [&RUN[..], &["6s", "--sysfs", host.path(), "--idle", "5s"]].concat();
    let result = program.json(&args);
    let energy = &result["energy"];
    let source = &energy["sources"][0];
    assert_eq!((&source["kind"], &source["of"]), (&"rapl".into(), &"shared_host".into()));
    assert!(is_near(&source["watts"], 35.0) && is_near(&source["joules"], 210.0), "{energy:#}");
    let figures = &energy["figures"];
    let rate = result["primary_metric"]["count"].as_f64().unwrap() / 6.0;
    assert!(is_near(&figures["joules_per_transaction"], 35.0 / rate), "{energy:#}");
    assert!(is_near(&figures["primary_metric_per_watt"], rate / 35.0), "{energy:#}");
    // The idle host used the same.
    let idle = &figures["above_idle"];
    assert!(is_near(&idle["idle_watts"], 35.0) && is_near(&idle["idle_s"], 5.0), "{energy:#}");
    assert!(idle["watts"].as_f64().unwrap().abs() < 6.0, "{energy:#}");
    assert_eq!(energy["gaps"], Value::Array(Vec::new()), "{energy:#}");
    for format in ["text", "markdown"] {
        let report = program.ok(&["report", "last", "--format", format]);
        for part in ["Energy in the timed window", "package-0", "the idle host"] {
            assert!(report.contains(part), "{part}: {report}");
        }
    }
    let csv = program.ok(&["report", "last", "--format", "observed-csv"]);
    assert!(csv.contains("hw.power"), "{csv}");
    program.ok(&["bundle", "last", "-o", "a.zip"]);
    assert!(program.ok(&["verify", "a.zip"]).contains("Everything agrees."));
}

#[test]
fn a_zone_that_vanishes_leaves_no_figure_and_is_named() {
    let program = Program::new();
    let host = Host::new(&program);
    let zone = host.sysfs.join("class/powercap/intel-rapl:0:0");
    let args = [&RUN[..], &["8s", "--sysfs", host.path(), "--json"]].concat();
    let mut child = program.start(&args);
    program.wait_for_seconds(1, &mut child);
    while std::fs::remove_dir_all(&zone).is_err() && zone.exists() {}
    let done = crate::program::finish(child);
    assert_eq!(done.code, 0, "{}", done.err);
    let energy = serde_json::from_str::<Value>(&done.out).unwrap()["energy"].take();
    let gaps = energy["gaps"].to_string();
    assert!(energy["figures"].is_null() && gaps.contains("dram-0 was read in"), "{energy:#}");
    let report = program.ok(&["report", "last"]);
    assert!(report.contains("energy per transaction is not known"), "{report}");
}

/// A real node exporter that reads the counters of a host.
struct NodeExporter(Child);

impl NodeExporter {
    fn start(host: &Host, address: SocketAddr) -> Self {
        let program = "prometheus-node-exporter";
        let child = Command::new(program)
            .arg(format!("--path.sysfs={}", host.path()))
            .arg(format!("--web.listen-address={address}"))
            .args(["--collector.disable-defaults", "--collector.rapl"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let install = "apt-get install prometheus-node-exporter";
        let child = child.unwrap_or_else(|error| panic!("{program}: {error}; {install}"));
        until("a node exporter", || std::net::TcpStream::connect(address).is_ok());
        Self(child)
    }
}

impl Drop for NodeExporter {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_counters_of_a_real_node_exporter_are_read() {
    let program = Program::new();
    // Where a counter of an exporter begins again is not known, and a reading is lost there.
    let host = Host::beginning(&program, 0);
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let _exporter = NodeExporter::start(&host, address);
    let url = format!("http://{address}/metrics");
    let result = program.json(&[&RUN[..], &["6s", "--host-metrics", &url]].concat());
    let energy = &result["energy"];
    let source = &energy["sources"][0];
    let domains: Vec<_> = source["domains"].as_array().unwrap().iter().collect();
    assert_eq!((&source["kind"], domains.len()), (&"node_exporter".into(), 2), "{energy:#}");
    assert!(is_near(&source["watts"], 35.0), "{energy:#}");
    assert!(energy["figures"]["joules_per_transaction"].is_number(), "{energy:#}");
}

/// What an exporter answers after so many seconds.
type Text = fn(f64) -> String;

#[test]
fn scaphandre_kepler_and_named_metrics_are_read() {
    let program = Program::new();
    let texts: [(&str, Text, &str); 3] = [
        ("scaphandre", |s| format!("scaph_host_energy_microjoules {:.0}\n", 4e7 * s), ""),
        (
            "kepler",
            |s| {
                let line = |zone: &str, watts: f64| {
                    format!("kepler_node_cpu_joules_total{{zone=\"{zone}\"}} {}\n", watts * s)
                };
                line("package", 30.0) + &line("dram", 10.0) + &line("core", 20.0)
            },
            "",
        ),
        (
            "power_metric",
            |_| "plug_watts{plug=\"db1\"} 40\nplug_watts{plug=\"tv\"} 200\n".to_owned(),
            "plug_watts{plug=\"db1\"}",
        ),
    ];
    for (kind, text, metric) in texts {
        let url = format!("http://{}/metrics", exporter(text));
        let mut args = [&RUN[..], &["4s", "--energy-metrics", &url]].concat();
        if !metric.is_empty() {
            args.extend(["--power-metric", metric]);
        }
        let energy = program.json(&args)["energy"].take();
        let source = &energy["sources"][0];
        assert_eq!(source["kind"], kind, "{energy:#}");
        assert!(is_near(&source["watts"], 40.0), "{energy:#}");
        assert!(energy["figures"]["joules_per_transaction"].is_number(), "{energy:#}");
    }
}

#[test]
fn what_cannot_be_read_is_an_error_before_the_run_or_is_said() {
    let program = Program::new();
    let url = format!("http://{}/metrics", exporter(|_| "up 1\n".to_owned()));
    let twice = |_| {
        let line = |at: &str| format!("node_rapl_package_joules_total{{path=\"{at}\"}} 1\n");
        line("intel-rapl:0") + &line("intel-rapl:1")
    };
    let twice = format!("http://{}/metrics", exporter(twice));
    let run = [&RUN[..], &["1s"]].concat();
    for (args, message) in [
        (vec!["--energy-metrics", url.as_str()], "it has none of the metrics node_rapl_"),
        (vec!["--energy-metrics", &url, "--power-metric", "watts"], "it has no metric watts"),
        (vec!["--energy-metrics", &twice], "it has package-0 more than once"),
        (vec!["--power-metric", "watts"], "--power-metric needs the exporter"),
        (vec!["--energy-metrics", &url, "--power-metric", "7"], "expected the name of a metric"),
        (vec!["--energy-metrics", "db1"], "expected a URL"),
        (vec!["--idle", "1s"], "--idle must be from 5s to 1h"),
        (vec!["--sysfs", "nowhere"], "--sysfs nowhere: not a directory"),
    ] {
        let done = program.run(&[&run[..], &args].concat());
        assert_eq!(done.code, 2, "{args:?}: {}", done.err);
        assert!(done.err.contains(message), "{args:?}: {}", done.err);
    }
    assert_eq!(program.ok(&["jobs", "--json"]).trim(), "[]", "nothing is stored");
    std::fs::create_dir(program.path("empty")).unwrap();
    let done = program.run(&[&run[..], &["--sysfs", "empty", "--idle", "5s"]].concat());
    assert!(done.code == 0 && done.err.contains("no energy can be read"), "{}", done.err);
    let report = program.ok(&["report", "last"]);
    assert!(report.contains("this host shows no energy counters"), "{report}");
    let energy = program.json(&run)["energy"].take();
    let is_read = !energy["sources"].as_array().is_none_or(Vec::is_empty);
    assert!(energy.is_null() || is_read, "nobody asked for it: {energy:#}");
    let doctor = program.run(&["doctor", "--sysfs", "empty"]).out;
    assert!(doctor.contains("energy_counters"), "{doctor}");
    let host = Host::new(&program);
    let doctor = program.run(&["doctor", "--sysfs", host.path()]).out;
    assert!(doctor.contains("package-0, dram-0"), "{doctor}");
}

#[test]
fn a_run_is_priced_at_once_and_again_later() {
    let program = Program::new();
    std::fs::write(program.path("cheap.toml"), CHEAP).unwrap();
    std::fs::write(program.path("dear.toml"), DEAR).unwrap();
    let result = program.json(&[&RUN[..], &["8s", "--price", "cheap.toml"]].concat());
    let rate = result["primary_metric"]["count"].as_f64().unwrap() / 8.0;
    let per_million = &result["price"]["per_million"];
    let expected = 0.36 / (rate * 3_600.0) * 1e6;
    let is_equal = |value: &Value, to: f64| (value.as_f64().unwrap() / to - 1.0).abs() < 1e-9;
    assert!(is_equal(&per_million["value"], expected), "{result:#}");
    assert!(is_equal(&result["price"]["per_year"], 0.36 * 8_760.0));
    let stored = program.ok(&["report", "1"]);
    assert!(stored.contains("EUR per year") && stored.contains("offer 7"), "{stored}");
    let again = program.ok(&["report", "1", "--format", "json", "--price", "dear.toml"]);
    let again: Value = serde_json::from_str(&again).unwrap();
    assert!(is_equal(&again["price"]["per_million"]["value"], 2.0 * expected), "{again:#}");
    for format in ["text", "markdown", "html"] {
        let report = program.ok(&["report", "1", "--format", format, "--price", "dear.toml"]);
        assert!(report.contains("offer 8"), "{format}");
    }
    program.ok(&[&RUN[..], &["8s", "--label", "night"]].concat());
    let compare = ["compare", "1", "2", "--b", "price=dear.toml"];
    let compared = program.ok(&compare);
    assert!(compared.contains("per million transactions committed"), "{compared}");
    let done = program.run(&["compare", "1", "2", "--a", "price=dear.toml"]);
    assert!(done.code == 2 && done.err.contains("B has no price list"), "{}", done.err);
    let done = program.run(&["compare", "1", "2", "--a", "vus=3"]);
    assert!(done.code == 2 && done.err.contains("applies to new runs only"), "{}", done.err);
    let history = program.ok(&["history", "night", "--price", "cheap.toml"]);
    assert!(history.contains("EUR per million"), "{history}");
    program.ok(&["bundle", "1", "-o", "a.zip"]);
    assert!(program.ok(&["verify", "a.zip"]).contains("Everything agrees."));
}

#[test]
fn the_cheapest_level_of_a_profile_keeps_the_requirement() {
    let program = Program::new();
    std::fs::write(program.path("cheap.toml"), CHEAP).unwrap();
    let profile = |required: &str| {
        let args = [
            &["profile", "null:?service=5ms", "-w", "tpc-b", "--vus", "1,2,4"][..],
            &["--rampup", "0s", "--duration", "2s", "--repeats", "1", "--cool-down", "0s"],
            &["--price", "cheap.toml", "--require", required],
        ];
        program.json(&args.concat())
    };
    let found = profile("all.p50 < 1s");
    let cheapest = &found["price"]["cheapest"];
    assert_eq!((&cheapest["users"], &cheapest["required"]), (&4.into(), &"all.p50 < 1s".into()));
    let costs: Vec<f64> = found["levels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|level| level["per_million"]["value"].as_f64().unwrap())
        .collect();
    assert!(costs[0] > costs[1] && costs[1] > costs[2], "{costs:?}");
    // One worker does the same for two and for four users.
    let limited = ["profile", "null:?service=exp(5ms)&workers=1", "-w", "tpc-b", "--vus", "2,4"];
    let length = ["--rampup", "1s", "--duration", "4s", "--repeats", "3", "--cool-down", "0s"];
    let priced = [&limited[..], &length, &["--price", "cheap.toml"]].concat();
    let limited = program.json(&priced);
    let cheapest = &limited["price"]["cheapest"];
    let other = if cheapest["users"] == 2 { 4 } else { 2 };
    assert_eq!(cheapest["alike"], serde_json::json!([other]), "{:#}", limited["levels"]);
    let found = profile("tps < 80");
    assert_eq!(found["price"]["cheapest"]["users"], 2, "{:#}", found["levels"]);
    let report = program.ok(&["report", "last"]);
    assert!(report.contains("the cheapest level that keeps tps < 80 is"), "{report}");
    assert!(report.contains("not kept") && report.contains("EUR per million"), "{report}");
    program.ok(&["bundle", "last", "-o", "a.zip"]);
    assert!(program.ok(&["verify", "a.zip"]).contains("Everything agrees."));
}

#[test]
fn energy_is_not_compared_at_different_rates() {
    let program = Program::new();
    let host = Host::new(&program);
    let run = |rate: &str| {
        let run =
            ["run", "null:", "-w", "tpc-b", "--vus", "4", "--rampup", "1s", "--duration", "4s"];
        let load = ["--load", rate, "--sysfs", host.path()];
        program.ok(&[&run[..], &load].concat());
    };
    run("rate:200/s,constant");
    run("rate:200/s,constant");
    run("rate:400/s,constant");
    let alike = program.json(&["compare", "1", "2"])["energy"].take();
    assert!(is_near(&alike["ratio"], 1.0), "{alike:#}");
    let other = program.json(&["compare", "1", "3"])["energy"].take();
    let words = other["words"].as_str().unwrap();
    assert!(other["ratio"].is_null() && words.contains("equal rates only"), "{other:#}");
    assert!(program.ok(&["compare", "1", "3"]).contains("equal rates only"));
}

#[test]
fn a_bad_price_file_is_an_error_before_anything_runs() {
    let program = Program::new();
    let of = |text: String, message: &'static str| (text, message);
    let cases = [
        of(CHEAP.replace("per_hour", "per_day"), "unknown field `per_day`"),
        of(CHEAP.replace("0.36", "-0.36"), "price -0.36: expected 0 to 1e12"),
        of(CHEAP.replace("0.36", "1e400"), "price"),
        of(CHEAP.replace("source = \"offer 7\"\n", ""), "no source"),
        of(CHEAP.replace("per_hour = 0.36", "once = 1\nyears = 0"), "years 0"),
        of(format!("{CHEAP}currency = \"USD\"\n"), "currency USD, but the file has EUR"),
        of(CHEAP.replace("EUR", "euros"), "currency `euros`"),
        of(String::new(), "missing field `currency`"),
        of("x".repeat(100_000), "longer than 64 KiB"),
    ];
    program.ok(&[&RUN[..], &["1s"]].concat());
    for (text, message) in cases {
        std::fs::write(program.path("bad.toml"), text).unwrap();
        for command in [&[&RUN[..], &["1s"]].concat()[..], &["report", "last"], &["history", "x"]] {
            let done = program.run(&[command, &["--price", "bad.toml"]].concat());
            assert_eq!(done.code, 2, "{message}: {command:?}: {}", done.err);
            assert!(done.err.contains(message) && done.err.contains("bad.toml"), "{}", done.err);
        }
    }
    let done = program.run(&["report", "last", "--price", "nowhere.toml"]);
    assert!(done.code == 2 && done.err.contains("nowhere.toml"), "{}", done.err);
    let jobs = program.json(&["jobs"]);
    assert_eq!(jobs.as_array().unwrap().len(), 1, "no other run took place");
}
