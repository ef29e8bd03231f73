//! What happened to the nodes of a run: losses, returns, promotions, and how long writes had no node
//! when they moved from one to another.

use serde::{Deserialize, Serialize};
use triphammer_core::clock::Elapsed;
use triphammer_core::event::Note;
use triphammer_core::nodes::{Change, NodeSet};

/// A change of a node's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeChange {
    /// When it was noticed.
    pub at: Elapsed,
    /// Index of the node.
    pub node: usize,
    /// What happened.
    pub change: Change,
}

/// Writes moved from one node to another, because the first was lost or rejected them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failover {
    /// Index of the node that wrote before.
    pub from: usize,
    /// Index of the node that has written since.
    pub to: usize,
    /// End of the last write committed before.
    pub last: Elapsed,
    /// End of the first write committed afterwards.
    pub first: Elapsed,
}

impl Failover {
    /// Time without a committed write, in seconds.
    #[must_use]
    pub fn gap_s(&self) -> f64 {
        self.first.duration().saturating_sub(self.last.duration()).as_secs_f64()
    }
}

/// The last write of one thread.
#[derive(Debug, Default)]
pub(super) struct LastWrites {
    /// The node on which a write was last committed, and its end.
    last: Option<(usize, Elapsed)>,
}

impl LastWrites {
    /// Records a committed write; returns the failover if the write before was on another node,
    /// which is no longer among those that can take writes.
    pub fn committed(&mut self, node: usize, at: Elapsed, able: NodeSet) -> Option<Failover> {
        let (from, last) = self.last.replace((node, at))?;
        let has_moved = from != node && able >> from & 1 == 0;
        has_moved.then_some(Failover { from, to: node, last, first: at })
    }
}

/// What happened to the nodes, as all threads reported it.
#[derive(Debug, Default)]
pub(super) struct NodeEvents {
    pub changes: Vec<NodeChange>,
    failovers: Vec<Failover>,
}

impl NodeEvents {
    /// Takes the failover of one thread.
    pub fn failover(&mut self, failover: Failover) {
        self.failovers.push(failover);
    }

    /// The failovers of the run: those of the threads that overlap in time are one.
    pub fn failovers(&self) -> Vec<Failover> {
        let mut all = self.failovers.clone();
        all.sort_by_key(|failover| failover.first);
        let mut joined: Vec<Failover> = Vec::new();
        for next in all {
            match joined.last_mut() {
                Some(one)
                    if (one.from, one.to) == (next.from, next.to) && next.last < one.first =>
                {
                    one.last = one.last.max(next.last);
                }
                _ => joined.push(next),
            }
        }
        joined
    }

    /// The notes about failovers; `names` are those of the nodes.
    pub fn notes(&self, names: &[String]) -> Vec<Note> {
        let note = |failover: &Failover| {
            let text = format!(
                "writes moved from {} to {}: none committed for {:.3} s",
                names[failover.from],
                names[failover.to],
                failover.gap_s()
            );
            Note::new("failover", Some(failover.last), text)
        };
        self.failovers().iter().map(note).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Elapsed {
        Elapsed(ms * 1_000_000)
    }

    #[test]
    fn a_failover_is_the_first_write_after_one_on_a_node_that_can_take_none() {
        let mut writes = LastWrites::default();
        assert_eq!(writes.committed(0, at(100), 0b11), None);
        assert_eq!(writes.committed(1, at(200), 0b11), None, "both take writes");
        assert_eq!(writes.committed(0, at(250), 0b11), None);
        assert_eq!(writes.committed(0, at(260), 0b10), None, "it was acknowledged all the same");
        let failover = Failover { from: 0, to: 1, last: at(260), first: at(900) };
        assert_eq!(writes.committed(1, at(900), 0b10), Some(failover));
        assert_eq!(writes.committed(1, at(950), 0b10), None);
    }

    #[test]
    fn the_failovers_of_threads_are_one_if_they_overlap() {
        let mut events = NodeEvents::default();
        for (from, to, last, first) in [(0, 1, 250, 910), (0, 1, 260, 900), (1, 0, 2000, 2500)] {
            events.failover(Failover { from, to, last: at(last), first: at(first) });
        }
        let gaps: Vec<_> = events.failovers().iter().map(Failover::gap_s).collect();
        assert_eq!(gaps, [0.64, 0.5]);
        let names = ["a".to_owned(), "b".to_owned()];
        let text = &events.notes(&names)[0].text;
        assert_eq!(text, "writes moved from a to b: none committed for 0.640 s");
    }
}
