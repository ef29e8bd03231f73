//! What a driver is: a [`Database`] one can open sessions on, and a [`Session`], one connection
//! owned by one virtual user on one worker thread.
//!
//! A driver speaks a protocol and nothing more: it never retries, never sleeps, never decides. It
//! sorts errors into classes, keeps the statements that it was given, and switches off every silent
//! convenience of the library under it. What differs between databases is asked through
//! [`Capabilities`], never through a name.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::DbError;
use crate::rows::Rows;
use crate::sql::BoundStatement;
use crate::value::Value;
use crate::workload::TableDef;

/// A server or file on which sessions can be opened. Shared by all threads.
pub trait Database: Send + Sync + 'static {
    /// What `connect` gives.
    type Session: Admin;

    /// Name of the SQL spelling: a folder of the workloads' `sql/`.
    fn dialect(&self) -> &'static str;

    /// Learns from the server what the target leaves open and [`Database::dialect`] depends on. Does
    /// nothing where a target says it all.
    ///
    /// # Errors
    /// As [`Database::connect`].
    async fn identify(&self) -> Result<(), DbError> {
        Ok(())
    }

    /// What this database can and cannot do.
    fn capabilities(&self) -> &Capabilities;

    /// The target for people, without any secret: `postgres://bench@db1:5432/tpcc`.
    fn target(&self) -> String;

    /// Opens a session. The caller puts the time limit around it. `slot` tells those of one role apart,
    /// for a database of several nodes: the number of a virtual user, of a session of a pool or of a
    /// worker of a pool, in the whole run; 0 for who is alone. Whoever connects again has the same one.
    ///
    /// # Errors
    /// `Refused` when trying again cannot help, `Unavailable` or `Disconnected` when it may.
    async fn connect(&self, role: Role, slot: u32) -> Result<Self::Session, DbError>;

    /// How long questions that are no user's transactions are waited for.
    fn waits(&self) -> Waits {
        Waits::default()
    }

    /// What there is to tell since sessions were opened, a sentence each, for stderr and the result: that
    /// TLS was not to be had, say.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Makes the database that the target names, when the server has databases to make.
    /// Returns false when it is there already.
    ///
    /// # Errors
    /// When the server refuses.
    async fn create_database(&self) -> Result<bool, DbError>;
}

/// What a session is for; drivers may set sessions up accordingly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A virtual user of a run.
    User,
    /// Loads data, builds keys and indexes.
    Loader,
    /// Looks at the database from beside: checks, counters, settings, locks.
    Monitor,
}

/// A statement that a session has prepared, counted from 0 in the order of `prepare` calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatementId(pub u32);

impl StatementId {
    /// The place in the session's list of statements.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Whether a transaction will write, for databases that must know at its begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It only reads.
    Read,
    /// It reads and writes.
    Write,
    /// It only reads, and everything it reads is of one instant.
    Snapshot,
}

impl Access {
    /// Whether it writes.
    #[must_use]
    pub const fn writes(self) -> bool {
        matches!(self, Self::Write)
    }
}

