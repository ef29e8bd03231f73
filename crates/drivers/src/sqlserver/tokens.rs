//! The tokens of an answer, and what they add up to: rows, counts, return values, errors, and
//! changes of the session's environment.

use triphammer_core::rows::Rows;
use triphammer_core::{DbError, ErrorClass};

use super::error::{ErrorContext, answer};
use super::reader::{Fault, Reader, string};
use super::types::{TypeInfo, read_value};
use crate::answer::{ANSWER_BYTES_MAX, too_large};

/// The tokens by their numbers in the protocol.
mod token {
    pub const RETURN_STATUS: u8 = 0x79;
    pub const COLUMNS: u8 = 0x81;
    pub const TABLE_NAMES: u8 = 0xa4;
    pub const COLUMN_INFO: u8 = 0xa5;
    pub const ORDER: u8 = 0xa9;
    pub const ERROR: u8 = 0xaa;
    pub const INFO: u8 = 0xab;
    pub const RETURN_VALUE: u8 = 0xac;
    pub const LOGIN_ACK: u8 = 0xad;
    pub const FEATURES: u8 = 0xae;
    pub const ROW: u8 = 0xd1;
    pub const SHORT_ROW: u8 = 0xd2;
    pub const ENVIRONMENT: u8 = 0xe3;
    pub const SESSION_STATE: u8 = 0xe4;
    pub const DONE: u8 = 0xfd;
    pub const DONE_PROCEDURE: u8 = 0xfe;
    pub const DONE_IN_PROCEDURE: u8 = 0xff;
}

/// Status of a DONE token.
mod done {
    pub const MORE: u16 = 0x1;
    pub const ERROR: u16 = 0x2;
    pub const COUNT: u16 = 0x10;
    pub const CANCELLED: u16 = 0x20;
    pub const FATAL: u16 = 0x100;
}

/// Changes of the environment that matter.
mod change {
    pub const PACKET_SIZE: u8 = 4;
    pub const BEGIN: u8 = 8;
    pub const COMMIT: u8 = 9;
    pub const ROLLBACK: u8 = 10;
    pub const ENDED: u8 = 17;
    pub const ROUTING: u8 = 20;
}

/// Number of columns that stands for no description.
const NO_COLUMNS: u16 = 0xffff;
/// Longest name of a server to connect to instead.
const SERVER_CHARS_MAX: usize = 255;
/// Maximum number of tokens other than rows in the answer to a login, and to another command: a server that sends more
/// never ends. The ends of a command's statements are not among them.
const TOKENS_MAX_OF_LOGIN: u32 = 1_000;
const TOKENS_MAX: u32 = 1_000_000;

/// What is kept of an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    /// Nothing but counts and errors.
    Nothing,
    /// The rows of the last result; JSON arrays in them are `lists` or texts.
    Rows { lists: bool },
    /// The return status and the values of output parameters, as one row.
    Outputs,
}

/// A server to connect to instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Redirect {
    pub(super) host: String,
    pub(super) port: u16,
}

/// What the answer to one command has added up to, and the state of the session that answers change.
#[derive(Default)]
pub(super) struct Answer {
    /// Types of the columns of the latest result.
    pub(super) columns: Vec<TypeInfo>,
    /// Whether that result has not ended.
    in_result: bool,
    /// The first error that the server has reported.
    pub(super) error: Option<DbError>,
    /// A value that could not be represented.
    problem: Option<DbError>,
    /// The rows that the last statement affected.
    pub(super) touched: u64,
    /// The last integer that was returned by a parameter: the number of a prepared statement.
    pub(super) handle: Option<i32>,
    /// Whether a token has ended the answer.
    pub(super) is_complete: bool,
    /// Whether the server has confirmed that it cancelled.
    pub(super) is_cancelled: bool,
    /// Descriptor of the open transaction; 0 without one.
    pub(super) transaction: u64,
    /// Whether the server has accepted the login.
    pub(super) is_logged_in: bool,
    /// Length of packets that the server has chosen.
    pub(super) packet_bytes: Option<usize>,
    pub(super) redirect: Option<Redirect>,
    /// Tokens of the answer so far that are limited in number.
    tokens: u32,
    /// Rows that are not needed.
    scratch: Rows,
    /// Whether errors are those of a login.
    pub(super) connecting: bool,
}

impl Answer {
    /// Prepares for the answer to a login.
    pub(super) fn of_login() -> Self {
        Self { connecting: true, ..Self::default() }
    }

    /// Prepares for the answer to another command.
    #[inline]
    pub(super) fn begin(&mut self) {
        self.columns.clear();
        self.in_result = false;
        self.error = None;
        self.problem = None;
        self.touched = 0;
        self.handle = None;
        self.tokens = 0;
        self.is_complete = false;
        self.is_cancelled = false;
    }

    /// Takes a value that could not be represented.
    pub(super) fn take_problem(&mut self) -> Option<DbError> {
        self.problem.take()
    }

