//! Guarantees of the engine, tested on the null driver, in virtual time where anything waits. The
//! counting identities are checked at the end of every run here.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a failing test")]

mod changes;
mod cluster;
mod gauges;
mod hosts;
mod keyed;
mod logins;
mod nodes;
mod open;
mod pings;
mod shares;
mod slices;

use std::sync::Arc;
use std::time::Duration;

use pings::{CALL, Pings, READ, WRITE, plan};
use tokio::sync::mpsc;
use triphammer_core::event::{Event, Phase};
use triphammer_core::spec::Length;
use triphammer_core::{Elapsed, ErrorClass};
use triphammer_drivers::null::Null;
use triphammer_engine::{RunEnd, RunEnding, RunError, RunPlan, StopHandle};

/// Runs in virtual time, and returns the events too.
async fn run_with(
    plan: RunPlan<Pings, Null>,
    meanwhile: impl AsyncFnOnce(StopHandle),
) -> (Result<RunEnd, RunError>, Vec<Event>) {
    let (sender, mut receiver) = mpsc::channel(10_000);
    let end = triphammer_engine::run_here(plan, sender, meanwhile).await;
    if let Ok(end) = &end {
        assert_eq!(end.violations, [], "the counting identities hold");
    }
    let mut events = Vec::new();
    while let Ok(event) = receiver.try_recv() {
        events.push(event);
    }
    (end, events)
}

async fn run(plan: RunPlan<Pings, Null>) -> RunEnd {
    run_with(plan, async |_| {}).await.0.unwrap()
}

fn committed(end: &RunEnd) -> u64 {
    end.run.iter().map(|seen| seen.counts.committed).sum()
}

fn seconds(events: &[Event]) -> Vec<u64> {
    let counted = |event: &Event| match event {
        Event::Second(interval) => {
            Some(interval.types.iter().map(|seen| seen.counts.ended()).sum())
        }
        _ => None,
    };
    events.iter().filter_map(counted).collect()
}

#[tokio::test(start_paused = true)]
async fn the_window_is_counted_by_the_clock_and_ramp_up_is_not_in_it() {
    let mut plan = plan("null:?service=10ms", 2, 10);
    plan.spec.rampup = Duration::from_secs(5);
    let (end, events) = run_with(plan, async |_| {}).await;
    let end = end.unwrap();
    // Begin, write and commit take 10 ms each: 33 transactions per second, 2 users.
    let in_window = end.timed[WRITE].counts.committed;
    assert!((655..=668).contains(&in_window), "{in_window}");
    let whole = committed(&end);
    assert!((985..=1002).contains(&whole), "{whole}");
    assert_eq!(end.window.seconds(), 10.0);
    assert_eq!(end.ending, RunEnding::Complete);
    let phases: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Phase(phase, at) => Some((*phase, at.second())),
            _ => None,
        })
        .collect();
    assert_eq!(phases, [(Phase::RampUp, 0), (Phase::Window, 5), (Phase::Drain, 15)]);
    let seconds = seconds(&events);
    assert_eq!(seconds.iter().sum::<u64>(), whole, "the seconds' sum is the run");
    assert_eq!(seconds[5..15].iter().sum::<u64>(), in_window, "the window is its seconds");
}

#[tokio::test(start_paused = true)]
async fn times_are_those_of_the_database() {
    let end = run(plan("null:?service=20ms", 1, 20)).await;
    let times = end.timed[WRITE].response.as_ref().unwrap();
    assert!((60_000..=63_000).contains(&times.value_at_quantile(0.5)), "{}", times.mean());
}

#[tokio::test(start_paused = true)]
async fn a_number_of_transactions_is_run_exactly_and_its_length_is_the_window() {
    let mut plan = plan("null:?service=10ms", 3, 1);
    plan.spec.length = Length::Transactions(7);
    let end = run(plan).await;
    assert_eq!(committed(&end), 21);
    assert_eq!(end.timed[WRITE].counts.committed, 21);
    assert_eq!(end.window.start, Elapsed(0));
    assert_eq!(end.window.end, end.ended);
}

