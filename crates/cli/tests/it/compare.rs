//! Comparisons and histories with the real program: verdicts, exit codes, rejected commands, and
//! resuming a comparison whose process was killed. Service times of the null database make slower
//! and faster certain.

use serde_json::Value;

use crate::program::{Messages, Program};
use crate::servers::{Mariadb, Postgres, Site, name_of};

/// A run of tpc-b with a service time; by transactions, so that its rate is that of the service alone. Eight short runs
/// of a side show a tenfold difference, also if the host stands still for some seconds during one of them.
fn run(program: &Program, service: &str, label: &str) {
    let target = format!("null:?service={service}");
    program.ok(&[
        "run",
        &target,
        "-w",
        "tpc-b",
        "--vus",
        "4",
        "--transactions",
        "3",
        "--label",
        label,
    ]);
}

/// Pairs of short runs; see [`run`].
const PAIRS: &[&str] = &["-w", "tpc-b", "--vus", "8", "--transactions", "6", "--cool-down", "0s"];

fn kind(result: &Value) -> &str {
    result["verdict"]["kind"].as_str().unwrap()
}

#[test]
fn a_server_that_takes_ten_times_as_long_is_called_slower() {
    let program = Program::new();
    let slower = ["compare", "--ab", "null:?service=2ms", "null:?service=20ms", "--pairs", "8"];
    let done = program.run(&[&slower, PAIRS, &["--json", "--fail-if-slower"]].concat());
    assert_eq!(done.code, 1, "{}", done.err);
    let result: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(kind(&result), "slower", "{}", result["words"]);
    let ratio = result["figures"][0]["comparison"]["ratio"].as_f64().unwrap();
    assert!((0.02..0.5).contains(&ratio), "{ratio}");
    assert_eq!(result["pairs"]["made"], 8);
    let steps = |side: &str| -> Vec<u64> {
        let runs = result[side]["runs"].as_array().unwrap();
        runs.iter().map(|run| run["step"].as_u64().unwrap()).collect()
    };
    // Two adjacent steps are a pair, with either side first.
    let (a, b) = (steps("a"), steps("b"));
    assert!((0..8).all(|pair| a[pair] / 2 == pair as u64 && b[pair] == a[pair] ^ 1), "{a:?} {b:?}");
    assert!(a.iter().any(|step| step % 2 == 0) && b.iter().any(|step| step % 2 == 0), "{a:?}");
    assert_eq!(result["differences"][0]["subject"], "target");

    let job = result["job"].to_string();
    let list = program.ok(&["jobs"]);
    assert!(list.contains("slower: TPS B/A"), "{list}");
    assert!(list.contains("(16 runs)"), "{list}");
    assert_eq!(list.lines().count(), 3, "its runs are below it: {list}");
    let report = program.ok(&["report", &job]);
    assert!(report.contains("B is slower:"), "{report}");
    assert!(program.ok(&["report", &job, "--format", "markdown"]).contains("**B is slower:"));
    assert_eq!(
        serde_json::from_str::<Value>(&program.ok(&["report", &job, "--format", "json"])).unwrap(),
        result
    );
}

#[test]
fn labels_compare_by_all_their_runs() {
    let program = Program::new();
    for _ in 0..8 {
        run(&program, "4ms", "before");
        run(&program, "40ms", "after");
    }
    let result = program.json(&["compare", "after", "before"]);
    assert_eq!(kind(&result), "faster", "{}", result["words"]);
    assert_eq!(result["job"], Value::Null);
    assert_eq!(result["a"]["runs"].as_array().unwrap().len(), 8);
    let failing = ["compare", "before", "after", "--fail-if-slower"];
    assert_eq!(program.run(&failing).code, 1);
    let text = program.run(&["compare", "before", "after"]);
    assert_eq!(text.code, 0);
    assert!(text.out.contains("B is slower:") && text.out.contains("What differs"), "{}", text.out);
    assert!(program.ok(&["compare", "before", "after", "--format", "markdown"]).starts_with("# "));

    run(&program, "4ms", "alone");
    let alone = ["compare", "before", "alone"];
    let strict = program.run(&[&alone[..], &["--fail-if-inconclusive"]].concat());
    assert_eq!(strict.code, 1, "{}", strict.err);
    // One run cannot show how much runs vary: a verdict on it would be a guess.
    for sides in [alone, ["compare", "1", "2"]] {
        let refused = program.run(&[&sides[..], &["--fail-if-slower"]].concat());
        assert_eq!((refused.code, refused.out.as_str()), (2, ""), "{}", refused.err);
        assert!(refused.err.contains("at least two runs of each side"), "{}", refused.err);
        assert!(refused.err.contains("--ab"), "{}", refused.err);
    }
    let lax = program.run(&alone);
    assert_eq!(lax.code, 0);
    assert!(lax.out.contains("two runs"), "{}", lax.out);
    // Single jobs this short have too few seconds.
    let single = program.json(&["compare", "1", "2"]);
    assert_eq!(kind(&single), "inconclusive", "{}", single["words"]);
}