    /// Reads the whole tokens in `data` and returns their length. `after_row` is called after each
    /// row that is kept.
    ///
    /// # Errors
    /// When they violate the protocol, and as `after_row`.
    #[inline]
    pub(super) fn read(
        &mut self,
        data: &[u8],
        keep: Keep,
        rows: &mut Rows,
        after_row: &mut impl FnMut(&mut Rows) -> Result<(), DbError>,
    ) -> Result<usize, DbError> {
        let mut rest = Reader(data);
        loop {
            let before = rest;
            let read = match before.0.first() {
                None => return Ok(data.len()),
                Some(&token @ (token::ROW | token::SHORT_ROW)) => {
                    rest.0 = &before.0[1..];
                    self.row(&mut rest, token, keep, rows, after_row)
                }
                Some(_) => self.token(&mut rest, keep, rows),
            };
            match read {
                Ok(()) => {}
                Err(Fault::Short) => return Ok(data.len() - before.0.len()),
                Err(Fault::Broken(error)) => return Err(error),
            }
        }
    }

    #[inline]
    fn row(
        &mut self,
        rest: &mut Reader<'_>,
        token: u8,
        keep: Keep,
        rows: &mut Rows,
        after_row: &mut impl FnMut(&mut Rows) -> Result<(), DbError>,
    ) -> Result<(), Fault> {
        if !self.in_result {
            return Err(Fault::broken("a row without columns"));
        }
        let Keep::Rows { lists } = keep else {
            self.scratch.reset(self.columns.len());
            let scratch = &mut self.scratch;
            return read_row(&self.columns, scratch, rest, token, false, &mut self.problem);
        };
        let read = read_row(&self.columns, rows, rest, token, lists, &mut self.problem);
        if let Err(fault) = read {
            rows.drop_partial_row();
            return Err(fault);
        }
        after_row(rows)?;
        Ok(())
    }

    fn token(&mut self, rest: &mut Reader<'_>, keep: Keep, rows: &mut Rows) -> Result<(), Fault> {
        let token = rest.byte()?;
        self.count(token)?;
        match token {
            token::COLUMNS => self.columns(rest, keep, rows),
            token::DONE | token::DONE_PROCEDURE | token::DONE_IN_PROCEDURE => {
                self.done(rest, token)
            }
            token::RETURN_STATUS => {
                let status = i32::from_le_bytes(rest.fixed()?);
                if keep == Keep::Outputs {
                    rows.reset(1);
                    rows.int(status.into());
                }
                Ok(())
            }
            token::RETURN_VALUE => self.return_value(rest, keep, rows),
            token::ERROR => self.error(rest),
            token::ENVIRONMENT => self.environment(rest),
            token::LOGIN_ACK => {
                rest.long_bytes()?;
                self.is_logged_in = true;
                Ok(())
            }
            token::INFO | token::ORDER | token::TABLE_NAMES | token::COLUMN_INFO => {
                rest.long_bytes().map(drop)
            }
            token::SESSION_STATE => {
                let length = rest.long()?;
                rest.take(length as usize).map(drop)
            }
            token::FEATURES => {
                while rest.byte()? != 0xff {
                    let length = rest.long()?;
                    rest.take(length as usize)?;
                }
                Ok(())
            }
            _ => Err(Fault::broken("a token")),
        }
    }

    /// Counts a token, and rejects an answer with too many.
    fn count(&mut self, token: u8) -> Result<(), Fault> {
        // A loop on the server sends one for each of its statements, however long it runs. They
        // need no memory, and a command has limits of time.
        let ends_statement = matches!(token, token::DONE | token::DONE_IN_PROCEDURE);
        if ends_statement && !self.connecting {
            return Ok(());
        }
        self.tokens += 1;
        let most = if self.connecting { TOKENS_MAX_OF_LOGIN } else { TOKENS_MAX };
        if self.tokens > most {
            return Err(Fault::broken("an answer with too many tokens"));
        }
        Ok(())
    }

    /// Reads the description of a result's columns, and begins a result.
    fn columns(&mut self, rest: &mut Reader<'_>, keep: Keep, rows: &mut Rows) -> Result<(), Fault> {
        let count = rest.short()?;
        if count == NO_COLUMNS || count == 0 {
            return Ok(());
        }
        let keeps = matches!(keep, Keep::Rows { .. });
        self.columns.clear();
        self.in_result = false;
        let mut names = *rest;
        for _ in 0..count {
            let (info, _) = column(rest)?;
            self.columns.push(info);
        }
        self.in_result = true;
        if keeps {
            rows.set_names([]);
            for _ in 0..if rows.wants_names() { count } else { 0 } {
                let (_, name) = column(&mut names)?;
                rows.add_name(&string(name));
            }
            rows.reset(count.into());
        }
        Ok(())
    }

    fn done(&mut self, rest: &mut Reader<'_>, token: u8) -> Result<(), Fault> {
        let status = rest.short()?;
        rest.short()?;
        let count = u64::from_le_bytes(rest.fixed()?);
        if status & done::COUNT != 0 {
            self.touched = count;
        }
        if status & done::FATAL != 0 || (token == token::DONE && status & done::ERROR != 0) {
            let message = "the server reports an error, but does not describe it";
            self.error.get_or_insert_with(|| DbError::new(ErrorClass::Other, message));
        }
        self.is_cancelled |= status & done::CANCELLED != 0;
        self.is_complete = status & done::MORE == 0 && token != token::DONE_IN_PROCEDURE;
        self.in_result = false;
        Ok(())
    }

