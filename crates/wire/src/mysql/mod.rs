//! MySQL's client/server protocol as it passes, which MariaDB has too: the packets of both sides become events of a
//! session.
//!
//! ```text
//! startup     the greeting, TLS and the log-in
//! capability  what both sides may agree on
//! answer      the results that arrive
//! literals    binary values in texts
//! values      values in binary format as text
//! ```
//!
//! A client's command is the packet with number 0; the others belong to a command before it. As a rule, a client waits for
//! the answer to a command before it sends another; those that do not are answered in order.

mod answer;
mod capability;
mod literals;
pub mod startup;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};

use triphammer_capture::answer::{ServerAnswer, makes_values};
use triphammer_capture::sql::{Syntax, split};
use triphammer_capture::{Argument, Event, Reason, What, used_database};
use triphammer_drivers::mysql::messages::{ColumnKind, Reader as Fields, binary, wire_type};

use self::answer::{PendingAnswer, ResultEnd, Status, Step};
use crate::frames::{Frame, Frames, Head, Nonsense};

/// Commands ("Command Phase").
mod command {
    pub const QUIT: u8 = 0x01;
    pub const INIT_DB: u8 = 0x02;
    pub const QUERY: u8 = 0x03;
    pub const FIELD_LIST: u8 = 0x04;
    pub const STATISTICS: u8 = 0x09;
    pub const PROCESS_INFO: u8 = 0x0a;
    pub const CHANGE_USER: u8 = 0x11;
    pub const BINLOG_DUMP: u8 = 0x12;
    pub const REGISTER_REPLICA: u8 = 0x15;
    pub const PREPARE: u8 = 0x16;
    pub const EXECUTE: u8 = 0x17;
    pub const SEND_LONG_DATA: u8 = 0x18;
    pub const CLOSE: u8 = 0x19;
    pub const RESET_STATEMENT: u8 = 0x1a;
    pub const SET_OPTION: u8 = 0x1b;
    pub const FETCH: u8 = 0x1c;
    pub const RESET: u8 = 0x1f;
}

/// Length of a packet that another one continues.
const CONTINUED: [u8; 3] = [0xff; 3];
/// MariaDB's number for the statement that was prepared last.
const LAST_PREPARED: u32 = u32::MAX;
/// Most commands that wait for their answers, and most prepared statements of a session.
const COMMANDS_MAX: usize = 100_000;
const STATEMENTS_MAX: usize = 100_000;

/// Packets that begin with their length and their number.
pub struct Numbered;

impl Head for Numbered {
    const BYTES: usize = 4;

    fn length(head: &[u8]) -> Option<usize> {
        let [low, middle, high, _] = *head.first_chunk::<4>()?;
        Some(u32::from_le_bytes([low, middle, high, 0]) as usize + 4)
    }
}

/// A command that waits for its answer.
#[derive(Debug)]
enum Command {
    /// A text.
    Query { sql: Option<String>, binds: Vec<Argument>, at_us: i64 },
    /// Prepares a text.
    Prepare { sql: Option<String>, at_us: i64 },
    /// Runs a prepared statement.
    Execute { id: u32, binds: Option<Vec<Argument>>, at_us: i64 },
    /// Changes the database.
    InitDb(String),
    /// Begins another session on the connection.
    ChangeUser(Option<String>),
    /// Forgets the state of the session.
    Reset,
    /// Reads rows of a cursor.
    Fetch,
    /// Definitions of columns, up to their end.
    FieldList,
    /// One packet.
    Other,
}

impl Command {
    fn bytes(&self) -> usize {
        let text = match self {
            Self::Query { sql, .. } | Self::Prepare { sql, .. } => sql.as_ref(),
            _ => None,
        };
        size_of::<Self>() + text.map_or(0, String::len)
    }
}

/// A prepared statement.
#[derive(Debug, Default)]
struct PreparedStatement {
    sql: Option<String>,
    makes: bool,
    parameters: usize,
    /// Types of its parameters, as the client said them last.
    kinds: Vec<ColumnKind>,
    /// Parameters that were sent in advance.
    long: HashMap<u16, Vec<u8>>,
}