/// What its user would have done is missing: no other figure shows it.
#[tokio::test(start_paused = true)]
async fn a_virtual_user_whose_code_panics_is_a_violation() {
    let mut plan = plan("null:?service=10ms", 3, 1);
    plan.spec.length = Length::Transactions(7);
    Arc::get_mut(&mut plan.workload).unwrap().panics_at = 5;
    let (sender, _receiver) = mpsc::channel(10_000);
    let end = triphammer_engine::run_here(plan, sender, async |_| {}).await.unwrap();
    let violations: Vec<_> = end.violations.iter().map(|v| (&*v.identity, v.left)).collect();
    let panicked = "virtual users that ended by a defect of the program = none";
    assert_eq!(violations, [(panicked, 1)]);
    assert_eq!(end.in_flight[WRITE], 1);
    assert!((14..21).contains(&committed(&end)), "{}", committed(&end));
}

#[tokio::test(start_paused = true)]
async fn a_retry_has_the_same_input_and_counts_once() {
    let mut plan = plan("null:?fail=serialization:40%", 1, 1);
    plan.spec.length = Length::Transactions(2000);
    plan.spec.retry.attempts = 3;
    let workload = Arc::clone(&plan.workload);
    let end = run(plan).await;
    let counts = &end.run[WRITE].counts;
    let class = ErrorClass::Serialization.index();
    assert_eq!(counts.committed + counts.failed[class], 2000);
    // Three attempts fail together with 0.4³ = 6.4 %; a second attempt is needed in 40 %.
    assert!((80..=180).contains(&counts.failed[class]), "{}", counts.failed[class]);
    assert!((700..=900).contains(&counts.retried), "{}", counts.retried);
    let attempts = workload.attempts.lock().unwrap().clone();
    assert_eq!(attempts.len() as u64, 2000 + counts.retries[class]);
    let mut distinct = attempts.clone();
    distinct.dedup();
    assert_eq!(distinct.len(), 2000, "attempts at a transaction follow each other with one input");
}

#[tokio::test(start_paused = true)]
async fn other_failures_are_not_retried() {
    let mut plan = plan("null:?fail=constraint:100%", 1, 1);
    plan.spec.length = Length::Transactions(10);
    let end = run(plan).await;
    assert_eq!(end.run[WRITE].counts.failed[ErrorClass::Constraint.index()], 10);
    assert_eq!(end.run[WRITE].counts.retried, 0);
    assert_eq!(end.errors.len(), 1);
    assert_eq!(end.errors[0].count, 10);
}

#[tokio::test(start_paused = true)]
async fn a_user_whose_transactions_fail_at_once_is_slowed_down_and_one_that_succeeds_is_not() {
    let rejected = run(plan("null:?fail=other:100%", 2, 20)).await.run[WRITE].counts.failures();
    assert!((2 * 30..2 * 60).contains(&rejected), "{rejected}");
    let some = run(plan("null:?service=1ms&fail=constraint:50%", 2, 2)).await;
    let counts = &some.run[WRITE].counts;
    let half = counts.ended() / 2;
    assert!(counts.failures().abs_diff(half) < half / 4 && half > 200, "{counts:?}");
}

#[tokio::test(start_paused = true)]
async fn whoever_watches_learns_at_once_what_transactions_fail_with() {
    let mut plan = plan("null:?fail=constraint:100%", 1, 4);
    plan.spec.length = Length::Transactions(10);
    let (end, events) = run_with(plan, async |_| {}).await;
    let told = events.iter().filter_map(|event| match event {
        Event::Note(note) if note.kind == "error" => Some(note.text.as_str()),
        _ => None,
    });
    let told: Vec<_> = told.collect();
    assert_eq!(told.len(), 1, "once, whoever met it: {told:?}");
    assert!(told[0].contains(" failed: "), "{told:?}");
    assert!(end.unwrap().notes.is_empty(), "the result has it among its errors");
}

#[tokio::test(start_paused = true)]
async fn a_connection_lost_at_commit_leaves_the_transaction_indeterminate() {
    let mut plan = plan("null:?fail=disconnected:10%", 1, 1);
    plan.spec.length = Length::Transactions(300);
    plan.workload = Arc::new(Pings::new(vec![WRITE, CALL], 0));
    let end = run(plan).await;
    for place in [WRITE, CALL] {
        let counts = &end.run[place].counts;
        assert!((5..=30).contains(&counts.indeterminate), "{counts:?}");
        assert_eq!(counts.indeterminate + counts.committed, 150);
    }
    let (lost, anew) = end.sessions;
    assert!(lost >= 10 && lost - anew <= 1, "every lost session reconnected: {lost} {anew}");
}

