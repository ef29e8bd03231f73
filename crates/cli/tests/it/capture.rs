//! `capture` and replays, with logs that real servers wrote.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use triphammer_testbed::{PostgresOptions, PostgresServer};

use crate::program::Program;
use crate::servers::name_of;

/// How often a log is read at most, and the time between two reads.
const POLLS_MAX: usize = 2_400;
const POLL: Duration = Duration::from_millis(50);

/// First version of PostgreSQL that logs as JSON, too.
const WITH_JSON: u32 = 150_000;

/// A PostgreSQL server that logs every statement as CSV, and as JSON if it can.
fn logging() -> PostgresServer {
    let settings = [
        ("logging_collector", "on"),
        ("log_destination", if logs_json() { "csvlog,jsonlog" } else { "csvlog" }),
        ("log_directory", "log"),
        ("log_filename", "log.log"),
        ("log_disconnections", "on"),
        ("lc_messages", "C"),
    ];
    let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    PostgresServer::start(PostgresOptions { settings, ..PostgresOptions::default() }).unwrap()
}

/// Whether the servers of these tests can log as JSON.
fn logs_json() -> bool {
    PostgresServer::shared().version().unwrap() >= WITH_JSON
}

/// Begins to log statements.
fn log_statements(server: &PostgresServer) {
    server.run("postgres", "ALTER SYSTEM SET log_min_duration_statement = 0").unwrap();
    server.run("postgres", "SELECT pg_reload_conf()").unwrap();
}

/// Waits until a log of the server contains a text, and copies it.
fn copy_log(server: &PostgresServer, name: &str, text: &str, to: &Path) {
    let sql = format!("SELECT pg_read_file('log/{name}')");
    for _ in 0..POLLS_MAX {
        let rows = server.run("postgres", &sql).unwrap();
        let log = rows[0][0].clone().unwrap_or_default();
        if log.contains(text) {
            std::fs::write(to, log).unwrap();
            return;
        }
        std::thread::sleep(POLL);
    }
    panic!("{name} does not contain {text}");
}

/// What the transactions of tpc-b left.
fn state(server: &PostgresServer, database: &str) -> String {
    let sql = "SELECT (SELECT count(*) FROM pgbench_history)::text, (SELECT sum(delta) FROM \
               pgbench_history)::text, (SELECT sum(abalance) FROM pgbench_accounts)::text, \
               (SELECT md5(string_agg(tid || '.' || bid || '.' || aid || '.' || delta, ',' ORDER BY \
               tid, bid, aid, delta)) FROM pgbench_history)";
    format!("{:?}", server.run(database, sql).unwrap())
}

fn file(program: &Program, name: &str) -> (PathBuf, String) {
    let path = program.path(name);
    let text = path.display().to_string();
    (path, text)
}

#[test]
fn a_log_of_postgresql_is_replayed_with_the_same_statements_and_values() {
    let server = logging();
    let program = Program::new();
    let target = server.fresh_database("recorded").unwrap();
    program.ok(&["build", &target, "-w", "tpc-b", "--scale", "1"]);
    let template = name_of(&target).to_owned();
    for copy in ["copy1", "copy4"] {
        server.run("postgres", &format!("CREATE DATABASE {copy} TEMPLATE {template}")).unwrap();
    }
    log_statements(&server);
    let run = ["run", &target, "-w", "tpc-b", "--vus", "2", "--load", "rate:40/s"];
    let ran =
        program.json(&[&run[..], &["--rampup", "0s", "--duration", "2s", "--seed", "7"]].concat());
    let ran = ran["run"]["total"]["committed"].as_u64().unwrap();
    assert!(ran > 0);
    server.run("postgres", "SELECT 'the end'").unwrap();
    let recorded = state(&server, &template);
    let logs = [("log.csv", "copy1", "1x"), ("log.json", "copy4", "4x")];
    let logs = if logs_json() { &logs[..] } else { &logs[..1] };
    // A replay is logged, too.
    for (name, ..) in logs {
        copy_log(&server, name, "the end", &program.path(name));
    }
    for (name, copy, speed) in logs {
        let (_, log_file) = file(&program, name);
        let (_, recording) = file(&program, &format!("{name}.recording"));
        // The server logged those of its other databases, too.
        let mixed = program.run(&["capture", &log_file, "-o", &recording]);
        assert_eq!(mixed.code, 2, "{}", mixed.out);
        assert!(mixed.err.contains("--database") && mixed.err.contains(&template), "{}", mixed.err);
        let report =
            program.json(&["capture", &log_file, "-o", &recording, "--database", &template]);
        assert!(report["transactions"].as_u64().unwrap() >= ran, "{report}");
        let to = target.replace(&template, copy);
        let load = format!("replay:{recording},speed={speed}");
        let result: Value = program.json(&["run", &to, "--load", &load]);
        assert_eq!(result["violated_identities"].as_array().unwrap().len(), 0);
        assert_eq!(state(&server, copy), recorded, "{name}");
    }
}

