//! Opens the store.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{
    Connection, ErrorCode, OpenFlags, OptionalExtension, Transaction, TransactionBehavior, params,
};
use triphammer_document::JobId;

use super::error::StoreError;
use super::{path, tables};
use crate::held::HeldJob;

/// Maximum wait of a writer for another one.
const BUSY_LIMIT: Duration = Duration::from_secs(10);
/// Number of attempts to switch to the write-ahead log, for which SQLite does not wait.
const WAL_ATTEMPTS: u32 = 100;
/// Time between two attempts.
const WAL_WAIT: Duration = Duration::from_millis(20);

/// An open job store. It is used by one thread at a time; other threads open their own.
#[derive(Debug)]
pub struct Store {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
    /// Jobs started by this store and not finished.
    pub(super) held: RefCell<BTreeMap<JobId, HeldJob>>,
}

impl Store {
    /// Opens the store at `path`, and creates it if it does not exist.
    ///
    /// # Errors
    /// When it cannot be created or opened, is damaged or belongs to another program, or was
    /// written by another version.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        path::make_private(path)?;
        path::check(path)?;
        let failed = |error| StoreError::from_sqlite(path, error);
        let mut connection = Connection::open(path).map_err(failed)?;
        connection.busy_timeout(BUSY_LIMIT).map_err(failed)?;
        let is_store = tables::is_store(&connection, path)?;
        connection.pragma_update(None, "foreign_keys", true).map_err(failed)?;
        // A read-only store keeps its journal mode.
        if !connection.is_readonly("main").map_err(failed)? {
            use_write_ahead_log(&connection).map_err(failed)?;
            // A power failure may lose the last batch, but never the store.
            connection.pragma_update(None, "synchronous", "normal").map_err(failed)?;
        }
        if !is_store {
            tables::create(&mut connection, path)?;
        }
        Ok(Self { connection, path: path.to_owned(), held: RefCell::default() })
    }

    /// Opens the store at `path` for reading, without creating or changing anything. A missing
    /// store reads as empty.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_to_read(path: &Path) -> Result<Self, StoreError> {
        let failed = |error| StoreError::from_sqlite(path, error);
        let of = |connection| Self { connection, path: path.to_owned(), held: RefCell::default() };
        let empty = || {
            let mut connection = Connection::open("").map_err(failed)?;
            tables::create(&mut connection, path)?;
            Ok(of(connection))
        };
        if !path.exists() {
            return empty();
        }
        path::check(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
        connection.busy_timeout(BUSY_LIMIT).map_err(failed)?;
        if tables::is_store(&connection, path)? { Ok(of(connection)) } else { empty() }
    }

    /// Whether an ended job is in the file that is currently at the store's path: a file deleted or
    /// replaced in the meantime still accepts writes, but is not found again.
    ///
    /// # Errors
    /// When it is missing, or the file cannot be read.
    pub fn verify(&self, job: JobId) -> Result<(), StoreError> {
        let gone = || StoreError::Gone { path: self.path.clone(), job: job.0 };
        if !self.path.exists() {
            return Err(gone());
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let fresh = Connection::open_with_flags(&self.path, flags).map_err(|e| self.failed(e))?;
        fresh.busy_timeout(BUSY_LIMIT).map_err(|error| self.failed(error))?;
        let sql = "SELECT 1 FROM jobs WHERE id = ?1 AND pid = ?2 AND status <> 'running'";
        let found = fresh.query_row(sql, params![job.0, std::process::id()], |_| Ok(())).optional();
        found.ok().flatten().ok_or_else(gone)
    }

    /// Path of the store's file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Says that no job is stored here, and how to store one.
    #[must_use]
    pub fn nothing_stored(&self) -> String {
        let path = self.path.display();
        format!("no job is stored in {path} yet; `triphammer run` stores one")
    }

    /// Runs `work` in one transaction that is a writer from its start, so that it never fails
    /// halfway because of another writer.
    pub(super) fn write<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let transaction = self.begin_write()?;
        let done = work(&transaction).map_err(|error| self.failed(error))?;
        transaction.commit().map_err(|error| self.failed(error))?;
        Ok(done)
    }

    /// Starts such a transaction. There is at most one at a time, because none outlives the call
    /// that starts it.
    pub(super) fn begin_write(&self) -> Result<Transaction<'_>, StoreError> {
        Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
            .map_err(|error| self.failed(error))
    }

    /// Converts an error of SQLite, with the path of the store.
    pub(super) fn failed(&self, error: rusqlite::Error) -> StoreError {
        StoreError::from_sqlite(&self.path, error)
    }
}

fn use_write_ahead_log(connection: &Connection) -> rusqlite::Result<()> {
    let mut attempt = 1;
    loop {
        let switched = connection
            .pragma_update_and_check(None, "journal_mode", "wal", |row| row.get::<_, String>(0));
        match switched {
            Ok(_) => return Ok(()),
            Err(error)
                if attempt < WAL_ATTEMPTS
                    && matches!(
                        error.sqlite_error_code(),
                        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
                    ) =>
            {
                attempt += 1;
                std::thread::sleep(WAL_WAIT);
            }
            Err(error) => return Err(error),
        }
    }
}
