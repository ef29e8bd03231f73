//! The program on Babelfish, a server for SQL Server's protocol, where `TRIPHAMMER_BABELFISH` names
//! one. One test at a time: a session takes a process and 20 MB there.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use triphammer_core::session::{Database as _, Role, Session as _};
use triphammer_drivers::sqlserver::SqlServer;
use triphammer_drivers::target::{ConnectSettings, TargetUrl};
use triphammer_testbed::BabelfishServer;

use crate::drill::goes_on;
use crate::durability::Cue;
use crate::observe::gaps;
use crate::program::{Program, finish, until, wait_until};

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

/// The consistency conditions of TPC-C (3.3.2), in PostgreSQL's own dialect: queries for what violates them. Those that
/// hold of fresh data only are stated for any time.
const CONDITIONS: [(&str, &str); 12] = [
    (
        "1",
        "SELECT w_id FROM S.warehouse WHERE w_ytd IS DISTINCT FROM \
         (SELECT sum(d_ytd) FROM S.district WHERE d_w_id = w_id)",
    ),
    (
        "2",
        "SELECT d_id FROM S.district WHERE d_next_o_id - 1 IS DISTINCT FROM \
         (SELECT max(o_id) FROM S.orders WHERE o_w_id = d_w_id AND o_d_id = d_id) \
         OR d_next_o_id - 1 <> (SELECT max(no_o_id) FROM S.new_order \
         WHERE no_w_id = d_w_id AND no_d_id = d_id)",
    ),
    (
        "3",
        "SELECT no_d_id FROM S.new_order GROUP BY no_w_id, no_d_id \
         HAVING max(no_o_id) - min(no_o_id) + 1 <> count(*)",
    ),
    (
        "4",
        "SELECT 1 FROM (SELECT o_w_id w, o_d_id d, sum(o_ol_cnt) n FROM S.orders GROUP BY 1, 2) o \
         FULL JOIN (SELECT ol_w_id w, ol_d_id d, count(*) n FROM S.order_line GROUP BY 1, 2) l \
         USING (w, d) WHERE o.n IS DISTINCT FROM l.n",
    ),
    (
        "5",
        "SELECT o_id FROM S.orders LEFT JOIN S.new_order ON no_w_id = o_w_id AND no_d_id = o_d_id \
         AND no_o_id = o_id WHERE (o_carrier_id IS NULL) <> (no_o_id IS NOT NULL)",
    ),
    (
        "6",
        "SELECT 1 FROM (SELECT o_w_id w, o_d_id d, o_id o, o_ol_cnt n FROM S.orders) o \
         FULL JOIN (SELECT ol_w_id w, ol_d_id d, ol_o_id o, count(*) n FROM S.order_line \
         GROUP BY 1, 2, 3) l USING (w, d, o) WHERE o.n IS DISTINCT FROM l.n",
    ),
    (
        "7",
        "SELECT o_id FROM S.order_line JOIN S.orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id \
         AND o_id = ol_o_id WHERE (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL)",
    ),
    (
        "8",
        "SELECT w_id FROM S.warehouse WHERE w_ytd IS DISTINCT FROM \
         (SELECT sum(h_amount) FROM S.history WHERE h_w_id = w_id)",
    ),
    (
        "9",
        "SELECT d_id FROM S.district WHERE d_ytd IS DISTINCT FROM \
         (SELECT sum(h_amount) FROM S.history WHERE h_w_id = d_w_id AND h_d_id = d_id)",
    ),
    (
        "10",
        "SELECT c_id FROM S.customer LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, sum(ol_amount) n \
         FROM S.orders JOIN S.order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id \
         AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL GROUP BY 1, 2, 3) o \
         ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id \
         LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) n FROM S.history \
         GROUP BY 1, 2, 3) h ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id \
         WHERE c_balance <> coalesce(o.n, 0) - coalesce(h.n, 0)",
    ),
    // 2,100 orders of each district are delivered at the beginning.
    (
        "11",
        "SELECT d_id FROM S.district WHERE 2100 + (SELECT sum(c_delivery_cnt) FROM S.customer \
         WHERE c_w_id = d_w_id AND c_d_id = d_id) IS DISTINCT FROM \
         (SELECT count(*) FROM S.orders WHERE o_w_id = d_w_id AND o_d_id = d_id) - \
         (SELECT count(*) FROM S.new_order WHERE no_w_id = d_w_id AND no_d_id = d_id)",
    ),
    (
        "12",
        "SELECT c_id FROM S.customer LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, sum(ol_amount) n \
         FROM S.orders JOIN S.order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id \
         AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL GROUP BY 1, 2, 3) o \
         ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id \
         WHERE c_balance + c_ytd_payment <> coalesce(o.n, 0)",
    ),
];

