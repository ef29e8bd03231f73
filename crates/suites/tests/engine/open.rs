//! Open loads: one stream of arrivals; any free session takes the next. The engine asserts what
//! became of each at the end of every run.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;
use triphammer_core::Elapsed;
use triphammer_core::event::Event;
use triphammer_core::pace::{Arrivals, Late, RateProfile, read_steps};
use triphammer_core::recorder::Arrived;
use triphammer_core::spec::Pacing;
use triphammer_drivers::null::Null;
use triphammer_engine::{self, EXEMPLARS, Offered, Origin, RunEnd, RunEnding, RunPlan, StopHandle};

use crate::pings::{CALL, Pings, WRITE, plan};
use crate::{committed, run, run_with, seconds};

/// Arrivals whose transactions are one round trip each.
fn arriving(target: &str, load: &str, sessions: u32, seconds: u64) -> RunPlan<Pings, Null> {
    let mut plan = plan(target, sessions, seconds);
    plan.workload = Arc::new(Pings::new(vec![CALL], 0));
    plan.spec.load = load.parse().unwrap();
    plan
}

fn slowest_ms(end: &RunEnd) -> u64 {
    end.run[CALL].response.as_ref().map_or(0, |times| times.max() / 1000)
}

fn started(end: &RunEnd) -> u64 {
    end.started.iter().sum()
}

/// Number of arrivals that are due before second `stop` of a plan.
fn due_before(plan: &RunPlan<Pings, Null>, stop: u64) -> u64 {
    let spec = &plan.spec;
    let profile = RateProfile::new(&spec.load, &spec.pacing.steps, spec.rampup).unwrap();
    let mut arrivals = Arrivals::new(Arc::new(profile), false, spec.seed);
    (0..).take_while(|n| arrivals.due(*n) < Elapsed::at_second(stop)).count() as u64
}

/// When an arrival of a plan is due, from 0.
fn due_nth(plan: &RunPlan<Pings, Null>, nth: u64) -> Elapsed {
    let spec = &plan.spec;
    let profile = RateProfile::new(&spec.load, &spec.pacing.steps, spec.rampup).unwrap();
    Arrivals::new(Arc::new(profile), false, spec.seed).due(nth)
}

#[tokio::test(start_paused = true)]
async fn a_stall_is_in_the_response_times_of_all_that_it_made_wait() {
    let target = "null:?service=5ms&stall=500ms/10s";
    let mut plan = arriving(target, "rate:100/s,constant", 1, 600);
    plan.spec.rampup = Duration::from_secs(5);
    let end = run(plan).await;
    // Of 1,000 arrivals in 10 s, the first in the stall takes 500 ms. Those behind it come 10 ms
    // apart and are served 5 ms apart: the k-th waits 5 k ms less. So ten in a thousand take 455 ms
    // or more.
    let response = end.timed[CALL].response.as_ref().unwrap();
    let near = |quantile: f64, us: f64| {
        let found = response.value_at_quantile(quantile);
        let off = f64::from(u32::try_from(found).unwrap()) / us - 1.0;
        assert!(off.abs() <= 0.02, "p{}: {found} µs", quantile * 100.0);
    };
    near(0.99, 455_000.0);
    near(0.999, 500_000.0);
    let service = end.timed[CALL].service.as_ref().unwrap();
    assert_eq!(service.count_between(100_000, 600_000), 60, "one slow service a stall");
    assert!(service.value_at_quantile(0.998) <= 7_000, "which service times hide");
}

