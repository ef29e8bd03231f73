//! The interface of drivers: a [`Database`] on which sessions can be opened, and a [`Session`], one
//! connection owned by one virtual user on one worker thread.
//!
//! A driver implements a protocol and nothing else: it never retries, never sleeps, never decides.
//! It assigns errors to classes, keeps the statements it was given, and disables every implicit
//! feature of the underlying library. Differences between databases are queried through
//! [`Capabilities`], never through a name.

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{DbError, ErrorClass};
pub use crate::isolation::Isolation;
use crate::login::LoginTimes;
pub use crate::pipelining::{Pipeline, Pipelining};
pub use crate::protocol::Protocol;
use crate::rows::Rows;
use crate::sql::BoundStatement;
use crate::table::TableDef;
use crate::value::Value;

/// A server or file on which sessions can be opened. Shared by all threads.
pub trait Database: Send + Sync + 'static {
    /// Type of the sessions that `connect` opens.
    type Session: Admin;

    /// Name of the SQL dialect: a folder of the workloads' `sql/`.
    fn dialect(&self) -> &'static str;

    /// Queries the server for facts that the target does not specify and [`Database::dialect`]
    /// depends on. Does nothing if the target specifies them all.
    ///
    /// # Errors
    /// As [`Database::connect`].
    async fn identify(&self) -> Result<(), DbError> {
        Ok(())
    }

    /// Returns the capabilities of this database.
    fn capabilities(&self) -> &Capabilities;

    /// What a run can set of the engine that executes its queries. Nothing by default.
    fn engine_control(&self) -> EngineControl {
        EngineControl::default()
    }

    /// The target for people, without any secret: `postgres://bench@db1:5432/tpcc`.
    fn target(&self) -> String;

    /// Opens a session. The caller applies the time limit. `slot` distinguishes sessions of one
    /// role, for a database of several nodes: it is the number of a virtual user, of a pool's
    /// session or of a pool's worker in the whole run, or 0 for a single session. A reconnecting
    /// session keeps its slot.
    ///
    /// # Errors
    /// `Refused` when trying again cannot help, `Unavailable` or `Disconnected` when it may.
    async fn connect(&self, role: Role, slot: u32) -> Result<Self::Session, DbError>;

    /// How statements are sent, if the database decided that itself, as when a pooler does not keep
    /// prepared ones. Known once a session was opened.
    fn protocol(&self) -> Option<Protocol> {
        None
    }

    /// Whether the target asks for a server that accepts writes: then a session that turns out to be
    /// read only, because its server was demoted, is replaced by a new one.
    fn needs_primary(&self) -> bool {
        false
    }

    /// What is wrong with [`Admin::transaction_count`]. Known once a session was opened.
    fn count_errors(&self) -> CountErrors {
        CountErrors::default()
    }

    /// How long to wait for queries that do not belong to a user's transaction.
    fn waits(&self) -> Waits {
        Waits::default()
    }

    /// What the driver left out when it read the target, one sentence each, for stderr: for
    /// example, a password file that others can read. Known before any session is opened.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Messages that have accumulated since sessions were opened, one sentence each, for stderr and
    /// the result: for example, that TLS was not available.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Name of the server's setting that limits how long a session may be idle; `None` where there is
    /// none.
    fn idle_limit_setting(&self) -> Option<&'static str> {
        None
    }

    /// Creates the database that the target names, if the server has databases. Returns false when
    /// it already exists.
    ///
    /// # Errors
    /// When the server rejects it.
    async fn create_database(&self) -> Result<bool, DbError>;
}

/// Purpose of a session; drivers may configure sessions accordingly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A virtual user of a run.
    User,
    /// Loads data, builds keys and indexes.
    Loader,
    /// Observes the database from outside the load: checks, counters, settings, locks.
    Monitor,
}

/// A statement that a session has prepared, counted from 0 in the order of `prepare` calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatementId(pub u32);

