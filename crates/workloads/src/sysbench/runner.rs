//! Carries out what a script requests on a session.

use std::collections::HashMap;
use std::sync::Arc;

use triphammer_core::clock::thread_cpu_ns;
use triphammer_core::rows::Rows;
use triphammer_core::session::{Access, Session, StatementId};
use triphammer_core::sql::Placeholder;
use triphammer_core::workload::{Completion, Statements};
use triphammer_core::{DbError, ErrorClass, SpecError, Value};
use triphammer_dialects::catalogues;
use triphammer_lua::{Call, Failure, Request, ScriptError, State};

use super::statement::{StatementKind, Template};
use super::totals::{Running, Totals, measuring_ns};
use super::workload::{Input, Sysbench};

/// One event in so many has its CPU time measured.
const MEASURED_EVERY: u64 = 64;
/// The first of them: later than LuaJIT compiles what it compiles at once.
const FIRST_MEASURED: u64 = 8;
/// Most different statements that a session prepares.
const STATEMENTS_MAX: usize = 65_536;
/// Most requests in turn that do not wait for the database: others on the thread wait meanwhile.
const QUIET_MAX: u32 = 100_000;
/// Number of arguments of a statement for which nothing is allocated.
const FEW: usize = 16;

/// A session of the script.
pub struct Prepared {
    state: State,
    database: Database,
    cpu: Cpu,
    /// The error with which the last event is restarted.
    restart: Option<ScriptError>,
    /// Whether the thread's loop must be entered again, because an error has ended it.
    is_out: bool,
    /// Number of the thread.
    tid: u32,
    totals: Arc<Totals>,
    running: Arc<Running>,
}

/// What is known about the session's statements and its transaction.
pub(crate) struct Database {
    placeholder: Placeholder,
    /// Whether sysbench's driver is that of MySQL: backslashes are special in texts.
    is_mysql: bool,
    as_text: bool,
    statements: Vec<Statement>,
    by_text: HashMap<Box<str>, usize>,
    text: String,
    /// Requests since the last statement.
    quiet: u32,
    pub(crate) in_transaction: bool,
    pub(crate) was_rolled_back: bool,
    pub(crate) has_committed: bool,
    /// The error of the last request, and how the script sees it.
    error: Option<(DbError, String)>,
}

/// A statement that the script has prepared.
struct Statement {
    kind: StatementKind,
    form: Form,
}

enum Form {
    /// The beginning or the end of a transaction.
    Transaction,
    /// Prepared by the database; whether it may return rows.
    Prepared(StatementId, bool),
    /// Sent as text with its values in it.
    Text(Template),
}

/// CPU time of Lua, measured in a sample of events.
#[derive(Default)]
struct Cpu {
    events: u64,
    is_measured: bool,
    sampled_ns: u64,
    /// Events that were measured.
    sampled: u64,
}

/// Why a script stopped.
enum Fault {
    /// An error of the database that the script did not catch.
    Database(DbError, ScriptError),
    /// An error of the script itself.
    Script(ScriptError),
}

/// Where a script waits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    Idle,
    Done,
    Returned,
}

impl From<ScriptError> for Fault {
    fn from(error: ScriptError) -> Self {
        Self::Script(error)
    }
}

impl Cpu {
    /// Runs Lua.
    #[inline]
    fn of<T>(&mut self, call: impl FnOnce() -> T) -> T {
        if !self.is_measured {
            return call();
        }
        let start = thread_cpu_ns();
        let result = call();
        let took = thread_cpu_ns().saturating_sub(start);
        self.sampled_ns += took.saturating_sub(measuring_ns());
        result
    }

    fn begin_event(&mut self) {
        self.is_measured = self.events % MEASURED_EVERY == FIRST_MEASURED;
        self.events += 1;
        self.sampled += u64::from(self.is_measured);
    }

