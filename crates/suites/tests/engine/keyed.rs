//! Keyed loads: terminals that key and think, on their own sessions or on a pool of them.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;
use triphammer_core::pace::Load;
use triphammer_core::spec::{Length, Sessions};
use triphammer_drivers::null::Null;
use triphammer_engine::{Origin, RunEnd, RunEnding, RunPlan, StopHandle};

use crate::pings::{CALL, Pings, WRITE, plan};
use crate::{committed, run, run_with, seconds};

/// Terminals whose transactions are calls: 3 s of keying and 4 s of thinking on average.
fn terminals(
    target: &str,
    terminals: u32,
    sessions: Sessions,
    seconds: u64,
) -> RunPlan<Pings, Null> {
    let mut plan = plan(target, terminals, seconds);
    plan.workload = Arc::new(Pings::new(vec![CALL], 0));
    plan.spec.load = Load::Keyed;
    plan.spec.pacing.sessions = sessions;
    plan
}

/// Whether sums differ only by chance: within five standard deviations for a sum of this size.
fn about(found: u64, expected: f64) -> bool {
    (f64::from(u32::try_from(found).unwrap()) - expected).abs() < 5.0 * expected.sqrt()
}

fn mean_ms(times: Option<&hdrhistogram::Histogram<u64>>) -> f64 {
    times.unwrap().mean() / 1000.0
}

#[tokio::test(start_paused = true)]
async fn a_terminal_keys_waits_for_the_answer_and_thinks() {
    let mut plan = terminals("null:?service=1s", 50, Sessions::Own, 800);
    plan.spec.rampup = Duration::from_secs(20);
    let end = run(plan).await;
    // A cycle is 3 s of keying, 1 s of service and 4 s of thinking.
    assert!(about(end.timed[CALL].counts.committed, 50.0 * 100.0), "{}", committed(&end));
    let waits = end.pool_wait.as_ref().unwrap();
    assert!(waits.max() <= 1_001, "nobody waits for a session of its own: {}", waits.max());
    assert_eq!(end.offered, None, "terminals do not arrive");
}

#[tokio::test(start_paused = true)]
async fn terminals_share_the_sessions_of_a_pool() {
    let own = run(terminals("null:?service=20ms", 300, Sessions::Own, 400)).await;
    let pool = run(terminals("null:?service=20ms", 300, Sessions::Pool(4), 400)).await;
    let (own, shared) = (committed(&own), committed(&pool));
    assert!(own.abs_diff(shared) < own / 100, "{own} {shared}");
    assert!(pool.pool_wait.unwrap().value_at_quantile(0.5) <= 1_001);
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_session_of_the_pool_is_response_time() {
    let end = run(terminals("null:?service=1s", 40, Sessions::Pool(2), 400)).await;
    // Two sessions serve two per second; 40 terminals with pauses of 7 s would need more than five.
    assert!((775..=801).contains(&committed(&end)), "{}", committed(&end));
    // Two are served, about 14 key or think, and the others wait.
    assert!((15..=38).contains(&end.backlog_max.unwrap()), "{:?}", end.backlog_max);
    let wait = mean_ms(end.pool_wait.as_ref());
    // Little's law: 40 terminals at 2 per second make a cycle of 20 s, of which 8 s are not
    // waiting.
    assert!((11_000.0..13_000.0).contains(&wait), "{wait}");
    let (response, service) = (&end.timed[CALL].response, &end.timed[CALL].service);
    assert!((mean_ms(service.as_ref()) - 1_000.0).abs() < 10.0);
    let difference = mean_ms(response.as_ref()) - mean_ms(service.as_ref());
    assert!((difference - wait).abs() < 20.0, "{difference} {wait}");
}

#[tokio::test(start_paused = true)]
async fn a_terminals_work_is_that_of_the_same_user_of_a_closed_load() {
    let inputs = async |load: Load, sessions: Sessions| {
        let mut plan = terminals("null:", 6, sessions, 1);
        plan.spec.load = load;
        plan.spec.length = Length::Transactions(9);
        let workload = Arc::clone(&plan.workload);
        let end = run(plan).await;
        assert_eq!((committed(&end), end.ending), (54, RunEnding::Complete));
        let mut numbers = workload.attempts.lock().unwrap().clone();
        numbers.sort_unstable();
        numbers
    };
    let closed = inputs(Load::Closed, Sessions::Own).await;
    assert_eq!(inputs(Load::Keyed, Sessions::Own).await, closed);
    assert_eq!(inputs(Load::Keyed, Sessions::Pool(2)).await, closed);
}

#[tokio::test(start_paused = true)]
async fn log_ins_are_staggered() {
    for sessions in [Sessions::Own, Sessions::Pool(50)] {
        let mut plan = terminals("null:", 100, sessions, 20);
        plan.spec.rampup = Duration::from_secs(100);
        plan.spec.pacing.login_delay = Duration::from_secs(1);
        let (_, events) = run_with(plan, async |_| {}).await;
        let per_second = seconds(&events);
        let early: u64 = per_second[..50].iter().sum();
        let late: u64 = per_second[50..100].iter().sum();
        // On average a terminal was there for half as long: 1/4 of all, less the first cycle.
        assert!(early * 2 < late && early > 0, "{early} {late}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_wakes_terminals_that_think_and_drains() {
    for sessions in [Sessions::Own, Sessions::Pool(5)] {
        let stop = async |stopper: StopHandle| {
            sleep(Duration::from_millis(30_500)).await;
            stopper.stop();
        };
        let (end, _) = run_with(terminals("null:?service=100ms", 20, sessions, 600), stop).await;
        let end = end.unwrap();
        assert_eq!((end.ending, end.in_flight[CALL]), (RunEnding::Stopped, 0));
        assert!(end.ended.0 < 30_700_000_000 && committed(&end) > 30, "{:?}", end.ended);
    }
}

#[tokio::test(start_paused = true)]
async fn an_abort_gives_up_what_the_sessions_are_at() {
    for (sessions, in_flight) in [(Sessions::Own, 20), (Sessions::Pool(5), 5)] {
        let end = run(terminals("null:?service=1h", 20, sessions, 200)).await;
        assert_eq!((end.ending, end.in_flight[CALL]), (RunEnding::Aborted, in_flight));
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_of_a_pool_that_is_lost_takes_no_terminal_with_it() {
    let target = "null:?service=2ms&connect=900ms&fail=disconnected:2%";
    let end = run(terminals(target, 200, Sessions::Pool(8), 120)).await;
    let (lost, anew) = end.sessions;
    assert!(lost > 40 && lost - anew <= 8, "{lost} {anew}");
    let ended = end.run[CALL].counts.ended();
    assert!(ended > 3_000, "{ended}");
    let waits = end.pool_wait.unwrap();
    assert!(waits.value_at_quantile(0.95) < 10_000, "{}", waits.value_at_quantile(0.95));
}

#[tokio::test(start_paused = true)]
async fn an_exemplar_of_a_terminal_has_its_place_in_the_terminals_stream() {
    let mut plan = terminals("null:?service=exp(50ms)", 12, Sessions::Pool(3), 60);
    plan.workload = Arc::new(Pings::new(vec![CALL, WRITE], 0));
    let end: RunEnd = run(plan).await;
    for kept in &end.exemplars {
        let Origin::User { user, nth } = kept.origin else { panic!("{kept:?}") };
        // Terminals alternate: the first transaction is a call, the second a write.
        let transaction = if nth % 2 == 1 { CALL } else { WRITE };
        assert!(user < 12 && kept.transaction == transaction && kept.attempts == 1, "{kept:?}");
    }
}
