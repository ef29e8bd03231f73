//! `why` on real servers: controlled experiments whose cause the first sentence must name.

use std::thread;
use std::time::Duration;

use serde_json::Value;
use triphammer_testbed::PostgresServer;

use crate::holder::Holder;
use crate::program::{Messages, Program, finish};
use crate::servers::{Postgres, Site, name_of};

/// A run during which `meanwhile` is done on a thread, with the arguments of the run.
fn run_with(program: &Program, args: &[&str], meanwhile: impl FnOnce() + Send + 'static) {
    let mut run = program.start(args);
    Messages::by(&mut run).wait_for("timed");
    let other = thread::spawn(meanwhile);
    let done = finish(run);
    other.join().unwrap();
    assert_eq!(done.code, 0, "{}{}", done.out, done.err);
}

/// The explanation of the last run, after its text and document were compared.
fn why(program: &Program, more: &[&str]) -> Value {
    let args = [&["why", "last"][..], more].concat();
    let text = program.ok(&args);
    eprintln!("{text}");
    let document: Value =
        serde_json::from_str(&program.ok(&[&args[..], &["--json"]].concat())).unwrap();
    let words = document["words"].as_str().unwrap();
    let first: Vec<&str> = text.split("\n\n").next().unwrap().split_whitespace().collect();
    assert_eq!(first, words.split_whitespace().collect::<Vec<_>>(), "the cause comes first");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    document
}

#[test]
fn many_users_on_one_warehouse_wait_for_row_locks() {
    let program = Program::new();
    let target = Site::built(Postgres);
    let load = ["--vus", "32", "--mix", "0,100,0,0,0", "--rampup", "1s", "--duration", "16s"];
    program.ok(&[&["run", &target][..], &load].concat());
    let found = why(&program, &[]);
    let words = found["words"].as_str().unwrap();
    assert!(words.starts_with("Row locks") && words.contains("on `warehouse`"), "{found:#}");
    assert!(words.contains("the run's own sessions"), "{found:#}");
    let cause = &found["waits"]["causes"][0];
    assert_eq!(cause["class"], "row_lock", "{found:#}");
    // Where seconds without commits leave no interval per transaction, it is one of sessions.
    let figures = &cause["figures"];
    let name = match figures["change_ms_interval"] {
        Value::Null => "excess_sessions",
        _ => "change_ms",
    };
    let (value, interval) = (&figures[name], &figures[&format!("{name}_interval")]);
    let value = value.as_f64().unwrap();
    let [low, high] = ["low", "high"].map(|end| interval[end].as_f64().unwrap());
    assert!(low > 0.0 && low <= value && value <= high, "{found:#}");
    assert!(found["next"][0].as_str().unwrap().contains("more warehouses"), "{found:#}");
}

#[test]
fn a_lock_of_another_program_is_found_and_its_session_is_named() {
    let program = Program::new();
    let site = Site::shared(Postgres);
    let target = Site::built(Postgres);
    let args =
        ["run", &target, "--vus", "4", "--rampup", "0s", "--duration", "18s", "--progress", "1s"];
    let mut run = program.start(&args);
    let mut told = Messages::by(&mut run);
    told.wait_for("progress: 4s");
    let mut holder = Holder::of(site, &target, "LOCK TABLE warehouse");
    let locked = site.run("postgres", "SELECT clock_timestamp()")[0][0].clone().unwrap();
    holder.hold_for(&mut told, 7);
    holder.release();
    let done = finish(run);
    assert_eq!(done.code, 0, "{}{}", done.out, done.err);
    // The five whole seconds after it had the lock, whenever that was on a busy machine.
    let started = program.json(&["why", "last"])["started_at"].as_str().unwrap().to_owned();
    let since = format!(
        "SELECT ceil(extract(epoch FROM timestamptz '{}' - timestamptz '{started}'))::int",
        locked
    );
    let since: u32 = site.run("postgres", &since)[0][0].as_ref().unwrap().parse().unwrap();
    let found = why(&program, &["--at", &format!("{since}s..{}s", since + 5)]);
    assert_eq!(found["basis"], "given", "{found:#}");
    let words = found["words"].as_str().unwrap();
    for part in ["locks", "on `warehouse`", "of another program", "pg_sleep(600)", "held the lock"]
    {
        assert!(words.contains(part), "{part}: {found:#}");
    }
    let lock = &found["locks"][0];
    assert_eq!((&lock["is_foreign"], &lock["object"]), (&true.into(), &"warehouse".into()));
    assert!(found["next"][0].as_str().unwrap().contains("another program"), "{found:#}");

    // Stretches that do not suit.
    for (at, message) in [
        ("5s..7s", "needs at least 5"),
        ("5s", "expected two times such as 3m10s..3m40s"),
        ("9s..5s", "its end must be after its start"),
        ("10m..11m", "is not in the run: job 1 lasted"),
    ] {
        let done = program.run(&["why", "last", "--at", at]);
        assert_eq!(done.code, 2, "{at}: {}", done.out);
        assert!(done.err.contains(message), "{at}: {}", done.err);
    }
}