#[test]
fn what_does_not_compare_is_refused() {
    let program = Program::new();
    run(&program, "1ms", "one");
    program.ok(&[
        "run",
        "null:",
        "-w",
        "tproc-c",
        "--vus",
        "1",
        "--transactions",
        "5",
        "--label",
        "two",
    ]);
    for (args, message) in [
        (&["compare", "one", "two"][..], "cannot be compared"),
        (&["compare", "one", "three"], "no complete run has the label"),
        (&["compare", "1", "99"], "job 99"),
        (&["compare", "1", "1"], "job 1 is on both sides"),
        (&["compare", "one", "1"], "job 1 is on both sides"),
        (&["compare", "one", "one"], "job 1 is on both sides"),
        (&["compare", "1"], "two jobs, two labels"),
        (&["compare", "one", "null:"], "null: is a database"),
        (&["compare", "1", "1", "--vus", "8"], "--vus applies to new runs only"),
        (&["compare", "1", "1", "--margin", "0%"], "more than 0 %"),
        (&["compare", "1", "1", "--format", "csv"], "cannot print a comparison as csv"),
        (&["compare", "--ab", "null:", "null:", "--pairs", "1"], "--pairs 1"),
        (&["compare", "--ab", "null:"], "compare --ab URL URL"),
        (&["compare", "--ab", "null:", "--a", "label=x"], "A and B cannot differ in `label`"),
        (&["compare", "--ab", "null:", "--b", "vus"], "NAME=VALUE"),
        (&["compare", "--resume", "1"], "job 1 is a run, not a comparison"),
        (&["history"], "choose the runs"),
        (&["history", "nobody"], "no complete run matches"),
    ] {
        let done = program.run(args);
        assert_eq!(done.code, 2, "{args:?}: {}{}", done.out, done.err);
        assert!(done.err.contains(message), "{args:?}: {}", done.err);
    }
    let unreachable = "postgres://u:s3cret@127.0.0.1:1/d";
    let done = program.run(&["compare", "--ab", "null:", unreachable, "--connect-timeout", "1s"]);
    assert_eq!(done.code, 2, "{}", done.err);
    assert!(!done.err.contains("s3cret"), "{}", done.err);
    assert_eq!(program.ok(&["jobs"]).lines().count(), 5, "nothing was begun");
}

#[test]
fn sides_may_differ_in_settings_of_runs() {
    let program = Program::new();
    let args =
        ["compare", "--ab", "null:?service=10ms", "--a", "vus=2", "--b", "vus=4", "--b", "seed=9"];
    let result = program.json(&[&args[..], &PAIRS[..2], &PAIRS[4..], &["--pairs", "2"]].concat());
    assert_eq!(result["a"]["name"], "vus=2");
    assert_eq!(result["b"]["name"], "vus=4, seed=9");
    let differs: Vec<&str> = result["differences"]
        .as_array()
        .unwrap()
        .iter()
        .map(|difference| difference["name"].as_str().unwrap())
        .collect();
    assert!(differs.contains(&"vus") && differs.contains(&"seed"), "{differs:?}");
    assert!(!differs.contains(&"target"), "{differs:?}");
    for run in result["b"]["runs"].as_array().unwrap() {
        assert_eq!(run["users"], 4);
    }
}

#[test]
fn a_comparison_goes_on_after_its_process_was_killed() {
    let program = Program::new();
    let args = [
        &["compare", "--ab", "null:?service=5ms", "null:?service=6ms", "--pairs", "2"][..],
        &["-w", "tpc-b", "--vus", "2", "--transactions", "45", "--cool-down", "0s"],
    ]
    .concat();
    let mut child = program.start(&args);
    // Three runs are left, of more than a second each.
    Messages::by(&mut child).wait_for("run 2 of 4");
    let made = || -> Vec<Value> {
        let done = program.run(&["jobs", "--parent", "1", "--json"]);
        let rows: Value = serde_json::from_str(&done.out).unwrap_or_default();
        let complete = |row: &&Value| row["status"] == "complete";
        rows.as_array()
            .map_or_else(Vec::new, |rows| rows.iter().filter(complete).cloned().collect())
    };
    child.kill().unwrap();
    child.wait().unwrap();
    let before = made();
    let done = program.run(&["compare", "--resume", "last", "--pairs", "3"]);
    assert!(done.err.contains("--pairs cannot be changed"), "{}", done.err);
    let result = program.json(&["compare", "--resume", "last"]);
    assert_eq!(result["job"], 1);
    assert_eq!((&result["status"], &result["pairs"]["made"]), (&"complete".into(), &2.into()));
    assert_eq!(made().len(), 4);
    let runs = ["a", "b"].into_iter().flat_map(|side| result[side]["runs"].as_array().unwrap());
    assert!(
        runs.map(|run| &run["job"]).any(|job| *job == before[0]["id"]),
        "it was not made again"
    );
    let again = program.run(&["compare", "--resume", "last"]);
    assert_eq!(again.code, 2);
    assert!(again.err.contains("is complete"), "{}", again.err);
}

