//! One connection to a DuckDB file. Every call does its work before it returns, so its futures are
//! ready at once; a canceller interrupts from another thread.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;

use triphammer_core::error::{DbError, ErrorClass};
use triphammer_core::rows::Rows;
use triphammer_core::session::{
    Access, Admin, Canceller, LockMode, RowSource, ServerInfo, Session, StatementId,
};
use triphammer_core::sql::{BoundStatement, Param};
use triphammer_core::value::Value;
use triphammer_core::workload::TableDef;
use triphammer_duckdb::{Connection, Interrupter, Prepared, QueryResult};

use crate::advisory_lock::LockFile;
use crate::arguments::wrong_count;
use crate::database_file::OpenedFile;

use super::errors::{is_without_transaction, on_statement};
use super::fence;
use super::load::load;
use super::loading::Loading;
use super::values::{Unbound, append, bind};

/// Size of a batch of [`Session::stream`], in bytes.
const BATCH_BYTES: usize = 256 * 1024;

/// Settings that are recorded with a result. Others are named after what they contain (secrets,
/// paths), or do not change what a statement costs.
const SETTINGS: &str = "SELECT name, value FROM duckdb_settings() WHERE name IN (
    'access_mode', 'threads', 'external_threads', 'memory_limit', 'checkpoint_threshold',
    'default_block_size', 'default_null_order', 'default_order', 'disabled_optimizers',
    'enable_object_cache', 'immediate_transaction_mode', 'index_scan_max_count',
    'index_scan_percentage', 'preserve_insertion_order', 'storage_compatibility_version',
    'wal_autocheckpoint', 'write_buffer_row_group_count') ORDER BY name";

const TABLES: &str = "SELECT lower(table_name) FROM duckdb_tables()
    WHERE database_name = current_database() AND schema_name = current_schema() ORDER BY 1";

/// Kinds and names of tables and views.
const RELATIONS: &str = "SELECT kind, lower(name) FROM (
        SELECT 'table' AS kind, table_name AS name FROM duckdb_tables()
        WHERE database_name = current_database() AND schema_name = current_schema()
        UNION ALL
        SELECT 'view', view_name FROM duckdb_views()
        WHERE database_name = current_database() AND schema_name = current_schema() AND NOT internal
    ) found ORDER BY 2";

/// Memory of all parts of the engine, as text.
const MEMORY: &str =
    "SELECT CAST(CAST(sum(memory_usage_bytes) AS bigint) AS varchar) FROM duckdb_memory()";

/// Touches the database, which fixes the snapshot that a transaction sees.
const LOOK: &str = "SELECT 1 FROM duckdb_tables() LIMIT 1";

/// A session on a DuckDB file.
pub struct DuckdbSession {
    connection: Connection,
    kept: Vec<CallerStatement>,
    advisory_lock: Option<LockFile>,
    file: OpenedFile,
    /// What a loader has set for the database.
    loading: Option<Loading>,
    /// Whether statements are checked, since the library's own fence has gaps.
    is_checked: bool,
}

/// A statement prepared by the caller.
struct CallerStatement {
    statement: Prepared,
    name: String,
    params: Vec<Param>,
}

impl CallerStatement {
    fn of(connection: &Connection, bound: &BoundStatement) -> Result<Self, DbError> {
        let statement = connection.prepare(&bound.sql).map_err(on_statement)?;
        let (found, wanted) = (statement.parameters(), bound.params.len());
        if found != wanted {
            let message =
                format!("`{}` has {found} placeholders for {wanted} arguments", bound.name);
            return Err(DbError::new(ErrorClass::Other, message));
        }
        Ok(Self { statement, name: bound.name.clone(), params: bound.params.clone() })
    }

    #[inline]
    fn bind(&mut self, args: &[Value<'_>]) -> Result<&mut Prepared, DbError> {
        if args.len() != self.params.len() {
            let error = wrong_count(self.params.len(), args.len());
            return Err(error.context(format_args!("`{}`", self.name)));
        }
        for (place, (param, value)) in self.params.iter().zip(args).enumerate() {
            let bound = bind(&mut self.statement, place + 1, *value, param.param_type);
            bound.map_err(|why| match why {
                Unbound::Error(error) => on_statement(error),
                Unbound::Misfit(why) => {
                    let message = format!("`{}`, parameter {}: {why}", self.name, param.name);
                    DbError::new(ErrorClass::Other, message)
                }
            })?;
        }
        Ok(&mut self.statement)
    }
}

impl DuckdbSession {
    pub(super) fn new(
        connection: Connection,
        path: PathBuf,
        loading: Option<Loading>,
        is_checked: bool,
    ) -> Self {
        let file = OpenedFile::now(path);
        Self { connection, kept: Vec::new(), advisory_lock: None, file, loading, is_checked }
    }

    fn check(&self, sql: &str) -> Result<(), DbError> {
        if self.is_checked { fence::check(sql) } else { Ok(()) }
    }

    /// Runs a query without parameters, and reads its first columns as text.
    pub(super) fn texts<const N: usize>(&self, sql: &str) -> Result<Vec<[String; N]>, DbError> {
        let mut rows = Rows::new();
        collect(self.connection.query(sql).map_err(on_statement)?, &mut rows)?;
        let read = |row: triphammer_core::Row<'_>| {
            let mut texts = [const { String::new() }; N];
            for (place, text) in texts.iter_mut().enumerate() {
                if !row.is_null(place) {
                    row.text(place)?.clone_into(text);
                }
            }
            Ok(texts)
        };
        rows.iter().map(read).collect()
    }
}

