//! An authenticated connection, and the requests of the protocol: the base of sessions, loads and
//! cancels.

use std::time::Duration;

use tokio::time::timeout;
use triphammer_core::rows::{Cell, Row, Rows};
use triphammer_core::session::Isolation;
use triphammer_core::{DbError, ErrorClass};

use super::reader::put_utf16;
use super::tokens::{Answer, Keep};
use super::wire::{Wire, message_type};
use crate::answer::Room;

/// Type of the header with the transaction that a request belongs to.
const TRANSACTION_HEADER: u16 = 2;
const HEADERS_BYTES: u32 = 22;
/// Unread data of an incomplete row from which on more than one packet is awaited before it is
/// parsed again, so that the time for a long row stays proportional to its length.
const LONG_ROW_BYTES: usize = 64 * 1024;
/// How long a proper close may take.
const GOODBYE_LIMIT: Duration = Duration::from_secs(5);

/// Requests to the transaction manager.
mod manager {
    pub const BEGIN: u16 = 5;
    pub const COMMIT: u16 = 7;
    pub const ROLLBACK: u16 = 8;
}

/// Numbers of the procedures for prepared statements.
#[derive(Clone, Copy)]
pub(super) enum Procedure {
    ExecuteSql = 10,
    Prepare = 11,
    Execute = 12,
    PrepareExecute = 13,
    Unprepare = 15,
}

/// Facts about a session's connection.
pub(super) struct Route {
    pub(super) transport: &'static str,
    pub(super) same_host: bool,
}

/// One connection to a server.
pub(super) struct Connection {
    pub(super) wire: Wire,
    pub(super) answer: Answer,
    /// Rows that are not needed; kept to reuse its memory.
    scratch: Rows,
    pub(super) route: Route,
}

impl Connection {
    pub(super) fn new(wire: Wire, answer: Answer, route: Route) -> Self {
        Self { wire, answer, scratch: Rows::new(), route }
    }