#[test]
fn a_database_that_keeps_data_compares_with_itself() {
    let program = Program::new();
    program.ok(&["build", "sqlite:bank.db", "-w", "tpc-b"]);
    let sides = ["compare", "--ab", "sqlite:bank.db", "sqlite:bank.db"];
    let args = [&sides[..], &["-w", "tpc-b", "--pairs", "2", "--cool-down", "0s"]].concat();
    let short = ["--rampup", "0s", "--duration", "1s", "--margin", "90%"];
    let result = program.json(&[&args[..], &short].concat());
    assert_ne!(kind(&result), "slower", "{}", result["words"]);
    assert_ne!(kind(&result), "faster", "{}", result["words"]);
    // Each run adds rows to a table that begins empty: how many depends on the host.
    let differs = |of: &&Value| of["subject"] != "size";
    let differences = result["differences"].as_array().unwrap();
    assert_eq!(differences.iter().filter(differs).count(), 0, "{differences:?}");
    let runs = result["a"]["runs"].as_array().unwrap();
    assert!(runs.iter().all(|run| run["good"] == true), "{runs:?}");
}

#[test]
fn profiles_compare_level_by_level() {
    let program = Program::new();
    for service in ["20ms", "100ms"] {
        let target = format!("null:?service={service}");
        program.ok(&[
            "profile",
            &target,
            "-w",
            "tpc-b",
            "--vus",
            "1,2",
            "--repeats",
            "2",
            "--rampup",
            "0s",
            "--duration",
            "1s",
            "--cool-down",
            "0s",
        ]);
    }
    let jobs: Value = program.json(&["jobs"]);
    let job = |place: usize| jobs[place]["id"].to_string();
    let result = program.json(&["compare", &job(1), &job(0)]);
    let levels = result["profiles"]["levels"].as_array().unwrap();
    let users: Vec<&Value> = levels.iter().map(|level| &level["users"]).collect();
    assert_eq!(users, [1, 2]);
    let ratio =
        result["figures"][0]["b"].as_f64().unwrap() / result["figures"][0]["a"].as_f64().unwrap();
    assert!(ratio < 0.8, "{ratio}");
    // Measured one after the other: five times as slow, and yet no verdict.
    assert_eq!(kind(&result), "inconclusive", "{}", result["words"]);
    let text = program.ok(&["compare", &job(1), &job(0)]);
    assert!(text.contains("two profiles") && text.contains("one after the other"), "{text}");
    let strict = program.run(&["compare", &job(1), &job(0), "--fail-if-slower"]);
    assert_eq!(strict.code, 2, "{}", strict.err);
    assert!(strict.err.contains("compare --ab A B -w tpc-b --vus 1,2"), "{}", strict.err);
    let run = "3";
    let done = program.run(&["compare", &job(1), run]);
    assert_eq!(done.code, 2, "{}", done.err);
    assert!(done.err.contains("a profile and job 3 is a run"), "{}", done.err);
}

