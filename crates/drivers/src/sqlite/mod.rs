//! SQLite, compiled into the program: `sqlite:path/to/file.db`. Calls block their thread.
//!
//! Users work in WAL mode with `synchronous=full`, so an acknowledged commit survives a power
//! failure. Loaders work with a rollback journal instead, where a page is written once and not
//! twice: pages that a load appends need no journaling at all. A killed loader leaves a hot
//! journal, and the next process that opens the file rolls the unfinished chunk back. Loaders also
//! use `synchronous=full`: with chunks of 100 MB per transaction, neither `off` nor multi-row
//! INSERTs save measurable time. 4 million rows and two indexes take 9 s; the sqlite3 shell takes
//! 18 s or more to import them from CSV and build the same indexes. The first user to connect
//! switches the file to WAL; a loader switches it back when nobody else has it open, and loads in
//! WAL mode otherwise.
//!
//! SQLite has no decimals: they are bound as floating point, which keeps 15 digits. Timestamps are
//! text, lists of integers JSON text.

mod activity;
mod checksum;
mod errors;
mod fence;
mod scratch;
mod session;
mod snapshot;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use triphammer_core::clock::parse_duration;
use triphammer_core::error::{DbError, ErrorClass, SpecError};
use triphammer_core::session::{Capabilities, Database, EngineControl, Isolation, Protocol, Role};

use crate::database_file::DatabaseFile;
use crate::redactor::Secretive;
use crate::snapshot::FileSnapshots;
use crate::target::{ConnectSettings, Fence, TargetUrl};
use activity::Activity;
pub use session::SqliteSession;
pub(crate) use snapshot::SqliteFile;

/// How long a session waits for a lock if the target does not specify it.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Page cache of a loader, in KiB: the sorter of CREATE INDEX may use as much again.
const LOADER_CACHE_KIB: i64 = 128 * 1024;

/// Number of helper threads for sorting in a loader's CREATE INDEX.
const LOADER_SORT_THREADS: i64 = 2;

const IN_PROCESS: &str = "runs in process";
const ONE_WRITER: &str = "has one writer at a time: the second waits when it begins";

static CAPABILITIES: Capabilities = Capabilities {
    blocks: true,
    in_process: true,
    procedures: false,
    one_writer: true,
    load_rows_min: 0,
    transactions: true,
    transactional_ddl: true,
    foreign_keys: false,
    stores: true,
    users_max: Some((
        64,
        "SQLite has one writer at a time, so more users only wait longer for each other",
    )),
    isolations: &[Isolation::Serializable],
    protocols: &[Protocol::Prepared],
    pipelining: Err("statements run in this process, without round trips"),
    logins: Ok(()),
    count_delay: Duration::ZERO,
    exempt: &[
        ("wrong_password", IN_PROCESS),
        ("password_with_quotes_and_unicode", IN_PROCESS),
        ("unknown_host", IN_PROCESS),
        ("server_that_never_answers", IN_PROCESS),
        ("server_killed", IN_PROCESS),
        ("procedure_with_results", "has no procedures"),
        ("columns_that_change_within_a_transaction", ONE_WRITER),
        ("read_only_access", "has no read-only BEGIN"),
        ("write_skew", ONE_WRITER),
        ("deadlock", ONE_WRITER),
    ],
};

/// A SQLite file on which sessions can be opened.
pub struct Sqlite {
    file: DatabaseFile,
    options: UrlOptions,
    /// Held while a session switches the journal mode, since only one can at a time.
    switching: Mutex<()>,
    activity: Arc<Activity>,
    fence: Fence,
}

/// Values of the target's parameters.
#[derive(Clone, Debug, PartialEq)]
struct UrlOptions {
    busy_timeout: Duration,
    synchronous: &'static str,
    journal_mode: &'static str,
    cache_size: Option<i64>,
    mmap_size: Option<i64>,
}

