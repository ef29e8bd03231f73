//! The sessions of one slot: one on a single server; with several nodes, one on each node that its
//! transactions have gone to. One of them is current, and runs the next attempt.

use tokio::time::{Instant, timeout};
use triphammer_core::clock::Elapsed;
use triphammer_core::error::{DbError, ErrorClass};
use triphammer_core::recorder::Login;
use triphammer_core::session::{Admin, Database, Role, ServerProcess, Session};
use triphammer_core::workload::{Statements, Workload};

use super::context::Context;
use super::metered::Metered;

/// A session and the workload's prepared statements on it.
pub(super) struct Live<W: Workload, D: Database> {
    pub session: Metered<D::Session>,
    pub prepared: W::Prepared,
    /// How often its node had been lost when the session was opened.
    losses: u32,
    /// When the session was opened, or last ended a transaction.
    pub used: Elapsed,
    /// How long it took to open it.
    pub login: Login,
}

impl<W: Workload, D: Database> Live<W, D> {
    /// Opens and prepares a session of slot `id` on a node, within the connect limit.
    pub async fn open(
        context: &Context<W, D>,
        id: u32,
        node: usize,
        used: Elapsed,
    ) -> Result<Self, DbError> {
        let plan = &context.plan;
        let limit = plan.spec.limits.connect;
        let losses = plan.nodes.as_ref().map_or(0, |nodes| nodes.states.losses(node));
        let begun = Instant::now();
        let opening = async {
            let mut session = Metered::new(plan.database_of(node).connect(Role::User, id).await?);
            let phases = session.login_times();
            let statements = Statements::new(&plan.catalogue).by(plan.spec.protocol);
            let mut statements = statements.on(id, plan.spec.sessions());
            let prepared =
                plan.workload.prepare(plan.spec.mode, &mut statements, &mut session).await?;
            let login = Login { took: begun.elapsed(), phases };
            Ok(Self { session, prepared, losses, used, login })
        };
        let live: Self = timeout(limit, opening).await.unwrap_or_else(|_| {
            let message = format!("no session within {} s", limit.as_secs_f64());
            Err(DbError::new(ErrorClass::Disconnected, message))
        })?;
        context.sessions.slots.of(id).watch(live.session.canceller());
        Ok(live)
    }
}

/// The sessions of a slot, by node.
pub(super) struct NodeSessions<W: Workload, D: Database> {
    each: Box<[Option<Live<W, D>>]>,
    /// The current node.
    at: usize,
    /// Nodes on which the slot lost its session.
    lost: u64,
}

impl<W: Workload, D: Database> NodeSessions<W, D> {
    /// Opens the sessions that the slot needs at the start.
    pub async fn open(context: &Context<W, D>, id: u32) -> Result<Self, DbError> {
        let plan = &context.plan;
        let likely = plan.nodes.as_ref().map_or(1, |n| n.routing.likely(id, &n.states));
        let mut sessions =
            Self { each: (0..plan.node_count()).map(|_| None).collect(), at: 0, lost: 0 };
        for node in (0..plan.node_count()).filter(|node| likely >> node & 1 == 1) {
            let live = Live::open(context, id, node, Elapsed::default()).await;
            let live = live.map_err(|error| match &plan.nodes {
                Some(nodes) => error.context(format_args!("node {}", nodes.list[node].name)),
                None => error,
            })?;
            sessions.at = node;
            sessions.each[node] = Some(live);
        }
        Ok(sessions)
    }

    /// The current node.
    pub const fn at(&self) -> usize {
        self.at
    }

    /// The session on the current node.
    #[inline]
    pub fn current(&self) -> Option<&Live<W, D>> {
        self.each[self.at].as_ref()
    }

    /// The session on the current node.
    #[inline]
    pub fn current_mut(&mut self) -> Option<&mut Live<W, D>> {
        self.each[self.at].as_mut()
    }

    /// Records that the current session ended a transaction.
    #[inline]
    pub fn used(&mut self, at: Elapsed) {
        if let Some(live) = self.current_mut() {
            live.used = at;
        }
    }

    /// Whether the current session was opened before its node was last lost.
    pub fn is_stale(&self, losses: u32) -> bool {
        self.current().is_some_and(|live| live.losses != losses)
    }

    /// The logins of the sessions that are there.
    pub fn logins(&self) -> impl Iterator<Item = Login> {
        self.each.iter().flatten().map(|live| live.login)
    }

    /// The nodes on which there is a session.
    pub fn open_on(&self) -> impl Iterator<Item = usize> {
        self.each.iter().enumerate().filter_map(|(node, live)| live.as_ref().map(|_| node))
    }

    /// Makes a node current. Returns false if its session had to be dropped, because the node was
    /// lost since it was opened.
    pub fn move_to(&mut self, node: usize, losses: u32) -> bool {
        self.at = node;
        if !self.is_stale(losses) {
            return true;
        }
        self.lose();
        false
    }

    /// Drops the session on the current node.
    pub fn lose(&mut self) {
        self.each[self.at] = None;
        self.lost |= 1 << self.at;
    }

    /// Keeps a new session on the current node; returns whether it replaces one that was lost.
    pub fn put(&mut self, live: Live<W, D>) -> bool {
        self.each[self.at] = Some(live);
        let was_lost = self.lost >> self.at & 1 == 1;
        self.lost &= !(1 << self.at);
        was_lost
    }

    /// Removes all sessions, each with its node.
    pub fn take(&mut self) -> Vec<(usize, Live<W, D>)> {
        let each = self.each.iter_mut().enumerate();
        each.filter_map(|(node, live)| Some((node, live.take()?))).collect()
    }

    /// The server's process, if the session on the current node can report it within the limit.
    pub async fn server_process(&mut self, limit: std::time::Duration) -> Option<ServerProcess> {
        let session = self.current_mut()?.session.inner_mut();
        timeout(limit, session.server_process()).await.ok()?.ok().flatten()
    }
}
