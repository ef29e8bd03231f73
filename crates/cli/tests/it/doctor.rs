//! `doctor` on real servers and files: what is wrong, what is hidden, and what never answers.

use std::net::TcpListener;

use serde_json::Value;
use triphammer_core::clock::Clock;
use triphammer_testbed::{MariadbOptions, MariadbServer, PostgresOptions, PostgresServer};

use crate::program::Program;

/// The document of an examination, with its exit code.
fn examined(program: &Program, target: &str) -> (i32, Value) {
    let done = program.run(&["doctor", target, "--json"]);
    let document = serde_json::from_str(&done.out);
    (done.code, document.unwrap_or_else(|error| panic!("{error}: {}{}", done.out, done.err)))
}

/// Verdict and value of a check.
fn found<'a>(document: &'a Value, name: &str) -> (&'a str, &'a str) {
    let lines = document["lines"].as_array().unwrap();
    let line = lines.iter().find(|line| line["name"] == name);
    let line = line.unwrap_or_else(|| panic!("no line for {name}: {document:#}"));
    (line["verdict"].as_str().unwrap(), line["value"].as_str().unwrap())
}

/// Every check of the database was made: its SQL suits this server.
fn assert_all_read(document: &Value) {
    for unread in document["unread"].as_array().unwrap() {
        assert_eq!(unread["reason"], "this host does not show it", "{document:#}");
    }
}

fn grants(document: &Value) -> Vec<&str> {
    document["hidden"].as_array().unwrap().iter().map(|h| h["grant"].as_str().unwrap()).collect()
}

/// The same target for another user with the password `r`.
fn as_user(target: &str, user: &str) -> String {
    let (scheme, rest) = target.split_once("://").unwrap();
    format!("{scheme}://{user}:r@{}", rest.split_once('@').unwrap().1)
}

#[test]
fn a_postgres_server_without_fsync_is_wrong_and_a_durable_one_is_not() {
    let program = Program::new();
    let server = PostgresServer::start(PostgresOptions { fsync: false, ..Default::default() });
    let server = server.unwrap();
    let target = server.fresh_database("doctor").unwrap();
    program.ok(&["build", &target, "--workload", "tpc-b"]);
    let (code, document) = examined(&program, &target);
    assert_eq!((code, found(&document, "fsync")), (1, ("wrong", "off")));
    assert_eq!(document["verdict"], "wrong");
    assert_eq!((document["host_of_database"].as_bool(), grants(&document)), (Some(true), vec![]));
    assert!(found(&document, "statistics").1.starts_with("0 of "), "{document:#}");
    for line in ["round_trip", "jitter", "download", "upload", "data_file_system"] {
        found(&document, line);
    }
    assert_all_read(&document);
    let text = program.run(&["doctor", &target]);
    assert_eq!(text.code, 1);
    assert!(text.out.lines().all(|line| line.chars().count() <= 80), "{}", text.out);
    assert!(text.out.contains("\nwrong  fsync: off\n"), "{}", text.out);

    let database = target.rsplit('/').next().unwrap().split('?').next().unwrap();
    server.run(database, "CREATE ROLE plain LOGIN PASSWORD 'r'").unwrap();
    let (_, hidden) = examined(&program, &as_user(&target, "plain"));
    assert_eq!(grants(&hidden), ["GRANT pg_monitor TO plain;"], "once: {hidden:#}");
    assert_all_read(&hidden);
    server.run(database, "GRANT pg_monitor TO plain").unwrap();
    let (_, granted) = examined(&program, &as_user(&target, "plain"));
    assert_eq!(grants(&granted), Vec::<&str>::new(), "the grant is the right one");
}