impl Sqlite {
    /// Opens the file that the target names.
    ///
    /// # Errors
    /// If the target names no file, or a parameter is unknown or has an invalid value.
    pub fn open(target: &TargetUrl, settings: &ConnectSettings) -> Result<Self, SpecError> {
        let path = target.path.as_str();
        if path == ":memory:" {
            return Err(SpecError::new(
                "`sqlite::memory:` is a separate, empty database for each session; use a file, on \
                 a tmpfs such as /dev/shm to keep it in memory",
            ));
        }
        // SQLite would treat such a name as a URI with its own parameters.
        if path.starts_with("file:") {
            return Err(SpecError::new(
                "a sqlite target must name a file, not a file: URI; use sqlite:./file:… for a name \
                 that begins so",
            ));
        }
        let options = UrlOptions::parse(&target.params, settings.lock_timeout)?;
        let file = DatabaseFile::of(target, settings)?;
        let (switching, activity) = (Mutex::new(()), Arc::default());
        Ok(Self { file, options, switching, activity, fence: settings.fence })
    }

    /// The snapshots of the file.
    pub(crate) fn snapshots(&self) -> FileSnapshots<'_, SqliteFile> {
        FileSnapshots { path: self.file.path(), file: SqliteFile }
    }

    fn connection(&self, role: Role) -> Result<Connection, DbError> {
        self.file.check(role)?;
        let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        if role == Role::Loader {
            flags |= OpenFlags::SQLITE_OPEN_CREATE;
        }
        let opened = || -> rusqlite::Result<Connection> {
            let mut connection = Connection::open_with_flags(self.file.path(), flags)?;
            connection.set_prepared_statement_cache_capacity(0);
            connection.busy_timeout(self.options.busy_timeout)?;
            // Opening reads nothing: only this shows whether the file is a database.
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
            self.set_up(&connection, role)?;
            if self.fence != Fence::Off {
                fence::enclose(&mut connection)?;
            }
            Ok(connection)
        };
        let connection = opened().map_err(|error| errors::on_open(self.file.path(), error))?;
        // SQLite silently opens a file that is not writable as read-only.
        if role == Role::Loader && connection.is_readonly("main").unwrap_or(false) {
            let message = format!("{}: the file is not writable", self.file.path().display());
            return Err(DbError::new(ErrorClass::ReadOnly, message));
        }
        Ok(connection)
    }

    fn set_up(&self, connection: &Connection, role: Role) -> rusqlite::Result<()> {
        let options = &self.options;
        set(connection, "synchronous", options.synchronous)?;
        let cache_size = (role == Role::Loader).then_some(-LOADER_CACHE_KIB);
        if let Some(size) = options.cache_size.or(cache_size) {
            set(connection, "cache_size", size)?;
        }
        if let Some(size) = options.mmap_size {
            set(connection, "mmap_size", size)?;
        }
        match role {
            Role::Loader => {
                set(connection, "threads", LOADER_SORT_THREADS)?;
                self.leave_wal(connection)
            }
            Role::User => self.switch_journal(connection, options.journal_mode),
            Role::Monitor => {
                checksum::add_function(connection)?;
                self.activity.add_functions(connection)
            }
        }
    }

    /// Switches the file's journal mode, unless it already has it or is not writable.
    fn switch_journal(&self, connection: &Connection, wanted: &str) -> rusqlite::Result<()> {
        let _alone = self.switching.lock().unwrap_or_else(PoisonError::into_inner);
        if journal_mode(connection)? == wanted || connection.is_readonly("main")? {
            return Ok(());
        }
        set(connection, "journal_mode", wanted)
    }

    /// Leaves WAL mode unless another session prevents it.
    fn leave_wal(&self, connection: &Connection) -> rusqlite::Result<()> {
        let _alone = self.switching.lock().unwrap_or_else(PoisonError::into_inner);
        if journal_mode(connection)? != "wal" {
            return Ok(());
        }
        match set(connection, "journal_mode", "delete") {
            Err(error) if errors::is_busy(&error) => Ok(()),
            done => done,
        }
    }
}

