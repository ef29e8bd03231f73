//! A session: one connection, its statements and its transaction.

use std::fmt::Write as _;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::timeout;
use triphammer_core::login::LoginTimes;
use triphammer_core::rows::Rows;
use triphammer_core::session::{
    Access, Admin, Canceller, ColumnSource, IsAtWork, Isolation, LockMode, NodeStatus, Role,
    RowEffect, RowSource, ServerInfo, ServerProcess, Session, StatementId,
};
use triphammer_core::sql::{BoundStatement, commits_inside};
use triphammer_core::workload::TableDef;
use triphammer_core::{ColumnType, DbError, ErrorClass, Value};

use super::connection::{Connection, ResultEnd, Sources};
use super::error::of_commit;
use super::load::load;
use super::obstacles;
use super::peer::{NO_VARIABLE, Peer, QUESTION};
use super::quote::quote_literal;
use super::shared::{Product, Shared};
use super::text::{Template, UNPREPARABLE};
use crate::answer::{ANSWER_BYTES_MAX, too_large};
use crate::arguments::wrong_count;
use crate::stream::closed;

/// Names that a server's process may have.
const PROCESS_NAMES: &[&str] = &["mariadbd", "mysqld"];
/// Size of one batch of a stream, in bytes.
const BATCH_BYTES: usize = 1024 * 1024;
/// How long a cancel request may take.
const CANCEL_LIMIT: Duration = Duration::from_secs(5);
/// How many sessions may share a lock at the same time.
const CLAIM_PLACES: u32 = 32;
/// Idle time in seconds that the server allows the holder of a lock: the maximum.
const CLAIM_SECONDS: u32 = 31_536_000;
/// Settings whose values may contain passwords.
const SECRET_SETTINGS: [&str; 2] = ["wsrep_sst_auth", "wsrep_provider_options"];
/// Listed among the settings although they are none: the clock, the session's last statements,
/// and the position in the replication log.
const NO_SETTINGS: [&str; 20] = [
    "error_count",
    "gtid_binlog_pos",
    "gtid_binlog_state",
    "gtid_current_pos",
    "gtid_executed",
    "gtid_owned",
    "gtid_purged",
    "gtid_slave_pos",
    "identity",
    "in_transaction",
    "insert_id",
    "last_gtid",
    "last_insert_id",
    "original_commit_timestamp",
    "pseudo_thread_id",
    "rand_seed1",
    "rand_seed2",
    "statement_id",
    "timestamp",
    "warning_count",
];

/// One connection to a MySQL or MariaDB server.
pub struct MysqlSession {
    connection: Connection,
    statements: Vec<Prepared>,
    /// The session as the server knows it.
    peer: Option<Arc<Peer>>,
    shared: Arc<Shared>,
}

/// How a statement is run.
enum Form {
    /// Under its number on the server.
    OnServer(u32),
    /// As text, because the server cannot prepare it.
    Text(Template),
}

/// A statement that the session can run.
struct Prepared {
    form: Form,
    /// For each placeholder, the index of its argument and its type.
    placeholders: Box<[(usize, ColumnType)]>,
    /// Number of arguments that the statement takes.
    params: usize,
    sources: Sources,
    /// Whether it may commit before it ends.
    commits_inside: bool,
}

impl Prepared {
    /// The arguments in the order of the placeholders.
    fn values<'a>(
        &'a self,
        args: &'a [Value<'a>],
    ) -> impl Iterator<Item = (&'a Value<'a>, ColumnType)> + Clone {
        self.placeholders.iter().map(|(place, column)| (&args[*place], *column))
    }
}

/// Returns the prepared statement, if there is one that takes that many arguments.
fn find(statements: &[Prepared], id: StatementId, args: usize) -> Result<&Prepared, DbError> {
    let Some(statement) = statements.get(id.index()) else {
        return Err(DbError::new(ErrorClass::Other, "no such prepared statement"));
    };
    if statement.params != args {
        return Err(wrong_count(statement.params, args));
    }
    Ok(statement)
}