#[test]
#[ignore = "needs CPUs that nothing else uses; `make test-matrix` runs it"]
fn an_index_that_is_dropped_in_a_run_is_found_by_the_statement_that_needs_it() {
    let program = Program::new();
    let server = PostgresServer::shared();
    let target = server.fresh_database("dropped").unwrap();
    let name = name_of(&target).to_owned();
    let tables = "CREATE TABLE items (id int, grp int, price int);
        INSERT INTO items SELECT g, g, g FROM generate_series(1, 60000) g;
        CREATE INDEX items_grp ON items (grp); ANALYZE items";
    server.run(&name, tables).unwrap();
    let script = "\\set g random(1, 60000)\nSELECT sum(price) FROM items WHERE grp = :g;\n";
    std::fs::write(program.path("read.sql"), script).unwrap();
    let load = ["--script", "read.sql", "--vus", "2", "--rampup", "0s", "--duration", "16s"];
    let args = [&["run", &target, "-w", "script"][..], &load].concat();
    run_with(&program, &args, move || {
        thread::sleep(Duration::from_secs(9));
        server.run(&name, "DROP INDEX items_grp").unwrap();
    });
    let found = why(&program, &["--at", "11s..16s"]);
    assert_eq!(found["waits"]["causes"][0]["class"], "cpu", "{found:#}");
    let words = found["words"].as_str().unwrap();
    assert!(words.contains("mostly in"), "the statement: {found:#}");
    let rest = found["rest"]["committed_per_second"].as_f64().unwrap();
    assert!(found["stretch"]["committed_per_second"].as_f64().unwrap() < rest / 2.0, "{found:#}");
}

#[test]
#[ignore = "needs CPUs that nothing else uses; `make test-matrix` runs it"]
fn a_comparison_of_two_runs_says_what_their_sessions_waited_for() {
    let program = Program::new();
    let target = Site::shared(Postgres).fresh_database();
    program.ok(&["build", &target]);
    let load = ["--mix", "0,100,0,0,0", "--rampup", "0s", "--duration", "6s"];
    for users in ["2", "24"] {
        program.ok(&[&["run", &target, "--vus", users][..], &load].concat());
    }
    let text = program.run(&["compare", "2", "3"]).out;
    assert!(text.contains("What sessions did or waited for more or less in B than in A"), "{text}");
    let document: Value =
        serde_json::from_str(&program.run(&["compare", "2", "3", "--json"]).out).unwrap();
    let causes = document["waits"]["causes"].as_array().unwrap();
    // On a busy host, latches can cost more than row locks.
    let contention =
        causes.iter().find(|cause| cause["class"] == "row_lock" || cause["class"] == "latch");
    let contention = contention.unwrap_or_else(|| panic!("{causes:#?}"));
    assert!(contention["figures"]["excess_sessions"].as_f64().unwrap() > 0.0, "{causes:#?}");
}

#[test]
fn a_run_that_was_not_observed_and_a_job_that_is_no_run_cannot_be_explained() {
    let program = Program::new();
    program.ok(&["run", "null:", "--vus", "1", "--rampup", "0s", "--duration", "2s"]);
    program.ok(&["build", "sqlite:data.sqlite", "-w", "tpc-b"]);
    for (job, message) in [
        ("1", "job 1 cannot be explained: its sessions were not observed"),
        ("2", "job 2 is a build: only runs can be explained"),
        ("99", "there is no job 99"),
        ("first", "invalid job number `first`"),
    ] {
        let done = program.run(&["why", job]);
        assert_eq!(done.code, 2, "{job}: {}", done.out);
        assert!(done.err.contains(message), "{job}: {}", done.err);
    }
}
