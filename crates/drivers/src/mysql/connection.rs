//! An authenticated connection, and the commands of the protocol: the base of sessions, loads and
//! cancels.

use std::time::Duration;

use tokio::time::timeout;
use triphammer_core::login::LoginTimes;
use triphammer_core::rows::{Row, Rows};
use triphammer_core::session::ColumnSource;
use triphammer_core::{ColumnType, DbError, Value};

use super::codec::{ColumnKind, Reader, put_value, read_row, read_texts, type_of};
use super::error::broken;
use super::wire::Wire;
use crate::answer::Room;

/// Command codes of the protocol.
mod command {
    pub const QUIT: u8 = 0x01;
    pub const QUERY: u8 = 0x03;
    pub const PING: u8 = 0x0e;
    pub const PREPARE: u8 = 0x16;
    pub const EXECUTE: u8 = 0x17;
    pub const CLOSE: u8 = 0x19;
}

/// Status flag that the server sends at the end of each result.
const IN_TRANSACTION: u16 = 0x0001;
const MORE_RESULTS: u16 = 0x0008;
/// Maximum number of columns of a result; servers allow 4096.
const COLUMNS_MAX: u64 = 65_535;
/// How long a proper close may take.
const GOODBYE_LIMIT: Duration = Duration::from_secs(5);

/// Where the columns of a statement's result come from.
pub(super) type Sources = Box<[Option<ColumnSource>]>;

/// Facts about a session's connection.
pub(super) struct Route {
    /// Index of the server among those of the target.
    pub(super) place: usize,
    pub(super) thread: u32,
    pub(super) transport: &'static str,
    pub(super) same_host: bool,
    /// How long the phases of the login took.
    pub(super) login: LoginTimes,
}

/// One connection to a MySQL or MariaDB server.
pub(super) struct Connection {
    pub(super) wire: Wire,
    /// How the columns of the current result are read; kept to reuse its memory.
    kinds: Vec<ColumnKind>,
    /// Whether a transaction is, or may be, open.
    pub(super) open: bool,
    /// Rows that the last statement changed.
    pub(super) changed: u64,
    /// Rows that it found.
    pub(super) found: u64,
    /// Number that the last statement made for an AUTO_INCREMENT column; 0 if it made none.
    pub(super) made: u64,
    /// Rows of our own queries; kept to reuse its memory.
    answer: Rows,
    pub(super) route: Route,
}

/// The end of each result.
#[derive(Clone, Copy)]
pub(super) struct ResultEnd {
    /// Rows that were found, whether or not their values changed.
    pub(super) touched: u64,
    /// Rows whose values changed.
    changed: u64,
    /// Number that was made for an AUTO_INCREMENT column, of the first row; 0 if none was.
    made: u64,
    pub(super) warnings: u16,
    status: u16,
}

/// How the fields of a result are encoded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Binary { lists: bool },
    Text,
}

impl Connection {
    pub(super) fn new(wire: Wire, route: Route) -> Self {
        Self {
            wire,
            kinds: Vec::new(),
            open: false,
            changed: 0,
            found: 0,
            made: 0,
            answer: Rows::new(),
            route,
        }
    }

    /// Runs SQL text and discards its rows.
    pub(super) async fn batch(&mut self, sql: &str) -> Result<ResultEnd, DbError> {
        self.wire.command(command::QUERY)?.extend_from_slice(sql.as_bytes());
        self.wire.send().await?;
        let mut rows = std::mem::take(&mut self.answer);
        let result = self.results(&mut rows, Form::Text, pass_over).await;
        self.answer = rows;
        result
    }

    /// Runs SQL text; its rows have texts for fields.
    pub(super) async fn query(
        &mut self,
        sql: &str,
        rows: &mut Rows,
        after_row: impl FnMut(&mut Rows) -> Result<(), DbError>,
    ) -> Result<ResultEnd, DbError> {
        self.wire.command(command::QUERY)?.extend_from_slice(sql.as_bytes());
        self.wire.send().await?;
        self.results(rows, Form::Text, after_row).await
    }

