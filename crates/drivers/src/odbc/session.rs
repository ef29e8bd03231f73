//! One connection by ODBC. Every call does its work before it returns, so its futures are ready at
//! once; a canceller interrupts from another thread.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use triphammer_core::error::{DbError, ErrorClass};
use triphammer_core::odbc::{BeginDef, ListForm, OdbcDef};
use triphammer_core::rows::Rows;
use triphammer_core::session::{Access, Canceller, Isolation, RowSource, Session, StatementId};
use triphammer_core::sql::{BoundStatement, commits_inside};
use triphammer_core::value::Value;
use triphammer_core::workload::TableDef;
use triphammer_odbc::{
    Connection, Error, Interrupter, Number, ParamType, Statement, TransactionEnd,
};

use super::errors::on_statement;
use super::script::{may_return_several, statements};
use super::shared::{Profile, Shared, isolation_bit};
use super::values::{Forms, Scratch, append, fits};
use crate::advisory_lock::LockFile;
use crate::answer::{ANSWER_BYTES_MAX, too_large};
use crate::arguments::wrong_count;

/// Size of a batch of [`Session::stream`], in bytes.
const BATCH_BYTES: usize = 256 * 1024;

/// A session by ODBC.
pub struct OdbcSession {
    kept: Vec<CallerStatement>,
    /// Runs texts.
    direct: Statement,
    pub(super) ping: Option<Statement>,
    pub(super) connection: Connection,
    pub(super) shared: Arc<Shared>,
    scratch: Scratch,
    /// Whether each statement commits: the driver's initial mode.
    autocommit: bool,
    in_transaction: bool,
    /// The level of the last transaction, if it was another than the session's.
    other_level: Option<Isolation>,
    /// Errors that said that the columns of a table had changed.
    changes: u32,
    is_closed: bool,
    pub(super) advisory_lock: Option<LockFile>,
}

/// A statement prepared by the caller.
struct CallerStatement {
    statement: Statement,
    bound: BoundStatement,
    types: Vec<ParamType>,
    /// Changes of columns that the session had met when it was prepared.
    prepared_after: u32,
    /// Whether it may return several results.
    several: bool,
    /// Whether it may commit before it ends.
    commits_inside: bool,
}

/// How the rows of a result are read.
#[derive(Clone, Copy)]
struct Reading<'d> {
    lists: Option<ListForm>,
    def: &'d OdbcDef,
}

impl Reading<'_> {
    fn error(&self, error: &Error) -> DbError {
        on_statement(error, self.def)
    }

    /// Empties a buffer for the rows of a result; returns the number of columns.
    fn describe(&self, statement: &mut Statement, rows: &mut Rows) -> Result<usize, DbError> {
        let width = statement.describe().map_err(|error| self.error(&error))?;
        rows.reset(width);
        if rows.wants_names() {
            rows.set_names([]);
            for column in 0..width {
                rows.add_name(statement.name(column));
            }
        }
        Ok(width)
    }

    /// Appends the next row; false after the last.
    #[inline]
    fn next(
        &self,
        statement: &mut Statement,
        width: usize,
        rows: &mut Rows,
    ) -> Result<bool, DbError> {
        if !statement.fetch().map_err(|error| self.error(&error))? {
            return Ok(false);
        }
        for column in 0..width {
            append(rows, statement.field(column), column, self.lists)?;
        }
        Ok(true)
    }

    /// Reads the last result that has rows, of those that there are.
    fn collect(
        &self,
        statement: &mut Statement,
        several: bool,
        rows: &mut Rows,
    ) -> Result<(), DbError> {
        let mut found = false;
        loop {
            let width = statement.describe().map_err(|error| self.error(&error))?;
            if width > 0 || !found {
                found |= width > 0;
                self.describe(statement, rows)?;
                while width > 0 && self.next(statement, width, rows)? {
                    if rows.bytes() > ANSWER_BYTES_MAX {
                        return Err(too_large());
                    }
                }
            }
            if !several || !statement.next_result().map_err(|error| self.error(&error))? {
                statement.close();
                return Ok(());
            }
        }
    }
}

