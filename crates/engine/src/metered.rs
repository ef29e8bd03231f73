//! A session with a meter: counts round trips and knows whether a COMMIT, or a call that commits
//! implicitly, is on its way; if the connection is lost then, the outcome is in doubt. To the
//! workload it is an ordinary session.

use std::time::Duration;

use triphammer_core::error::DbError;
use triphammer_core::login::LoginTimes;
use triphammer_core::rows::Rows;
use triphammer_core::session::{
    Access, Canceller, ColumnSource, Isolation, Pipeline, Pipelining, RowEffect, RowSource,
    Session, StatementId, execute_then_commit,
};
use triphammer_core::sql::BoundStatement;
use triphammer_core::value::Value;
use triphammer_core::workload::TableDef;

/// A session that counts its round trips and tracks pending commits.
#[derive(Debug)]
pub struct Metered<S> {
    session: S,
    round_trips: u64,
    commit_pending: bool,
    acknowledged: bool,
    /// Whether statements are only sent.
    in_pipeline: bool,
    announced: Access,
}

impl<S: Session> Metered<S> {
    /// Wraps a session in a meter.
    pub fn new(session: S) -> Self {
        Self {
            session,
            round_trips: 0,
            commit_pending: false,
            acknowledged: false,
            in_pipeline: false,
            announced: Access::Write,
        }
    }

    /// Number of round trips so far: statements, calls, begins, commits and rollbacks.
    #[must_use]
    pub fn round_trips(&self) -> u64 {
        self.round_trips
    }

    /// Whether a commit was sent and not answered: true when a call's future was dropped while in
    /// flight.
    #[must_use]
    pub fn commit_pending(&self) -> bool {
        self.commit_pending
    }

    /// Begins a new attempt at a transaction of this access: nothing of it is acknowledged yet.
    pub fn begin_attempt(&mut self, access: Access) {
        self.acknowledged = false;
        self.announce(access);
    }

    /// Whether the database has acknowledged a commit, or a call that commits implicitly, in this
    /// attempt; whatever fails afterwards, the work is done.
    #[must_use]
    pub fn is_acknowledged(&self) -> bool {
        self.acknowledged
    }

    /// The inner session, for queries about its server.
    pub fn inner_mut(&mut self) -> &mut S {
        &mut self.session
    }

    /// Returns the inner session.
    pub fn into_inner(self) -> S {
        self.session
    }

    /// Counts the round trip of a BEGIN, unless that is sent with the next call.
    fn count_begin(&mut self) {
        self.round_trips += u64::from(!self.session.pipelining().defers_begin());
    }

    /// Marks the next call as a commit, unless the connection is already known to be lost.
    fn committing(&mut self) {
        self.round_trips += 1;
        self.commit_pending = !self.session.is_closed();
    }

    fn committed<T>(&mut self, result: Result<T, DbError>) -> Result<T, DbError> {
        let was_sent = std::mem::take(&mut self.commit_pending);
        self.acknowledged |= match &result {
            Ok(_) => true,
            Err(error) => was_sent && error.is_unread(),
        };
        result.map_err(|error| if was_sent { error.after_commit_sent() } else { error })
    }
}

#[deny(clippy::missing_trait_methods, reason = "what is not forwarded would be lost")]
impl<S: Session> Session for Metered<S> {
    async fn script(&mut self, sql: &str) -> Result<(), DbError> {
        self.round_trips += 1;
        self.session.script(sql).await
    }

    async fn prepare(&mut self, statement: &BoundStatement) -> Result<StatementId, DbError> {
        self.session.prepare(statement).await
    }

