//! Snapshots of SQLite files: copies of the file, when everything is in it and nobody uses it.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use triphammer_core::{DbError, ErrorClass};

use super::{errors, set};
use crate::snapshot::OneFile;

/// A file of SQLite.
pub(crate) struct SqliteFile;

impl OneFile for SqliteFile {
    fn bring_together(&self, path: &Path, patience: Duration) -> Result<(), DbError> {
        bring_together(path, patience)
    }

    fn objects(&self, path: &Path) -> Result<Vec<String>, DbError> {
        objects(path)
    }

    fn beside(&self) -> &'static [&'static str] {
        &["-wal", "-journal", "-shm"]
    }
}

/// Brings what is in the log or in a hot journal into the file itself, and fails if somebody else has
/// the file open: in WAL mode everybody who has, else who is in a transaction.
fn bring_together(path: &Path, patience: Duration) -> Result<(), DbError> {
    let done = || -> rusqlite::Result<()> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(patience)?;
        set(&connection, "locking_mode", "exclusive")?;
        connection.execute_batch("BEGIN EXCLUSIVE; COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")?;
        connection.close().map_err(|(_, error)| error)
    };
    done().map_err(|error| match errors::is_busy(&error) {
        true => {
            let message = format!("{}: another process has the database open", path.display());
            DbError::new(ErrorClass::LockTimeout, message)
        }
        false => errors::on_open(path, error),
    })
}

/// Kinds and names of what is in a file that nobody has open.
fn objects(path: &Path) -> Result<Vec<String>, DbError> {
    let read = || -> rusqlite::Result<Vec<String>> {
        let name = path.to_string_lossy();
        let name = percent_encoding::utf8_percent_encode(&name, percent_encoding::NON_ALPHANUMERIC);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_URI;
        // Nothing is written beside it.
        let connection = Connection::open_with_flags(format!("file:{name}?immutable=1"), flags)?;
        let sql = "SELECT type || ' ' || name FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                   UNION ALL SELECT 'column ' || m.name || '.' || c.name
                   FROM sqlite_schema m, pragma_table_info(m.name) c
                   WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";
        let mut statement = connection.prepare(sql)?;
        statement.query_map([], |row| row.get(0))?.collect()
    };
    read().map_err(|error| errors::on_open(path, error))
}
