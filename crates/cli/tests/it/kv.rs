//! The key-value load from build to drop on every database with transactions, and what its audit and
//! its checks find.

use triphammer_testbed::{MariadbServer, PostgresServer};

use crate::program::{Messages, Program, finish, signal};
use crate::servers::name_of;

/// Every operation, in single statements and in batches.
const ALL: &str = "read=4,update=4,insert=4,delete=3,scan=2,read-modify-write=3";

fn audit(result: &serde_json::Value) -> (&str, i64) {
    let audit = &result["audits"][0];
    (audit["verdict"].as_str().unwrap(), audit["found"].as_i64().unwrap_or_default())
}

fn operation<'a>(result: &'a serde_json::Value, name: &str) -> &'a serde_json::Value {
    let types = result["run"]["types"].as_array().unwrap();
    types.iter().find(|of| of["name"] == name).unwrap()
}

fn from_build_to_drop(program: &Program, target: &str, users: &'static str) {
    let kv = |command, more: &[&'static str]| {
        let mut args = vec![command, target, "-w", "kv"];
        args.extend(more);
        args.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let json = |args: Vec<String>| program.json(&args.iter().map(|a| &**a).collect::<Vec<_>>());
    let ok = |args: Vec<String>| program.ok(&args.iter().map(|a| &**a).collect::<Vec<_>>());
    ok(kv("build", &["--scale", "0.003", "--payload-size", "40"]));
    assert!(ok(kv("check", &[])).contains("all 6 conditions"), "{target}");
    let closed = ["--vus", users, "--transactions", "120", "--retries", "50", "--mix", ALL];
    for batch in ["1", "4"] {
        let more = [&closed[..], &["--batch", batch, "--require", "failures == 0"]].concat();
        let result = json(kv("run", &more));
        let (verdict, found) = audit(&result);
        assert_eq!((verdict, found > 0), ("verified", true), "{target}: {}", result["audits"]);
        assert_eq!(result["primary_metric"]["name"], "OPS");
    }
    // Reads of keys that deletes took are counted and nothing else.
    let result = json(kv("run", &["--transactions", "200", "--mix", "read=1,delete=3"]));
    assert_eq!(audit(&result).0, "verified", "{target}: {}", result["audits"]);
    let counter = |name| operation(&result, name)["counter"]["count"].as_u64();
    assert!(counter("read").is_some_and(|misses| misses < 50), "{target}: {result}");
    let ycsb = json(kv("run", &["--transactions", "300", "--vus", "2", "--mix", "ycsb-d"]));
    assert_eq!(audit(&ycsb).0, "verified", "{target}");
    let open = [
        "--vus",
        users,
        "--load",
        "rate:200/s",
        "--rampup",
        "0s",
        "--duration",
        "2s",
        "--mix",
        ALL,
    ];
    let open = json(kv("run", &[&open[..], &["--retries", "50"]].concat()));
    assert_eq!(audit(&open).0, "verified", "{target}: {}", open["audits"]);
    assert!(ok(kv("check", &[])).contains("all 3 conditions"), "{target}");
    assert!(ok(kv("drop", &["--yes"])).contains("kv_store"), "{target}");
}

#[test]
fn it_goes_from_build_to_drop_on_postgres() {
    let target = PostgresServer::shared().fresh_database("kv").unwrap();
    from_build_to_drop(&Program::new(), &target, "3");
}

#[test]
fn it_goes_from_build_to_drop_on_mariadb() {
    let target = MariadbServer::shared().fresh_database("kv").unwrap();
    from_build_to_drop(&Program::new(), &target, "3");
}

#[test]
fn it_goes_from_build_to_drop_on_sqlite() {
    from_build_to_drop(&Program::new(), "sqlite:kv.sqlite", "3");
}

#[test]
fn it_goes_from_build_to_drop_on_duckdb() {
    // With several users the audit finds a change that DuckDB lost: docs/kv.md.
    from_build_to_drop(&Program::with_duckdb(), "duckdb:kv.duckdb", "1");
}

#[test]
fn it_runs_on_the_null_database_without_misses() {
    let run = ["run", "null:", "-w", "kv", "--transactions", "500", "--mix", ALL];
    let result = Program::new().json(&run);
    assert_eq!(operation(&result, "read")["counter"]["count"], 0);
    assert_eq!(operation(&result, "delete")["failed"], 0);
}

#[test]
fn the_audit_fails_when_somebody_else_changes_a_row() {
    let program = Program::new();
    let target = PostgresServer::shared().fresh_database("kv").unwrap();
    program.ok(&["build", &target, "-w", "kv", "--scale", "0.001"]);
    let run = ["run", &target, "-w", "kv", "--vus", "1", "--rampup", "0s", "--duration", "10m"];
    let mut run = program.start(&[&run[..], &["--progress", "1s"]].concat());
    Messages::by(&mut run).wait_for("progress: 1s");
    let update = "UPDATE kv_store SET version = version + 1 WHERE id = 7";
    PostgresServer::shared().run(name_of(&target), update).unwrap();
    signal(&run, "INT");
    let done = finish(run);
    assert_eq!(done.code, 130, "{}", done.out);
    assert!(done.out.contains("Audits         ΔΣ version"), "{}", done.out);
}

#[test]
fn checks_find_what_is_planted() {
    let program = Program::new();
    let target = PostgresServer::shared().fresh_database("kv").unwrap();
    program.ok(&["build", &target, "-w", "kv", "--scale", "0.003"]);
    let planted = [
        ("payload ", "id=2500", "UPDATE kv_store SET payload = 'x' || payload WHERE id = 2500"),
        ("new", "id=8", "UPDATE kv_store SET version = 2 WHERE id = 8"),
        ("version", "id=9", "UPDATE kv_store SET version = 0 WHERE id = 9"),
        ("rows", "rows=", "DELETE FROM kv_store WHERE id = 1500"),
        ("beyond", "id=3001", "INSERT INTO kv_store VALUES (3001, 1, 5, 'y')"),
        // The same row: its checksum is not that of its payload.
        ("payload_beyond", "id=3001", "SELECT 1"),
    ];
    for (id, key, plant) in planted {
        PostgresServer::shared().run(name_of(&target), plant).unwrap();
        let done = program.run(&["check", &target, "-w", "kv"]);
        assert_eq!(done.code, 1, "{id}: {}", done.err);
        assert!(done.out.contains(&format!("VIOLATED  {id}")), "{id}: {}", done.out);
        assert!(done.out.contains(key), "{id}: {}", done.out);
    }
}

#[test]
fn an_update_whose_answer_is_lost_is_in_doubt() {
    let program = Program::new();
    let done = program.run(&[
        "run",
        "null:?fail=disconnected:10%",
        "-w",
        "kv",
        "--mix",
        "update=1",
        "--transactions",
        "200",
        "--max-failures",
        "100%",
        "--json",
    ]);
    let result: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    let update = operation(&result, "update");
    assert!(update["indeterminate"].as_u64().is_some_and(|count| count > 0), "{update}");
    assert_eq!(update["failed"], 0);
    assert_eq!(update["retries_by_class"], serde_json::json!([]));
}