impl OdbcSession {
    /// The error of a statement that is a transaction of its own.
    fn autocommit_failed(&self, id: StatementId, error: DbError) -> DbError {
        match self.kept.get(id.index()) {
            Some(kept) if !kept.commits_inside => error.failed_commit(),
            _ => error.after_commit_sent(),
        }
    }

    pub(super) fn new(connection: Connection, shared: Arc<Shared>) -> Result<Self, DbError> {
        let def = shared.def().expect("identified before a session is opened");
        let mut direct = connection.statement().map_err(|error| on_statement(&error, def))?;
        if def.untyped.unwrap_or(false) {
            direct.read_as_text();
        }
        Ok(Self {
            kept: Vec::new(),
            direct,
            ping: None,
            connection,
            shared,
            scratch: Scratch::default(),
            autocommit: true,
            in_transaction: false,
            other_level: None,
            changes: 0,
            is_closed: false,
            advisory_lock: None,
        })
    }

    pub(super) fn profile(&self) -> &Profile {
        self.shared.profile.get().expect("identified before a session is opened")
    }

    pub(super) fn def(&self) -> &'static OdbcDef {
        &self.profile().dialect.def
    }

    /// Converts an error, and notes whether the session is lost.
    #[cold]
    pub(super) fn failed(&mut self, error: &Error) -> DbError {
        let converted = on_statement(error, self.def());
        self.note(converted)
    }

    #[cold]
    pub(super) fn note(&mut self, mut error: DbError) -> DbError {
        if error.class() == ErrorClass::Other && self.connection.is_dead() {
            let code = error.code().map(str::to_owned);
            error = DbError::new(ErrorClass::Disconnected, error.message());
            if let Some(code) = code {
                error = error.with_code(code);
            }
        }
        self.is_closed |= error.class().loses_session();
        self.changes += u32::from(error.class() == ErrorClass::SchemaChanged);
        error
    }

    /// Returns to the mode in which each statement commits, outside a transaction.
    #[inline]
    fn ready(&mut self) -> Result<(), DbError> {
        if !self.autocommit && !self.in_transaction {
            self.connection.set_autocommit(true).map_err(|error| self.failed(&error))?;
            self.autocommit = true;
        }
        Ok(())
    }

    /// Runs statements without results.
    pub(super) fn run_all(&mut self, texts: &[String]) -> Result<(), DbError> {
        for text in texts {
            self.run(text)?;
        }
        Ok(())
    }

    /// Runs one statement, and reads all that it returns.
    pub(super) fn run(&mut self, text: &str) -> Result<(), DbError> {
        self.direct.direct(text).map_err(|error| self.failed(&error))?;
        loop {
            let width = self.direct.describe().map_err(|error| self.failed(&error))?;
            while width > 0 && self.direct.fetch().map_err(|error| self.failed(&error))? {}
            if !self.direct.next_result().map_err(|error| self.failed(&error))? {
                self.direct.close();
                return Ok(());
            }
        }
    }

    /// Runs a query and reads its rows.
    pub(super) fn ask(&mut self, text: &str, rows: &mut Rows) -> Result<(), DbError> {
        self.direct.direct(text).map_err(|error| self.failed(&error))?;
        let reading = Reading { lists: None, def: self.def() };
        let read = reading.collect(&mut self.direct, may_return_several(text), rows);
        read.map_err(|error| self.note(error))
    }

    /// Prepares a statement again, if the session has met a change of columns since it was prepared.
    #[inline]
    fn refresh(&mut self, id: StatementId) -> Result<(), DbError> {
        let kept = &self.kept[id.index()];
        if kept.prepared_after != self.changes {
            let bound = kept.bound.clone();
            self.kept[id.index()] = CallerStatement::of(self, &bound)?;
            self.shared.prepared_again.count();
        }
        Ok(())
    }

    /// Sets the arguments of a statement and runs it.
    #[inline]
    fn start(&mut self, id: StatementId, args: &[Value<'_>]) -> Result<(), DbError> {
        self.ready()?;
        self.refresh(id)?;
        let forms = Forms::of(self.def());
        let kept = &mut self.kept[id.index()];
        kept.bind(args, &mut self.scratch, forms)?;
        let done = kept.statement.execute();
        done.map_err(|error| self.abandon(id, on_statement(&error, self.def())))
    }

    /// Runs a statement and reads its rows.
    #[inline]
    fn fetch_all(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        with_lists: bool,
        rows: &mut Rows,
    ) -> Result<(), DbError> {
        self.start(id, args)?;
        let def = self.def();
        let lists = with_lists.then(|| def.lists.unwrap_or(ListForm::Json));
        let reading = Reading { lists, def };
        let kept = &mut self.kept[id.index()];
        let read = reading.collect(&mut kept.statement, kept.several, rows);
        read.map_err(|error| self.abandon(id, error))
    }

    /// Discards what a failed statement has left.
    #[cold]
    fn abandon(&mut self, id: StatementId, error: DbError) -> DbError {
        self.kept[id.index()].statement.close();
        let error = self.note(error);
        // Although closed, it may have an answer that nobody can read, and that stops all others. It
        // is prepared again before it runs.
        if error.class() == ErrorClass::SchemaChanged
            && let Ok(unused) = self.connection.statement()
        {
            self.kept[id.index()].statement = unused;
        }
        error
    }

    /// Uses an isolation level for the transaction that follows.
    fn use_level(&mut self, level: Option<Isolation>) -> Result<(), DbError> {
        if level == self.other_level {
            return Ok(());
        }
        // Back to the session's own, or to the database's default.
        let default = self.connection.number(Number::DefaultIsolation);
        let wanted = level.or(self.shared.isolation).map_or(Some(default), isolation_bit);
        if let Some(bit) = wanted.filter(|bit| *bit != 0) {
            self.connection.set_isolation(bit).map_err(|error| self.failed(&error))?;
        }
        self.other_level = level;
        Ok(())
    }

    fn begin_at_level(&mut self, access: Access, level: Option<Isolation>) -> Result<(), DbError> {
        if !self.profile().capabilities.transactions {
            return Ok(());
        }
        let begin = self.def().begin.as_ref();
        let texts = begin.map_or(&[][..], |begin| texts_of(begin, access));
        let usual = begin.map_or("", |begin| begin.isolation.as_str());
        if texts.iter().all(|text| !text.contains("{isolation}")) {
            self.use_level(level)?;
        }
        if self.commits_manually() && self.autocommit {
            self.connection.set_autocommit(false).map_err(|error| self.failed(&error))?;
            self.autocommit = false;
        }
        let level = level.or(self.shared.isolation);
        for text in texts {
            let words = level.map_or_else(|| usual.to_owned(), isolation_words);
            self.run(text.replace("{isolation}", &words).trim_end())?;
            // What fails after the first leaves a transaction.
            self.in_transaction = true;
        }
        self.in_transaction = true;
        Ok(())
    }

    /// Whether transactions are those of ODBC's manual commit.
    fn commits_manually(&self) -> bool {
        self.def().begin.as_ref().is_none_or(|begin| begin.manual_commit)
    }

    fn end(&mut self, how: TransactionEnd) -> Result<(), DbError> {
        self.in_transaction = false;
        if self.commits_manually() {
            return self.connection.end(how).map_err(|error| self.failed(&error));
        }
        match how {
            TransactionEnd::Commit => self.run("COMMIT"),
            TransactionEnd::Rollback => {
                let declared =
                    self.def().begin.as_ref().and_then(|begin| begin.rollback.as_deref());
                self.run(declared.unwrap_or("ROLLBACK"))
            }
        }
    }
}

