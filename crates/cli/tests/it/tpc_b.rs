//! tpc-b: pgbench runs on our tables, we run on those of `pgbench -i`, and the audits detect
//! errors.

use std::process::Command;

use triphammer_testbed::{PostgresOptions, PostgresServer};

use crate::program::{Messages, Program, finish, signal, wait_until};
use crate::servers::name_of;

/// Creates a separate database: returns its URL and its name.
fn fresh() -> (String, String) {
    let target = PostgresServer::shared().fresh_database("pgbench").unwrap();
    let name = target.rsplit('/').next().unwrap().split('?').next().unwrap().to_owned();
    (target, name)
}

fn pgbench(database: &str, args: &[&str]) {
    let server = PostgresServer::shared();
    let done = Command::new(PostgresServer::program("pgbench"))
        .env("PGPASSWORD", server.password())
        .args(["-h", "127.0.0.1", "-p", &server.port().to_string(), "-U", server.user()])
        .args(args)
        .arg(database)
        .output()
        .unwrap();
    assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

fn sql(database: &str, sql: &str) -> String {
    let rows = PostgresServer::shared().run(database, sql).unwrap();
    let fields = rows.into_iter().map(|row| {
        row.into_iter().map(|field| field.unwrap_or("null".into())).collect::<Vec<_>>().join("|")
    });
    fields.collect::<Vec<_>>().join("\n")
}

fn verdicts(result: &serde_json::Value) -> Vec<(&str, &str)> {
    let audits = result["audits"].as_array().unwrap().iter();
    audits.map(|a| (a["id"].as_str().unwrap(), a["verdict"].as_str().unwrap())).collect()
}

const VERIFIED: [(&str, &str); 4] = [
    ("abalance", "verified"),
    ("history", "verified"),
    ("tbalance", "verified"),
    ("bbalance", "verified"),
];

/// A description of the tables, without oids.
const SHAPE: &str = "
    SELECT c.relname, c.relkind, array_to_string(c.reloptions, ','), pg_get_indexdef(c.oid),
           (SELECT string_agg(concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod),
                                        a.attnotnull), ', ' ORDER BY a.attnum)
            FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relname LIKE 'pgbench%' AND nspname = 'public'
    ORDER BY 1";

#[test]
fn what_we_build_is_what_pgbench_makes_and_pgbench_runs_on_it() {
    let program = Program::new();
    let ((ours, ours_name), (_, theirs)) = (fresh(), fresh());
    program.ok(&["build", &ours, "-w", "tpc-b", "--scale", "2", "--jobs", "2"]);
    pgbench(&theirs, &["-i", "-q", "-s", "2"]);
    assert_eq!(sql(&ours_name, SHAPE), sql(&theirs, SHAPE));
    for table in ["branches", "tellers", "accounts"] {
        let digest =
            format!("SELECT count(*), sum(hashtextextended(t::text, 0)) FROM pgbench_{table} t");
        assert_eq!(sql(&ours_name, &digest), sql(&theirs, &digest), "{table}");
    }
    assert!(program.ok(&["check", &ours, "-w", "tpc-b"]).contains("all 8 conditions"));
    for script in ["tpcb-like", "simple-update", "select-only"] {
        for protocol in ["prepared", "simple"] {
            pgbench(&ours_name, &["-n", "-t", "100", "-b", script, "-M", protocol]);
        }
    }
    assert!(program.ok(&["check", &ours, "-w", "tpc-b"]).contains("all 8 conditions"));
    let result = program.json(&[
        "run",
        &ours,
        "-w",
        "tpc-b",
        "--mix",
        "3,2,1",
        "--vus",
        "4",
        "--transactions",
        "100",
    ]);
    assert_eq!(verdicts(&result), VERIFIED);
    assert_eq!(result["primary_metric"]["verification"]["verdict"], "verified");
    assert_eq!(result["primary_metric"]["name"], "TPS");
    assert!(program.ok(&["check", &ours, "-w", "tpc-b"]).contains("all 5 conditions"));
    assert!(program.ok(&["drop", &ours, "-w", "tpc-b", "--yes"]).contains("pgbench_history"));
}

