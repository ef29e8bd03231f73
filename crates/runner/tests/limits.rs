//! Bottlenecks of runs: each verdict from a real run with that bottleneck.
//!
//! Other programs share these CPUs, so each run is extreme, and for runs that need CPU, the verdict
//! that other processes were the cause is accepted too.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do: with a panic")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use triphammer_core::workload::WorkloadSettings;
use triphammer_document::result::{Bottleneck, BottleneckVerdict, Cause, RunResult};
use triphammer_runner::build::build;
use triphammer_runner::build_request::BuildRequest;
use triphammer_runner::run::Resolved;
use triphammer_runner::watch::{JobEvent, Watch, Watcher};
use triphammer_settings::command::JobKind;
use triphammer_settings::handle::Handle;
use triphammer_settings::target::{self, NoSecrets, Target};
use triphammer_settings::{Settings, Source};
use triphammer_testbed::{PostgresServer, Proxy};
use triphammer_workloads::AnyWorkload;
use triphammer_workloads::tproc_c::TprocC;

/// One run at a time: they measure this host.
static ALONE: Mutex<()> = Mutex::new(());

struct Nobody;

impl Watcher for Nobody {
    fn on_event(&mut self, event: JobEvent<'_>) {
        // The servers of tests do not wait for their disks, of which a run warns.
        if let JobEvent::Warning(text) = event
            && !text.contains("; to change it: ")
        {
            panic!("{text}");
        }
    }
}

fn open(given: &[(&str, &str)]) -> (Settings, Target) {
    let mut settings = Settings::new(JobKind::Run);
    for (name, value) in given {
        settings.set(name, *value, Source::Flag);
    }
    let workload = triphammer_workloads::describe("tproc-c").unwrap();
    let target = target::open(&mut settings, Some(&workload), &NoSecrets).unwrap();
    (settings, target)
}

/// Serialises the tests, because they would disturb one another.
fn alone() -> std::sync::MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn run(given: &[(&str, &str)]) -> BottleneckVerdict {
    let _alone = alone();
    measure(given)
}

fn measure(given: &[(&str, &str)]) -> BottleneckVerdict {
    let (mut settings, target) = open(given);
    let workload = TprocC::describe();
    let mut nobody = Nobody;
    let watch = Watch::new(&mut nobody);
    let resolved = Resolved::new(&mut settings, &workload, &target, &watch, false).unwrap();
    let result: RunResult = resolved.run(&settings, None, &Handle::default(), &watch).unwrap();
    assert_eq!(result.run.total.failed, 0, "{:?}", result.errors);
    let limited = result.bottleneck;
    eprintln!("{limited:?}");
    limited
}

/// Whether the run found that other programs used the CPUs, and its figures prove it.
fn is_of_others(limited: &BottleneckVerdict) -> bool {
    limited.cause == Some(Cause::OtherProcesses)
        && limited.figures.other_cpus.is_some_and(|cpus| cpus > 0.3)
}

/// A database of one warehouse, and its URL.
fn built(server: &PostgresServer, name: &str) -> String {
    let url = server.fresh_database(name).unwrap();
    let (_, target) = open(&[("target", &url)]);
    let settings =
        WorkloadSettings { scale: 1.into(), data_seed: 1, ..WorkloadSettings::default() };
    let request = BuildRequest {
        workload: Arc::new(AnyWorkload::new("tproc-c", &settings).unwrap()),
        settings,
        dialect_options: Default::default(),
        jobs: 2,
        add: false,
        replace: false,
        force: false,
        create_database: false,
        observe: None,
        host_exporter: None,
        hosts: None,
        connect_limit: Duration::from_secs(10),
        cancel: triphammer_settings::cancel::Cancel::default(),
    };
    build(&target.database, &request, &Watch::new(&mut Nobody), &mut || None).unwrap();
    url
}

