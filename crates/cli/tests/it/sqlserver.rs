//! The program on Babelfish, a server for SQL Server's protocol, where `TRIPHAMMER_BABELFISH` names
//! one. One test at a time: a session takes a process and 20 MB there.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use triphammer_testbed::BabelfishServer;

use crate::program::{Program, finish, wait_until};

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Takes the turn of a test; `None` without a server.
fn turn() -> Option<MutexGuard<'static, ()>> {
    let is_available = BabelfishServer::is_available();
    is_available.then(|| ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The URL of a database that does not exist yet, and its schema in PostgreSQL.
fn fresh(server: &BabelfishServer) -> (String, String) {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let name = format!("it_{}", NEXT.fetch_add(1, Ordering::Relaxed));
    (server.url(&name), format!("{name}_dbo"))
}

/// The number that a query in PostgreSQL's dialect returns.
fn number(server: &BabelfishServer, sql: &str) -> i64 {
    server.run(sql).unwrap()[0][0].parse().unwrap()
}

#[test]
fn tpc_b_is_built_run_checked_and_dropped() {
    let Some(_turn) = turn() else { return };
    let (program, server) = (Program::new(), BabelfishServer::shared());
    let (target, schema) = fresh(server);
    program.ok(&["build", &target, "-w", "tpc-b", "--create-database"]);
    let run = ["run", &target, "-w", "tpc-b", "--vus", "4", "--transactions", "400"];
    let ran = program.json(&run);
    assert_eq!(ran["failures"]["failed"].as_u64().unwrap_or_default(), 0, "{ran:#}");
    program.ok(&["check", &target, "-w", "tpc-b"]);
    let rows = number(server, &format!("SELECT count(*) FROM {schema}.pgbench_history"));
    let sums = "SELECT (SELECT sum(abalance) FROM S.pgbench_accounts) \
                - (SELECT sum(delta) FROM S.pgbench_history)";
    assert_eq!((rows, number(server, &sums.replace("S.", &format!("{schema}.")))), (1_600, 0));
    program.ok(&["drop", &target, "-w", "tpc-b", "--yes"]);
    let left = format!("SELECT count(*) FROM pg_tables WHERE schemaname = '{schema}'");
    assert_eq!(number(server, &left), 0);
}

#[test]
fn kv_is_built_run_checked_and_dropped() {
    let Some(_turn) = turn() else { return };
    let (program, server) = (Program::new(), BabelfishServer::shared());
    let (target, _) = fresh(server);
    program.ok(&["build", &target, "-w", "kv", "--scale", "0.01", "--create-database"]);
    program.ok(&["run", &target, "-w", "kv", "--vus", "4", "--transactions", "400"]);
    program.ok(&["check", &target, "-w", "kv"]);
    program.ok(&["drop", &target, "-w", "kv", "--yes"]);
}

#[test]
fn secrets_and_mistakes_in_targets() {
    let program = Program::new();
    for (target, words) in [
        ("sqlserver://u:geheim@db1", "names no database"),
        ("mssql://u:geheim@db1/d?encrypt=maybe", "must be off, on or strict"),
        ("sqlserver://u@db1/d?password=geheim", "unknown parameter `password`"),
        ("sqlserver://u:geheim@127.0.0.1:1/d?connect-timeout=2", "could not connect"),
    ] {
        let done = program.run(&["run", target, "--duration", "1s"]);
        assert!(done.code != 0 && done.err.contains(words), "{target}: {}", done.err);
        assert!(!format!("{}{}", done.out, done.err).contains("geheim"), "{}", done.err);
    }
}

/// Slow: tools/test-matrix.py babelfish4.3 runs it.
#[test]
#[ignore = "slow: tools/test-matrix.py babelfish4.3"]
fn tproc_c_is_built_run_checked_and_dropped_in_both_modes() {
    let Some(_turn) = turn() else { return };
    let (program, server) = (Program::new(), BabelfishServer::shared());
    let (target, schema) = fresh(server);
    program.ok(&["build", &target, "--scale", "1", "--create-database"]);
    program.ok(&["check", &target]);
    for mode in ["procedures", "statements"] {
        let ran = program.json(&[
            "run",
            &target,
            "--mode",
            mode,
            "--vus",
            "4",
            "--rampup",
            "1s",
            "--duration",
            "5s",
        ]);
        assert_eq!(ran["failures"]["failed"].as_u64().unwrap_or_default(), 0, "{ran:#}");
        program.ok(&["check", &target]);
    }
    // Conditions 1 and 4 by independent SQL.
    let sql = "SELECT count(*) FROM S.warehouse WHERE w_ytd <> \
               (SELECT sum(d_ytd) FROM S.district WHERE d_w_id = w_id)";
    assert_eq!(number(server, &sql.replace("S.", &format!("{schema}."))), 0);
    let sql = "SELECT (SELECT sum(o_ol_cnt) FROM S.orders) - (SELECT count(*) FROM S.order_line)";
    assert_eq!(number(server, &sql.replace("S.", &format!("{schema}."))), 0);
    program.ok(&["drop", &target, "--yes"]);
}

/// Slow: tools/test-matrix.py babelfish4.3 runs it.
#[test]
#[ignore = "slow: tools/test-matrix.py babelfish4.3"]
fn tproc_h_gives_the_answers_of_its_queries() {
    let Some(_turn) = turn() else { return };
    let (program, server) = (Program::new(), BabelfishServer::shared());
    let (target, _) = fresh(server);
    program.ok(&["build", &target, "-w", "tproc-h", "--scale", "0.01", "--create-database"]);
    program.ok(&["check", &target, "-w", "tproc-h"]);
    let ran = program.json(&["run", &target, "-w", "tproc-h", "--test", "queries"]);
    let steps = ran["queries"]["steps"].as_array().unwrap();
    let answered = steps.iter().filter(|step| step["outcome"] == "answered").count();
    assert_eq!((steps.len(), answered), (22, 22), "{steps:?}");
    program.ok(&["drop", &target, "-w", "tproc-h", "--yes"]);
}

/// Slow: tools/test-matrix.py babelfish4.3 runs it.
#[test]
#[ignore = "slow: tools/test-matrix.py babelfish4.3"]
fn a_run_survives_a_killed_server() {
    let Some(_turn) = turn() else { return };
    let program = Program::new();
    let mut server = BabelfishServer::start().unwrap();
    let target = server.url("killed");
    program.ok(&["build", &target, "-w", "tpc-b", "--create-database"]);
    let mut child = program.start(&[
        "run",
        &target,
        "-w",
        "tpc-b",
        "--vus",
        "4",
        "--rampup",
        "0s",
        "--duration",
        "30s",
    ]);
    let history = "SELECT count(*) FROM killed_dbo.pgbench_history";
    wait_until(&mut child, "transactions", || number(&server, history) > 50);
    server.kill9();
    server.restart().unwrap();
    let before = number(&server, history);
    wait_until(&mut child, "transactions after the crash", || number(&server, history) > before);
    let done = finish(child);
    assert!(done.err.contains("lost") || done.out.contains("disconnected"), "{done:?}");
    program.ok(&["check", &target, "-w", "tpc-b"]);
}
