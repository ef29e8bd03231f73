//! What observers do only on request: the log probe, and captures. Also observers of a
//! server that answers late.

use std::process::Command;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use triphammer_testbed::{MariadbOptions, MariadbServer, PostgresOptions, PostgresServer, Proxy};

use crate::holder::Holder;
use crate::observe::{as_user, gaps, observed, unread};
use crate::program::{Messages, Program, finish, signal};
use crate::servers::{Mariadb, Postgres, Product, Site, name_of};

/// Tables that a probe left in a database.
const LEFT: &str = "SELECT table_name FROM information_schema.tables
    WHERE table_name LIKE 'triphammer_doctor%'";

/// The commits of a probe beside a run of 4 s: their times fit each other.
fn assert_probed(seen: &Value) {
    let probe = &seen["log_probe"];
    let count = probe["times"]["count"].as_u64().unwrap();
    assert!((10..=42).contains(&count), "ten per second: {probe:#}");
    let classes = probe["histogram"].as_array().unwrap();
    let commits: u64 = classes.iter().map(|class| class["commits"].as_u64().unwrap()).sum();
    assert_eq!(commits, count, "{probe:#}");
    let time = |name: &str| probe["times"][name].as_f64().unwrap();
    assert!(time("p50_us") <= time("p99_us") && time("p99_us") <= time("max_us"), "{probe:#}");
    assert_eq!(probe["failed"], 0, "{probe:#}");
    let gaps: Vec<_> = gaps(seen).into_iter().map(|(name, _)| name).collect();
    assert!(!gaps.contains(&"log_probe"), "{seen:#}");
}

const PROBED: [&str; 7] = ["--vus", "2", "--rampup", "0s", "--duration", "4s", "--log-probe"];

#[test]
fn the_log_probe_times_its_own_commits_and_leaves_nothing_on_postgres() {
    let program = Program::new();
    let server = PostgresServer::shared();
    let target = server.fresh_database("probe").unwrap();
    program.ok(&["build", &target, "-w", "tpc-b"]);
    let document = program.json(&[&["run", &target][..], &PROBED[..]].concat());
    let seen = &document["observed"];
    assert_probed(seen);
    assert!(server.run(name_of(&target), LEFT).unwrap().is_empty());
    let statements = seen["sessions"]["statements"].as_array().unwrap();
    let is_probe = |of: &Value| of["statement"].as_str().unwrap().contains("triphammer_doctor");
    assert!(!statements.iter().any(is_probe), "its session is not one of the run: {seen:#}");
    let schema = document["schema"].as_array().unwrap();
    let is_probe = |of: &Value| of["table"].as_str().unwrap().starts_with("triphammer_doctor");
    assert!(!schema.is_empty() && !schema.iter().any(is_probe), "{schema:#?}");
    let samples = "SELECT count(*) FROM samples WHERE metric = 'db.client.log_probe.duration'
        AND labels LIKE '%max%' AND value > 0";
    assert!(program.number("jobs.sqlite", samples) >= 3);
    let report = program.ok(&["report", "last"]);
    assert!(report.contains("triphammer's own small transaction"), "{report}");
    assert!(report.lines().all(|line| line.chars().count() <= 80), "{report}");
}

#[test]
fn the_log_probe_works_on_mariadb() {
    let program = Program::new();
    let server = MariadbServer::shared();
    let target = server.fresh_database("probe").unwrap();
    program.ok(&["build", &target, "-w", "tpc-b"]);
    assert_probed(&observed(&program, &target, &PROBED));
    assert!(server.run(name_of(&target), LEFT).unwrap().is_empty());
}

#[test]
fn the_log_probe_works_on_sqlite() {
    let program = Program::new();
    program.ok(&["build", "sqlite:a.sqlite", "-w", "tpc-b"]);
    let document = program.json(&[&["run", "sqlite:a.sqlite"][..], &PROBED[..]].concat());
    let count = document["observed"]["log_probe"]["times"]["count"].as_u64().unwrap();
    assert!(count >= 1, "{:#}", document["observed"]);
    let left = "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'triphammer_doctor%'";
    assert_eq!(program.number("a.sqlite", left), 0);
}

