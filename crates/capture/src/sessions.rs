//! Assembles the statements of a log to transactions, session by session.
//!
//! A transaction is what is between BEGIN and COMMIT or ROLLBACK, or a statement on its own. Its
//! statements keep their order and the gaps between them: from the end of the statement before where
//! the log says how long that took, else from its start.

use std::collections::{BTreeSet, HashMap};

use super::answer::{Answer, ServerAnswer};
use super::databases::Databases;
use super::event::{Aftermath, Argument, Event, What};
use super::mask::Mask;
use super::savepoints::{Change, Savepoint, Savepoints};
use super::shapes::Shapes;
use super::skipped::{Reason, Skipped};
use super::sql::{self, Misread, Rules, Syntax};
use super::statement::{
    Characteristics, Effect, changed_rules, commits_implicitly, defines_routine, effect,
};
use super::variables::Variables;

/// Most sessions of a log; a run has no more.
pub const SESSIONS_MAX: usize = 100_000;
/// Most statements of a transaction.
pub const STATEMENTS_MAX: usize = 10_000;
/// Clocks of logs have milliseconds or seconds, durations microseconds: a start that seems to be before
/// the end of the statement before by up to this, in microseconds, is at that end.
const CLOCK_US: i64 = 1_000_000;
/// Most user variables of a session whose assignments are known not to be replayed.
const LOST_MAX: usize = 1_000;
/// Errors with which MySQL rolls a transaction back: a deadlock, and a full lock table.
const ROLLS_BACK: [&str; 2] = ["1213", "1206"];
/// Most bytes of arguments in all transactions that have not ended yet.
pub const OPEN_BYTES_MAX: usize = 256 * 1024 * 1024;

/// How a transaction ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// It is one statement, without BEGIN.
    Single,
    /// COMMIT.
    Commit,
    /// ROLLBACK.
    Rollback,
}

/// The gap before a statement, or before COMMIT or ROLLBACK, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gap {
    /// Its length.
    pub us: u64,
    /// Whether it counts from the start of the statement before, because its end is unknown.
    pub from_start: bool,
}

/// A statement of a transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Number of its shape.
    pub shape: usize,
    /// The time before it.
    pub gap: Gap,
    /// Its arguments.
    pub arguments: Vec<Argument>,
    /// What the server answered, if the source has it.
    pub answer: Option<Box<Answer>>,
}

/// A statement that arrives.
struct Arrival<'a> {
    /// Its start.
    at_us: i64,
    binds: &'a [Argument],
    /// How long it took, if that is known.
    took_us: Option<u64>,
    /// What the server answered, if that is known.
    answer: Option<ServerAnswer>,
}

impl Arrival<'_> {
    /// The code of the error with which it failed.
    fn error(&self) -> Option<&str> {
        self.answer.as_ref()?.answer.error.as_deref()
    }
}

/// A transaction of a log.
#[derive(Clone, Debug, PartialEq)]
pub struct Transaction {
    /// Number of its session, from 0 in the order of their first statements.
    pub session: usize,
    /// Its start, in microseconds since 1970-01-01.
    pub start_us: i64,
    /// How it runs.
    pub characteristics: Characteristics,
    /// How it ends.
    pub ending: Ending,
    /// Its statements, in their order.
    pub steps: Vec<Step>,
    /// The time before its COMMIT or ROLLBACK.
    pub last_gap: Gap,
    /// Times of its BEGIN and of its COMMIT or ROLLBACK, in microseconds; 0 where the source does not have them.
    pub took_us: Bounds,
}

/// A time of the begin of a transaction and one of its end, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// That of the begin.
    pub begin: u64,
    /// That of the end.
    pub end: u64,
}

/// A session of a log.
#[derive(Debug)]
struct Session {
    number: usize,
    autocommit: bool,
    open: Option<Open>,
    /// A transaction that ended with a message which may still turn out to have failed.
    ended: Option<Open>,
    /// The text of that message, if it may: the log does not say yet that it succeeded.
    message: String,
    /// End of its last statement, as far as it is known.
    last_us: i64,
    /// What MySQL's SET TRANSACTION set for the next transaction.
    next: Characteristics,
    /// How its statements are read.
    rules: Rules,
    /// The database that it is in, if that is known, and whether its statements are left out.
    database: Option<String>,
    is_other: bool,
    /// User variables whose assignments are not replayed.
    lost: BTreeSet<String>,
}

/// A transaction that has not ended, or a single statement whose duration may follow.
#[derive(Debug)]
struct Open {
    transaction: Transaction,
    is_block: bool,
    /// Start of its last statement.
    last_start_us: i64,
    /// End of its last statement, if it is known.
    last_end_us: Option<i64>,
    /// Text of its last statement, to find it if it fails.
    last_sql: String,
    has_failed: bool,
    /// Whether PostgreSQL accepts nothing but its end, or ROLLBACK TO SAVEPOINT.
    is_aborted: bool,
    bytes: usize,
    /// Dropped as too long; only its end is of interest.
    is_dropped: bool,
    savepoints: Savepoints,
    /// What the last statement changed of them.
    last_change: Option<Change>,
}

/// Assembles transactions.
#[derive(Debug)]
pub struct Assembler {
    syntax: Syntax,
    autocommit: bool,
    sessions: HashMap<String, Session>,
    open_bytes: usize,
    count: usize,
    /// The different statements.
    pub shapes: Shapes,
    /// What is not replayed.
    pub skipped: Skipped,
    /// The databases of the statements, and which one is wanted.
    pub databases: Databases,
    /// Number of statements that are replayed.
    pub statements: u64,
    /// What is masked; `None` for nothing.
    pub mask: Option<Mask>,
}

/// Receives each transaction that has ended.
pub type Sink<'a> = dyn FnMut(Transaction, &Shapes) -> std::io::Result<()> + 'a;