/// Reads the packets of a session.
pub struct Reader {
    name: String,
    client: Frames,
    server: Frames,
    session: Session,
    is_lost: bool,
}

/// What is known of a session.
#[derive(Default)]
struct Session {
    database: Option<String>,
    commands: VecDeque<Command>,
    statements: HashMap<u32, PreparedStatement>,
    last_prepared: u32,
    pending: PendingAnswer,
    /// Whether the first command's answer has begun.
    is_answering: bool,
    /// Packets of the answer to Prepare that are still to come.
    definitions: usize,
    /// Whether the packet before is continued.
    is_continued: [bool; 2],
    /// Whether the client sends a file, up to an empty packet.
    is_sending_file: bool,
    /// Whether the log-in has succeeded.
    has_begun: bool,
    ready: Vec<(i64, What)>,
    bytes: usize,
}

impl Reader {
    /// Begins with a client's response to the greeting; the session has this name in events.
    pub fn new(name: String, response: &[u8]) -> Self {
        let (session, is_lost) = match read_response(response) {
            Some((capabilities, database)) => {
                let has = |capability| capabilities & capability != 0;
                let pending =
                    PendingAnswer::new(has(capability::FOUND_ROWS), has(capability::DEPRECATE_EOF));
                (Session { database, pending, ..Session::default() }, false)
            }
            None => (Session::default(), true),
        };
        Self { name, client: Frames::default(), server: Frames::default(), session, is_lost }
    }

    /// Bytes in memory.
    pub fn held(&self) -> usize {
        self.client.held() + self.server.held() + self.session.bytes
    }

    /// Takes what the client sent.
    pub fn client_sent(&mut self, bytes: &[u8], at_us: i64, events: &mut Vec<Event>) {
        if !self.is_lost {
            let session = &mut self.session;
            let fed = self.client.feed::<Numbered>(bytes, |frame| session.asked(&frame, at_us));
            self.lose(fed.is_err(), at_us, events);
        }
    }

    /// Takes what the server sent.
    pub fn server_sent(&mut self, bytes: &[u8], at_us: i64, events: &mut Vec<Event>) {
        if !self.is_lost {
            let database = self.session.database.clone();
            let session = &mut self.session;
            let fed = self.server.feed::<Numbered>(bytes, |frame| session.answered(&frame, at_us));
            for (at_us, what) in std::mem::take(&mut self.session.ready) {
                let (session, database) = (self.name.clone(), database.clone());
                events.push(Event { session, at_us, database, what });
            }
            self.lose(fed.is_err(), at_us, events);
        }
    }

    /// The connection has ended.
    pub fn closed(&self, at_us: i64, events: &mut Vec<Event>) {
        events.push(self.event(at_us, What::Disconnected));
    }

    fn event(&self, at_us: i64, what: What) -> Event {
        let (session, database) = (self.name.clone(), self.session.database.clone());
        Event { session, at_us, database, what }
    }

    /// What cannot be read is counted once; the session's transaction has no known end.
    fn lose(&mut self, is_nonsense: bool, at_us: i64, events: &mut Vec<Event>) {
        if is_nonsense {
            self.is_lost = true;
            self.session = Session::default();
            (self.client, self.server) = (Frames::default(), Frames::default());
            events.push(self.event(at_us, What::Skipped(Reason::Messages)));
            events.push(self.event(at_us, What::Lost));
        }
    }
}

/// The capabilities and the database of a client's response; `None` if it is malformed.
fn read_response(response: &[u8]) -> Option<(u32, Option<String>)> {
    let capabilities = u32::from_le_bytes(*response.first_chunk()?);
    let mut rest = Fields(response.get(32..)?);
    text(&mut rest)?;
    if capabilities & capability::LENGTH_ENCODED != 0 {
        rest.bytes().ok()?;
    } else if capabilities & capability::SECURE_CONNECTION != 0 {
        let length = rest.byte().ok()?;
        rest.take(usize::from(length)).ok()?;
    } else {
        text(&mut rest)?;
    }
    let has_database = capabilities & capability::CONNECT_WITH_DB != 0;
    let database = if has_database { text(&mut rest) } else { None };
    Some((capabilities, database.filter(|name| !name.is_empty())))
}