/// What SHOW REPLICA STATUS says of a channel; nothing on a server that replicates from no other, and for users who may not ask.
#[derive(Default)]
struct Replication {
    /// Whether the changes of another server are applied.
    is_applying: bool,
    /// Whether some that have arrived are not applied yet.
    is_behind: bool,
    /// Whether they stay so, because the applier is stopped or has failed.
    has_stopped: bool,
    /// How far it is behind; `None` while it has no connection to the other server.
    lag_us: Option<u64>,
}

impl Replication {
    /// Columns by their indices, the same on all versions: `Source_Log_File` and `Read_Source_Log_Pos`, what has
    /// arrived; `Relay_Source_Log_File` and `Exec_Source_Log_Pos`, what is applied; `Replica_SQL_Running`;
    /// `Seconds_Behind_Source`. They were called Master and Slave.
    const ARRIVED: [usize; 2] = [5, 6];
    const APPLIED: [usize; 2] = [9, 21];
    const SQL_RUNNING: usize = 11;
    /// `Last_Errno`: that of the applier.
    const LAST_ERROR: usize = 18;
    const SECONDS_BEHIND: usize = 32;

    fn of(row: &[Option<String>]) -> Self {
        let field = |index: usize| row.get(index).and_then(Option::as_deref);
        let is_applying = field(Self::SQL_RUNNING) == Some("Yes");
        let seconds: Option<u64> = field(Self::SECONDS_BEHIND).and_then(|text| text.parse().ok());
        let has_failed = field(Self::LAST_ERROR).is_some_and(|number| number != "0");
        // From a server that was never reached, nothing has arrived.
        let has_received = field(Self::ARRIVED[0]).is_some_and(|file| !file.is_empty());
        let is_behind = has_received && Self::ARRIVED.map(field) != Self::APPLIED.map(field);
        Self {
            is_applying,
            is_behind: is_behind || (has_failed && !is_applying),
            has_stopped: !is_applying && (is_behind || has_failed),
            lag_us: seconds.map(|seconds| seconds.saturating_mul(1_000_000)),
        }
    }

    /// Of a replica with several channels: what is true of one of them, and the longest lag.
    fn of_all(channels: impl Iterator<Item = Self>) -> Self {
        let both = |a: Self, b: Self| Self {
            is_applying: a.is_applying || b.is_applying,
            is_behind: a.is_behind || b.is_behind,
            has_stopped: a.has_stopped || b.has_stopped,
            lag_us: a.lag_us.zip(b.lag_us).map(|(a, b)| a.max(b)),
        };
        channels.reduce(both).unwrap_or_default()
    }
}

impl MysqlSession {
    async fn replication(&mut self) -> Result<Replication, DbError> {
        // A row per channel, in MariaDB's first two columns its name and a state. SHOW SLAVE STATUS of MariaDB shows
        // the connection without a name only. Servers before MySQL 8.0.22 know the older statement only.
        let (statements, before): (&[&str], usize) = match self.shared.product() {
            Product::MariaDb => (&["SHOW ALL SLAVES STATUS"], 2),
            Product::Mysql => (&["SHOW REPLICA STATUS", "SHOW SLAVE STATUS"], 0),
        };
        for sql in statements {
            match self.connection.ask(sql).await {
                Ok(rows) => {
                    let channels = rows.iter().filter_map(|row| row.get(before..));
                    return Ok(Replication::of_all(channels.map(Replication::of)));
                }
                Err(error) if error.class().loses_session() => return Err(error),
                Err(_) => {}
            }
        }
        Ok(Replication::default())
    }