fn texts_of(begin: &BeginDef, access: Access) -> &[String] {
    match access {
        Access::Write => &begin.write,
        Access::Read => &begin.read,
        Access::Snapshot => &begin.snapshot,
    }
}

/// `ISOLATION LEVEL REPEATABLE READ`.
fn isolation_words(level: Isolation) -> String {
    format!("ISOLATION LEVEL {}", level.name().replace('-', " ").to_uppercase())
}

impl CallerStatement {
    fn of(session: &mut OdbcSession, bound: &BoundStatement) -> Result<Self, DbError> {
        let def = session.def();
        let forms = Forms::of(def);
        let of_place = |place: &usize| forms.param(bound.params[*place].param_type);
        let types: Vec<_> = bound.order.iter().map(of_place).collect();
        let prepared = session.connection.prepare(&bound.sql, &types, 1);
        let mut statement = prepared.map_err(|error| session.failed(&error))?;
        if def.untyped.unwrap_or(false) {
            statement.read_as_text();
        }
        if let Some(found) = statement.parameters().filter(|found| *found != types.len()) {
            let wanted = types.len();
            let message =
                format!("`{}` has {found} placeholders for {wanted} arguments", bound.name);
            return Err(DbError::new(ErrorClass::Other, message));
        }
        let several = may_return_several(&bound.sql);
        if !several && def.describe.unwrap_or(true) {
            // Many drivers look at a statement only now.
            statement.describe().map_err(|error| session.failed(&error))?;
        }
        let commits_inside = commits_inside(&bound.sql);
        let (bound, prepared_after) = (bound.clone(), session.changes);
        Ok(Self { statement, bound, types, prepared_after, several, commits_inside })
    }

