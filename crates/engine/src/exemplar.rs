//! Exemplars: the slowest transactions of the timed window, with the data needed to repeat each.
//! Inputs are drawn from streams that start from a seed and a number, so only the number is kept.

use serde::{Deserialize, Serialize};

use triphammer_core::origin::Origin;
use triphammer_core::outcome::{Outcome, Timing};

/// Number of exemplars kept per run.
pub const EXEMPLARS: usize = 10;

/// A slow transaction of the timed window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exemplar {
    /// Index of its transaction type.
    pub transaction: usize,
    /// Origin of the transaction: a user and its count, or an arrival.
    pub origin: Origin,
    /// Times at which it was due, started and finished.
    pub timing: Timing,
    /// How the transaction ended.
    pub outcome: Outcome,
    /// Number of attempts, including the first.
    pub attempts: u32,
}

/// The slowest transactions seen so far.
#[derive(Debug, Default)]
pub(super) struct Slowest {
    kept: Vec<Exemplar>,
    /// Response time in nanoseconds from which a transaction is kept.
    threshold_ns: u64,
}

impl Slowest {
    /// Whether a transaction with this response time is among the slowest so far.
    #[inline]
    pub fn takes(&self, response_ns: u64) -> bool {
        response_ns > self.threshold_ns
    }

    /// Keeps a transaction, and drops the fastest one when there are too many.
    pub fn keep(&mut self, exemplar: Exemplar) {
        let slower = |kept: &Exemplar| kept.timing.response_ns() >= exemplar.timing.response_ns();
        let place = self.kept.partition_point(slower);
        self.kept.insert(place, exemplar);
        self.kept.truncate(EXEMPLARS);
        if self.kept.len() == EXEMPLARS {
            self.threshold_ns = self.kept.last().map_or(0, |last| last.timing.response_ns());
        }
    }

    /// Returns the kept transactions, slowest first.
    pub fn into_kept(self) -> Vec<Exemplar> {
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use triphammer_core::clock::Elapsed;

    #[test]
    fn the_slowest_are_kept_in_order() {
        let mut slowest = Slowest::default();
        for n in 0..1000u64 {
            let response = n * 7919 % 1000;
            let finished = Elapsed(response);
            let timing = Timing { due: Elapsed(0), started: Elapsed(0), finished };
            let origin = Origin::Arrival(n);
            let outcome = Outcome::Committed;
            if slowest.takes(response) {
                slowest.keep(Exemplar { transaction: 0, origin, timing, outcome, attempts: 1 });
            }
        }
        let kept: Vec<u64> = slowest.into_kept().iter().map(|e| e.timing.response_ns()).collect();
        assert_eq!(kept, (990..1000).rev().collect::<Vec<_>>());
    }
}
