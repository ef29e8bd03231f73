//! Replays on the null database, in virtual time.

use std::time::Duration;

use triphammer_core::workload::{Workload as _, WorkloadSettings};

use super::Replay;

const HEAD: &str = "{\"triphammer_recording\": 1, \"from\": \"csvlog\", \"started\": \"x\"}\n\
    {\"statement\": 0, \"sql\": \"UPDATE t SET a = :p1 WHERE id = :p2\", \"literals\": [1, 2]}\n\
    {\"statement\": 4, \"sql\": \"SELECT a FROM t WHERE id = :p1\", \"literals\": []}\n";

/// The workload of these lines, at a speed.
fn replay(lines: &str, speed: &str) -> (tempfile::TempDir, Replay) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.recording");
    let count = lines.lines().count();
    std::fs::write(&file, format!("{HEAD}{lines}{{\"transactions\": {count}}}\n")).unwrap();
    let value = format!("{},speed={speed}", file.display());
    let options = [("recording".to_owned(), value)].into();
    let settings = WorkloadSettings { options, ..WorkloadSettings::default() };
    (folder, Replay::new(&settings).unwrap())
}

const LINES: &str = "[7, 1000000, \"commit\", [[0, 0, [5, 1]], [4, 2000, [1]]], 3000]\n\
    [7, 2000000, \"single\", [[4, 0, [2]]], 0]\n\
    [9, 500000, \"rollback\", [[0, 0, [5, 3]], [0, 0, [5, 4]]], 0]\n\
    [7, 4500000, \"single\", [[4, 0, [3]]], 0]\n";

#[test]
fn sessions_and_times_are_those_of_the_recording() {
    let (_folder, replay) = replay(LINES, "2x");
    let recording = replay.description().recording.clone().unwrap();
    assert_eq!((recording.sessions, recording.transactions), (2, 4));
    assert_eq!(*recording.due, [3, 0, 1], "the first begins at 0, and the speed is 2");
    let mut rng = triphammer_core::random::Rng::of(1, &[]);
    let mut seen = Vec::new();
    for id in 0..2 {
        let mut user = replay.user(id, 2, &mut rng);
        while let Some(kind) = replay.next(&mut user, &mut rng) {
            let name = replay.description().transactions[kind].name.to_string();
            seen.push((id, name, replay.due(&user).duration()));
        }
    }
    let at = |id, name: &str, ms| (id, name.to_owned(), Duration::from_millis(ms));
    assert_eq!(
        seen,
        [
            at(0, "update_t_rolled_back", 0),
            at(1, "update_t", 250),
            at(1, "select_t", 750),
            at(1, "select_t", 2000),
        ]
    );
}

#[test]
fn fewer_sessions_share_the_recorded_ones() {
    let (_folder, replay) = replay(LINES, "1x");
    let lanes = replay.plan.lanes(1);
    let starts: Vec<i64> =
        lanes[0].iter().map(|index| replay.plan.transaction(*index).start_us).collect();
    assert_eq!(starts, [0, 500_000, 1_500_000, 4_000_000]);
    let more: Vec<usize> = replay.plan.lanes(3).iter().map(|lane| lane.len()).collect();
    assert_eq!(more, [1, 3, 0]);
}

#[test]
fn literals_that_never_vary_are_in_the_sql() {
    let (_folder, replay) = replay(LINES, "1x");
    let titles: Vec<String> = replay
        .plan
        .statements
        .iter()
        .map(|statement| statement.part.title(&replay.plan.names))
        .collect();
    assert_eq!(titles, ["UPDATE t SET a = 5 WHERE id = :p2", "SELECT a FROM t WHERE id = :p1"]);
}

#[test]
fn a_file_that_is_no_recording_is_named() {
    let new = |value: &str| {
        let options = [("recording".to_owned(), value.to_owned())].into();
        Replay::new(&WorkloadSettings { options, ..WorkloadSettings::default() })
            .unwrap_err()
            .to_string()
    };
    assert!(new("").contains("no recording is given"));
    assert!(new("nowhere.recording").contains("the recording nowhere.recording: No such file"));
    assert!(new("/").contains("not a regular file"));
    assert!(new("x,speed=0").contains("invalid replay"));
}

#[test]
fn statements_are_read_as_the_database_of_the_log_writes_them() {
    let recording = |from: &str| {
        let text = format!(
            "{{\"triphammer_recording\": 1, \"from\": \"{from}\"}}\n{}\n\
             [0, 0, \"single\", [[0, 0, [5]]], 0]\n{{\"transactions\": 1}}\n",
            r#"{"statement": 0, "sql": "SELECT _utf8mb4'it\\'s', :p1", "literals": []}"#
        );
        triphammer_capture::recording::read(text.as_bytes()).unwrap()
    };
    let plan = super::plan::Plan::new(recording("slow-log").into()).unwrap();
    assert_eq!(plan.statements[0].part.variables().count(), 1);
    let error = super::plan::Plan::new(recording("csvlog").into()).unwrap_err();
    assert!(error.to_string().contains("the quotation ' has no end"), "{error}");
}