impl StatementId {
    /// Index in the session's list of statements.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Whether a transaction writes, for databases that must know at its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// The transaction only reads.
    Read,
    /// The transaction reads and writes.
    Write,
    /// The transaction only reads, from one consistent snapshot.
    Snapshot,
}

impl Access {
    /// Whether the transaction writes.
    #[must_use]
    pub const fn writes(self) -> bool {
        matches!(self, Self::Write)
    }
}

/// What a statement did to rows, as far as the protocol says it with the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowEffect {
    /// Number of rows that it changed.
    pub changed: Option<u64>,
    /// Number of rows that it found, of which an UPDATE may have left some as they were.
    pub found: Option<u64>,
    /// Number that the server generated for a column such as AUTO_INCREMENT of MySQL: that of the first row.
    pub made_id: Option<u64>,
}

/// The column of a table or view that a column of a result has the values of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnSource {
    /// The table, without its schema.
    pub table: String,
    /// Its column.
    pub column: String,
}

/// One connection. A failed call leaves the session usable unless the error's class [loses the
/// session](crate::ErrorClass::loses_session); after a failed statement in a transaction the caller
/// must roll that transaction back.
pub trait Session: 'static {
    /// Runs SQL text without parameters: schema, procedures, settings. May hold several statements.
    ///
    /// # Errors
    /// As the database reports.
    async fn script(&mut self, sql: &str) -> Result<(), DbError>;

    /// Prepares a statement for the life of the session.
    ///
    /// # Errors
    /// As the database reports.
    async fn prepare(&mut self, statement: &BoundStatement) -> Result<StatementId, DbError>;

    /// Runs a statement and returns the number of affected rows.
    ///
    /// # Errors
    /// As the database reports.
    async fn execute(&mut self, id: StatementId, args: &[Value<'_>]) -> Result<u64, DbError>;

    /// Runs a statement and stores its rows in `rows`, which is emptied first.
    ///
    /// # Errors
    /// As the database reports.
    async fn query(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        rows: &mut Rows,
    ) -> Result<(), DbError>;

    /// Runs a statement outside a transaction that commits implicitly: a procedure call, or a
    /// single writing statement. One round trip.
    ///
    /// # Errors
    /// As the database reports.
    async fn call(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        rows: &mut Rows,
    ) -> Result<(), DbError> {
        self.query(id, args, rows).await
    }

    /// Runs a single writing statement outside a transaction, which commits implicitly, and returns
    /// the number of affected rows. One round trip.
    ///
    /// # Errors
    /// As the database reports.
    async fn execute_autocommit(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
    ) -> Result<u64, DbError> {
        self.execute(id, args).await
    }

    /// Runs the last statement of the open transaction and commits, whatever it returns; stores its
    /// rows in `rows`, if given. Returns the number of affected rows, or of those. A statement that
    /// fails leaves the transaction open and uncommitted, as [`Session::execute`] does. One round
    /// trip if [`Session::pipelining`] joins COMMIT, else two.
    ///
    /// # Errors
    /// As the database reports. As with [`Session::commit`], it is unknown after an error of a class
    /// that loses the session whether the database committed.
    async fn execute_and_commit(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        rows: Option<&mut Rows>,
    ) -> Result<u64, DbError> {
        execute_then_commit(self, id, args, rows).await
    }

    /// Runs SQL text with its values in it, and stores the rows of its last statement in `rows`,
    /// which is emptied first; `commits` if it may commit implicitly. Drivers that cannot read the
    /// rows of a text leave `rows` empty.
    ///
    /// # Errors
    /// As the database reports.
    async fn text(&mut self, sql: &str, commits: bool, rows: &mut Rows) -> Result<(), DbError> {
        let _ = commits;
        rows.reset(0);
        self.script(sql).await
    }

    /// Where each column of a prepared statement's result comes from; `None` for one that is computed. Empty if the driver does not
    /// know.
    ///
    /// # Errors
    /// As the database reports.
    async fn sources(&mut self, id: StatementId) -> Result<Vec<Option<ColumnSource>>, DbError> {
        let _ = id;
        Ok(Vec::new())
    }

    /// What the last statement did to rows, as far as the driver knows it after a statement of any kind. Costs no round
    /// trip.
    fn effect(&self) -> RowEffect {
        RowEffect::default()
    }

    /// Starts, synchronises or ends a pipeline. Inside, [`Session::execute`] returns at once with
    /// 0, no other call is allowed, and errors are reported at the end.
    ///
    /// # Errors
    /// As the database reports, and `Unsupported` where the protocol has no pipelines.
    async fn pipeline(&mut self, step: Pipeline) -> Result<(), DbError> {
        let _ = step;
        let message = "this database has no pipelines; use statements without \\startpipeline";
        Err(DbError::new(ErrorClass::Unsupported, message))
    }

    /// Waits inside a transaction, as the workload's script says. The engine's session does; a
    /// driver has nothing to do.
    async fn pause(&mut self, wait: Duration) {
        let _ = wait;
    }

    /// Runs a statement whose result may be larger than memory: `each` receives it in batches, in
    /// the buffer `batch`, which is reused.
    ///
    /// # Errors
    /// As the database reports.
    async fn stream(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        batch: &mut Rows,
        each: &mut dyn FnMut(&Rows),
    ) -> Result<(), DbError>;

    /// Announces what the next attempt at a transaction does, before its first call: a session on
    /// several nodes uses it to choose one. Costs no round trip, and has no effect on a single
    /// server.
    fn announce(&mut self, access: Access) {
        let _ = access;
    }

    /// Which messages of a transaction share a round trip on this session.
    fn pipelining(&self) -> Pipelining {
        Pipelining::Off
    }

    /// Begins a transaction, at the isolation level of the target's settings. If
    /// [`Session::pipelining`] defers BEGIN, it is sent with the next call, which then reports its
    /// errors.
    ///
    /// # Errors
    /// As the database reports.
    async fn begin(&mut self, access: Access) -> Result<(), DbError>;

    /// Begins a transaction at an isolation level of [`Capabilities::isolations`]. A database that has only one begins
    /// as always.
    ///
    /// # Errors
    /// As the database reports.
    async fn begin_isolated(&mut self, access: Access, level: Isolation) -> Result<(), DbError> {
        let _ = level;
        self.begin(access).await
    }

    /// Begins an [`Access::Snapshot`] transaction on the same snapshot as another session's: `name`
    /// is what that session's [`Session::share_snapshot`] returned.
    ///
    /// # Errors
    /// As the database reports.
    async fn begin_at(&mut self, name: &str) -> Result<(), DbError> {
        let _ = name;
        self.begin(Access::Snapshot).await
    }

    /// Exports the snapshot of the open transaction for [`Session::begin_at`] and returns its name;
    /// `None` where the database cannot share snapshots.
    ///
    /// # Errors
    /// As the database reports.
    async fn share_snapshot(&mut self) -> Result<Option<String>, DbError> {
        Ok(None)
    }

    /// Commits the open transaction.
    ///
    /// # Errors
    /// As the database reports. After an error of a class that loses the session it is unknown
    /// whether the database committed.
    async fn commit(&mut self) -> Result<(), DbError>;

    /// Rolls back; does nothing when there is no transaction.
    ///
    /// # Errors
    /// As the database reports.
    async fn rollback(&mut self) -> Result<(), DbError>;

    /// Loads rows in the database's fastest way, inside the open transaction. Returns the number of
    /// rows.
    ///
    /// # Errors
    /// As the database reports.
    async fn load(&mut self, table: &TableDef, source: &mut dyn RowSource) -> Result<u64, DbError>;

    /// Whether the driver already knows that the connection is lost, without a round trip.
    fn is_closed(&self) -> bool;

    /// Looks, without waiting, whether the server has ended the session while nothing was asked of
    /// it, and why.
    fn ended_idle(&mut self) -> Option<DbError> {
        let closed = || DbError::new(ErrorClass::Disconnected, "the server closed the connection");
        self.is_closed().then(closed)
    }

    /// The server's warning that a commit since the last call is acknowledged but not confirmed by a
    /// standby for which the server was to wait; `None` without one.
    fn take_unconfirmed(&mut self) -> Option<String> {
        None
    }

    /// How long the phases of the session's login took, as far as the driver can tell them.
    fn login_times(&self) -> LoginTimes {
        LoginTimes::default()
    }

    /// Returns a handle with which another thread can cancel what the session is doing.
    fn canceller(&self) -> Box<dyn Canceller>;

    /// Makes the cheapest possible round trip, to measure its time. Returns false, without waiting,
    /// if there is none because the database runs in this process.
    ///
    /// # Errors
    /// When the session is lost.
    async fn ping(&mut self) -> Result<bool, DbError> {
        Ok(false)
    }

    /// Closes the session properly. Dropping it is allowed too, but closes it abruptly.
    async fn close(self);
}

/// Runs a statement and then commits, in two round trips: what [`Session::execute_and_commit`] is without pipelining.
///
/// # Errors
/// As the database reports.
pub async fn execute_then_commit<S: Session + ?Sized>(
    session: &mut S,
    id: StatementId,
    args: &[Value<'_>],
    rows: Option<&mut Rows>,
) -> Result<u64, DbError> {
    let count = match rows {
        Some(rows) => {
            session.query(id, args, rows).await?;
            rows.len() as u64
        }
        None => session.execute(id, args).await?,
    };
    session.commit().await?;
    Ok(count)
}

/// Queries about a session's server and its tables, outside users' transactions: settings,
/// counters, locks. Nothing here is on the path of a transaction.
pub trait Admin: Session {
    /// Describes the server, and how it was reached.
    ///
    /// # Errors
    /// As the database reports.
    async fn server(&mut self) -> Result<ServerInfo, DbError>;

    /// The server's settings, by name: `pg_settings`, PRAGMAs, `SHOW VARIABLES`.
    ///
    /// # Errors
    /// As the database reports.
    async fn settings(&mut self) -> Result<Vec<(String, String)>, DbError>;

    /// Names of the settings that somebody set to another value than the default of the server's
    /// version; `None` if the database does not say.
    ///
    /// # Errors
    /// As the database reports.
    async fn settings_set(&mut self) -> Result<Option<Vec<String>>, DbError> {
        Ok(None)
    }

    /// The database's own count of ended transactions since some fixed time, which HammerDB uses
    /// for TPM; `None` where the database keeps none.
    ///
    /// # Errors
    /// As the database reports.
    async fn transaction_count(&mut self) -> Result<Option<u64>, DbError>;

    /// What the server reports about its part in a cluster: whether it accepts writes, how far it is
    /// behind. Unknown by default.
    ///
    /// # Errors
    /// As the database reports; the session remains usable.
    async fn node_status(&mut self) -> Result<NodeStatus, DbError> {
        Ok(NodeStatus::default())
    }

    /// The process or thread that serves this session, if the server may be on this host; the
    /// caller verifies that it is. `None` where the server is elsewhere, or it is unknown.
    ///
    /// # Errors
    /// As the database reports; the session remains usable.
    async fn server_process(&mut self) -> Result<Option<ServerProcess>, DbError> {
        Ok(None)
    }

    /// Memory that the engine uses at present, in bytes, if it runs in this process and reports
    /// that; `None` for all others.
    ///
    /// # Errors
    /// As the database reports.
    async fn engine_memory(&mut self) -> Result<Option<u64>, DbError> {
        Ok(None)
    }

    /// Names of the tables in the session's schema, in lower case.
    ///
    /// # Errors
    /// As the database reports.
    async fn tables(&mut self) -> Result<Vec<String>, DbError>;

    /// Kind and name, in lower case, of everything in the session's schema that a table could not be
    /// created beside under the same name: tables of every kind, views, sequences. The default
    /// knows tables only.
    ///
    /// # Errors
    /// As the database reports.
    async fn relations(&mut self) -> Result<Vec<[String; 2]>, DbError> {
        let tables = self.tables().await?;
        Ok(tables.into_iter().map(|name| ["table".to_owned(), name]).collect())
    }

    /// Lists, in one phrase each, the objects that depend on these tables and would be lost, break
    /// or block the drop. Empty with [`Capabilities::transactional_ddl`]: there a failed drop
    /// leaves everything unchanged.
    ///
    /// # Errors
    /// As the database reports.
    async fn dependents(&mut self, tables: &[&str]) -> Result<Vec<String>, DbError> {
        let _ = tables;
        Ok(Vec::new())
    }

    /// Tests whether tables can be created with these statements, and procedures if `longest` gives
    /// the size in bytes of the longest of them; leaves nothing behind. Does nothing with
    /// [`Capabilities::transactional_ddl`].
    ///
    /// # Errors
    /// When they cannot be created.
    async fn rehearse(&mut self, tables: &[&str], longest: Option<usize>) -> Result<(), DbError> {
        let _ = (tables, longest);
        Ok(())
    }

    /// Takes the advisory lock `name` within the schema for the life of the session (or until its
    /// transaction ends, where a driver documents that): many sessions may share it, or one may
    /// hold it exclusively. Returns false at once when another session holds a conflicting lock.
    /// The session must not be used for anything else afterwards.
    ///
    /// # Errors
    /// As the database reports.
    async fn advisory_lock(&mut self, name: &str, mode: LockMode) -> Result<bool, DbError>;
}

/// What a node of a cluster reports about itself; `None` for what it does not report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeStatus {
    /// Whether it accepts writes: a primary does, a replica does not.
    pub is_writable: Option<bool>,
    /// Whether it applies the changes of another server, although it may accept writes of its own.
    pub is_replicating: bool,
    /// Whether it has changes of another server that it has not applied yet.
    pub is_behind: bool,
    /// Whether it does not apply them, because its applier is stopped or has failed.
    pub has_stopped_applying: bool,
    /// An isolation level that it does not have although other nodes do.
    pub lacks_isolation: Option<Isolation>,
    /// How far a replica is behind what it replicates, in microseconds.
    pub lag_us: Option<u64>,
    /// Sessions of all clients that it has open.
    pub connections: Option<u64>,
    /// Its own count of ended transactions since some fixed time.
    pub transactions: Option<u64>,
}

/// A process of a server, as the server itself numbers it; in a container the number may differ
/// from the host's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerProcess {
    /// Id of the process, or of one of its threads.
    pub id: u32,
    /// Names that such a process may have, to distinguish it from another one with that id.
    pub names: &'static [&'static str],
}

