//! Several processes that drive a run together do exactly what one process would do alone, and
//! their seconds merge to those of the whole.

use std::sync::Arc;
use std::time::Duration;

use triphammer_core::event::Event;
use triphammer_core::pace::Load;
use triphammer_core::recorder::RecordedInterval;
use triphammer_core::spec::{Length, Sessions};
use triphammer_drivers::null::Null;
use triphammer_engine::merge::{Merger, Sums};
use triphammer_engine::{RunEnd, RunPlan, Share};

use crate::pings::{CALL, Pings, READ, WRITE, plan};
use crate::run_with;

/// The result of running a share: every input drawn, sorted, its end, and its seconds.
struct Ran {
    inputs: Vec<u64>,
    end: RunEnd,
    seconds: Vec<RecordedInterval>,
}

async fn run(plan: &RunPlan<Pings, Null>, share: Share) -> Ran {
    let workload = Pings::new(plan.workload.round.clone(), plan.workload.rule_every);
    let workload = Arc::new(workload);
    let plan = RunPlan { workload: Arc::clone(&workload), share, ..plan.clone() };
    let (end, events) = run_with(plan, async |_| {}).await;
    let second = |event| match event {
        Event::Second(interval) => Some(*interval),
        _ => None,
    };
    let seconds = events.into_iter().filter_map(second).collect();
    let mut inputs = workload.attempts.lock().unwrap().clone();
    inputs.sort_unstable();
    Ran { inputs, end: end.unwrap(), seconds }
}

/// The whole of a run, and the same run in this many shares.
async fn both(plan: &RunPlan<Pings, Null>, of: u32) -> (Ran, Vec<Ran>) {
    let whole = run(plan, Share::WHOLE).await;
    let mut shares = Vec::new();
    for index in 0..of {
        shares.push(run(plan, Share::new(index, of, &plan.spec).unwrap()).await);
    }
    (whole, shares)
}

fn inputs(shares: &[Ran]) -> Vec<u64> {
    let mut inputs: Vec<u64> = shares.iter().flat_map(|ran| ran.inputs.clone()).collect();
    inputs.sort_unstable();
    inputs
}

#[tokio::test(start_paused = true)]
async fn the_users_of_all_shares_draw_what_one_process_draws() {
    for (load, sessions) in [
        (Load::Closed, Sessions::Own),
        (Load::Keyed, Sessions::Own),
        (Load::Keyed, Sessions::Pool(3)),
    ] {
        let mut plan = plan("null:?service=1ms", 7, 1);
        plan.spec.load = load;
        plan.spec.pacing.sessions = sessions;
        plan.spec.length = Length::Transactions(9);
        let (whole, shares) = both(&plan, 3).await;
        assert_eq!(whole.inputs.len(), 63);
        assert_eq!(inputs(&shares), whole.inputs, "{:?}", plan.spec.pacing.sessions);
        assert!(shares.iter().all(|ran| ran.inputs.len() >= 18), "each drives its share");
    }
}

#[tokio::test(start_paused = true)]
async fn the_arrivals_of_all_shares_are_those_of_one_process() {
    for load in ["rate:200/s", "rate:200/s,constant", "ramp:10..300/8s"] {
        let mut plan = plan("null:?service=1ms", 9, 10);
        plan.workload = Arc::new(Pings::new(vec![CALL], 0));
        plan.spec.load = load.parse().unwrap();
        let (whole, shares) = both(&plan, 2).await;
        assert_eq!(inputs(&shares), whole.inputs, "{load}");
        let offered = |ran: &Ran| ran.end.offered.unwrap().offered;
        assert_eq!(shares.iter().map(offered).sum::<u64>(), offered(&whole));
        assert!(shares.iter().all(|ran| ran.end.ending == whole.end.ending));
        assert!(shares.iter().all(|ran| ran.end.notes.is_empty()));
    }
}

#[tokio::test(start_paused = true)]
async fn an_overloaded_share_gives_up_its_part() {
    let mut plan = plan("null:?service=50ms", 2, 20);
    plan.workload = Arc::new(Pings::new(vec![CALL], 0));
    plan.spec.load = "rate:200/s,constant".parse().unwrap();
    plan.spec.pacing.backlog = 40;
    let (whole, shares) = both(&plan, 2).await;
    assert_eq!(whole.end.backlog_max, Some(40));
    for ran in &shares {
        let offered = ran.end.offered.unwrap();
        assert_eq!((offered.offered, ran.end.backlog_max), (2_000, Some(20)));
        let started: u64 = ran.end.started.iter().sum();
        assert!((385..=401).contains(&started), "{started}");
    }
}

