//! The constants C of NURand (clause 2.1.6): one per field, shared by all users of a run. The
//! constant for last names in a run (C-Run) keeps the distance from the build's (C-Load) that
//! clause 2.1.6.1 requires, so that a run does not select only the names that are common in the
//! data.

use triphammer_core::random::Rng;

use super::population::Stream;

/// Parameter A of NURand for c_last.
pub const A_LAST: i64 = 255;
/// Parameter A of NURand for c_id.
pub const A_CUSTOMER: i64 = 1023;
/// Parameter A of NURand for ol_i_id.
pub const A_ITEM: i64 = 8191;

/// C-Load: the constant for c_last in the population, derived from the seed of the data. The runner
/// reads that seed from `triphammer_build`, so a run can derive C-Load itself.
#[must_use]
pub fn c_load(data_seed: u64) -> i64 {
    Stream::CLoad.rng(data_seed, &[]).between(0, A_LAST)
}

/// The NURand constants of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunConstants {
    /// Constant C for c_last.
    pub last: i64,
    /// Constant C for c_id.
    pub customer: i64,
    /// Constant C for ol_i_id.
    pub item: i64,
}

impl RunConstants {
    /// The constants of a run with this seed over data with this C-Load.
    #[must_use]
    pub fn new(run_seed: u64, c_load: i64) -> Self {
        let mut rng = Stream::CRun.rng(run_seed, &[c_load.unsigned_abs()]);
        Self {
            last: c_run(c_load, &mut rng),
            customer: rng.between(0, A_CUSTOMER),
            item: rng.between(0, A_ITEM),
        }
    }
}

/// One of the values that clause 2.1.6.1 allows, each equally likely. There is always one: whatever
/// C-Load is, at least 128 values lie on one side of it.
fn c_run(c_load: i64, rng: &mut Rng) -> i64 {
    loop {
        let c = rng.between(0, A_LAST);
        let delta = (c - c_load).abs();
        if (65..=119).contains(&delta) && delta != 96 && delta != 112 {
            return c;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn c_run_keeps_its_distance_from_every_c_load() {
        for load in 0..=A_LAST {
            for seed in 0..200 {
                let c = RunConstants::new(seed, load);
                let delta = (c.last - load).abs();
                assert!((65..=119).contains(&delta) && delta != 96 && delta != 112, "{load} {c:?}");
                assert!((0..=A_LAST).contains(&c.last));
                assert!((0..=A_CUSTOMER).contains(&c.customer) && (0..=A_ITEM).contains(&c.item));
            }
        }
    }

    #[test]
    fn constants_differ_between_seeds_and_agree_for_one() {
        let seen: HashSet<_> = (0..50).map(|seed| RunConstants::new(seed, 7).item).collect();
        assert!(seen.len() > 40);
        assert_eq!(RunConstants::new(3, 7), RunConstants::new(3, 7));
        let loads: HashSet<_> = (0..50).map(c_load).collect();
        assert!(loads.len() > 30 && loads.iter().all(|c| (0..=A_LAST).contains(c)));
    }
}