#[test]
fn a_captured_workload_runs_as_it_is() {
    let server = logging();
    let program = Program::new();
    let target = server.fresh_database("captured").unwrap();
    let name = name_of(&target).to_owned();
    log_statements(&server);
    let mut setup = String::from(
        "CREATE TABLE item (id int PRIMARY KEY, name text, price numeric)%% INSERT INTO item SELECT \
         n, 'item ' || n, n FROM generate_series(1, 500) n%% CREATE USER u PASSWORD 'geheim'",
    );
    for n in 0..200 {
        let id = n * 7 % 500 + 1;
        let _ = write!(
            setup,
            "%% BEGIN; UPDATE item SET price = price + 0.5 WHERE id = {id}; SELECT name FROM item \
             WHERE id = {id} AND name = 'item {id}' LIMIT 1; COMMIT"
        );
    }
    // One message per statement.
    for statement in setup.split("%% ") {
        server.run(&name, statement).unwrap();
    }
    server.run(&name, "SELECT 'the end'").unwrap();
    let (path, log_file) = file(&program, "log.csv");
    copy_log(&server, "log.csv", "the end", &path);
    let text = program.ok(&["capture", &log_file, "-o", "shop"]);
    assert!(text.contains("statements with a password: 1"), "{text}");
    let workload = std::fs::read_to_string(program.path("shop/workload.toml")).unwrap();
    let samples = std::fs::read_to_string(program.path("shop/workload-values.csv")).unwrap();
    assert!(!workload.contains("geheim") && !samples.contains("geheim"));
    let sql = "UPDATE item SET price = price + 0.5 WHERE id = :id";
    assert!(workload.contains(sql) && workload.contains("LIMIT 1"), "{workload}");
    let run = ["run", &target, "-w", "shop/workload.toml", "--vus", "2", "--transactions", "50"];
    let result = program.json(&run);
    let failed = result["run"]["total"]["failed"].as_u64();
    assert_eq!(failed.unwrap_or(0), 0, "{}", result["run"]["total"]);
    let again = program.run(&["capture", &log_file, "-o", "shop"]);
    assert_eq!(again.code, 2);
    assert!(again.err.contains("exists already, and is not overwritten"), "{}", again.err);
}

#[test]
fn what_is_no_log_is_rejected_and_leaves_nothing() {
    let program = Program::new();
    let long = format!("2026-01-31 12:00:00 UTC,\"{}\n", "x".repeat(10_000_000));
    let text_log = "2026-01-31 10:00:01 UTC [20]: [2-1] user=app,db=shop,app=web,client=h LOG:  \
                    duration: 0.16 ms  statement: INSERT INTO h (t, b, a) VALUES (1, 2, 3);\n";
    let cloud =
        "{\"textPayload\":\"2026-01-31 10:00:00 UTC [1]: LOG: x\",\"timestamp\":\"2026-01-31\"}\n";
    let trace = "2026-01-31T12:00:00.000100Z\t    8 Quit\t\n";
    for (text, from, message) in [
        ("", "", "the log a.log is empty"),
        ("hello\n", "", "cannot detect the format of the log a.log: set it with --from"),
        ("\0\0\0\0", "", "cannot detect the format of the log a.log"),
        (long.as_str(), "csvlog", "has no transaction that can be replayed"),
        ("a\0b\n", "jsonlog", "damaged lines: 1"),
        (trace, "general-log", "the server logs every statement with general_log = ON"),
        ("hello\n", "slow", "unknown source `slow`: expected one of csvlog"),
        (
            text_log,
            "",
            "it is PostgreSQL's text log (log_destination = stderr or syslog): a csvlog",
        ),
        (text_log, "csvlog", "set log_destination = 'csvlog' and logging_collector = on"),
        (cloud, "", "it is an export of Cloud SQL, with lines of PostgreSQL's text log in it"),
        (
            "# User@Host: a[a] @ b []\n# Query_time: 2\nSELECT 1;\n",
            "",
            "number of their connection",
        ),
    ] {
        std::fs::write(program.path("a.log"), text).unwrap();
        let from = if from.is_empty() { vec![] } else { vec!["--from", from] };
        for out in ["o/w.toml", "o/w.recording"] {
            let args = [&["capture", "a.log", "-o", out][..], &from].concat();
            let done = program.run(&args);
            assert_eq!(done.code, 2, "{}{}", done.out, done.err);
            assert!(done.err.contains(message), "{message}: {}", done.err);
            assert!(!program.path("o").exists(), "an empty folder");
        }
    }
    let url = program.run(&["capture", "postgres://h/shop", "--database", "shop"]);
    assert!(url.code == 2 && url.err.contains("--database chooses one of a log"), "{}", url.err);
    let none = program.run(&["capture", "nowhere.csv"]);
    assert!(none.err.contains("cannot read the log nowhere.csv"), "{}", none.err);
    let other = program.run(&["run", "null:", "-w", "tpc-b", "--load", "replay:a.recording"]);
    assert!(other.err.contains("-w tpc-b cannot be replayed"), "{}", other.err);
    let not_one = program.run(&["run", "null:", "--load", "replay:a.log"]);
    assert!(not_one.err.contains("cannot read the recording a.log: "), "{}", not_one.err);
}