#[test]
fn what_pgbench_made_is_run_and_checked_as_it_is_and_dropped_by_force_only() {
    let program = Program::new();
    let (target, name) = fresh();
    pgbench(&name, &["-i", "-q", "-s", "2"]);
    pgbench(&name, &["-n", "-t", "50", "-b", "simple-update"]);
    let args = ["run", &target, "-w", "tpc-b", "--vus", "2", "--transactions", "100"];
    let result = program.json(&args);
    assert_eq!(verdicts(&result), VERIFIED);
    assert_eq!(result["workload"]["scale"], 2);
    assert_eq!(result["workload"]["facts"]["made_by"], "pgbench -i");
    // BEGIN, five statements, END.
    assert_eq!(result["round_trips"]["per_transaction"], 7.0);
    let select = program.json(&[&args[..], &["--mix", "select-only"]].concat());
    assert_eq!(select["round_trips"]["per_transaction"], 1.0);
    assert!(program.ok(&["check", &target, "-w", "tpc-b"]).contains("all 5 conditions"));
    assert_eq!(sql(&name, "SELECT to_regclass('triphammer_build')"), "null");
    let other_scale = program.run(&[&args[..], &["--scale", "5"]].concat());
    assert!(other_scale.err.contains("2 branches, not 5"), "{}", other_scale.err);
    let procedures = program.run(&[&args[..], &["--mode", "procedures"]].concat());
    assert!(procedures.err.contains("use statements"), "{}", procedures.err);
    for command in [&["drop", "--yes"][..], &["build"], &["build", "--replace"]] {
        let done = program.run(&[command, &[&target, "-w", "tpc-b"]].concat());
        assert_eq!(done.code, 2, "{command:?}: {}", done.err);
        assert!(done.err.contains("created by pgbench -i"), "{command:?}: {}", done.err);
    }
    program.ok(&["drop", &target, "-w", "tpc-b", "--yes", "--force"]);
    assert_eq!(sql(&name, "SELECT to_regclass('pgbench_accounts')"), "null");
}

#[test]
fn tables_that_pgbench_made_anew_over_ours_are_pgbenchs() {
    let program = Program::new();
    let (target, name) = fresh();
    program.ok(&["build", &target, "-w", "tpc-b"]);
    pgbench(&name, &["-i", "-q", "-s", "2"]);
    let done = program.run(&["drop", &target, "-w", "tpc-b", "--yes"]);
    assert!(done.code == 2 && done.err.contains("created by pgbench -i"), "{}", done.err);
    program.ok(&["check", &target, "-w", "tpc-b"]);
    program.ok(&["build", &target, "-w", "tpc-b", "--force"]);
    program.ok(&["drop", &target, "-w", "tpc-b", "--yes"]);
}

#[test]
fn an_audit_sees_a_balance_that_no_transaction_of_the_run_moved() {
    let program = Program::new();
    let (target, name) = fresh();
    program.ok(&["build", &target, "-w", "tpc-b"]);
    let mut run = program.start(&[
        "run",
        &target,
        "-w",
        "tpc-b",
        "--vus",
        "1",
        "--rampup",
        "0s",
        "--duration",
        "10m",
        "--progress",
        "1s",
    ]);
    Messages::by(&mut run).wait_for("progress: 1s");
    sql(&name, "UPDATE pgbench_tellers SET tbalance = tbalance + 1 WHERE tid = 7");
    signal(&run, "INT");
    let done = finish(run);
    assert_eq!(done.code, 130, "{}", done.out);
    assert!(done.out.contains("Audits         ΔΣ tbalance"), "{}", done.out);
    let report = program.ok(&["report", "last"]);
    let line = |word: &str| report.lines().find(|line| line.contains(word)).unwrap().to_owned();
    assert!(line("ΔΣ tbalance").trim_start().starts_with("violated"), "{report}");
    assert!(line("ΔΣ bbalance").trim_start().starts_with("verified"), "{report}");
    let check = program.run(&["check", &target, "-w", "tpc-b"]);
    assert!(check.code == 1 && check.out.contains("VIOLATED  balances"), "{}", check.out);
}

