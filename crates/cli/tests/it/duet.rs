//! Comparisons whose two runs take place at once, with the real program: slices and duets, what they
//! find, how they are stored and resumed, and what is rejected.

use serde_json::Value;
use triphammer_core::pace::PairHalf;

use crate::program::{Messages, Program};
use crate::servers::{Postgres, Site};

/// Users and workload; by null, a transaction of tpc-b is one round trip.
const LOAD: &[&str] = &["-w", "tpc-b", "--vus", "2", "--cool-down", "0s", "--rampup", "0s"];

fn kind(result: &Value) -> &str {
    result["verdict"]["kind"].as_str().unwrap()
}

/// The runs of both sides, as they are stored.
fn runs(program: &Program, result: &Value) -> [Value; 2] {
    ["a", "b"].map(|side| {
        let job = result[side]["runs"][0]["job"].to_string();
        serde_json::from_str(&program.ok(&["report", &job, "--format", "json"])).unwrap()
    })
}

fn counts(run: &Value) -> Vec<f64> {
    serde_json::from_value(run["at_once"]["counts"].clone()).unwrap()
}

fn half(run: &Value) -> PairHalf {
    serde_json::from_value(run["spec"]["pacing"]["half"].clone()).unwrap()
}

#[test]
fn slices_alternate_and_find_a_slower_side() {
    let program = Program::new();
    let sides = ["compare", "--ab", "null:?service=4ms", "null:?service=8ms", "--interleave", "1s"];
    let length = ["--duration", "24s", "--json", "--fail-if-slower"];
    let done = program.run(&[&sides[..], LOAD, &length].concat());
    assert_eq!(done.code, 1, "{}", done.err);
    let result: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(kind(&result), "slower", "{}", result["words"]);
    let ratio = result["figures"][0]["comparison"]["ratio"].as_f64().unwrap();
    assert!((0.35..0.7).contains(&ratio), "{ratio}");
    let at_once = &result["pairs"]["at_once"];
    assert_eq!((&at_once["kind"], &at_once["slice_s"]), (&"interleaved".into(), &1.into()));
    assert_eq!(at_once["blocks"].as_array().unwrap().len(), 12);
    let runs = runs(&program, &result);
    let [a, b] = [&runs[0], &runs[1]].map(counts);
    let [half_a, half_b] = [&runs[0], &runs[1]].map(half);
    assert_eq!((a.len(), b.len()), (24, 24));
    assert_eq!(runs[0]["started_at"], runs[1]["started_at"]);
    for (second, (a, b)) in (0..).zip(a.iter().zip(&b)) {
        assert_ne!(half_a.works(second), half_b.works(second));
        let idle = if half_a.works(second) { b } else { a };
        // What was in flight at the end of a slice.
        assert!(*idle <= 2.0, "second {second}: {a} {b}");
    }
    assert_eq!(runs[0]["durations"]["worked_s"], 12.0);
    let report = program.ok(&["report", &result["job"].to_string()]);
    assert!(report.contains("12 blocks of interleaved slices of 1 s"), "{report}");
    assert!(report.contains("B is slower:"), "{report}");
    let markdown = program.ok(&["report", &result["job"].to_string(), "--format", "markdown"]);
    assert!(markdown.contains("- both runs took place at once"), "{markdown}");
}

#[test]
fn two_targets_without_a_way_take_turns_on_one_host() {
    let program = Program::new();
    let sides = ["compare", "null:?service=4ms", "null:?service=8ms"];
    let result = program.json(&[&sides[..], LOAD, &["--duration", "24s"]].concat());
    assert_eq!(kind(&result), "slower", "{}", result["words"]);
    let at_once = &result["pairs"]["at_once"];
    assert_eq!((&at_once["kind"], &at_once["slice_s"]), (&"interleaved".into(), &1.into()));
    // Who asks for pairs gets pairs.
    let pairs = ["--duration", "1s", "--pairs", "2"];
    let result = program.json(&[&sides[..], LOAD, &pairs].concat());
    assert_eq!(result["pairs"]["at_once"], Value::Null);
}