#[test]
fn levels_of_two_targets_are_compared_at_the_same_time() {
    let program = Program::new();
    let targets = ["compare", "--ab", "null:?service=2ms", "null:?service=40ms", "-w", "tpc-b"];
    let levels = ["--vus", "1,2", "--pairs", "3", "--transactions", "6", "--cool-down", "0s"];
    let args = [&targets[..], &levels[..]].concat();
    let done = program.run(&[&args[..], &["--json", "--fail-if-slower"]].concat());
    assert_eq!(done.code, 1, "{}", done.err);
    let result: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(kind(&result), "slower", "{}", result["words"]);
    assert!(result["words"].as_str().unwrap().contains("at 2 virtual users 0."), "{result}");
    assert_eq!((&result["pairs"]["asked"], &result["pairs"]["made"]), (&6.into(), &6.into()));
    let users = |side: &str| -> Vec<u64> {
        let runs = result[side]["runs"].as_array().unwrap().iter();
        let mut users: Vec<u64> = runs.map(|run| run["users"].as_u64().unwrap()).collect();
        users.sort_unstable();
        users
    };
    assert_eq!((users("a"), users("b")), (vec![1, 1, 1, 2, 2, 2], vec![1, 1, 1, 2, 2, 2]));
    let report = program.ok(&["report", "1"]);
    assert!(report.contains("6 pairs at 2 levels"), "{report}");
    for (bad, message) in [("auto", "the same levels for both sides"), ("1,x", "invalid level")] {
        let refused = program.run(&[&targets[..], &["--vus", bad]].concat());
        assert_eq!(refused.code, 2, "{}", refused.err);
        assert!(refused.err.contains(message), "{}", refused.err);
    }
    let both = program.run(&[&args[..], &["--a", "vus=2"]].concat());
    assert!(both.code == 2 && both.err.contains("which both sides have"), "{}", both.err);
}

#[test]
fn a_history_shows_the_change_and_what_differed() {
    let program = Program::new();
    // Tenfold, and long enough that a busy host delays a run by little of it.
    for service in ["40ms", "400ms"] {
        for _ in 0..7 {
            run(&program, service, "nightly");
        }
    }
    run(&program, "1ms", "another");
    let result = program.json(&["history", "nightly"]);
    let changes = result["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 1, "{result}");
    assert_eq!((&changes[0]["job"], &changes[0]["slower"]), (&8.into(), &true.into()));
    assert_eq!(changes[0]["differences"][0]["name"], "target");
    let failing = program.run(&["history", "nightly", "--fail-if-slower"]);
    assert_eq!(failing.code, 1);
    assert!(failing.out.contains("Slower from job 8 on:"), "{}", failing.out);
    let on = program.json(&["history", "--on", "service=40ms", "-w", "tpc-b"]);
    assert_eq!(on["runs"].as_array().unwrap().len(), 7);
    assert_eq!(program.run(&["history", "another", "--fail-if-slower"]).code, 0);
}

/// Two runs with a change of the schema between them, and how a comparison reports it.
fn around(program: &Program, target: &str, change: impl FnOnce()) -> (Value, String) {
    let run = ["run", target, "-w", "tproc-c", "--vus", "1", "--transactions", "20"];
    let before = program.json(&run);
    change();
    let after = program.json(&run);
    let [a, b] = [&before, &after].map(|result| result["job"].to_string());
    let facts = before["schema"].as_array().unwrap();
    assert!(facts.iter().any(|fact| fact["kind"] == "statistics"), "{facts:?}");
    assert!(facts.iter().any(|fact| fact["kind"] == "bytes"), "{facts:?}");
    assert!(facts.iter().all(|fact| fact["table"] != "triphammer_build"), "{facts:?}");
    (program.json(&["compare", &a, &b]), program.ok(&["compare", &a, &b]))
}

fn names_a_dropped_index((result, text): (Value, String)) {
    let differences = result["differences"].as_array().unwrap();
    let schema: Vec<&Value> = differences.iter().filter(|d| d["subject"] == "schema").collect();
    assert_eq!(schema.len(), 1, "{schema:?}");
    assert_eq!(schema[0]["name"], "index customer_name of customer");
    assert!(schema[0]["a"].as_str().unwrap().contains("c_last"), "{schema:?}");
    assert_eq!(schema[0]["b"], Value::Null);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("index customer_name of customer is missing in B"), "{text}");
}

#[test]
fn an_index_dropped_between_two_runs_is_named_on_sqlite() {
    let program = Program::new();
    let target = format!("sqlite:{}", program.path("t.db").display());
    program.ok(&["build", &target]);
    let dropped = around(&program, &target, || {
        let connection = rusqlite::Connection::open(program.path("t.db")).unwrap();
        connection.execute_batch("DROP INDEX customer_name").unwrap();
    });
    names_a_dropped_index(dropped);
}

#[test]
fn an_index_dropped_between_two_runs_is_named_on_postgres() {
    let program = Program::new();
    let (site, target) = (Site::shared(Postgres), Site::built(Postgres));
    let dropped = around(&program, &target, || {
        site.run(name_of(&target), "DROP INDEX customer_name");
    });
    names_a_dropped_index(dropped);
}

#[test]
fn an_index_dropped_between_two_runs_is_named_on_mariadb() {
    let program = Program::new();
    let (site, target) = (Site::shared(Mariadb), Site::built(Mariadb));
    let dropped = around(&program, &target, || {
        site.run(name_of(&target), "DROP INDEX customer_name ON customer");
    });
    names_a_dropped_index(dropped);
}
