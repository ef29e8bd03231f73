//! Measurements of the engine besides transactions, for finding the bottleneck: round trips, lag,
//! CPU.

use std::sync::Arc;

use triphammer_drivers::null::Null;
use triphammer_engine::{RunEnd, RunPlan};

use crate::pings::{CALL, Pings, plan};
use crate::{committed, run};

/// One user whose transactions are one round trip each.
fn calls(target: &str, seconds: u64) -> RunPlan<Pings, Null> {
    let mut plan = plan(target, 1, seconds);
    plan.workload = Arc::new(Pings::new(vec![CALL], 0));
    plan
}

fn slowest_ms(end: &RunEnd) -> u64 {
    end.run[CALL].response.as_ref().map_or(0, |times| times.max() / 1000)
}

#[tokio::test(start_paused = true)]
async fn round_trips_are_measured_between_transactions_and_count_for_none() {
    let end = run(calls("null:?network=20ms&service=30ms", 30)).await;
    let seen = end.gauges.round_trip.as_ref().unwrap();
    // A ping of 20 ms rests for 2 s.
    assert!((14..=16).contains(&seen.len()), "{}", seen.len());
    assert!((20_000..23_000).contains(&seen.value_at_quantile(0.1)), "{}", seen.min());
    assert_eq!(end.round_trips, committed(&end), "pings are no transaction's");
    assert!(slowest_ms(&end) < 55, "{}", slowest_ms(&end));
}

#[tokio::test(start_paused = true)]
async fn a_ping_that_takes_long_is_part_of_the_next_transaction() {
    let hidden = run(calls("null:?network=900ms", 300)).await;
    assert!(slowest_ms(&hidden) < 950, "{}", slowest_ms(&hidden));
    let outage = run(calls("null:?network=1500ms", 300)).await;
    assert!(slowest_ms(&outage) >= 3_000, "{}", slowest_ms(&outage));
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_lost_in_a_ping_is_made_anew() {
    let end = run(calls("null:?network=10ms&disconnect=1005ms", 60)).await;
    let (lost, anew) = end.sessions;
    assert!(lost >= 50 && lost - anew <= 1, "{lost} {anew}");
    assert!(committed(&end) > 4_000, "{}", committed(&end));
}

#[tokio::test(start_paused = true)]
async fn in_process_there_is_no_round_trip_but_a_lag() {
    let end = run(plan("null:?service=10ms", 4, 20)).await;
    assert!(end.gauges.round_trip.is_none());
    let lag = end.gauges.lag.as_ref().unwrap();
    // A heartbeat every 10 to 20 ms, rounded up to whole milliseconds.
    assert!((1_200..=1_400).contains(&lag.len()), "{}", lag.len());
    assert_eq!(lag.value_at_quantile(0.5), 1, "time stands still while a thread works");
}

#[test]
fn a_thread_that_never_rests_is_seen_and_still_hears() {
    let mut plan = plan("null:", 2, 2);
    plan.spec.threads = 2;
    let mut handle = triphammer_engine::start(plan).unwrap();
    while handle.events.blocking_recv().is_some() {}
    let gauges = handle.join().unwrap().gauges;
    assert_eq!(gauges.cpu.len(), 2);
    // Other programs may have used most of the CPU, but not all of it.
    assert!(gauges.busiest_share() > 0.01, "{:?}", gauges.cpu);
    assert!(gauges.lag.is_some_and(|lag| !lag.is_empty()));
    if cfg!(target_os = "linux") {
        assert!(gauges.host.share().is_some_and(|share| share > 0.01));
    }
}
