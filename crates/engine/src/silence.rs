//! The end of waits for nodes that do not answer. Who judges that is `node_watch`: a node that
//! answers neither its question nor any transaction of this process.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;

use tokio::sync::watch;

use triphammer_core::nodes::{NodeStates, Nodes};

/// Ends the waits of one session for nodes; does nothing on a single server.
pub(super) struct Silence(Option<(Arc<NodeStates>, watch::Receiver<u32>)>);

impl Silence {
    /// Creates what a session needs to learn about these nodes.
    pub fn of<D>(nodes: Option<&Nodes<D>>) -> Self {
        Self(nodes.map(|nodes| (Arc::clone(&nodes.states), nodes.states.subscribe())))
    }

    /// Waits for an answer of a node; `None` if the node is found to be silent first.
    pub async fn or<T>(&mut self, node: usize, answer: impl Future<Output = T>) -> Option<T> {
        self.until(answer, |states| states.silences(node)).await
    }

    /// Waits for a new session on a node; `None` if the node is lost first.
    pub async fn or_lost<T>(&mut self, node: usize, answer: impl Future<Output = T>) -> Option<T> {
        self.until(answer, |states| states.silences(node).wrapping_add(states.losses(node))).await
    }

    /// Waits for an answer, or until a count of the nodes' states changes.
    async fn until<T>(
        &mut self,
        answer: impl Future<Output = T>,
        count: impl Fn(&NodeStates) -> u32,
    ) -> Option<T> {
        let Some((states, changes)) = &mut self.0 else { return Some(answer.await) };
        let before = count(states);
        let answer = pin!(answer);
        let changed = changes.wait_for(|_| count(states) != before);
        tokio::select! {
            biased;
            answer = answer => Some(answer),
            _ = changed => None,
        }
    }
}