/// Takes a text up to a zero byte, or to the end.
fn text(rest: &mut Fields<'_>) -> Option<String> {
    let end = rest.0.iter().position(|byte| *byte == 0).unwrap_or(rest.0.len());
    let text = String::from_utf8_lossy(rest.take(end).ok()?).into_owned();
    let _ = rest.byte();
    Some(text)
}

fn sql(body: &[u8]) -> Option<String> {
    str::from_utf8(body).ok().map(str::to_owned)
}

/// A text whose literals of bytes are arguments. Of several statements in one text, it is not known which one an argument
/// belongs to.
fn query(body: &[u8], at_us: i64) -> Command {
    let read = literals::with_arguments(body)
        .filter(|(sql, binds)| binds.is_empty() || split(sql, Syntax::MySql).len() == 1);
    let (sql, binds) = read.unzip();
    Command::Query { sql, binds: binds.unwrap_or_default(), at_us }
}

impl Session {
    /// Whether a packet continues the one before it, of the client (0) or the server (1).
    fn continues(&mut self, side: usize, head: &[u8]) -> bool {
        std::mem::replace(&mut self.is_continued[side], head[..3] == CONTINUED)
    }

    /// Takes a packet of the client.
    fn asked(&mut self, frame: &Frame<'_>, at_us: i64) -> Result<(), Nonsense> {
        let continues = self.continues(0, frame.head);
        if self.is_sending_file {
            self.is_sending_file = continues || frame.head[..3] != [0; 3];
            return Ok(());
        }
        // Of a log-in, or the rest of a long command.
        if frame.head[3] != 0 || continues || !self.has_begun {
            return Ok(());
        }
        let body = frame.body.filter(|_| frame.head[..3] != CONTINUED).ok_or(Nonsense)?;
        let (code, rest) = body.split_first().ok_or(Nonsense)?;
        let command = match *code {
            command::QUIT => return Ok(()),
            command::QUERY => query(rest, at_us),
            command::PREPARE => Command::Prepare { sql: sql(rest), at_us },
            command::EXECUTE => self.execute(rest, at_us).ok_or(Nonsense)?,
            command::INIT_DB => Command::InitDb(String::from_utf8_lossy(rest).into_owned()),
            command::SEND_LONG_DATA => return self.long_data(rest).ok_or(Nonsense),
            command::CLOSE => {
                let id = rest.first_chunk().copied().map(u32::from_le_bytes).ok_or(Nonsense)?;
                let closed = self.statements.remove(&id);
                self.bytes = self.bytes.saturating_sub(closed.map_or(0, |closed| closed.bytes()));
                return Ok(());
            }
            command::RESET_STATEMENT => {
                let id = rest.first_chunk().copied().map(u32::from_le_bytes).ok_or(Nonsense)?;
                self.forget_long(id);
                Command::Other
            }
            command::CHANGE_USER => Command::ChangeUser(change_user(rest)),
            command::RESET => Command::Reset,
            command::FETCH => Command::Fetch,
            command::FIELD_LIST => Command::FieldList,
            command::PROCESS_INFO => query(b"", at_us),
            command::BINLOG_DUMP | command::REGISTER_REPLICA | 0x1e => return Err(Nonsense),
            command::STATISTICS | command::SET_OPTION => Command::Other,
            _ => Command::Other,
        };
        if self.commands.len() >= COMMANDS_MAX {
            return Err(Nonsense);
        }
        self.bytes += command.bytes();
        self.commands.push_back(command);
        Ok(())
    }

    /// Reads an Execute; `None` if it is malformed.
    fn execute(&mut self, body: &[u8], at_us: i64) -> Option<Command> {
        let mut rest = Fields(body);
        let id = u32::from_le_bytes(rest.fixed().ok()?);
        let prepares = |command: &Command| matches!(command, Command::Prepare { .. });
        let is_ahead = id == LAST_PREPARED && self.commands.iter().any(prepares);
        let of = if id == LAST_PREPARED { self.last_prepared } else { id };
        let Some(statement) = self.statements.get_mut(&of).filter(|_| !is_ahead) else {
            // Sent ahead of the answer to its Prepare: its parameters are not known.
            return Some(Command::Execute { id, binds: None, at_us });
        };
        // Flags and the number of iterations.
        rest.take(5).ok()?;
        let binds = statement.arguments(&mut rest);
        self.forget_long(of);
        Some(Command::Execute { id: of, binds, at_us })
    }

