//! Profiles by the real program: complete, interrupted in both ways and resumed, and searched.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::program::{Messages, Program, finish, signal};
use crate::schema::valid;

/// A server of four workers, 20 ms per call: four users saturate it.
const TARGET: &str = "null:?service=20ms&workers=4";

/// Arguments of three levels, some times each.
fn three_levels(repeats: &'static str) -> Vec<&'static str> {
    let mut args = vec!["profile", TARGET, "--vus", "1,2,4", "--repeats", repeats];
    args.extend(["--rampup", "0s", "--duration", "1s", "--cool-down", "0s"]);
    args
}

/// Virtual users by step, of the complete runs in the store.
fn complete_runs(program: &Program, job: &str) -> Vec<(u64, u64)> {
    let rows = program.json(&["jobs", "--parent", job, "--limit", "100"]);
    let complete = rows.as_array().unwrap().iter().filter(|row| row["status"] == "complete");
    complete.map(|row| (row["step"].as_u64().unwrap(), row["users"].as_u64().unwrap())).collect()
}

/// The levels of a profile with how many runs each has.
fn levels(document: &Value) -> Vec<(u64, usize)> {
    let level = |l: &Value| (l["users"].as_u64().unwrap(), l["runs"].as_array().unwrap().len());
    document["levels"].as_array().unwrap().iter().map(level).collect()
}

#[test]
fn a_profile_is_one_job_of_all_its_runs() {
    let program = Program::new();
    let document = program.json(&three_levels("2"));
    valid(&document, "ProfileResult");
    assert_eq!(document["status"], "complete");
    assert_eq!(levels(&document), [(1, 2), (2, 2), (4, 2)]);
    assert!(document["usl"].is_object() && document["no_curve"].is_null());
    let order: Vec<u64> =
        document["order"]["steps"].as_array().unwrap().iter().filter_map(Value::as_u64).collect();
    let runs = complete_runs(&program, "1");
    let ran: BTreeMap<u64, u64> = runs.iter().copied().collect();
    assert_eq!(ran.values().copied().collect::<Vec<_>>(), order, "run in the order that it tells");
    assert_eq!(runs.len(), 6);
    let jobs = program.ok(&["jobs"]);
    assert_eq!(jobs.lines().count(), 3, "a heading, and two lines of the profile: {jobs}");
    assert!(jobs.contains("profile") && jobs.contains("(6 runs)"), "{jobs}");
    let report = program.ok(&["report", "last"]);
    assert!(report.contains("λ") && report.contains("3 levels, 6 runs"), "{report}");
    assert!(report.lines().all(|line| line.chars().count() <= 80), "{report}");
    let stored: Value =
        serde_json::from_str(&program.ok(&["report", "1", "--format", "json"])).unwrap();
    assert_eq!(stored, document);
    let again = program.run(&["profile", "--resume", "1"]);
    assert_eq!(again.code, 2);
    assert!(again.err.contains("job 1 is complete"), "{}", again.err);
}

#[test]
fn a_profile_that_was_interrupted_or_killed_goes_on_with_what_is_missing() {
    let program = Program::new();
    let mut child = program.start(&three_levels("3"));
    Messages::by(&mut child).wait_for("run 2 of 9");
    signal(&child, "INT");
    let done = finish(child);
    assert_eq!(done.code, 130, "{}", done.out);
    assert!(done.out.contains("--resume 1"), "{}", done.out);
    // More than one if the signal came late.
    let first = complete_runs(&program, "1").len();
    let planned: Value =
        serde_json::from_str(&program.ok(&["report", "1", "--format", "json"])).unwrap();
    assert!((1..9).contains(&first), "{first}");

    let mut child = program.start(&["profile", "--resume", "last"]);
    let next: Vec<String> = (first + 2..=9).map(|run| format!("run {run} of 9")).collect();
    Messages::by(&mut child).wait_for_any(&next.iter().map(String::as_str).collect::<Vec<_>>());
    signal(&child, "KILL");
    child.wait().unwrap();
    let jobs = program.ok(&["jobs"]);
    assert!(jobs.contains("lost"), "{jobs}");
    let before = complete_runs(&program, "1");
    assert!((first + 1..9).contains(&before.len()), "{before:?}");

    let changed = program.run(&["profile", "--resume", "1", "--repeats", "4"]);
    assert_eq!(changed.code, 2);
    assert!(changed.err.contains("--repeats cannot be changed"), "{}", changed.err);
    let other = program.run(&["profile", "null:", "--resume", "1"]);
    assert!(other.err.contains("job 1 belongs to null:?service=20ms"), "{}", other.err);

    let document = program.json(&["profile", "--resume", "1"]);
    assert_eq!(levels(&document), [(1, 3), (2, 3), (4, 3)]);
    let after = complete_runs(&program, "1");
    let mut steps: Vec<u64> = after.iter().map(|(step, _)| *step).collect();
    steps.sort_unstable();
    assert_eq!(steps, [0, 1, 2, 3, 4, 5, 6, 7, 8], "each step is complete once");
    assert!(before.iter().all(|run| after.contains(run)), "what was done was not done again");
    assert_eq!(document["order"], planned["order"], "the same runs as without an interruption");
    let order = document["order"]["steps"].as_array().unwrap().iter().filter_map(Value::as_u64);
    let ran: BTreeMap<u64, u64> = after.into_iter().collect();
    assert_eq!(ran.into_values().collect::<Vec<_>>(), order.collect::<Vec<_>>());
}

#[test]
fn auto_finds_the_knee_of_a_server_with_four_workers() {
    let program = Program::new();
    let mut args = vec!["profile", TARGET, "--vus", "auto", "--max-vus", "64", "--repeats", "1"];
    args.extend(["--rampup", "0s", "--duration", "1s", "--cool-down", "0s"]);
    let document = program.json(&args);
    let levels = levels(&document);
    let users: Vec<u64> = levels.iter().map(|(users, _)| *users).collect();
    assert!((3..=12).contains(&users.len()), "{users:?}");
    assert!(
        users[0] == 1 && users.iter().any(|u| (3..=6).contains(u)),
        "around the knee: {users:?}"
    );
    assert!(users.last().is_some_and(|last| *last >= 8), "beyond the knee: {users:?}");
}

#[test]
fn a_profile_of_the_embedded_default_builds_it_and_resumes_only_beside_it() {
    let program = Program::new();
    let mut args = vec!["profile", "--vus", "1,2,3", "--repeats", "1"];
    args.extend(["--rampup", "0s", "--duration", "1s", "--cool-down", "0s", "--label", "first"]);
    let mut child = program.start(&args);
    Messages::by(&mut child).wait_for("run 2 of 3");
    signal(&child, "INT");
    assert_eq!(finish(child).code, 130);
    let elsewhere = program
        .command(&["profile", "--resume", "1"])
        .current_dir(std::env::temp_dir())
        .output()
        .unwrap();
    let said = String::from_utf8(elsewhere.stderr).unwrap();
    assert!(said.contains("run the command in that directory"), "{said}");
    let document = program.json(&["profile", "--resume", "1"]);
    assert_eq!((&document["label"], levels(&document).len()), (&"first".into(), 3));
}

#[test]
fn a_level_that_cannot_be_run_is_told_and_the_others_are() {
    let program = Program::new();
    let mut args = vec!["profile", "null:?service=5ms&refuse=5", "--vus", "1,2,3,40"];
    args.extend([
        "--repeats",
        "1",
        "--rampup",
        "0s",
        "--duration",
        "1s",
        "--cool-down",
        "0s",
        "--json",
    ]);
    let done = program.run(&args);
    assert_eq!(done.code, 1, "{}", done.err);
    let document: Value = serde_json::from_str(&done.out).unwrap();
    valid(&document, "ProfileResult");
    assert_eq!(levels(&document), [(1, 1), (2, 1), (3, 1)]);
    assert_eq!(document["failed_runs"][0]["users"], 40);
    let reason = document["failed_runs"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("of 40 virtual users: too many clients"), "{reason}");
}
