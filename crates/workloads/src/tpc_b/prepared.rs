//! The prepared statements of a session, and the transactions themselves: pgbench's statements in
//! its order.

use triphammer_core::rows::Rows;
use triphammer_core::session::{Access, Session, StatementId};
use triphammer_core::value::Value;
use triphammer_core::workload::{Completion, Statements};
use triphammer_core::{DbError, ErrorClass};

use super::transactions::{Change, Input};

/// Statements and buffer of a session.
#[derive(Debug)]
pub struct Prepared {
    balance: StatementId,
    /// If the mix changes anything: who may only read can prepare no changes.
    changes: Option<Changes>,
    rows: Rows,
    abalance: i64,
}

/// The statements that change rows.
#[derive(Clone, Copy, Debug)]
struct Changes {
    update_account: StatementId,
    update_teller: StatementId,
    update_branch: StatementId,
    insert_history: StatementId,
}

impl Prepared {
    /// Prepares the statements on a session; those that change rows if the mix `writes`.
    pub(super) async fn new<S: Session>(
        writes: bool,
        statements: &mut Statements<'_>,
        session: &mut S,
    ) -> Result<Self, DbError> {
        let balance = statements.prepare(session, "account.balance").await?;
        let changes = match writes {
            false => None,
            true => Some(Changes {
                update_account: statements.prepare(session, "account.update").await?,
                update_teller: statements.prepare(session, "teller.update").await?,
                update_branch: statements.prepare(session, "branch.update").await?,
                insert_history: statements.prepare(session, "history.insert").await?,
            }),
        };
        Ok(Self { balance, changes, rows: Rows::new(), abalance: 0 })
    }

    /// The account balance that the last transaction read.
    #[must_use]
    pub const fn abalance(&self) -> i64 {
        self.abalance
    }

    /// Runs one transaction of any type.
    pub(super) async fn run<S: Session>(
        &mut self,
        input: &Input,
        session: &mut S,
    ) -> Result<Completion, DbError> {
        match input {
            Input::TpcbLike(change) => self.change(change, true, session).await,
            Input::SimpleUpdate(change) => self.change(change, false, session).await,
            // Without BEGIN and COMMIT, as in pgbench's script: its outcome is never in doubt.
            Input::SelectOnly { aid } => {
                self.read_balance(*aid, session).await?;
                Ok(Completion::COMMITTED)
            }
        }
    }

    /// Runs tpcb-like, or simple-update: the same without teller and branch.
    async fn change<S: Session>(
        &mut self,
        change: &Change,
        teller_and_branch: bool,
        session: &mut S,
    ) -> Result<Completion, DbError> {
        let Change { aid, bid, tid, delta, mtime } = *change;
        let changes = self.changes.ok_or_else(|| {
            DbError::new(ErrorClass::Other, "the mix of this run changes no rows")
        })?;
        session.begin(Access::Write).await?;
        update(changes.update_account, delta, ("account", aid), session).await?;
        self.read_balance(aid, session).await?;
        if teller_and_branch {
            update(changes.update_teller, delta, ("teller", tid), session).await?;
            update(changes.update_branch, delta, ("branch", bid), session).await?;
        }
        let row = [tid.into(), bid.into(), aid.into(), delta.into(), Value::Timestamp(mtime)];
        session.execute_and_commit(changes.insert_history, &row, None).await?;
        Ok(Completion { committed: true, counter: delta.into() })
    }

    async fn read_balance<S: Session>(&mut self, aid: i32, session: &mut S) -> Result<(), DbError> {
        session.query(self.balance, &[aid.into()], &mut self.rows).await?;
        self.abalance = self.rows.first("the account")?.int(0)?;
        Ok(())
    }
}

/// Changes the one balance with that key. To the database a missing row would not be an error, only
/// a transaction that did less.
async fn update<S: Session>(
    statement: StatementId,
    delta: i32,
    (what, key): (&str, i32),
    session: &mut S,
) -> Result<(), DbError> {
    match session.execute(statement, &[delta.into(), key.into()]).await? {
        1 => Ok(()),
        touched => {
            let message = format!(
                "expected one row for {what} {key}, got {touched}: the tables are incomplete"
            );
            Err(DbError::new(ErrorClass::Other, message))
        }
    }
}