#[tokio::test(start_paused = true)]
async fn a_connection_lost_before_the_commit_fails_and_is_made_anew() {
    let end = run(plan("null:?service=10ms&disconnect=2s", 2, 20)).await;
    let counts = &end.run[WRITE].counts;
    let class = ErrorClass::Disconnected.index();
    assert!(counts.failed[class] + counts.indeterminate >= 14, "{counts:?}");
    assert!(counts.committed > 1000, "{counts:?}");
    assert!(end.notes.iter().any(|note| note.kind == "sessions_lost"));
    let recovery = end.notes.iter().find(|note| note.kind == "recovery").unwrap();
    assert!(recovery.text.contains("the first transaction committed 0.0"), "{recovery:?}");
}

#[tokio::test(start_paused = true)]
async fn an_outage_is_seen_in_the_series_and_stays_in_the_window() {
    let (end, events) =
        run_with(plan("null:?service=10ms&stall=3s/10s", 4, 20), async |_| {}).await;
    let per_second = seconds(&events);
    assert_eq!(per_second[11], 0, "{per_second:?}");
    let since = |second| {
        events.iter().find_map(|event| match event {
            Event::Second(interval) if interval.first == second => interval.outage_since,
            _ => None,
        })
    };
    assert!(matches!(since(11), Some(10 | 11)), "known during the run: {:?}", since(11));
    assert_eq!((since(8), since(15)), (None, None));
    let end = end.unwrap();
    assert_eq!(end.window.seconds(), 20.0);
    assert!(end.notes.iter().any(|note| note.kind == "outage"), "{:?}", end.notes);
    assert!(end.outages.iter().any(|outage| outage.contains(&11)), "{:?}", end.outages);
    assert_eq!(end.away, 0);
}

#[tokio::test(start_paused = true)]
async fn a_rollback_by_rule_is_an_outcome_of_its_own() {
    let mut plan = plan("null:", 1, 1);
    plan.spec.length = Length::Transactions(1000);
    plan.workload = Arc::new(Pings::new(vec![WRITE], 4));
    let end = run(plan).await;
    let counts = &end.run[WRITE].counts;
    assert!((180..=320).contains(&counts.rolled_back), "{counts:?}");
    assert_eq!(counts.rolled_back + counts.committed, 1000);
    assert_eq!(end.run[WRITE].rolled_back.as_ref().unwrap().len(), counts.rolled_back);
}

#[tokio::test(start_paused = true)]
async fn a_window_ended_early_ends_on_a_tick_and_the_run_is_complete() {
    let enough = async |stopper: StopHandle| {
        tokio::time::sleep(Duration::from_millis(7_300)).await;
        stopper.end_window();
    };
    let mut plan = plan("null:?service=10ms", 2, 60);
    plan.spec.rampup = Duration::from_secs(2);
    let (end, events) = run_with(plan, enough).await;
    let end = end.unwrap();
    assert_eq!((end.window.start.second(), end.window.end.second()), (2, 8));
    assert_eq!((end.window.seconds(), end.ending), (6.0, RunEnding::Complete));
    assert!(end.ended < Elapsed::at_second(9));
    let in_window = end.timed[WRITE].counts.committed;
    assert_eq!(seconds(&events)[2..8].iter().sum::<u64>(), in_window);
}

#[tokio::test(start_paused = true)]
async fn a_stop_drains_and_cuts_the_window_at_a_whole_second() {
    let stop = async |stopper: StopHandle| {
        tokio::time::sleep(Duration::from_millis(3500)).await;
        stopper.stop();
    };
    let (end, _) = run_with(plan("null:?service=10ms", 2, 60), stop).await;
    let end = end.unwrap();
    assert_eq!(end.ending, RunEnding::Stopped);
    assert_eq!(end.window.seconds(), 3.0);
    assert_eq!(end.in_flight.iter().sum::<u64>(), 0);
    assert!(end.ended.0 < 3_700_000_000);
}

