//! Runs spread over several processes (`--cluster local`): what a share does with a Ray cluster,
//! through the same processes and messages, without Ray.

use std::process::{Child, Command};
use std::time::Duration;

use serde_json::Value;
use triphammer_core::clock::Clock;
use triphammer_runner::cluster::{Programs, use_programs};
use triphammer_runner::job::{Job, Order};
use triphammer_runner::watch::Silent;
use triphammer_settings::command::JobKind;
use triphammer_settings::target::NoSecrets;
use triphammer_settings::{Settings, Source};
use triphammer_testbed::{MariadbServer, PostgresOptions, PostgresServer};

use crate::program::{Messages, Program, finish, signal, wait_until};

const LOCAL: [&str; 4] = ["--cluster", "local", "--hosts", "3"];

fn with<'a>(args: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [args, more].concat()
}

/// The figures of the transaction types of a whole run that depend on the inputs only.
fn counts(result: &Value) -> Vec<Value> {
    let types = result["run"]["types"].as_array().unwrap();
    let names =
        ["name", "started", "committed", "rolled_back", "failed", "indeterminate", "counter"];
    types.iter().map(|of_type| names.iter().map(|name| of_type[name].clone()).collect()).collect()
}

#[test]
fn three_processes_run_the_transactions_of_one() {
    let program = Program::new();
    let run =
        ["run", "null:", "-w", "tproc-c", "--scale", "7", "--vus", "7", "--transactions", "300"];
    let alone = program.json(&run);
    let shared = program.json(&with(&run, &LOCAL));
    assert_eq!(counts(&shared), counts(&alone));
    assert_eq!(shared["round_trips"], alone["round_trips"]);
    assert_eq!((&shared["status"], &shared["spec"]["users"]), (&alone["status"], &7.into()));
    assert_eq!(shared["violated_identities"], Value::Array(Vec::new()));
    assert_eq!(alone["hosts"], Value::Array(Vec::new()));
    let hosts = shared["hosts"].as_array().unwrap();
    let sessions: Vec<_> = hosts.iter().map(|host| host["sessions"].as_u64().unwrap()).collect();
    assert_eq!(sessions, [2, 2, 3]);
    let completed: u64 = hosts.iter().map(|host| host["completed"].as_u64().unwrap()).sum();
    assert_eq!(shared["window"]["total"]["completed"], completed);
    for host in hosts {
        assert!(host["loss"].is_null() && host["start_late_ms"].as_f64().unwrap() >= 0.0);
        assert!(host["clock_error_ms"].as_f64().unwrap() >= 0.0 && host["bottleneck"].is_object());
    }
}

#[test]
fn a_run_by_processes_is_verified_by_the_database_and_reported() {
    let server = PostgresServer::start(PostgresOptions::default()).unwrap();
    let target = server.fresh_database("cluster").unwrap();
    let program = Program::new();
    program.ok(&["build", &target, "-w", "tpc-b"]);
    let run = ["run", &target, "-w", "tpc-b", "--rampup", "1s", "--duration", "3s"];
    let run = with(&run, &["--vus", "4", "--cluster", "local"]);
    let out = program.ok(&run);
    assert!(out.contains("verified"), "{out}");
    let stored: Value =
        serde_json::from_str(&program.ok(&["report", "last", "--format", "json"])).unwrap();
    assert_eq!(stored["primary_metric"]["verification"]["verdict"], "verified");
    assert_eq!(stored["hosts"].as_array().unwrap().len(), 2);
    let text = program.ok(&["report", "last"]);
    assert!(text.contains("Hosts") && text.contains("limited by"), "{text}");
}

#[test]
fn the_runs_of_a_campaign_are_shared_too() {
    let program = Program::new();
    let profile = ["profile", "null:?service=2ms", "-w", "tpc-b", "--vus", "1,4"];
    let lengths = ["--rampup", "0s", "--duration", "2s", "--repeats", "1", "--cool-down", "0s"];
    program.ok(&with(&with(&profile, &lengths), &["--cluster", "local"]));
    assert_eq!(program.number("jobs.sqlite", "SELECT count(*) FROM jobs WHERE kind = 'run'"), 2);
    let run: Value =
        serde_json::from_str(&program.ok(&["report", "2", "--format", "json"])).unwrap();
    let hosts = run["hosts"].as_array().unwrap().len();
    assert_eq!(
        hosts as u64,
        run["spec"]["users"].as_u64().unwrap().min(2),
        "no host without users"
    );
}