    /// Runs SQL text and returns its rows as text, for the few queries that are made once.
    pub(super) async fn ask(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, DbError> {
        self.wire.command(command::QUERY)?.extend_from_slice(sql.as_bytes());
        self.wire.send().await?;
        let mut rows = Rows::new();
        let mut room = Room::of_question();
        let mut seen = 0;
        self.results(&mut rows, Form::Text, |rows| {
            let before = std::mem::replace(&mut seen, rows.bytes());
            room.take(seen.saturating_sub(before))
        })
        .await?;
        let field = |row: &Row<'_>, column| {
            let text = row.optional(column, Row::text).ok().flatten();
            text.map(str::to_owned)
        };
        Ok(rows.iter().map(|row| (0..row.len()).map(|at| field(&row, at)).collect()).collect())
    }

    /// Runs a prepared statement; `after_row` is called after each row.
    pub(super) async fn execute<'a>(
        &mut self,
        id: u32,
        values: impl Iterator<Item = (&'a Value<'a>, ColumnType)> + Clone,
        rows: &mut Rows,
        lists: bool,
        after_row: impl FnMut(&mut Rows) -> Result<(), DbError>,
    ) -> Result<ResultEnd, DbError> {
        let out = self.wire.command(command::EXECUTE)?;
        if let Err(error) = put_execute(out, id, values) {
            self.wire.take_back();
            return Err(error);
        }
        self.wire.send().await?;
        self.results(rows, Form::Binary { lists }, after_row).await
    }

    /// Runs a prepared statement and discards its rows.
    pub(super) async fn execute_quietly<'a>(
        &mut self,
        id: u32,
        values: impl Iterator<Item = (&'a Value<'a>, ColumnType)> + Clone,
    ) -> Result<ResultEnd, DbError> {
        let mut rows = std::mem::take(&mut self.answer);
        let result = self.execute(id, values, &mut rows, false, pass_over).await;
        self.answer = rows;
        result
    }

    /// Reads all results of a command to the end. The rows of the last result that has columns are
    /// kept.
    async fn results(
        &mut self,
        rows: &mut Rows,
        form: Form,
        mut after_row: impl FnMut(&mut Rows) -> Result<(), DbError>,
    ) -> Result<ResultEnd, DbError> {
        rows.reset(0);
        let mut problem = None;
        loop {
            let packet = self.wire.answer().await?;
            let ended = match *packet {
                [0x00, ref rest @ ..] => read_end(rest)?,
                // The server requests a local file: sends an empty one.
                [0xfb, ..] => {
                    self.wire.reply();
                    self.wire.send().await?;
                    continue;
                }
                _ => {
                    let columns = Reader(packet).number()?;
                    self.rows_of(columns, rows, form, &mut after_row, &mut problem).await?
                }
            };
            if ended.status & MORE_RESULTS == 0 {
                self.wire.done();
                self.open = ended.status & IN_TRANSACTION != 0;
                self.changed = ended.changed;
                self.found = ended.touched;
                self.made = ended.made;
                return problem.map_or(Ok(ended), |error: DbError| Err(error.unread()));
            }
        }
    }

    /// Reads the columns and rows of one result, to the end even when a row cannot be read: the
    /// `problem` is reported, and the session stays in step with the server.
    async fn rows_of(
        &mut self,
        columns: u64,
        rows: &mut Rows,
        form: Form,
        after_row: &mut impl FnMut(&mut Rows) -> Result<(), DbError>,
        problem: &mut Option<DbError>,
    ) -> Result<ResultEnd, DbError> {
        if columns > COLUMNS_MAX {
            return Err(broken("a number of columns"));
        }
        self.kinds.clear();
        rows.set_names([]);
        for _ in 0..columns {
            let packet = self.wire.answer().await?;
            self.kinds.push(ColumnKind::read(packet)?);
            if rows.wants_names() {
                rows.add_name(ColumnKind::name_in(packet)?);
            }
        }
        rows.reset(self.kinds.len());
        loop {
            let packet = self.wire.answer().await?;
            let read = match (packet, form) {
                ([0xfe, rest @ ..], _) => return read_end(rest),
                _ if problem.is_some() => continue,
                (row, Form::Binary { lists }) => read_row(rows, row, &self.kinds, lists),
                (row, Form::Text) => read_texts(rows, row, &self.kinds),
            };
            match read {
                Ok(()) => after_row(rows).inspect_err(|_| self.wire.give_up())?,
                Err(error) if error.class().loses_session() => return Err(error),
                // The buffer does not hold a complete row.
                Err(error) => {
                    *problem = Some(error);
                    rows.reset(self.kinds.len());
                }
            }
        }
    }

    /// Begins a `LOAD DATA LOCAL`; fails if the server rejects it.
    pub(super) async fn begin_load(&mut self, sql: &str) -> Result<(), DbError> {
        self.wire.command(command::QUERY)?.extend_from_slice(sql.as_bytes());
        self.wire.send().await?;
        let packet = self.wire.answer().await?;
        match packet {
            [0xfb, ..] => Ok(()),
            _ => Err(broken("a missing request for rows")),
        }
    }

    /// Reads the result of a `LOAD DATA LOCAL`.
    pub(super) async fn end_load(&mut self) -> Result<ResultEnd, DbError> {
        self.results(&mut Rows::new(), Form::Text, pass_over).await
    }

    /// Prepares a statement on the server: returns its id, the number of its placeholders, and the sources of its columns.
    pub(super) async fn prepare(&mut self, sql: &str) -> Result<(u32, usize, Sources), DbError> {
        self.wire.command(command::PREPARE)?.extend_from_slice(sql.as_bytes());
        self.wire.send().await?;
        let packet = self.wire.answer().await?;
        let mut rest = match *packet {
            [0x00, ref rest @ ..] => Reader(rest),
            _ => return Err(broken("a prepared statement")),
        };
        let id = u32::from_le_bytes(rest.fixed()?);
        let columns = u16::from_le_bytes(rest.fixed()?);
        let params = u16::from_le_bytes(rest.fixed()?);
        for _ in 0..params {
            self.wire.answer().await?;
        }
        let mut sources = Vec::with_capacity(columns.into());
        for _ in 0..columns {
            sources.push(ColumnKind::source_in(self.wire.answer().await?)?);
        }
        self.wire.done();
        Ok((id, usize::from(params), sources.into()))
    }

    /// Runs a text with placeholders once, for bulk inserts.
    pub(super) async fn insert<'a>(
        &mut self,
        id: u32,
        values: impl Iterator<Item = (&'a Value<'a>, ColumnType)> + Clone,
    ) -> Result<ResultEnd, DbError> {
        self.execute(id, values, &mut Rows::new(), false, pass_over).await
    }

    /// Prepares a bulk insert.
    pub(super) async fn prepare_insert(&mut self, sql: &str) -> Result<u32, DbError> {
        Ok(self.prepare(sql).await?.0)
    }

    /// Deallocates a bulk insert; the server does not answer.
    pub(super) async fn forget(&mut self, id: u32) -> Result<(), DbError> {
        self.wire.command(command::CLOSE)?.extend_from_slice(&id.to_le_bytes());
        self.wire.send().await?;
        self.wire.done();
        Ok(())
    }

    /// Asks the server whether a transaction is open.
    pub(super) async fn is_in_transaction(&mut self) -> Result<bool, DbError> {
        // A statement that opens none; its result sets `open`.
        self.batch("DO 0").await?;
        Ok(self.open)
    }

    /// Makes the cheapest possible round trip.
    pub(super) async fn ping(&mut self) -> Result<(), DbError> {
        self.wire.command(command::PING)?;
        self.wire.send().await?;
        let open = self.open;
        self.results(&mut Rows::new(), Form::Text, pass_over).await?;
        self.open = open;
        Ok(())
    }

    /// Closes the connection properly.
    pub(super) async fn close(mut self) {
        let farewell = async {
            if self.wire.command(command::QUIT).is_ok() && self.wire.send().await.is_ok() {
                self.wire.shut_down().await;
            }
        };
        // A server that does not read the quit command in time sees the connection close.
        let _ = timeout(GOODBYE_LIMIT, farewell).await;
    }
}