#[test]
fn the_table_of_a_log_probe_goes_after_ctrl_c_on_postgres() {
    let program = Program::new();
    let server = PostgresServer::shared();
    let target = server.fresh_database("probe").unwrap();
    program.ok(&["build", &target, "-w", "tpc-b"]);
    let args = ["run", &target, "--vus", "1", "--rampup", "0s", "--duration", "1m", "--log-probe"];
    for signals in [1, 2] {
        let mut run = program.start(&args);
        let mut told = Messages::by(&mut run);
        told.wait_for("timed");
        assert_eq!(server.run(name_of(&target), LEFT).unwrap().len(), 1);
        signal(&run, "INT");
        if signals == 2 {
            told.wait_for_interrupt();
            // The run may have ended by the first one.
            let _ = Command::new("kill").args(["-INT", &run.id().to_string()]).status();
        }
        assert_eq!(finish(run).code, 130);
        assert!(server.run(name_of(&target), LEFT).unwrap().is_empty(), "{signals} × Ctrl-C");
    }
}

#[test]
fn a_log_probe_without_the_right_to_create_tables_is_refused_on_postgres() {
    let program = Program::new();
    let server = PostgresServer::start(PostgresOptions::default()).unwrap();
    let target = server.fresh_database("refused").unwrap();
    program.ok(&["build", &target, "-w", "tpc-b"]);
    let jobs = program.number("jobs.sqlite", "SELECT count(*) FROM jobs");
    let role = "CREATE ROLE reader LOGIN PASSWORD 'r';
        GRANT ALL ON ALL TABLES IN SCHEMA public TO reader;
        REVOKE CREATE ON SCHEMA public FROM PUBLIC";
    server.run(name_of(&target), role).unwrap();
    let reader = as_user(&target, "reader");
    let done = program.run(&[&["run", &reader][..], &PROBED[..]].concat());
    assert_eq!(done.code, 2, "{}", done.err);
    assert!(done.err.contains("it needs GRANT CREATE ON SCHEMA public TO reader;"), "{}", done.err);
    assert!(done.err.contains("omit --log-probe"), "{}", done.err);
    assert_eq!(program.number("jobs.sqlite", "SELECT count(*) FROM jobs"), jobs, "not stored");
}

/// A run that is stopped by the lock of another session; returns its capture.
fn captured(program: &Program, product: Product, lock: &str) -> Value {
    let site = Site::shared(product);
    let target = Site::built(product);
    let args = ["run", &target, "--vus", "4", "--mix", "0,100,0,0,0", "--rampup", "0s"];
    let capture = ["--capture-on", "tpm < 1, all.p95 > 10min", "--progress", "1s", "--json"];
    let mut run = program.start(&[&args[..], &["--duration", "16s"], &capture].concat());
    let mut told = Messages::by(&mut run);
    told.wait_for("progress: 2s");
    let mut holder = Holder::of(site, &target, lock);
    holder.wait_for_waiting(&mut run, 4);
    // In the second one all have waited from its beginning to its end; the capture looks at its end.
    holder.hold_for(&mut told, 3);
    holder.release();
    let done = finish(run);
    assert_eq!(done.code, 0, "{}", done.err);
    let document: Value = serde_json::from_str(&done.out).unwrap();
    let seen = &document["observed"];
    assert_eq!(unread(seen), Vec::<&str>::new(), "{seen:#}");
    let captures = seen["captures"].as_array().unwrap();
    let [capture] = &captures[..] else { panic!("{captures:#?}") };
    assert_eq!((&capture["condition"], &capture["value"]), (&"tpm < 1".into(), &0.0.into()));
    let report = program.ok(&["report", "last"]);
    assert!(report.contains("tpm < 1 was true with 0"), "{report}");
    assert!(report.lines().all(|line| line.chars().count() <= 80), "{report}");
    capture.clone()
}

