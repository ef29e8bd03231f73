//! Pauses without connections before a run, and the first answer after them.

use std::time::Duration;

use serde_json::Value;
use triphammer_core::clock::Clock;
use triphammer_testbed::{MariadbServer, PostgresOptions, PostgresServer};

use crate::program::{Messages, Program, finish, signal};
use crate::servers::name_of;

/// A run on a database that suspends when nobody was connected for half a second, and takes two seconds
/// to resume.
const SUSPENDS: [&str; 8] = [
    "run",
    "null:?resume=2s/500ms&service=1ms",
    "--rampup",
    "0s",
    "--duration",
    "1s",
    "--pause",
    "1s",
];

/// What a program writes before and after the pause.
const PAUSED: &str = "no connection to";
const ANSWERED: &str = "first answer after a pause of";

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value}"))
}

/// Workload of one statement that needs no table.
fn script(program: &Program) -> [&'static str; 4] {
    std::fs::write(program.path("one.sql"), "SELECT 1;\n").unwrap();
    ["-w", "script", "--script", "one.sql"]
}

#[test]
fn the_first_answer_of_a_database_that_resumes_is_in_every_report() {
    let program = Program::new();
    let result = program.json(&[&SUSPENDS[..], &["--require", "first_answer < 10s"]].concat());
    let first = &result["first_answer"];
    assert_eq!((&first["pause"], &first["failed"]), (&"1s".into(), &0.into()), "{first}");
    let [answer, login] = ["answer_s", "login_s"].map(|name| number(&first[name]));
    assert!((2.0..2.8).contains(&answer) && login <= answer, "{first}");
    assert!(number(&first["statement_s"]) < 0.5, "{first}");
    // It is before the load, and in none of its figures.
    assert_eq!(result["logins"]["start"]["count"], 10, "{}", result["logins"]);
    assert!(number(&result["window"]["total"]["response"]["max_us"]) < 1e6);
    let words = first["words"].as_str().unwrap();
    assert!(words.starts_with("first answer after a pause of 1s: 2."), "{words}");
    for format in ["text", "markdown"] {
        let report = program.ok(&["report", "last", "--format", format]).replace('\n', " ");
        let report = report.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(report.contains(words), "{words}\n{report}");
    }
    let summary = program.ok(&SUSPENDS);
    assert!(summary.contains("Pause") && summary.contains("first answer after"), "{summary}");
    let done = program.run(&[&SUSPENDS[..], &["--require", "first_answer < 1s"]].concat());
    assert_eq!(done.code, 1, "{done:?}");
}

#[test]
fn nobody_is_connected_to_postgres_in_the_pause() {
    let server = PostgresServer::shared();
    let target = server.fresh_database("pause").unwrap();
    let name = name_of(&target);
    let program = Program::new();
    program.ok(&["build", &target, "-w", "tpc-b"]);
    let run = ["run", &target, "-w", "tpc-b", "--rampup", "0s", "--duration", "1s", "--json"];
    let mut child = program.start(&[&run[..], &["--pause", "4s"]].concat());
    let mut messages = Messages::by(&mut child);
    messages.wait_for(PAUSED);
    // A session of the server ends a moment after its client has left.
    let count = format!("SELECT count(*)::text FROM pg_stat_activity WHERE datname = '{name}'");
    let connected = || server.run("postgres", &count).unwrap()[0][0].clone().unwrap() != "0";
    let begun = Clock::start();
    while connected() {
        assert!(begun.now().duration() < Duration::from_secs(2), "somebody is still connected");
    }
    let mut looks = 0;
    while begun.now().duration() < Duration::from_secs(3) {
        assert!(!connected(), "somebody has connected in the pause");
        looks += 1;
    }
    assert!(looks > 10, "{looks}");
    messages.wait_for(ANSWERED);
    let done = finish(child);
    assert_eq!(done.code, 0, "{done:?}");
    let result: Value = serde_json::from_str(&done.out).unwrap();
    let first = &result["first_answer"];
    let [answer, login] = ["answer_s", "login_s"].map(|name| number(&first[name]));
    assert!(0.0 < login && login < answer && answer < 5.0, "{first}");
    let phases =
        ["connect_s", "tls_s", "authentication_s", "setup_s"].map(|name| number(&first[name]));
    assert!((phases.iter().sum::<f64>() - login).abs() < 1e-6, "{first}");
    assert!(result["availability"]["outages"].as_array().unwrap().is_empty(), "{result}");
}