    /// CPU time of all events, in nanoseconds.
    fn total_ns(&self) -> u64 {
        let total = u128::from(self.sampled_ns) * u128::from(self.events);
        let total = total.checked_div(self.sampled.into()).unwrap_or_default();
        u64::try_from(total).unwrap_or(u64::MAX)
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        self.totals.end(&self.running, self.state.counts(), self.cpu.total_ns());
    }
}

/// The name of a dialect's driver in sysbench.
pub(crate) fn driver(statements: &Statements<'_>) -> Result<String, SpecError> {
    let dialect = statements.catalogue().dialect();
    let mut chain = catalogues::chain(dialect)?;
    let named = chain.iter_mut().rev().find_map(|dialect| dialect.sysbench_driver.take());
    Ok(named.unwrap_or_else(|| dialect.to_owned()))
}

pub(crate) fn refused(error: impl ToString) -> DbError {
    DbError::new(ErrorClass::Refused, error.to_string())
}

/// An error of the script itself. It ends the run, but its session is as good as before.
pub(crate) fn failed(error: impl ToString) -> DbError {
    DbError::new(ErrorClass::Other, error.to_string())
}

impl Prepared {
    fn load(sysbench: &Sysbench, statements: &Statements<'_>) -> Result<Self, DbError> {
        let driver = driver(statements).map_err(refused)?;
        let environment = sysbench.environment(&driver, statements.session());
        let state = State::new(&environment).map_err(refused)?;
        Ok(Self {
            state,
            database: Database::new(statements, &driver, sysbench.as_text),
            cpu: Cpu::default(),
            restart: None,
            is_out: true,
            tid: statements.session().0,
            totals: Arc::clone(&sysbench.totals),
            running: sysbench.totals.begin(),
        })
    }

    /// Loads the script, and calls its `thread_init()`.
    ///
    /// # Errors
    /// When the script fails, or the database does.
    pub async fn new<S: Session>(
        sysbench: &Sysbench,
        statements: &Statements<'_>,
        session: &mut S,
    ) -> Result<Self, DbError> {
        if let Some(why) = sysbench.totals.failure() {
            return Err(refused(format!("the script has failed: {why}")));
        }
        let mut prepared = Self::load(sysbench, statements)?;
        let done = prepared.call(sysbench, "thread_init", session).await;
        done.map_err(|fault| fault.outside("thread_init"))?;
        Ok(prepared)
    }

    /// Calls a function if the script has it.
    async fn call<S: Session>(
        &mut self,
        sysbench: &Sysbench,
        name: &str,
        session: &mut S,
    ) -> Result<(), Fault> {
        if self.state.has(name).is_none() {
            return Ok(());
        }
        let called = self.state.call(Call::Named(name), None);
        self.drive(sysbench, called, session).await?;
        // Outside of events nothing may stay open.
        if std::mem::take(&mut self.database.in_transaction) {
            session.commit().await.map_err(|error| self.fault(error))?;
        }
        Ok(())
    }

    /// An error of the database at a place where the script does not see it.
    fn fault(&self, error: DbError) -> Fault {
        let shown = error.to_string();
        Fault::Database(error, ScriptError::plain(shown))
    }