    async fn execute(&mut self, id: StatementId, args: &[Value<'_>]) -> Result<u64, DbError> {
        self.round_trips += u64::from(!self.in_pipeline);
        self.session.execute(id, args).await
    }

    async fn query(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        rows: &mut Rows,
    ) -> Result<(), DbError> {
        self.round_trips += 1;
        self.session.query(id, args, rows).await
    }

    async fn call(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        rows: &mut Rows,
    ) -> Result<(), DbError> {
        self.committing();
        let result = self.session.call(id, args, rows).await;
        self.committed(result)
    }

    async fn execute_autocommit(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
    ) -> Result<u64, DbError> {
        self.committing();
        let result = self.session.execute_autocommit(id, args).await;
        self.committed(result)
    }

    async fn execute_and_commit(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        rows: Option<&mut Rows>,
    ) -> Result<u64, DbError> {
        // Sent one after the other, the outcome is in doubt only once the commit is sent.
        if !self.session.pipelining().joins_commit() {
            return execute_then_commit(self, id, args, rows).await;
        }
        self.committing();
        let result = self.session.execute_and_commit(id, args, rows).await;
        self.committed(result)
    }

    async fn text(&mut self, sql: &str, commits: bool, rows: &mut Rows) -> Result<(), DbError> {
        if !commits {
            self.round_trips += 1;
            return self.session.text(sql, commits, rows).await;
        }
        self.committing();
        let result = self.session.text(sql, commits, rows).await;
        self.committed(result)
    }

    async fn sources(&mut self, id: StatementId) -> Result<Vec<Option<ColumnSource>>, DbError> {
        self.session.sources(id).await
    }

    fn effect(&self) -> RowEffect {
        self.session.effect()
    }

    /// Only the end of a pipeline waits, for all that was sent; it may have committed.
    async fn pipeline(&mut self, step: Pipeline) -> Result<(), DbError> {
        self.in_pipeline = step != Pipeline::End;
        if step != Pipeline::End {
            return self.session.pipeline(step).await;
        }
        self.committing();
        let before = self.acknowledged;
        let result = self.session.pipeline(step).await;
        let result = self.committed(result);
        // It may have left its transaction open, which only who wrote the pipeline knows.
        if result.is_ok() {
            self.acknowledged = before;
        }
        result
    }

    async fn pause(&mut self, wait: Duration) {
        tokio::time::sleep(wait).await;
    }

    async fn stream(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        batch: &mut Rows,
        each: &mut dyn FnMut(&Rows),
    ) -> Result<(), DbError> {
        self.round_trips += 1;
        self.session.stream(id, args, batch, each).await
    }

    fn announce(&mut self, access: Access) {
        self.announced = access;
        self.session.announce(access);
    }

    fn pipelining(&self) -> Pipelining {
        self.session.pipelining()
    }

    async fn begin(&mut self, access: Access) -> Result<(), DbError> {
        debug_assert!(
            self.announced.writes() || !access.writes(),
            "the workload declares this transaction as read only"
        );
        self.count_begin();
        self.session.begin(access).await
    }

    async fn begin_isolated(&mut self, access: Access, level: Isolation) -> Result<(), DbError> {
        debug_assert!(
            self.announced.writes() || !access.writes(),
            "the workload declares this transaction as read only"
        );
        self.count_begin();
        self.session.begin_isolated(access, level).await
    }

    async fn begin_at(&mut self, name: &str) -> Result<(), DbError> {
        self.round_trips += 1;
        self.session.begin_at(name).await
    }

    async fn share_snapshot(&mut self) -> Result<Option<String>, DbError> {
        self.round_trips += 1;
        self.session.share_snapshot().await
    }

    async fn commit(&mut self) -> Result<(), DbError> {
        self.committing();
        let result = self.session.commit().await;
        self.committed(result)
    }

    async fn rollback(&mut self) -> Result<(), DbError> {
        self.round_trips += 1;
        self.session.rollback().await
    }

    async fn load(&mut self, table: &TableDef, source: &mut dyn RowSource) -> Result<u64, DbError> {
        self.session.load(table, source).await
    }

    fn is_closed(&self) -> bool {
        self.session.is_closed()
    }

    fn ended_idle(&mut self) -> Option<DbError> {
        self.session.ended_idle()
    }

    fn take_unconfirmed(&mut self) -> Option<String> {
        self.session.take_unconfirmed()
    }

    fn login_times(&self) -> LoginTimes {
        self.session.login_times()
    }

    fn canceller(&self) -> Box<dyn Canceller> {
        self.session.canceller()
    }

    /// Not part of a transaction, so not counted.
    async fn ping(&mut self) -> Result<bool, DbError> {
        self.session.ping().await
    }

    async fn close(self) {
        self.session.close().await;
    }
}
