//! DuckDB in this process, by its shared library: `duckdb:path/to/file.duckdb`. Calls block their
//! thread.
//!
//! All sessions on a file share one database, which DuckDB locks against other processes for as
//! long as a session is open. Its transactions are optimistic: nobody waits for a lock, and the
//! second of two that change a row fails at once. That is a serialization error, which the engine
//! retries.

mod errors;
mod fence;
mod load;
mod loading;
mod session;
mod snapshot;
#[cfg(test)]
mod tests;
mod values;

use std::sync::Arc;
use std::time::Duration;

use triphammer_core::error::{DbError, ErrorClass, SpecError};
use triphammer_core::session::{Capabilities, Database, EngineControl, Isolation, Protocol, Role};
use triphammer_duckdb::{Connection, Error, Library};

use crate::database_file::DatabaseFile;
use crate::redactor::Secretive;
use crate::snapshot::FileSnapshots;
use crate::target::{ConnectSettings, Fence, TargetUrl};
use loading::{Loaders, Loading};
pub use session::DuckdbSession;
pub(crate) use snapshot::DuckdbFile;

const IN_PROCESS: &str = "runs in process";
const NEVER_WAITS: &str = "never waits for a lock: the second writer of a row fails at once";

/// Rows of all tables that a transaction of a load should have. What a transaction adds to a table
/// is compressed and written to the file at once if it fills a row group (122,880 rows); else it is
/// written to the log, and again at the next checkpoint.
const LOAD_ROWS_MIN: u64 = 500_000;

static CAPABILITIES: Capabilities = Capabilities {
    blocks: true,
    in_process: true,
    procedures: false,
    one_writer: false,
    load_rows_min: LOAD_ROWS_MIN,
    transactions: true,
    transactional_ddl: true,
    foreign_keys: false,
    stores: true,
    users_max: Some((
        64,
        "DuckDB uses all cores for one statement, so more users only share what one can use",
    )),
    isolations: &[Isolation::Snapshot],
    protocols: &[Protocol::Prepared],
    pipelining: Err("statements run in this process, without round trips"),
    logins: Err("its sessions share one engine in this process, and opening one is no login"),
    count_delay: Duration::ZERO,
    exempt: &[
        ("wrong_password", IN_PROCESS),
        ("password_with_quotes_and_unicode", IN_PROCESS),
        ("unknown_host", IN_PROCESS),
        ("server_that_never_answers", IN_PROCESS),
        ("server_killed", IN_PROCESS),
        ("procedure_with_results", "has no procedures"),
        ("write_skew", "has snapshot isolation, which permits it"),
        ("lock_timeout", NEVER_WAITS),
        ("deadlock", NEVER_WAITS),
    ],
};

/// Whether DuckDB's library is found and can be used.
#[must_use]
pub fn is_installed() -> bool {
    Library::get().is_ok()
}

/// Name of the dialect.
pub const DIALECT: &str = "duckdb";

/// Version of DuckDB's library, such as `1.5.5`.
///
/// # Errors
/// When it is not found or cannot be used, with what to do.
pub fn version() -> Result<&'static str, String> {
    Library::get().map(Library::version).map_err(|error| error.to_string())
}

/// A DuckDB file on which sessions can be opened.
pub struct Duckdb {
    file: DatabaseFile,
    options: UrlOptions,
    fence: Fence,
    loaders: Arc<Loaders>,
}

/// Values of the target's parameters, as DuckDB takes them.
#[derive(Clone, Debug, Default, PartialEq)]
struct UrlOptions {
    threads: Option<u32>,
    memory_limit: Option<String>,
}

impl Duckdb {
    /// Opens the file that the target names.
    ///
    /// # Errors
    /// If the target names no file, or a parameter is unknown or has an invalid value.
    pub fn open(target: &TargetUrl, settings: &ConnectSettings) -> Result<Self, SpecError> {
        if target.path == ":memory:" {
            return Err(SpecError::new(
                "`duckdb::memory:` would be empty for each command; use a file, on a tmpfs such as \
                 /dev/shm to keep it in memory",
            ));
        }
        let file = DatabaseFile::of(target, settings)?;
        let options = UrlOptions::parse(&target.params)?.with(settings)?;
        Ok(Self { file, options, fence: settings.fence, loaders: Arc::default() })
    }

