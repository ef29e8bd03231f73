//! Sessions: statements, transactions, and queries about the server.

use std::pin::Pin;
use std::sync::Arc;

use triphammer_core::rows::Rows;
use triphammer_core::session::{
    Access, Admin, Canceller, IsAtWork, Isolation, LockMode, Protocol, RowSource, ServerInfo,
    ServerProcess, Session, StatementId,
};
use triphammer_core::sql::{BoundStatement, commits_inside};
use triphammer_core::workload::TableDef;
use triphammer_core::{DbError, ErrorClass, Value};

use super::connection::Connection;
use super::load::load;
use super::login::Flag;
use super::prepared::{Form, Prepared};
use super::quote::quote_literal;
use super::shared::Shared;
use super::tokens::Keep;
use crate::answer::{ANSWER_BYTES_MAX, too_large};
use crate::arguments::wrong_count;
use crate::stream::closed;

/// Size of a batch that [`Session::stream`] passes on.
const BATCH_BYTES: usize = 1024 * 1024;
/// How long a lock is waited for, in milliseconds; some servers fail if they may not wait.
const LOCK_WAIT_MS: u32 = 1;
/// What Babelfish says about statements with sums of decimals, which it prepares only with their
/// first execution.
const UNPREPARED: &str = "Internal error detected while calculating the precision";
/// Number of the error for a rollback without a transaction.
const NO_TRANSACTION: &str = "3903";
/// Number of the error for a procedure that leaves another number of transactions than it found.
const MISMATCH: &str = "266";
/// Number of SQL Server's error for a missing right.
const FORBIDDEN: &str = "300";

/// One connection to a SQL Server.
pub struct SqlServerSession {
    connection: Box<Connection>,
    statements: Vec<Prepared>,
    /// Whether each of them may commit before it ends.
    commits_inside: Vec<bool>,
    shared: Arc<Shared>,
    flag: Flag,
    /// Number of the session on the server.
    spid: i64,
    /// Whether an earlier transaction has changed the isolation level.
    is_levelled: bool,
}

/// Keeps all rows of the answer.
fn keep(rows: &mut Rows) -> Result<(), DbError> {
    if rows.bytes() > ANSWER_BYTES_MAX { Err(too_large()) } else { Ok(()) }
}

impl SqlServerSession {
    /// The error of a statement that is a transaction of its own.
    fn autocommit_failed(&self, id: StatementId, error: DbError) -> DbError {
        match self.commits_inside.get(id.index()) {
            Some(true) => error.after_commit_sent(),
            _ => error.failed_commit(),
        }
    }

    pub(super) fn new(
        connection: Box<Connection>,
        shared: Arc<Shared>,
        flag: Flag,
        spid: i64,
    ) -> Self {
        Self {
            connection,
            statements: Vec::new(),
            commits_inside: Vec::new(),
            shared,
            flag,
            spid,
            is_levelled: false,
        }
    }

    /// Runs a statement of the session.
    #[inline]
    async fn run(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        keep: Keep,
        rows: &mut Rows,
        after_row: impl FnMut(&mut Rows) -> Result<(), DbError>,
    ) -> Result<(), DbError> {
        let Some(statement) = self.statements.get_mut(id.index()) else {
            return Err(DbError::new(ErrorClass::Other, "no such prepared statement"));
        };
        if statement.types.len() != args.len() {
            return Err(wrong_count(statement.types.len(), args.len()));
        }
        let keep = match &statement.form {
            Form::Call(call) if call.has_outputs && keep != Keep::Nothing => Keep::Outputs,
            _ => keep,
        };
        let renewed = statement.send(&mut self.connection, args).await?;
        let result = self.connection.results(keep, rows, after_row).await;
        if let Some(types) = renewed
            && !self.connection.wire.is_closed()
        {
            statement.renew(&mut self.connection, types).await?;
        }
        result
    }

    async fn begin_at_level(&mut self, level: Option<Isolation>) -> Result<(), DbError> {
        let given = level.or_else(|| {
            let usual = self.shared.isolation.unwrap_or(Isolation::ReadCommitted);
            self.is_levelled.then_some(usual)
        });
        self.connection.begin(given).await?;
        // It applies to later transactions, too.
        self.is_levelled = level.is_some();
        Ok(())
    }

