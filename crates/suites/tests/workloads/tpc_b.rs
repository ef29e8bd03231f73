//! The inputs of tpc-b have pgbench's ranges, and depend on the run's seed.

use triphammer_core::random::Rng;
use triphammer_core::value::Timestamp;
use triphammer_core::workload::{Workload, WorkloadSettings};
use triphammer_workloads::tpc_b::{Change, Input, SELECT_ONLY, SIMPLE_UPDATE, TPCB_LIKE, TpcB};

fn inputs(scale: u32, mix: &str, seed: u64, count: usize) -> Vec<(usize, Input)> {
    let options = [("mix".to_owned(), mix.to_owned())].into();
    let settings = WorkloadSettings { scale: scale.into(), options, ..WorkloadSettings::default() };
    let workload = TpcB::new(&settings).unwrap();
    let mut rng = Rng::of(seed, &[1]);
    workload.user(0, 1, &mut rng);
    (0..count)
        .map(|_| {
            let next = workload.next(&mut (), &mut rng).unwrap();
            (next, workload.draw(next, &mut (), &mut rng, Timestamp::from_seconds(1)))
        })
        .collect()
}

#[test]
fn parameters_fill_pgbenchs_ranges_evenly() {
    let inputs = inputs(3, "tpcb-like", 1, 60_000);
    let (mut least, mut most) = ([i32::MAX; 4], [i32::MIN; 4]);
    let mut sums = [0i64; 4];
    for (next, input) in inputs {
        let Input::TpcbLike(Change { aid, bid, tid, delta, .. }) = input else { panic!("{next}") };
        for (place, value) in [aid, bid, tid, delta].into_iter().enumerate() {
            least[place] = least[place].min(value);
            most[place] = most[place].max(value);
            sums[place] += i64::from(value);
        }
    }
    assert!(least[0] >= 1 && least[0] < 100 && most[0] > 299_900 && most[0] <= 300_000);
    assert_eq!((least[1], most[1], least[2], most[2]), (1, 3, 1, 30));
    assert!(least[3] >= -5_000 && least[3] < -4_990 && most[3] > 4_990 && most[3] <= 5_000);
    let mean = sums[3] / 60_000;
    assert!(mean.abs() < 50, "the mean of delta is {mean}");
}

#[test]
fn a_mix_keeps_its_shares_and_a_seed_its_inputs() {
    let mixed = inputs(2, "3,2,1", 5, 6_000);
    assert_eq!(mixed, inputs(2, "3,2,1", 5, 6_000));
    assert_ne!(mixed, inputs(2, "3,2,1", 6, 6_000));
    for (place, expected) in [(TPCB_LIKE, 3_000), (SIMPLE_UPDATE, 2_000), (SELECT_ONLY, 1_000)] {
        let found = mixed.iter().filter(|(next, _)| *next == place).count();
        assert!(found.abs_diff(expected) < 200, "{place}: {found}");
    }
}