/// Runs `PRAGMA name=value`.
fn set(connection: &Connection, name: &str, value: impl rusqlite::ToSql) -> rusqlite::Result<()> {
    connection.pragma_update_and_check(None, name, value, |_| Ok(())).or_else(|error| match error {
        rusqlite::Error::QueryReturnedNoRows => Ok(()),
        error => Err(error),
    })
}

fn journal_mode(connection: &Connection) -> rusqlite::Result<String> {
    connection.pragma_query_value(None, "journal_mode", |row| row.get(0))
}

impl UrlOptions {
    fn parse(
        params: &[(String, String)],
        lock_timeout: Option<Duration>,
    ) -> Result<Self, SpecError> {
        let mut options = Self {
            busy_timeout: lock_timeout.unwrap_or(BUSY_TIMEOUT),
            synchronous: "full",
            journal_mode: "wal",
            cache_size: None,
            mmap_size: None,
        };
        for (name, value) in params {
            let wrong = |why: String| SpecError::new(format!("sqlite target, `{name}`: {why}"));
            let number = || {
                value.parse().map_err(|_| wrong(format!("expected a whole number, got `{value}`")))
            };
            match name.as_str() {
                "synchronous" => {
                    let choices = ["full", "normal", "off", "extra"];
                    options.synchronous = choice(value, &choices).map_err(wrong)?;
                }
                "journal_mode" => {
                    // Without a journal, or with one in memory, a killed process corrupts the file.
                    let choices = ["wal", "delete", "truncate", "persist"];
                    options.journal_mode = choice(value, &choices).map_err(wrong)?;
                }
                "busy_timeout" => {
                    options.busy_timeout = parse_duration(value).map_err(wrong)?;
                }
                "cache_size" => options.cache_size = Some(number()?),
                "mmap_size" => options.mmap_size = Some(number()?),
                _ => {
                    return Err(SpecError::new(format!(
                        "unknown parameter `{name}` of a sqlite target: expected synchronous, \
                         journal_mode, busy_timeout, cache_size or mmap_size"
                    )));
                }
            }
        }
        Ok(options)
    }
}

fn choice(value: &str, choices: &[&'static str]) -> Result<&'static str, String> {
    let found = choices.iter().find(|choice| **choice == value.to_lowercase());
    found.copied().ok_or_else(|| format!("expected one of {}, got `{value}`", choices.join(", ")))
}

impl Secretive for Sqlite {}

impl Database for Sqlite {
    type Session = SqliteSession;

    fn dialect(&self) -> &'static str {
        "sqlite"
    }

    fn capabilities(&self) -> &Capabilities {
        &CAPABILITIES
    }

    fn engine_control(&self) -> EngineControl {
        EngineControl {
            dop: Err("SQLite executes a query on one thread"),
            memory: Err(
                "SQLite limits only the page cache of each connection; use `cache_size` in the target",
            ),
        }
    }

    fn target(&self) -> String {
        format!("sqlite:{}", self.file.path().display())
    }

    async fn connect(&self, role: Role, _slot: u32) -> Result<SqliteSession, DbError> {
        let mut connection = self.connection(role)?;
        let watched = (role == Role::User).then_some(self.options.busy_timeout);
        let mut activity = self.activity.unseen();
        if let Some(limit) = watched {
            activity = self.activity.session();
            let watch = activity.watch(&mut connection, limit);
            watch.map_err(|error| errors::on_open(self.file.path(), error))?;
        }
        SqliteSession::new(connection, self.file.path().to_owned(), activity, watched)
    }

    async fn create_database(&self) -> Result<bool, DbError> {
        if self.file.path().exists() {
            return Ok(false);
        }
        self.connection(Role::Loader).map(|_| true)
    }
}
