//! PostgreSQL's protocol 3 as it passes (manual, chapter "Frontend/Backend Protocol"): the messages of both sides become
//! events of a session.
//!
//! ```text
//! startup  how a connection begins
//! request  what a client asks for, message by message
//! answer   what is known of the answer that arrives
//! values   values in binary format as text
//! ```
//!
//! A client may send many requests before the first answer. So its messages only queue here, and everything happens with
//! the server's messages, which answer them in order. After an error, the server passes over requests up to the next
//! Sync, and so does the queue.

mod answer;
mod request;
pub mod startup;
#[cfg(test)]
mod tests;
mod values;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use triphammer_capture::answer::{Answer, ServerAnswer, makes_values};
use triphammer_capture::{Event, Reason, What};
use triphammer_drivers::postgres::messages::{Body, ServerError};

use self::answer::{Column, Form, PendingAnswer, columns};
use self::request::{Portal, PreparedStatement, Request};
use crate::frames::{Frame, Frames, Head, Nonsense};

/// Most requests that wait for their answers; a client that sends more is not read further.
const REQUESTS_MAX: usize = 100_000;
/// Most prepared statements, and portals, of a session that are known.
const NAMES_MAX: usize = 100_000;

/// Messages that begin with a type and their length.
pub struct Tagged;

impl Head for Tagged {
    const BYTES: usize = 5;

    fn length(head: &[u8]) -> Option<usize> {
        let [_, length @ ..] = *head.first_chunk::<5>()?;
        let length = u32::from_be_bytes(length) as usize;
        (length >= 4).then_some(length + 1)
    }
}

/// Reads the messages of a session.
pub struct Reader {
    name: String,
    database: Option<String>,
    client: Frames,
    server: Frames,
    session: Session,
    /// Whether its messages cannot be read any further.
    is_lost: bool,
}