/// One connection. A failed call leaves the session usable unless the error's class
/// [loses the session](crate::ErrorClass::loses_session); a failed statement in a transaction leaves
/// that transaction to be rolled back by the caller.
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

    /// Runs a statement and gives the number of rows it touched.
    ///
    /// # Errors
    /// As the database reports.
    async fn execute(&mut self, id: StatementId, args: &[Value<'_>]) -> Result<u64, DbError>;

    /// Runs a statement and puts its rows into `rows`, which is emptied first.
    ///
    /// # Errors
    /// As the database reports.
    async fn query(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        rows: &mut Rows,
    ) -> Result<(), DbError>;

    /// Runs a statement outside a transaction that commits by itself: a procedure call, or a single
    /// writing statement. One round trip.
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

    /// Runs a statement whose result may be larger than memory: `each` gets it in batches, `batch`
    /// being the buffer that is used again and again.
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

    /// Says what the attempt at a transaction that comes next does, before its first call: a session on
    /// several nodes chooses one by it. Costs no round trip, and means nothing to a single server.
    fn announce(&mut self, access: Access) {
        let _ = access;
    }

    /// Begins a transaction, at the isolation level that the target's settings give.
    ///
    /// # Errors
    /// As the database reports.
    async fn begin(&mut self, access: Access) -> Result<(), DbError>;

    /// Begins a [`Access::Snapshot`] transaction of the same instant as another session's: `name` is what
    /// that session's [`Session::share_snapshot`] gave.
    ///
    /// # Errors
    /// As the database reports.
    async fn begin_at(&mut self, name: &str) -> Result<(), DbError> {
        let _ = name;
        self.begin(Access::Snapshot).await
    }

    /// Names the snapshot of the open transaction for [`Session::begin_at`]; `None` where a database has
    /// no way to share one.
    ///
    /// # Errors
    /// As the database reports.
    async fn share_snapshot(&mut self) -> Result<Option<String>, DbError> {
        Ok(None)
    }

    /// Commits.
    ///
    /// # Errors
    /// As the database reports. After an error of a class that loses the session nobody knows whether
    /// the database committed.
    async fn commit(&mut self) -> Result<(), DbError>;

    /// Rolls back; harmless when there is no transaction.
    ///
    /// # Errors
    /// As the database reports.
    async fn rollback(&mut self) -> Result<(), DbError>;

    /// Loads rows by the database's fastest way, inside the transaction that is open. Gives the
    /// number of rows.
    ///
    /// # Errors
    /// As the database reports.
    async fn load(&mut self, table: &TableDef, source: &mut dyn RowSource) -> Result<u64, DbError>;

    /// Whether the driver knows already that the connection is gone, without asking the server.
    fn is_closed(&self) -> bool;

    /// A handle by which another thread can cancel what the session is doing.
    fn canceller(&self) -> Box<dyn Canceller>;

    /// Makes the cheapest round trip there is, for its time. Gives false, without waiting, where there is
    /// none to make because the database runs in this process.
    ///
    /// # Errors
    /// When the session is lost.
    async fn ping(&mut self) -> Result<bool, DbError> {
        Ok(false)
    }

    /// Ends the session in an orderly way. Dropping it is allowed too, and abrupt.
    async fn close(self);
}

/// What a session can be asked about its server and its tables, beside the transactions of users: settings,
/// counters, locks. Nothing here is on the path of a transaction.
pub trait Admin: Session {
    /// What is at the other end, and how it was reached.
    ///
    /// # Errors
    /// As the database reports.
    async fn server(&mut self) -> Result<ServerInfo, DbError>;

    /// The server's settings, by name: `pg_settings`, PRAGMAs, `SHOW VARIABLES`.
    ///
    /// # Errors
    /// As the database reports.
    async fn settings(&mut self) -> Result<Vec<(String, String)>, DbError>;

    /// The database's own count of transactions ended since some time past, as HammerDB takes it for
    /// TPM; `None` where the database keeps none.
    ///
    /// # Errors
    /// As the database reports.
    async fn transaction_count(&mut self) -> Result<Option<u64>, DbError>;

    /// The process, or the thread, that serves this session, where the server may be on this host:
    /// whoever asks looks whether it is. `None` where the server is elsewhere, or nobody can tell.
    ///
    /// # Errors
    /// As the database reports; the session is still usable.
    async fn server_process(&mut self) -> Result<Option<ServerProcess>, DbError> {
        Ok(None)
    }

    /// Names of the tables in the schema that the session works in, in lower case.
    ///
    /// # Errors
    /// As the database reports.
    async fn tables(&mut self) -> Result<Vec<String>, DbError>;

    /// What depends on these tables and would be lost, broken or in the way if they were dropped, a phrase
    /// each. Nothing where [`Capabilities::transactional_ddl`]: there a drop that fails leaves all as it
    /// was.
    ///
    /// # Errors
    /// As the database reports.
    async fn dependents(&mut self, tables: &[&str]) -> Result<Vec<String>, DbError> {
        let _ = tables;
        Ok(Vec::new())
    }

    /// Tries whether tables can be made by these statements, and procedures where `longest` gives the bytes
    /// of the longest of them, and leaves nothing behind. Nothing to try where
    /// [`Capabilities::transactional_ddl`].
    ///
    /// # Errors
    /// When they cannot.
    async fn rehearse(&mut self, tables: &[&str], longest: Option<usize>) -> Result<(), DbError> {
        let _ = (tables, longest);
        Ok(())
    }

    /// Takes the advisory lock `name` within the schema for as long as the session lives (or until its transaction
    /// ends, where a driver says so): many may share it, or one may have it alone. Gives false at once
    /// when somebody else holds a conflicting lock. The session serves for nothing else afterwards.
    ///
    /// # Errors
    /// As the database reports.
    async fn advisory_lock(&mut self, name: &str, mode: LockMode) -> Result<bool, DbError>;
}

/// A process of a server, as the server itself numbers it: in a container these may be other numbers
/// than the host's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerProcess {
    /// Of the process, or of one of its threads.
    pub id: u32,
    /// What such a process is called, to tell it from another one of that number.
    pub names: &'static [&'static str],
}

/// How a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    /// Others may hold it shared: runs.
    Shared,
    /// Nobody else may hold it: build, check, drop.
    Exclusive,
}

/// Rows for a bulk load, made while earlier ones are on their way.
pub trait RowSource {
    /// Appends a batch of rows to an emptied buffer of the table's width; false when there are no more
    /// (what was appended still counts).
    fn fill(&mut self, rows: &mut Rows) -> bool;
}