    /// Keeps a part of a parameter that is sent in advance.
    fn long_data(&mut self, body: &[u8]) -> Option<()> {
        let mut rest = Fields(body);
        let id = u32::from_le_bytes(rest.fixed().ok()?);
        let parameter = u16::from_le_bytes(rest.fixed().ok()?);
        let statement = self.statements.get_mut(&id)?;
        statement.long.entry(parameter).or_default().extend_from_slice(rest.0);
        self.bytes += rest.0.len();
        Some(())
    }

    fn forget_long(&mut self, id: u32) {
        if let Some(statement) = self.statements.get_mut(&id) {
            let bytes: usize = statement.long.values().map(Vec::len).sum();
            statement.long.clear();
            self.bytes = self.bytes.saturating_sub(bytes);
        }
    }

    /// Takes a packet of the server.
    fn answered(&mut self, frame: &Frame<'_>, at_us: i64) -> Result<(), Nonsense> {
        let is_row_continued = self.continues(1, frame.head);
        if is_row_continued {
            return Ok(());
        }
        let body = frame.body.filter(|_| frame.head[..3] != CONTINUED);
        if !self.has_begun {
            return self.begun(body.ok_or(Nonsense)?, at_us);
        }
        if self.definitions > 0 {
            self.definitions -= 1;
            if self.definitions == 0 {
                self.take();
            }
            return Ok(());
        }
        let first = body.and_then(<[u8]>::first).copied();
        match self.commands.front() {
            Some(Command::Query { sql, at_us: started_us, .. }) => {
                let (started_us, makes) = (*started_us, sql.as_deref().is_some_and(makes_values));
                self.result(body, started_us, false, makes, at_us)
            }
            Some(Command::Execute { id, at_us: started_us, .. }) => {
                let id = if *id == LAST_PREPARED { self.last_prepared } else { *id };
                let makes = self.statements.get(&id).is_some_and(|statement| statement.makes);
                let started_us = *started_us;
                self.result(body, started_us, true, makes, at_us)
            }
            Some(Command::Prepare { .. }) => self.prepared(body.ok_or(Nonsense)?, at_us),
            Some(Command::InitDb(_) | Command::Reset | Command::Other) => {
                self.done(first == Some(0xff), at_us);
                Ok(())
            }
            Some(Command::ChangeUser(_)) => {
                // Until the verdict, packets belong to the log-in.
                if matches!(first, Some(0x00 | 0xff)) {
                    self.done(first == Some(0xff), at_us);
                }
                Ok(())
            }
            Some(Command::Fetch | Command::FieldList) => {
                let is_end = first == Some(0xfe) && body.is_some_and(|body| body.len() < 64);
                if is_end || first == Some(0xff) {
                    self.done(false, at_us);
                }
                Ok(())
            }
            // The server ends a session that is idle with an error.
            None if first == Some(0xff) => Ok(()),
            None => Err(Nonsense),
        }
    }

    /// The log-in has succeeded.
    fn begun(&mut self, body: &[u8], at_us: i64) -> Result<(), Nonsense> {
        let end = ResultEnd::read(body, true).ok_or(Nonsense)?;
        self.has_begun = true;
        self.autocommit(end.status, at_us);
        Ok(())
    }

    /// At the beginning of a session, a server may have autocommit switched off.
    fn autocommit(&mut self, status: Status, at_us: i64) {
        if !status.has_autocommit() {
            let sql = "SET autocommit = 0".to_owned();
            let answers = vec![ServerAnswer::default()];
            self.ready.push((at_us, What::Answered { sql, binds: Vec::new(), answers }));
        }
    }