/// Builds two warehouses by three processes, and checks them: the data is that of one process.
fn build_by_processes(target: &str) {
    let program = Program::new();
    let build = ["build", target, "--scale", "2", "--jobs", "3"];
    let built = program.json(&with(&build, &LOCAL));
    assert_eq!((&built["outcome"], &built["jobs"]), (&"built".into(), &3.into()));
    let hosts = built["hosts"].as_array().unwrap();
    assert_eq!(hosts.iter().map(|host| host["jobs"].as_u64().unwrap()).collect::<Vec<_>>(), [1; 3]);
    let rows: Vec<_> = hosts.iter().map(|host| host["rows"].as_u64().unwrap()).collect();
    assert!(rows.iter().all(|rows| *rows > 0), "{rows:?}");
    assert_eq!(built["rows"], rows.iter().sum::<u64>());
    let checked = program.ok(&["check", target]);
    assert!(!checked.contains("VIOLATED"), "{checked}");
    let text = program.ok(&["report", "1"]);
    assert!(text.contains("#3: ") && text.contains(" 1 job, CPU "), "{text}");
    // Nothing is left to load.
    assert_eq!(program.json(&with(&build, &LOCAL))["outcome"], "already built");
}

#[test]
#[ignore = "slow: tools/test-matrix.py slow"]
fn processes_build_what_one_does_on_postgresql() {
    let server = PostgresServer::shared();
    let target = server.fresh_database("hosts").unwrap();
    build_by_processes(&target);
    let alone = server.fresh_database("alone").unwrap();
    Program::new().ok(&["build", &alone, "--scale", "2"]);
    let sums = |target: &str| {
        let sql = "SELECT count(*), sum(s_quantity), md5(string_agg(s_data, '' ORDER BY s_w_id, s_i_id)) FROM stock";
        server.run(database_of(target), sql).unwrap()
    };
    assert_eq!(sums(&target), sums(&alone));
}

#[test]
#[ignore = "slow: tools/test-matrix.py slow"]
fn processes_build_on_mariadb() {
    build_by_processes(&MariadbServer::shared().fresh_database("hosts").unwrap());
}

/// The database that a URL names.
fn database_of(target: &str) -> &str {
    let path = target.split('?').next().unwrap();
    path.rsplit('/').next().unwrap()
}

/// Chunks of tpc-b at scale 24, one per branch.
const CHUNKS: i64 = 24;

#[test]
fn a_build_that_loses_a_process_can_be_resumed() {
    let server = PostgresServer::shared();
    let target = server.fresh_database("lost_loader").unwrap();
    let program = Program::new();
    let build = ["build", &target, "-w", "tpc-b", "--scale", "24", "--jobs", "3"];
    let mut child = program.start(&with(&build, &LOCAL));
    // Fails until the table exists.
    let sql = "SELECT count(*) FROM triphammer_build WHERE item LIKE 'part/%'";
    let loaded = || match server.run(database_of(&target), sql) {
        Ok(rows) => rows[0][0].as_deref().unwrap().parse::<i64>().unwrap(),
        Err(_) => 0,
    };
    wait_until(&mut child, "chunks", || loaded() >= 2);
    kill(children(&child)[1]);
    let done = finish(child);
    assert_eq!(done.code, 2, "{}", done.out);
    assert!(done.err.contains("its process ended; what was loaded is kept"), "{}", done.err);
    let kept = loaded();
    assert!((2..CHUNKS).contains(&kept), "{kept} of {CHUNKS} chunks");
    let resumed = program.json(&with(&build, &LOCAL));
    assert_eq!(resumed["outcome"], "resumed");
    assert_eq!(loaded(), CHUNKS);
    program.ok(&["check", &target, "-w", "tpc-b"]);
}