    /// Carries out requests until the script waits for an event or returns.
    async fn drive<S: Session>(
        &mut self,
        sysbench: &Sysbench,
        mut answered: Result<(), ScriptError>,
        session: &mut S,
    ) -> Result<Stop, Fault> {
        loop {
            if let Err(error) = answered {
                return Err(self.database.cause(error));
            }
            let Self { state, database, cpu, .. } = self;
            let request = cpu.of(|| state.request())?;
            answered = match request {
                Request::Idle => return Ok(Stop::Idle),
                Request::Done => return Ok(Stop::Done),
                Request::Returned => return Ok(Stop::Returned),
                Request::Connect | Request::Disconnect => {
                    database.quiet()?;
                    cpu.of(|| state.done(0))
                }
                Request::Query(text) => {
                    let mut rows = state.buffer();
                    let kind = StatementKind::of(text);
                    let done = database.query(kind, text, session, &mut rows).await;
                    if done.is_ok() {
                        count(state, seen(kind, &rows, session.effect().changed));
                    }
                    answer(sysbench, state, database, cpu, done.map(|()| rows))?
                }
                Request::Prepare(text) => match database.prepare(text, session).await {
                    Ok(number) => {
                        database.quiet()?;
                        cpu.of(|| state.done(number))
                    }
                    Err(error) => answer(sysbench, state, database, cpu, Err(error))?,
                },
                Request::Execute(number, arguments) => {
                    let mut rows = state.buffer();
                    let wrong = |error: ScriptError| {
                        DbError::new(ErrorClass::Unsupported, error.to_string())
                    };
                    let (mut few, mut many) = ([Value::Null; FEW], Vec::new());
                    let done = match arguments.read(&mut few, &mut many).map_err(wrong) {
                        Ok(values) => database.execute(number, values, session, &mut rows).await,
                        Err(error) => Err(error),
                    };
                    if let (Ok(_), Some(statement)) = (&done, database.statements.get(number)) {
                        count(state, seen(statement.kind, &rows, session.effect().changed));
                    }
                    answer(sysbench, state, database, cpu, done.map(|_| rows))?
                }
            };
        }
    }
}

/// The kind by which sysbench counts a statement that succeeded: what returns columns reads, and what changed no row is
/// none of both. Where the number of changed rows is not known, it is the kind of the text.
#[inline]
fn seen(kind: StatementKind, rows: &Rows, changed: Option<u64>) -> StatementKind {
    match (kind, changed) {
        (
            StatementKind::Begin
            | StatementKind::BeginWith
            | StatementKind::Commit
            | StatementKind::Rollback,
            _,
        ) => kind,
        _ if rows.width() > 0 => StatementKind::Read,
        (_, Some(0)) => StatementKind::Other,
        (_, Some(_)) => StatementKind::Write,
        (_, None) => kind,
    }
}

/// Counts a statement.
#[inline]
fn count(state: &State, kind: StatementKind) {
    state.count(|counts| match kind {
        StatementKind::Read => counts.reads += 1,
        StatementKind::Write => counts.writes += 1,
        _ => counts.other += 1,
    });
}

/// Answers a statement. A script that would catch the loss of its session could continue forever, so it ends.
#[inline]
fn answer(
    sysbench: &Sysbench,
    state: &mut State,
    database: &mut Database,
    cpu: &mut Cpu,
    done: Result<Rows, DbError>,
) -> Result<Result<(), ScriptError>, Fault> {
    database.quiet = 0;
    match done {
        Ok(rows) => Ok(cpu.of(|| state.rows(rows))),
        Err(error) if error.class().loses_session() => {
            let shown = error.to_string();
            Err(Fault::Database(error, ScriptError::plain(shown)))
        }
        Err(error) => {
            let code = error.code().map(str::to_owned);
            let is_ignorable = match &sysbench.ignored {
                Some(ignored) => ignored.has(code.as_deref()),
                None => false,
            };
            let is_ignorable = is_ignorable || error.class().is_retryable();
            let shown = error.message().to_owned();
            let failure = database.failure(&error, is_ignorable);
            database.error = Some((error, shown));
            Ok(state.fail(failure))
        }
    }
}

impl Database {
    /// A session that has not sent anything.
    pub(crate) fn new(statements: &Statements<'_>, driver: &str, as_text: bool) -> Self {
        Self {
            placeholder: statements.catalogue().placeholder(),
            is_mysql: driver == "mysql",
            as_text,
            statements: Vec::new(),
            by_text: HashMap::new(),
            text: String::new(),
            quiet: 0,
            in_transaction: false,
            was_rolled_back: false,
            has_committed: false,
            error: None,
        }
    }

    /// An error as sysbench's driver shows it to a script: MySQL's with a number, PostgreSQL's
    /// without.
    fn failure(&self, error: &DbError, is_ignorable: bool) -> Failure {
        let code = error.code().unwrap_or_default();
        let message = error.message().to_owned();
        let number = code.parse().ok().filter(|_| self.is_mysql);
        let state = match number {
            Some(_) => error.state().unwrap_or_default(),
            None => code,
        };
        Failure { number: number.unwrap_or(0), state: state.to_owned(), message, is_ignorable }
    }

