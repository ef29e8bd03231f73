//! How a session finds out whether New-Order committed: HammerDB's routines may roll back without reporting it.

use std::time::Duration;

use triphammer_core::rows::Rows;
use triphammer_core::session::{Session, StatementId};
use triphammer_core::value::Value;
use triphammer_core::workload::{Completion, Statements};
use triphammer_core::{Clock, DbError, Elapsed, ErrorClass};

use super::INVALID_TERMINATION;
use super::signatures::{FoundRoutines, Remark};

/// The column of NEWORD's row, on PostgreSQL, that contains the order's number.
const NEXT_O_ID: usize = 5;

/// How a session determines the outcome of New-Order.
#[derive(Debug)]
pub(super) enum RunEnding {
    /// It commits, or an error is reported.
    Commits,
    /// It rolls back by rule and reports an error.
    Fails,
    /// It may roll back without reporting it; the order is then not there.
    Asks(Asking),
}

/// How a session looks for an order.
#[derive(Debug)]
pub(super) struct Asking {
    statement: StatementId,
    /// Whether the statement takes the number that the routine returned.
    by_number: bool,
    absent: Absent,
}

/// Why an order is not there.
#[derive(Debug)]
pub(super) enum Absent {
    /// It was rolled back.
    ByRule,
    /// It was rolled back after a deadlock or a serialization failure, which the database finds only after
    /// `patience`: it is not looked for after calls that took less.
    AfterConflict { patience: Duration, clock: Clock },
}

impl RunEnding {
    pub(super) async fn of<S: Session>(
        found: &FoundRoutines,
        statements: &mut Statements<'_>,
        session: &mut S,
        rows: &mut Rows,
    ) -> Result<Self, DbError> {
        let form = found.form.name;
        let rolls_back = found.has(Remark::RollsBack) || matches!(form, "procedure" | "rows");
        if matches!(form, "function" | "variables") {
            return Ok(if rolls_back { Self::Fails } else { Self::Commits });
        }
        let by_number = !statements.has("hammerdb.new_order.committed");
        let how = if by_number { "numbered" } else { "committed" };
        let statement = statements.prepare(session, &format!("hammerdb.new_order.{how}")).await?;
        let absent = match rolls_back {
            true => Absent::ByRule,
            false => {
                let patience = patience(statements, session, rows).await?;
                Absent::AfterConflict { patience, clock: Clock::start() }
            }
        };
        Ok(Self::Asks(Asking { statement, by_number, absent }))
    }

    /// Start of a call, if it matters.
    pub(super) fn now(&self) -> Elapsed {
        match self {
            Self::Asks(Asking { absent: Absent::AfterConflict { clock, .. }, .. }) => clock.now(),
            _ => Elapsed::default(),
        }
    }

    /// The outcome of a New-Order that was called at `begun`.
    pub(super) async fn judge<S: Session>(
        &self,
        called: Result<(), DbError>,
        begun: Elapsed,
        order: &[Value<'_>; 4],
        rows: &mut Rows,
        session: &mut S,
    ) -> Result<Completion, DbError> {
        let by_rule = |error: &DbError| error.code() == Some(INVALID_TERMINATION);
        match (self, called) {
            (Self::Fails, Err(error)) if by_rule(&error) => Ok(Completion::ROLLED_BACK),
            (_, Err(error)) => Err(error),
            (Self::Commits | Self::Fails, Ok(())) => Ok(Completion::COMMITTED),
            (Self::Asks(asking), Ok(())) => asking.ended(begun, order, rows, session).await,
        }
    }
}

impl Asking {
    /// The outcome of a New-Order that was called at `begun` and reported no error.
    async fn ended<S: Session>(
        &self,
        begun: Elapsed,
        order: &[Value<'_>; 4],
        rows: &mut Rows,
        session: &mut S,
    ) -> Result<Completion, DbError> {
        if let Absent::AfterConflict { patience, clock } = &self.absent
            && clock.now().duration().saturating_sub(begun.duration()) < *patience
        {
            return Ok(Completion::COMMITTED);
        }
        let is_there = match self.by_number {
            true => is_numbered(self.statement, order, rows, session).await?,
            false => is_there(self.statement, order, rows, session).await?,
        };
        match (is_there, &self.absent) {
            (true, _) => Ok(Completion::COMMITTED),
            (false, Absent::ByRule) => Ok(Completion::ROLLED_BACK),
            (false, Absent::AfterConflict { .. }) => {
                let message =
                    "HammerDB's procedure rolled back after a deadlock without reporting it";
                Err(DbError::new(ErrorClass::Deadlock, message).undone())
            }
        }
    }
}

/// Minimum duration of a call in which the database found a deadlock or a serialization failure; 0 if it is unknown.
async fn patience<S: Session>(
    statements: &mut Statements<'_>,
    session: &mut S,
    rows: &mut Rows,
) -> Result<Duration, DbError> {
    if !statements.has("hammerdb.patience") {
        return Ok(Duration::ZERO);
    }
    let statement = statements.prepare(session, "hammerdb.patience").await?;
    session.query(statement, &[], rows).await?;
    let milliseconds = rows.first("the deadlock timeout")?.int(0)?;
    Ok(Duration::from_millis(u64::try_from(milliseconds).unwrap_or_default()))
}

/// Like [`is_there`], by the number that NEWORD returned.
async fn is_numbered<S: Session>(
    statement: StatementId,
    order: &[Value<'_>; 4],
    rows: &mut Rows,
    session: &mut S,
) -> Result<bool, DbError> {
    let row = rows.first("the result of NEWORD")?;
    // A call that returns no number did not create an order.
    let Some(number) = row.optional(NEXT_O_ID, |row, column| row.int32(column))? else {
        return Ok(false);
    };
    let [w_id, d_id, c_id, ol_cnt] = *order;
    is_there(statement, &[w_id, d_id, c_id, ol_cnt, number.into()], rows, session).await
}

async fn is_there<S: Session>(
    statement: StatementId,
    order: &[Value<'_>],
    rows: &mut Rows,
    session: &mut S,
) -> Result<bool, DbError> {
    // The order may already exist: without an answer its outcome is unknown.
    let asked = session.query(statement, order, rows).await;
    asked.map_err(DbError::after_commit_sent)?;
    Ok(rows.first("the order of New-Order")?.int(0)? > 0)
}