impl Reader {
    /// Begins with the first message of a session, which has this name in events.
    pub fn new(name: String, startup: &[u8]) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let find = |wanted: &[u8]| {
            startup::parameters(startup).find(|(name, _)| *name == wanted).map(|(_, value)| value)
        };
        // A walsender has messages of its own.
        let is_lost = find(b"replication").is_some_and(|value| value != b"false");
        Self {
            name,
            database: find(b"database").or_else(|| find(b"user")).map(text),
            client: Frames::default(),
            server: Frames::default(),
            session: Session::default(),
            is_lost,
        }
    }

    /// Bytes in memory.
    pub fn held(&self) -> usize {
        self.client.held() + self.server.held() + self.session.bytes
    }

    /// Takes what the client sent.
    pub fn client_sent(&mut self, bytes: &[u8], at_us: i64, events: &mut Vec<Event>) {
        if !self.is_lost {
            let session = &mut self.session;
            let fed = self.client.feed::<Tagged>(bytes, |frame| session.asked(&frame, at_us));
            self.lose(fed.is_err(), at_us, events);
        }
    }

    /// Takes what the server sent.
    pub fn server_sent(&mut self, bytes: &[u8], at_us: i64, events: &mut Vec<Event>) {
        if !self.is_lost {
            let session = &mut self.session;
            let fed = self.server.feed::<Tagged>(bytes, |frame| session.answered(&frame, at_us));
            self.pass_on(events);
            self.lose(fed.is_err(), at_us, events);
        }
    }

    /// The connection has ended.
    pub fn closed(&mut self, at_us: i64, events: &mut Vec<Event>) {
        self.session.flush_group();
        self.pass_on(events);
        events.push(self.event(at_us, What::Disconnected));
    }

    fn event(&self, at_us: i64, what: What) -> Event {
        Event { session: self.name.clone(), at_us, database: self.database.clone(), what }
    }

    fn pass_on(&mut self, events: &mut Vec<Event>) {
        for (at_us, what) in std::mem::take(&mut self.session.ready) {
            events.push(self.event(at_us, what));
        }
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

/// What is known of a session.
#[derive(Default)]
struct Session {
    requests: VecDeque<Request>,
    statements: HashMap<Box<[u8]>, Arc<PreparedStatement>>,
    portals: HashMap<Box<[u8]>, Portal>,
    /// The answer to the first request, as far as it has arrived.
    pending: PendingAnswer,
    /// Answers to the statements of the simple query that is first.
    answers: Vec<ServerAnswer>,
    /// Whether the server waits for data of COPY.
    is_copying_in: bool,
    /// Whether the server passes over requests up to a Sync that has not come yet.
    is_skipping: bool,
    /// Whether the session has begun, and whether a transaction was open when the server was last ready.
    has_begun: bool,
    is_in_block: bool,
    /// Statements since the last Sync, which are one transaction outside of a block.
    group: Vec<(i64, What)>,
    /// Events that are complete.
    ready: Vec<(i64, What)>,
    /// Bytes of requests and prepared statements.
    bytes: usize,
}

impl Session {
    /// Takes a message of the client.
    fn asked(&mut self, frame: &Frame<'_>, at_us: i64) -> Result<(), Nonsense> {
        // Passwords.
        if !self.has_begun || frame.head[0] == b'p' {
            return Ok(());
        }
        let Some(request) = Request::read(frame, at_us)? else { return Ok(()) };
        if self.is_skipping {
            let Request::Sync = request else { return Ok(()) };
            self.is_skipping = false;
        }
        if self.requests.len() >= REQUESTS_MAX {
            return Err(Nonsense);
        }
        self.bytes += request.bytes();
        self.requests.push_back(request);
        Ok(())
    }

    /// Takes a message of the server.
    fn answered(&mut self, frame: &Frame<'_>, at_us: i64) -> Result<(), Nonsense> {
        let tag = frame.head[0];
        if !self.has_begun {
            self.has_begun = tag == b'Z';
            if tag == b'S' {
                self.parameter(frame.body.unwrap_or_default(), at_us);
            }
            return Ok(());
        }
        self.pass_copy_ends();
        match tag {
            b'D' => {
                self.begin_rows();
                self.pending.row(frame.body);
            }
            b'C' => self.complete(frame.body.ok_or(Nonsense)?, at_us)?,
            b'Z' => self.is_ready(frame.body, at_us)?,
            b'T' => self.described(frame.body.ok_or(Nonsense)?)?,
            // No columns.
            b'n' => self.described(&[0, 0])?,
            b't' => self.parameters(frame.body.ok_or(Nonsense)?)?,
            b'1' => self.parsed()?,
            b'2' => self.bound()?,
            b'3' => self.closed_name()?,
            b's' => self.suspended(at_us)?,
            b'I' => self.empty(at_us)?,
            b'E' => self.failed(frame.body.unwrap_or_default(), at_us),
            b'G' => self.is_copying_in = true,
            b'V' => self.ready.push((at_us, What::Skipped(Reason::Function))),
            // Data of COPY, notices, notifications, settings, and what is new.
            _ => {}
        }
        Ok(())
    }

    /// A setting of the server at the beginning of the session. Only one changes how statements are read.
    fn parameter(&mut self, body: &[u8], at_us: i64) {
        if body == b"standard_conforming_strings\0off\0" {
            let sql = "SET standard_conforming_strings = off".to_owned();
            let answers = vec![ServerAnswer::default()];
            self.ready.push((at_us, What::Answered { sql, binds: Vec::new(), answers }));
        }
    }

    fn take(&mut self) -> Option<Request> {
        let request = self.requests.pop_front()?;
        self.bytes = self.bytes.saturating_sub(request.bytes());
        Some(request)
    }

    /// Drops ends of COPY that the server did not wait for, because the COPY had failed.
    fn pass_copy_ends(&mut self) {
        while !self.is_copying_in && matches!(self.requests.front(), Some(Request::CopyEnd)) {
            self.take();
        }
    }

    /// A description arrived: of a statement, a portal or the next result of a simple query.
    fn described(&mut self, body: &[u8]) -> Result<(), Nonsense> {
        let described = || columns(body).ok_or(Nonsense);
        match self.requests.front() {
            Some(Request::DescribeStatement(name)) => {
                if let Some(known) = self.statements.get_mut(name) {
                    Arc::make_mut(known).columns = Some(described()?.into());
                }
                self.take();
            }
            Some(Request::DescribePortal(name)) => {
                if let Some(portal) = self.portals.get_mut(name) {
                    let columns: Arc<[_]> = described()?.into();
                    portal.columns = Some(Arc::clone(&columns));
                    // A client may describe the first portal of a statement only.
                    let of_portal = portal.statement.clone();
                    self.describe_statement(of_portal.as_ref(), columns);
                }
                self.take();
            }
            Some(Request::Query { .. }) => self.pending.describe(described()?.into()),
            _ => {}
        }
        Ok(())
    }

    /// Keeps the columns of a statement that were described with one of its portals.
    fn describe_statement(
        &mut self,
        of_portal: Option<&Arc<PreparedStatement>>,
        columns: Arc<[Column]>,
    ) {
        let Some(of_portal) = of_portal.filter(|known| known.columns.is_none()) else { return };
        let is_it = |known: &&mut Arc<PreparedStatement>| Arc::ptr_eq(known, of_portal);
        if let Some(known) = self.statements.values_mut().find(is_it) {
            Arc::make_mut(known).columns = Some(columns);
        }
    }

    /// Before the first row of an answer: how its rows are read.
    fn begin_rows(&mut self) {
        if self.pending.has_rows() {
            return;
        }
        match self.requests.front() {
            Some(Request::Query { sql, .. }) => {
                self.pending.makes = sql.as_deref().is_some_and(makes_values);
            }
            Some(Request::Execute { portal, .. }) => {
                let portal = self.portals.get(portal);
                self.pending.form = portal.map_or(Form::Unknown, Portal::form);
                let statement = portal.and_then(|portal| portal.statement.as_ref());
                self.pending.makes = statement.is_some_and(|statement| statement.makes);
            }
            _ => {}
        }
    }

    /// The types of a statement's parameters arrived; its columns follow.
    fn parameters(&mut self, body: &[u8]) -> Result<(), Nonsense> {
        let mut body = Body(body);
        let count = body.int16().ok_or(Nonsense)?.cast_unsigned();
        let oids: Option<Vec<u32>> =
            (0..count).map(|_| body.int32().map(i32::cast_unsigned)).collect();
        let oids = oids.ok_or(Nonsense)?.into();
        if let Some(Request::DescribeStatement(name)) = self.requests.front()
            && let Some(known) = self.statements.get_mut(name)
        {
            let before = known.bytes();
            Arc::make_mut(known).oids = oids;
            self.bytes = (self.bytes + known.bytes()).saturating_sub(before);
        }
        Ok(())
    }

    fn parsed(&mut self) -> Result<(), Nonsense> {
        let Some(Request::Parse { name, statement }) = self.take() else { return Err(Nonsense) };
        if self.statements.len() >= NAMES_MAX {
            return Err(Nonsense);
        }
        self.bytes += statement.bytes();
        if let Some(old) = self.statements.insert(name, Arc::new(statement)) {
            self.bytes = self.bytes.saturating_sub(old.bytes());
        }
        Ok(())
    }

    fn bound(&mut self) -> Result<(), Nonsense> {
        let Some(Request::Bind { portal, statement, body }) = self.take() else {
            return Err(Nonsense);
        };
        // One that was prepared by EXECUTE's sibling in SQL is not known.
        let statement = self.statements.get(&statement).cloned();
        if self.portals.len() >= NAMES_MAX {
            return Err(Nonsense);
        }
        let bound = Portal::new(statement, &body).ok_or(Nonsense)?;
        self.portals.insert(portal, bound);
        Ok(())
    }

    fn closed_name(&mut self) -> Result<(), Nonsense> {
        match self.take() {
            Some(Request::Close { is_statement: true, name }) => {
                if let Some(old) = self.statements.remove(&name) {
                    self.bytes = self.bytes.saturating_sub(old.bytes());
                }
            }
            Some(Request::Close { name, .. }) => drop(self.portals.remove(&name)),
            _ => return Err(Nonsense),
        }
        Ok(())
    }

    /// Makes the answer that has arrived, and begins the next one.
    fn answer(&mut self, tag: &[u8], started_us: i64, at_us: i64) -> ServerAnswer {
        let found = self.pending.finish(tag, started_us, at_us);
        if self.is_copying_in {
            self.is_copying_in = false;
            let end = self.requests.iter().position(|one| matches!(one, Request::CopyEnd));
            // The server passes over a Sync while it copies.
            for _ in 0..end.unwrap_or_default() {
                if let Some(passed) = self.requests.remove(1) {
                    self.bytes = self.bytes.saturating_sub(passed.bytes());
                }
            }
        }
        found
    }

    /// A statement is complete.
    fn complete(&mut self, tag: &[u8], at_us: i64) -> Result<(), Nonsense> {
        match self.requests.front() {
            Some(Request::Query { at_us: started_us, .. }) => {
                let started_us = *started_us;
                let answer = self.answer(tag, started_us, at_us);
                self.answers.push(answer);
            }
            Some(Request::Execute { .. }) => self.executed(tag, None, at_us)?,
            _ => return Err(Nonsense),
        }
        Ok(())
    }

    /// A portal has run, or failed with an error.
    fn executed(&mut self, tag: &[u8], error: Option<String>, at_us: i64) -> Result<(), Nonsense> {
        let Some(Request::Execute { at_us: started_us, .. }) = self.requests.front() else {
            return Err(Nonsense);
        };
        let started_us = *started_us;
        let mut answer = self.answer(tag, started_us, at_us);
        let Some(Request::Execute { portal, .. }) = self.take() else { return Err(Nonsense) };
        if let Some(code) = error {
            answer = failed_with(code, started_us, at_us);
        }
        let Some(portal) = self.portals.get_mut(&portal) else { return Ok(()) };
        if portal.is_begun {
            self.group.push((started_us, What::Skipped(Reason::Cursor)));
            return Ok(());
        }
        portal.is_begun = true;
        self.group.push((started_us, portal.event(answer)));
        Ok(())
    }

    /// A portal has returned as many rows as were asked for, and may have more.
    fn suspended(&mut self, at_us: i64) -> Result<(), Nonsense> {
        self.pending.is_partial = true;
        self.executed(b"", None, at_us)
    }

    /// The text was empty.
    fn empty(&mut self, at_us: i64) -> Result<(), Nonsense> {
        match self.requests.front() {
            Some(Request::Execute { .. }) => {
                self.take();
            }
            Some(Request::Query { .. }) => {}
            _ => return Err(Nonsense),
        }
        self.pending.restart(at_us);
        Ok(())
    }

    fn failed(&mut self, body: &[u8], at_us: i64) {
        let code = ServerError::read(body).map(|error| error.code).unwrap_or_default();
        match self.requests.front() {
            Some(Request::Query { at_us: started_us, .. }) => {
                let started_us = *started_us;
                self.answer(b"", started_us, at_us);
                self.answers.push(failed_with(code, started_us, at_us));
            }
            // At the end of an implicit transaction, as for a deferred constraint.
            Some(Request::Sync) => {
                if let Some((_, What::Answered { answers, .. })) = self.group.last_mut()
                    && let Some(last) = answers.last_mut()
                {
                    last.answer.error = Some(code);
                }
            }
            Some(_) => {
                self.failed_extended(code, at_us);
                while !matches!(self.requests.front(), None | Some(Request::Sync)) {
                    self.take();
                }
                self.is_skipping = self.requests.is_empty();
            }
            // It ends the session.
            None => {}
        }
    }

    /// A request of the extended protocol failed. A statement that cannot be prepared or bound has failed as one that
    /// cannot run.
    fn failed_extended(&mut self, code: String, at_us: i64) {
        let answers = |started_us| vec![failed_with(code.clone(), started_us, at_us)];
        let what = match self.requests.front() {
            Some(Request::Execute { .. }) => {
                let _ = self.executed(b"", Some(code), at_us);
                return;
            }
            Some(Request::Parse { statement, .. }) => {
                let sql = statement.sql.as_deref().map(str::to_owned);
                let takes = sql.as_deref().is_some_and(|sql| sql.contains('$'));
                sql.filter(|_| !takes).map(|sql| What::Answered {
                    sql,
                    binds: Vec::new(),
                    answers: answers(at_us),
                })
            }
            Some(Request::Bind { statement, body, .. }) => {
                let portal = Portal::new(self.statements.get(statement).cloned(), body);
                portal.map(|mut portal| portal.event(failed_with(code, at_us, at_us)))
            }
            _ => None,
        };
        self.group.push((at_us, what.unwrap_or(What::Skipped(Reason::Failed))));
    }

    /// The server is ready: a simple query, or everything up to a Sync, has ended.
    fn is_ready(&mut self, body: Option<&[u8]>, at_us: i64) -> Result<(), Nonsense> {
        let status = body.and_then(<[u8]>::first).copied().ok_or(Nonsense)?;
        self.is_copying_in = false;
        self.pass_copy_ends();
        match self.take() {
            Some(Request::Query { sql, at_us: started_us }) => {
                // One transaction ends, and another begins, with each.
                self.flush_group();
                let answers = std::mem::take(&mut self.answers);
                let what = match sql {
                    Some(sql) => What::Answered { sql, binds: Vec::new(), answers },
                    None => What::Skipped(Reason::Bytes),
                };
                self.ready.push((started_us, what));
            }
            Some(Request::Sync) => {
                let is_plain = status == b'I' && !self.is_in_block;
                if is_plain { self.end_group(at_us) } else { self.flush_group() }
            }
            Some(Request::Function) => {}
            _ => return Err(Nonsense),
        }
        self.is_in_block = status != b'I';
        if status == b'I' {
            // A portal lives no longer than its transaction.
            self.portals.clear();
        }
        self.pending.restart(at_us);
        Ok(())
    }

    fn flush_group(&mut self) {
        self.ready.append(&mut self.group);
    }

    /// Several statements before one Sync are a transaction, if they did not begin one themselves.
    fn end_group(&mut self, at_us: i64) {
        let answered = |(_, what): &(i64, What)| match what {
            What::Answered { sql, answers, .. } => Some((begins(sql), error_in(answers))),
            _ => None,
        };
        let count = self.group.iter().filter_map(answered).count();
        let begins = self.group.iter().filter_map(answered).any(|(begins, _)| begins);
        if count < 2 || begins {
            return self.flush_group();
        }
        let has_failed = self.group.iter().filter_map(answered).any(|(_, failed)| failed);
        let control = |sql: &str| What::Answered {
            sql: sql.to_owned(),
            binds: Vec::new(),
            answers: vec![ServerAnswer::default()],
        };
        let started_us = self.group.first().map_or(at_us, |(at_us, _)| *at_us);
        self.ready.push((started_us, control("BEGIN")));
        self.flush_group();
        self.ready.push((at_us, control(if has_failed { "ROLLBACK" } else { "COMMIT" })));
    }
}

fn error_in(answers: &[ServerAnswer]) -> bool {
    answers.iter().any(|answer| answer.answer.error.is_some())
}

/// Whether a statement begins a transaction.
fn begins(sql: &str) -> bool {
    let word = sql.trim_start().split(|c: char| !c.is_ascii_alphabetic()).next();
    word.is_some_and(|word| ["begin", "start"].iter().any(|one| word.eq_ignore_ascii_case(one)))
}

fn failed_with(code: String, started_us: i64, at_us: i64) -> ServerAnswer {
    let took_us = at_us.saturating_sub(started_us).max(0).unsigned_abs();
    let answer = Answer { error: Some(code), took_us, ..Answer::default() };
    ServerAnswer { answer, hashes: None }
}

impl Portal {
    /// The event of a statement that ran with these arguments.
    fn event(&mut self, answer: ServerAnswer) -> What {
        let sql = self.statement.as_ref().and_then(|statement| statement.sql.as_deref());
        let Some(sql) = sql else { return What::Skipped(Reason::Bytes) };
        let Some(binds) = self.arguments.take() else { return What::Skipped(Reason::Binds) };
        What::Answered { sql: sql.to_owned(), binds, answers: vec![answer] }
    }
}