/// How an advisory lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    /// Others may hold it shared too: used by runs.
    Shared,
    /// Exclusive: used by build, check and drop.
    Exclusive,
}

/// Source of rows for a bulk load, generated while earlier rows are being sent.
pub trait RowSource {
    /// Appends a batch of rows to an empty buffer of the table's width; returns false when there
    /// are no more (what was appended still counts).
    fn fill(&mut self, rows: &mut Rows) -> bool;
}

impl<F: FnMut(&mut Rows) -> bool> RowSource for F {
    fn fill(&mut self, rows: &mut Rows) -> bool {
        self(rows)
    }
}

/// Cancels what a session is doing, from any thread. Best effort: the session's answer shows
/// whether it worked.
pub trait Canceller: Send {
    /// Asks the database to stop the session's current statement.
    fn cancel(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;

    /// Asks, on a separate connection, whether the database is still running the session's
    /// statement; `None` if that is unknown.
    ///
    /// # Errors
    /// As [`Database::connect`], and as the database reports.
    fn is_at_work(&self) -> IsAtWork<'_> {
        Box::pin(std::future::ready(Ok(None)))
    }
}

/// The future returned by [`Canceller::is_at_work`].
pub type IsAtWork<'a> = Pin<Box<dyn Future<Output = Result<Option<bool>, DbError>> + Send + 'a>>;

