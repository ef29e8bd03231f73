//! Changes of the load during a run.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;
use triphammer_core::Elapsed;
use triphammer_core::event::Event;
use triphammer_core::pace::{LoadChange, LoadValue, PlannedChange};
use triphammer_drivers::null::Null;
use triphammer_engine::{Offered, RunPlan};

use crate::pings::{CALL, Pings, plan};
use crate::{committed, run_with, seconds};

/// A run whose transactions are one round trip each.
fn calling(load: &str, sessions: u32, long: u64) -> RunPlan<Pings, Null> {
    let mut plan = plan("null:?service=10ms", sessions, long);
    plan.workload = Arc::new(Pings::new(vec![CALL], 0));
    plan.spec.load = load.parse().unwrap();
    plan
}

fn notes(events: &[Event]) -> Vec<&str> {
    let mut notes = Vec::new();
    for event in events {
        if let Event::Note(note) = event
            && note.kind == "load_changed"
        {
            notes.push(note.text.as_str());
        }
    }
    notes
}

#[tokio::test(start_paused = true)]
async fn arrivals_follow_another_rate_from_the_next_second_on() {
    // Nearly all sessions hold the number of an arrival that is due much later.
    let (end, events) = run_with(calling("rate:2/s,constant", 64, 20), async |stopper| {
        sleep(Duration::from_millis(5_300)).await;
        let made = stopper.change_load(LoadChange::Rate(400.0)).unwrap();
        assert_eq!(made.at, Elapsed::at_second(6));
        assert_eq!((made.from, made.to), (LoadValue::Number(2.0), LoadValue::Number(400.0)));
        sleep(Duration::from_secs(6)).await;
        stopper.change_load(LoadChange::Rate(0.0)).unwrap();
        sleep(Duration::from_secs(3)).await;
        let error = stopper.change_load(LoadChange::Users(3)).unwrap_err();
        assert!(error.to_string().contains("open"), "{error}");
        stopper.change_load(LoadChange::Rate(10.0)).unwrap();
    })
    .await;
    let end = end.unwrap();
    // 6 s at 2/s, 6 s at 400/s, 3 s at nothing, 5 s at 10/s.
    let all = 12 + 2_400 + 50;
    assert_eq!(end.offered.unwrap(), Offered { offered: all, skipped: 0, never_started: 0 });
    assert_eq!(committed(&end), all);
    let seconds = seconds(&events);
    assert!(seconds[..6].iter().all(|count| (1..=3).contains(count)), "{seconds:?}");
    assert!(seconds[7..11].iter().all(|count| (396..=404).contains(count)), "{seconds:?}");
    assert_eq!(seconds[13..15], [0, 0], "{seconds:?}");
    assert!(end.timed[CALL].response.as_ref().unwrap().max() < 15_000, "nothing was late");
    assert_eq!(end.load_changes.len(), 3);
    assert_eq!(notes(&events)[0], "the rate changed from 2 to 400 per second, by request");
    assert_eq!(end.outages, [], "a pause by request is none");
}

#[tokio::test(start_paused = true)]
async fn users_of_a_closed_load_wait_and_return() {
    let (end, events) = run_with(calling("closed", 8, 12), async |stopper| {
        sleep(Duration::from_secs(3)).await;
        stopper.change_load(LoadChange::Users(2)).unwrap();
        sleep(Duration::from_secs(4)).await;
        stopper.change_load(LoadChange::Users(6)).unwrap();
        let error = stopper.change_load(LoadChange::Users(9)).unwrap_err();
        assert!(error.to_string().contains("from 1 to 8"), "{error}");
    })
    .await;
    let end = end.unwrap();
    let seconds = seconds(&events);
    for (part, expected) in [(1..3, 800), (4..7, 200), (8..12, 600)] {
        let near = |count: &u64| count.abs_diff(expected) <= expected / 20;
        assert!(seconds[part].iter().all(near), "{expected}: {seconds:?}");
    }
    assert_eq!((end.load_changes.len(), end.away), (2, 0));
}

