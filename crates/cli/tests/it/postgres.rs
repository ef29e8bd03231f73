//! PostgreSQL-specific tests: protocols, schemas, advisory locks, unusual targets.

use std::net::TcpListener;

use triphammer_testbed::PostgresServer;

use crate::program::{Messages, Program, finish, signal};

fn fresh(name: &str) -> String {
    PostgresServer::shared().fresh_database(name).unwrap()
}

#[test]
fn every_protocol_runs_and_deliveries_find_their_end() {
    let program = Program::new();
    let target = fresh("protocols");
    program.ok(&["build", &target, "--scale", "2", "--jobs", "2"]);
    for protocol in ["extended", "simple"] {
        let run = ["run", &target, "--protocol", protocol, "--vus", "2", "--transactions", "50"];
        let result = program.json(&run);
        assert_eq!(result["primary_metric"]["verification"]["verdict"], "verified", "{protocol}");
    }
    let drained =
        program.run(&["run", &target, "--mix", "0,0,0,1,0", "--vus", "4", "--transactions", "600"]);
    assert_eq!(drained.code, 0, "{}", drained.err);
    let report = program.ok(&["report", "last"]);
    assert!(report.contains("skipped"), "the new orders ran out: {report}");
    assert!(program.ok(&["check", &target]).contains("all 17 conditions"));
}

#[test]
fn a_run_on_a_ring_is_one_on_epoll_and_the_report_names_it() {
    let program = Program::new();
    let target = fresh("ring");
    program.ok(&["build", &target, "--scale", "2", "--jobs", "2"]);
    let run = |io: &str, more: &[&str]| {
        let run = ["run", &target, "--io", io, "--threads", "2", "--json"];
        program.run(&[&run[..], more].concat())
    };
    let by_number = ["--vus", "6", "--transactions", "100"];
    let forced = run("uring", &by_number);
    if forced.code == 2 && forced.err.contains("the kernel does not allow io_uring") {
        eprintln!("not run: {}", forced.err);
        return;
    }
    let by_time = ["--vus", "6", "--load", "rate:200/s", "--rampup", "0s", "--duration", "2s"];
    for (io, done, transport) in [
        ("uring", forced, "tcp, io_uring"),
        ("epoll", run("epoll", &by_number), "tcp"),
        ("auto", run("auto", &by_number), "tcp, io_uring"),
        ("uring", run("uring", &by_time), "tcp, io_uring"),
        (
            "uring",
            run("uring", &[&by_number[..], &["--transaction-timeout", "20s"]].concat()),
            "tcp, io_uring",
        ),
    ] {
        assert_eq!(done.code, 0, "{io}: {}", done.err);
        let result: serde_json::Value = serde_json::from_str(&done.out).unwrap();
        assert_eq!(result["primary_metric"]["verification"]["verdict"], "verified", "{io}");
        assert_eq!(result["server"]["transport"], transport, "{io}");
        assert_eq!(result["spec"]["io"], io);
    }
    assert!(program.ok(&["check", &target]).contains("all 17 conditions"));
}

#[test]
fn one_seed_gives_the_same_rows_whatever_the_jobs() {
    let program = Program::new();
    let digest = |jobs: &str| {
        let target = fresh("jobs");
        program.ok(&["build", &target, "--scale", "2", "--jobs", jobs]);
        let name = target.rsplit('/').next().unwrap().split('?').next().unwrap().to_owned();
        ["item", "warehouse", "district", "customer", "stock", "orders", "order_line", "new_order", "history"]
            .map(|table| {
                let sql = format!(
                    "SELECT count(*)::text || ' ' || sum(hashtextextended(t::text, 0))::text FROM {table} t"
                );
                PostgresServer::shared().run(&name, &sql).unwrap()
            })
    };
    assert_eq!(digest("1"), digest("3"));
}

#[test]
fn a_password_in_the_url_works_with_a_warning() {
    let program = Program::new();
    let done = program.run(&["build", &fresh("inurl")]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.err.contains("is visible in the process list"), "{}", done.err);
}

#[test]
fn a_server_that_accepts_and_never_answers_is_given_up_in_time() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let program = Program::new();
    let target = format!("postgres://u@127.0.0.1:{port}/d");
    let done = program.run(&["run", &target, "--connect-timeout", "1s"]);
    assert_eq!(done.code, 2);
    assert!(done.err.contains("1 s"), "{}", done.err);
    drop(listener);
    let gone = program.run(&["run", &target]);
    assert_eq!(gone.code, 2);
    assert!(gone.err.contains("refused") || gone.err.contains("connect"), "{}", gone.err);
}

#[test]
fn a_run_keeps_builds_and_checks_away() {
    let program = Program::new();
    let target = fresh("claims");
    program.ok(&["build", &target]);
    let run = ["run", &target, "--vus", "1", "--rampup", "0s", "--duration", "10m"];
    let mut run = program.start(&[&run[..], &["--progress", "1s"]].concat());
    Messages::by(&mut run).wait_for("progress: 1s");
    for args in
        [&["check", &target][..], &["drop", &target, "--yes"], &["build", &target, "--replace"]]
    {
        let done = program.run(args);
        assert_eq!(done.code, 2, "{args:?} {}", done.err);
        assert!(done.err.contains("is running at"), "{args:?} {}", done.err);
    }
    signal(&run, "INT");
    assert_eq!(finish(run).code, 130);
    program.ok(&["check", &target]);
}

#[test]
fn somebody_elses_tables_survive_and_a_schema_of_its_own_is_used() {
    let program = Program::new();
    let target = fresh("theirs");
    let name = target.rsplit('/').next().unwrap().split('?').next().unwrap().to_owned();
    let server = PostgresServer::shared();
    server
        .run(&name, "CREATE TABLE customer (name text); INSERT INTO customer VALUES ('precious')")
        .unwrap();
    server.run(&name, "CREATE SCHEMA bench").unwrap();
    for args in
        [&["build", &target][..], &["build", &target, "--replace"], &["drop", &target, "--yes"]]
    {
        let done = program.run(args);
        assert_eq!(done.code, 2, "{args:?} {}", done.err);
        assert!(done.err.contains("customer"), "{args:?} {}", done.err);
    }
    program.ok(&["build", &target, "--schema", "bench"]);
    program.ok(&["run", &target, "--schema", "bench", "--transactions", "20", "--vus", "2"]);
    program.ok(&["check", &target, "--schema", "bench"]);
    program.ok(&["drop", &target, "--schema", "bench", "--yes"]);
    let rows = server.run(&name, "SELECT name FROM customer").unwrap();
    assert_eq!(rows[0][0].as_deref(), Some("precious"));
}