/// The capture begins before its moment, and shows at it who was blocked by a session that `holds`.
fn assert_captured(capture: &Value, holds: &str) {
    let at = capture["at_s"].as_u64().unwrap();
    let snapshots = capture["snapshots"].as_array().unwrap();
    let seconds: Vec<u64> = snapshots.iter().map(|of| of["second"].as_u64().unwrap()).collect();
    assert!(seconds[0] < at && seconds.contains(&(at + 5)), "{at}: {seconds:?}");
    let moment = snapshots.iter().find(|of| of["second"] == at).unwrap();
    let sessions = moment["sessions"].as_array().unwrap();
    let holder = sessions.iter().find(|of| of["statement"].as_str().unwrap().contains(holds));
    let holder = holder.unwrap_or_else(|| panic!("{moment:#}"));
    assert_eq!(holder["blocked_by"], Value::Null);
    assert!(holder["transaction_s"].as_f64().is_some() && !holder["user"].is_null(), "{holder:#}");
    // A queue may have several levels, and all end at the holder.
    let find = |id: &Value| sessions.iter().find(|of| of["session"] == *id).unwrap();
    let waiting: Vec<_> = sessions.iter().filter(|of| !of["blocked_by"].is_null()).collect();
    assert_eq!(waiting.len(), 4, "{moment:#}");
    for mut of in waiting {
        assert_eq!((&of["who"], of["class"] != "cpu"), (&"ours".into(), true), "{of:#}");
        while !of["blocked_by"].is_null() {
            of = find(&of["blocked_by"]);
        }
        assert_eq!(of["session"], holder["session"]);
    }
}

#[test]
fn a_capture_has_the_lock_tree_of_its_moment_on_postgres() {
    let capture = captured(&Program::new(), Postgres, "LOCK TABLE warehouse");
    assert_captured(&capture, "pg_sleep(");
    assert_eq!(capture["engine_status"], Value::Null);
}

#[test]
#[ignore = "slow: tools/test-matrix.py slow"]
fn a_capture_has_the_lock_tree_and_innodbs_status_on_mariadb() {
    let lock = "SELECT w_id FROM warehouse FOR UPDATE";
    let capture = captured(&Program::new(), Mariadb, lock);
    assert_captured(&capture, "sleep(");
    let status = capture["engine_status"].as_str().unwrap();
    assert!(status.contains("INNODB MONITOR OUTPUT"), "{status}");
}

#[test]
fn a_condition_without_a_value_per_second_and_a_database_without_detail_are_errors() {
    let program = Program::new();
    program.ok(&["build", "sqlite:a.sqlite"]);
    for (target, condition, message) in [
        ("null:", "window > 1s", "window has no value per second"),
        ("null:", "new_orde.p95 > 1ms", "did you mean `new_order.p95`?"),
        ("null:", "nopm < 5", "--capture-on is not supported on null: omit it"),
        ("sqlite:a.sqlite", "nopm < 5", "--capture-on is not supported on sqlite: omit it"),
    ] {
        let run = ["run", target, "--vus", "1", "--transactions", "5", "--capture-on", condition];
        let done = program.run(&run);
        assert_eq!(done.code, 2, "{}", done.err);
        assert!(done.err.contains(message), "{condition}: {}", done.err);
    }
    let done = program.run(&["run", "null:", "--vus", "1", "--transactions", "5", "--log-probe"]);
    assert_eq!(done.code, 2, "{}", done.err);
    assert!(done.err.contains("--log-probe is not supported on null: omit it"), "{}", done.err);
}

#[test]
fn a_server_that_answers_late_and_then_not_at_all_delays_neither_seconds_nor_end_on_postgres() {
    let server = PostgresServer::start(PostgresOptions::default()).unwrap();
    assert_undelayed(&server.fresh_database("late").unwrap(), server.port(), 10);
}

#[test]
#[ignore = "slow: tools/test-matrix.py slow"]
fn a_server_that_answers_late_and_then_not_at_all_delays_neither_seconds_nor_end_on_mariadb() {
    let server = MariadbServer::start(MariadbOptions::default()).unwrap();
    // A sample is due five times per second, and not ten times as on PostgreSQL.
    assert_undelayed(&server.fresh_database("late").unwrap(), server.port(), 4);
}

