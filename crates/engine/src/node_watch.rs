//! Watches the nodes of a run: asks each of them, every second, on a session of its own, whether it
//! accepts writes and how far it is behind. So it notices that a lost node is back and that a
//! replica was promoted; the slots notice losses, too. A node that answers neither this question nor
//! any transaction is silent: whoever waits for it stops waiting. The first worker thread of a
//! process does it.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use triphammer_core::clock::Clock;
use triphammer_core::error::{DbError, ErrorClass};
use triphammer_core::nodes::Nodes;
use triphammer_core::session::{Admin, Database, NodeStatus, Role};
use triphammer_core::workload::Workload;

use super::context::Context;

/// Time between two questions to a node that answers.
const ASK_EVERY: Duration = Duration::from_secs(1);
/// The same while no node accepts writes: a promotion is awaited.
const ASK_FOR_WRITER: Duration = Duration::from_millis(100);
/// How long a node may take to answer before it counts as lost.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);

/// Starts watching all nodes, if there are several.
pub(super) fn start<W: Workload, D: Database>(
    context: &Rc<Context<W, D>>,
    clock: Clock,
) -> JoinSet<()> {
    let mut watching = JoinSet::new();
    if let Some(nodes) = context.plan.nodes.as_ref().filter(|_| context.uplink.thread() == 0) {
        for node in 0..nodes.list.len() {
            let watch =
                Watch { context: Rc::clone(context), nodes: Arc::clone(nodes), node, clock };
            watching.spawn_local(watch.run());
        }
    }
    watching
}

/// Watches one node.
struct Watch<W: Workload, D: Database> {
    context: Rc<Context<W, D>>,
    nodes: Arc<Nodes<D>>,
    node: usize,
    clock: Clock,
}

impl<W: Workload, D: Database> Watch<W, D> {
    /// Asks the node for as long as the run lasts.
    async fn run(self) {
        let limits = self.context.plan.spec.limits;
        let (mut session, mut counted, mut wait) = (None, None, limits.reconnect_first);
        loop {
            let limit = ANSWER_LIMIT.min(limits.connect);
            let answer_count = self.nodes.states.answer_count(self.node);
            let asked = timeout(limit, self.ask(&mut session)).await;
            let was_late = asked.is_err();
            let is_silent = was_late && self.nodes.states.answer_count(self.node) == answer_count;
            let asked = asked.unwrap_or_else(|_| {
                let message = format!("no answer within {} s", limit.as_secs_f64());
                Err(DbError::new(ErrorClass::Disconnected, message))
            });
            let now = self.clock.now();
            match asked {
                Ok(status) => {
                    let more = status.transactions.zip(counted);
                    let more = more.and_then(|(now, before): (u64, u64)| now.checked_sub(before));
                    counted = status.transactions.or(counted);
                    self.context.node_answered(self.node, status, more, now);
                    wait = limits.reconnect_first;
                    sleep(self.pause()).await;
                }
                Err(error) => {
                    session = None;
                    // A server that is full, or too busy for this question, serves others.
                    if is_silent || (error.shows_no_service() && !was_late) {
                        self.context.node_lost(self.node, &error, now);
                    }
                    if is_silent {
                        self.nodes.states.silent(self.node);
                    }
                    sleep(wait).await;
                    wait = (wait * 2).min(limits.reconnect_max);
                }
            }
        }
    }

    async fn ask(&self, session: &mut Option<D::Session>) -> Result<NodeStatus, DbError> {
        if session.is_none() {
            let database = &self.nodes.list[self.node].database;
            *session = Some(database.connect(Role::Monitor, 0).await?);
        }
        session.as_mut().expect("it was just opened").node_status().await
    }

    /// The time until the next question.
    fn pause(&self) -> Duration {
        let states = &self.nodes.states;
        let has_writer = states.up() & states.writable() != 0;
        if has_writer { ASK_EVERY } else { ASK_FOR_WRITER }
    }
}
