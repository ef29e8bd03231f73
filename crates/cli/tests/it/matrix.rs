//! Matrices by the real program: complete, killed and resumed, with a hook before each run, and what is refused.

use serde_json::Value;

use crate::program::{Messages, Program, signal};
use crate::schema::valid;

/// Two runs of a second of each combination.
const SHORT: [&str; 8] =
    ["--repeats", "2", "--rampup", "0s", "--duration", "1s", "--cool-down", "0s"];

fn arguments<'a>(target: &'a str, over: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["matrix", target];
    args.extend(over.iter().flat_map(|axis| ["--over", axis]));
    args.extend(&SHORT);
    args
}

const TARGET: &str = "null:?service=10ms&workers=2";
const AXES: [&str; 2] = ["protocol=prepared,simple", "vus=1,2,4"];

fn cells(document: &Value) -> Vec<(Vec<&str>, usize)> {
    let cells = document["cells"].as_array().unwrap().iter();
    cells
        .map(|cell| {
            let values = cell["values"].as_array().unwrap().iter();
            (values.filter_map(Value::as_str).collect(), cell["runs"].as_array().unwrap().len())
        })
        .collect()
}

#[test]
fn a_matrix_that_was_killed_goes_on_with_what_is_missing() {
    let program = Program::new();
    let mut args = arguments(TARGET, &AXES);
    args.extend(["--restore", "cmd=echo $CELL_VUS $CELL_PROTOCOL >> hooks"]);
    let mut child = program.start(&args);
    let mut messages = Messages::by(&mut child);
    messages.wait_for("12 runs of 1s each");
    messages.wait_for("run 3 of 12");
    signal(&child, "KILL");
    child.wait().unwrap();
    assert!(program.ok(&["jobs"]).contains("lost"));
    let other = program.run(&["matrix", "--resume", "last", "--over", "vus=1,2"]);
    assert!(other.code == 2 && other.err.contains("--over cannot be changed"), "{other:?}");

    let document = program.json(&["matrix", "--resume", "last"]);
    valid(&document, "MatrixResult");
    assert_eq!(document["status"], "complete");
    let of = |protocol, vus| (vec![protocol, vus], 2);
    assert_eq!(
        cells(&document),
        [
            of("prepared", "1"),
            of("prepared", "2"),
            of("prepared", "4"),
            of("simple", "1"),
            of("simple", "2"),
            of("simple", "4"),
        ]
    );
    let steps: Vec<u64> =
        document["order"]["steps"].as_array().unwrap().iter().filter_map(Value::as_u64).collect();
    for block in steps.chunks(6) {
        let mut sorted = block.to_vec();
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 1, 2, 3, 4, 5], "each repeat has every combination once");
    }
    let rows = program.json(&["jobs", "--parent", "1", "--limit", "100"]);
    let complete =
        rows.as_array().unwrap().iter().filter(|row| row["status"] == "complete").count();
    assert_eq!(complete, 12, "no run was made twice");
    // The run that was killed may have had its hook.
    let hooks = std::fs::read_to_string(program.path("hooks")).unwrap();
    assert!((12..=13).contains(&hooks.lines().count()), "{hooks}");
    assert!(hooks.lines().filter(|line| line.starts_with("4 ")).count() >= 4, "{hooks}");

    let means: Vec<f64> = document["cells"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cell| cell["mean"].as_f64().unwrap())
        .collect();
    assert!(means[1] > 1.5 * means[0], "two workers serve two users: {means:?}");
    let report = program.ok(&["report", "1"]);
    assert!(report.contains("2 × 3 combinations, 12 runs"), "{report}");
    assert!(report.contains("██") && report.contains("vus 4"), "{report}");
    assert!(report.lines().all(|line| line.chars().count() <= 80), "{report}");
    let markdown = program.ok(&["report", "1", "--format", "markdown"]);
    assert!(markdown.contains("| protocol | vus 1 | vus 2 | vus 4 |"), "{markdown}");
}

#[test]
fn targets_can_differ_and_a_hook_that_fails_fails_its_run() {
    let program = Program::new();
    for scale in ["1", "2"] {
        program.ok(&["build", &format!("sqlite:b{scale}.sqlite"), "-w", "tpc-b", "--scale", scale]);
    }
    let mut args = arguments("sqlite:b{scale}.sqlite", &["scale=1,2"]);
    let hook = "cmd=test $CELL_TARGET != sqlite:b2.sqlite || { echo no backup; exit 3; }";
    args.extend(["-w", "tpc-b", "--json", "--restore", hook, "--vus", "1"]);
    let done = program.run(&args);
    let document: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!((done.code, cells(&document)), (1, vec![(vec!["1"], 2)]), "{}", done.err);
    let failed = document["failed_runs"].as_array().unwrap();
    assert_eq!(failed.len(), 2);
    assert!(failed[0]["reason"].as_str().unwrap().contains("no backup"), "{failed:?}");
    // Both are opened before the first run.
    let missing = arguments("sqlite:b{scale}.sqlite", &["scale=1,3"]);
    let done = program.run(&[&missing[..], &["-w", "tpc-b"]].concat());
    assert!(done.code == 2 && done.err.contains("b3.sqlite: no such file"), "{done:?}");
    let targets = "target=sqlite:b1.sqlite,sqlite:b2.sqlite";
    let mut args = vec!["matrix", "-w", "tpc-b", "--over", targets, "--vus", "1"];
    args.extend(&SHORT);
    let document = program.json(&args);
    assert_eq!(document["axes"][0]["values"], serde_json::json!(["b1.sqlite", "b2.sqlite"]));
}

#[test]
fn what_a_matrix_cannot_do_is_said_before_anything_runs() {
    let program = Program::new();
    let file = "sqlite:c.sqlite";
    for (target, more, why) in [
        (file, &[][..], "needs a setting with at least two values"),
        (file, &["--over", "label=a,b"], "cannot vary `label`"),
        (file, &["--over", "scale=1,2"], "the scale is that of the data"),
        (file, &["--over", "vus=1,2", "--repeats", "0"], "must be 1 to 100"),
        (file, &["--over", "vus=1,2", "--restore", "restore.sh"], "or cmd=COMMAND"),
        ("null:", &["--over", "vus=1,x"], "`x`"),
        ("null:", &["--over", "protocol=prepared,fast"], "fast"),
    ] {
        let done = program.run(&[&["matrix", target], more].concat());
        assert!(done.code == 2 && done.err.contains(why), "{more:?}: {}", done.err);
    }
    assert!(!program.ok(&["jobs"]).contains("matrix"), "nothing was stored");
}