/// Plans changes at seconds of the window.
fn planning<const N: usize>(
    load: &str,
    sessions: u32,
    changes: [(u64, LoadChange); N],
) -> RunPlan<Pings, Null> {
    let mut plan = calling(load, sessions, 12);
    let planned = |(at, change)| PlannedChange { at: Duration::from_secs(at), change };
    plan.spec.pacing.changes = changes.map(planned).to_vec();
    plan
}

#[tokio::test(start_paused = true)]
async fn a_rate_changes_at_the_seconds_that_the_run_has_planned() {
    let [fast, none, slow] = [100.0, 0.0, 20.0].map(LoadChange::Rate);
    let plan = planning("rate:10/s,constant", 64, [(3, fast), (6, none), (9, slow)]);
    let (end, events) = run_with(plan, async |_| ()).await;
    let end = end.unwrap();
    let all = 30 + 300 + 60;
    assert_eq!(end.offered.unwrap(), Offered { offered: all, skipped: 0, never_started: 0 });
    let seconds = seconds(&events);
    for (part, expected) in [(0..3, 10), (3..6, 100), (6..9, 0), (9..12, 20)] {
        let near = |count: &u64| count.abs_diff(expected) <= 2;
        assert!(seconds[part].iter().all(near), "{expected}: {seconds:?}");
    }
    let made: Vec<_> = end.load_changes.iter().map(|made| (made.at, made.planned)).collect();
    assert_eq!(made, [3, 6, 9].map(|second| (Elapsed::at_second(second), true)));
    assert_eq!(notes(&events)[0], "the rate changed from 10 to 100 per second, as planned");
}

#[tokio::test(start_paused = true)]
async fn users_change_as_planned_after_the_ramp_up() {
    let [few, more] = [2, 6].map(LoadChange::Users);
    let mut plan = planning("closed", 8, [(0, few), (5, more)]);
    plan.spec.rampup = Duration::from_secs(3);
    let (end, events) = run_with(plan, async |_| ()).await;
    let (end, seconds) = (end.unwrap(), seconds(&events));
    for (part, expected) in [(0..3, 800), (4..8, 200), (9..15, 600)] {
        let near = |count: &u64| count.abs_diff(expected) <= expected / 20;
        assert!(seconds[part].iter().all(near), "{expected}: {seconds:?}");
    }
    let made: Vec<_> = end.load_changes.iter().map(|made| made.at).collect();
    assert_eq!(made, [3, 8].map(Elapsed::at_second));
}

#[tokio::test(start_paused = true)]
async fn a_planned_change_that_meets_a_requested_one_is_a_note() {
    let plan = planning("rate:10/s,constant", 64, [(5, LoadChange::Rate(7.0))]);
    let (end, events) = run_with(plan, async |stopper| {
        sleep(Duration::from_millis(4_200)).await;
        stopper.change_load(LoadChange::Rate(20.0)).unwrap();
    })
    .await;
    assert_eq!(end.unwrap().load_changes.len(), 1);
    let refused =
        "the planned change `at=5s rate=7/s` was not made: the rate has just been changed";
    assert!(notes(&events).iter().any(|note| note.starts_with(refused)), "{:?}", notes(&events));
}

#[tokio::test(start_paused = true)]
async fn a_run_of_a_number_of_transactions_has_a_fixed_load() {
    let mut plan = calling("closed", 2, 1);
    plan.spec.length = triphammer_core::spec::Length::Transactions(100);
    let (end, _) = run_with(plan, async |stopper| {
        sleep(Duration::from_millis(500)).await;
        let error = stopper.change_load(LoadChange::Users(1)).unwrap_err();
        assert!(error.to_string().contains("its load is fixed"), "{error}");
    })
    .await;
    assert_eq!(committed(&end.unwrap()), 200);
}