impl Assembler {
    /// Begins without sessions. On Oracle, a session has no autocommit.
    #[must_use]
    pub fn new(syntax: Syntax) -> Self {
        Self {
            syntax,
            autocommit: syntax != Syntax::Oracle,
            sessions: HashMap::new(),
            open_bytes: 0,
            count: 0,
            shapes: Shapes::default(),
            skipped: Skipped::default(),
            databases: Databases::default(),
            statements: 0,
            mask: None,
        }
    }

    /// Number of sessions.
    #[must_use]
    pub const fn sessions(&self) -> usize {
        self.count
    }

    /// Takes the next event.
    ///
    /// # Errors
    /// As the receiver of transactions reports.
    pub fn event(&mut self, event: Event, sink: &mut Sink<'_>) -> std::io::Result<()> {
        let Event { session: name, at_us, database, what } = event;
        if let What::Skipped(reason) = what {
            self.skipped.add(reason);
            return Ok(());
        }
        if matches!(what, What::Disconnected | What::Lost) && !self.sessions.contains_key(&name) {
            return Ok(());
        }
        let is_other = self.databases.excludes(database.as_deref());
        if is_other && !self.sessions.contains_key(&name) {
            if let What::Statement { sql, .. } | What::Answered { sql, .. } = what {
                self.leave_out(&sql, self.syntax.into(), database.as_deref());
            }
            return Ok(());
        }
        let Some(mut session) = self.take(&name) else {
            self.skipped.add(Reason::Sessions);
            return Ok(());
        };
        (session.database, session.is_other) = (database, is_other);
        let done = match what {
            What::Statement { sql, binds, took_us } => {
                let at_us = session.after_last(at_us, took_us);
                self.statement(&mut session, at_us, &sql, &binds, took_us, sink)
            }
            What::Answered { sql, binds, answers } => {
                self.answered(&mut session, at_us, &sql, &binds, answers, sink)
            }
            What::Took(us) => {
                let done = self.flush(&mut session, sink);
                if let Some(open) = &mut session.open {
                    let end = open.last_start_us.saturating_add_unsigned(us);
                    open.last_end_us.get_or_insert(end);
                }
                done
            }
            What::Failed(sql, aftermath) => {
                self.failed(&mut session, at_us, sql.as_deref(), aftermath, sink)
            }
            What::Disconnected => {
                session.message.clear();
                let done = self.flush(&mut session, sink);
                let done =
                    done.and_then(|()| self.end(&mut session, at_us, Ending::Rollback, sink));
                // A session that is named so later is another one.
                session.number = usize::MAX;
                done
            }
            What::Lost => {
                let done = self.give_up(&mut session, at_us, sink);
                session.number = usize::MAX;
                done
            }
            What::Skipped(_) => Ok(()),
        };
        if session.number != usize::MAX {
            self.sessions.insert(name, session);
        }
        done
    }

    /// Ends the log: single statements are complete, transactions without an end are not.
    ///
    /// # Errors
    /// As the receiver of transactions reports.
    pub fn finish(&mut self, sink: &mut Sink<'_>) -> std::io::Result<()> {
        let sessions = std::mem::take(&mut self.sessions);
        let mut sessions: Vec<Session> = sessions.into_values().collect();
        sessions.sort_by_key(|session| session.number);
        for mut session in sessions {
            self.give_up(&mut session, 0, sink)?;
        }
        Ok(())
    }

    /// Ends a session of which nothing more is known: a single statement is complete, a transaction is not.
    fn give_up(
        &mut self,
        session: &mut Session,
        at_us: i64,
        sink: &mut Sink<'_>,
    ) -> std::io::Result<()> {
        self.flush(session, sink)?;
        match session.open.take_if(|open| open.is_block) {
            Some(open) => {
                self.open_bytes -= open.bytes;
                let has_steps = !open.transaction.steps.is_empty() || open.is_dropped;
                self.skipped.more(Reason::Unfinished, u64::from(has_steps));
            }
            None => {
                self.end(session, at_us, Ending::Single, sink)?;
                self.flush(session, sink)?;
            }
        }
        Ok(())
    }

    fn take(&mut self, name: &str) -> Option<Session> {
        if let Some(session) = self.sessions.remove(name) {
            return Some(session);
        }
        if self.count == SESSIONS_MAX {
            return None;
        }
        self.count += 1;
        let next = Characteristics::default();
        Some(Session {
            number: self.count - 1,
            autocommit: self.autocommit,
            open: None,
            ended: None,
            message: String::new(),
            last_us: i64::MIN,
            next,
            rules: self.syntax.into(),
            database: None,
            is_other: false,
            lost: BTreeSet::new(),
        })
    }

    fn statement(
        &mut self,
        session: &mut Session,
        at_us: i64,
        text: &str,
        binds: &[Argument],
        mut took_us: Option<u64>,
        sink: &mut Sink<'_>,
    ) -> std::io::Result<()> {
        let parts = match self.syntax {
            Syntax::Oracle => vec![text.trim()],
            _ => sql::split(text, session.rules),
        };
        self.flush(session, sink)?;
        // PostgreSQL logs a statement before it runs, unless its duration is with it.
        let may_fail = self.syntax == Syntax::Postgres && took_us.is_none();
        session.message = if may_fail { text.to_owned() } else { String::new() };
        // Several statements in one message are one transaction on PostgreSQL.
        let is_implicit = self.syntax == Syntax::Postgres
            && parts.len() > 1
            && session.open.as_ref().is_none_or(|open| !open.is_block);
        if is_implicit {
            self.end(session, at_us, Ending::Single, sink)?;
            session.open = Some(self.open(session, at_us, true));
        }
        for part in &parts {
            // The time of all is that of the first.
            let arrival = Arrival { at_us, binds, took_us: took_us.take(), answer: None };
            self.part(session, part, arrival, sink)?;
            if parts.len() > 1 && defines_routine(part, self.syntax) {
                break;
            }
        }
        self.end_implicit(session, at_us, is_implicit.then_some(&parts), sink)
    }