#[test]
fn an_interrupt_ends_all_processes_of_a_build() {
    let server = PostgresServer::shared();
    let target = server.fresh_database("stopped_loaders").unwrap();
    let program = Program::new();
    let build = ["build", &target, "-w", "tpc-b", "--scale", "24"];
    let mut child = program.start(&with(&build, &LOCAL));
    wait_until(&mut child, "processes", || {
        let sql = "SELECT 1 FROM triphammer_build WHERE item LIKE 'part/%'";
        server.run(database_of(&target), sql).is_ok_and(|rows| !rows.is_empty())
    });
    let shares = children(&child);
    assert_eq!(shares.len(), 3);
    signal(&child, "INT");
    let done = finish(child);
    assert_eq!(done.code, 130, "{}", done.err);
    // They notice that nobody reads what they write.
    let clock = Clock::start();
    while shares.iter().any(|id| std::path::Path::new(&format!("/proc/{id}")).exists()) {
        assert!(clock.now().second() < 60, "processes are left behind");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(program.json(&with(&build, &LOCAL))["outcome"], "resumed");
}

#[test]
fn a_build_by_hosts_is_refused_where_one_process_must_write() {
    let program = Program::new();
    let build = |more: &[&str]| {
        let done = program.run(&with(&["build", "--cluster", "local"], more));
        assert_eq!(done.code, 2, "{more:?}: {}", done.err);
        done.err
    };
    let err = build(&["sqlite:x.sqlite"]);
    assert!(err.contains("this database is written to by one process; omit --cluster"), "{err}");
    assert!(!program.path("x.sqlite").exists());
    let err = build(&["postgres://127.0.0.1/x", "--on-host-loss", "abort"]);
    assert!(err.contains("--on-host-loss"), "{err}");
}

/// The processes that a program has started.
fn children(of: &Child) -> Vec<u32> {
    let id = of.id();
    let read = |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("children"));
    let tasks = std::fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten();
    let lists = tasks.flatten().filter_map(|task| read(task).ok());
    lists
        .flat_map(|list| list.split_whitespace().map(|id| id.parse().unwrap()).collect::<Vec<_>>())
        .collect()
}

fn kill(process: u32) {
    let sent = Command::new("kill").args(["-KILL", &process.to_string()]).status();
    assert!(sent.unwrap().success());
}

/// A run of three processes, two seconds after its start.
fn long(program: &Program, more: &[&str]) -> Child {
    let run = ["run", "null:?service=5ms", "-w", "tpc-b", "--vus", "6", "--rampup", "0s"];
    let run = with(&run, &["--progress", "1s", "--json"]);
    let mut child = program.start(&with(&run, &with(&LOCAL, more)));
    Messages::by(&mut child).wait_for("progress: 2s");
    child
}

#[test]
fn a_killed_share_is_reported_and_its_run_does_not_pass() {
    let program = Program::new();
    let child = long(&program, &["--duration", "9s"]);
    let shares = children(&child);
    assert_eq!(shares.len(), 3);
    kill(shares[1]);
    let done = finish(child);
    assert_eq!(done.code, 1, "{}", done.err);
    let result: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(
        (&result["status"], &result["violated_identities"]),
        (&"complete".into(), &Value::Array(Vec::new()))
    );
    let lost: Vec<_> =
        result["hosts"].as_array().unwrap().iter().filter(|host| !host["loss"].is_null()).collect();
    assert_eq!(lost.len(), 1);
    let in_doubt = &lost[0]["loss"]["in_doubt"];
    assert!(in_doubt.as_u64().unwrap() <= 2, "{in_doubt}");
    assert_eq!(&result["run"]["total"]["indeterminate"], in_doubt);
    let warned =
        |kind: &str| result["warnings"].as_array().unwrap().iter().any(|one| one["kind"] == kind);
    assert!(warned("host_lost"), "{}", result["warnings"]);
    let per_transaction = result["round_trips"]["per_transaction"].as_f64().unwrap();
    let whole = per_transaction.round();
    assert!((per_transaction - whole).abs() < 0.01, "the same for each: {per_transaction}");
    assert_eq!(result["durations"]["window_s"], 9.0);
}

