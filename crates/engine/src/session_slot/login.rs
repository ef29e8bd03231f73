//! Sessions that log out after some transactions and log in again for the next one, as those of a
//! client without a pool do. As with `pgbench -C`, a session logs in when its next transaction is
//! due, and logs out at once after its last one. In a closed load the transaction is due when the
//! session is there, so its time is that of the transaction alone; in all other loads it is due
//! regardless, and waits for the login.

use tokio::time::timeout;
use triphammer_core::clock::Elapsed;
use triphammer_core::session::{Database, Session as _};
use triphammer_core::workload::Workload;

use super::turn::Turn;
use super::{Pace, SessionSlot};
use crate::node_sessions::Live;

/// How far a session is from its next login.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoginState {
    /// Transactions of a session; `u64::MAX` if it remains.
    every: u64,
    /// Transactions since the last login.
    ended: u64,
    /// Whether the session has logged out and its next transaction is not due yet.
    pub is_out: bool,
    /// Since when the session has been lost.
    pub lost_at: Option<Elapsed>,
}

impl LoginState {
    /// The state of a session that has just logged in.
    pub fn new(every: Option<u64>) -> Self {
        Self { every: every.unwrap_or(u64::MAX), ended: 0, is_out: false, lost_at: None }
    }

    /// Counts a transaction; returns whether it was the session's last one.
    #[inline]
    pub const fn ends(&mut self) -> bool {
        self.ended += 1;
        self.ended >= self.every
    }

    /// Records a login; returns since when the session was lost, if it was.
    pub const fn begins(&mut self) -> Option<Elapsed> {
        self.ended = 0;
        self.is_out = false;
        self.lost_at.take()
    }
}

impl<W: Workload, D: Database> SessionSlot<W, D> {
    /// Ends the session after its last transaction, and returns the time.
    #[cold]
    pub(super) async fn log_out(&mut self) -> Elapsed {
        let limit = self.context.plan.spec.limits.connect;
        for (node, Live { mut session, prepared, .. }) in self.sessions.take() {
            self.context.left(self.id, node);
            let ending = self.context.plan.workload.finish(prepared, &mut session);
            let _ = timeout(limit, ending).await;
            session.into_inner().close().await;
        }
        self.logins.is_out = true;
        self.clock.now()
    }

    /// Logs in for a transaction. If that fails, the session counts as lost from now on, and the
    /// transaction waits for it as for any other that is lost. Returns `None` if the run has stopped
    /// meanwhile and nothing was due yet.
    #[cold]
    pub(super) async fn log_in_for(&mut self, turn: Turn) -> Option<Turn> {
        let begun = self.clock.now();
        let Err(error) = self.try_session(None).await else {
            let started = self.clock.now();
            let is_closed = matches!(self.pace, Pace::Closed);
            let due = if is_closed { started } else { turn.due };
            let is_over = is_closed && self.context.signal.is_stopped(started);
            return (!is_over).then_some(Turn { due, started, ..turn });
        };
        self.logins.is_out = false;
        self.sessions.lose();
        self.logins.lost_at.get_or_insert(begun);
        self.context.lost_at_login(self.sessions.at(), self.clock.now());
        self.stays_away(&error);
        // What is due regardless waits for the session; else the transaction itself does.
        let waits = !matches!(self.pace, Pace::Closed);
        if waits && self.ensure_session(None).await.is_ok() {
            return Some(Turn { started: self.clock.now(), ..turn });
        }
        Some(turn)
    }
}