#[test]
fn a_duet_of_a_target_with_itself_finds_nothing_and_says_so() {
    let program = Program::new();
    let sides = ["compare", "--duet", "null:?service=4ms", "null:?service=4ms", "--margin", "50%"];
    let args = [&sides[..], LOAD, &["--duration", "20s"]].concat();
    let result = program.json(&args);
    assert!(!["slower", "faster"].contains(&kind(&result)), "{}", result["words"]);
    let at_once = &result["pairs"]["at_once"];
    assert_eq!((&at_once["kind"], &at_once["same_target"]), (&"duet".into(), &true.into()));
    assert_eq!(at_once["blocks"].as_array().unwrap().len(), 10);
    let lost = &at_once["contention"]["lost"];
    assert!(lost[0].as_f64().unwrap() < 0.25, "waiting takes no CPU: {at_once}");
    let runs = runs(&program, &result);
    let [a, b] = [&runs[0], &runs[1]].map(counts);
    let window = 4..24;
    let both = a[window.clone()].iter().zip(&b[window]).filter(|(a, b)| **a > 0.0 && **b > 0.0);
    assert!(both.count() >= 18, "{a:?} {b:?}");
    let alone = a[..4].iter().zip(&b[..4]).filter(|(a, b)| **a > 2.0 && **b > 2.0);
    assert_eq!(alone.count(), 0, "each works alone for two of the first four seconds");
    let report = program.ok(&["report", &result["job"].to_string()]);
    assert!(report.contains("duet of 10 blocks"), "{report}");
    assert!(report.contains("A and B are the same database"), "{report}");
    assert_eq!(result["energy"], Value::Null);
}

#[test]
fn a_duet_finds_a_slower_side() {
    let program = Program::new();
    let sides = ["compare", "--duet", "null:?service=4ms", "null:?service=8ms"];
    let result = program.json(&[&sides[..], LOAD, &["--duration", "20s"]].concat());
    assert_eq!(kind(&result), "slower", "{}", result["words"]);
    let list = program.ok(&["jobs"]);
    assert!(list.contains("slower: TPS B/A") && list.contains("(2 runs)"), "{list}");
}

#[test]
fn a_pair_that_was_interrupted_is_made_again_and_no_other() {
    let program = Program::new();
    let sides = ["compare", "--ab", "null:?service=4ms", "null:?service=5ms", "--interleave", "1s"];
    let args = [&sides[..], LOAD, &["--duration", "10s", "--pairs", "2"]].concat();
    let mut child = program.start(&args);
    Messages::by(&mut child).wait_for("run 3 of 4");
    child.kill().unwrap();
    child.wait().unwrap();
    let complete = || -> Vec<Value> {
        let done = program.run(&["jobs", "--parent", "1", "--json"]);
        let rows: Value = serde_json::from_str(&done.out).unwrap_or_default();
        let rows = rows.as_array().cloned().unwrap_or_default();
        rows.into_iter().filter(|row| row["status"] == "complete").collect()
    };
    let before = complete();
    assert_eq!(before.len(), 2, "{before:?}");
    // Half of the first pair is missing: it is made again.
    let missing = before[0]["id"].to_string();
    let store = rusqlite::Connection::open(program.path("jobs.sqlite")).unwrap();
    let sql = "UPDATE jobs SET status = 'interrupted' WHERE id = ?1";
    assert_eq!(store.execute(sql, [&missing]).unwrap(), 1);
    drop(store);
    let result = program.json(&["compare", "--resume", "last"]);
    assert_eq!((&result["status"], &result["pairs"]["made"]), (&"complete".into(), &2.into()));
    let blocks = result["pairs"]["at_once"]["blocks"].as_array().unwrap();
    assert_eq!(blocks.len(), 10);
    let used = |side: &str| -> Vec<Value> {
        let runs = result[side]["runs"].as_array().unwrap();
        runs.iter().map(|run| run["job"].clone()).collect()
    };
    let used = [used("a"), used("b")].concat();
    assert!(!used.contains(&before[1]["id"]), "the other half was made again too: {used:?}");
    for side in ["a", "b"] {
        for run in result[side]["runs"].as_array().unwrap() {
            assert_eq!(run["good"], true);
        }
    }
}