impl<F: FnMut(&mut Rows) -> bool> RowSource for F {
    fn fill(&mut self, rows: &mut Rows) -> bool {
        self(rows)
    }
}

/// Cancels what a session is doing, from any thread. Best effort: the answer of the session says
/// whether it worked.
pub trait Canceller: Send {
    /// Asks the database to stop the session's current statement.
    fn cancel(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;

    /// Asks on a connection of its own whether the database is still at the session's statement; `None`
    /// where nobody can tell.
    ///
    /// # Errors
    /// As [`Database::connect`], and as the database reports.
    fn is_at_work(&self) -> IsAtWork<'_> {
        Box::pin(std::future::ready(Ok(None)))
    }
}

/// The answer of [`Canceller::is_at_work`] on its way.
pub type IsAtWork<'a> = Pin<Box<dyn Future<Output = Result<Option<bool>, DbError>> + Send + 'a>>;

/// How long questions that are no user's transactions are waited for: those of builds, checks and drops, and
/// those asked beside a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waits {
    /// A question that any server answers at once; and, while a statement takes longer, between two looks at
    /// whether the server is still at it.
    pub query: Duration,
    /// A statement over much data: a load, an index, a check.
    pub work: Duration,
}

impl Default for Waits {
    fn default() -> Self {
        Self { query: Duration::from_secs(30), work: Duration::from_secs(24 * 60 * 60) }
    }
}

/// What is at the other end of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerInfo {
    /// `PostgreSQL`, `SQLite`.
    pub product: String,
    /// The server's version as it says it.
    pub version: String,
    /// `tcp`, `unix socket`, `in process`.
    pub transport: String,
    /// TLS version and cipher; `None` without TLS.
    pub cipher: Option<String>,
    /// Whether the server runs on this host, when that can be told: then it shares our CPUs.
    pub same_host: Option<bool>,
}

/// What a database can and cannot do. Workloads and the engine ask these and know no names.
#[derive(Clone, Debug)]
pub struct Capabilities {
    /// Calls block their thread: each virtual user gets a thread of its own.
    pub blocks: bool,
    /// Logic can be stored in the database and called in one round trip.
    pub procedures: bool,
    /// Only one session writes at a time, so one loader is best.
    pub one_writer: bool,
    /// Tables can be made and dropped in a transaction, and are back after its rollback.
    pub transactional_ddl: bool,
    /// Keys that refer to other tables can be added after the load.
    pub foreign_keys: bool,
    /// Keeps what is written to it. The null database does not, so nothing can be checked there.
    pub stores: bool,
    /// Most virtual users that make sense, with the reason.
    pub users_max: Option<(u32, &'static str)>,
    /// Isolation levels that can be asked for.
    pub isolations: &'static [Isolation],
    /// Ways to send a statement; the first is used where nobody asks for another.
    pub protocols: &'static [Protocol],
    /// How late a transaction may come to be seen in [`Admin::transaction_count`].
    pub count_delay: Duration,
    /// Conformance cases that this driver is let off, each with the reason.
    pub exempt: &'static [(&'static str, &'static str)],
}

/// Isolation levels by the names of the SQL standard, and snapshot isolation beside them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the standard's own names")]
pub enum Isolation {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Snapshot,
    Serializable,
}

impl Isolation {
    /// Every level with the word the command line takes.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::ReadUncommitted, "read-uncommitted"),
        (Self::ReadCommitted, "read-committed"),
        (Self::RepeatableRead, "repeatable-read"),
        (Self::Snapshot, "snapshot"),
        (Self::Serializable, "serializable"),
    ];

    /// The word the command line takes.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(level, _)| *level == self).expect("ALL has every level").1
    }
}

impl std::str::FromStr for Isolation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = text.replace(['_', ' '], "-").to_lowercase();
        Self::ALL.iter().find(|(_, name)| *name == wanted).map(|(level, _)| *level).ok_or_else(
            || {
                let names: Vec<_> = Self::ALL.iter().map(|(_, name)| *name).collect();
                format!("no isolation level is called `{text}`; levels are {}", names.join(", "))
            },
        )
    }
}

/// How statements travel, so that poolers and proxies can be tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// Prepared once a session, bound and executed each time.
    Prepared,
    /// Parsed, bound and executed each time, nothing kept on the server.
    Extended,
    /// One text with the values in it.
    Simple,
}

impl Protocol {
    /// Every protocol with the word the command line takes.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Prepared, "prepared"), (Self::Extended, "extended"), (Self::Simple, "simple")];

    /// The word the command line takes.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(protocol, _)| *protocol == self).expect("ALL has every protocol").1
    }
}

impl std::str::FromStr for Protocol {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.iter().find(|(_, name)| *name == text).map(|(protocol, _)| *protocol).ok_or_else(
            || format!("no protocol is called `{text}`; there are prepared, extended and simple"),
        )
    }
}