#[test]
fn a_client_that_never_rests_is_client_bound() {
    let given =
        [("target", "null:"), ("vus", "2"), ("threads", "1"), ("rampup", "0s"), ("duration", "3s")];
    let limited = run(&given);
    assert!(limited.kind == Bottleneck::Client || is_of_others(&limited), "{limited:?}");
    let figures = limited.figures;
    let ready = figures.busiest_thread_share + figures.busiest_thread_wait_share.unwrap();
    assert!(ready > 0.5, "{figures:?}");
    assert_eq!(limited.figures.round_trip_us, None);
}

#[test]
fn a_slow_database_is_database_bound() {
    let given = [
        ("target", "null:?service=200ms"),
        ("vus", "40"),
        ("threads", "1"),
        ("rampup", "1s"),
        ("duration", "4s"),
    ];
    let limited = run(&given);
    assert_eq!(limited.kind, Bottleneck::Database, "{limited:?}");
    assert!(limited.figures.sessions_busy_share > 0.8);
    assert!(limited.figures.lag_samples > 10);
}

#[test]
fn a_load_that_leaves_its_sessions_idle_is_the_limit() {
    let given = [
        ("target", "null:?service=1ms"),
        ("load", "rate:100/s"),
        ("vus", "40"),
        ("mode", "procedures"),
        ("rampup", "0s"),
        ("duration", "4s"),
    ];
    let limited = run(&given);
    assert_eq!(limited.kind, Bottleneck::Load, "{limited:?}");
    assert!(limited.words.contains("it offered no more work"), "{}", limited.words);
}

#[test]
fn a_short_run_is_undecided() {
    let given = [("target", "null:"), ("vus", "1"), ("rampup", "0s"), ("duration", "1s")];
    let limited = run(&given);
    assert_eq!(limited.kind, Bottleneck::Undecided);
    assert!(limited.advice.contains("run longer"), "{}", limited.advice);
}

#[test]
fn a_distant_server_is_network_bound() {
    let server = PostgresServer::shared();
    let url = built(server, "distant");
    let proxy = Proxy::start(server.port());
    let distant = url.replace(&format!(":{}/", server.port()), &format!(":{}/", proxy.port()));
    assert_ne!(distant, url);
    proxy.delay(Duration::from_millis(50));
    let given = [
        ("target", distant.as_str()),
        ("vus", "8"),
        ("threads", "1"),
        ("mode", "procedures"),
        ("rampup", "1s"),
        ("duration", "5s"),
    ];
    let limited = run(&given);
    assert!(limited.kind == Bottleneck::Network || is_of_others(&limited), "{limited:?}");
    let figures = limited.figures;
    assert!((100_000..400_000).contains(&figures.round_trip_us.unwrap()), "{figures:?}");
    assert!((0.2..1.5).contains(&figures.network_share.unwrap()), "{figures:?}");
    assert!(figures.round_trip_samples >= 1);
}

#[test]
fn a_server_that_has_all_cpus_of_its_clients_host_is_host_bound() {
    let server = PostgresServer::shared();
    let url = built(server, "saturated");
    let database = url.rsplit('/').next().unwrap();
    // In FROM, the series would go to a file first, and burn the disk.
    let burn = "SELECT count(n) FROM (SELECT generate_series(1, 100000000000) AS n) AS series";
    let cores = std::thread::available_parallelism().unwrap().get();
    let _alone = alone();
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| server.run(database, burn));
        }
        let given = [
            ("target", url.as_str()),
            ("vus", "4"),
            ("threads", "2"),
            ("mode", "procedures"),
            ("rampup", "1s"),
            ("duration", "5s"),
        ];
        let limited = std::panic::catch_unwind(|| measure(&given));
        let stop = format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = '{burn}'"
        );
        server.run("postgres", &stop).unwrap();
        let limited = limited.unwrap();
        assert_eq!(limited.kind, Bottleneck::Host, "{limited:?}");
        // The burners are the server's own sessions.
        assert!(limited.figures.server_cpus.unwrap() > 0.2, "{limited:?}");
        assert!(limited.figures.server_waiting.unwrap() > 0.5, "{limited:?}");
    });
}