    /// Runs SQL text and returns its rows as text, for the few queries that are made once.
    pub(super) async fn ask(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, DbError> {
        self.connection.ask(sql).await
    }

    /// Sets a new session up, and finds out who it is, in one round trip.
    pub(super) async fn set_up(
        mut connection: Connection,
        shared: Arc<Shared>,
        role: Role,
    ) -> Result<Self, DbError> {
        let setup = shared.setup(role);
        let answer = match connection.ask(&format!("{setup}; {QUESTION}")).await {
            Err(error) if error.code() == Some(NO_VARIABLE) => {
                connection.batch(&setup).await.map(|_| Vec::new())
            }
            answer => answer,
        };
        let answer = answer.map_err(|error| error.context("setting up the session"))?;
        let peer = Peer::of(&answer, &connection.route).map(Arc::new);
        Ok(Self { connection, statements: Vec::new(), peer, shared })
    }

    /// The result of a text; `was_open` if a transaction was open before.
    fn after_text(
        &mut self,
        was_open: bool,
        done: Result<ResultEnd, DbError>,
    ) -> Result<(), DbError> {
        match done {
            Ok(_) => Ok(()),
            // A text without a statement in it.
            Err(error) if error.code() == Some("1065") => Ok(()),
            Err(error) => {
                // A script may have begun a transaction before it failed.
                self.connection.open = was_open || !self.connection.wire.is_closed();
                Err(error)
            }
        }
    }

    /// Runs a statement that the session has prepared.
    async fn run(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        rows: &mut Rows,
        lists: bool,
        after_row: impl FnMut(&mut Rows) -> Result<(), DbError>,
    ) -> Result<ResultEnd, DbError> {
        let statement = find(&self.statements, id, args.len())?;
        let values = statement.values(args);
        match &statement.form {
            Form::OnServer(id) => {
                self.connection.execute(*id, values, rows, lists, after_row).await
            }
            Form::Text(template) => {
                let sql = template.fill(values.map(|(value, _)| value))?;
                self.connection.query(&sql, rows, after_row).await
            }
        }
    }

    /// The error of a COMMIT, or of a call that commits itself. The server does not say with it
    /// whether the transaction is still open, but it does so with every success: if it is, nothing
    /// was committed, and the rollback that follows ends it. If not, it was committed or rolled
    /// back, which only the class of the error may show: a call can be cancelled after its COMMIT.
    async fn commit_failed(&mut self, error: DbError) -> DbError {
        let is_lost = error.class().loses_session() || self.is_closed();
        let error = of_commit(error);
        if is_lost {
            return error;
        }
        match self.connection.is_in_transaction().await {
            Ok(true) => error.undone(),
            Ok(false) => error,
            Err(_) => {
                self.connection.open = true;
                error
            }
        }
    }

    async fn begin_with(&mut self, sql: &str) -> Result<(), DbError> {
        self.connection.batch(sql).await?;
        self.connection.open = true;
        Ok(())
    }
}

/// The text that begins a transaction at a level: it is set for the next one only.
fn isolated_text(access: Access, level: Isolation) -> &'static str {
    macro_rules! begin {
        ($level:literal) => {
            if access.writes() {
                concat!("SET TRANSACTION ISOLATION LEVEL ", $level, "; START TRANSACTION")
            } else {
                concat!("SET TRANSACTION ISOLATION LEVEL ", $level, "; START TRANSACTION READ ONLY")
            }
        };
    }
    match level {
        Isolation::ReadUncommitted => begin!("READ UNCOMMITTED"),
        Isolation::ReadCommitted => begin!("READ COMMITTED"),
        Isolation::RepeatableRead | Isolation::Snapshot => begin!("REPEATABLE READ"),
        Isolation::Serializable => begin!("SERIALIZABLE"),
    }
}

/// The two texts of a row.
fn pair(row: Vec<Option<String>>) -> Option<[String; 2]> {
    let texts: Vec<String> = row.into_iter().collect::<Option<_>>()?;
    texts.try_into().ok()
}

/// Keeps all rows of the answer.
fn keep(rows: &mut Rows) -> Result<(), DbError> {
    if rows.bytes() > ANSWER_BYTES_MAX { Err(too_large()) } else { Ok(()) }
}