    /// Notes a request that did not wait for the database.
    fn quiet(&mut self) -> Result<(), ScriptError> {
        self.quiet += 1;
        if self.quiet <= QUIET_MAX {
            return Ok(());
        }
        let message = format!(
            "the script prepared or connected {QUIET_MAX} times without executing a statement"
        );
        Err(ScriptError::plain(message))
    }

    /// Runs a text.
    pub(crate) async fn query<S: Session>(
        &mut self,
        kind: StatementKind,
        text: &str,
        session: &mut S,
        rows: &mut Rows,
    ) -> Result<(), DbError> {
        rows.reset(0);
        match kind {
            StatementKind::Begin | StatementKind::Commit | StatementKind::Rollback => {
                self.transaction(kind, session).await
            }
            StatementKind::Read => session.text(text, false, rows).await,
            StatementKind::BeginWith => {
                session.text(text, false, rows).await?;
                self.has_begun();
                Ok(())
            }
            StatementKind::Write | StatementKind::Other => {
                let commits = !self.in_transaction;
                session.text(text, commits, rows).await?;
                self.has_committed |= commits && kind == StatementKind::Write;
                Ok(())
            }
        }
    }

    /// Notes that a transaction has begun.
    fn has_begun(&mut self) {
        self.in_transaction = true;
        self.was_rolled_back = false;
    }

    /// Begins or ends a transaction.
    pub(crate) async fn transaction<S: Session>(
        &mut self,
        kind: StatementKind,
        session: &mut S,
    ) -> Result<(), DbError> {
        match kind {
            StatementKind::Begin => session.begin(Access::Write).await?,
            StatementKind::Commit => session.commit().await?,
            _ => session.rollback().await?,
        }
        self.in_transaction = kind == StatementKind::Begin;
        self.was_rolled_back = kind == StatementKind::Rollback;
        self.has_committed |= kind == StatementKind::Commit;
        Ok(())
    }

    /// Prepares a statement, unless the session already has; returns its number.
    pub(crate) async fn prepare<S: Session>(
        &mut self,
        text: &str,
        session: &mut S,
    ) -> Result<usize, DbError> {
        if let Some(number) = self.by_text.get(text) {
            return Ok(*number);
        }
        if self.statements.len() >= STATEMENTS_MAX {
            let message = format!("the script prepared more than {STATEMENTS_MAX} statements");
            return Err(DbError::new(ErrorClass::Unsupported, message));
        }
        let kind = StatementKind::of(text);
        let template = Template::new(text);
        let form = match kind {
            StatementKind::Begin | StatementKind::Commit | StatementKind::Rollback => {
                Form::Transaction
            }
            _ if self.as_text => Form::Text(template),
            _ => match session.prepare(&template.bound(self.placeholder)).await {
                Ok(id) => {
                    let upper = text.to_ascii_uppercase();
                    Form::Prepared(id, kind != StatementKind::Write || upper.contains("RETURNING"))
                }
                Err(error) if error.class() == ErrorClass::Unsupported => Form::Text(template),
                Err(error) => return Err(error),
            },
        };
        let number = self.statements.len();
        self.statements.push(Statement { kind, form });
        self.by_text.insert(text.into(), number);
        Ok(number)
    }