#[tokio::test(start_paused = true)]
async fn all_that_arrives_before_the_end_is_offered_and_started() {
    let mut plan = arriving("null:?service=1ms", "rate:200/s", 8, 10);
    plan.spec.rampup = Duration::from_secs(3);
    let due = due_before(&plan, 13);
    let end = run(plan).await;
    assert_eq!(end.offered.unwrap(), Offered { offered: due, skipped: 0, never_started: 0 });
    assert_eq!((started(&end), committed(&end)), (due, due));
    assert_eq!(end.ending, RunEnding::Complete);
    let waits = end.pool_wait.unwrap();
    assert_eq!(waits.len(), end.timed[CALL].counts.committed);
    // Tokio's timers end on whole milliseconds.
    assert!(waits.value_at_quantile(0.9) <= 1_001, "{}", waits.value_at_quantile(0.9));
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_work_is_done_ends_before_its_time() {
    // So long that the run would not end if it waited for the clock, second by second.
    let hours = 1_000 * 3_600;
    let limited = |mut plan: RunPlan<Pings, Null>, count: u64| {
        Arc::get_mut(&mut plan.workload).unwrap().left = count.into();
        plan
    };
    let open = limited(arriving("null:?service=30ms", "rate:10/s", 64, hours), 55);
    let last = due_nth(&open, 54);
    let (end, events) = run_with(open, async |_| {}).await;
    let end = end.unwrap();
    assert_eq!((end.ending, started(&end), committed(&end)), (RunEnding::Complete, 55, 55));
    assert_eq!(end.offered.unwrap(), Offered { offered: 55, skipped: 0, never_started: 0 });
    assert_eq!(end.timed[CALL].counts.committed, 55);
    assert_eq!(end.window.end, end.ended);
    assert!(end.ended > last && end.ended.since(last) < 40_000_000, "{:?} {last:?}", end.ended);
    assert_eq!(seconds(&events).iter().sum::<u64>(), 55);
    let closed = run(limited(plan("null:?service=30ms", 4, hours), 41)).await;
    assert_eq!((closed.ending, committed(&closed)), (RunEnding::Complete, 41));
    assert_eq!(closed.window.end, closed.ended);
}

#[tokio::test(start_paused = true)]
async fn a_closed_load_offers_nothing_and_has_no_wait() {
    let end = run(plan("null:?service=10ms", 2, 3)).await;
    assert_eq!((end.offered, end.pool_wait.is_some(), end.backlog_max), (None, false, None));
}

#[tokio::test(start_paused = true)]
async fn late_arrivals_are_issued_and_those_that_wait_at_the_end_never_start() {
    let end = run(arriving("null:?service=50ms", "rate:100/s,constant", 1, 20)).await;
    let offered = end.offered.unwrap();
    assert_eq!((offered.offered, offered.skipped), (2_000, 0));
    assert_eq!(offered.never_started, 2_000 - started(&end));
    assert!((385..=401).contains(&started(&end)), "{}", started(&end));
    // The last one started was due after 4 s, and started after 20.
    assert!((15_500..=16_200).contains(&slowest_ms(&end)), "{}", slowest_ms(&end));
}

#[tokio::test(start_paused = true)]
async fn arrivals_too_late_are_skipped_when_asked() {
    let mut plan = arriving("null:?service=50ms", "rate:100/s,constant", 1, 20);
    plan.spec.pacing.late = Late::Skip(Duration::from_millis(100));
    let end = run(plan).await;
    let offered = end.offered.unwrap();
    assert_eq!(offered.offered, 2_000);
    assert!((385..=401).contains(&started(&end)), "{}", started(&end));
    assert!(offered.never_started <= 16, "{offered:?}");
    assert!((145..=155).contains(&slowest_ms(&end)), "{}", slowest_ms(&end));
}

#[tokio::test(start_paused = true)]
async fn a_full_backlog_gives_up_who_waited_longest_and_says_so() {
    let mut plan = arriving("null:?service=50ms", "rate:100/s,constant", 1, 20);
    plan.spec.pacing.backlog = 20;
    let end = run(plan).await;
    let offered = end.offered.unwrap();
    assert_eq!((offered.offered, offered.skipped), (2_000, 0));
    assert_eq!(offered.never_started, 2_000 - started(&end));
    assert!((385..=401).contains(&started(&end)), "{}", started(&end));
    assert!((235..=255).contains(&slowest_ms(&end)), "{}", slowest_ms(&end));
    let notes: Vec<_> = end.notes.iter().filter(|note| note.kind == "backlog").collect();
    assert!(notes.len() == 1 && notes[0].text.contains("more than 20 arrivals"), "{notes:?}");
}

#[tokio::test(start_paused = true)]
async fn a_drain_without_work_is_no_outage() {
    // The last one is due at 9.99 s and ends before the stop at 10.
    let end = run(arriving("null:?service=2ms", "rate:100/s,constant", 1, 10)).await;
    assert_eq!(committed(&end), 1_000);
    assert!(end.notes.is_empty(), "{:?}", end.notes);
}

/// Arrivals, and the backlog at the end, second by second.
fn waits(events: &[Event]) -> Vec<(Arrived, u64)> {
    let waits = |event: &Event| match event {
        Event::Second(interval) => Some((interval.arrived?, interval.backlog?)),
        _ => None,
    };
    events.iter().filter_map(waits).collect()
}

#[tokio::test(start_paused = true)]
async fn every_second_tells_what_arrived_and_how_many_wait() {
    let plan = arriving("null:?service=50ms", "rate:100/s,constant", 1, 20);
    let (end, events) = run_with(plan, async |_| {}).await;
    let end = end.unwrap();
    let seconds = waits(&events);
    let sum = |read: fn(&Arrived) -> u64| seconds.iter().map(|(arrived, _)| read(arrived)).sum();
    let offered: (u64, u64) = (sum(|a| a.due), sum(|a| a.started));
    assert_eq!(offered, (end.offered.unwrap().offered, started(&end)), "Σ seconds = totals");
    assert!(seconds[..20].iter().all(|(arrived, _)| arrived.due == 100), "{seconds:?}");
    // Of a hundred per second, twenty are served.
    for (second, (_, backlog)) in (1..).zip(&seconds[..20]) {
        assert!(backlog.abs_diff(80 * second) <= second + 2, "{second}: {backlog}");
    }
    assert_eq!(end.backlog_max, Some(seconds[19].1));
    assert!(seconds[20..].iter().all(|(arrived, backlog)| (arrived.due, *backlog) == (0, 0)));
}

#[tokio::test(start_paused = true)]
async fn every_second_tells_what_was_skipped_and_given_up() {
    let mut plan = arriving("null:?service=50ms", "rate:100/s,constant", 1, 20);
    plan.spec.pacing.late = Late::Skip(Duration::from_millis(100));
    let (end, events) = run_with(plan.clone(), async |_| {}).await;
    let skipped: u64 = waits(&events).iter().map(|(arrived, _)| arrived.skipped).sum();
    assert_eq!(skipped, end.unwrap().offered.unwrap().skipped);
    plan.spec.pacing = Pacing { backlog: 20, ..Pacing::default() };
    let (end, events) = run_with(plan, async |_| {}).await;
    let end = end.unwrap();
    let given_up: u64 = waits(&events).iter().map(|(arrived, _)| arrived.given_up).sum();
    let never_started = end.offered.unwrap().never_started;
    assert!((never_started - 24..=never_started).contains(&given_up), "{given_up}");
    assert_eq!(end.backlog_max, Some(20), "no more than may wait");
}

#[tokio::test(start_paused = true)]
async fn a_ramp_grows_from_the_end_of_the_ramp_up() {
    let mut plan = arriving("null:?service=1ms", "ramp:100..500/10s", 50, 15);
    plan.spec.rampup = Duration::from_secs(5);
    let (end, events) = run_with(plan, async |_| {}).await;
    let per_second = seconds(&events);
    for (second, rate) in [(2, 100.0), (6, 160.0), (10, 320.0), (14, 480.0), (18, 500.0)] {
        let found = f64::from(u32::try_from(per_second[second]).unwrap());
        assert!((found - rate).abs() < 5.0 * rate.sqrt(), "second {second}: {per_second:?}");
    }
    assert_eq!(end.unwrap().offered.unwrap().never_started, 0);
}

#[tokio::test(start_paused = true)]
async fn steps_change_the_rate_and_a_pause_is_no_outage() {
    let mut plan = arriving("null:?service=1ms", "steps:load.csv", 50, 15);
    plan.spec.pacing.steps = read_steps("100,5s\n0,5s\n400,1s").unwrap();
    let (end, events) = run_with(plan, async |_| {}).await;
    let per_second = seconds(&events);
    assert!(per_second[..5].iter().all(|n| (50..=150).contains(n)), "{per_second:?}");
    assert!(per_second[6..10].iter().all(|n| *n == 0), "{per_second:?}");
    assert!(per_second[10..15].iter().all(|n| (300..=500).contains(n)), "the last rate holds");
    let notes = end.unwrap().notes;
    assert!(notes.iter().all(|note| note.kind != "outage"), "{notes:?}");
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_the_offer_and_drains() {
    let stop = async |stopper: StopHandle| {
        sleep(Duration::from_millis(3_500)).await;
        stopper.stop();
    };
    let plan = arriving("null:?service=20ms", "rate:100/s,constant", 1, 60);
    let (end, _) = run_with(plan, stop).await;
    let end = end.unwrap();
    assert_eq!(end.ending, RunEnding::Stopped);
    // Preparing three statements takes 60 ms.
    let offered = end.offered.unwrap();
    assert!((340..=350).contains(&offered.offered), "{offered:?}");
    assert_eq!(committed(&end) + offered.never_started, offered.offered);
    assert!(end.ended.0 < 3_600_000_000);
}

#[tokio::test(start_paused = true)]
async fn an_abort_leaves_some_in_flight_and_the_others_never_started() {
    let plan = arriving("null:?service=1h", "rate:10/s,constant", 3, 5);
    let (end, _) = run_with(plan, async |_| {}).await;
    let end = end.unwrap();
    assert_eq!((end.ending, end.in_flight[CALL]), (RunEnding::Aborted, 3));
    let offered = end.offered.unwrap();
    assert_eq!((offered.offered, offered.never_started), (50, 47));
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_lost_is_made_anew_while_others_take_what_is_due() {
    // Every fiftieth call loses its session; opening one takes 400 ms.
    let target = "null:?service=2ms&connect=400ms&fail=disconnected:2%";
    let end = run(arriving(target, "rate:100/s", 8, 60)).await;
    let (lost, anew) = end.sessions;
    assert!(lost > 80 && lost - anew <= 8, "{lost} {anew}");
    assert_eq!(end.offered.unwrap().never_started, 0);
    let waits = end.pool_wait.unwrap();
    assert!(waits.value_at_quantile(0.99) < 10_000, "{}", waits.value_at_quantile(0.99));
}

#[tokio::test(start_paused = true)]
async fn a_session_that_the_server_ended_while_it_was_idle_is_made_anew_and_nothing_fails() {
    let end = run(arriving("null:?service=2ms&disconnect=3s", "rate:2/s,constant", 4, 30)).await;
    let counts = &end.run[CALL].counts;
    assert_eq!((counts.failures() + counts.indeterminate, counts.committed), (0, 60));
    let (lost, anew) = end.sessions;
    assert!(lost > 20 && lost == anew, "{lost} {anew}");
    let noted: Vec<_> = end.notes.iter().filter(|note| note.kind == "recovery").collect();
    assert!(noted.is_empty(), "none of them is an outage: {noted:?}");
}

#[tokio::test(start_paused = true)]
async fn arrivals_that_all_fail_at_once_are_taken_slowly() {
    let (end, events) =
        run_with(arriving("null:?fail=other:100%", "rate:1000/s", 4, 20), async |_| {}).await;
    let failed = end.unwrap().run[CALL].counts.failures();
    // Four users: ten free, about ten that double, then one a second, half of it by chance.
    assert!((4 * 30..4 * 60).contains(&failed), "{failed}");
    let told = events.iter().filter(|event| match event {
        Event::Note(note) => note.kind == "slowed_down",
        _ => false,
    });
    assert_eq!(told.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_slowest_are_kept_with_what_they_were_drawn_from() {
    let target = "null:?service=5ms&stall=500ms/10s";
    let end = run(arriving(target, "rate:100/s,constant", 1, 30)).await;
    assert_eq!(end.exemplars.len(), EXEMPLARS);
    let times: Vec<_> = end.exemplars.iter().map(|e| e.timing.response_ns()).collect();
    assert!(times.is_sorted_by(|a, b| a >= b), "{times:?}");
    assert_eq!(times[0] / 1_000_000, slowest_ms(&end));
    let Origin::Arrival(arrival) = end.exemplars[0].origin else { panic!("{:?}", end.exemplars) };
    assert_eq!(end.exemplars[0].timing.due, Elapsed(arrival * 10_000_000));
}

#[test]
fn the_same_seed_has_the_same_arrivals_whatever_the_threads() {
    let inputs = |threads: u32, seed: u64| {
        let mut plan = arriving("null:", "rate:2000/s", 12, 1);
        plan.workload = Arc::new(Pings::new(vec![CALL, WRITE], 0));
        (plan.spec.threads, plan.spec.seed) = (threads, seed);
        let workload = Arc::clone(&plan.workload);
        let mut handle = triphammer_engine::start(plan).unwrap();
        while handle.events.blocking_recv().is_some() {}
        let offered = handle.join().unwrap().offered.unwrap();
        let mut numbers = workload.attempts.lock().unwrap().clone();
        numbers.sort_unstable();
        (offered, numbers)
    };
    let (one, three, other) = (inputs(1, 7), inputs(3, 7), inputs(3, 8));
    assert_eq!(one.0.offered, three.0.offered);
    // Those that were due in the last moment may not have had time to start: more of them on a busy
    // host.
    let common = one.1.iter().filter(|number| three.1.binary_search(number).is_ok()).count();
    let unlike = usize::try_from(one.0.never_started + three.0.never_started).unwrap();
    assert!(common + unlike >= one.1.len().max(three.1.len()), "{common} and {unlike}");
    assert!(common > 0, "{common}");
    assert!(other.1.iter().all(|number| one.1.binary_search(number).is_err()));
}

#[tokio::test(start_paused = true)]
async fn an_exemplar_is_run_again_with_the_input_that_it_had() {
    let date = triphammer_core::Timestamp::from_seconds(0);
    for load in ["closed", "rate:50/s", "keyed"] {
        let mut plan = arriving("null:?service=exp(5ms)", load, 4, 60);
        let round = vec![CALL, WRITE, CALL];
        plan.workload = Arc::new(Pings::new(round, 0));
        let workload = Arc::clone(&plan.workload);
        let end = run(plan.clone()).await;
        let ran = std::mem::take(&mut *workload.attempts.lock().unwrap());
        for exemplar in &end.exemplars {
            let replay = triphammer_engine::replay(&plan, exemplar.origin, date).await.unwrap();
            assert_eq!(replay.transaction, exemplar.transaction, "{load}");
            assert!(replay.outcome.unwrap().committed && replay.took.0 > 0);
        }
        let mut again = workload.attempts.lock().unwrap().clone();
        assert!(again.iter().all(|number| ran.contains(number)), "{load}");
        again.dedup();
        assert_eq!(again.len(), EXEMPLARS, "{load}: each has its own");
    }
}
