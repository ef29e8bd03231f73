//! One connection to a SQLite file. Every call does its work before it returns, so its futures are
//! ready at once; a canceller interrupts from another thread.
//!
//! A `rusqlite` statement borrows its connection, and a session has to own both. The library's own
//! solution, `prepare_cached`, hashes the text of the statement on every call, which is too slow
//! here; leaking the connections would leak one for each reconnect. `self_cell` joins the two
//! safely and without run-time cost.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, InterruptHandle, Statement};
use triphammer_core::error::{DbError, ErrorClass};
use triphammer_core::rows::Rows;
use triphammer_core::session::{
    Access, Admin, Canceller, LockMode, RowSource, ServerInfo, Session, StatementId,
};
use triphammer_core::sql::{BoundStatement, Param};
use triphammer_core::value::Value;
use triphammer_core::workload::TableDef;

use crate::advisory_lock::LockFile;
use crate::arguments::wrong_count;
use crate::database_file::OpenedFile;

use super::activity::{AUTO_CHECKPOINT_PAGES, SessionActivity};
use super::errors::on_statement;
use super::scratch::Scratch;

/// Size of a batch of [`Session::stream`], in bytes.
const BATCH_BYTES: usize = 256 * 1024;

/// Statements that begin and commit transactions: reading, writing, both.
const OWN: [&str; 3] = ["BEGIN", "BEGIN IMMEDIATE", "COMMIT"];

/// PRAGMAs that are recorded with a result.
const SETTINGS: [&str; 14] = [
    "journal_mode",
    "synchronous",
    "page_size",
    "cache_size",
    "cache_spill",
    "mmap_size",
    "wal_autocheckpoint",
    "busy_timeout",
    "temp_store",
    "threads",
    "locking_mode",
    "foreign_keys",
    "auto_vacuum",
    "encoding",
];

self_cell::self_cell!(
    /// A connection with the statements prepared on it.
    struct Prepared {
        owner: Connection,
        #[not_covariant]
        dependent: Statements,
    }
);

struct Statements<'c> {
    begin: Statement<'c>,
    begin_write: Statement<'c>,
    /// Reads the file's first page, which fixes the snapshot that a transaction sees.
    look: Statement<'c>,
    commit: Statement<'c>,
    rollback: Statement<'c>,
    kept: Vec<CallerStatement<'c>>,
}

/// A statement prepared by the caller.
struct CallerStatement<'c> {
    statement: Statement<'c>,
    name: String,
    params: Vec<Param>,
    order: Vec<usize>,
    /// Place of its text in the activity.
    text: u32,
}

/// A session on a SQLite file.
pub struct SqliteSession {
    /// `None` once the session holds an advisory lock and does nothing else: an open connection
    /// would prevent a loader from leaving WAL mode.
    prepared: Option<Prepared>,
    advisory_lock: Option<LockFile>,
    interrupt: Arc<InterruptHandle>,
    scratch: Scratch,
    file: OpenedFile,
    activity: Arc<SessionActivity>,
    /// Places of the texts of [`OWN`] in the activity.
    texts: [u32; 3],
    /// Maximum wait for a lock, if the driver waits and makes checkpoints instead of SQLite, whose
    /// PRAGMAs do not know of it.
    watched: Option<Duration>,
}

impl SqliteSession {
    pub(super) fn new(
        connection: Connection,
        path: PathBuf,
        activity: Arc<SessionActivity>,
        watched: Option<Duration>,
    ) -> Result<Self, DbError> {
        let interrupt = Arc::new(connection.get_interrupt_handle());
        let prepared = Prepared::try_new(connection, |connection| {
            Ok(Statements {
                begin: connection.prepare(OWN[0])?,
                begin_write: connection.prepare(OWN[1])?,
                look: connection.prepare("SELECT 1 FROM sqlite_schema LIMIT 1")?,
                commit: connection.prepare(OWN[2])?,
                rollback: connection.prepare("ROLLBACK")?,
                kept: Vec::new(),
            })
        });
        let prepared = Some(prepared.map_err(on_statement)?);
        let (scratch, file) = (Scratch::default(), OpenedFile::now(path));
        let texts = OWN.map(|text| activity.text(text));
        Ok(Self {
            prepared,
            advisory_lock: None,
            interrupt,
            scratch,
            file,
            activity,
            texts,
            watched,
        })
    }

    fn connection(&self) -> Result<&Connection, DbError> {
        self.prepared.as_ref().map(Prepared::borrow_owner).ok_or_else(only_claims)
    }

