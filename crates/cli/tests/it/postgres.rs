//! The main job on a real PostgreSQL server: both modes, a crash in the middle, secrets, odd targets.

use std::net::TcpListener;
use std::time::Duration;

use triphammer_testbed::{PostgresOptions, PostgresServer};

use crate::program::{Program, finish};

fn fresh(name: &str) -> String {
    PostgresServer::shared().fresh_database(name).unwrap()
}

fn committed(result: &serde_json::Value) -> i64 {
    result["run"]["types"][0]["committed"].as_i64().unwrap()
}

#[test]
fn both_modes_run_and_leave_data_that_holds() {
    let program = Program::new();
    let target = fresh("modes");
    program.ok(&["build", &target, "--scale", "2", "--jobs", "2"]);
    assert!(program.ok(&["check", &target]).contains("all 36 conditions"));
    for mode in ["procedures", "statements"] {
        let result = program.json(&[
            "run",
            &target,
            "--mode",
            mode,
            "--vus",
            "8",
            "--rampup",
            "1s",
            "--duration",
            "3s",
        ]);
        assert_eq!(result["headline"]["verification"]["verdict"], "verified", "{mode}");
        assert!(committed(&result) > 50, "{mode}");
    }
    for protocol in ["extended", "simple"] {
        let result = program.json(&[
            "run",
            &target,
            "--protocol",
            protocol,
            "--vus",
            "2",
            "--transactions",
            "50",
        ]);
        assert_eq!(result["headline"]["verification"]["verdict"], "verified", "{protocol}");
    }
    assert!(program.ok(&["check", &target]).contains("all 17 conditions"));
    let drained =
        program.run(&["run", &target, "--mix", "0,0,0,1,0", "--vus", "4", "--transactions", "600"]);
    assert!(drained.out.contains("skipped"), "the new orders ran out: {}", drained.out);
    assert!(program.ok(&["check", &target]).contains("all 17 conditions"));
    assert!(program.ok(&["drop", &target, "--yes"]).contains("dropped"));
}

#[test]
fn a_server_killed_in_a_run_comes_back_and_the_counts_stay_within_their_bounds() {
    let mut server = PostgresServer::start(PostgresOptions::default()).unwrap();
    let program = Program::new();
    let target = server.fresh_database("killed").unwrap();
    program.ok(&["build", &target]);
    let child = program.start(&[
        "run",
        &target,
        "--vus",
        "8",
        "--rampup",
        "1s",
        "--duration",
        "10s",
        "--max-failures",
        "100%",
        "--json",
    ]);
    std::thread::sleep(Duration::from_secs(4));
    server.kill9();
    std::thread::sleep(Duration::from_secs(1));
    server.restart().unwrap();
    let done = finish(child);
    assert_eq!(done.code, 0, "{}", done.err);
    let result: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    let verdict = result["headline"]["verification"]["verdict"].as_str().unwrap();
    assert!(["verified", "within_bounds"].contains(&verdict), "{}", result["headline"]);
    assert!(result["sessions"]["lost"].as_u64().unwrap() >= 8);
    assert!(program.ok(&["check", &target]).contains("all 17 conditions"));
}

#[test]
fn too_many_users_are_refused_with_how_many_connected() {
    let server =
        PostgresServer::start(PostgresOptions { max_connections: 20, ..Default::default() })
            .unwrap();
    let program = Program::new();
    let target = server.fresh_database("full").unwrap();
    program.ok(&["build", &target]);
    let done = program.run(&["run", &target, "--vus", "60", "--duration", "1s", "--rampup", "0s"]);
    assert_eq!(done.code, 2);
    assert!(done.err.contains("of 60 virtual users"), "{}", done.err);
    assert!(done.err.contains("too many clients"), "{}", done.err);
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
fn no_password_is_found_anywhere() {
    let secret = "p@:/#%'\" wörd";
    let server = PostgresServer::shared();
    let target = fresh("secret");
    let name = target.rsplit('/').next().unwrap().split('?').next().unwrap().to_owned();
    let escaped = secret.replace('\'', "''");
    server
        .run(&name, &format!("CREATE ROLE \"hush\" LOGIN SUPERUSER PASSWORD '{escaped}'"))
        .unwrap();
    let mut program = Program::new();
    std::fs::write(program.path("pw"), format!("{secret}\n")).unwrap();
    let target = format!("postgres://hush@127.0.0.1:{}/{name}", server.port());
    let mut said = String::new();
    for args in [
        &["build", &target, "--password-file", "pw"][..],
        &["run", &target, "--password-file", "pw", "--transactions", "5", "--vus", "1"],
        &["run", &target, "--password-file", "pw", "--transactions", "5", "--json"],
        &["run", &target, "--password-file", "pw", "--show-spec"],
        &["check", &target, "--password-file", "pw"],
        &["run", &target.replace("hush", "nobody"), "--password-file", "pw"],
        &["jobs", "--json"],
        &["report", "last"],
    ] {
        let done = program.run(args);
        said.push_str(&done.out);
        said.push_str(&done.err);
    }
    std::fs::remove_file(program.path("pw")).unwrap();
    program.set("TRIPHAMMER_PASSWORD", "wrong-hunter2");
    let refused = program.run(&["run", &target]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("password authentication failed"), "{}", refused.err);
    said.push_str(&refused.err);
    for needle in [secret, "wrong-hunter2", "p@:/"] {
        assert!(!said.contains(needle), "{needle} is in the output: {said}");
        for (path, bytes) in program.files() {
            let found = bytes.windows(needle.len()).any(|window| window == needle.as_bytes());
            assert!(!found, "{needle} is in {}", path.display());
        }
    }
}

#[test]
fn a_password_in_the_url_works_with_a_warning() {
    let program = Program::new();
    let done = program.run(&["build", &fresh("inurl")]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.err.contains("shows in the process list"), "{}", done.err);
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
    let run = program.start(&["run", &target, "--vus", "1", "--rampup", "0s", "--duration", "6s"]);
    std::thread::sleep(Duration::from_secs(2));
    for args in
        [&["check", &target][..], &["drop", &target, "--yes"], &["build", &target, "--replace"]]
    {
        let done = program.run(args);
        assert_eq!(done.code, 2, "{args:?} {}", done.err);
        assert!(done.err.contains("is going on"), "{args:?} {}", done.err);
    }
    assert_eq!(finish(run).code, 0);
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