#[test]
fn a_mariadb_server_that_does_not_flush_is_wrong() {
    let program = Program::new();
    let options = MariadbOptions {
        fsync: true,
        arguments: vec!["--innodb-flush-log-at-trx-commit=0".into()],
        ..Default::default()
    };
    let server = MariadbServer::start(options).unwrap();
    let target = server.fresh_database("doctor").unwrap();
    program.ok(&["build", &target, "--workload", "tpc-b"]);
    let (code, document) = examined(&program, &target);
    assert_eq!((code, found(&document, "flush_log_at_trx_commit")), (1, ("wrong", "0")));
    assert!(found(&document, "statistics").1.starts_with("0 of "), "{document:#}");
    assert_eq!(grants(&document), Vec::<&str>::new());
    assert_all_read(&document);
    for line in ["round_trip", "download", "upload", "redo_log_size", "max_connections"] {
        found(&document, line);
    }
    let database = target.rsplit('/').next().unwrap().split('?').next().unwrap();
    let create = format!("CREATE USER plain IDENTIFIED BY 'r'; GRANT ALL ON {database}.* TO plain");
    server.run(database, &create).unwrap();
    let (_, hidden) = examined(&program, &as_user(&target, "plain"));
    let expected =
        ["GRANT SELECT ON mysql.innodb_table_stats TO plain;", "GRANT PROCESS ON *.* TO plain;"];
    assert_eq!(grants(&hidden), expected, "{hidden:#}");
    assert_all_read(&hidden);
    server.run(database, &expected.join(" ")).unwrap();
    let (_, granted) = examined(&program, &as_user(&target, "plain"));
    assert_eq!(grants(&granted), Vec::<&str>::new(), "the grants are the right ones");
}

#[test]
fn a_file_without_synchronous_is_wrong_and_none_is_created_or_changed() {
    let program = Program::new();
    let missing = program.run(&["doctor", "sqlite:none.sqlite"]);
    assert_eq!(missing.code, 2);
    assert!(missing.err.contains("none.sqlite: no such file"), "{}", missing.err);
    assert!(!program.path("none.sqlite").exists());
    program.ok(&["build", "sqlite:a.sqlite", "--workload", "tpc-b"]);
    let before = std::fs::read(program.path("a.sqlite")).unwrap();
    let (code, document) = examined(&program, "sqlite:a.sqlite?synchronous=off");
    assert_eq!((code, found(&document, "synchronous")), (1, ("wrong", "off")));
    assert_all_read(&document);
    found(&document, "data_file_system");
    let (code, document) = examined(&program, "sqlite:a.sqlite");
    assert_eq!(found(&document, "synchronous"), ("fine", "full"));
    assert_eq!(code, i32::from(document["verdict"] == "wrong"), "the host may be wrong");
    assert!(before == std::fs::read(program.path("a.sqlite")).unwrap(), "the file changed");
    assert!(!program.ok(&["jobs"]).contains("doctor"), "nothing is stored");
}

#[test]
fn a_duckdb_file_is_examined() {
    let program = Program::with_duckdb();
    program.ok(&["build", "duckdb:a.duckdb", "--workload", "tpc-b"]);
    let (_, document) = examined(&program, "duckdb:a.duckdb");
    assert_eq!(found(&document, "profiling"), ("fine", "off"));
    assert_all_read(&document);
}

#[test]
fn without_a_target_only_the_host_is_examined() {
    let program = Program::new();
    let done = program.run(&["doctor", "--json"]);
    let document: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(done.code, i32::from(document["verdict"] == "wrong"));
    assert!(document["target"].is_null() && document["server"].is_null());
    let lines = document["lines"].as_array().unwrap();
    assert!(!lines.is_empty() && lines.iter().all(|line| line["group"] == "host"));
    assert!(!program.path("tproc-c.sqlite").exists(), "no default file");
}

/// The connection is accepted, and nothing is ever sent.
#[test]
fn a_server_that_never_answers_is_left_in_time() {
    let program = Program::new();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    for scheme in ["postgres", "mysql"] {
        let target = format!("{scheme}://u:hunter2@127.0.0.1:{port}/d");
        let clock = Clock::start();
        let done = program.run(&["doctor", &target]);
        assert!(clock.now().second() < 30, "{scheme}: {} s", clock.now().second());
        assert_eq!(done.code, 2, "{scheme}: {}", done.err);
        assert!(done.err.contains("answer within 10 s"), "{scheme}: {}", done.err);
        assert!(!done.err.contains("hunter2"), "{}", done.err);
    }
}

#[test]
fn bad_input_is_refused() {
    let program = Program::new();
    for (args, message) in [
        (&["doctor", "nonsense"][..], "must begin with its kind of database"),
        (&["doctor", "oracle://h/d"], "unknown scheme `oracle:`"),
        (&["doctor", "sqlite:a.db", "--scale", "2"], "--scale"),
        (&["doctor", "a:", "b:"], "unexpected argument"),
        (&["doctor", "null:", "--connect-timeout", "5"], "connect-timeout"),
    ] {
        let done = program.run(args);
        assert_eq!((done.code, done.out.as_str()), (2, ""), "{args:?}");
        assert!(done.err.contains(message), "{args:?}: {}", done.err);
    }
}