    #[inline]
    fn bind(
        &mut self,
        args: &[Value<'_>],
        scratch: &mut Scratch,
        forms: Forms,
    ) -> Result<(), DbError> {
        if args.len() != self.bound.params.len() {
            let error = wrong_count(self.bound.params.len(), args.len());
            return Err(error.context(format_args!("`{}`", self.bound.name)));
        }
        for (place, argument) in self.bound.order.iter().enumerate() {
            let (value, wanted) = (args[*argument], self.types[place]);
            let param = scratch.value(value, wanted, forms).filter(|param| fits(*param, wanted));
            let set = param.map(|param| self.statement.set(0, place, param));
            if !matches!(set, Some(Ok(()))) {
                let message = format!(
                    "`{}`, parameter {}: {value:?} does not fit {wanted:?}",
                    self.bound.name, self.bound.params[*argument].name
                );
                return Err(DbError::new(ErrorClass::Other, message));
            }
        }
        Ok(())
    }
}

impl Session for OdbcSession {
    async fn script(&mut self, sql: &str) -> Result<(), DbError> {
        self.ready()?;
        for text in statements(sql) {
            self.run(text)?;
        }
        Ok(())
    }

    async fn prepare(&mut self, statement: &BoundStatement) -> Result<StatementId, DbError> {
        let kept = CallerStatement::of(self, statement)?;
        self.kept.push(kept);
        Ok(StatementId(u32::try_from(self.kept.len() - 1).expect("fewer than 2^32 statements")))
    }