/// How long to wait for queries that do not belong to a user's transaction: those of builds, checks
/// and drops, and those beside a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waits {
    /// Limit for a query that any server answers at once; also the interval at which a longer
    /// statement is checked to be still running.
    pub query: Duration,
    /// Limit for a statement over much data: a load, an index, a check.
    pub work: Duration,
}

impl Default for Waits {
    fn default() -> Self {
        Self { query: Duration::from_secs(30), work: Duration::from_secs(24 * 60 * 60) }
    }
}

/// The server at the other end of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerInfo {
    /// Name of the product: `PostgreSQL`, `SQLite`.
    pub product: String,
    /// The server's version, as it reports it.
    pub version: String,
    /// How it is reached: `tcp`, `unix socket`, `in process`; with `, io_uring` if that is what the
    /// worker threads of the run use.
    pub transport: String,
    /// TLS version and cipher; `None` without TLS.
    pub cipher: Option<String>,
    /// Whether the server runs on this host, and so shares its CPUs with the client; `None` if
    /// unknown.
    pub same_host: Option<bool>,
}

/// What is wrong with a database's own count of transactions, as clauses for people.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountErrors {
    /// Which transactions are counted late, or never; empty if none.
    pub lacks: Cow<'static, str>,
    /// What is counted that no client did; empty if nothing.
    pub adds: Cow<'static, str>,
}