    fn take(&mut self) -> Option<Command> {
        self.is_answering = false;
        let command = self.commands.pop_front()?;
        self.bytes = self.bytes.saturating_sub(command.bytes());
        Some(command)
    }

    /// Takes a packet of the answer to a statement.
    fn result(
        &mut self,
        body: Option<&[u8]>,
        started_us: i64,
        is_binary: bool,
        makes: bool,
        at_us: i64,
    ) -> Result<(), Nonsense> {
        if !std::mem::replace(&mut self.is_answering, true) {
            self.pending.begin(started_us, is_binary, makes);
        }
        match self.pending.packet(body, at_us).ok_or(Nonsense)? {
            Step::More => {}
            Step::File => self.is_sending_file = true,
            Step::Done(_) => {
                let answers = std::mem::take(&mut self.pending.answers);
                match self.take() {
                    Some(Command::Query { sql, binds, .. }) => {
                        self.queried(sql, binds, answers, started_us);
                    }
                    Some(Command::Execute { id, binds, .. }) => {
                        self.executed(id, binds, answers, started_us);
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn queried(
        &mut self,
        sql: Option<String>,
        binds: Vec<Argument>,
        answers: Vec<ServerAnswer>,
        started_us: i64,
    ) {
        let Some(sql) = sql else {
            return self.ready.push((started_us, What::Skipped(Reason::Bytes)));
        };
        let has_failed = answers.iter().any(|answer| answer.answer.error.is_some());
        if let Some(database) = used_database(&sql).filter(|_| !has_failed) {
            self.database = Some(database);
        }
        let answers = merged(&sql, answers);
        self.ready.push((started_us, What::Answered { sql, binds, answers }));
    }

    fn executed(
        &mut self,
        id: u32,
        binds: Option<Vec<Argument>>,
        answers: Vec<ServerAnswer>,
        started_us: i64,
    ) {
        let id = if id == LAST_PREPARED { self.last_prepared } else { id };
        let sql = self.statements.get(&id).and_then(|statement| statement.sql.clone());
        let what = match (sql, binds) {
            (Some(sql), Some(binds)) => {
                let answers = merged(&sql, answers);
                What::Answered { sql, binds, answers }
            }
            (None, _) => What::Skipped(Reason::Bytes),
            (_, None) => What::Skipped(Reason::Binds),
        };
        self.ready.push((started_us, what));
    }

    /// The answer to Prepare: the statement's number, and how many definitions follow.
    fn prepared(&mut self, body: &[u8], at_us: i64) -> Result<(), Nonsense> {
        let Some(Command::Prepare { sql, at_us: started_us }) = self.commands.front_mut() else {
            return Err(Nonsense);
        };
        let (sql, started_us) = (sql.take(), *started_us);
        self.bytes = self.bytes.saturating_sub(sql.as_ref().map_or(0, String::len));
        if body.first() == Some(&0xff) {
            let mut failed = PendingAnswer::default();
            failed.begin(started_us, false, false);
            failed.packet(Some(body), at_us).ok_or(Nonsense)?;
            self.take();
            // One with parameters never had any.
            let what = match sql.filter(|sql| !sql.contains('?')) {
                Some(sql) => What::Answered { sql, binds: Vec::new(), answers: failed.answers },
                None => What::Skipped(Reason::Failed),
            };
            self.ready.push((started_us, what));
            return Ok(());
        }
        let mut rest = Fields(body.get(1..).ok_or(Nonsense)?);
        let mut read = || Some((rest.fixed().ok()?, rest.fixed().ok()?, rest.fixed().ok()?));
        let (id, columns, parameters) = read().ok_or(Nonsense)?;
        let id = u32::from_le_bytes(id);
        let counts = [columns, parameters].map(|count| usize::from(u16::from_le_bytes(count)));
        let end = usize::from(!self.pending.without_eof);
        self.definitions = counts.iter().filter(|count| **count > 0).map(|count| count + end).sum();
        if self.statements.len() >= STATEMENTS_MAX {
            return Err(Nonsense);
        }
        let statement = PreparedStatement {
            makes: sql.as_deref().is_some_and(makes_values),
            sql,
            parameters: counts[1],
            ..PreparedStatement::default()
        };
        self.bytes += statement.bytes();
        let old = self.statements.insert(id, statement);
        self.bytes = self.bytes.saturating_sub(old.map_or(0, |old| old.bytes()));
        self.last_prepared = id;
        if self.definitions == 0 {
            self.take();
        }
        Ok(())
    }

    /// A command is done that is no statement.
    fn done(&mut self, has_failed: bool, at_us: i64) {
        match self.take() {
            Some(Command::InitDb(name)) if !has_failed => self.database = Some(name),
            Some(Command::ChangeUser(database)) if !has_failed => {
                self.forget_all(at_us);
                self.database = database;
            }
            Some(Command::Reset) if !has_failed => self.forget_all(at_us),
            Some(Command::Fetch) => self.ready.push((at_us, What::Skipped(Reason::Cursor))),
            _ => {}
        }
    }

    /// Another session begins on the connection; what was open is rolled back.
    fn forget_all(&mut self, at_us: i64) {
        self.statements.clear();
        self.bytes = self.commands.iter().map(Command::bytes).sum();
        self.ready.push((at_us, What::Disconnected));
    }
}

impl PreparedStatement {
    /// Bytes in memory.
    fn bytes(&self) -> usize {
        let long: usize = self.long.values().map(Vec::len).sum();
        size_of::<Self>() + self.sql.as_ref().map_or(0, String::len) + long
    }

    /// Reads the arguments of an Execute; `None` if they are malformed.
    fn arguments(&mut self, rest: &mut Fields<'_>) -> Option<Vec<Argument>> {
        if self.parameters == 0 {
            return Some(Vec::new());
        }
        let nulls = rest.take(self.parameters.div_ceil(8)).ok()?;
        if rest.byte().ok()? == 1 {
            self.kinds.clear();
            for _ in 0..self.parameters {
                let [of, flag] = rest.fixed().ok()?;
                self.kinds.push(ColumnKind { wire_type: of, unsigned: flag & 0x80 != 0 });
            }
        }
        let mut arguments = Vec::new();
        for (place, kind) in self.kinds.iter().enumerate() {
            let is_null = nulls[place / 8] & (1 << (place % 8)) != 0;
            let long = u16::try_from(place).ok().and_then(|place| self.long.get(&place));
            arguments.push(match long {
                Some(long) => Argument::of_bytes(long.clone()),
                None if is_null => Argument::Null,
                None => argument(*kind, rest)?,
            });
        }
        (arguments.len() == self.parameters).then_some(arguments)
    }
}

/// Reads an argument; `None` if it is malformed.
fn argument(kind: ColumnKind, rest: &mut Fields<'_>) -> Option<Argument> {
    if kind.wire_type == wire_type::NULL {
        return Some(Argument::Null);
    }
    let mut out = Vec::new();
    binary(kind, rest, &mut out)?;
    Some(match Argument::of_bytes(out) {
        Argument::Text(digits) if kind.is_integer() => Argument::of_text(digits),
        other => other,
    })
}

/// The database of a change of the user.
fn change_user(body: &[u8]) -> Option<String> {
    let mut rest = Fields(body);
    text(&mut rest)?;
    let length = rest.byte().ok()?;
    rest.take(usize::from(length)).ok()?;
    text(&mut rest).filter(|name| !name.is_empty())
}

/// The answers of a text, one for each of its statements: a CALL has several results.
fn merged(sql: &str, mut answers: Vec<ServerAnswer>) -> Vec<ServerAnswer> {
    let word = sql.trim_start().get(..4);
    if answers.len() < 2 || !word.is_some_and(|word| word.eq_ignore_ascii_case("call")) {
        return answers;
    }
    let error = answers.iter().find_map(|answer| answer.answer.error.clone());
    let took_us = answers.iter().map(|answer| answer.answer.took_us).sum();
    let results = answers.iter().filter(|answer| answer.answer.rows.is_some()).count();
    let mut first = answers.swap_remove(0);
    (first.answer.error, first.answer.took_us) = (error, took_us);
    if results != 1 {
        (first.hashes, first.answer.rows) = (None, None);
    }
    vec![first]
}