    fn return_value(
        &mut self,
        rest: &mut Reader<'_>,
        keep: Keep,
        rows: &mut Rows,
    ) -> Result<(), Fault> {
        // Ordinal, name, status, and the type's number and flags.
        rest.short()?;
        rest.text()?;
        rest.byte()?;
        rest.take(6)?;
        let info = TypeInfo::read(rest)?;
        let mut ahead = *rest;
        self.scratch.reset(1);
        read_value(&mut self.scratch, &mut ahead, info, false, &mut self.problem)?;
        let value = self.scratch.row(0).int(0).ok().and_then(|value| i32::try_from(value).ok());
        self.handle = value.or(self.handle);
        if keep == Keep::Outputs {
            rows.widen();
            read_value(rows, rest, info, true, &mut self.problem)?;
            if rows.bytes() > ANSWER_BYTES_MAX {
                return Err(Fault::Broken(too_large()));
            }
        }
        *rest = ahead;
        Ok(())
    }

    fn error(&mut self, rest: &mut Reader<'_>) -> Result<(), Fault> {
        let mut body = Reader(rest.long_bytes()?);
        let mut parts = || -> Result<_, Fault> {
            let number = i32::from_le_bytes(body.fixed()?);
            let [_state, severity] = body.fixed()?;
            Ok((number, severity, string(body.long_text()?)))
        };
        let Ok((number, severity, message)) = parts() else {
            return Err(Fault::broken("an error"));
        };
        let moment = if self.connecting { ErrorContext::Connecting } else { ErrorContext::InUse };
        self.error.get_or_insert_with(|| answer(number, severity, &message, moment));
        Ok(())
    }

    fn environment(&mut self, rest: &mut Reader<'_>) -> Result<(), Fault> {
        let body = rest.long_bytes()?;
        self.change(Reader(body)).map_err(|fault| match fault {
            Fault::Short => Fault::broken("a change of the environment"),
            broken @ Fault::Broken(_) => broken,
        })
    }

    fn change(&mut self, mut body: Reader<'_>) -> Result<(), Fault> {
        match body.byte()? {
            change::PACKET_SIZE => {
                let bytes = string(body.text()?).parse();
                let bytes = bytes.map_err(|_| Fault::broken("a packet size"))?;
                self.packet_bytes = Some(bytes);
            }
            change::BEGIN => {
                let descriptor = body.bytes()?.first_chunk().copied();
                let descriptor = descriptor.ok_or_else(|| Fault::broken("a transaction"))?;
                self.transaction = u64::from_le_bytes(descriptor);
            }
            change::COMMIT | change::ROLLBACK | change::ENDED => self.transaction = 0,
            change::ROUTING => {
                body.short()?;
                let protocol = body.byte()?;
                let port = body.short()?;
                let host = string(body.long_text()?);
                let is_name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ':');
                // An instance may follow; its port is given.
                let host = host.split('\\').next().unwrap_or_default();
                let is_host = !host.is_empty()
                    && host.chars().count() <= SERVER_CHARS_MAX
                    && host.chars().all(is_name);
                if protocol != 0 || port == 0 || !is_host {
                    return Err(Fault::broken("a redirection to another server"));
                }
                self.redirect = Some(Redirect { host: host.to_owned(), port });
            }
            _ => {}
        }
        Ok(())
    }
}

/// Reads the description of a column: its type and its name.
fn column<'a>(rest: &mut Reader<'a>) -> Result<(TypeInfo, &'a [u8]), Fault> {
    // The number and the flags of its type.
    rest.take(6)?;
    let info = TypeInfo::read(rest)?;
    if info.has_table_name() {
        for _ in 0..rest.byte()? {
            rest.long_text()?;
        }
    }
    Ok((info, rest.text()?))
}

/// Reads a row; in a short one, a bitmap says which fields are NULL.
#[inline]
fn read_row(
    columns: &[TypeInfo],
    rows: &mut Rows,
    rest: &mut Reader<'_>,
    token: u8,
    lists: bool,
    problem: &mut Option<DbError>,
) -> Result<(), Fault> {
    if token == token::ROW {
        for info in columns {
            read_value(rows, rest, *info, lists, problem)?;
        }
        return Ok(());
    }
    let nulls = rest.take(columns.len().div_ceil(8))?;
    for (place, info) in columns.iter().enumerate() {
        if nulls[place / 8] & (1 << (place % 8)) != 0 {
            rows.null();
        } else {
            read_value(rows, rest, *info, lists, problem)?;
        }
    }
    Ok(())
}

impl<'a> Reader<'a> {
    /// Takes bytes preceded by their number in two bytes.
    pub(super) fn long_bytes(&mut self) -> Result<&'a [u8], Fault> {
        let count = self.short()?;
        self.take(count.into())
    }
}