#[test]
fn a_killed_share_ends_the_run_if_it_is_to() {
    let program = Program::new();
    let child = long(&program, &["--duration", "300s", "--on-host-loss", "abort"]);
    kill(children(&child)[0]);
    let done = finish(child);
    let result: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!((done.code, &result["status"]), (1, &"aborted".into()));
    let window = result["durations"]["window_s"].as_f64().unwrap();
    assert!(window < 290.0, "the window ends with the run: {window}");
}

#[test]
fn shares_end_with_their_coordinator() {
    let program = Program::new();
    let mut child = long(&program, &["--duration", "300s"]);
    let shares = children(&child);
    child.kill().unwrap();
    child.wait().unwrap();
    let clock = Clock::start();
    let is_there = |id: &u32| {
        std::fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
    };
    while shares.iter().any(is_there) {
        assert!(clock.now().second() < 60, "a share still runs");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn an_interrupt_ends_all_shares_in_order() {
    let program = Program::new();
    let child = long(&program, &["--duration", "300s"]);
    signal(&child, "INT");
    let done = finish(child);
    let result: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!((done.code, &result["status"]), (130, &"interrupted".into()));
    assert!(result["hosts"].as_array().unwrap().iter().all(|host| host["loss"].is_null()));
}

#[test]
fn what_cannot_be_shared_is_refused_with_the_reason() {
    let program = Program::new();
    let refusals = [
        (&["--hosts", "2"][..], "--hosts applies to a cluster: give --cluster too"),
        (
            &["--cluster", "head:10001"],
            "expected the address of a Ray cluster, such as ray://head:10001",
        ),
        (&["--cluster", "local", "--hosts", "0"], "expected a number from 1 to 1000"),
        (&["--cluster", "local", "--on-host-loss", "weep"], "expected continue or abort"),
        (&["--cluster", "ray://localhost:1"], "pip install 'triphammer[ray]'"),
    ];
    for (more, reason) in refusals {
        let run = ["run", "null:", "-w", "tpc-b", "--vus", "4", "--duration", "1s"];
        let done = program.run(&with(&run, more));
        assert_eq!(done.code, 2, "{more:?}: {}", done.err);
        assert!(done.err.contains(reason), "{more:?}: {}", done.err);
    }
    let sqlite = ["run", "sqlite:x.sqlite", "--cluster", "auto"];
    program.ok(&["build", "sqlite:x.sqlite", "--scale", "1"]);
    let done = program.run(&sqlite);
    assert!(
        done.code == 2 && done.err.contains("this database is a file of this host"),
        "{}",
        done.err
    );
}

/// The only test here that runs the library in this process, whose programs it names.
#[test]
fn another_version_is_reported_before_anything_starts() {
    let program = Program::new();
    let hello = br#"{"hello":{"version":"0.0.1","host":"old","cpus":1,"boot":""}}"#;
    let length = u32::try_from(hello.len()).unwrap().to_be_bytes();
    let frame = [&[0; 4][..], &length, hello].concat();
    std::fs::write(program.path("hello"), frame).unwrap();
    let script = format!(
        "cat {}; cat > {}",
        program.path("hello").display(),
        program.path("received").display()
    );
    use_programs(Programs { this: ["sh", "-c", &script].map(Into::into).to_vec(), bridge: None });
    let mut settings = Settings::new(JobKind::Run);
    for (name, value) in
        [("target", "null:"), ("workload", "tpc-b"), ("vus", "4"), ("cluster", "local")]
    {
        settings.set(name, value, Source::Flag);
    }
    settings.set("store", program.path("jobs.sqlite").to_str().unwrap(), Source::Flag);
    let mut job = Job::new(Order::new(settings, &NoSecrets)).unwrap();
    let failure = job.run(&mut Silent).unwrap_err().to_string();
    let own = env!("CARGO_PKG_VERSION");
    let expected = format!(
        "all hosts need version {own} of triphammer, as here, but old has 0.0.1, old has 0.0.1"
    );
    assert!(failure.starts_with(&expected), "{failure}");
    assert_eq!(
        std::fs::read(program.path("received")).unwrap_or_default(),
        b"",
        "nothing was sent"
    );
}