impl Session for MysqlSession {
    async fn script(&mut self, sql: &str) -> Result<(), DbError> {
        let was_open = self.connection.open;
        let done = self.connection.batch(sql).await;
        self.after_text(was_open, done)
    }

    async fn prepare(&mut self, statement: &BoundStatement) -> Result<StatementId, DbError> {
        let id = u32::try_from(self.statements.len())
            .map_err(|_| DbError::new(ErrorClass::Unsupported, "too many statements"))?;
        let (form, params, sources) = match self.connection.prepare(&statement.sql).await {
            Ok((id, params, sources)) => (Form::OnServer(id), params, sources),
            Err(error) if error.code().is_some_and(|code| UNPREPARABLE.contains(&code)) => {
                let template = Template::new(statement);
                let params = template.placeholders();
                (Form::Text(template), params, Box::default())
            }
            Err(error) => return Err(error),
        };
        if params != statement.order.len() {
            let message = format!(
                "`{}` has {params} placeholders for {} arguments",
                statement.name,
                statement.order.len()
            );
            return Err(DbError::new(ErrorClass::Unsupported, message));
        }
        let placeholder = |place: &usize| (*place, statement.params[*place].param_type);
        self.statements.push(Prepared {
            form,
            placeholders: statement.order.iter().map(placeholder).collect(),
            params: statement.params.len(),
            sources,
            commits_inside: commits_inside(&statement.sql),
        });
        Ok(StatementId(id))
    }