#[test]
fn what_cannot_take_place_at_once_is_refused() {
    let program = Program::new();
    let ab = ["compare", "--ab", "null:", "null:"];
    let duet = ["compare", "--duet", "null:", "null:"];
    let sliced = |more: &[&'static str]| [&ab[..], more].concat();
    let at_once = |more: &[&'static str]| [&duet[..], more].concat();
    for (args, message) in [
        (at_once(&["--interleave", "5s"]), "give one of them"),
        (at_once(&["--transactions", "5"]), "give --duration instead"),
        (at_once(&["--until-ci", "1%", "--pairs", "2"]), "omit --pairs"),
        (at_once(&["--vus", "1,2"]), "several levels"),
        (at_once(&["--cluster", "local"]), "one process drives both sides"),
        (at_once(&["--duration", "5s"]), "at least 20s"),
        (at_once(&["--a", "duration=60s"]), "give --duration instead"),
        (at_once(&["--pairs", "0"]), "--pairs 0: must be 1 to"),
        (sliced(&["--interleave", "500ms"]), "whole seconds"),
        (sliced(&["--interleave", "0s"]), "whole seconds"),
        (sliced(&["--interleave", "10s", "--duration", "30s"]), "at least 3m20s"),
        (sliced(&["--interleave", "1s", "--load", "ramp:1..2/5s"]), "use --duet"),
        (sliced(&["--interleave", "1s", "--load", "keyed", "-w", "tproc-c"]), "use --duet"),
        (sliced(&["--interleave", "1s", "-w", "tproc-h"]), "set of queries"),
        (vec!["compare", "--duet", "null:"], "compare --ab URL URL"),
        (vec!["compare", "1", "2", "--interleave", "5s"], "--interleave applies to new runs only"),
        (vec!["run", "null:", "--duet"], "--duet"),
    ] {
        let done = program.run(&args);
        assert_eq!(done.code, 2, "{args:?}: {}{}", done.out, done.err);
        assert!(done.err.contains(message), "{args:?}: {}", done.err);
    }
    let unreachable = "postgres://u:s3cret@127.0.0.1:1/d";
    let done = program.run(&["compare", "--duet", "null:", unreachable, "--connect-timeout", "1s"]);
    assert_eq!(done.code, 2, "{}", done.err);
    assert_eq!(program.number("jobs.sqlite", "SELECT count(*) FROM jobs"), 0, "nothing was begun");
}

#[test]
fn a_side_that_cannot_begin_ends_the_other() {
    let program = Program::new();
    // More users than B accepts: A is connected by then.
    let sides = ["compare", "--duet", "null:?service=1ms", "null:?refuse=1", "--duration", "60s"];
    let done = program.run(&[&sides[..], LOAD].concat());
    assert_ne!(done.code, 0, "{}", done.out);
    let jobs: Value = serde_json::from_str(&program.run(&["jobs", "--parent", "1", "--json"]).out)
        .unwrap_or_default();
    let complete = jobs.as_array().into_iter().flatten().filter(|job| job["status"] == "complete");
    assert_eq!(complete.count(), 0, "{jobs}");
    assert!(done.err.contains("refuse"), "{}", done.err);
}

#[test]
fn a_duet_on_postgres_is_two_good_runs_of_the_same_database() {
    let (program, site) = (Program::new(), Site::shared(Postgres));
    let target = site.fresh_database();
    program.ok(&["build", &target, "-w", "tpc-b", "--scale", "1"]);
    let sides = ["compare", "--duet", &target, &target, "--margin", "90%", "--duration", "20s"];
    let result = program.json(&[&sides[..], LOAD].concat());
    assert!(!["slower", "faster"].contains(&kind(&result)), "{}", result["words"]);
    let runs = runs(&program, &result);
    for run in &runs {
        assert_eq!(run["ending"]["good"], true, "{}", run["ending"]);
        let verification = &run["primary_metric"]["verification"];
        assert_eq!(verification["verdict"], "not_counted", "{verification}");
        assert!(counts(run)[4..].iter().filter(|count| **count > 0.0).count() >= 15);
    }
    // The next comparison finds the same data.
    program.ok(&["check", &target, "-w", "tpc-b"]);
}
