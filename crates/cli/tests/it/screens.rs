//! The last screen of every kind of job: 80 × 24 characters that hold the verdict.

use crate::program::Program;

/// Lines of a terminal without the one for the next command.
const LINES: usize = 23;

/// Runs a command, and checks its last screen for what a reader needs.
pub fn verdict(program: &Program, args: &[&str], expected: &[&str]) {
    let done = program.run(args);
    assert!([0, 1].contains(&done.code), "{args:?}\n{}\n{}", done.out, done.err);
    let lines: Vec<&str> = done.out.lines().collect();
    for line in &lines {
        assert!(line.chars().count() <= 80, "{args:?}: {line}");
    }
    let screen = lines[lines.len().saturating_sub(LINES)..].join("\n");
    for text in expected {
        assert!(screen.contains(text), "{args:?}: no `{text}` on the last screen of\n{}", done.out);
    }
}

/// Runs that are over at once.
const SHORT: [&str; 8] =
    ["--vus", "4", "--transactions", "6", "--label", "a label of a usual length", "-w", "tpc-b"];

#[test]
fn the_last_screen_of_a_build_a_check_a_run_and_a_drop_holds_the_verdict() {
    let program = Program::new();
    verdict(&program, &["build"], &["at sqlite:", "rows"]);
    verdict(&program, &["check"], &["conditions of TPROC-C", "hold"]);
    let run = ["run", "--vus", "1", "--rampup", "0s", "--duration", "2s"];
    let required =
        [&run[..], &["--require", "nopm >= 1000000000", "--require", "failures < 100%"]].concat();
    let expected =
        ["NOPM", "verified", "Limited by", "FAIL  nopm >= 1000000000", "pass  failures < 100%"];
    verdict(&program, &required, &expected);
    verdict(&program, &["drop", "--yes"], &["dropped TPROC-C"]);
}

#[test]
fn the_last_screen_of_a_profile_holds_its_findings() {
    let program = Program::new();
    let each = ["--rampup", "0s", "--duration", "1s", "--cool-down", "0s", "-w", "tproc-c"];
    let profile =
        ["profile", "null:?service=5ms", "--vus", "1,2,3,4,5,6,7,8,9,10", "--repeats", "1"];
    verdict(&program, &[&profile[..], &each].concat(), &["Profile of", "peak", "report 1 shows"]);
    assert!(program.ok(&["report", "1"]).contains("95 %"), "the chart is in the report");
}

#[test]
fn the_last_screen_of_a_drill_holds_what_became_of_the_commits() {
    let program = Program::new();
    let drill = ["drill", "sqlite:a.sqlite", "--duration", "2s", "--fault", "at=1s cmd=true"];
    let expected = ["acknowledged commits are there, in order", "lost", "report 1 shows all of it"];
    verdict(&program, &drill, &expected);
    assert!(program.ok(&["report", "1"]).contains("took place"), "its faults are in the report");
}

#[test]
fn the_last_screen_of_a_comparison_holds_the_verdict_stored_or_not() {
    let program = Program::new();
    let run = |service: &str| {
        let target = format!("null:?service={service}");
        program.ok(&[&["run", &target][..], &SHORT].concat());
    };
    run("5ms");
    run("9ms");
    let differs = ["compare", "1", "2"];
    verdict(&program, &differs, &["TPS", "too short to be compared", "A  ", "B  "]);
    let unstored = program.ok(&differs);
    for once in ["Comparison of", "What differs", "B/A (95 %)", "too short to be compared"] {
        let count = unstored.matches(once).count();
        assert_eq!(count, 1, "it is not stored, so everything is shown once: `{once}`\n{unstored}");
    }

    // As many pairs as show such a difference also if the host stands still during one of the runs.
    let pairs = ["compare", "--ab", "null:?service=1ms", "null:?service=10ms", "--pairs", "8"];
    let pairs = [&pairs[..], &["--cool-down", "0s"], &SHORT].concat();
    verdict(
        &program,
        &pairs,
        &["B is slower: TPS B/A", "null:?service=10ms", "report 3 shows all"],
    );
    assert!(program.ok(&["report", "3"]).contains("What differs"));
}