    async fn execute(&mut self, id: StatementId, args: &[Value<'_>]) -> Result<u64, DbError> {
        let statement = find(&self.statements, id, args.len())?;
        let values = statement.values(args);
        let ended = match &statement.form {
            Form::OnServer(id) => self.connection.execute_quietly(*id, values).await?,
            Form::Text(template) => {
                let sql = template.fill(values.map(|(value, _)| value))?;
                self.connection.batch(&sql).await?
            }
        };
        Ok(ended.touched)
    }

    async fn query(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        rows: &mut Rows,
    ) -> Result<(), DbError> {
        self.run(id, args, rows, false, keep).await.map(drop)
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
        match self.run(id, args, rows, true, keep).await {
            // An answer that could not be read does not change that.
            ended
                if self.connection.open
                    && ended.as_ref().map_or_else(DbError::is_unread, |_| true) =>
            {
                self.rollback().await?;
                let message = "the procedure left its transaction open, so it was rolled back";
                Err(DbError::new(ErrorClass::Other, message).undone())
            }
            Ok(_) => Ok(()),
            Err(error) if error.is_unread() => Err(error),
            Err(error) => Err(self.commit_failed(error).await),
        }
    }

    async fn execute_autocommit(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
    ) -> Result<u64, DbError> {
        match self.execute(id, args).await {
            Err(error) if find(&self.statements, id, args.len())?.commits_inside => {
                Err(self.commit_failed(error).await)
            }
            done => done.map_err(DbError::failed_commit),
        }
    }

    async fn text(&mut self, sql: &str, commits: bool, rows: &mut Rows) -> Result<(), DbError> {
        let was_open = self.connection.open;
        let done = self.connection.query(sql, rows, keep).await;
        match self.after_text(was_open, done) {
            Err(error) if commits && (commits_inside(sql) || was_open) => {
                Err(self.commit_failed(error).await)
            }
            Err(error) if commits => Err(error.failed_commit()),
            done => done,
        }
    }

    async fn sources(&mut self, id: StatementId) -> Result<Vec<Option<ColumnSource>>, DbError> {
        let statement = self.statements.get(id.index());
        Ok(statement.map(|statement| statement.sources.to_vec()).unwrap_or_default())
    }

    fn effect(&self) -> RowEffect {
        let Connection { changed, found, made, .. } = &self.connection;
        RowEffect {
            changed: Some(*changed),
            found: Some(*found),
            made_id: Some(*made).filter(|made| *made > 0),
        }
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
        self.run(id, args, batch, false, hand_on).await?;
        if !batch.is_empty() {
            each(batch);
        }
        Ok(())
    }

    async fn begin(&mut self, access: Access) -> Result<(), DbError> {
        self.begin_with(match access {
            Access::Write => "START TRANSACTION",
            Access::Read => "START TRANSACTION READ ONLY",
            Access::Snapshot => {
                "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; \
                 START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"
            }
        })
        .await
    }

    async fn begin_isolated(&mut self, access: Access, level: Isolation) -> Result<(), DbError> {
        if access == Access::Snapshot {
            return self.begin(access).await;
        }
        self.begin_with(isolated_text(access, level)).await
    }

    async fn commit(&mut self) -> Result<(), DbError> {
        if self.is_closed() {
            return Err(closed());
        }
        match self.connection.batch("COMMIT").await {
            Ok(_) => Ok(()),
            Err(error) => Err(self.commit_failed(error).await),
        }
    }

    async fn rollback(&mut self) -> Result<(), DbError> {
        if self.connection.open {
            self.connection.batch("ROLLBACK").await?;
            self.connection.open = false;
        }
        Ok(())
    }

    async fn load(&mut self, table: &TableDef, source: &mut dyn RowSource) -> Result<u64, DbError> {
        load(&mut self.connection, &self.shared.loads_by_inserts, table, source)
            .await
            .map_err(|error| error.context(format_args!("loading `{}`", table.name)))
    }

    fn is_closed(&self) -> bool {
        self.connection.wire.is_closed()
    }

    fn ended_idle(&mut self) -> Option<DbError> {
        self.connection.wire.ended_idle()
    }

    fn login_times(&self) -> LoginTimes {
        self.connection.route.login
    }

    fn canceller(&self) -> Box<dyn Canceller> {
        Box::new(MysqlCanceller { peer: self.peer.clone(), shared: self.shared.clone() })
    }

    async fn ping(&mut self) -> Result<bool, DbError> {
        self.connection.ping().await?;
        Ok(true)
    }

    async fn close(self) {
        self.connection.close().await;
    }
}

impl MysqlSession {
    /// How the server is reached: `tcp, zstd`.
    fn transport(&self) -> String {
        let transport = self.connection.route.transport;
        match self.shared.options.compression {
            Some(compression) => format!("{transport}, {}", compression.name()),
            None => transport.to_owned(),
        }
    }
}

impl Admin for MysqlSession {
    async fn server(&mut self) -> Result<ServerInfo, DbError> {
        let mut rows = self.connection.ask("SELECT VERSION()").await?;
        let version = rows.pop().and_then(|mut row| row.pop()).flatten().unwrap_or_default();
        let product = Product::of(&version);
        Ok(ServerInfo {
            product: product.name().to_owned(),
            version: version.split("-MariaDB").next().unwrap_or_default().to_owned(),
            transport: self.transport(),
            cipher: self.connection.wire.cipher(),
            same_host: Some(self.connection.route.same_host),
        })
    }

    async fn settings(&mut self) -> Result<Vec<(String, String)>, DbError> {
        let rows = self.connection.ask("SHOW VARIABLES").await?;
        let pair = |row: Vec<Option<String>>| {
            let mut fields = row.into_iter().map(Option::unwrap_or_default);
            let name = fields.next().unwrap_or_default();
            let value = fields.next().unwrap_or_default();
            let is_secret = SECRET_SETTINGS.contains(&name.as_str()) && !value.is_empty();
            (name, if is_secret { "***".to_owned() } else { value })
        };
        let is_set = |(name, _): &(String, String)| !NO_SETTINGS.contains(&name.as_str());
        Ok(rows.into_iter().map(pair).filter(is_set).collect())
    }