    /// Calls `work` with the connection and its statements.
    #[inline]
    fn with<T>(
        &mut self,
        work: impl FnOnce(&Connection, &mut Statements<'_>, &mut Scratch) -> Result<T, DbError>,
    ) -> Result<T, DbError> {
        let scratch = &mut self.scratch;
        let prepared = self.prepared.as_mut().ok_or_else(only_claims)?;
        prepared.with_dependent_mut(|connection, statements| work(connection, statements, scratch))
    }

    /// Calls `work` with a prepared statement, and notes it as the session's activity.
    #[inline]
    fn with_statement<T>(
        &mut self,
        id: StatementId,
        work: impl FnOnce(&Connection, &mut CallerStatement<'_>, &mut Scratch) -> Result<T, DbError>,
    ) -> Result<T, DbError> {
        let Self { prepared, scratch, activity, .. } = self;
        let prepared = prepared.as_mut().ok_or_else(only_claims)?;
        let done = prepared.with_dependent_mut(|connection, statements| {
            let kept = &mut statements.kept[id.index()];
            activity.executes(Some(kept.text));
            work(connection, kept, scratch)
        });
        activity.executes(None);
        done
    }

    /// Runs statements of the session's own, which begin a transaction.
    #[inline]
    fn begin_by(
        &mut self,
        text: u32,
        work: impl FnOnce(&mut Statements<'_>) -> Result<(), DbError>,
    ) -> Result<(), DbError> {
        self.activity.executes(Some(text));
        let done = self.with(|_, statements, _| work(statements));
        self.activity.executes(None);
        self.activity.in_transaction(done.is_ok());
        done
    }

    /// Value of a setting that the driver has instead of SQLite.
    fn own_setting(&self, name: &str) -> Option<String> {
        let limit = self.watched?;
        match name {
            "busy_timeout" => Some(limit.as_millis().to_string()),
            "wal_autocheckpoint" => Some(AUTO_CHECKPOINT_PAGES.to_string()),
            _ => None,
        }
    }

    fn pragma(&self, name: &str) -> Result<Option<String>, DbError> {
        let mut found = None;
        self.connection()?
            .pragma_query(None, name, |row| {
                found = Some(text_of(row.get_ref(0)?));
                Ok(())
            })
            .map_err(on_statement)?;
        Ok(found)
    }
}

fn only_claims() -> DbError {
    DbError::new(
        ErrorClass::Other,
        "this session holds an advisory lock and cannot be used for anything else",
    )
}

fn text_of(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => String::new(),
        ValueRef::Integer(value) => value.to_string(),
        ValueRef::Real(value) => value.to_string(),
        ValueRef::Text(text) | ValueRef::Blob(text) => String::from_utf8_lossy(text).into_owned(),
    }
}

impl<'c> CallerStatement<'c> {
    fn of(
        connection: &'c Connection,
        statement: &BoundStatement,
        text: u32,
    ) -> Result<Self, DbError> {
        let prepared = connection.prepare(&statement.sql).map_err(on_statement)?;
        if prepared.parameter_count() != statement.order.len() {
            let message = format!(
                "`{}` has {} placeholders for {} arguments",
                statement.name,
                prepared.parameter_count(),
                statement.order.len()
            );
            return Err(DbError::new(ErrorClass::Other, message));
        }
        Ok(Self {
            statement: prepared,
            name: statement.name.clone(),
            params: statement.params.clone(),
            order: statement.order.clone(),
            text,
        })
    }

    #[inline]
    fn bind(&mut self, args: &[Value<'_>], scratch: &mut Scratch) -> Result<(), DbError> {
        if args.len() != self.params.len() {
            let error = wrong_count(self.params.len(), args.len());
            return Err(error.context(format_args!("`{}`", self.name)));
        }
        for (place, argument) in self.order.iter().copied().enumerate() {
            let param = &self.params[argument];
            let value = scratch.value(args[argument], param.param_type).map_err(|why| {
                let message = format!("`{}`, parameter {}: {why}", self.name, param.name);
                DbError::new(ErrorClass::Other, message)
            })?;
            self.statement
                .raw_bind_parameter(place + 1, ToSqlOutput::Borrowed(value))
                .map_err(on_statement)?;
        }
        Ok(())
    }

    /// Runs the statement and passes each row to `each`, with the number of its columns. They are
    /// described after the first step: in it, SQLite prepares a statement again if they have changed.
    #[inline]
    fn run<T>(
        &mut self,
        out: &mut T,
        describe: fn(&Statement<'_>, &mut T),
        mut each: impl FnMut(&rusqlite::Row<'_>, usize, &mut T) -> Result<(), DbError>,
    ) -> Result<(), DbError> {
        let mut width = None;
        let mut found = self.statement.raw_query();
        while let Some(row) = found.next().map_err(on_statement)? {
            let width = *width.get_or_insert_with(|| {
                let statement: &Statement<'_> = row.as_ref();
                describe(statement, out);
                statement.column_count()
            });
            each(row, width, out)?;
        }
        drop(found);
        if width.is_none() {
            describe(&self.statement, out);
        }
        Ok(())
    }
}

/// Appends a row of results.
#[inline]
fn append(row: &rusqlite::Row<'_>, width: usize, rows: &mut Rows) -> Result<(), DbError> {
    for column in 0..width {
        match row.get_ref(column).map_err(on_statement)? {
            ValueRef::Null => rows.null(),
            ValueRef::Integer(value) => rows.int(value),
            ValueRef::Real(value) => rows.float(value),
            ValueRef::Text(text) => rows.text_with(|out| out.extend_from_slice(text)),
            ValueRef::Blob(_) => {
                let message = format!("column {column} is a blob, which no workload reads");
                return Err(DbError::new(ErrorClass::Unsupported, message));
            }
        }
    }
    Ok(())
}

fn run_fixed(statement: &mut Statement<'_>) -> Result<(), DbError> {
    let mut found = statement.raw_query();
    while found.next().map_err(on_statement)?.is_some() {}
    Ok(())
}

impl Session for SqliteSession {
    async fn script(&mut self, sql: &str) -> Result<(), DbError> {
        self.connection()?.execute_batch(sql).map_err(on_statement)
    }

    async fn prepare(&mut self, statement: &BoundStatement) -> Result<StatementId, DbError> {
        let text = self.activity.text(&statement.sql);
        let prepared = self.prepared.as_mut().ok_or_else(only_claims)?;
        let place = prepared.with_dependent_mut(|connection, statements| {
            statements.kept.push(CallerStatement::of(connection, statement, text)?);
            Ok(statements.kept.len() - 1)
        })?;
        Ok(StatementId(u32::try_from(place).expect("fewer than 2^32 statements")))
    }

    async fn execute(&mut self, id: StatementId, args: &[Value<'_>]) -> Result<u64, DbError> {
        self.with_statement(id, |connection, kept, scratch| {
            kept.bind(args, scratch)?;
            let before = connection.total_changes();
            let mut rows = 0;
            let count = |_: &rusqlite::Row<'_>, _, rows: &mut u64| {
                *rows += 1;
                Ok(())
            };
            kept.run(&mut rows, |_, _| (), count)?;
            // A statement that changes nothing leaves the previous statement's count.
            let changed = connection.total_changes() != before;
            Ok(if changed { connection.changes() } else { rows })
        })
    }

    async fn query(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        rows: &mut Rows,
    ) -> Result<(), DbError> {
        self.with_statement(id, |_, kept, scratch| {
            kept.bind(args, scratch)?;
            kept.run(rows, describe, append)
        })
    }

    async fn stream(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        batch: &mut Rows,
        each: &mut dyn FnMut(&Rows),
    ) -> Result<(), DbError> {
        self.with_statement(id, |_, kept, scratch| {
            kept.bind(args, scratch)?;
            kept.run(batch, describe, |row, width, batch| {
                append(row, width, batch)?;
                if batch.bytes() >= BATCH_BYTES {
                    each(batch);
                    batch.reset(width);
                }
                Ok(())
            })?;
            if !batch.is_empty() {
                each(batch);
            }
            Ok(())
        })
    }

    async fn begin(&mut self, access: Access) -> Result<(), DbError> {
        match access {
            Access::Write => {
                self.begin_by(self.texts[1], |statements| run_fixed(&mut statements.begin_write))
            }
            Access::Read => {
                self.begin_by(self.texts[0], |statements| run_fixed(&mut statements.begin))
            }
            Access::Snapshot => self.begin_by(self.texts[0], |statements| {
                run_fixed(&mut statements.begin)?;
                run_fixed(&mut statements.look)
            }),
        }
    }

    async fn commit(&mut self) -> Result<(), DbError> {
        let begin = self.activity.now();
        self.activity.commits(self.texts[2]);
        let done = self.with(|_, statements, _| run_fixed(&mut statements.commit));
        self.activity.executes(None);
        done?;
        self.activity.in_transaction(false);
        self.activity.committed(begin);
        Ok(())
    }

    async fn rollback(&mut self) -> Result<(), DbError> {
        self.activity.in_transaction(false);
        self.with(|connection, statements, _| {
            // SQLite may have rolled back on its own: after an interrupt, or when the disk is full.
            if connection.is_autocommit() { Ok(()) } else { run_fixed(&mut statements.rollback) }
        })
    }

    async fn load(&mut self, table: &TableDef, source: &mut dyn RowSource) -> Result<u64, DbError> {
        self.with(|connection, _, scratch| load(connection, scratch, table, source))
    }

    fn is_closed(&self) -> bool {
        false
    }

    fn canceller(&self) -> Box<dyn Canceller> {
        Box::new(SqliteCanceller(Arc::clone(&self.interrupt)))
    }

    async fn close(self) {}
}

impl Admin for SqliteSession {
    async fn server(&mut self) -> Result<ServerInfo, DbError> {
        self.file.check()?;
        Ok(ServerInfo {
            product: "SQLite".to_owned(),
            version: rusqlite::version().to_owned(),
            transport: "in process".to_owned(),
            cipher: None,
            same_host: Some(true),
        })
    }

    async fn settings(&mut self) -> Result<Vec<(String, String)>, DbError> {
        // A session notices that another one has switched the journal mode only when it reads.
        self.with(|_, statements, _| run_fixed(&mut statements.look))?;
        let mut settings = Vec::new();
        for name in SETTINGS {
            let value = match self.own_setting(name) {
                Some(value) => Some(value),
                None => self.pragma(name)?,
            };
            if let Some(value) = value {
                settings.push((name.to_owned(), value));
            }
        }
        let mut options = Vec::new();
        self.connection()?
            .pragma_query(None, "compile_options", |row| {
                options.push(text_of(row.get_ref(0)?));
                Ok(())
            })
            .map_err(on_statement)?;
        settings.push(("compile_options".to_owned(), options.join(" ")));
        Ok(settings)
    }

    async fn transaction_count(&mut self) -> Result<Option<u64>, DbError> {
        Ok(None)
    }

    async fn tables(&mut self) -> Result<Vec<String>, DbError> {
        let sql = r"SELECT lower(name) FROM sqlite_schema
            WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY 1";
        let mut statement = self.connection()?.prepare(sql).map_err(on_statement)?;
        let names = statement.query_map([], |row| row.get(0)).map_err(on_statement)?;
        names.collect::<Result<_, _>>().map_err(on_statement)
    }

    async fn relations(&mut self) -> Result<Vec<[String; 2]>, DbError> {
        let sql = r"SELECT type, lower(name) FROM sqlite_schema
            WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY 2";
        let mut statement = self.connection()?.prepare(sql).map_err(on_statement)?;
        let pairs = statement.query_map([], |row| Ok([row.get(0)?, row.get(1)?]));
        pairs.map_err(on_statement)?.collect::<Result<_, _>>().map_err(on_statement)
    }

    async fn advisory_lock(&mut self, name: &str, mode: LockMode) -> Result<bool, DbError> {
        let taken = LockFile::take(self.file.path(), name, mode)?;
        if taken.is_none() {
            return Ok(false);
        }
        self.advisory_lock = taken;
        self.prepared = None;
        Ok(true)
    }
}

/// Empties a buffer for the rows of a statement, and sets the names of the columns if requested.
#[inline]
fn describe(statement: &Statement<'_>, rows: &mut Rows) {
    rows.reset(statement.column_count());
    if rows.wants_names() {
        rows.set_names(statement.column_names());
    }
}

/// Inserts all rows of `source`.
fn load(
    connection: &Connection,
    scratch: &mut Scratch,
    table: &TableDef,
    source: &mut dyn RowSource,
) -> Result<u64, DbError> {
    let width = table.columns.len();
    let mut insert = connection.prepare(&insert_text(table)).map_err(on_statement)?;
    let mut rows = Rows::new();
    let mut count = 0;
    loop {
        rows.reset(width);
        let more = source.fill(&mut rows);
        for row in rows.iter() {
            for (place, column) in table.columns.iter().enumerate() {
                let value = scratch.cell(&row, row.cell(place), column.column_type);
                let value = value.map_err(|why| {
                    let message = format!("loading {}.{}: {why}", table.name, column.name);
                    DbError::new(ErrorClass::Other, message)
                })?;
                insert
                    .raw_bind_parameter(place + 1, ToSqlOutput::Borrowed(value))
                    .map_err(on_statement)?;
            }
            insert.raw_execute().map_err(on_statement)?;
        }
        count += rows.len() as u64;
        if !more {
            return Ok(count);
        }
    }
}

fn insert_text(table: &TableDef) -> String {
    let names: Vec<_> = table.columns.iter().map(|column| column.name.as_str()).collect();
    let marks = vec!["?"; names.len()].join(",");
    format!("INSERT INTO \"{}\" (\"{}\") VALUES ({marks})", table.name, names.join("\",\""))
}

struct SqliteCanceller(Arc<InterruptHandle>);

impl Canceller for SqliteCanceller {
    fn cancel(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async { self.0.interrupt() })
    }
}