/// The merged seconds and their sums.
fn merged(
    shares: &[Ran],
    pass_on: impl Fn(&RecordedInterval) -> RecordedInterval,
) -> (Vec<RecordedInterval>, Sums) {
    let types = shares[0].end.run.len();
    let (mut merger, mut sums) = (Merger::new(shares.len(), types), Sums::new(types));
    let window = shares[0].end.window;
    let in_window = |interval: &RecordedInterval| {
        interval.first >= window.start.second() && interval.last < window.end.second()
    };
    let mut seconds = Vec::new();
    for (chunk, ran) in shares.iter().enumerate() {
        for interval in ran.seconds.iter().map(&pass_on) {
            sums.add(&interval, in_window(&interval));
            merger.take(chunk, interval.last + 1, interval);
        }
        merger.end(chunk);
    }
    while let Some(second) = merger.next_second(0) {
        sums.add_second(&second, in_window(&second));
        seconds.push(second);
    }
    (seconds, sums)
}

/// Sent as JSON, as from another process.
fn sent(interval: &RecordedInterval) -> RecordedInterval {
    serde_json::from_str(&serde_json::to_string(interval).unwrap()).unwrap()
}

/// Compares what transactions did, sessions and arrivals: everything except the gauges of this
/// host.
pub(crate) fn assert_same(found: &RecordedInterval, expected: &RecordedInterval) {
    let second = expected.first;
    assert_eq!((found.first, found.last), (expected.first, expected.last));
    for (found, expected) in found.types.iter().zip(&expected.types) {
        assert_eq!(found.counts, expected.counts, "second {second}");
        assert_eq!(found.response, expected.response, "second {second}");
        assert_eq!(found.service, expected.service, "second {second}");
        assert_eq!(found.rolled_back, expected.rolled_back, "second {second}");
        assert_eq!(found.failed, expected.failed, "second {second}");
    }
    assert_eq!(found.pool_wait, expected.pool_wait, "second {second}");
    assert_eq!(found.arrived, expected.arrived, "second {second}");
    assert_eq!(found.backlog, expected.backlog, "second {second}");
    assert_eq!(found.connected, expected.connected, "second {second}");
    assert_eq!((found.lost, found.reconnected), (expected.lost, expected.reconnected));
}

#[tokio::test(start_paused = true)]
async fn the_seconds_of_all_shares_merge_to_those_of_the_whole() {
    let mut closed = plan("null:?service=10ms", 7, 6);
    closed.workload = Arc::new(Pings::new(vec![READ, WRITE, CALL], 5));
    closed.spec.rampup = Duration::from_secs(2);
    let mut open = plan("null:?service=2ms", 40, 6);
    open.workload = Arc::new(Pings::new(vec![CALL], 0));
    open.spec.load = "rate:100/s,constant".parse().unwrap();
    open.spec.rampup = Duration::from_secs(2);
    for plan in [closed, open] {
        let (whole, shares) = both(&plan, 3).await;
        let (seconds, sums) = merged(&shares, sent);
        let at_work = whole.seconds.iter().take(8);
        for (found, expected) in seconds.iter().zip(at_work) {
            assert_same(found, expected);
        }
        for (found, expected) in sums.window.iter().zip(&whole.end.timed) {
            assert!(expected.counts.committed > 0 || expected.response.is_none());
            assert_eq!(found.counts, expected.counts);
            assert_eq!(found.response, expected.response);
        }
        assert_eq!(sums.backlog_max, whole.end.backlog_max);
        assert_eq!(sums.pool_wait, whole.end.pool_wait);
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_sent_merges_as_what_was_not() {
    let mut plan = plan("null:?network=3ms&service=exp(4ms)&fail=disconnected:2%", 12, 8);
    plan.workload = Arc::new(Pings::new(vec![CALL], 0));
    plan.spec.load = "rate:300/s".parse().unwrap();
    let (_, shares) = both(&plan, 2).await;
    let (direct, direct_sums) = merged(&shares, RecordedInterval::clone);
    let (by_json, sums) = merged(&shares, sent);
    assert!(direct.iter().any(|second| second.lost > 0 && second.types[CALL].failed.is_some()));
    assert_eq!(by_json.len(), direct.len());
    for (found, expected) in by_json.iter().zip(&direct) {
        assert_same(found, expected);
        let (found, expected) = (&found.gauges, &expected.gauges);
        assert_eq!(found.cpu, expected.cpu);
        assert_eq!((&found.lag, &found.round_trip), (&expected.lag, &expected.round_trip));
        assert_eq!((found.host, found.host_use), (expected.host, expected.host_use));
    }
    assert_eq!(sums.run[CALL].response, direct_sums.run[CALL].response);
    assert!(sums.gauges.round_trip.is_some_and(|times| times.len() > 10));
    assert_eq!((sums.lost, sums.reconnected), (direct_sums.lost, direct_sums.reconnected));
}

#[test]
fn a_share_that_there_is_not_is_refused() {
    let spec = plan("null:", 4, 1).spec;
    let refusal = |index, of| Share::new(index, of, &spec).unwrap_err().to_string();
    assert_eq!(refusal(2, 2), "no share 2 of 2: the index must be below the number of shares");
    assert_eq!(refusal(0, 0), "no share 0 of 0: the index must be below the number of shares");
    assert!(refusal(0, 5).starts_with("cannot share 4 sessions between 5 processes"));
}
