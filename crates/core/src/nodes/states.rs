//! What is known of the nodes during a run, shared by all threads: sets in single numbers, so that
//! routing reads each with one load.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::NodeSet;

/// What happened to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It cannot be reached any more.
    Lost,
    /// It can be reached again.
    Back,
    /// It accepts writes, and did not before.
    Promoted,
    /// It rejects writes, and did not before.
    Demoted,
}

impl Change {
    /// Name in documents and notes: `lost`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Back => "back",
            Self::Promoted => "promoted",
            Self::Demoted => "demoted",
        }
    }
}

/// Which nodes answer and accept writes, and how busy each is.
#[derive(Debug)]
pub struct NodeStates {
    all: NodeSet,
    up: AtomicU64,
    writable: AtomicU64,
    each: Box<[OfNode]>,
    /// Changes when a node is lost or silent, for those that wait for its answer.
    changed: watch::Sender<u32>,
}

#[derive(Debug, Default)]
struct OfNode {
    /// Transactions of this process that the node is running.
    outstanding: AtomicU32,
    /// How often the node was lost: sessions opened before are of no use.
    losses: AtomicU32,
    /// How often the node was found to answer nobody: nobody waits for it any longer.
    silences: AtomicU32,
    /// Answers to transactions of this process; wraps around.
    answer_count: AtomicU32,
}

impl NodeStates {
    /// Nodes that all answer and accept writes.
    #[must_use]
    pub fn new(nodes: usize) -> Self {
        let all = NodeSet::MAX.checked_shr(64 - u32::try_from(nodes).unwrap_or(64)).unwrap_or(0);
        let each = (0..nodes).map(|_| OfNode::default()).collect();
        let changed = watch::Sender::new(0);
        Self { all, up: AtomicU64::new(all), writable: AtomicU64::new(all), each, changed }
    }

    /// All nodes.
    #[must_use]
    pub const fn all(&self) -> NodeSet {
        self.all
    }

    /// The nodes that answer.
    #[must_use]
    pub fn up(&self) -> NodeSet {
        self.up.load(Relaxed)
    }

    /// The nodes that accept writes, or did when they last answered.
    #[must_use]
    pub fn writable(&self) -> NodeSet {
        self.writable.load(Relaxed)
    }

    /// Records that a node could not be reached; returns the change if it could be before.
    pub fn lost(&self, node: usize) -> Option<Change> {
        let was_up = self.up.fetch_and(!bit(node), Relaxed) & bit(node) != 0;
        if was_up {
            self.each[node].losses.fetch_add(1, Relaxed);
            self.changed.send_modify(|changes| *changes = changes.wrapping_add(1));
        }
        was_up.then_some(Change::Lost)
    }

    /// Records that a node answers, and whether it accepts writes, if that is known. Returns what
    /// has changed: a lost node is back, a node was promoted or demoted.
    pub fn answers(&self, node: usize, is_writable: Option<bool>) -> [Option<Change>; 2] {
        let was_up = self.up.fetch_or(bit(node), Relaxed) & bit(node) != 0;
        let role = is_writable.and_then(|writable| self.set_writable(node, writable));
        [(!was_up).then_some(Change::Back), role]
    }

    /// Records whether a node accepts writes; returns the change, if it is one.
    pub fn set_writable(&self, node: usize, is_writable: bool) -> Option<Change> {
        let before = match is_writable {
            true => self.writable.fetch_or(bit(node), Relaxed),
            false => self.writable.fetch_and(!bit(node), Relaxed),
        };
        let was_writable = before & bit(node) != 0;
        match (was_writable, is_writable) {
            (false, true) => Some(Change::Promoted),
            (true, false) => Some(Change::Demoted),
            _ => None,
        }
    }

    /// Number of transactions that a node is running for this process.
    #[must_use]
    pub fn outstanding(&self, node: usize) -> u32 {
        self.each[node].outstanding.load(Relaxed)
    }

    /// Records that a transaction goes to a node.
    pub fn begin(&self, node: usize) {
        self.each[node].outstanding.fetch_add(1, Relaxed);
    }

    /// Records that a transaction on a node has ended, and whether with an answer of the node.
    pub fn end(&self, node: usize, is_answered: bool) {
        self.each[node].outstanding.fetch_sub(1, Relaxed);
        if is_answered {
            self.each[node].answer_count.fetch_add(1, Relaxed);
        }
    }

    /// A number that changes with each answer of a node.
    #[must_use]
    pub fn answer_count(&self, node: usize) -> u32 {
        self.each[node].answer_count.load(Relaxed)
    }

    /// Records that a node answers nobody: all waits for its answers end.
    pub fn silent(&self, node: usize) {
        self.each[node].silences.fetch_add(1, Relaxed);
        self.changed.send_modify(|changes| *changes = changes.wrapping_add(1));
    }

    /// How often a node was found to be silent so far.
    #[must_use]
    pub fn silences(&self, node: usize) -> u32 {
        self.each[node].silences.load(Relaxed)
    }

    /// A receiver that is woken when a node is lost or silent.
    #[must_use]
    pub fn subscribe(&self) -> watch::Receiver<u32> {
        self.changed.subscribe()
    }

    /// How often a node was lost so far.
    #[must_use]
    pub fn losses(&self, node: usize) -> u32 {
        self.each[node].losses.load(Relaxed)
    }
}

/// The set of one node.
pub(super) const fn bit(node: usize) -> NodeSet {
    1 << node
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_is_reported_once() {
        let states = NodeStates::new(2);
        assert_eq!((states.all(), NodeStates::new(64).all()), (0b11, u64::MAX));
        assert_eq!(states.answers(1, Some(false)), [None, Some(Change::Demoted)]);
        assert_eq!(states.lost(0), Some(Change::Lost));
        assert_eq!((states.lost(0), states.losses(0)), (None, 1));
        assert_eq!((states.up(), states.writable()), (0b10, 0b01));
        assert_eq!(states.answers(1, Some(true)), [None, Some(Change::Promoted)]);
        assert_eq!(states.answers(0, Some(false)), [Some(Change::Back), Some(Change::Demoted)]);
        assert_eq!(states.answers(0, None), [None, None]);
    }
}
