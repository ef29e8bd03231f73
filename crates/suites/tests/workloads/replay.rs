//! Recordings driven by the engine on the null database, in virtual time.

use std::sync::Arc;
use std::time::Duration;

use triphammer_core::spec::Length;
use triphammer_core::workload::WorkloadSettings;
use triphammer_engine::{RunEnd, RunEnding};
use triphammer_workloads::replay::Replay;

use crate::virtual_time;

/// Two sessions: 7 runs at 0, 0.1 and 5 s, 9 at 0.05 s.
const LINES: &str = "{\"triphammer_recording\": 1, \"from\": \"csvlog\", \"started\": \"x\"}\n\
    {\"statement\": 0, \"sql\": \"UPDATE t SET a = :p1\", \"literals\": []}\n\
    [7, 0, \"commit\", [[0, 0, [5]], [0, 200000, [1]]], 0]\n\
    [9, 50000, \"single\", [[0, 0, [2]]], 0]\n\
    [7, 1000000, \"rollback\", [[0, 0, [2]], [0, 0, [7]], [0, 0, [9]]], 0]\n\
    [7, 5000000, \"single\", [[0, 0, [3]]], 0]\n\
    {\"transactions\": 4}\n";

/// Replays the lines on this target, with this many sessions.
async fn run(target: &str, speed: &str, users: u32, length: Length) -> RunEnd {
    run_with(target, speed, users, length, false).await
}

/// Replays them with their times, or in a closed load.
async fn run_with(target: &str, speed: &str, users: u32, length: Length, closed: bool) -> RunEnd {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.recording");
    std::fs::write(&file, LINES).unwrap();
    let value = format!("{},speed={speed}", file.display());
    let options = [("recording".to_owned(), value.clone())].into();
    let settings =
        WorkloadSettings { options, without_waits: closed, ..WorkloadSettings::default() };
    let workload = Arc::new(Replay::new(&settings).unwrap());
    let load = if closed { "closed".to_owned() } else { format!("replay:{value}") };
    let load = load.parse().unwrap();
    virtual_time::run(workload, target, virtual_time::spec(users, load, length)).await
}

const ALL: Length = Length::Transactions(4);

/// Committed and rolled back transactions.
fn counts(end: &RunEnd) -> (u64, u64) {
    let sum = |read: fn(&triphammer_core::outcome::Counts) -> u64| {
        end.run.iter().map(|seen| read(&seen.counts)).sum()
    };
    (sum(|counts| counts.committed), sum(|counts| counts.rolled_back))
}

fn about(found: Duration, ms: u64) -> bool {
    (Duration::from_millis(ms)..Duration::from_millis(ms + 15)).contains(&found)
}

#[tokio::test(start_paused = true)]
async fn all_transactions_run_at_their_recorded_times() {
    let end = run("null:", "1x", 2, ALL).await;
    assert_eq!(counts(&end), (3, 1));
    assert!(about(end.ended.duration(), 5_000), "{:?}", end.ended);
    assert!(end.outages.is_empty(), "seconds without recorded work are no outage");
    // The gap in the first transaction is part of its time.
    let longest = end.exemplars[0].timing;
    assert!(about(Duration::from_nanos(longest.service_ns()), 200), "{longest:?}");
    assert!(end.pool_wait.unwrap().max() < 2_000, "nothing is late");
    let end = run("null:", "4x", 2, ALL).await;
    assert_eq!(counts(&end), (3, 1));
    assert!(about(end.ended.duration(), 1_250), "{:?}", end.ended);
}

#[tokio::test(start_paused = true)]
async fn what_the_database_delays_is_response_time() {
    // Begin, preparing, two updates and commit take 2.7 s; the next transaction is due after one.
    let end = run("null:?service=500ms", "1x", 2, ALL).await;
    assert_eq!(counts(&end), (3, 1));
    let wait = Duration::from_micros(end.pool_wait.as_ref().unwrap().max());
    assert!(about(wait, 1_700), "{wait:?}");
}

#[tokio::test(start_paused = true)]
async fn one_session_can_replay_several_and_a_window_can_end_it() {
    let end = run("null:", "1x", 1, ALL).await;
    assert_eq!(counts(&end), (3, 1));
    let wait = Duration::from_micros(end.pool_wait.as_ref().unwrap().max());
    assert!(about(wait, 150), "the second begins when the first has ended: {wait:?}");
    let end = run("null:", "1x", 2, Length::Time(Duration::from_secs(2))).await;
    assert_eq!(counts(&end), (2, 1));
}

#[test]
fn the_order_of_sessions_alone_needs_a_load_without_times() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.recording");
    std::fs::write(&file, LINES).unwrap();
    let new = |without_waits| {
        let recording = ("recording".to_owned(), file.display().to_string());
        let options = [recording, ("order".to_owned(), "session".to_owned())].into();
        Replay::new(&WorkloadSettings { options, without_waits, ..WorkloadSettings::default() })
    };
    assert!(new(true).is_ok());
    let error = new(false).unwrap_err();
    assert_eq!(error.setting(), Some("order"));
    assert!(error.to_string().contains("--load closed"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_closed_load_waits_for_none_of_the_recorded_times() {
    let end = run_with("null:?service=10ms", "1x", 2, ALL, true).await;
    assert_eq!(counts(&end), (3, 1));
    // Fourteen calls of the first session, one after the other.
    assert!(end.ended.duration() < Duration::from_millis(300), "{:?}", end.ended);
    let end = run_with("null:", "1x", 2, Length::Time(Duration::from_secs(60)), true).await;
    assert_eq!((counts(&end), end.ending), ((3, 1), RunEnding::Complete), "all of it is done");
    let end = run("null:", "1x", 2, Length::Time(Duration::from_secs(60))).await;
    assert_eq!((counts(&end), end.ending), ((3, 1), RunEnding::Complete), "all of it is done");
}
