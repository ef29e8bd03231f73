//! Capacity searches by the real program, on a server whose capacity is known.

use serde_json::Value;

use crate::program::Program;
use crate::screens;

#[test]
fn the_capacity_of_a_server_with_four_workers_is_found() {
    let program = Program::new();
    // Four at a time, 20 ms each: never more than 200 per second.
    let mut args = vec!["capacity", "null:?service=20ms&workers=4", "--vus", "64"];
    args.extend(["--limit", "all.p95 < 400ms", "--rampup", "0s", "--duration", "1s"]);
    args.extend(["--cool-down", "0s", "--precision", "20%"]);
    let screen = ["all.p95 < 400ms holds up to", "rate /s", "triphammer report 1 shows all of it"];
    screens::verdict(&program, &args, &screen);
    let document = program.ok(&["report", "1", "--format", "json"]);
    let document: Value = serde_json::from_str(&document).unwrap();
    crate::schema::valid(&document, "CapacityResult");
    let judgement = &document["judgement"];
    assert_eq!(judgement["result"], "found", "{judgement}");
    let rate = judgement["rate"].as_f64().unwrap();
    assert!((80.0..320.0).contains(&rate), "{judgement}");
    let probes = document["probes"].as_array().unwrap();
    assert!(probes.iter().any(|probe| probe["reason"].is_null()));
    assert!(probes.iter().any(|probe| probe["reason"].is_string()));
    let jobs = program.ok(&["jobs"]);
    assert_eq!(jobs.lines().count(), 3, "{jobs}");
    assert!(jobs.contains("tx/s"), "{jobs}");
    let report = program.ok(&["report", "last"]);
    assert!(report.contains("all.p95 < 400ms holds up to"), "{report}");
    assert!(report.lines().all(|line| line.chars().count() <= 80), "{report}");
    let children = program.json(&["jobs", "--parent", "1", "--limit", "100"]);
    assert_eq!(children.as_array().unwrap().len(), probes.len(), "each probe is a stored run");
}

#[test]
fn a_limit_that_never_holds_and_one_that_always_does_are_told() {
    let program = Program::new();
    let common = ["--vus", "4", "--rampup", "0s", "--duration", "1s", "--cool-down", "0s"];
    let mut never = vec!["capacity", "null:?service=20ms", "--limit", "all.p50 < 1ms"];
    never.extend(common);
    let done = program.run(&never);
    assert_eq!(done.code, 1, "{}", done.err);
    assert!(done.out.contains("all.p50 < 1ms does not hold even at"), "{}", done.out);
    let mut always = vec!["capacity", "null:", "--limit", "all.p50 < 10s", "--max-rate", "50/s"];
    always.extend(common);
    let done = program.run(&always);
    assert_eq!(done.code, 0, "{}", done.err);
    let (out, err) = (done.out, done.err);
    assert!(out.contains("still holds at 50.0/s, the highest rate tried"), "{out}");
    let probe = err.lines().find(|line| line.starts_with("50.0 transactions per second: "));
    let probe = probe.unwrap_or_else(|| panic!("{err}"));
    assert!(probe.contains("p50 of all ") && probe.ends_with("ms, within the limit"), "{probe}");
}