    /// The statements of a message whose answers are known; those without one did not run.
    fn answered(
        &mut self,
        session: &mut Session,
        mut at_us: i64,
        text: &str,
        binds: &[Argument],
        answers: Vec<ServerAnswer>,
        sink: &mut Sink<'_>,
    ) -> std::io::Result<()> {
        let parts = sql::split(text, session.rules);
        self.flush(session, sink)?;
        session.message.clear();
        let is_implicit = self.syntax == Syntax::Postgres
            && parts.len() > 1
            && session.open.as_ref().is_none_or(|open| !open.is_block);
        if is_implicit {
            self.end(session, at_us, Ending::Single, sink)?;
            session.open = Some(self.open(session, at_us, true));
        }
        for (part, answer) in parts.iter().zip(answers) {
            let took = answer.answer.took_us;
            let arrival = Arrival { at_us, binds, took_us: Some(took), answer: Some(answer) };
            self.part(session, part, arrival, sink)?;
            at_us = at_us.saturating_add_unsigned(took);
            if parts.len() > 1 && defines_routine(part, self.syntax) {
                break;
            }
        }
        session.last_us = at_us;
        self.end_implicit(session, at_us, is_implicit.then_some(&parts), sink)
    }

    /// Ends the transaction that several statements in one message are, unless one of them began another.
    fn end_implicit(
        &mut self,
        session: &mut Session,
        at_us: i64,
        parts: Option<&Vec<&str>>,
        sink: &mut Sink<'_>,
    ) -> std::io::Result<()> {
        let is_open = session.open.as_ref().is_some_and(|open| open.is_block);
        let begins = |part: &&str| matches!(effect(part, self.syntax), Effect::Begin(_));
        match parts {
            Some(parts) if is_open && !parts.iter().any(begins) => {
                self.end(session, at_us, Ending::Commit, sink)
            }
            _ => Ok(()),
        }
    }

    fn part(
        &mut self,
        session: &mut Session,
        part: &str,
        arrival: Arrival<'_>,
        sink: &mut Sink<'_>,
    ) -> std::io::Result<()> {
        let at_us = arrival.at_us;
        let has_failed = arrival.error().is_some();
        if let Some(open) = &mut session.open {
            open.last_sql.clear();
            if open.is_block && commits_implicitly(part, self.syntax) {
                self.end(session, at_us, Ending::Commit, sink)?;
            }
        }
        match effect(part, session.rules) {
            Effect::Begin(characteristics) => {
                self.begin(session, characteristics, arrival, sink)?
            }
            Effect::Characteristics(characteristics) => {
                match session.open.as_mut().filter(|open| open.is_block) {
                    Some(open) => merge(&mut open.transaction.characteristics, characteristics),
                    None if self.syntax == Syntax::MySql => session.next = characteristics,
                    None => self.skipped.add(Reason::Setting),
                }
            }
            Effect::Commit(chains) => {
                // It may fail, as for a deferred constraint.
                let ending = if has_failed { Ending::Rollback } else { Ending::Commit };
                session.takes_to_end(arrival.took_us);
                self.end(session, at_us, ending, sink)?;
                session.open = chains.then(|| self.open(session, at_us, true));
            }
            Effect::Rollback(chains) => {
                session.takes_to_end(arrival.took_us);
                self.end(session, at_us, Ending::Rollback, sink)?;
                session.open = chains.then(|| self.open(session, at_us, true));
            }
            Effect::Autocommit(is_on) => {
                let is_block = session.open.as_ref().is_some_and(|open| open.is_block);
                // Within a transaction, only a change to on commits.
                if !is_block || is_on && !session.autocommit {
                    self.end(session, at_us, Ending::Commit, sink)?;
                }
                session.autocommit = is_on;
            }
            // What is copied is not recorded, but that it was, and how many rows.
            Effect::Skip(Reason::Copy) if arrival.answer.is_some() && !session.is_other => {
                self.skipped.add(Reason::Copy);
                self.run(session, part, arrival, sink)?;
            }
            Effect::Skip(reason) => self.skip(session, part, reason, has_failed),
            Effect::Runs | Effect::RollbackTo if session.is_other => {
                self.leave_out(part, session.rules, session.database.as_deref());
            }
            Effect::RollbackTo => {
                if let Some(open) = session.open.as_mut().filter(|_| !has_failed) {
                    open.is_aborted = false;
                }
                self.run(session, part, arrival, sink)?;
            }
            Effect::Runs => self.run(session, part, arrival, sink)?,
        }
        Ok(())
    }

    /// Begins a transaction; one that is open commits.
    fn begin(
        &mut self,
        session: &mut Session,
        characteristics: Characteristics,
        arrival: Arrival<'_>,
        sink: &mut Sink<'_>,
    ) -> std::io::Result<()> {
        let at_us = arrival.at_us;
        if session.open.as_ref().is_some_and(|open| !open.transaction.steps.is_empty()) {
            self.end(session, at_us, Ending::Commit, sink)?;
        }
        let mut open = self.open(session, at_us, true);
        merge(&mut open.transaction.characteristics, characteristics);
        open.took(at_us, arrival.took_us);
        open.transaction.took_us.begin = arrival.took_us.unwrap_or_default();
        session.open = Some(open);
        Ok(())
    }

    /// Counts a statement that is not replayed.
    fn skip(&mut self, session: &mut Session, part: &str, reason: Reason, has_failed: bool) {
        self.skipped.add(reason);
        if reason == Reason::Setting {
            session.set(part);
        }
        if let Some(open) = session.open.as_mut().filter(|_| has_failed) {
            open.is_aborted |= open.is_block && self.syntax == Syntax::Postgres;
        }
    }

    /// What an error that the server answered leaves of the transaction.
    fn after_error(
        &mut self,
        session: &mut Session,
        at_us: i64,
        code: &str,
        sink: &mut Sink<'_>,
    ) -> std::io::Result<()> {
        let Some(open) = session.open.as_mut().filter(|open| open.is_block) else { return Ok(()) };
        match self.syntax {
            Syntax::Postgres => open.is_aborted = true,
            Syntax::MySql if ROLLS_BACK.contains(&code) => {
                return self.end(session, at_us, Ending::Rollback, sink);
            }
            _ => {}
        }
        Ok(())
    }