/// Runs a script of T-SQL.
fn tsql(target: &str, script: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (url, settings) = (TargetUrl::parse(target).unwrap(), ConnectSettings::default());
    let database = SqlServer::open_in(&url, &settings, &|_| None).unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let mut session = database.connect(Role::Loader, 0).await.unwrap();
        session.script(script).await.unwrap();
        session.close().await;
    });
}

#[test]
#[ignore = "slow: tools/test-matrix.py babelfish4.3"]
fn its_levels_are_those_of_postgresql() {
    let Some(_turn) = turn() else { return };
    let (program, server) = (Program::new(), BabelfishServer::shared());
    let (target, _) = fresh(server);
    program.ok(&["build", &target, "-w", "tpc-b", "--create-database"]);
    let always = ["isolation", &target, "--rows", "6", "--vus", "4", "--duration", "6s"];
    for (level, promise) in
        [("repeatable-read", "snapshot-isolation"), ("serializable", "serializable")]
    {
        let result = program.json(&[always.as_slice(), &["--isolation", level]].concat());
        assert_eq!(result["ending"]["good"], true, "{result:#}");
        assert_eq!(result["levels"][0]["promise"], promise);
        assert_eq!(result["control"]["level"], "read-committed");
    }
}

#[test]
#[ignore = "slow: tools/test-matrix.py babelfish4.3"]
fn tpc_b_is_built_run_checked_and_dropped() {
    let Some(_turn) = turn() else { return };
    let (program, server) = (Program::new(), BabelfishServer::shared());
    let (target, schema) = fresh(server);
    program.ok(&["build", &target, "-w", "tpc-b", "--create-database"]);
    let run = ["run", &target, "-w", "tpc-b", "--vus", "4", "--transactions", "400"];
    let ran = program.json(&run);
    assert_eq!(ran["failures"]["failed"].as_u64().unwrap_or_default(), 0, "{ran:#}");
    // What observers cannot see is reported once.
    assert_eq!(gaps(&ran["observed"]), [("sql_server", "")], "{:#}", ran["observed"]);
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
    program.ok(&["build", &target, "-w", "kv", "--scale", "0.001", "--create-database"]);
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
        ("sqlserver://db1:1433;databaseName=d;user=u;password=geheim", "the form scheme://"),
        ("sqlserver://db1;databaseName=d;user=u;password=geheim", "after a semicolon"),
        ("sqlserver://u@db1/d;encrypt=true;password=geheim", "after a semicolon"),
        ("sqlserver://u:x@db1/d?encrypt=on;password=geheim", "after a semicolon"),
        ("jdbc:sqlserver://db1;user=u;password=geheim", "after a semicolon"),
        ("mssql:/u:geheim@db1/d", "must follow two slashes"),
        ("mssql+pyodbc://u:geheim@db1/d", "unknown scheme"),
        ("sqlserver://u:ge@im;geheim@127.0.0.1:1/d?connect-timeout=2", "could not connect"),
        ("sqlserver://u:geheim@127.0.0.1:1/d?connect-timeout=2", "could not connect"),
    ] {
        let done = program.run(&["run", target, "--duration", "1s"]);
        assert!(done.code != 0 && done.err.contains(words), "{target}: {}", done.err);
        assert!(!format!("{}{}", done.out, done.err).contains("geheim"), "{}", done.err);
    }
}

#[test]
#[ignore = "slow: tools/test-matrix.py babelfish4.3"]
fn build_options_that_the_server_lacks_are_rejected_before_anything_is_made() {
    let Some(_turn) = turn() else { return };
    let (program, server) = (Program::new(), BabelfishServer::shared());
    let (target, schema) = fresh(server);
    for (arguments, message) in [
        (&["--compression", "page"][..], "Babelfish has no compression, or omit --compression"),
        (&["--compression", "zip"], "one of none, row, page, got `zip`"),
        (&["--delayed-durability", "on"], "DELAYED_DURABILITY = ALLOWED, or omit"),
        (&["--memory-optimized", "on"], "the database needs a filegroup"),
        (
            &["--memory-optimized", "on", "--compression", "row"],
            "exclude each other: memory-optimized tables are not compressed",
        ),
        (
            &["--memory-optimized", "on", "-w", "tpc-b"],
            "--memory-optimized is an option of tproc-c, not of tpc-b",
        ),
        (&["--columnar", "-w", "tproc-h"], "Babelfish has no columnstore indexes"),
    ] {
        let build = ["build", &target, "--create-database"];
        let done = program.run(&[&build[..], arguments].concat());
        assert!(done.code == 2 && done.err.contains(message), "{arguments:?}: {done:?}");
    }
    let made = format!("SELECT count(*) FROM pg_tables WHERE schemaname = '{schema}'");
    assert_eq!(number(server, &made), 0);
}

