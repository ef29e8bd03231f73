//! What each node of the target did in a run with several nodes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::nodes::NodeInterval;
use triphammer_core::stats::{Times, rate, share};
use triphammer_engine::{Failover, NodeChange, RunEnd};

use super::facts::{NodeFact, RunFacts};
use crate::parts::ClassCount;
use crate::redacted::Redacted;

/// Whether a node accepts writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NodeRole {
    /// It accepts writes.
    Primary,
    /// It does not.
    Replica,
}

impl NodeRole {
    fn of(is_writable: Option<bool>) -> Option<Self> {
        is_writable.map(|writable| if writable { Self::Primary } else { Self::Replica })
    }

    /// Name of the role.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Primary => "primary",
            Self::Replica => "replica",
        }
    }
}

/// What a node did: its transactions, sessions and state. Counts are those of the timed window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeFigures {
    /// Name in rules and reports.
    pub name: String,
    /// URL of the node, without secrets.
    pub target: Redacted,
    /// The server's version, as it reports it.
    pub version: String,
    /// Role at the start of the run; `None` if the node does not report it.
    pub role: Option<NodeRole>,
    /// Role when the node last answered.
    pub role_at_end: Option<NodeRole>,
    /// Number of transactions completed on the node.
    pub completed: u64,
    /// The same per minute.
    #[schemars(range(min = 0.0))]
    pub per_minute: f64,
    /// Share of the transactions completed on all nodes, from 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: f64,
    /// Number of transactions completed on the node, by transaction type.
    pub types: Vec<NodeTypeCount>,
    /// Number of transactions failed.
    pub failed: u64,
    /// `failed` by error class; only classes that occurred.
    pub failed_by_class: Vec<ClassCount>,
    /// Number of transactions in doubt: the connection was lost after a commit had been sent.
    pub indeterminate: u64,
    /// Response times of committed transactions.
    pub response: Times,
    /// Sessions of the run that were open on the node at the end of the timed window.
    pub sessions: u32,
    /// Sessions of the run lost on the node, in the whole run.
    pub sessions_lost: u64,
    /// Sessions of all clients, when the node last answered; `None` if it does not report them.
    pub connections: Option<u64>,
    /// Mean replication lag, in seconds; `None` if the node does not report it, as on a primary.
    pub lag_mean_s: Option<f64>,
    /// Longest replication lag, in seconds.
    pub lag_max_s: Option<f64>,
    /// Transactions per minute that the node's server counted, of all clients; `None` if it counts none.
    pub server_per_minute: Option<f64>,
    /// Losses, returns and promotions, in order.
    pub changes: Vec<NodeChangeFigure>,
}

/// Transactions of one type on a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeTypeCount {
    /// Key of the transaction type: `new_order`.
    pub name: String,
    /// Number completed in the timed window.
    pub completed: u64,
}

/// Something that happened to a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeChangeFigure {
    /// When it was noticed, in seconds since the start of the run.
    pub at_s: f64,
    /// `lost`, `back`, `promoted` or `demoted`.
    pub change: String,
}

/// Writes moved from one node to another, which had been promoted or accepted writes anyway.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailoverFigure {
    /// Name of the node that wrote before.
    pub from: String,
    /// Name of the node that has written since.
    pub to: String,
    /// End of the last write committed before, in seconds since the start of the run.
    pub last_s: f64,
    /// End of the first write committed afterwards.
    pub first_s: f64,
    /// Time without a committed write, in seconds.
    pub gap_s: f64,
}

/// The nodes of a run; empty for a single server.
pub(super) fn nodes(facts: &RunFacts, end: &RunEnd, window_s: f64) -> Vec<NodeFigures> {
    let all: u64 = end.nodes.iter().map(|[_, window]| window.total.counts.completed()).sum();
    let of = |(index, (fact, seen)): (usize, (&NodeFact, &[NodeInterval; 2]))| {
        let changes = end.node_changes.iter().filter(|change| change.node == index);
        NodeFigures {
            types: types(facts, &seen[1]),
            changes: changes.map(NodeChangeFigure::of).collect(),
            ..figures(fact, seen, all, window_s)
        }
    };
    facts.nodes.iter().zip(&end.nodes).enumerate().map(of).collect()
}

/// The failovers of a run.
pub(super) fn failovers(facts: &RunFacts, end: &RunEnd) -> Vec<FailoverFigure> {
    let of = |failover: &Failover| FailoverFigure {
        from: facts.nodes[failover.from].name.clone(),
        to: facts.nodes[failover.to].name.clone(),
        last_s: failover.last.duration().as_secs_f64(),
        first_s: failover.first.duration().as_secs_f64(),
        gap_s: failover.gap_s(),
    };
    end.failovers.iter().map(of).collect()
}

fn types(facts: &RunFacts, window: &NodeInterval) -> Vec<NodeTypeCount> {
    let types = facts.description.transactions.iter().zip(&window.completed);
    types
        .map(|(def, completed)| NodeTypeCount { name: def.name.to_string(), completed: *completed })
        .collect()
}

fn figures(
    fact: &NodeFact,
    [run, window]: &[NodeInterval; 2],
    all: u64,
    window_s: f64,
) -> NodeFigures {
    let counts = &window.total.counts;
    #[expect(clippy::cast_precision_loss, reason = "microseconds of a lag")]
    let seconds = |us: u64| us as f64 / 1e6;
    NodeFigures {
        name: fact.name.clone(),
        target: fact.target.clone(),
        version: fact.version.clone(),
        role: NodeRole::of(fact.status.is_writable),
        role_at_end: NodeRole::of(run.is_writable.or(fact.status.is_writable)),
        completed: counts.completed(),
        per_minute: rate(counts.completed(), window_s, 60),
        share: share(counts.completed(), all),
        types: Vec::new(),
        failed: counts.failures(),
        failed_by_class: ClassCount::occurred(&counts.failed),
        indeterminate: counts.indeterminate,
        response: Times::of(window.total.response.as_ref(), Some(counts.response_ns)),
        sessions: window.connected,
        sessions_lost: run.lost,
        connections: run.connections,
        lag_mean_s: window.lag.and_then(|lag| lag.mean_us()).map(seconds),
        lag_max_s: window.lag.map(|lag| seconds(lag.max_us)),
        server_per_minute: window.server_transactions.map(|count| rate(count, window_s, 60)),
        changes: Vec::new(),
    }
}

impl NodeChangeFigure {
    fn of(change: &NodeChange) -> Self {
        let at_s = change.at.duration().as_secs_f64();
        Self { at_s, change: change.change.name().to_owned() }
    }
}