    /// The snapshots of the file.
    pub(crate) fn snapshots(&self) -> FileSnapshots<'_, DuckdbFile> {
        FileSnapshots { path: self.file.path(), file: DuckdbFile }
    }

    fn session(&self, role: Role) -> Result<DuckdbSession, DbError> {
        self.file.check(role)?;
        let library =
            Library::get().map_err(|error| DbError::new(ErrorClass::Refused, error.to_string()))?;
        let opened = || {
            let configuration = fence::configuration(self.fence, &self.options);
            let connection = library.connect_with(self.file.path(), &configuration)?;
            let loading = match self.fence {
                // Nothing can be set any more.
                Fence::Sql => None,
                Fence::Off | Fence::Files => self.set_up(&connection, role)?,
            };
            let is_checked = fence::is_incomplete(self.fence, library);
            let path = self.file.path().to_owned();
            Ok(DuckdbSession::new(connection, path, loading, is_checked))
        };
        opened().map_err(|error| errors::on_open(&self.file, &error))
    }

    /// Sets what belongs to the database, whoever opened it; returns a loader's part of it.
    fn set_up(&self, connection: &Connection, role: Role) -> Result<Option<Loading>, Error> {
        let threads = self.options.threads;
        if let Some(threads) = threads {
            connection.script(&format!("SET threads = {threads}"))?;
        }
        if let Some(limit) = &self.options.memory_limit {
            connection.script(&format!("SET memory_limit = '{limit}'"))?;
        }
        if role != Role::Loader {
            return Ok(None);
        }
        Loading::begin(&self.loaders, connection, threads, self.fence != Fence::Off).map(Some)
    }
}

impl UrlOptions {
    /// Adds the settings that can also be parameters of the target.
    fn with(mut self, settings: &ConnectSettings) -> Result<Self, SpecError> {
        let twice = |setting: &str, parameter: &str| {
            let message = format!("give either --{setting} or `{parameter}` in the target");
            SpecError::new(message).about(setting)
        };
        if let Some(dop) = settings.dop
            && self.threads.replace(dop).is_some()
        {
            return Err(twice("dop", "threads"));
        }
        if let Some(bytes) = settings.engine_memory
            && self.memory_limit.replace(format!("{bytes}B")).is_some()
        {
            return Err(twice("engine-memory", "memory_limit"));
        }
        Ok(self)
    }

    fn parse(params: &[(String, String)]) -> Result<Self, SpecError> {
        let mut options = Self::default();
        for (name, value) in params {
            let wrong = |expected: &str| {
                let message =
                    format!("duckdb target, `{name}`: expected {expected}, got `{value}`");
                SpecError::new(message)
            };
            match name.as_str() {
                "threads" => {
                    let threads = value.parse().ok().filter(|threads| *threads > 0);
                    options.threads = Some(threads.ok_or_else(|| wrong("a number from 1"))?);
                }
                "memory_limit" if is_size(value) => options.memory_limit = Some(value.clone()),
                "memory_limit" => return Err(wrong("a size such as 2GB or 512MiB")),
                _ => {
                    return Err(SpecError::new(format!(
                        "unknown parameter `{name}` of a duckdb target: expected threads or \
                         memory_limit"
                    )));
                }
            }
        }
        Ok(options)
    }
}

/// Whether text is a number and one of DuckDB's units.
fn is_size(text: &str) -> bool {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let unit = text[digits..].trim().to_ascii_uppercase();
    let units = ["KB", "MB", "GB", "TB", "KIB", "MIB", "GIB", "TIB"];
    digits > 0 && units.contains(&unit.as_str())
}

impl Secretive for Duckdb {}

impl Database for Duckdb {
    type Session = DuckdbSession;

    fn dialect(&self) -> &'static str {
        DIALECT
    }

    fn capabilities(&self) -> &Capabilities {
        &CAPABILITIES
    }

    fn engine_control(&self) -> EngineControl {
        EngineControl { dop: Ok(()), memory: Ok(()) }
    }

    fn target(&self) -> String {
        format!("duckdb:{}", self.file.path().display())
    }

    async fn connect(&self, role: Role, _slot: u32) -> Result<DuckdbSession, DbError> {
        self.session(role)
    }

    async fn create_database(&self) -> Result<bool, DbError> {
        if self.file.path().exists() {
            return Ok(false);
        }
        self.session(Role::Loader).map(|_| true)
    }
}
