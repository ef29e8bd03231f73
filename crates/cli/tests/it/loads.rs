//! Open and keyed loads on the null database: their results, and replays of slow transactions.

use serde_json::Value;

use crate::program::Program;

fn document(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn an_open_load_offers_what_its_steps_say_and_can_be_replayed() {
    let program = Program::new();
    std::fs::write(program.path("load.csv"), "rate,duration\n100,1s\n300,1s\n").unwrap();
    let done = program.run(&[
        "run",
        "null:?service=1ms",
        "--load",
        "steps:load.csv",
        "--vus",
        "20",
        "--rampup",
        "1s",
        "--duration",
        "2s",
        "--mix",
        "1,1,0,0,0",
        "--json",
    ]);
    assert_eq!(done.code, 0, "{}", done.err);
    let result = document(&done.out);
    let arrivals = &result["arrivals"];
    let count = |name: &str| arrivals[name].as_u64().unwrap();
    // A second of ramp-up at the first rate: 500 in all.
    assert!((400..600).contains(&count("offered")), "{arrivals}");
    assert_eq!(count("offered"), count("started") + count("skipped") + count("never_started"));
    let waits = &result["pool_wait"]["count"];
    assert!(waits.as_u64() > Some(0), "{result}");
    assert_eq!(waits, &result["window"]["total"]["committed"], "each has waited once");
    assert!(result["steadiness"].is_null(), "the load itself changes: {}", result["steadiness"]);
    let report = program.ok(&["report", "1", "--format", "markdown"]);
    assert!(report.contains("not judged, because the load itself changes"), "{report}");
    let slow = result["exemplars"].as_array().unwrap();
    assert_eq!(slow.len(), 10);
    // Only the arrival determines the input, so the file of the steps may be gone.
    std::fs::remove_file(program.path("load.csv")).unwrap();
    let replay = || program.run(&["run", "null:", "--replay-exemplar", "last:3"]);
    let (once, twice) = (replay(), replay());
    assert_eq!(once.code, 0, "{}", once.err);
    let title = if slow[2]["transaction"] == "payment" { "Payment" } else { "New-Order" };
    assert!(
        once.out.starts_with(&format!("Exemplar 3 of job 1: {title}, arrival ")),
        "{}",
        once.out
    );
    let input =
        |text: &str| text.split_once("\n\n").unwrap().1.split_once("\n\n").unwrap().1.to_owned();
    assert!(input(&once.out).contains("w_id = "), "{}", once.out);
    assert_eq!(input(&once.out), input(&twice.out), "the same input each time");
    let none = program.run(&["run", "null:", "--replay-exemplar", "1:11"]);
    assert!(none.code == 2 && none.err.contains("job 1 has 10 exemplars"), "{}", none.err);
}

/// The reactions of select-only transactions on a null database to the steps of a load.
fn reactions(target: &str, load: &str, seconds: &str) -> (Value, String) {
    let program = Program::new();
    let run = ["run", target, "-w", "tpc-b", "--mix", "0,0,1", "--load", load];
    let more = ["--vus", "30", "--rampup", "0s", "--duration", seconds, "--no-observe"];
    let result = program.json(&[&run[..], &more].concat());
    (result["elasticity"]["steps"].clone(), program.ok(&["report", "last"]))
}

/// Whether a time was found that is within 5 % or one second of the known one.
fn is_near(found: &Value, known: f64) -> bool {
    found.as_f64().is_some_and(|found| (found - known).abs() <= (0.05 * known).max(1.0))
}

#[test]
fn the_reaction_of_a_server_that_grows_late_is_found() {
    // It serves 200 per second, and 800 after five seconds with a queue.
    let target = "null:?service=10ms&workers=2..8/5s";
    let (steps, report) = reactions(target, "rate:100/s,at=6s,rate=400/s,at=26s,rate=100/s", "34s");
    let [up, down] = [&steps[0], &steps[1]];
    assert_eq!((&up["from"], &up["to"]), (&100.0.into(), &400.0.into()), "{steps}");
    assert!(is_near(&up["half_s"], 0.0) && is_near(&up["most_s"], 5.0), "{steps}");
    assert!(is_near(&up["full_s"], 5.0), "{steps}");
    // 200 more wait each second; then 400 fewer do.
    assert!(is_near(&up["response_s"], 7.5), "{steps}");
    assert!((800.0..1_150.0).contains(&up["late"].as_f64().unwrap()), "{steps}");
    assert!((0.7..1.2).contains(&up["overshoot"].as_f64().unwrap()), "{steps}");
    for time in ["half_s", "most_s", "full_s", "response_s"] {
        assert!(is_near(&down[time], 0.0), "{time}: {steps}");
    }
    assert!(report.contains("Reactions to steps of the load"), "{report}");
    assert!(report.contains("100 → 400/s"), "{report}");
}

#[test]
fn a_step_down_lasts_until_the_backlog_is_done() {
    let target = "null:?service=10ms&workers=2";
    // 200 per second are served: 1,200 wait after six seconds, and 150 fewer each second after that.
    let load = "rate:100/s,at=6s,rate=400/s,at=12s,rate=50/s";
    let (steps, _) = reactions(target, load, "32s");
    let [up, down] = [&steps[0], &steps[1]];
    assert!(up["most_s"].is_null() && up["response_s"].is_null(), "never reached: {steps}");
    assert!(is_near(&down["full_s"], 8.0) && is_near(&down["response_s"], 8.0), "{steps}");
    assert!((900.0..1_300.0).contains(&down["late"].as_f64().unwrap()), "{steps}");
}

#[test]
fn a_keyed_load_tells_its_efficiency_and_its_terminals() {
    let program = Program::new();
    let done = program.run(&[
        "run",
        "null:",
        "--scale",
        "3",
        "--load",
        "keyed",
        "--sessions",
        "4",
        "--rampup",
        "5s",
        "--duration",
        "15s",
    ]);
    assert_eq!(done.code, 0, "{}\n{}", done.err, done.out);
    let report = program.ok(&["report", "1"]);
    for words in [
        "3 warehouses · 30 terminals",
        "of the 38.6 that keying and thinking times allow 30\n",
        "keyed · 30 terminals over 4 sessions on",
        "Wait for a session, from when a transaction was due to its first attempt, in ms",
    ] {
        assert!(report.contains(words), "{words}\n{report}");
    }
    let report = program.run(&["report", "1", "--format", "json"]);
    let result = document(&report.out);
    assert_eq!(result["spec"]["pacing"]["sessions"]["pool"], 4);
    assert_eq!(result["arrivals"], Value::Null);
}

#[test]
fn a_steps_file_that_cannot_be_read_is_told_by_its_line() {
    let program = Program::new();
    std::fs::write(program.path("load.csv"), "100,30s\n200\n").unwrap();
    let done = program.run(&["run", "null:", "--load", "steps:load.csv"]);
    let words = "steps file load.csv, line 2: invalid step `200`: expected a rate per second";
    assert!(done.code == 2 && done.err.contains(words), "{}", done.err);
}

#[test]
fn a_database_without_prepared_statements_runs_by_its_first_protocol() {
    let program = Program::new();
    let run = ["run", "null:?prepare=off", "--vus", "1", "--transactions", "5"];
    assert_eq!(program.json(&run)["spec"]["protocol"], "extended");
    let replayed = program.run(&["run", "--replay-exemplar", "1:1", "null:?prepare=off"]);
    assert_eq!(replayed.code, 0, "{}", replayed.err);
    let elsewhere = program.run(&["run", "--replay-exemplar", "1:1"]);
    let next = "name the target, as in `triphammer run null:?prepare=off --replay-exemplar 1:1`";
    assert!(elsewhere.code == 2 && elsewhere.err.contains(next), "{}", elsewhere.err);
}