/// A run on a server that answers late, and then not at all, and then as before: the seconds and the
/// end come in time. At least `missed` samples are not taken.
fn assert_undelayed(target: &str, port: u16, missed: u64) {
    let program = Program::new();
    program.ok(&["build", target]);
    let proxy = Proxy::start(port);
    let late = target.replace(&format!(":{port}"), &format!(":{}", proxy.port()));
    let args = ["run", &late, "--vus", "2", "--rampup", "0s", "--duration", "9s", "--json"];
    let mut run = program.start(&args);
    Messages::by(&mut run).wait_for("timed");
    proxy.delay(Duration::from_millis(150));
    thread::sleep(Duration::from_secs(3));
    proxy.cut();
    thread::sleep(Duration::from_secs(3));
    proxy.delay(Duration::ZERO);
    proxy.heal();
    let done = finish(run);
    let document: Value = serde_json::from_str(&done.out).unwrap();
    let seen = &document["observed"];
    let counted = seen["sessions"]["missed"].as_u64().unwrap();
    assert!(counted >= missed, "a sample takes 300 ms: {seen:#}");
    assert!(seen["cost"]["lost"].as_u64().unwrap() >= 1, "no answer for 3 s: {seen:#}");
    assert!(seen["sessions"]["samples"].as_u64().unwrap() >= 10, "it reconnected: {seen:#}");
    let window = document["durations"]["window_s"].as_f64().unwrap();
    // What a busy machine adds is less than the time without answers.
    assert!((9.0..12.0).contains(&window), "{window}");
    let seconds = "SELECT count(*) FROM seconds WHERE job = (SELECT max(id) FROM jobs)";
    assert!(program.number("jobs.sqlite", seconds) >= 9, "every second is there");
}

/// Whether `perf` is here, and may sample all processes.
fn perf_samples() -> bool {
    let mut perf = Command::new("perf");
    perf.args(["record", "-q", "-a", "-e", "cpu-clock", "-o", "/dev/null", "true"]);
    perf.output().is_ok_and(|done| done.status.success())
}

#[test]
fn a_cpu_profile_shows_where_server_and_client_were_on_postgres() {
    if !perf_samples() {
        eprintln!(
            "not tested: perf is not installed, or may not sample: apt-get install linux-perf"
        );
        return;
    }
    let (program, site) = (Program::new(), Site::shared(Postgres));
    let target = site.fresh_database();
    program.ok(&["build", &target, "-w", "tpc-b"]);
    let args =
        ["-w", "tpc-b", "--vus", "2", "--rampup", "0s", "--duration", "4s", "--cpu-profile", "2s"];
    let seen = observed(&program, &target, &args);
    let profile = &seen["cpu_profile"];
    let seconds = profile["seconds"].as_f64().unwrap();
    assert!((1.0..=3.5).contains(&seconds), "{profile:#}");
    let side = |name: &str| {
        let sides = profile["sides"].as_array().unwrap();
        sides.iter().find(|of| of["side"] == name).unwrap_or_else(|| panic!("{name}: {profile:#}"))
    };
    for (name, module) in [("server", "postgres"), ("client", "triphammer")] {
        let frames = side(name)["frames"].as_array().unwrap();
        assert!(frames.iter().any(|of| of["module"] == module), "{name}: {frames:#?}");
    }
    let server = side("server");
    let name_of_exec = |of: &Value| of["name"].as_str().unwrap().starts_with("PostgresMain");
    assert!(server["frames"].as_array().unwrap().iter().any(name_of_exec), "{server:#}");
    let cpus = server["cpus"].as_f64().unwrap();
    assert!(cpus > 0.0 && cpus < 64.0, "{server:#}");
    let report = program.ok(&["report", "last"]);
    assert!(report.contains("Functions in which the CPUs were"), "{report}");
}

#[test]
fn a_cpu_profile_without_perf_or_of_a_wrong_length_is_refused() {
    let program = Program::new();
    let run = ["run", "null:", "--vus", "1", "--transactions", "5", "--cpu-profile"];
    let mut without = program.command(&[&run[..], &["5s"]].concat());
    let done = without.env("PATH", "/nonexistent").output().unwrap();
    let err = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.code() == Some(2) && err.contains("`perf` cannot be used"), "{err}");
    assert!(err.contains("apt-get install linux-perf"), "{err}");
    let long = program.run(&[&run[..], &["1h"]].concat());
    assert!(long.code == 2 && long.err.contains("must be from 1s to 10m"), "{long:?}");
}
