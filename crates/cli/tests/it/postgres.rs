//! PostgreSQL-specific tests: protocols, schemas, advisory locks, unusual targets.

use std::net::TcpListener;

use triphammer_testbed::{PgBouncer, PostgresServer};

use crate::program::{Messages, Program, finish, signal};
use crate::servers::{Product, Site, name_of};

fn fresh(name: &str) -> String {
    PostgresServer::shared().fresh_database(name).unwrap()
}

#[test]
fn every_protocol_runs_and_deliveries_find_their_end() {
    let program = Program::new();
    let target = Site::built(Product::Postgres);
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
#[ignore = "slow: tools/test-matrix.py slow"]
fn a_run_on_a_ring_is_one_on_epoll_and_the_report_names_it() {
    let program = Program::new();
    let target = Site::built(Product::Postgres);
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
#[ignore = "slow: tools/test-matrix.py slow"]
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
    let done = program.run(&["build", &fresh("inurl"), "-w", "tpc-b"]);
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
    program.ok(&["build", &target, "-w", "tpc-b"]);
    let run = ["run", &target, "--vus", "1", "--rampup", "0s", "--duration", "10m"];
    let mut run = program.start(&[&run[..], &["--progress", "1s"]].concat());
    Messages::by(&mut run).wait_for("progress: 1s");
    for args in [
        &["check", &target][..],
        &["drop", &target, "--yes"],
        &["build", &target, "-w", "tpc-b", "--replace"],
    ] {
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

/// Rows of a query, their fields as text.
fn rows(target: &str, sql: &str) -> Vec<Vec<Option<String>>> {
    PostgresServer::shared().run(name_of(target), sql).unwrap()
}

/// Committed transactions by type, of a run's document.
fn committed(result: &serde_json::Value, name: &str) -> u64 {
    let types = result["run"]["types"].as_array().unwrap();
    types.iter().find(|of| of["name"] == name).unwrap()["committed"].as_u64().unwrap()
}

#[test]
fn scripts_run_their_own_statements_through_a_transaction_pooler() {
    let server = PostgresServer::shared();
    let program = Program::new();
    let target = fresh("pooled");
    rows(&target, "CREATE TABLE a (n int); CREATE TABLE b (n int); CREATE TABLE c (n int)");
    let pooler = PgBouncer::start(server, &["pool_mode = transaction"]).unwrap();
    let pooled = pooler.url(server, name_of(&target));
    let mut scripts = Vec::new();
    for table in ["a", "b", "c"] {
        let text = format!("\\set n 1\nBEGIN;\nINSERT INTO {table} VALUES (:n);\nEND;\n");
        std::fs::write(program.path(&format!("{table}.sql")), text).unwrap();
        scripts.extend(["--script".to_owned(), format!("{table}.sql")]);
    }
    let mut run = vec!["run", &pooled, "-w", "script"];
    run.extend(scripts.iter().map(String::as_str));
    let result = program.json(&[&run[..], &["--vus", "8", "--transactions", "40"]].concat());
    for table in ["a", "b", "c"] {
        let there = rows(&target, &format!("SELECT count(*)::text FROM {table}"));
        assert_eq!(there[0][0], Some(committed(&result, table).to_string()), "{table}");
    }
    let forgets = pooler.forgets_statements();
    assert_eq!(result["spec"]["protocol"], if forgets { "extended" } else { "prepared" });
    let notes = result["notes"].to_string();
    assert_eq!(notes.contains("does not keep prepared statements"), forgets, "{notes}");
    // Everything else works, too.
    program.ok(&["build", &pooled, "-w", "tpc-b", "--jobs", "2"]);
    program.ok(&["run", &pooled, "-w", "tpc-b", "--vus", "8", "--transactions", "20"]);
    program.ok(&["check", &pooled, "-w", "tpc-b"]);
    if forgets {
        let forced = ["--vus", "8", "--transactions", "40", "--protocol", "prepared"];
        let done = program.run(&[&run[..], &forced].concat());
        assert_ne!(done.code, 0, "{done:?}");
        let all = done.out + &done.err;
        assert!(all.contains("pooler, such as PgBouncer, loses prepared statements"), "{all}");
        // Those that got the same connection as at their preparation go on; the others are missing.
        let few = ["pool_mode = transaction", "default_pool_size = 2"];
        let few_pooled = PgBouncer::start(server, &few).unwrap();
        let few = few_pooled.url(server, name_of(&target));
        let mut run = run.clone();
        run[1] = &few;
        let forced = ["--vus", "4", "--duration", "3s", "--rampup", "0s", "--protocol", "prepared"];
        let done = program.run(&[&run[..], &forced].concat());
        assert_ne!(done.code, 0, "{done:?}");
        program.ok(&["drop", &pooled, "-w", "tpc-b", "--yes"]);
    }
    let sessions = PgBouncer::start(server, &["pool_mode = session", "default_pool_size = 20"]);
    let sessions = sessions.unwrap();
    let target = sessions.url(server, name_of(&target));
    run[1] = &target;
    let result = program.json(&[&run[..], &["--vus", "2", "--transactions", "5"]].concat());
    assert_eq!(result["spec"]["protocol"], "prepared");
}

#[test]
fn loads_that_only_read_run_where_nothing_can_be_written() {
    let program = Program::new();
    let target = fresh("reading");
    program.ok(&["build", &target, "-w", "kv", "--scale", "0.001"]);
    program.ok(&["build", &target, "-w", "tpc-b"]);
    let role = format!("reader_{}", std::process::id());
    let sql = format!(
        "CREATE ROLE {role} LOGIN PASSWORD 'secret'; ALTER ROLE {role} SET \
         default_transaction_read_only = on; GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}"
    );
    rows(&target, &sql);
    let port = PostgresServer::shared().port();
    let reader = format!("postgres://{role}:secret@127.0.0.1:{port}/{}", name_of(&target));
    std::fs::write(program.path("read.sql"), "SELECT count(*) FROM pgbench_branches;\n").unwrap();
    for args in [
        ["-w", "kv", "--mix", "read=1"],
        ["-w", "tpc-b", "--mix", "select-only"],
        ["-w", "script", "--script", "read.sql"],
    ] {
        let run = ["run", &reader, "--vus", "2", "--transactions", "20"];
        let done = program.run(&[&run[..], &args].concat());
        assert_eq!(done.code, 0, "{args:?}: {}", done.err);
        assert!(!done.err.contains("would fail"), "{args:?}: {}", done.err);
    }
    let writes = program.run(&["run", &reader, "-w", "tpc-b", "--transactions", "1"]);
    assert_eq!(writes.code, 2, "{}", writes.err);
    rows(&target, &format!("DROP OWNED BY {role}; DROP ROLE {role}"));
}

/// Whatever has the name of a table would stand in the way of the next build.
#[test]
fn a_type_with_the_name_of_a_table_is_no_table() {
    let program = Program::new();
    let target = fresh("substituted");
    program.ok(&["build", &target, "-w", "tpc-b"]);
    let server = PostgresServer::shared();
    let database = target.rsplit('/').next().unwrap();
    for (makes, removes) in [
        ("CREATE TYPE pgbench_tellers AS (tid int)", "DROP TYPE pgbench_tellers"),
        ("CREATE DOMAIN pgbench_tellers AS int", "DROP DOMAIN pgbench_tellers"),
    ] {
        server.run(database, "ALTER TABLE pgbench_tellers RENAME TO others").unwrap();
        server.run(database, makes).unwrap();
        let refused = program.run(&["drop", &target, "-w", "tpc-b", "--yes"]);
        assert_eq!(refused.code, 2, "{makes}: {}", refused.err);
        assert!(
            refused.err.contains("nothing was dropped: type pgbench_tellers"),
            "{}",
            refused.err
        );
        server.run(database, removes).unwrap();
        server.run(database, "ALTER TABLE others RENAME TO pgbench_tellers").unwrap();
    }
    program.ok(&["drop", &target, "-w", "tpc-b", "--yes"]);
}

/// The session that keeps a check's snapshot open is idle meanwhile.
#[test]
fn a_check_outlives_limits_on_idle_transactions() {
    let program = Program::new();
    let target = fresh("idle");
    program.ok(&["build", &target]);
    let server = PostgresServer::shared();
    server.run("postgres", "CREATE ROLE hasty LOGIN SUPERUSER PASSWORD 'h'").unwrap();
    let set = "ALTER ROLE hasty SET idle_in_transaction_session_timeout = '1s'";
    server.run("postgres", set).unwrap();
    let (_, place) = target.split_once('@').unwrap();
    let checked = program.ok(&["check", &format!("postgres://hasty:h@{place}")]);
    assert!(checked.contains("all 36 conditions"), "{checked}");
}