    /// Counts the statements of another database.
    fn leave_out(&mut self, text: &str, rules: Rules, database: Option<&str>) {
        let runs = |part: &&str| matches!(effect(part, rules), Effect::Runs | Effect::RollbackTo);
        let count = sql::split(text, rules).iter().filter(|part| runs(part)).count() as u64;
        self.skipped.more(Reason::OtherDatabase, count);
        self.databases.add(database, count);
    }

    fn run(
        &mut self,
        session: &mut Session,
        text: &str,
        arrival: Arrival<'_>,
        sink: &mut Sink<'_>,
    ) -> std::io::Result<()> {
        let Arrival { at_us, binds, took_us, answer } = arrival;
        let failed = answer.as_ref().and_then(|answer| answer.answer.error.clone());
        self.step(session, text, Arrival { at_us, binds, took_us, answer }, sink)?;
        match failed {
            Some(code) => self.after_error(session, at_us, &code, sink),
            None => Ok(()),
        }
    }

    /// Adds a statement to the transaction that is open, or to one of its own.
    fn step(
        &mut self,
        session: &mut Session,
        text: &str,
        arrival: Arrival<'_>,
        sink: &mut Sink<'_>,
    ) -> std::io::Result<()> {
        let Arrival { at_us, binds, took_us, mut answer } = arrival;
        if session.open.as_ref().is_some_and(|open| !open.is_block) {
            self.end(session, at_us, Ending::Single, sink)?;
        }
        if is_replaced(text) || binds.iter().any(|bind| bind.text().is_some_and(is_replaced)) {
            self.skipped.add(Reason::Bytes);
            return Ok(());
        }
        if !session.knows(text) {
            self.skipped.add(Reason::Variable);
            return Ok(());
        }
        let savepoint = session.savepoint(text);
        let replayed = savepoint.as_ref().map_or(text, |savepoint| savepoint.sql.as_str());
        let Some((shape, arguments)) = self.read(replayed, session.rules, binds, &mut answer)
        else {
            return Ok(());
        };
        if session.open.is_none() {
            let is_block = !session.autocommit;
            session.open = Some(self.open(session, at_us, is_block));
        }
        let Some(open) = &mut session.open else { return Ok(()) };
        if open.is_dropped {
            return Ok(());
        }
        let made = answer.iter().flat_map(|answer| answer.answer.made.iter().flatten());
        let bytes: usize = arguments.iter().chain(made).map(Argument::bytes).sum();
        let is_full = open.transaction.steps.len() == STATEMENTS_MAX;
        if is_full || self.open_bytes + bytes > OPEN_BYTES_MAX {
            open.is_dropped = true;
            open.transaction.steps = Vec::new();
            self.open_bytes -= std::mem::take(&mut open.bytes);
            self.skipped.add(Reason::TransactionTooLong);
            return Ok(());
        }
        open.bytes += bytes;
        self.open_bytes += bytes;
        let gap = open.gap(at_us);
        let has_failed = answer.as_ref().is_some_and(|answer| answer.answer.error.is_some());
        let savepoint = savepoint.filter(|_| !has_failed);
        open.last_change =
            savepoint.map(|savepoint| open.savepoints.apply(&savepoint, self.syntax));
        let is_ordered = self.shapes.is_ordered(shape);
        let answer = answer.map(|ServerAnswer { answer, hashes }| {
            let hash = hashes.map(|hashes| hashes.hash(is_ordered));
            Box::new(Answer { hash, ..answer })
        });
        open.transaction.steps.push(Step { shape, gap, arguments, answer });
        open.took(at_us, took_us);
        text.clone_into(&mut open.last_sql);
        self.statements += 1;
        self.databases.add(session.database.as_deref(), 1);
        Ok(())
    }

    /// Reads a statement, and masks it: the number of its shape, and its arguments. One that cannot be replayed is counted.
    fn read(
        &mut self,
        text: &str,
        rules: Rules,
        binds: &[Argument],
        answer: &mut Option<ServerAnswer>,
    ) -> Option<(usize, Vec<Argument>)> {
        let mut statement = match sql::read(text, rules, binds) {
            Ok(statement) => statement,
            Err(misread) => {
                self.skipped.add(match misread {
                    Misread::Binds => Reason::Binds,
                    Misread::Colon => Reason::Colon,
                    Misread::Truncated => Reason::Truncated,
                });
                return None;
            }
        };
        if let Some(mask) = &mut self.mask {
            mask.apply(&mut statement, answer.as_mut(), rules);
        }
        let shape = self.shapes.number(statement.shape, rules);
        if shape.is_none() {
            self.skipped.add(Reason::Shapes);
        }
        Some((shape?, statement.arguments))
    }

    fn open(&self, session: &mut Session, at_us: i64, is_block: bool) -> Open {
        let transaction = Transaction {
            session: session.number,
            start_us: at_us,
            characteristics: std::mem::take(&mut session.next),
            ending: if is_block { Ending::Commit } else { Ending::Single },
            steps: Vec::new(),
            last_gap: Gap::default(),
            took_us: Bounds::default(),
        };
        Open {
            transaction,
            is_block,
            last_start_us: at_us,
            last_end_us: Some(at_us),
            last_sql: String::new(),
            has_failed: false,
            is_aborted: false,
            bytes: 0,
            is_dropped: false,
            savepoints: Savepoints::default(),
            last_change: None,
        }
    }