/// Empties a buffer for a result's rows, and sets the names of the columns if they are wanted.
fn describe(result: &mut QueryResult, rows: &mut Rows) -> usize {
    let width = result.width();
    rows.reset(width);
    if rows.wants_names() {
        rows.set_names([]);
        for column in 0..width {
            rows.add_name(result.name(column));
        }
    }
    width
}

/// Reads a whole result into a buffer.
fn collect(mut result: QueryResult, rows: &mut Rows) -> Result<(), DbError> {
    let width = describe(&mut result, rows);
    while let Some(chunk) = result.fetch().map_err(on_statement)? {
        append(&chunk, width, rows, |_| ())?;
    }
    Ok(())
}

impl Session for DuckdbSession {
    async fn script(&mut self, sql: &str) -> Result<(), DbError> {
        self.check(sql)?;
        self.connection.script(sql).map_err(on_statement)
    }

    async fn prepare(&mut self, statement: &BoundStatement) -> Result<StatementId, DbError> {
        self.check(&statement.sql)?;
        self.kept.push(CallerStatement::of(&self.connection, statement)?);
        Ok(StatementId(u32::try_from(self.kept.len() - 1).expect("fewer than 2^32 statements")))
    }

    async fn execute(&mut self, id: StatementId, args: &[Value<'_>]) -> Result<u64, DbError> {
        let statement = self.kept[id.index()].bind(args)?;
        Ok(statement.execute().map_err(on_statement)?.rows_changed())
    }

    async fn query(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        rows: &mut Rows,
    ) -> Result<(), DbError> {
        let statement = self.kept[id.index()].bind(args)?;
        collect(statement.execute().map_err(on_statement)?, rows)
    }

    async fn stream(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        batch: &mut Rows,
        each: &mut dyn FnMut(&Rows),
    ) -> Result<(), DbError> {
        let statement = self.kept[id.index()].bind(args)?;
        let mut result = statement.stream().map_err(on_statement)?;
        let width = describe(&mut result, batch);
        while let Some(chunk) = result.fetch().map_err(on_statement)? {
            append(&chunk, width, batch, |batch| {
                if batch.bytes() >= BATCH_BYTES {
                    each(batch);
                    batch.reset(width);
                }
            })?;
        }
        if !batch.is_empty() {
            each(batch);
        }
        Ok(())
    }

    async fn begin(&mut self, access: Access) -> Result<(), DbError> {
        let begin = if access.writes() { "BEGIN" } else { "BEGIN TRANSACTION READ ONLY" };
        self.connection.script(begin).map_err(on_statement)?;
        match access {
            Access::Snapshot => self.connection.script(LOOK).map_err(on_statement),
            Access::Read | Access::Write => Ok(()),
        }
    }

    async fn commit(&mut self) -> Result<(), DbError> {
        self.connection.script("COMMIT").map_err(on_statement)
    }

    async fn rollback(&mut self) -> Result<(), DbError> {
        match self.connection.script("ROLLBACK") {
            // A commit that fails has rolled back.
            Err(error) if is_without_transaction(&error) => Ok(()),
            done => done.map_err(on_statement),
        }
    }

    async fn load(&mut self, table: &TableDef, source: &mut dyn RowSource) -> Result<u64, DbError> {
        if let Some(loading) = &self.loading {
            loading.take_threads(&self.connection).map_err(on_statement)?;
        }
        load(&self.connection, table, source)
    }

    fn is_closed(&self) -> bool {
        false
    }

    fn canceller(&self) -> Box<dyn Canceller> {
        Box::new(DuckdbCanceller(self.connection.interrupter()))
    }

    async fn close(self) {}
}

impl Admin for DuckdbSession {
    async fn server(&mut self) -> Result<ServerInfo, DbError> {
        self.file.check()?;
        Ok(ServerInfo {
            product: "DuckDB".to_owned(),
            version: self.connection.library().version().to_owned(),
            transport: "in process".to_owned(),
            cipher: None,
            same_host: Some(true),
        })
    }

    async fn settings(&mut self) -> Result<Vec<(String, String)>, DbError> {
        let found = self.texts::<2>(SETTINGS)?;
        let mut settings: Vec<_> = found.into_iter().map(|[name, value]| (name, value)).collect();
        let library = self.connection.library().path().display().to_string();
        settings.push(("library".to_owned(), library));
        Ok(settings)
    }

    async fn transaction_count(&mut self) -> Result<Option<u64>, DbError> {
        Ok(None)
    }

    async fn engine_memory(&mut self) -> Result<Option<u64>, DbError> {
        let found = self.texts::<1>(MEMORY)?;
        Ok(found.first().and_then(|[bytes]| bytes.parse().ok()))
    }

    async fn tables(&mut self) -> Result<Vec<String>, DbError> {
        Ok(self.texts::<1>(TABLES)?.into_iter().map(|[name]| name).collect())
    }

    async fn relations(&mut self) -> Result<Vec<[String; 2]>, DbError> {
        self.texts::<2>(RELATIONS)
    }

    async fn advisory_lock(&mut self, name: &str, mode: LockMode) -> Result<bool, DbError> {
        // The connection stays open: it keeps the database open between the sessions of a command.
        self.advisory_lock = LockFile::take(self.file.path(), name, mode)?;
        Ok(self.advisory_lock.is_some())
    }
}

impl Drop for DuckdbSession {
    fn drop(&mut self) {
        if let Some(loading) = &self.loading {
            loading.end(&self.connection);
        }
    }
}

struct DuckdbCanceller(Interrupter);

impl Canceller for DuckdbCanceller {
    fn cancel(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async { self.0.interrupt() })
    }
}