#[tokio::test(start_paused = true)]
async fn an_abort_leaves_transactions_in_flight_and_counts_them() {
    let abort = async |stopper: StopHandle| {
        // The three statements take one hour each to prepare.
        tokio::time::sleep(Duration::from_secs(3 * 3600 + 2)).await;
        stopper.stop();
        stopper.abort();
    };
    let (end, _) = run_with(plan("null:?service=1h", 5, 60), abort).await;
    let end = end.unwrap();
    assert_eq!(end.ending, RunEnding::Aborted);
    assert_eq!(end.in_flight[WRITE], 5);
    assert_eq!(end.started[WRITE], 5);
}

#[tokio::test(start_paused = true)]
async fn a_drain_that_takes_too_long_becomes_an_abort() {
    let (end, _) = run_with(plan("null:?service=1h", 3, 5), async |_| {}).await;
    let end = end.unwrap();
    assert_eq!(end.ending, RunEnding::Aborted);
    assert_eq!(end.in_flight[WRITE], 3);
    assert!(end.notes.iter().any(|note| note.kind == "drain_limit"), "{:?}", end.notes);
}

#[tokio::test(start_paused = true)]
async fn the_watchdog_counts_a_timeout_and_a_lost_commit_as_indeterminate() {
    let mut plan = plan("null:?service=4s", 1, 60);
    plan.spec.limits.transaction = Duration::from_secs(3);
    let end = run(plan).await;
    assert!(end.run[WRITE].counts.failed[ErrorClass::Timeout.index()] >= 5);
    let mut plan = plan_at_commit();
    plan.spec.limits.transaction = Duration::from_secs(10);
    let end = run(plan).await;
    assert!(end.run[WRITE].counts.indeterminate >= 2, "{:?}", end.run[WRITE].counts);
}

/// A plan in which begin and write take 4 s each, so that a limit of 10 s passes during the commit.
fn plan_at_commit() -> RunPlan<Pings, Null> {
    plan("null:?service=4s", 1, 60)
}

#[tokio::test(start_paused = true)]
async fn a_run_does_not_begin_when_not_all_can_connect() {
    let (end, _) = run_with(plan("null:?refuse=5", 8, 10), async |_| {}).await;
    let error = end.unwrap_err();
    assert_eq!((error.connected, error.of), (5, 8));
    assert!(error.to_string().starts_with("connected 5 of 8 virtual users: "), "{error}");
}

#[tokio::test(start_paused = true)]
async fn the_same_seed_does_the_same_work_whatever_the_threads() {
    let inputs = async |users: u32, seed: u64| {
        let mut plan = plan("null:", users, 1);
        plan.spec.length = Length::Transactions(50);
        plan.spec.seed = seed;
        let workload = Arc::clone(&plan.workload);
        run(plan).await;
        let mut numbers = workload.attempts.lock().unwrap().clone();
        numbers.sort_unstable();
        numbers
    };
    let two = inputs(2, 7).await;
    let three = inputs(3, 7).await;
    assert!(two.iter().all(|number| three.contains(number)), "user u's work is its own");
    assert_ne!(two, inputs(2, 8).await);
}

#[test]
fn threads_share_the_users_and_their_seconds_add_up() {
    let mut plan = plan("null:?service=1ms", 8, 2);
    plan.spec.threads = 3;
    plan.workload = Arc::new(Pings::new(vec![READ, WRITE, CALL], 5));
    let mut handle = triphammer_engine::start(plan).unwrap();
    let mut ended = 0;
    while let Some(event) = handle.events.blocking_recv() {
        if let Event::Second(interval) = event {
            ended += interval.types.iter().map(|seen| seen.counts.ended()).sum::<u64>();
        }
    }
    let end = handle.join().unwrap();
    assert_eq!(end.worker_cpu_ns.len(), 3);
    assert_eq!(ended, end.run.iter().map(|seen| seen.counts.ended()).sum::<u64>());
    assert!(end.round_trips > ended);
}

#[test]
fn users_that_never_wait_end_by_the_clock_too() {
    let mut handle = triphammer_engine::start(plan("null:", 1, 1)).unwrap();
    let mut drained = false;
    while let Some(event) = handle.events.blocking_recv() {
        drained |= matches!(event, Event::Phase(Phase::Drain, _));
    }
    let end = handle.join().unwrap();
    assert_eq!((end.ending, end.window.seconds(), drained), (RunEnding::Complete, 1.0, true));
}
