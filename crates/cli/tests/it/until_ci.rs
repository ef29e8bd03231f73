//! `--until-ci` with the real program. A window lasts at least 300 s, so both runs execute in
//! parallel; they only sleep.

use serde_json::Value;

use crate::program::{Done, Program, finish};

fn run_until(share: &str, longest: &str) -> (Program, std::process::Child) {
    let program = Program::new();
    let child = program.start(&[
        "run",
        "null:?service=20ms",
        "--vus",
        "4",
        "--rampup",
        "1s",
        "--duration",
        longest,
        "--until-ci",
        share,
        "--json",
    ]);
    (program, child)
}

/// Length of the window in seconds, and what the result states about the target.
fn until(done: &Done) -> (f64, Value) {
    assert_eq!(done.code, 0, "{}", done.err);
    let result: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(result["status"], "complete");
    (result["durations"]["window_s"].as_f64().unwrap(), result["steadiness"]["until"].clone())
}

#[test]
#[ignore = "takes five minutes; `make test-matrix` runs it"]
fn a_window_ends_when_the_interval_is_tight_or_at_its_limit() {
    let (_early, tight) = run_until("10%", "10m");
    let (_late, never) = run_until("0.05%", "104s");
    let (done, until_limit) = (finish(never), "± 0.05 % cannot be reached in 1m 44s");
    assert!(done.err.contains(until_limit), "{}", done.err);
    let (seconds, told) = until(&done);
    assert_eq!((seconds, told["reached"].as_bool()), (104.0, Some(false)), "a limit applies");
    let (seconds, told) = until(&finish(tight));
    assert!((300.0..400.0).contains(&seconds) && seconds.fract() == 0.0, "{seconds}");
    assert_eq!(told["reached"], true, "{told}");
}

#[test]
fn a_limit_applies_before_the_first_look_too() {
    let (_program, child) = run_until("1%", "2s");
    let done = finish(child);
    assert!(done.err.contains("± 1.0 % cannot be reached in 2s"), "{}", done.err);
    assert_eq!(until(&done).0, 2.0);
    let shown = Program::new().ok(&["run", "null:", "--until-ci", "1%", "--show-spec"]);
    let duration = shown.lines().find(|line| line.trim_start().starts_with("duration"));
    assert!(duration.unwrap().contains("30m"), "{shown}");
}
