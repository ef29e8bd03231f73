//! How a transaction ended, when, and the counters that must add up.
//!
//! Every transaction is due, started and finished, and ends in exactly one outcome:
//!
//! ```text
//! started = committed + rolled back by rule + failed + in doubt + in flight at abort
//! offered = started + skipped + never started                         (where the load is open)
//! Σ intervals = totals
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::Elapsed;
use crate::error::ErrorClass;

/// The one outcome of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The database said that it committed, whether or not the rest of its answer could be read.
    Committed,
    /// The workload's own rule rolled it back, such as the 1 % of New-Orders.
    RolledBack,
    /// It failed for good, after any retries, and left nothing behind.
    Failed(ErrorClass),
    /// The connection was lost after COMMIT, or a call that commits by itself, had been sent; or only the
    /// answer could have told what the transaction came to, and it could not be read.
    Indeterminate,
}

/// When a transaction was due, started its first attempt, and finished. Response time runs from
/// `due`, service time from `started`; retries, backoff and waits for a new connection are in both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "told above")]
pub struct Timing {
    pub due: Elapsed,
    pub started: Elapsed,
    pub finished: Elapsed,
}

impl Timing {
    /// From due to finish, in nanoseconds.
    #[must_use]
    pub const fn response_ns(&self) -> u64 {
        self.finished.since(self.due)
    }

    /// From the start of the first attempt to finish, in nanoseconds.
    #[must_use]
    pub const fn service_ns(&self) -> u64 {
        self.finished.since(self.started)
    }

    /// From due to the start of the first attempt, in nanoseconds.
    #[must_use]
    pub const fn wait_ns(&self) -> u64 {
        self.started.since(self.due)
    }
}

/// Counters of one transaction type.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Ended committed.
    pub committed: u64,
    /// Ended rolled back by rule.
    pub rolled_back: u64,
    /// Ended failed, by [`ErrorClass::index`].
    pub failed: [u64; ErrorClass::COUNT],
    /// Ended in doubt.
    pub indeterminate: u64,
    /// Of those committed or rolled back by rule, the ones whose answer could not be read.
    #[serde(default)]
    pub unread: u64,
    /// Attempts after the first, by the class of the error before them.
    pub retries: [u64; ErrorClass::COUNT],
    /// Transactions that needed more than one attempt, whatever their outcome.
    pub retried: u64,
    /// What the transaction's counter counts or sums, over committed ones.
    pub counter: i64,
    /// Σ response time of committed ones, in nanoseconds.
    pub response_ns: u64,
    /// Σ service time of committed ones, in nanoseconds.
    pub service_ns: u64,
}

impl Counts {
    /// All that ended, whatever the outcome.
    #[must_use]
    pub fn ended(&self) -> u64 {
        self.committed + self.rolled_back + self.failures() + self.indeterminate
    }

    /// All that did what the workload wanted: committed or rolled back by rule.
    #[must_use]
    pub const fn completed(&self) -> u64 {
        self.committed + self.rolled_back
    }

    /// All that failed.
    #[must_use]
    pub fn failures(&self) -> u64 {
        self.failed.iter().sum()
    }

    /// Adds another's counters.
    pub fn add(&mut self, other: &Self) {
        self.committed += other.committed;
        self.rolled_back += other.rolled_back;
        self.indeterminate += other.indeterminate;
        self.unread += other.unread;
        self.retried += other.retried;
        self.counter += other.counter;
        self.response_ns += other.response_ns;
        self.service_ns += other.service_ns;
        for class in 0..ErrorClass::COUNT {
            self.failed[class] += other.failed[class];
            self.retries[class] += other.retries[class];
        }
    }
}