    /// A statement failed: it is not replayed. What it left of its transaction depends on the
    /// database.
    fn failed(
        &mut self,
        session: &mut Session,
        at_us: i64,
        sql: Option<&str>,
        aftermath: Aftermath,
        sink: &mut Sink<'_>,
    ) -> std::io::Result<()> {
        self.skipped.add(Reason::Failed);
        let is_message = sql.is_some_and(|sql| sql.trim() == session.message.trim());
        if let Some(ended) = session.ended.as_mut().filter(|_| is_message) {
            // COMMIT failed, as for a deferred constraint, or a statement before it in its message.
            ended.transaction.ending = Ending::Rollback;
            return self.flush(session, sink);
        }
        let Some(open) = &mut session.open else { return Ok(()) };
        // PostgreSQL logs how long a statement took only if it succeeded, and may log one that
        // failed in the message of its error only.
        let may_be_last = aftermath != Aftermath::Aborted || open.last_end_us.is_none();
        let parts = sql.map(|sql| sql::split(sql, session.rules)).unwrap_or_default();
        let last = parts.last().copied();
        let is_last = sql.is_none() || last == Some(open.last_sql.as_str());
        let is_last = may_be_last && is_last && !open.last_sql.is_empty();
        if is_last && open.transaction.steps.pop().is_some() {
            self.statements -= 1;
            if let Some(change) = open.last_change.take() {
                open.savepoints.undo(change);
            }
        }
        if !open.is_block {
            if is_last {
                self.open_bytes -= open.bytes;
                session.open = None;
            }
            return Ok(());
        }
        open.last_sql.clear();
        open.has_failed = true;
        open.is_aborted |= aftermath == Aftermath::Aborted;
        // A COMMIT that failed, as for a deferred constraint, has ended the transaction.
        let ends = |part| matches!(effect(part, session.rules), Effect::Commit(_));
        let has_ended = aftermath == Aftermath::Aborted && last.is_some_and(ends);
        if has_ended || aftermath == Aftermath::RolledBack {
            return self.end(session, at_us, Ending::Rollback, sink);
        }
        Ok(())
    }

    /// Ends the session's transaction, if it has one.
    fn end(
        &mut self,
        session: &mut Session,
        at_us: i64,
        ending: Ending,
        sink: &mut Sink<'_>,
    ) -> std::io::Result<()> {
        let Some(mut open) = session.open.take() else { return Ok(()) };
        if open.transaction.steps.is_empty() {
            self.open_bytes -= open.bytes;
            let is_empty = !open.is_dropped && !open.has_failed;
            self.skipped.more(Reason::Nothing, u64::from(is_empty));
            return Ok(());
        }
        if open.is_block {
            open.transaction.last_gap = open.gap(at_us);
            open.transaction.ending = if open.is_aborted { Ending::Rollback } else { ending };
        }
        let may_fail = open.is_block && ending == Ending::Commit && !session.message.is_empty();
        self.flush(session, sink)?;
        session.ended = Some(open);
        if may_fail { Ok(()) } else { self.flush(session, sink) }
    }

    /// Passes the transaction on that has ended.
    fn flush(&mut self, session: &mut Session, sink: &mut Sink<'_>) -> std::io::Result<()> {
        let Some(ended) = session.ended.take() else { return Ok(()) };
        self.open_bytes -= ended.bytes;
        sink(ended.transaction, &self.shapes)
    }
}

impl Session {
    /// The statement that ends the transaction took this time.
    fn takes_to_end(&mut self, took_us: Option<u64>) {
        if let Some(open) = &mut self.open {
            open.transaction.took_us.end = took_us.unwrap_or_default();
        }
    }

    /// The savepoint of a statement that is about one.
    fn savepoint(&self, text: &str) -> Option<Savepoint> {
        match &self.open {
            Some(open) => open.savepoints.of(text, self.rules),
            None => Savepoints::default().of(text, self.rules),
        }
    }

    /// A statement changed settings, and is not replayed.
    fn set(&mut self, text: &str) {
        let variables = Variables::of(text, self.rules);
        let room = LOST_MAX.saturating_sub(self.lost.len());
        self.lost.extend(variables.assigned.into_iter().take(room));
        self.rules = changed_rules(text, self.rules);
    }

    /// Whether the user variables that a statement reads have their values when it is replayed.
    fn knows(&mut self, text: &str) -> bool {
        if self.lost.is_empty() {
            return true;
        }
        let variables = Variables::of(text, self.rules);
        let knows = variables.read.is_disjoint(&self.lost);
        if knows {
            self.lost.retain(|name| !variables.assigned.contains(name));
        } else {
            self.lost.extend(variables.assigned);
        }
        knows
    }

    /// The start of a statement, which is not before the end of the one before.
    fn after_last(&mut self, at_us: i64, took_us: Option<u64>) -> i64 {
        let is_close = self.last_us.saturating_sub(at_us) <= CLOCK_US;
        let at_us = if is_close { at_us.max(self.last_us) } else { at_us };
        self.last_us = at_us.saturating_add_unsigned(took_us.unwrap_or(0));
        at_us
    }
}

impl Open {
    /// The gap between the last statement and this time.
    fn gap(&self, at_us: i64) -> Gap {
        let from = self.last_end_us.unwrap_or(self.last_start_us);
        let us = at_us.saturating_sub(from).max(0).unsigned_abs();
        Gap { us, from_start: self.last_end_us.is_none() }
    }

    fn took(&mut self, at_us: i64, took_us: Option<u64>) {
        self.last_start_us = at_us;
        self.last_end_us = took_us.map(|took| at_us.saturating_add_unsigned(took));
    }
}

/// Whether a text has bytes that were not UTF-8.
fn is_replaced(text: &str) -> bool {
    text.contains(char::REPLACEMENT_CHARACTER)
}

