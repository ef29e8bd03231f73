//! What a node did in a second, or in several: counted by the worker threads, merged exactly like
//! everything in a [`RecordedInterval`](super::RecordedInterval).

use serde::{Deserialize, Serialize};

use super::{TransactionEnd, TypeInterval};
use crate::outcome::{Outcome, Timing};
use crate::session::NodeStatus;

/// What one node of the target did in an interval, in a run with several nodes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct NodeInterval {
    /// Counts and times of the transactions of all types that ended on the node.
    pub total: TypeInterval,
    /// Number of transactions completed on the node, by transaction type.
    pub completed: Vec<u64>,
    /// Number of sessions on the node that were lost.
    pub lost: u64,
    /// Sessions of this run that were open on the node when the interval ended.
    pub connected: u32,
    /// Replication lag; `None` if the node reported none.
    pub lag: Option<LagInterval>,
    /// Whether the node accepted writes when it last answered; `None` if it did not answer.
    pub is_writable: Option<bool>,
    /// Sessions of all clients that the node had open when it last answered.
    pub connections: Option<u64>,
    /// Transactions that the node itself counted; `None` if it counts none.
    pub server_transactions: Option<u64>,
}

/// Replication lag of a node in an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LagInterval {
    /// Number of times that it was read.
    pub readings: u64,
    /// Sum over the readings, in microseconds.
    pub sum_us: u64,
    /// The longest, in microseconds.
    pub max_us: u64,
}

impl LagInterval {
    /// Mean of the readings, in microseconds.
    #[must_use]
    pub fn mean_us(self) -> Option<u64> {
        self.sum_us.checked_div(self.readings)
    }

    fn add(&mut self, other: Self) {
        self.readings += other.readings;
        self.sum_us += other.sum_us;
        self.max_us = self.max_us.max(other.max_us);
    }
}

impl NodeInterval {
    /// Records that a transaction ended on the node.
    pub fn record(
        &mut self,
        transaction: usize,
        timing: Timing,
        ended: TransactionEnd,
        closed_load: bool,
    ) {
        let is_completed = matches!(ended.outcome, Outcome::Committed | Outcome::RolledBack);
        self.completed[transaction] += u64::from(is_completed);
        self.total.record(timing, ended, closed_load);
    }

    /// Records what the node reported, and how many transactions it counted since it was last
    /// asked.
    pub fn answered(&mut self, status: NodeStatus, more: Option<u64>) {
        self.is_writable = status.is_writable.or(self.is_writable);
        self.connections = status.connections.or(self.connections);
        if let Some(us) = status.lag_us {
            let reading = LagInterval { readings: 1, sum_us: us, max_us: us };
            self.lag.get_or_insert_default().add(reading);
        }
        if let Some(count) = more {
            *self.server_transactions.get_or_insert(0) += count;
        }
    }

    /// Adds what other threads did on the node in the same interval.
    pub fn add_thread(&mut self, other: &Self) {
        self.add_counts(other);
        self.connected += other.connected;
        // Each process asks the node: they have all counted the same transactions.
        self.server_transactions = self.server_transactions.max(other.server_transactions);
    }

    /// Adds a later interval.
    pub fn add_later(&mut self, later: &Self) {
        self.add_counts(later);
        self.connected = later.connected;
        if let Some(count) = later.server_transactions {
            *self.server_transactions.get_or_insert(0) += count;
        }
    }

    fn add_counts(&mut self, other: &Self) {
        self.total.add(&other.total);
        self.completed.resize(self.completed.len().max(other.completed.len()), 0);
        for (mine, theirs) in self.completed.iter_mut().zip(&other.completed) {
            *mine += theirs;
        }
        self.lost += other.lost;
        if let Some(lag) = other.lag {
            self.lag.get_or_insert_default().add(lag);
        }
        self.is_writable = other.is_writable.or(self.is_writable);
        self.connections = other.connections.or(self.connections);
    }
}

/// Adds the intervals of nodes with `add`; a part that saw none has an empty list.
pub fn add_nodes(
    mine: &mut Vec<NodeInterval>,
    theirs: &[NodeInterval],
    add: fn(&mut NodeInterval, &NodeInterval),
) {
    mine.resize_with(mine.len().max(theirs.len()), NodeInterval::default);
    for (mine, theirs) in mine.iter_mut().zip(theirs) {
        add(mine, theirs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A second in which the node reported these transactions and this lag, with sessions.
    fn second(transactions: Option<u64>, lag_us: Option<u64>, connected: u32) -> NodeInterval {
        let mut node = NodeInterval { connected, completed: vec![1, 2], ..Default::default() };
        let status = NodeStatus { lag_us, is_writable: Some(false), ..Default::default() };
        node.answered(status, transactions);
        node
    }

    #[test]
    fn parts_and_seconds_of_a_node_merge_exactly() {
        let mut all = second(Some(10), Some(4_000), 2);
        all.add_thread(&second(None, None, 3));
        all.add_thread(&second(Some(10), Some(6_000), 1));
        assert_eq!((all.connected, all.server_transactions), (6, Some(10)));
        all.add_later(&second(Some(7), None, 4));
        assert_eq!((all.connected, all.server_transactions), (4, Some(17)));
        assert_eq!(all.completed, [4, 8]);
        let lag = all.lag.unwrap();
        assert_eq!((lag.readings, lag.mean_us(), lag.max_us), (2, Some(5_000), 6_000));
        assert_eq!(all.is_writable, Some(false));
        let json = serde_json::to_string(&all).unwrap();
        let again: NodeInterval = serde_json::from_str(&json).unwrap();
        assert_eq!((again.completed, again.lag), (all.completed, all.lag));
    }
}