    /// What the server computes from others has no default. MySQL does not say what a value would be: there,
    /// whoever sets the default has set it.
    async fn settings_set(&mut self) -> Result<Option<Vec<String>>, DbError> {
        let sql = match self.shared.product() {
            Product::MariaDb => {
                "SELECT LOWER(VARIABLE_NAME) FROM information_schema.SYSTEM_VARIABLES \
                 WHERE GLOBAL_VALUE_ORIGIN NOT IN ('COMPILE-TIME', 'AUTO', 'ENVIRONMENT') \
                 AND NOT GLOBAL_VALUE <=> DEFAULT_VALUE ORDER BY 1"
            }
            Product::Mysql => {
                "SELECT VARIABLE_NAME FROM performance_schema.variables_info \
                 WHERE VARIABLE_SOURCE <> 'COMPILED' ORDER BY 1"
            }
        };
        let rows = self.connection.ask(sql).await?;
        Ok(Some(rows.into_iter().flatten().flatten().collect()))
    }

    /// Counts what HammerDB counts: COMMIT and ROLLBACK statements, including those in procedures.
    /// Implicit commits are not included.
    async fn transaction_count(&mut self) -> Result<Option<u64>, DbError> {
        let sql = "SHOW GLOBAL STATUS WHERE Variable_name IN ('Com_commit', 'Com_rollback')";
        let rows = self.connection.ask(sql).await?;
        let counts = rows.iter().filter_map(|row| row.get(1)?.as_deref()?.parse::<u64>().ok());
        Ok(Some(counts.sum()))
    }

    async fn node_status(&mut self) -> Result<NodeStatus, DbError> {
        let rows = self
            .connection
            .ask(
                "SHOW GLOBAL STATUS WHERE Variable_name IN \
                 ('Threads_connected', 'Com_commit', 'Com_rollback', 'wsrep_ready')",
            )
            .await?;
        let text = |name: &str| {
            let row = rows.iter().find(|row| row[0].as_deref() == Some(name))?;
            row.get(1)?.as_deref()
        };
        let value = |name: &str| -> Option<u64> { text(name)?.parse().ok() };
        let settings = self
            .connection
            .ask("SHOW GLOBAL VARIABLES WHERE Variable_name IN ('read_only', 'wsrep_on')")
            .await?;
        let setting = |name: &str| {
            let row = settings.iter().find(|row| row[0].as_deref() == Some(name))?;
            row.get(1)?.as_deref()
        };
        // A MariaDB that is not part of a cluster says that it is not ready, too.
        if setting("wsrep_on") == Some("ON") && text("wsrep_ready") == Some("OFF") {
            // Galera rejects everything but SET, SHOW and queries without tables.
            let message =
                "the node is not ready: it is not part of its Galera cluster (wsrep_ready)";
            return Err(DbError::new(ErrorClass::Unavailable, message));
        }
        let is_writable = setting("read_only").map(|text| matches!(text, "0" | "OFF"));
        let replication = self.replication().await?;
        Ok(NodeStatus {
            is_writable,
            is_replicating: replication.is_applying,
            is_behind: replication.is_behind,
            has_stopped_applying: replication.has_stopped,
            lacks_isolation: None,
            lag_us: replication.lag_us,
            connections: value("Threads_connected"),
            transactions: value("Com_commit").zip(value("Com_rollback")).map(|(c, r)| c + r),
        })
    }

    async fn server_process(&mut self) -> Result<Option<ServerProcess>, DbError> {
        if !self.connection.route.same_host {
            return Ok(None);
        }
        let sql = match self.shared.product() {
            Product::MariaDb => {
                "SELECT TID FROM information_schema.PROCESSLIST WHERE ID = CONNECTION_ID()"
            }
            Product::Mysql => {
                "SELECT THREAD_OS_ID FROM performance_schema.threads \
                 WHERE PROCESSLIST_ID = CONNECTION_ID()"
            }
        };
        let rows = self.connection.ask(sql).await?;
        let id = rows.first().and_then(|row| row.first()?.as_deref()?.parse().ok());
        Ok(id.map(|id| ServerProcess { id, names: PROCESS_NAMES }))
    }