fn merge(into: &mut Characteristics, more: Characteristics) {
    into.isolation = more.isolation.or(into.isolation);
    into.reads |= more.reads;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assembled(syntax: Syntax, events: &[(&str, i64, What)]) -> (Vec<Transaction>, Assembler) {
        let mut assembler = Assembler::new(syntax);
        let mut all = Vec::new();
        let mut sink = |transaction: Transaction, _: &Shapes| {
            all.push(transaction);
            Ok(())
        };
        for (session, at_us, what) in events.iter().cloned() {
            let event = Event { session: session.to_owned(), at_us, database: None, what };
            assembler.event(event, &mut sink).unwrap();
        }
        assembler.finish(&mut sink).unwrap();
        (all, assembler)
    }

    /// The endings and the statements of the transactions of one session: each text is a statement,
    /// one that begins with `!` fails in this way.
    fn ended(syntax: Syntax, aftermath: Aftermath, all: &[&str]) -> Vec<(Ending, String)> {
        let mut events = Vec::new();
        for (at_us, text) in (0..).zip(all) {
            let failed = text.strip_prefix('!');
            events.push(("a", at_us, sql(failed.unwrap_or(text), None)));
            let failed = failed.map(|text| What::Failed(Some(text.to_owned()), aftermath));
            events.extend(failed.map(|what| ("a", at_us, what)));
        }
        let (all, assembler) = assembled(syntax, &events);
        let texts = |one: &Transaction| {
            let text = |step: &Step| assembler.shapes.get(step.shape).to_string();
            one.steps.iter().map(text).collect::<Vec<_>>().join("; ")
        };
        all.iter().map(|one| (one.ending, texts(one))).collect()
    }

    fn sql(text: &str, took_us: Option<u64>) -> What {
        What::Statement { sql: text.to_owned(), binds: Vec::new(), took_us }
    }

    #[test]
    fn sessions_are_assembled_beside_each_other() {
        let (all, assembler) = assembled(
            Syntax::Postgres,
            &[
                ("a", 100, sql("BEGIN ISOLATION LEVEL SERIALIZABLE", Some(10))),
                ("b", 105, sql("SELECT 1", Some(5))),
                ("a", 150, sql("UPDATE t SET a = 1", Some(20))),
                ("b", 180, sql("SELECT 2", None)),
                ("b", 190, What::Took(3)),
                ("a", 190, sql("UPDATE t SET a = 2", None)),
                ("a", 200, sql("COMMIT", None)),
            ],
        );
        let facts = all.iter().map(|t| (t.session, t.start_us, t.ending, t.steps.len()));
        assert_eq!(
            facts.collect::<Vec<_>>(),
            [(1, 105, Ending::Single, 1), (0, 100, Ending::Commit, 2), (1, 180, Ending::Single, 1)]
        );
        let gaps: Vec<_> = all[1].steps.iter().map(|step| step.gap.us).collect();
        assert_eq!((gaps, all[1].last_gap), (vec![40, 20], Gap { us: 10, from_start: true }));
        assert!(all[1].characteristics.isolation.is_some());
        assert_eq!((assembler.shapes.len(), assembler.statements), (2, 4));
    }

    #[test]
    fn a_transaction_goes_on_after_an_error_as_it_did_on_the_server() {
        use Aftermath::{Aborted, Open, RolledBack};
        let one = |ending, text: &str| vec![(ending, text.to_owned())];
        // Only PostgreSQL aborts, until ROLLBACK TO SAVEPOINT.
        for (syntax, aftermath, all, expected) in [
            (
                Syntax::Postgres,
                Aborted,
                &["begin", "a", "savepoint s", "b", "!c", "rollback to s", "d", "commit"]
                    as &[&str],
                one(Ending::Commit, "a; savepoint savepoint_1; b; rollback to savepoint_1; d"),
            ),
            (
                Syntax::Postgres,
                Aborted,
                &["begin", "a", "savepoint s", "!b", "rollback to s", "!c", "!d", "commit"],
                one(Ending::Rollback, "a; savepoint savepoint_1; rollback to savepoint_1"),
            ),
            (
                Syntax::MySql,
                Open,
                &["begin", "a", "!b", "c", "commit"],
                one(Ending::Commit, "a; c"),
            ),
            (Syntax::MySql, Open, &["begin", "a", "!b", "rollback"], one(Ending::Rollback, "a")),
            (Syntax::Oracle, Open, &["a", "!b", "c", "commit"], one(Ending::Commit, "a; c")),
            (
                Syntax::MySql,
                RolledBack,
                &["begin", "a", "!b", "c", "commit"],
                [one(Ending::Rollback, "a"), one(Ending::Single, "c")].concat(),
            ),
            (
                Syntax::MySql,
                RolledBack,
                &["set autocommit=0", "a", "!b", "c", "d", "commit"],
                [one(Ending::Rollback, "a"), one(Ending::Commit, "c; d")].concat(),
            ),
        ] {
            assert_eq!(ended(syntax, aftermath, all), expected, "{all:?}");
        }
    }

    #[test]
    fn savepoints_of_all_transactions_have_the_same_texts() {
        let mut events = Vec::new();
        for number in 0..20 {
            events.push(("a", number, sql("begin", None)));
            events.push(("a", number, sql(&format!("savepoint s{number}"), None)));
            // One that failed is not open, and is not replayed.
            let failed = format!("savepoint t{number}");
            events.push(("a", number, sql(&failed, None)));
            events.push(("a", number, What::Failed(Some(failed), Aftermath::Open)));
            events.push(("a", number, sql(&format!("savepoint \"u{number}\""), None)));
            events.push(("a", number, sql(&format!("rollback to s{number}"), None)));
            events.push(("a", number, sql("commit", None)));
        }
        let (all, assembler) = assembled(Syntax::Postgres, &events);
        let texts: Vec<String> =
            (0..assembler.shapes.len()).map(|n| assembler.shapes.get(n).to_string()).collect();
        let expected =
            ["savepoint savepoint_1", "savepoint savepoint_2", "rollback to savepoint_1"];
        assert_eq!((all.len(), texts), (20, expected.map(str::to_owned).to_vec()));
    }

    #[test]
    fn a_commit_that_failed_is_a_rollback() {
        let failed = |text: &str| What::Failed(Some(text.to_owned()), Aftermath::Aborted);
        let (all, assembler) = assembled(
            Syntax::Postgres,
            &[
                ("a", 0, sql("begin", None)),
                ("a", 1, sql("a", None)),
                ("a", 2, sql("commit", None)),
                ("a", 3, failed("commit")),
                ("a", 4, sql("begin", None)),
                ("a", 5, sql("b", None)),
                ("a", 6, sql("commit", None)),
                // An error of syntax is logged without the statement.
                ("a", 7, failed("selec 1")),
                ("a", 8, sql("a; c", None)),
                ("a", 9, failed("a; c")),
                ("a", 10, sql("d", None)),
            ],
        );
        let endings: Vec<_> = all.iter().map(|one| one.ending).collect();
        let expected = [Ending::Rollback, Ending::Commit, Ending::Rollback, Ending::Single];
        assert_eq!((endings.as_slice(), assembler.open_bytes), (&expected as &[_], 0));
        assert_eq!(assembler.skipped.count(Reason::Failed), 3);
    }

    #[test]
    fn a_commit_that_is_logged_with_its_error_only_ends_the_transaction() {
        let failed = |text: &str| What::Failed(Some(text.to_owned()), Aftermath::Aborted);
        let (all, _) = assembled(
            Syntax::Postgres,
            &[
                ("a", 0, sql("begin;", Some(1))),
                ("a", 2, sql("a;", Some(1))),
                ("a", 4, failed("commit;")),
                ("a", 5, sql("b;", Some(1))),
                // With log_statement, the text of the message is that of its statement.
                ("a", 7, sql("select 1/0;", None)),
                ("a", 8, failed("select 1/0;")),
            ],
        );
        let found: Vec<_> = all.iter().map(|one| (one.ending, one.steps.len())).collect();
        assert_eq!(found, [(Ending::Rollback, 1), (Ending::Single, 1)]);
    }

    #[test]
    fn statements_whose_bytes_are_not_known_are_left_out() {
        let bad = String::from_utf8_lossy(b"insert into t values ('\xff')").into_owned();
        let (all, assembler) = assembled(Syntax::MySql, &[("8", 0, sql(&bad, None))]);
        assert_eq!((all.len(), assembler.skipped.count(Reason::Bytes)), (0, 1));
    }

    #[test]
    fn an_error_that_is_logged_alone_is_not_of_the_statement_before() {
        let failed = |text: &str| What::Failed(Some(text.to_owned()), Aftermath::Aborted);
        let (all, assembler) = assembled(
            Syntax::Postgres,
            &[
                ("a", 0, sql("INSERT INTO t VALUES (1)", Some(5))),
                // With log_min_duration_statement, a statement that fails is in this message only.
                ("a", 9, failed("INSERT INTO t VALUES (1)")),
                ("a", 10, sql("INSERT INTO t VALUES (2)", None)),
                ("a", 11, failed("SELECT 1/0")),
            ],
        );
        assert_eq!((all.len(), assembler.statements), (2, 2));
        assert_eq!(assembler.skipped.count(Reason::Failed), 2);
    }

    #[test]
    fn definitions_end_a_transaction_of_mysql() {
        let all = ["begin", "a", "create table t (a int)", "b", "rollback"];
        let found = ended(Syntax::MySql, Aftermath::Open, &all);
        assert_eq!(found, [(Ending::Commit, "a".into()), (Ending::Single, "b".into())]);
        let found = ended(Syntax::Postgres, Aftermath::Open, &all);
        assert_eq!(found, [(Ending::Rollback, "a; b".into())]);
        // So does autocommit when it is switched on, and only then.
        let all = ["begin", "a", "set autocommit=1", "b", "rollback"];
        let found = ended(Syntax::MySql, Aftermath::Open, &all);
        assert_eq!(found, [(Ending::Rollback, "a; b".into())]);
    }

    #[test]
    fn user_variables_have_their_values_or_are_left_out() {
        let (all, assembler) = assembled(
            Syntax::MySql,
            &[
                ("8", 0, sql("SET @v=16", None)),
                ("8", 1, sql("insert into y values (@v)", None)),
                ("8", 2, sql("SET @w = 1, sql_mode = ''", None)),
                ("8", 3, sql("insert into y values (@w)", None)),
                ("8", 4, sql("select 1 into @w", None)),
                ("8", 5, sql("insert into y values (@w)", None)),
                ("9", 6, sql("insert into y values (@w)", None)),
            ],
        );
        assert_eq!(all.len(), 5);
        assert_eq!(assembler.shapes.get(0).to_string(), "SET @v=?");
        let counts = [Reason::Variable, Reason::Setting].map(|why| assembler.skipped.count(why));
        assert_eq!(counts, [1, 1]);
    }

    #[test]
    fn settings_of_strings_are_those_of_the_session() {
        let (all, _) = assembled(
            Syntax::MySql,
            &[
                ("8", 0, sql("SET sql_mode='NO_BACKSLASH_ESCAPES'", None)),
                ("8", 1, sql("insert into y values ('a\\')", None)),
                ("9", 2, sql("insert into y values ('a\\nb')", None)),
            ],
        );
        let text = |text: &str| [Argument::Text(text.to_owned())];
        assert_eq!(all[0].steps[0].arguments, text("a\\"));
        assert_eq!(all[1].steps[0].arguments, text("a\nb"));
    }

    #[test]
    fn only_the_statements_of_the_database_that_is_wanted_are_kept() {
        let mut assembler = Assembler::new(Syntax::MySql);
        assembler.databases = Databases::new(Some("shop".to_owned()));
        let mut all = Vec::new();
        let mut sink = |transaction: Transaction, _: &Shapes| {
            all.push(transaction);
            Ok(())
        };
        for (session, database, text) in [
            ("1", Some("stock"), "BEGIN"),
            ("1", Some("stock"), "INSERT INTO a VALUES (1); INSERT INTO a VALUES (2)"),
            ("1", Some("stock"), "COMMIT"),
            ("2", None, "SELECT 1"),
            ("3", Some("shop"), "BEGIN"),
            ("3", Some("shop"), "INSERT INTO b VALUES (1)"),
            ("3", Some("stock"), "INSERT INTO a VALUES (3)"),
            ("3", Some("stock"), "COMMIT"),
        ] {
            let database = database.map(str::to_owned);
            let event =
                Event { session: session.into(), at_us: 0, database, what: sql(text, None) };
            assembler.event(event, &mut sink).unwrap();
        }
        assembler.finish(&mut sink).unwrap();
        let facts: Vec<_> = all.iter().map(|one| (one.ending, one.steps.len())).collect();
        assert_eq!((facts, assembler.sessions()), (vec![(Ending::Commit, 1)], 1));
        assert_eq!(assembler.skipped.count(Reason::OtherDatabase), 4);
        let lines = assembler.databases.lines("");
        assert_eq!(
            lines,
            "stock: 3 statements
shop: 1 statement
"
        );
    }

    #[test]
    fn a_failed_statement_rolls_its_transaction_back() {
        let (all, assembler) = assembled(
            Syntax::Postgres,
            &[
                ("a", 0, sql("BEGIN", None)),
                ("a", 1, sql("UPDATE t SET a = 1", None)),
                ("a", 2, sql("SELEC 1", None)),
                ("a", 3, What::Failed(Some("SELEC 1".into()), Aftermath::Aborted)),
                ("a", 4, sql("COMMIT", None)),
                ("a", 5, sql("SELECT 1/0", None)),
                ("a", 6, What::Failed(None, Aftermath::Aborted)),
            ],
        );
        assert_eq!((all.len(), all[0].ending, all[0].steps.len()), (1, Ending::Rollback, 1));
        assert_eq!((assembler.skipped.count(Reason::Failed), assembler.statements), (2, 1));
    }

    #[test]
    fn without_autocommit_a_transaction_ends_with_commit() {
        let (all, _) = assembled(
            Syntax::MySql,
            &[
                ("8", 0, sql("SET autocommit=0", None)),
                ("8", 1, sql("UPDATE t SET a = 1", None)),
                ("8", 2, sql("UPDATE t SET a = 2", None)),
                ("8", 3, sql("commit", None)),
                ("8", 4, sql("SET autocommit=1", None)),
                ("8", 5, sql("UPDATE t SET a = 3", None)),
                ("8", 6, sql("UPDATE t SET a = 4", None)),
            ],
        );
        let lengths: Vec<_> = all.iter().map(|t| (t.ending, t.steps.len())).collect();
        assert_eq!(lengths, [(Ending::Commit, 2), (Ending::Single, 1), (Ending::Single, 1)]);
    }

    #[test]
    fn statements_of_one_message_are_one_transaction() {
        let (all, assembler) = assembled(
            Syntax::Postgres,
            &[
                ("a", 0, sql("INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)", Some(9))),
                ("a", 1, sql("BEGIN; DELETE FROM t; COMMIT", None)),
                ("a", 2, sql("BEGIN", None)),
                ("a", 3, sql("DELETE FROM t", None)),
                ("b", 4, sql("BEGIN", None)),
                ("b", 5, What::Disconnected),
                ("b", 5, sql("SELECT 1", None)),
            ],
        );
        let lengths: Vec<_> = all.iter().map(|t| (t.session, t.ending, t.steps.len())).collect();
        assert_eq!(
            lengths,
            [(0, Ending::Commit, 2), (0, Ending::Commit, 1), (2, Ending::Single, 1)]
        );
        assert_eq!(assembler.skipped.count(Reason::Unfinished), 1);
    }

    #[test]
    fn the_open_transaction_of_a_lost_session_is_left_out() {
        let (all, assembler) = assembled(
            Syntax::Postgres,
            &[
                ("a", 0, sql("BEGIN", None)),
                ("a", 1, sql("DELETE FROM t", None)),
                ("a", 2, What::Lost),
                ("a", 3, What::Disconnected),
                ("b", 4, sql("SELECT 1", None)),
                ("b", 5, What::Lost),
            ],
        );
        let found: Vec<_> = all.iter().map(|t| (t.session, t.ending)).collect();
        assert_eq!((found.as_slice(), assembler.open_bytes), (&[(1, Ending::Single)][..], 0));
        assert_eq!(assembler.skipped.count(Reason::Unfinished), 1);
        assert_eq!(assembler.skipped.count(Reason::RolledBack), 0);
    }

    #[test]
    fn statements_of_one_message_are_transactions_of_their_own_on_mysql() {
        let found = ended(Syntax::MySql, Aftermath::Open, &["a; b", "begin; c", "d; commit; e"]);
        let expected = [
            (Ending::Single, "a"),
            (Ending::Single, "b"),
            (Ending::Commit, "c; d"),
            (Ending::Single, "e"),
        ];
        assert_eq!(found, expected.map(|(ending, text)| (ending, text.to_owned())));
    }

    #[test]
    fn the_body_of_a_routine_is_not_replayed() {
        let text = "DROP PROCEDURE p; CREATE PROCEDURE p() BEGIN INSERT INTO t VALUES (1); END";
        assert_eq!(ended(Syntax::MySql, Aftermath::Open, &[text]), []);
        let answers = vec![ServerAnswer::default(), ServerAnswer::default()];
        let what = What::Answered { sql: text.to_owned(), binds: Vec::new(), answers };
        assert!(assembled(Syntax::MySql, &[("a", 0, what)]).0.is_empty());
    }

    #[test]
    fn a_transaction_without_end_does_not_fill_the_memory() {
        let mut events = vec![("a", 0, sql("BEGIN", None))];
        events.extend((0..=STATEMENTS_MAX).map(|_| ("a", 1, sql("SELECT 1", None))));
        events.push(("a", 2, sql("COMMIT", None)));
        events.push(("a", 3, sql("SELECT 1", None)));
        let (all, assembler) = assembled(Syntax::Postgres, &events);
        assert_eq!((all.len(), assembler.open_bytes), (1, 0));
        assert_eq!(assembler.skipped.count(Reason::TransactionTooLong), 1);
    }
}