    /// Whether a transaction is open.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.answer.transaction != 0
    }

    /// Runs SQL text and discards its rows.
    pub(super) async fn batch(&mut self, sql: &str) -> Result<u64, DbError> {
        self.put_batch(sql)?;
        self.wire.send(message_type::BATCH).await?;
        self.outcome().await
    }

    /// Runs SQL text and keeps the rows of its last result.
    pub(super) async fn batch_rows(&mut self, sql: &str, rows: &mut Rows) -> Result<(), DbError> {
        self.put_batch(sql)?;
        self.wire.send(message_type::BATCH).await?;
        let mut room = Room::of_question();
        let mut seen = 0;
        let take = |rows: &mut Rows| {
            let before = std::mem::replace(&mut seen, rows.bytes());
            room.take(seen.saturating_sub(before))
        };
        self.results(Keep::Rows { lists: false }, rows, take).await
    }

    /// Runs SQL text and returns its rows as text, for the few queries that are made once.
    pub(super) async fn ask(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, DbError> {
        let mut rows = Rows::new();
        self.batch_rows(sql, &mut rows).await?;
        let texts = |row: Row<'_>| (0..row.len()).map(|at| text_of(&row, at)).collect();
        Ok(rows.iter().map(texts).collect())
    }

    fn put_batch(&mut self, sql: &str) -> Result<(), DbError> {
        let transaction = self.answer.transaction;
        let out = self.wire.command()?;
        put_headers(out, transaction);
        put_utf16(out, sql);
        Ok(())
    }

    /// Begins a call of one of the procedures for prepared statements; its arguments follow.
    #[inline]
    pub(super) fn call_number(&mut self, procedure: Procedure) -> Result<&mut Vec<u8>, DbError> {
        let transaction = self.answer.transaction;
        let out = self.wire.command()?;
        put_headers(out, transaction);
        out.extend_from_slice(&[0xff, 0xff, procedure as u8, 0, 0, 0]);
        Ok(out)
    }

    /// Begins a call of a procedure by its name in UTF-16; its arguments follow.
    #[inline]
    pub(super) fn call_name(&mut self, name: &[u8]) -> Result<&mut Vec<u8>, DbError> {
        let transaction = self.answer.transaction;
        let out = self.wire.command()?;
        put_headers(out, transaction);
        let units = u16::try_from(name.len() / 2).expect("names are short");
        out.extend_from_slice(&units.to_le_bytes());
        out.extend_from_slice(name);
        out.extend_from_slice(&[0, 0]);
        Ok(out)
    }

    /// Sends a call that was begun.
    #[inline]
    pub(super) async fn send_call(&mut self) -> Result<(), DbError> {
        self.wire.send(message_type::RPC).await
    }

    /// Begins a transaction; without a level at the one that the session has.
    pub(super) async fn begin(&mut self, level: Option<Isolation>) -> Result<(), DbError> {
        let code = match level {
            None => 0,
            Some(Isolation::ReadUncommitted) => 1,
            Some(Isolation::ReadCommitted) => 2,
            Some(Isolation::RepeatableRead) => 3,
            Some(Isolation::Serializable) => 4,
            Some(Isolation::Snapshot) => 5,
        };
        self.manage(manager::BEGIN, &[code, 0]).await?;
        if !self.is_open() {
            let message = "the server did not begin a transaction";
            return Err(self.wire.give_up(DbError::new(ErrorClass::Disconnected, message)));
        }
        Ok(())
    }

    /// Commits the open transaction.
    pub(super) async fn commit(&mut self) -> Result<(), DbError> {
        self.manage(manager::COMMIT, &[0, 0]).await
    }

    /// Rolls the open transaction back.
    pub(super) async fn rollback(&mut self) -> Result<(), DbError> {
        self.manage(manager::ROLLBACK, &[0, 0]).await
    }

    async fn manage(&mut self, request: u16, body: &[u8]) -> Result<(), DbError> {
        let transaction = self.answer.transaction;
        let out = self.wire.command()?;
        put_headers(out, transaction);
        out.extend_from_slice(&request.to_le_bytes());
        out.extend_from_slice(body);
        self.wire.send(message_type::TRANSACTION).await?;
        self.outcome().await.map(drop)
    }

    /// Reads an answer to the end, discards its rows, and returns the number of affected rows.
    pub(super) async fn outcome(&mut self) -> Result<u64, DbError> {
        let mut rows = std::mem::take(&mut self.scratch);
        let result = self.results(Keep::Nothing, &mut rows, |_| Ok(())).await;
        self.scratch = rows;
        result.map(|()| self.answer.touched)
    }

    /// Reads an answer to the end. `after_row` is called after each row that is kept; its error
    /// abandons the answer, and with it the connection.
    pub(super) async fn results(
        &mut self,
        keep: Keep,
        rows: &mut Rows,
        mut after_row: impl FnMut(&mut Rows) -> Result<(), DbError>,
    ) -> Result<(), DbError> {
        rows.reset(0);
        let was_open = self.is_open();
        self.answer.begin();
        self.message(keep, rows, &mut after_row).await?;
        let mut was_cancelled = self.answer.is_cancelled;
        if self.wire.awaits_cancel() {
            let complete = self.answer.is_complete && !was_cancelled;
            while !self.answer.is_cancelled {
                // The statement ended before the server saw the request, which it still confirms.
                self.wire.next_message();
                self.message(Keep::Nothing, &mut Rows::new(), &mut |_| Ok(())).await?;
            }
            self.wire.cancel_confirmed();
            // A transaction may have been rolled back by that.
            was_cancelled = !complete || was_open;
        }
        self.wire.done();
        if let Some(error) = self.answer.error.take() {
            if error.class().loses_session() {
                return Err(self.wire.give_up(error));
            }
            return Err(error);
        }
        if was_cancelled {
            return Err(DbError::new(ErrorClass::Cancelled, "the statement was cancelled"));
        }
        self.answer.take_problem().map_or(Ok(()), |error| Err(error.unread()))
    }

    /// Reads one message to its end.
    async fn message(
        &mut self,
        keep: Keep,
        rows: &mut Rows,
        after_row: &mut impl FnMut(&mut Rows) -> Result<(), DbError>,
    ) -> Result<(), DbError> {
        loop {
            let data = self.wire.data();
            let read = self.answer.read(data, keep, rows, after_row);
            let (length, count) = (data.len(), read.map_err(|error| self.wire.give_up(error))?);
            self.wire.consume(count);
            let left = length - count;
            if left == 0 && self.wire.has_ended() {
                // An answer that was cancelled may be cut short; the confirmation follows.
                if !self.answer.is_complete && !self.wire.awaits_cancel() {
                    let error = super::error::broken("an answer without an end");
                    return Err(self.wire.give_up(error));
                }
                return Ok(());
            }
            self.wire.more().await?;
            let enough = if left > LONG_ROW_BYTES { left + left / 4 } else { 0 };
            while self.wire.data().len() < enough && !self.wire.has_ended() {
                self.wire.more().await?;
            }
        }
    }

    /// Closes the connection properly.
    pub(super) async fn close(mut self) {
        // A server that does not read in time sees the connection close.
        let _ = timeout(GOODBYE_LIMIT, self.wire.shut_down()).await;
    }
}

/// Writes the headers of a request.
#[inline]
fn put_headers(out: &mut Vec<u8>, transaction: u64) {
    out.extend_from_slice(&HEADERS_BYTES.to_le_bytes());
    out.extend_from_slice(&(HEADERS_BYTES - 4).to_le_bytes());
    out.extend_from_slice(&TRANSACTION_HEADER.to_le_bytes());
    out.extend_from_slice(&transaction.to_le_bytes());
    // One request at a time.
    out.extend_from_slice(&1u32.to_le_bytes());
}

/// A field as text.
fn text_of(row: &Row<'_>, column: usize) -> Option<String> {
    match row.cell(column) {
        Cell::Null => None,
        Cell::Text(_) => row.text(column).ok().map(str::to_owned),
        _ => Some(row.show(column)),
    }
}
