//! Halves of a pair of runs that take place at once: each works in its slices, and both have the same
//! arrivals. In virtual time they can run one after the other.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;
use triphammer_core::pace::{PairHalf, Sharing};
use triphammer_core::spec::Length;
use triphammer_drivers::null::Null;
use triphammer_engine::{RunEnding, RunPlan, StopHandle};

use crate::pings::{CALL, Pings, plan};
use crate::{committed, run_with, seconds};

const SLICED: Sharing = Sharing::Slices { slice_s: 2 };

/// Half of a pair, whose transactions take 10 ms, in a window of 40 s.
fn half(is_b: bool, sharing: Sharing, load: &str) -> RunPlan<Pings, Null> {
    let mut plan = plan("null:?service=10ms", 3, 40);
    plan.workload = Arc::new(Pings::new(vec![CALL], 0));
    plan.spec.load = load.parse().unwrap();
    plan.spec.pacing.backlog = 10_000;
    plan.spec.pacing.half =
        Some(PairHalf { is_b, seed: 4, same_target: false, looks_most: None, sharing });
    plan
}

#[tokio::test(start_paused = true)]
async fn a_side_commits_nothing_in_the_slices_of_the_other() {
    let mut of_sides = Vec::new();
    for is_b in [false, true] {
        let plan = half(is_b, SLICED, "closed");
        let works = plan.spec.pacing.half.unwrap();
        let (end, events) = run_with(plan, async |_| {}).await;
        let end = end.unwrap();
        let each = seconds(&events);
        assert_eq!(end.window.seconds(), 40.0);
        for (second, count) in (0..40).zip(&each) {
            // Transactions in flight at the end of a slice end in the next one.
            let expected = if works.works(second) { 290..=303 } else { 0..=3 };
            assert!(expected.contains(count), "{is_b} {second}: {each:?}");
        }
        assert!(end.notes.iter().all(|note| note.kind != "outage"), "{:?}", end.notes);
        of_sides.push(committed(&end));
    }
    assert!(of_sides[0].abs_diff(of_sides[1]) <= 60, "{of_sides:?}");
}

#[tokio::test(start_paused = true)]
async fn both_sides_have_the_same_arrivals_in_their_own_time() {
    let mut of_sides = Vec::new();
    for is_b in [false, true] {
        let plan = half(is_b, SLICED, "rate:50/s");
        let works = plan.spec.pacing.half.unwrap();
        let (end, events) = run_with(plan, async |_| {}).await;
        let end = end.unwrap();
        let of_slice = |slice: u64| -> u64 {
            let seconds = seconds(&events);
            (0..2).map(|at| seconds[usize::try_from(2 * slice + at).unwrap()]).sum()
        };
        let own: Vec<u64> = (0..20).filter(|slice| works.works(2 * slice)).map(of_slice).collect();
        assert_eq!(own.len(), 10);
        assert!((0..20).filter(|slice| !works.works(2 * slice)).all(|slice| of_slice(slice) <= 3));
        assert!(end.notes.iter().all(|note| note.kind != "outage"), "{:?}", end.notes);
        of_sides.push((end.offered.unwrap(), own));
    }
    let [a, b] = [&of_sides[0], &of_sides[1]];
    assert_eq!(a.0, b.0, "the same number of arrivals");
    assert!(a.0.offered > 900 && a.0.never_started == 0, "{:?}", a.0);
    // But for those that end just after their slice.
    assert!(a.1.iter().zip(&b.1).all(|(a, b)| a.abs_diff(*b) <= 3), "{a:?} {b:?}");
}

#[tokio::test(start_paused = true)]
async fn the_sides_of_a_duet_are_alone_only_where_it_says() {
    let sharing = Sharing::Duet { alone_from_s: 4, alone_s: 3, block_s: 2 };
    for is_b in [false, true] {
        let mut plan = half(is_b, sharing, "closed");
        plan.spec.rampup = Duration::from_secs(16);
        let works = plan.spec.pacing.half.unwrap();
        let (end, events) = run_with(plan, async |_| {}).await;
        let each = seconds(&events);
        let idle = each[..56].iter().filter(|count| **count <= 3).count();
        assert_eq!(idle, 6, "two slices of 3 s: {each:?}");
        assert!((0..56).zip(&each).all(|(at, count)| works.works(at) == (*count > 3)), "{each:?}");
        assert_eq!(end.unwrap().window.seconds(), 40.0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_side_that_waits_for_its_slice_stops_at_once() {
    for is_b in [false, true] {
        let mut plan = half(is_b, Sharing::Slices { slice_s: 1_000 }, "closed");
        plan.spec.length = Length::Time(Duration::from_secs(4_000));
        let (end, _) = run_with(plan, async |stopper: StopHandle| {
            sleep(Duration::from_secs(1_500)).await;
            stopper.stop();
        })
        .await;
        let end = end.unwrap();
        assert_eq!(end.ending, RunEnding::Stopped);
        assert!(end.ended.second() <= 1_501, "{:?}", end.ended);
    }
}