/// Callback that discards each row.
#[expect(
    clippy::unnecessary_wraps,
    reason = "same signature as callbacks that may abandon an answer"
)]
fn pass_over(rows: &mut Rows) -> Result<(), DbError> {
    rows.reset(rows.width());
    Ok(())
}

/// Writes the body of an `EXECUTE`.
fn put_execute<'a>(
    out: &mut Vec<u8>,
    id: u32,
    values: impl Iterator<Item = (&'a Value<'a>, ColumnType)> + Clone,
) -> Result<(), DbError> {
    out.extend_from_slice(&id.to_le_bytes());
    // No cursor, one iteration.
    out.extend_from_slice(&[0, 1, 0, 0, 0]);
    let nulls_at = out.len();
    for (place, (value, _)) in values.clone().enumerate() {
        if place % 8 == 0 {
            out.push(0);
        }
        if *value == Value::Null {
            out[nulls_at + place / 8] |= 1 << (place % 8);
        }
    }
    if out.len() == nulls_at {
        return Ok(());
    }
    // Parameter types follow.
    out.push(1);
    for (value, _) in values.clone() {
        out.extend_from_slice(&[type_of(value), 0]);
    }
    for (value, column) in values {
        put_value(out, value, column)?;
    }
    Ok(())
}

fn read_end(packet: &[u8]) -> Result<ResultEnd, DbError> {
    let mut rest = Reader(packet);
    let touched = rest.number()?;
    let made = rest.number()?;
    let status = u16::from_le_bytes(rest.fixed()?);
    let warnings = u16::from_le_bytes(rest.fixed()?);
    let changed = changed_in(rest.0).unwrap_or(touched);
    Ok(ResultEnd { touched, changed, made, warnings, status })
}

