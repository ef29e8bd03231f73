//! Targets with several nodes: each transaction of a run goes to one of them. One place per concept:
//!
//! | concept | place |
//! |---|---|
//! | which nodes there are | [`Node`], [`Nodes`]; the runner's `nodes` reads them from files and URLs |
//! | which node a transaction goes to | [`Routing`]: rules by transaction type, and one function of plain data |
//! | which nodes answer and accept writes | [`NodeStates`], shared by all threads |
//! | how a session moves between nodes | `engine/src/node_sessions` and `engine/src/session_slot` |
//! | who notices that a node is back or promoted | `engine/src/node_watch` |
//! | figures per node | [`NodeInterval`], in each recorded second; the runner's `nodes/figures` declares them |
//!
//! A run on a single server has no [`Nodes`] at all, and pays nothing for them.

mod routing;
mod rule;
mod states;

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

pub use routing::{Destination, Routing};
pub use rule::{Candidates, Policy, Rule};
pub use states::{Change, NodeStates};

pub use crate::recorder::{LagInterval, NodeInterval};

use crate::error::{DbError, ErrorClass, SpecError};
use crate::isolation::Isolation;
use crate::session::{Admin, Database, NodeStatus, Role, ServerInfo, Session};

/// Maximum number of nodes: a set of them is one number of 64 bits.
pub const NODES_MAX: usize = 64;

/// A set of nodes: bit n is the node with index n.
pub type NodeSet = u64;

/// One node of a target.
#[derive(Debug)]
pub struct Node<D> {
    /// Name in rules, reports and labels.
    pub name: String,
    /// The node's own database handle.
    pub database: Arc<D>,
    /// Share of the transactions that the policy `weighted` sends here, relative to the others.
    pub weight: u32,
    /// Parts of the data (warehouses, from 1) that the policy `partition` sends here; `None` if it
    /// takes its turn with the others.
    pub partitions: Option<RangeInclusive<u64>>,
}

/// The nodes of a target, the rules by which transactions are routed, and what is known of each
/// node at present.
#[derive(Debug)]
pub struct Nodes<D> {
    /// The nodes, in the order of their declaration.
    pub list: Vec<Node<D>>,
    /// How transactions are routed.
    pub routing: Routing,
    /// What is known of the nodes.
    pub states: Arc<NodeStates>,
}

impl<D: Database> Nodes<D> {
    /// Creates the nodes of a run. All of them are taken to answer and to accept writes until they
    /// are [asked](Nodes::ask).
    #[must_use]
    pub fn new(list: Vec<Node<D>>, routing: Routing) -> Self {
        let states = Arc::new(NodeStates::new(list.len()));
        Self { list, routing, states }
    }

    /// The node that a transaction goes to now; `None` if no node can take it.
    #[must_use]
    pub fn route(&self, to: Destination) -> Option<usize> {
        self.routing.route(to, &self.states)
    }

    /// Asks every node, within this limit for each, who it is and whether it accepts writes.
    ///
    /// # Errors
    /// When a node cannot be reached; the message names it.
    pub async fn ask(&self, limit: Duration) -> Result<Vec<(ServerInfo, NodeStatus)>, DbError> {
        let mut known = Vec::new();
        for (index, node) in self.list.iter().enumerate() {
            let asked = async {
                node.database.identify().await?;
                let mut session = node.database.connect(Role::Monitor, 0).await?;
                let server = session.server().await?;
                let status = session.node_status().await?;
                session.close().await;
                Ok::<_, DbError>((server, status))
            };
            let asked = tokio::time::timeout(limit, asked).await.unwrap_or_else(|_| {
                let message = format!("no session within {} s", limit.as_secs_f64());
                Err(DbError::new(ErrorClass::Disconnected, message))
            });
            let (server, status) =
                asked.map_err(|error| error.context(format_args!("node {}", node.name)))?;
            self.states.answers(index, status.is_writable);
            known.push((server, status));
        }
        Ok(known)
    }

    /// Rejects an isolation level that a node does not have to which transactions of these users go.
    ///
    /// # Errors
    /// When there is such a node.
    pub fn refuse_isolation(
        &self,
        level: Isolation,
        users: u32,
        known: &[(ServerInfo, NodeStatus)],
    ) -> Result<(), SpecError> {
        let used = self.routing.likely_of_all(users, &self.states);
        let lacks = |(index, (_, status)): &(usize, &(ServerInfo, NodeStatus))| {
            used & states::bit(*index) != 0 && status.lacks_isolation == Some(level)
        };
        let Some((index, _)) = known.iter().enumerate().find(lacks) else { return Ok(()) };
        Err(SpecError::new(format!(
            "node {} does not have isolation level {}, as it is a standby: use a weaker level, or route the \
             transactions that only read to the primaries (--route reads=user:primaries)",
            self.list[index].name,
            level.name()
        ))
        .about("isolation"))
    }
}