#[test]
fn each_run_of_a_matrix_on_mariadb_has_its_first_answer() {
    let server = MariadbServer::start(Default::default()).unwrap();
    let target = server.fresh_database("pause").unwrap();
    let program = Program::new();
    let script = script(&program);
    let matrix = ["matrix", &target, "--over", "vus=1,2", "--repeats", "1", "--cool-down", "0s"];
    let length = ["--rampup", "0s", "--duration", "1s", "--pause", "500ms"];
    program.ok(&[&matrix[..], &length, &script].concat());
    for job in ["2", "3"] {
        let result = program.ok(&["report", job, "--format", "json"]);
        let result: Value = serde_json::from_str(&result).unwrap();
        let first = &result["first_answer"];
        let [answer, login] = ["answer_s", "login_s"].map(|name| number(&first[name]));
        assert!(0.0 < login && login < answer && answer < 5.0, "{first}");
        assert!(number(&first["authentication_s"]) > 0.0, "{first}");
    }
}

#[test]
fn a_server_that_comes_late_is_waited_for_and_what_failed_is_counted() {
    let mut server = PostgresServer::start(PostgresOptions::default()).unwrap();
    let target = server.url(&server.lasting_database("late").unwrap());
    let program = Program::new();
    let script = script(&program);
    let run = ["run", &target, "--rampup", "0s", "--duration", "1s", "--pause", "1s", "--json"];
    let mut child = program.start(&[&run[..], &script].concat());
    Messages::by(&mut child).wait_for(PAUSED);
    let begun = Clock::start();
    // It is stopped when the pause ends, and answers only later.
    server.sigstop();
    std::thread::sleep(Duration::from_secs(3).saturating_sub(begun.now().duration()));
    server.sigcont();
    let passed = begun.now().duration().as_secs_f64();
    let done = finish(child);
    assert_eq!(done.code, 0, "{done:?}");
    let result: Value = serde_json::from_str(&done.out).unwrap();
    let first = &result["first_answer"];
    assert!((number(&first["answer_s"]) - (passed - 1.0)).abs() < 1.0, "{passed}: {first}");

    let mut child = program.start(&[&run[..], &script].concat());
    Messages::by(&mut child).wait_for(PAUSED);
    let begun = Clock::start();
    server.stop();
    std::thread::sleep(Duration::from_secs(2).saturating_sub(begun.now().duration()));
    server.restart().unwrap();
    let done = finish(child);
    assert_eq!(done.code, 0, "{done:?}");
    let result: Value = serde_json::from_str(&done.out).unwrap();
    let first = &result["first_answer"];
    assert!(number(&first["failed"]) > 1.0 && number(&first["answer_s"]) > 0.5, "{first}");
    let words = first["words"].as_str().unwrap();
    assert!(words.contains("logins that failed in") && words.contains("could not"), "{words}");
}

#[test]
fn an_interrupt_ends_a_pause() {
    let program = Program::new();
    let mut child = program.start(&["run", "null:", "--pause", "1h"]);
    let mut messages = Messages::by(&mut child);
    messages.wait_for(PAUSED);
    signal(&child, "INT");
    messages.wait_for("interrupted");
    assert_eq!(finish(child).code, 130);
}

#[test]
fn pauses_that_are_none_are_refused() {
    let program = Program::new();
    for (args, words) in [
        (&["--pause", "0s"][..], "must be longer than 0"),
        (&["--pause", "soon"], "invalid duration `soon`"),
        (&["--pause", "10m", "--route", "all=first:all"], "is for a target of one server"),
    ] {
        let done =
            program.run(&[&["run", "postgres://u@127.0.0.1:1,127.0.0.1:2/d"], args].concat());
        assert_eq!(done.code, 2, "{args:?}: {done:?}");
        assert!(done.err.contains(words), "{args:?}: {}", done.err);
    }
    let done = program.run(&["compare", "--duet", "null:", "null:", "--pause", "10m"]);
    assert_eq!(done.code, 2, "{done:?}");
    assert!(done.err.contains("the first answers of two runs at once would meet"), "{}", done.err);
}