#[test]
fn checks_find_what_is_planted() {
    let program = Program::new();
    let (target, name) = fresh();
    program.ok(&["build", &target, "-w", "tpc-b", "--scale", "2"]);
    let planted = [
        ("p.tellers", "tid=12", "UPDATE pgbench_tellers SET tbalance = 1 WHERE tid = 12"),
        ("p.accounts", "aid=5", "UPDATE pgbench_accounts SET filler = 'x' WHERE aid = 5"),
        ("balances", "tellers=1 branches=0", "UPDATE pgbench_branches SET filler = 'x'"),
        (
            "accounts",
            "bid=2 accounts=99999",
            "UPDATE pgbench_accounts SET bid = NULL WHERE aid = 150000",
        ),
        ("beyond", "aid=200001", "INSERT INTO pgbench_accounts VALUES (200001, 2, 0, '')"),
        ("tellers", "bid=1 tellers=9", "DELETE FROM pgbench_tellers WHERE tid = 3"),
        // One branch is left: pgbench would consider that its scale, and so do we.
        ("branches", "branches=0", "DELETE FROM pgbench_branches WHERE bid = 1"),
    ];
    for (id, key, plant) in planted {
        sql(&name, plant);
        let done = program.run(&["check", &target, "-w", "tpc-b"]);
        assert_eq!(done.code, 1, "{id}: {}", done.err);
        assert!(done.out.contains(&format!("VIOLATED  {id}")), "{id}: {}", done.out);
        assert!(done.out.contains(key), "{id}: {}", done.out);
    }
}

#[test]
fn sqlite_runs_it_too() {
    let program = Program::new();
    program.ok(&["build", "sqlite:b.db", "-w", "tpc-b"]);
    assert!(program.ok(&["check", "sqlite:b.db", "-w", "tpc-b"]).contains("all 8 conditions"));
    let result = program.json(&[
        "run",
        "sqlite:b.db",
        "-w",
        "tpc-b",
        "--mix",
        "2,1,1",
        "--transactions",
        "200",
    ]);
    assert_eq!(verdicts(&result), VERIFIED);
    assert!(program.ok(&["check", "sqlite:b.db", "-w", "tpc-b"]).contains("all 5 conditions"));
    assert!(program.ok(&["run", "null:", "-w", "tpc-b", "--transactions", "20"]).contains("TPS"));
}

#[test]
fn after_a_crash_the_audits_stay_within_what_was_indeterminate() {
    let mut server = PostgresServer::start(PostgresOptions::default()).unwrap();
    let program = Program::new();
    let target = server.fresh_database("crash").unwrap();
    program.ok(&["build", &target, "-w", "tpc-b"]);
    let mut run = program.start(&[
        "run",
        &target,
        "-w",
        "tpc-b",
        "--vus",
        "8",
        "--rampup",
        "0s",
        "--duration",
        "10m",
        "--max-failures",
        "100%",
        "--progress",
        "1s",
        "--json",
    ]);
    Messages::by(&mut run).wait_for("progress: 1s");
    server.kill9();
    server.restart().unwrap();
    let count = || -> u64 {
        let rows = server.run(name_of(&target), "SELECT count(*) FROM pgbench_history").unwrap();
        rows[0][0].as_deref().unwrap().parse().unwrap()
    };
    // They lock the same row in turn, so that all eight have returned by then.
    let before = count();
    wait_until(&mut run, "transactions after the crash", || count() >= before + 100);
    signal(&run, "INT");
    let done = finish(run);
    assert_eq!(done.code, 130, "{}", done.out);
    let result: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    assert!(result["sessions"]["lost"].as_u64().unwrap() >= 8);
    for (id, verdict) in verdicts(&result) {
        assert!(["verified", "within_bounds"].contains(&verdict), "{id}: {}", result["audits"]);
    }
}
