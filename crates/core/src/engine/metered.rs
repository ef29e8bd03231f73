//! A session with a meter: counts round trips and knows whether a COMMIT, or a call that commits by
//! itself, is on its way, which is what makes a lost connection's outcome in doubt. It is a session
//! like any other to the workload.

use crate::error::DbError;
use crate::rows::Rows;
use crate::session::{Access, Canceller, RowSource, Session, StatementId};
use crate::sql::BoundStatement;
use crate::value::Value;
use crate::workload::TableDef;

/// A session with a meter.
#[derive(Debug)]
pub struct Metered<S> {
    session: S,
    round_trips: u64,
    commit_pending: bool,
    acknowledged: bool,
    announced: Access,
}

impl<S: Session> Metered<S> {
    /// Puts a meter on a session.
    pub fn new(session: S) -> Self {
        Self {
            session,
            round_trips: 0,
            commit_pending: false,
            acknowledged: false,
            announced: Access::Write,
        }
    }

    /// Statements, calls, begins, commits and rollbacks sent so far, each a round trip.
    #[must_use]
    pub fn round_trips(&self) -> u64 {
        self.round_trips
    }

    /// Whether a commit was sent and not answered: true when a call's future was dropped under way.
    #[must_use]
    pub fn commit_pending(&self) -> bool {
        self.commit_pending
    }

    /// A new attempt at a transaction of this access begins: nothing of it is acknowledged.
    pub fn begin_attempt(&mut self, access: Access) {
        self.acknowledged = false;
        self.announce(access);
    }

    /// Whether the database has acknowledged a commit, or a call that commits by itself, in this
    /// attempt: whatever goes wrong afterwards, the work is done.
    #[must_use]
    pub fn is_acknowledged(&self) -> bool {
        self.acknowledged
    }

    /// The session under its meter, to ask it about its server.
    pub fn inner_mut(&mut self) -> &mut S {
        &mut self.session
    }

    /// The session without its meter.
    pub fn into_inner(self) -> S {
        self.session
    }

    /// Marks what follows as committing, unless the connection is known to be gone already.
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

#[deny(clippy::missing_trait_methods, reason = "what is not passed on would be lost")]
impl<S: Session> Session for Metered<S> {
    async fn script(&mut self, sql: &str) -> Result<(), DbError> {
        self.round_trips += 1;
        self.session.script(sql).await
    }

    async fn prepare(&mut self, statement: &BoundStatement) -> Result<StatementId, DbError> {
        self.session.prepare(statement).await
    }

    async fn execute(&mut self, id: StatementId, args: &[Value<'_>]) -> Result<u64, DbError> {
        self.round_trips += 1;
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

    async fn begin(&mut self, access: Access) -> Result<(), DbError> {
        debug_assert!(
            self.announced.writes() || !access.writes(),
            "the workload says of this transaction that it only reads"
        );
        self.round_trips += 1;
        self.session.begin(access).await
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

    fn canceller(&self) -> Box<dyn Canceller> {
        self.session.canceller()
    }

    /// No transaction's round trip, so not counted.
    async fn ping(&mut self) -> Result<bool, DbError> {
        self.session.ping().await
    }

    async fn close(self) {
        self.session.close().await;
    }
}
