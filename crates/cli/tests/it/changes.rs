//! Loads that a run changes itself, at times that were planned (`--change`).

use serde_json::{Value, json};
use triphammer_testbed::PostgresServer;

use crate::program::Program;

/// A run of select-only transactions of 5 ms by up to eight users, for some seconds.
const BY_USERS: [&str; 9] =
    ["run", "null:?service=5ms", "-w", "tpc-b", "--mix", "0,0,1", "--vus", "8", "--no-observe"];

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value}"))
}

/// What a run noted about changes of its load.
fn notes(result: &Value) -> Vec<&str> {
    let notes = result["notes"].as_array().unwrap().iter();
    let of_load = notes.filter(|note| note["kind"] == "load_changed");
    of_load.map(|note| note["text"].as_str().unwrap()).collect()
}

#[test]
fn users_change_as_planned_and_the_result_has_the_reactions() {
    let program = Program::new();
    let length = ["--rampup", "1s", "--duration", "14s"];
    let changes = ["--change", "at=0s users=2", "--change", "at=7s users=8"];
    let result = program.json(&[&BY_USERS[..], &length, &changes].concat());
    let steps = result["elasticity"]["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 2, "{steps:?}");
    let [few, many] = [&steps[0], &steps[1]];
    assert_eq!((&few["at_s"], &many["at_s"]), (&json!(1.0), &json!(8.0)), "{steps:?}");
    assert_eq!((&few["from"], &few["to"]), (&json!(8.0), &json!(2.0)), "{steps:?}");
    let ratio = number(&many["per_second"]) / number(&few["per_second"]);
    assert!((3.2..4.8).contains(&ratio), "{steps:?}");
    assert!(many["most_s"] == json!(0.0), "{steps:?}");
    assert!(result["steadiness"].is_null());
    let expected = ["the users changed from 8 to 2", "the users changed from 2 to 8"]
        .map(|text| format!("{text}, as planned"));
    assert_eq!(notes(&result), expected);
    let report = program.ok(&["report", "last"]);
    for words in ["8 → 2 users", "at=0s users=2", "as planned", "not judged"] {
        assert!(report.contains(words), "{words}\n{report}");
    }
}

#[test]
fn a_job_file_changes_rate_and_mix() {
    let program = Program::new();
    let server = PostgresServer::shared();
    let target = server.fresh_database("changes").unwrap();
    program.ok(&["build", &target, "-w", "tpc-b"]);
    let job = "[run]\nworkload = \"tpc-b\"\nmix = \"1,0,1\"\nload = \"rate:20/s,constant\"\nvus = 8\n\
               rampup = \"0s\"\nduration = \"21s\"\n\
               change = [\"at=7s rate=60/s\", 'at=14s mix=\"0,0,1\"']\n";
    std::fs::write(program.path("job.toml"), job).unwrap();
    let result = program.json(&["run", &target, "-f", "job.toml"]);
    let steps = result["elasticity"]["steps"].as_array().unwrap();
    let what: Vec<_> = steps.iter().map(|step| step["what"].as_str().unwrap()).collect();
    assert_eq!(what, ["rate", "mix"], "{steps:?}");
    assert!(number(&steps[0]["per_second"]) > 40.0, "{steps:?}");
    assert_eq!(result["arrivals"]["offered"], json!(7 * 20 + 14 * 60), "{}", result["arrivals"]);
    // The backlog is a minute of the highest rate.
    assert_eq!(result["spec"]["pacing"]["backlog"], json!(3_600));
    assert_eq!(
        result["spec"]["pacing"]["changes"],
        json!([
            { "at": "7s", "change": { "rate": 60.0 } },
            { "at": "14s", "change": { "mix": "0,0,1" } },
        ])
    );
    // Half of the first 560, and none of the others but those that were drawn before.
    let updates = &result["run"]["types"][0]["committed"];
    assert!((180.0..380.0).contains(&number(updates)), "{updates}");
    assert_eq!(result["ending"]["good"], true, "{}", result["ending"]);
    let verdicts = result["audits"].as_array().unwrap();
    assert!(verdicts.iter().all(|audit| audit["verdict"] == "verified"), "{verdicts:?}");
}

#[test]
fn changes_that_a_run_cannot_make_are_refused_before_it_starts() {
    let program = Program::new();
    let rate = ["--load", "rate:50/s"];
    for (more, change, words) in [
        (&[][..], "at=5s", "`at=5s` has no change"),
        (&[], "at=5s speed=3", "changes `speed`"),
        (&[], "at=5s users=9", "users must be from 1 to 8"),
        (&[], "at=5s rate=3/s", "the load of this run is closed: change its users"),
        (&rate, "at=5s users=3", "the load of this run is open: change its rate"),
        (&rate, "at=5s rate=-1", "the rate must be from 0"),
        (&rate, "at=0s rate=9", "the run begins with the rate of --load"),
        (&[], "at=20s users=3", "the timed window ends after 20s"),
        (&[], "at=1.5s users=3", "at whole seconds"),
        (&[], "at=5s users=3, at=5s users=4", "another change has the same time"),
        (&[], "at=5s mix=new_order=1", "there is no transaction type `new_order`"),
        (&[], "at=5s mix=1,0,1", "the run began without"),
        (&["--cluster", "local"], "at=5s users=3", "is driven by one process"),
        (&["--until-ci", "1%"], "at=5s users=3", "--until-ci needs a load that stays the same"),
    ] {
        let length = ["--rampup", "0s", "--duration", "20s", "--change", change];
        let done = program.run(&[&BY_USERS[..], more, &length].concat());
        assert_eq!(done.code, 2, "{change}: {done:?}");
        assert!(done.err.contains(words), "{change}: {}", done.err);
    }
    let by_number = ["--transactions", "50", "--change", "at=5s users=3"];
    let done = program.run(&[&BY_USERS[..], &by_number].concat());
    assert!(done.code == 2 && done.err.contains("its load is fixed"), "{done:?}");
    let keyed = ["run", "null:", "--load", "keyed", "--change", "at=5s mix=1,1,1,1,1"];
    let done = program.run(&keyed);
    assert!(done.code == 2 && done.err.contains("times of their own"), "{done:?}");
    let duet = ["compare", "--duet", "null:", "null:", "--change", "at=5s users=1"];
    let done = program.run(&duet);
    assert!(done.code == 2 && done.err.contains("loads of two runs at once"), "{done:?}");
    assert_eq!(program.number("jobs.sqlite", "SELECT count(*) FROM jobs"), 0);
}