    async fn tables(&mut self) -> Result<Vec<String>, DbError> {
        let sql = "SELECT LOWER(table_name) FROM information_schema.tables \
                   WHERE table_schema = DATABASE() \
                   AND table_type IN ('BASE TABLE', 'SYSTEM VERSIONED') ORDER BY 1";
        let rows = self.connection.ask(sql).await?;
        Ok(rows.into_iter().filter_map(|mut row| row.pop().flatten()).collect())
    }

    async fn relations(&mut self) -> Result<Vec<[String; 2]>, DbError> {
        let sql = "SELECT CASE table_type WHEN 'BASE TABLE' THEN 'table' \
                   WHEN 'SYSTEM VERSIONED' THEN 'system-versioned table' \
                   ELSE LOWER(table_type) END, LOWER(table_name) FROM information_schema.tables \
                   WHERE table_schema = DATABASE() AND table_type <> 'TEMPORARY' ORDER BY 2";
        let rows = self.connection.ask(sql).await?;
        Ok(rows.into_iter().filter_map(pair).collect())
    }

    async fn dependents(&mut self, tables: &[&str]) -> Result<Vec<String>, DbError> {
        obstacles::dependents(&mut self.connection, tables).await
    }

    async fn rehearse(&mut self, tables: &[&str], longest: Option<usize>) -> Result<(), DbError> {
        obstacles::rehearse(&mut self.connection, tables, longest).await
    }

    /// Takes the lock. The server's named locks cannot be shared, so an advisory lock is a row of
    /// places: a shared holder takes any free one, an exclusive holder takes all. The lock lasts as
    /// long as the session. Names of locks have at most 64 characters, and MySQL 9.7 has MD5() no
    /// longer.
    async fn advisory_lock(&mut self, name: &str, mode: LockMode) -> Result<bool, DbError> {
        let name = quote_literal(name);
        let mut sql = format!(
            "SET SESSION wait_timeout = {CLAIM_SECONDS}, \
             @claim = CONCAT('triphammer/', LEFT(SHA2(CONCAT(DATABASE(), '/', {name}), 256), 40)); \
             SELECT "
        );
        let joined_by = match mode {
            LockMode::Shared => " OR ",
            LockMode::Exclusive => " AND ",
        };
        for place in 0..CLAIM_PLACES {
            let join = if place == 0 { "" } else { joined_by };
            let taken = write!(sql, "{join}GET_LOCK(CONCAT(@claim, '/{place}'), 0) = 1");
            taken.expect("writing to a string cannot fail");
        }
        let answer = self.connection.ask(&sql).await?;
        let has_it = answer.last().is_some_and(|row| row[0].as_deref() == Some("1"));
        if !has_it {
            self.connection.batch("DO RELEASE_ALL_LOCKS()").await?;
        }
        Ok(has_it)
    }
}

/// Cancels on a separate connection.
struct MysqlCanceller {
    /// `None` if the session could not find out which session of which server it is.
    peer: Option<Arc<Peer>>,
    shared: Arc<Shared>,
}

impl Canceller for MysqlCanceller {
    fn cancel(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async {
            let Some(peer) = &self.peer else {
                self.shared.spared.store(true, Ordering::Relaxed);
                return;
            };
            match timeout(CANCEL_LIMIT, peer.cancel(&self.shared)).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => {
                    tracing::debug!("could not send the cancel request: {}", error.class());
                }
                Err(_) => tracing::debug!("timed out sending the cancel request"),
            }
        })
    }

    fn is_at_work(&self) -> IsAtWork<'_> {
        let (peer, shared) = (self.peer.clone(), self.shared.clone());
        Box::pin(async move {
            match peer {
                Some(peer) => peer.is_at_work(&shared).await,
                None => Ok(None),
            }
        })
    }
}