/// The number of changed rows in the message about an UPDATE, if it is in English: what the server counts are the rows
/// that were found.
#[inline]
fn changed_in(message: &[u8]) -> Option<u64> {
    const FOUND: &[u8] = b"Rows matched: ";
    const CHANGED: &[u8] = b"Changed: ";
    // A length may precede it.
    let start = message.iter().take(4).position(|byte| *byte == FOUND[0])?;
    let message = message[start..].strip_prefix(FOUND)?;
    let place = message.windows(CHANGED.len()).position(|window| window == CHANGED)?;
    let digits = message[place + CHANGED.len()..].iter().take_while(|byte| byte.is_ascii_digit());
    let digits: Vec<u8> = digits.copied().collect();
    str::from_utf8(&digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_an_update_says_how_many_rows_it_found_and_changed() {
        let end = |message: &str| {
            let packet = [&[5, 0, 2, 0, 0, 0][..], message.as_bytes()].concat();
            let ended = read_end(&packet).unwrap();
            (ended.touched, ended.changed)
        };
        assert_eq!(end(""), (5, 5));
        assert_eq!(end("Rows matched: 5  Changed: 2  Warnings: 0"), (5, 2));
        assert_eq!(end("\u{28}Rows matched: 5  Changed: 0  Warnings: 0"), (5, 0));
        assert_eq!(end("Records: 5  Duplicates: 0  Warnings: 0"), (5, 5));
        assert_eq!(end("Gefunden: 5  Changed: 0"), (5, 5));
    }
}
