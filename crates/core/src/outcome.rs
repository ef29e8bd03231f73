//! How a transaction ended, when, and the counters that must add up.
//!
//! Every transaction is due, started and finished, and ends in exactly one outcome:
//!
//! ```text
//! started = committed + rolled back + failed + in doubt + in flight at abort
//! offered = started + skipped + never started                         (where the load is open)
//! Σ intervals = totals
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::Elapsed;
use crate::error::ErrorClass;

/// How a transaction ended: exactly one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The database acknowledged the commit, whether or not the rest of its answer could be read.
    Committed,
    /// The workload's own rule rolled it back, as with 1 % of New-Orders.
    RolledBack,
    /// It failed permanently, after any retries, and left no changes.
    Failed(ErrorClass),
    /// The connection was lost after COMMIT, or a call that commits implicitly, had been sent; or
    /// the result depends on an answer that could not be read.
    Indeterminate,
}

/// Times at which a transaction was due, started its first attempt, and finished. Response time
/// runs from `due`, service time from `started`; retries, backoff and waits for a new connection
/// count towards both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "explained above")]
pub struct Timing {
    pub due: Elapsed,
    pub started: Elapsed,
    pub finished: Elapsed,
}

impl Timing {
    /// Response time in nanoseconds: from due to finished.
    #[must_use]
    pub const fn response_ns(&self) -> u64 {
        self.finished.since(self.due)
    }

    /// Service time in nanoseconds: from the start of the first attempt to finished.
    #[must_use]
    pub const fn service_ns(&self) -> u64 {
        self.finished.since(self.started)
    }

    /// Waiting time in nanoseconds: from due to the start of the first attempt.
    #[must_use]
    pub const fn wait_ns(&self) -> u64 {
        self.started.since(self.due)
    }
}

/// Counters of one transaction type.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Number of transactions committed.
    pub committed: u64,
    /// Number of transactions rolled back.
    pub rolled_back: u64,
    /// Number of transactions failed, by [`ErrorClass::index`].
    pub failed: [u64; ErrorClass::COUNT],
    /// Number of transactions whose commit status is unknown.
    pub indeterminate: u64,
    /// Number of those committed or rolled back whose answer could not be read.
    #[serde(default)]
    pub unread: u64,
    /// Number of those committed that no standby has confirmed, although the server was to wait for
    /// one.
    #[serde(default)]
    pub unconfirmed: u64,
    /// Number of attempts after the first, by the class of the error that preceded them.
    pub retries: [u64; ErrorClass::COUNT],
    /// Transactions that needed more than one attempt, whatever their outcome.
    pub retried: u64,
    /// Total of the transaction's counter over committed transactions.
    pub counter: i64,
    /// Total response time of committed transactions, in nanoseconds.
    pub response_ns: u64,
    /// Total service time of committed transactions, in nanoseconds.
    pub service_ns: u64,
}

impl Counts {
    /// Number of transactions that ended, whatever the outcome.
    #[must_use]
    pub fn ended(&self) -> u64 {
        self.committed + self.rolled_back + self.failures() + self.indeterminate
    }

    /// Number of transactions that ended as the workload requires: committed or rolled back by
    /// rule.
    #[must_use]
    pub const fn completed(&self) -> u64 {
        self.committed + self.rolled_back
    }

    /// Number of transactions that failed.
    #[must_use]
    pub fn failures(&self) -> u64 {
        self.failed.iter().sum()
    }

    /// Adds the counters of `other`.
    pub fn add(&mut self, other: &Self) {
        self.committed += other.committed;
        self.rolled_back += other.rolled_back;
        self.indeterminate += other.indeterminate;
        self.unread += other.unread;
        self.unconfirmed += other.unconfirmed;
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