/// What can be set of the engine that executes queries; an error is the reason why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineControl {
    /// The degree of parallelism: processes or threads that work on one query.
    pub dop: Result<(), &'static str>,
    /// The memory that the engine uses for all queries together.
    pub memory: Result<(), &'static str>,
}

impl Default for EngineControl {
    fn default() -> Self {
        let unknown = Err("this database has no such setting");
        Self { dop: unknown, memory: unknown }
    }
}

/// Capabilities of a database. Workloads and the engine query these rather than a name.
#[derive(Clone, Debug)]
pub struct Capabilities {
    /// Whether calls block their thread: then each virtual user gets its own thread.
    pub blocks: bool,
    /// Whether the database works in the process that calls it.
    pub in_process: bool,
    /// Whether logic can be stored in the database and called in one round trip.
    pub procedures: bool,
    /// Whether only one session can write at a time, so that one loader is best.
    pub one_writer: bool,
    /// Rows that a transaction of a bulk load should have at least, because smaller ones take a slower path; 0 if that
    /// makes no difference.
    pub load_rows_min: u64,
    /// Whether several statements can be one transaction, and a rollback undoes them.
    pub transactions: bool,
    /// Whether tables can be created and dropped in a transaction, and a rollback undoes it.
    pub transactional_ddl: bool,
    /// Whether foreign keys can be added after the load.
    pub foreign_keys: bool,
    /// Whether the database stores what is written to it. The null database does not, so nothing
    /// can be checked there.
    pub stores: bool,
    /// Largest sensible number of virtual users, with the reason.
    pub users_max: Option<(u32, &'static str)>,
    /// Isolation levels that can be requested.
    pub isolations: &'static [Isolation],
    /// Protocols for statements; the first is the default.
    pub protocols: &'static [Protocol],
    /// Whether BEGIN and COMMIT may share a round trip with a statement ([`Pipelining`]); an error is
    /// the reason why not.
    pub pipelining: Result<(), &'static str>,
    /// Whether a session is opened by a login, so that a run may open new ones all the time
    /// (`--reconnect`); an error is the reason why not.
    pub logins: Result<(), &'static str>,
    /// How late a transaction may appear in [`Admin::transaction_count`].
    pub count_delay: Duration,
    /// Conformance cases from which this driver is exempt, each with the reason.
    pub exempt: &'static [(&'static str, &'static str)],
}
