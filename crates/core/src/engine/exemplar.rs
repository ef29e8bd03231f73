//! Exemplars: the slowest transactions of the timed window, with what is needed to do each again. Inputs
//! are drawn from streams that a seed and a number begin, so the number is all that must be kept.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::outcome::{Outcome, Timing};

/// How many are kept.
pub const EXEMPLARS: usize = 10;

/// A slow transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exemplar {
    /// Place of its type.
    pub transaction: usize,
    /// Whose it was.
    pub origin: Origin,
    /// When it was due, started and finished.
    pub timing: Timing,
    /// How it ended.
    pub outcome: Outcome,
    /// Attempts, the first included.
    pub attempts: u32,
}

/// What a transaction's input was drawn from, beside the seed of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A user or terminal.
    User {
        /// Which, from 0.
        user: u32,
        /// Which of its transactions, from 1.
        nth: u64,
    },
    /// An arrival of an open load: its number, from 0.
    Arrival(u64),
}

/// The slowest so far.
#[derive(Debug, Default)]
pub(super) struct Slowest {
    kept: Vec<Exemplar>,
    /// Response time from which a transaction is one of them.
    threshold_ns: u64,
}

impl Slowest {
    /// Whether a transaction of this response time is one of the slowest so far.
    #[inline]
    pub fn takes(&self, response_ns: u64) -> bool {
        response_ns > self.threshold_ns
    }

    /// Keeps a transaction, and lets the least slow go when there are too many.
    pub fn keep(&mut self, exemplar: Exemplar) {
        let slower = |kept: &Exemplar| kept.timing.response_ns() >= exemplar.timing.response_ns();
        let place = self.kept.partition_point(slower);
        self.kept.insert(place, exemplar);
        self.kept.truncate(EXEMPLARS);
        if self.kept.len() == EXEMPLARS {
            self.threshold_ns = self.kept.last().map_or(0, |last| last.timing.response_ns());
        }
    }

    /// The slowest first.
    pub fn into_kept(self) -> Vec<Exemplar> {
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Elapsed;

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
