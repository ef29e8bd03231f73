//! The tables of a store, in `tables.sql`. SQLite's `application_id` says that the file is a store,
//! and its `user_version` is the version of the tables, which begins at 1 with the first release.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

use super::error::StoreError;

const TABLES: &str = include_str!("tables.sql");

/// Version of the tables that this program reads and writes.
pub const VERSION: u32 = 1;
/// SQLite's `application_id` of a store: the letters `trip`.
const APPLICATION_ID: u32 = u32::from_be_bytes(*b"trip");

/// Creates the tables in an empty file. If two programs try at once, the second one waits and finds
/// nothing left to do.
pub(super) fn create(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let failed = |error| StoreError::from_sqlite(path, error);
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    if is_store_in(&transaction, path)? {
        return Ok(());
    }
    transaction.execute_batch(TABLES).map_err(failed)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(failed)?;
    transaction.pragma_update(None, "user_version", VERSION).map_err(failed)?;
    transaction
        .execute(
            "INSERT INTO meta (key, value) VALUES ('tool_version', ?1)",
            [env!("CARGO_PKG_VERSION")],
        )
        .map_err(failed)?;
    transaction.commit().map_err(failed)
}

/// Whether the file is a store of this version instead of empty.
///
/// # Errors
/// When it belongs to another program, or to another version of this one.
pub(super) fn is_store(connection: &Connection, path: &Path) -> Result<bool, StoreError> {
    // In one transaction: another program may create the tables meanwhile.
    let transaction = connection.unchecked_transaction();
    is_store_in(&*transaction.map_err(|error| StoreError::from_sqlite(path, error))?, path)
}

fn is_store_in(connection: &Connection, path: &Path) -> Result<bool, StoreError> {
    let failed = |error| StoreError::from_sqlite(path, error);
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get(0)).map_err(failed);
    let claimed: u32 = pragma("application_id")?;
    let version: u32 = pragma("user_version")?;
    let count = |sql| connection.query_row(sql, [], |row| row.get::<_, u32>(0)).map_err(failed);
    match (claimed, version) {
        (APPLICATION_ID, VERSION) => Ok(true),
        (APPLICATION_ID, _) => Err(newer(connection, path, version)),
        (0, 0) if count("SELECT count(*) FROM sqlite_schema")? == 0 => Ok(false),
        (0, 1..) if count(OF_AN_OLDER_STORE)? == 2 => Err(StoreError::Older { path: path.into() }),
        _ => Err(StoreError::Foreign { path: path.into() }),
    }
}

/// Counts columns that stores had before version 1.
const OF_AN_OLDER_STORE: &str = "SELECT count(*) FROM pragma_table_info('jobs')
    WHERE name IN ('workload_version', 'server_product')";

fn newer(connection: &Connection, path: &Path, found: u32) -> StoreError {
    let sql = "SELECT value FROM meta WHERE key = 'tool_version'";
    let written_by: Option<String> =
        connection.query_row(sql, [], |row| row.get(0)).optional().unwrap_or_default();
    StoreError::Newer {
        path: path.to_owned(),
        found,
        known: VERSION,
        written_by: written_by.unwrap_or_else(|| "of an unknown version".to_owned()),
    }
}