#[test]
fn a_file_that_appears_while_the_log_is_read_is_not_overwritten() {
    let program = Program::new();
    let mut log = String::new();
    for n in 0..40_000 {
        let _ = writeln!(log, "2026-01-31T12:00:00.{n:06}Z\t    8 Query\tSELECT {n}");
    }
    std::fs::write(program.path("a.log"), log).unwrap();
    let captures = ["out", "out", "out", "a.recording"].map(|out| {
        let mut command = program.command(&["capture", "a.log", "-o", out]);
        let piped = std::process::Stdio::piped;
        command.stdout(piped()).stderr(piped()).spawn().unwrap()
    });
    // Its incomplete file shows that a capture has begun.
    for _ in 0..POLLS_MAX {
        if program.path("a.recording.partial").exists() {
            break;
        }
        std::thread::sleep(POLL / 10);
    }
    std::fs::write(program.path("a.recording"), "precious").unwrap();
    let done = captures.map(crate::program::finish);
    assert_eq!(std::fs::read_to_string(program.path("a.recording")).unwrap(), "precious");
    assert_eq!(done[3].code, 2, "{}", done[3].err);
    let is_good = done[..3].iter().filter(|done| done.code == 0).count();
    assert_eq!(is_good, 1, "{} {} {}", done[0].err, done[1].err, done[2].err);
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
    let left = std::fs::read_dir(program.folder()).unwrap().map(name);
    assert!(left.into_iter().all(|name| !name.to_string_lossy().ends_with(".partial")));
}

#[test]
fn one_of_several_databases_is_captured() {
    let program = Program::new();
    let csv = |database: &str, session: &str, sql: &str| {
        format!(
            "2026-01-31 12:00:01.500 UTC,\"u\",\"{database}\",7,\"[local]\",{session},3,\"SELECT\",\
             2026-01-31 11:00:00 UTC,3/4,0,LOG,00000,\"statement: {sql}\",,,,,,,,,\"app\",\
             \"client backend\",,0\n"
        )
    };
    let postgres = csv("one", "65ba.7", "INSERT INTO y VALUES (1)").repeat(2)
        + &csv("two", "65ba.8", "INSERT INTO y VALUES (2)")
        + &csv("postgres", "65ba.9", "SET work_mem = 1");
    let general = "260131 12:00:01\t 7 Connect\tu@h on one using Socket\n\
                   \t\t 7 Query\tINSERT INTO y VALUES (1)\n\t\t 7 Query\tINSERT INTO y VALUES (1)\n\
                   \t\t 8 Connect\tu@h on  using Socket\n\t\t 8 Query\tUSE two\n\
                   \t\t 8 Query\tINSERT INTO y VALUES (2)\n";
    for (name, log) in [("a.csv", postgres.as_str()), ("b.log", general)] {
        std::fs::write(program.path(name), log).unwrap();
        for out in ["w.toml", "w.recording"] {
            let out = format!("{name}.{out}");
            let args = ["capture", name, "-o", &out];
            let mixed = program.run(&args);
            assert_eq!(mixed.code, 2, "{}", mixed.out);
            for part in ["choose it with --database", "one: 2 statements", "two: 1 statement"] {
                assert!(mixed.err.contains(part), "{part}: {}", mixed.err);
            }
            assert!(!program.path(&out).exists());
            let none = program.run(&[&args[..], &["--database", "three"]].concat());
            assert_eq!(none.code, 2, "{}", none.out);
            assert!(none.err.contains("no statement of the database `three`"), "{}", none.err);
            let one = program.json(&[&args[..], &["--database", "one"]].concat());
            assert_eq!(one["statements"], 2, "{one}");
            let left_out = &one["skipped"].as_array().unwrap()[..];
            let others =
                left_out.iter().find(|one| one["reason"] == "statements of other databases");
            assert_eq!(others.unwrap()["count"], 1, "{one}");
        }
    }
}
