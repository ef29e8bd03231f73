//! `--pipeline`: fewer round trips for the same transactions, named wherever a result is shown, and refused where it
//! would have no effect or change what is measured.

use std::fs;

use serde_json::Value;
use triphammer_testbed::PostgresServer;

use crate::program::Program;
use crate::servers::{Product, Site};

fn fresh(name: &str) -> String {
    PostgresServer::shared().fresh_database(name).unwrap()
}

#[test]
fn the_same_transactions_take_fewer_round_trips_and_every_result_says_why() {
    let program = Program::new();
    let target = fresh("pipelined");
    program.ok(&["build", &target, "-w", "tpc-b", "--jobs", "2"]);
    let run = ["run", &target, "-w", "tpc-b", "--vus", "4", "--transactions", "100"];
    for (given, trips) in [("off", 7.0), ("begin", 6.0), ("on", 5.0)] {
        let result = program.json(&[&run[..], &["--pipeline", given]].concat());
        assert_eq!(result["round_trips"]["per_transaction"], trips, "{given}");
        assert_eq!(result["spec"]["pipelining"], given);
        assert_eq!(result["primary_metric"]["verification"]["verdict"], "verified", "{given}");
        let audits = result["audits"].as_array().unwrap();
        assert!(audits.iter().all(|audit| audit["verdict"] == "verified"), "{given}: {audits:?}");
    }
    let report = program.ok(&["report", "last"]);
    assert!(report.contains("BEGIN and COMMIT pipelined"), "{report}");
    let jobs = program.json(&["jobs"]);
    let job = |place: usize| jobs[place]["id"].to_string();
    let result = program.json(&["compare", &job(2), &job(0)]);
    let differs = |d: &&Value| d["subject"] == "setting" && d["name"] == "pipeline";
    let difference = result["differences"].as_array().unwrap().iter().find(differs);
    let difference = difference.unwrap_or_else(|| panic!("{}", result["differences"]));
    assert_eq!((difference["a"].as_str(), difference["b"].as_str()), (Some("off"), Some("on")));
    assert!(program.ok(&["check", &target, "-w", "tpc-b"]).contains("all 5 conditions"));
}

#[test]
#[ignore = "slow: tools/test-matrix.py slow"]
fn tproc_c_by_statements_keeps_its_conditions() {
    let program = Program::new();
    let target = Site::built(Product::Postgres);
    let run = ["run", &target, "--mode", "statements", "--pipeline", "on", "--transactions", "100"];
    for more in [
        &["--vus", "6"][..],
        &["--vus", "6", "--isolation", "serializable", "--protocol", "extended", "--retries", "50"],
        // Deliveries until there are no new orders.
        &["--vus", "2", "--mix", "0,0,0,1,0"],
    ] {
        let done = program.run(&[&run[..], more].concat());
        assert_eq!(done.code, 0, "{more:?}: {}\n{}", done.out, done.err);
    }
    assert!(program.ok(&["check", &target]).contains("all 17 conditions"));
}

#[test]
fn statements_of_ones_own_keep_their_order_and_their_effect() {
    let program = Program::new();
    let target = fresh("pipelined_own");
    let file = program.path("own.toml");
    let text = r#"
[setup]
sql = "CREATE TABLE own (id int PRIMARY KEY, n int); INSERT INTO own VALUES (1, 0)"

[teardown]
sql = "DROP TABLE own"

[[transactions]]
name = "add"
statements = [
    { sql = "SELECT n FROM own WHERE id = 1 FOR UPDATE" },
    { sql = "UPDATE own SET n = n + 1 WHERE id = 1" },
]
"#;
    fs::write(&file, text).unwrap();
    let own = ["-w", "custom", "--workload-file", file.to_str().unwrap()];
    let built = program.run(&[&["build", &target][..], &own].concat());
    assert_eq!(built.code, 0, "{}", built.err);
    let run = ["run", &target, "--pipeline", "on", "--vus", "4", "--transactions", "50"];
    let result = program.json(&[&run[..], &own].concat());
    assert_eq!(result["round_trips"]["per_transaction"], 2.0);
    let name = target.rsplit('/').next().unwrap().split('?').next().unwrap();
    let rows = PostgresServer::shared().run(name, "SELECT n FROM own").unwrap();
    assert_eq!(rows[0][0].as_deref(), Some("200"));
}

#[test]
fn it_is_refused_where_it_would_do_nothing_or_change_what_is_written() {
    let program = Program::new();
    let target = Site::built(Product::Postgres);
    let script = program.path("a.sql");
    fs::write(&script, "BEGIN;\nSELECT 1;\nEND;\n").unwrap();
    for (more, message) in [
        (&["--mode", "procedures"][..], "has no effect with procedures"),
        (&["-w", "script", "--script", script.to_str().unwrap()], "as they are written"),
    ] {
        let done = program.run(&[&["run", &target, "--pipeline", "on"][..], more].concat());
        assert_eq!(done.code, 2, "{}", done.err);
        assert!(done.err.contains(message), "{}", done.err);
    }
}

/// Runs one transaction whose INSERT takes longer than it may: returns the counts of outcomes.
fn counts_of_one_too_long(program: &Program, target: &str, pipeline: &str, limit: &str) -> Value {
    let one = ["run", target, "-w", "tpc-b", "--vus", "1", "--transactions", "1", "--json"];
    let limits = ["--transaction-timeout", limit, "--max-failures", "100%", "--pipeline", pipeline];
    let done = program.run(&[&one[..], &limits].concat());
    let result: Value = serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{}", done.err));
    result["run"]["total"].clone()
}

#[test]
fn a_last_statement_that_takes_too_long_is_in_doubt_only_if_its_commit_was_sent() {
    let program = Program::new();
    let target = fresh("pipelined_late");
    program.ok(&["build", &target, "-w", "tpc-b"]);
    let server = PostgresServer::shared();
    let name = target.rsplit('/').next().unwrap().split('?').next().unwrap().to_owned();
    let count = |sql: &str| server.run(&name, sql).unwrap()[0][0].clone().unwrap();
    let slow = "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN PERFORM pg_sleep(60); RETURN NEW; END $$;
        CREATE TRIGGER slow BEFORE INSERT ON pgbench_history EXECUTE FUNCTION slow()";
    server.run(&name, slow).unwrap();
    // With `on`, there must be time for the statements before the last one.
    for (pipeline, limit, failed, indeterminate) in
        [("off", "1s", 1, 0), ("begin", "1s", 1, 0), ("on", "4s", 0, 1)]
    {
        let total = counts_of_one_too_long(&program, &target, pipeline, limit);
        assert_eq!(total["failed"], failed, "{pipeline}: {total}");
        assert_eq!(total["indeterminate"], indeterminate, "{pipeline}: {total}");
    }
    assert_eq!(count("SELECT count(*) FROM pgbench_history"), "0", "all were cancelled");
}