/// Slow: tools/test-matrix.py babelfish4.3 runs it.
#[test]
#[ignore = "slow: tools/test-matrix.py babelfish4.3"]
fn procedures_of_hammerdb_are_driven_as_they_are_and_the_errors_that_they_return_are_errors() {
    let Some(_turn) = turn() else { return };
    let (program, server) = (Program::new(), BabelfishServer::shared());
    let (target, schema) = fresh(server);
    program.ok(&["build", &target, "--no-procedures", "--create-database"]);
    tsql(&target, include_str!("hammerdb/sqlserver.sql"));
    let of = |sql: &str| number(server, &sql.replace("S.", &format!("{schema}.")));
    let run = ["run", &target, "--vus", "3", "--transactions", "200"];
    let ran = program.json(&run);
    assert_eq!(ran["primary_metric"]["verification"]["verdict"], "verified", "{ran:#}");
    assert_eq!(ran["workload"]["facts"]["made_by"], "HammerDB");
    let types = &ran["run"]["types"];
    let (orders, back) = (&types[0]["committed"], &types[0]["rolled_back"]);
    assert_eq!(of("SELECT sum(d_next_o_id - 3001) FROM S.district"), orders.as_i64().unwrap());
    assert!(back.as_i64().unwrap() > 0, "{types:#}");
    let paid = of("SELECT count(*) - 30000 FROM S.history");
    assert_eq!(paid, types[1]["committed"].as_i64().unwrap());
    let checked = program.ok(&["check", &target]);
    assert!(checked.contains("expected  3.3.2.12 "), "{checked}");

    let fails = "ALTER PROCEDURE payment @w int, @d int, @c_w int, @c_d int, @c int, @by_name int, \
                 @amount numeric(6, 2), @last_name char(16), @at_time datetime2(0) AS \
                 IF RAND() < 0.5 SELECT 1205, 13, 51, 'payment', 1, 'You are the victim.' \
                 ELSE INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, \
                 h_amount, h_data) VALUES (1, 1, 1, 1, 1, @at_time, @amount, 'x')";
    tsql(&target, fails);
    let retried = ["--mix", "0,1,0,0,0", "--retries", "50"];
    let ran = program.json(&[&run[..], &retried].concat());
    let payment = &ran["run"]["types"][1];
    assert_eq!(payment["committed"], 600, "{payment:#}");
    assert_eq!(payment["retries_by_class"][0]["class"], "deadlock", "{payment:#}");
    assert_eq!(of("SELECT count(*) - 30000 FROM S.history") - paid, 600);
    tsql(&target, "DROP PROCEDURE slev");
    let done = program.run(&run);
    assert!(done.code == 2 && done.err.contains("SLEV is missing"), "{done:?}");
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
    let violations = |query: &str| {
        let sql =
            format!("SELECT count(*) FROM ({}) v", query.replace("S.", &format!("{schema}.")));
        number(server, &sql)
    };
    for (condition, query) in CONDITIONS {
        assert_eq!(violations(query), 0, "{condition}");
    }
    // The queries find what is wrong.
    let wrong = format!(
        "UPDATE {schema}.customer SET c_balance = c_balance + 1 WHERE c_id = 5 AND c_d_id = 5; \
         UPDATE {schema}.order_line SET ol_delivery_d = NULL WHERE ol_o_id = 5 AND ol_d_id = 5; \
         UPDATE {schema}.orders SET o_ol_cnt = o_ol_cnt + 1 WHERE o_id = 7 AND o_d_id = 5; \
         UPDATE {schema}.warehouse SET w_ytd = w_ytd + 1; \
         UPDATE {schema}.district SET d_next_o_id = d_next_o_id + 1, d_ytd = d_ytd + 2; \
         DELETE FROM {schema}.new_order WHERE no_d_id = 5 \
         AND no_o_id IN (SELECT max(no_o_id) - 1 FROM {schema}.new_order WHERE no_d_id = 5)"
    );
    server.run(&wrong).unwrap();
    for (condition, query) in CONDITIONS {
        assert!(violations(query) > 0, "{condition}");
    }
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

/// Slow: tools/test-matrix.py babelfish4.3 runs it.
#[test]
#[ignore = "slow: tools/test-matrix.py babelfish4.3"]
fn tproc_c_and_tpc_b_go_on_through_ten_disturbances() {
    let Some(_turn) = turn() else { return };
    for (workload, done) in [
        ("tproc-c", "SELECT sum(d_next_o_id) - 30010 FROM drill_dbo.district"),
        ("tpc-b", "SELECT count(*) FROM drill_dbo.pgbench_history"),
    ] {
        let (program, server) = (Program::new(), BabelfishServer::start().unwrap());
        let target = server.url("drill");
        program.ok(&["build", &target, "-w", workload, "--create-database"]);
        goes_on(&program, server, &target, workload, |server| number(server, done));
    }
}

#[test]
fn a_drill_loses_no_commit_when_the_server_is_killed_and_sessions_are_terminated() {
    let Some(_turn) = turn() else { return };
    let program = Program::new();
    let mut server = BabelfishServer::start().unwrap();
    let target = server.url("drill");
    // It creates the database.
    program.ok(&["build", &target, "-w", "tpc-b", "--create-database"]);
    let kill = Cue::at(&program, "2s", "kill");
    let args = ["drill", &target, "--vus", "4", "--duration", "20s", "--json"];
    // By then the server and its users are back, also on a busy host.
    let faults = ["--fault", &kill.fault, "--fault", "at=14s terminate"];
    let mut child = program.start(&[&args[..], &faults].concat());
    kill.act(&mut child, || {
        server.kill9();
        server.restart().unwrap();
        // The next fault ends their sessions, when all of them have one again.
        let last = number(&server, "SELECT max(seq) FROM drill_dbo.triphammer_drill");
        let users = format!(
            "SELECT count(DISTINCT usr) FROM drill_dbo.triphammer_drill WHERE seq > {last}"
        );
        until("users who go on", || number(&server, &users) == 4);
    });
    let done = finish(child);
    assert_eq!(done.code, 0, "{}\n{}", done.out, done.err);
    let document: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    let count = |name: &str| document["commits"][name].as_i64().unwrap();
    assert!(count("lost") == 0 && count("acknowledged") > 0, "{document}");
    // What the table has, by independent SQL.
    let rows = number(&server, "SELECT count(*) FROM drill_dbo.triphammer_drill");
    assert_eq!(rows, count("acknowledged") + count("indeterminate_committed"), "{document}");
}

#[test]
#[ignore = "slow: tools/test-matrix.py babelfish4.3"]
fn the_doctor_names_what_babelfish_does_not_show_and_goes_on() {
    let Some(_turn) = turn() else { return };
    let (program, server) = (Program::new(), BabelfishServer::shared());
    let (target, _) = fresh(server);
    program.ok(&["build", &target, "-w", "tpc-b", "--create-database"]);
    let asked = || {
        let done = program.run(&["doctor", &target, "--write-test", "--json"]);
        serde_json::from_str::<serde_json::Value>(&done.out).unwrap()
    };
    let measured = ["round_trip", "jitter", "download", "upload", "commit_latency"];
    let has_all = |document: &serde_json::Value| {
        let lines = document["lines"].as_array().unwrap();
        measured.iter().all(|name| lines.iter().any(|line| line["name"] == *name))
    };
    // The doctor gives up a check after three seconds, which a busy host may need.
    let found = std::iter::repeat_with(asked).take(5).find(has_all);
    let document = found.unwrap_or_else(|| panic!("{measured:?}: {:#}", asked()));
    let unread = document["unread"].as_array().unwrap().iter();
    let unread: Vec<_> = unread.flat_map(|one| one["checks"].as_array().unwrap()).collect();
    for name in ["max_server_memory", "tempdb_files", "active_sessions", "statistics"] {
        assert!(unread.iter().any(|check| *check == name), "{name}: {document:#}");
    }
    let left = "SELECT count(*) FROM pg_class WHERE relname LIKE 'triphammer_doctor%'";
    assert_eq!(number(server, left), 0);
}