    /// Runs a prepared statement; returns the number of rows that it changed, or 0 if it may return rows.
    #[inline]
    pub(crate) async fn execute<S: Session>(
        &mut self,
        number: usize,
        values: &[Value<'_>],
        session: &mut S,
        rows: &mut Rows,
    ) -> Result<u64, DbError> {
        let Some(Statement { kind, form }) = self.statements.get(number) else {
            return Err(DbError::new(ErrorClass::Unsupported, "no such prepared statement"));
        };
        let kind = *kind;
        let mut changed = 0;
        let commits =
            !self.in_transaction && !matches!(kind, StatementKind::Read | StatementKind::BeginWith);
        match form {
            Form::Transaction => {
                rows.reset(0);
                return self.transaction(kind, session).await.map(|()| 0);
            }
            Form::Prepared(id, true) => match commits {
                true => session.call(*id, values, rows).await?,
                false => session.query(*id, values, rows).await?,
            },
            Form::Prepared(id, false) => {
                rows.reset(0);
                changed = match commits {
                    true => session.execute_autocommit(*id, values).await?,
                    false => session.execute(*id, values).await?,
                };
            }
            Form::Text(template) => {
                template.write(values, self.is_mysql, &mut self.text);
                session.text(&self.text, commits, rows).await?;
            }
        }
        if kind == StatementKind::BeginWith {
            self.has_begun();
        }
        self.has_committed |= commits && kind == StatementKind::Write;
        Ok(changed)
    }

    /// Why the script failed: because of the database's last error, if the script did not catch it.
    fn cause(&mut self, error: ScriptError) -> Fault {
        self.in_transaction = false;
        match self.error.take() {
            Some((cause, shown)) if error.restarts() || error.message.contains(&shown) => {
                Fault::Database(cause, error)
            }
            // `error({errcode = sysbench.error.RESTART_EVENT})`.
            _ if error.restarts() => {
                let why = "the script restarted its event";
                Fault::Database(DbError::new(ErrorClass::Serialization, why), error)
            }
            _ => Fault::Script(error),
        }
    }
}

impl Fault {
    /// The error of a function outside of events.
    fn outside(self, function: &str) -> DbError {
        match self {
            Self::Database(error, _) => error.context(format_args!("{function}()")),
            Self::Script(error) => refused(error),
        }
    }
}

/// Runs a command or function of the script on a session.
///
/// # Errors
/// When the script fails, or the database does.
pub async fn command<S: Session>(
    sysbench: &Sysbench,
    name: &str,
    statements: &Statements<'_>,
    session: &mut S,
) -> Result<(), DbError> {
    let mut prepared = Prepared::load(sysbench, statements)?;
    let done = prepared.call(sysbench, name, session).await;
    done.map_err(|fault| match fault {
        // The message of the script has the place.
        Fault::Database(error, shown) => DbError::new(error.class(), shown.to_string()),
        Fault::Script(error) => DbError::new(ErrorClass::Other, error.to_string()),
    })
}

/// Runs one event.
///
/// # Errors
/// As the database reports, and when the script fails, which ends the run.
pub async fn run<S: Session>(
    sysbench: &Sysbench,
    input: &Input,
    prepared: &mut Prepared,
    session: &mut S,
) -> Result<Completion, DbError> {
    prepared.cpu.begin_event();
    prepared.database.has_committed = false;
    prepared.database.was_rolled_back = false;
    let ended = event(sysbench, input, prepared, session).await;
    prepared.running.set(prepared.state.counts());
    let Database { has_committed, was_rolled_back, in_transaction, .. } = prepared.database;
    match ended {
        Ok(stop) => {
            if stop == Stop::Returned {
                input.has_ended.set(true);
                prepared.is_out = true;
            }
            Ok(if was_rolled_back && !in_transaction {
                Completion::ROLLED_BACK
            } else {
                Completion::COMMITTED
            })
        }
        Err(fault) => {
            prepared.is_out = true;
            let error = match fault {
                Fault::Script(error) => {
                    sysbench.totals.fail(error.to_string());
                    failed(error)
                }
                Fault::Database(error, shown) => {
                    let is_ignored = shown.restarts();
                    // After a lost session the thread starts again.
                    let is_lost = error.class().loses_session();
                    let is_last = sysbench.ignored.is_some() && !is_ignored && !is_lost;
                    if is_last {
                        sysbench.totals.fail(shown.to_string());
                    }
                    prepared.restart = is_ignored.then_some(shown);
                    match is_ignored {
                        true => restarted(error),
                        false if is_last => last(error),
                        false => error,
                    }
                }
            };
            // What is committed already does not make the event succeed.
            Err(if has_committed { error.undone() } else { error })
        }
    }
}

/// An error after which the script restarts its event: the engine repeats such a transaction if the error says that
/// this may help.
fn restarted(error: DbError) -> DbError {
    if error.class().is_retryable() {
        return error;
    }
    let restarted = DbError::new(ErrorClass::Serialization, error.message());
    match error.code() {
        Some(code) => restarted.with_code(code),
        None => restarted,
    }
}

/// An error that ends the run: the engine must not repeat the transaction.
fn last(error: DbError) -> DbError {
    if !error.class().is_retryable() {
        return error;
    }
    let last = failed(error.message());
    match error.code() {
        Some(code) => last.with_code(code),
        None => last,
    }
}

/// Runs the script until its event has ended.
async fn event<S: Session>(
    sysbench: &Sysbench,
    input: &Input,
    prepared: &mut Prepared,
    session: &mut S,
) -> Result<Stop, Fault> {
    if std::mem::take(&mut prepared.is_out) {
        let restart = prepared.restart.take();
        let entered = prepared.state.call(Call::ThreadRun, restart);
        if prepared.drive(sysbench, entered, session).await? == Stop::Returned {
            return Ok(Stop::Returned);
        }
    }
    let Prepared { state, cpu, .. } = prepared;
    let begun = cpu.of(|| state.begin(input.seed));
    let stop = prepared.drive(sysbench, begun, session).await?;
    if stop != Stop::Idle {
        return Ok(stop);
    }
    // A loop of the script's own asked for the next event without ending this one.
    Ok(Stop::Done)
}

/// Ends a thread of the script, and calls its `thread_done()`; the first thread also calls `done()`.
pub async fn finish<S: Session>(sysbench: &Sysbench, mut prepared: Prepared, session: &mut S) {
    if sysbench.totals.has_failed() {
        return;
    }
    if !prepared.is_out {
        let ended = prepared.state.end();
        if let Err(fault) = prepared.drive(sysbench, ended, session).await {
            sysbench.totals.fail(fault.outside("thread_run").to_string());
            return;
        }
    }
    let functions: &[&str] =
        if prepared.tid == 0 { &["thread_done", "done"] } else { &["thread_done"] };
    for name in functions {
        if let Err(fault) = prepared.call(sysbench, name, session).await {
            let why = match &fault {
                Fault::Database(_, shown) | Fault::Script(shown) => shown.to_string(),
            };
            sysbench.totals.fail(why);
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_counts_as_what_it_did() {
        let (none, mut some) = (Rows::new(), Rows::new());
        some.reset(1);
        for (kind, rows, changed, counted) in [
            (StatementKind::Read, &some, Some(7), StatementKind::Read),
            (StatementKind::Write, &none, Some(1), StatementKind::Write),
            (StatementKind::Write, &none, Some(0), StatementKind::Other),
            // RETURNING, EXPLAIN, and CREATE TABLE AS.
            (StatementKind::Write, &some, Some(1), StatementKind::Read),
            (StatementKind::Other, &some, Some(0), StatementKind::Read),
            (StatementKind::Other, &none, Some(3), StatementKind::Write),
            (StatementKind::Commit, &none, Some(1), StatementKind::Commit),
            // Nothing is known.
            (StatementKind::Write, &none, None, StatementKind::Write),
            (StatementKind::Read, &none, None, StatementKind::Read),
        ] {
            assert_eq!(seen(kind, rows, changed), counted, "{kind:?} {changed:?}");
        }
    }

    #[test]
    fn an_error_that_ends_the_run_is_not_repeated() {
        let deadlock = DbError::new(ErrorClass::Deadlock, "deadlock").with_code("1213");
        let error = last(deadlock);
        assert!(!error.class().is_retryable() && !error.class().loses_session());
        assert_eq!((error.code(), error.message()), (Some("1213"), "deadlock"));
        assert!(!failed("attempt to index nil").class().loses_session());
    }
}