    async fn execute(&mut self, id: StatementId, args: &[Value<'_>]) -> Result<u64, DbError> {
        self.start(id, args)?;
        let reading = Reading { lists: None, def: self.def() };
        let kept = &mut self.kept[id.index()];
        let done = |kept: &mut CallerStatement| {
            let width = kept.statement.describe().map_err(|error| reading.error(&error))?;
            let mut rows = 0;
            while width > 0 && kept.statement.fetch().map_err(|error| reading.error(&error))? {
                rows += 1;
            }
            let changed = kept.statement.rows_changed().filter(|_| width == 0).unwrap_or(rows);
            while kept.several
                && kept.statement.next_result().map_err(|error| reading.error(&error))?
            {
            }
            kept.statement.close();
            Ok(changed)
        };
        done(kept).map_err(|error| self.abandon(id, error))
    }

    async fn query(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        rows: &mut Rows,
    ) -> Result<(), DbError> {
        self.fetch_all(id, args, false, rows)
    }

    async fn call(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        rows: &mut Rows,
    ) -> Result<(), DbError> {
        let done = self.fetch_all(id, args, true, rows);
        done.map_err(|error| self.autocommit_failed(id, error))
    }

    async fn execute_autocommit(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
    ) -> Result<u64, DbError> {
        let done = self.execute(id, args).await;
        done.map_err(|error| self.autocommit_failed(id, error))
    }

    async fn text(&mut self, sql: &str, commits: bool, rows: &mut Rows) -> Result<(), DbError> {
        rows.reset(0);
        self.ready()?;
        let done: Result<(), DbError> = (|| {
            for text in statements(sql) {
                self.ask(text, rows)?;
            }
            Ok(())
        })();
        match done {
            Err(error) if commits && commits_inside(sql) => Err(error.after_commit_sent()),
            Err(error) if commits => Err(error.failed_commit()),
            done => done,
        }
    }

    async fn stream(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        batch: &mut Rows,
        each: &mut dyn FnMut(&Rows),
    ) -> Result<(), DbError> {
        self.start(id, args)?;
        let reading = Reading { lists: None, def: self.def() };
        let statement = &mut self.kept[id.index()].statement;
        let mut read = || {
            let width = reading.describe(statement, batch)?;
            while width > 0 && reading.next(statement, width, batch)? {
                if batch.bytes() >= BATCH_BYTES {
                    each(batch);
                    batch.reset(width);
                }
            }
            if !batch.is_empty() {
                each(batch);
            }
            statement.close();
            Ok(())
        };
        read().map_err(|error| self.abandon(id, error))
    }

    async fn begin(&mut self, access: Access) -> Result<(), DbError> {
        self.begin_at_level(access, None)
    }

    async fn begin_isolated(&mut self, access: Access, level: Isolation) -> Result<(), DbError> {
        self.begin_at_level(access, Some(level))
    }

    async fn commit(&mut self) -> Result<(), DbError> {
        if !self.in_transaction {
            return Ok(());
        }
        self.end(TransactionEnd::Commit).map_err(DbError::after_commit_sent)
    }

    async fn rollback(&mut self) -> Result<(), DbError> {
        if !self.in_transaction {
            return Ok(());
        }
        match self.end(TransactionEnd::Rollback) {
            // The database may have rolled back on its own: after an interrupt, or a failed commit.
            Err(error)
                if !error.class().loses_session()
                    && error.message().to_lowercase().contains("no transaction") =>
            {
                Ok(())
            }
            done => done,
        }
    }

    async fn load(&mut self, table: &TableDef, source: &mut dyn RowSource) -> Result<u64, DbError> {
        self.ready()?;
        super::load::load(self, table, source)
    }

    fn is_closed(&self) -> bool {
        self.is_closed
    }

    fn canceller(&self) -> Box<dyn Canceller> {
        Box::new(OdbcCanceller(Arc::new(self.connection.interrupter())))
    }

    async fn ping(&mut self) -> Result<bool, DbError> {
        self.measured_ping()
    }

    async fn close(self) {}
}

struct OdbcCanceller(Arc<Interrupter>);

impl Canceller for OdbcCanceller {
    fn cancel(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        // A driver may connect to send the request.
        let interrupter = Arc::clone(&self.0);
        Box::pin(async move {
            let work = tokio::task::spawn_blocking(move || interrupter.interrupt());
            if let Err(error) = work.await {
                tracing::debug!("could not send the cancel request: {error}");
            }
        })
    }
}