    /// The first field of the answer to a query, or `None` where the server does not have what is
    /// queried, or does not show it.
    async fn fact(&mut self, sql: &str) -> Result<Option<String>, DbError> {
        match self.connection.ask(sql).await {
            Ok(rows) => Ok(rows.into_iter().next().and_then(|row| row.into_iter().next()?)),
            Err(error) if error.class() == ErrorClass::Other => {
                if error.code() == Some(FORBIDDEN) {
                    tracing::debug!("a right is missing for: {sql}");
                }
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

/// The parts of a script between lines that consist of GO, as Microsoft's tools split it: some
/// statements must be the first of theirs.
fn parts(script: &str) -> impl Iterator<Item = String> {
    let mut parts = vec![String::new()];
    for line in script.lines() {
        if line.trim().trim_end_matches(';').eq_ignore_ascii_case("GO") {
            parts.push(String::new());
        } else if let Some(last) = parts.last_mut() {
            last.push_str(line);
            last.push('\n');
        }
    }
    parts.into_iter().filter(|part| !part.trim().trim_matches(';').is_empty())
}

impl Session for SqlServerSession {
    async fn script(&mut self, sql: &str) -> Result<(), DbError> {
        for part in parts(sql) {
            self.connection.batch(&part).await?;
        }
        Ok(())
    }

    async fn prepare(&mut self, statement: &BoundStatement) -> Result<StatementId, DbError> {
        let id = u32::try_from(self.statements.len())
            .map_err(|_| DbError::new(ErrorClass::Unsupported, "too many statements"))?;
        let mut prepared = Prepared::new(statement);
        if matches!(prepared.form, Form::Text) && self.shared.protocol == Protocol::Prepared {
            match prepared.prepare(&mut self.connection).await {
                Ok(()) => {}
                Err(error) if error.message().contains(UNPREPARED) => prepared.form = Form::New,
                Err(error) => return Err(error),
            }
        }
        if matches!(prepared.form, Form::New) && self.shared.protocol == Protocol::Extended {
            prepared.form = Form::Text;
        }
        self.statements.push(prepared);
        self.commits_inside.push(commits_inside(&statement.sql));
        Ok(StatementId(id))
    }

    async fn execute(&mut self, id: StatementId, args: &[Value<'_>]) -> Result<u64, DbError> {
        self.run(id, args, Keep::Nothing, &mut Rows::new(), |_| Ok(())).await?;
        Ok(self.connection.answer.touched)
    }

    async fn query(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        rows: &mut Rows,
    ) -> Result<(), DbError> {
        self.run(id, args, Keep::Rows { lists: false }, rows, keep).await
    }

    async fn call(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        rows: &mut Rows,
    ) -> Result<(), DbError> {
        if self.is_closed() {
            return Err(closed());
        }
        let ended = self.run(id, args, Keep::Rows { lists: true }, rows, keep).await;
        let mismatch = ended.as_ref().is_err_and(|error| error.code() == Some(MISMATCH));
        let left_open = !self.is_closed() && (self.connection.is_open() || mismatch);
        if left_open && self.connection.is_open() {
            self.rollback().await?;
        } else if left_open {
            // Babelfish does not report transactions that a procedure begins.
            self.connection.batch("IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION").await?;
        }
        match ended {
            // An answer that could not be read does not change that.
            ended
                if left_open
                    && ended
                        .as_ref()
                        .map_or_else(|error| mismatch || error.is_unread(), |()| true) =>
            {
                let message = "the procedure left its transaction open, so it was rolled back";
                Err(DbError::new(ErrorClass::Other, message).undone())
            }
            Ok(()) => Ok(()),
            Err(error) if error.is_unread() => Err(error),
            Err(error) if left_open => Err(error.failed_commit()),
            Err(error) => Err(self.autocommit_failed(id, error)),
        }
    }

    async fn execute_autocommit(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
    ) -> Result<u64, DbError> {
        if self.is_closed() {
            return Err(closed());
        }
        let done = self.execute(id, args).await;
        done.map_err(|error| self.autocommit_failed(id, error))
    }

    async fn stream(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        batch: &mut Rows,
        each: &mut dyn FnMut(&Rows),
    ) -> Result<(), DbError> {
        let hand_on = |rows: &mut Rows| {
            if rows.bytes() >= BATCH_BYTES {
                each(rows);
                rows.reset(rows.width());
            }
            Ok(())
        };
        self.run(id, args, Keep::Rows { lists: false }, batch, hand_on).await?;
        if !batch.is_empty() {
            each(batch);
        }
        Ok(())
    }

    async fn begin(&mut self, access: Access) -> Result<(), DbError> {
        if access != Access::Snapshot {
            return self.begin_at_level(None).await;
        }
        let level = self.shared.consistent(&mut self.connection).await?;
        self.begin_at_level(Some(level)).await
    }

    async fn begin_isolated(&mut self, access: Access, level: Isolation) -> Result<(), DbError> {
        if access == Access::Snapshot {
            return self.begin(access).await;
        }
        self.begin_at_level(Some(level)).await
    }

    async fn commit(&mut self) -> Result<(), DbError> {
        if self.is_closed() {
            return Err(closed());
        }
        if !self.connection.is_open() {
            let message = "the server rolled the transaction back";
            return Err(DbError::new(ErrorClass::Other, message).undone());
        }
        self.connection.commit().await.map_err(DbError::after_commit_sent)
    }

    async fn rollback(&mut self) -> Result<(), DbError> {
        if !self.connection.is_open() {
            return Ok(());
        }
        match self.connection.rollback().await {
            // It was rolled back because of an error, and the server did not say so.
            Err(error) if error.code() == Some(NO_TRANSACTION) => {
                self.connection.answer.transaction = 0;
                Ok(())
            }
            result => result,
        }
    }

    async fn load(&mut self, table: &TableDef, source: &mut dyn RowSource) -> Result<u64, DbError> {
        load(&mut self.connection, table, source)
            .await
            .map_err(|error| error.context(format_args!("loading `{}`", table.name)))
    }

    fn is_closed(&self) -> bool {
        self.connection.wire.is_closed()
    }

    fn ended_idle(&mut self) -> Option<DbError> {
        self.connection.wire.ended_idle()
    }

    fn canceller(&self) -> Box<dyn Canceller> {
        let (flag, shared) = (Arc::clone(&self.flag), self.shared.clone());
        Box::new(SqlServerCanceller { flag, shared, spid: self.spid })
    }

    async fn ping(&mut self) -> Result<bool, DbError> {
        self.connection.batch("").await?;
        Ok(true)
    }

    async fn close(self) {
        self.connection.close().await;
    }
}

impl Admin for SqlServerSession {
    async fn server(&mut self) -> Result<ServerInfo, DbError> {
        let sql = "SELECT CAST(SERVERPROPERTY('ProductVersion') AS nvarchar(128)), \
                   CAST(SERVERPROPERTY('Edition') AS nvarchar(128)), @@VERSION";
        let answer = self.connection.ask(sql).await?;
        let field = |at: usize| answer.first().and_then(|row| row.get(at)?.clone());
        let [version, edition, full] = [0, 1, 2].map(|at| field(at).unwrap_or_default());
        let (product, version) = match full.split_once("(Babelfish ") {
            Some((_, after)) => {
                ("Babelfish", after.split(')').next().unwrap_or_default().to_owned())
            }
            None => ("SQL Server", format!("{version} {edition}").trim().to_owned()),
        };
        Ok(ServerInfo {
            product: product.to_owned(),
            version,
            transport: self.connection.route.transport.to_owned(),
            cipher: self.connection.wire.cipher(),
            same_host: Some(self.connection.route.same_host),
        })
    }

    async fn settings(&mut self) -> Result<Vec<(String, String)>, DbError> {
        let sql = "SELECT name, CAST(value_in_use AS nvarchar(400)) FROM sys.configurations";
        let mut settings: Vec<(String, String)> = Vec::new();
        for row in self.connection.ask(sql).await? {
            let mut fields = row.into_iter().map(Option::unwrap_or_default);
            let name = fields.next().unwrap_or_default();
            settings.push((name, fields.next().unwrap_or_default()));
        }
        let sql = "SELECT compatibility_level, collation_name, snapshot_isolation_state_desc, \
                   is_read_committed_snapshot_on, recovery_model_desc, is_auto_create_stats_on, \
                   is_auto_update_stats_on, is_parameterization_forced, delayed_durability_desc \
                   FROM sys.databases WHERE name = DB_NAME()";
        let mut rows = Rows::with_names();
        match self.connection.batch_rows(sql, &mut rows).await {
            Ok(()) => {}
            Err(error) if error.class() == ErrorClass::Other => return Ok(settings),
            Err(error) => return Err(error),
        }
        for row in rows.iter() {
            for column in 0..row.len() {
                let name = format!("database {}", rows.name(column).unwrap_or_default());
                let value = row.text(column).map_or_else(|_| row.show(column), str::to_owned);
                settings.push((name, value));
            }
        }
        Ok(settings)
    }

    /// Counts what HammerDB counts: batches and calls of procedures.
    async fn transaction_count(&mut self) -> Result<Option<u64>, DbError> {
        let sql = "SELECT cntr_value FROM sys.dm_os_performance_counters \
                   WHERE counter_name = 'Batch Requests/sec'";
        Ok(self.fact(sql).await?.and_then(|count| count.parse().ok()))
    }

    async fn server_process(&mut self) -> Result<Option<ServerProcess>, DbError> {
        if !self.connection.route.same_host {
            return Ok(None);
        }
        if self.shared.is_babelfish() == Some(true) {
            // Every session has a process of its own, which gives it its number.
            let id = u32::try_from(self.spid).ok();
            return Ok(id.map(|id| ServerProcess { id, names: &["postgres"] }));
        }
        let sql = "SELECT CAST(SERVERPROPERTY('ProcessID') AS int)";
        let id = self.fact(sql).await?.and_then(|id| id.parse().ok());
        Ok(id.map(|id| ServerProcess { id, names: &["sqlservr"] }))
    }

    async fn tables(&mut self) -> Result<Vec<String>, DbError> {
        let sql = "SELECT LOWER(TABLE_NAME) FROM INFORMATION_SCHEMA.TABLES \
                   WHERE TABLE_TYPE = 'BASE TABLE' AND TABLE_SCHEMA = SCHEMA_NAME() ORDER BY 1";
        let rows = self.connection.ask(sql).await?;
        Ok(rows.into_iter().filter_map(|mut row| row.pop().flatten()).collect())
    }

    async fn relations(&mut self) -> Result<Vec<[String; 2]>, DbError> {
        let sql = "SELECT CASE TABLE_TYPE WHEN 'VIEW' THEN 'view' ELSE 'table' END, \
                   LOWER(TABLE_NAME) FROM INFORMATION_SCHEMA.TABLES \
                   WHERE TABLE_SCHEMA = SCHEMA_NAME() ORDER BY 2";
        let rows = self.connection.ask(sql).await?;
        let texts = rows.into_iter().filter_map(|row| row.into_iter().collect::<Option<Vec<_>>>());
        Ok(texts.filter_map(|texts| texts.try_into().ok()).collect())
    }

    async fn advisory_lock(&mut self, name: &str, mode: LockMode) -> Result<bool, DbError> {
        let resource = quote_literal(&format!("triphammer/{name}"));
        let mode = match mode {
            LockMode::Shared => "Shared",
            LockMode::Exclusive => "Exclusive",
        };
        let sql = format!(
            "DECLARE @got int; EXEC @got = sp_getapplock @Resource = {resource}, \
             @LockMode = '{mode}', @LockOwner = 'Session', @LockTimeout = {LOCK_WAIT_MS}; \
             SELECT @got"
        );
        let got = self.fact(&sql).await?.and_then(|got| got.parse::<i32>().ok());
        match got {
            Some(got @ 0..) => Ok(got >= 0),
            // Timed out.
            Some(-1) => Ok(false),
            other => {
                let message = format!("sp_getapplock returned {other:?}");
                Err(DbError::new(ErrorClass::Other, message))
            }
        }
    }
}

/// Cancels on the session's own connection, from the session's own thread.
struct SqlServerCanceller {
    flag: Flag,
    shared: Arc<Shared>,
    spid: i64,
}

impl Canceller for SqlServerCanceller {
    fn cancel(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        self.flag.request();
        Box::pin(std::future::ready(()))
    }

    fn is_at_work(&self) -> IsAtWork<'_> {
        Box::pin(async move { self.shared.is_at_work(self.spid).await })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_split_at_go() {
        let script = "DROP PROCEDURE p;\nGO\nCREATE PROCEDURE p AS\nSELECT 'GO'\n  go;\n\n;\n";
        let found: Vec<_> = parts(script).collect();
        assert_eq!(found, ["DROP PROCEDURE p;\n", "CREATE PROCEDURE p AS\nSELECT 'GO'\n"]);
        assert_eq!(parts(";").count(), 0);
    }
}
