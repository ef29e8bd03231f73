//! Migrates a store's tables to the version of this program. Each step is a file in this directory,
//! never changed once released; the number of the last completed step is SQLite's `user_version`.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

use super::error::StoreError;

/// The steps; the first creates version 1.
const STEPS: [&str; 8] = [
    include_str!("0001_jobs.sql"),
    include_str!("0002_seconds.sql"),
    include_str!("0003_campaigns.sql"),
    include_str!("0004_waits.sql"),
    include_str!("0005_samples.sql"),
    include_str!("0006_names.sql"),
    include_str!("0007_cpu_tests.sql"),
    include_str!("0008_endings.sql"),
];

/// Version of the tables that this program writes.
#[expect(clippy::cast_possible_truncation, reason = "a handful of steps")]
pub const VERSION: u32 = STEPS.len() as u32;

/// Runs the missing steps. If two programs try at once, the second one waits and finds nothing left
/// to do.
pub(super) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let failed = |error| StoreError::from_sqlite(path, error);
    if current(connection, path)? == VERSION {
        return Ok(());
    }
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    let found = current(&transaction, path)?;
    for step in &STEPS[found as usize..] {
        transaction.execute_batch(step).map_err(failed)?;
    }
    transaction.pragma_update(None, "user_version", VERSION).map_err(failed)?;
    transaction
        .execute(
            "INSERT OR REPLACE INTO meta (key, value) VALUES ('tool_version', ?1)",
            [env!("CARGO_PKG_VERSION")],
        )
        .map_err(failed)?;
    transaction.commit().map_err(failed)
}

/// Whether the file is a store instead of empty.
///
/// # Errors
/// When it belongs to another program: it is not empty but lacks our tables.
pub(super) fn is_store(connection: &Connection, path: &Path) -> Result<bool, StoreError> {
    let failed = |error| StoreError::from_sqlite(path, error);
    let number = |sql| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).map_err(failed);
    let foreign = || StoreError::Foreign { path: path.to_owned() };
    let things = number("SELECT count(*) FROM sqlite_schema")?;
    let ours = number(
        "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('jobs', 'meta')",
    )?;
    let has_our_columns = number(
        "SELECT count(*) FROM pragma_table_info('jobs')
         WHERE name IN ('workload_version', 'server_product')",
    )? == 2;
    let claimed: i64 =
        connection.pragma_query_value(None, "application_id", |row| row.get(0)).map_err(failed)?;
    let version: i64 =
        connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(failed)?;
    if claimed != 0 {
        return Err(foreign());
    }
    match (things, version) {
        (0, 0) => Ok(false),
        (_, 1..) if ours == 2 && has_our_columns => Ok(true),
        _ => Err(foreign()),
    }
}

/// Reads the version of the store; fails if it is newer than this program.
pub(super) fn current(connection: &Connection, path: &Path) -> Result<u32, StoreError> {
    let failed = |error| StoreError::from_sqlite(path, error);
    let found: u32 =
        connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(failed)?;
    if found <= VERSION {
        return Ok(found);
    }
    let written_by: Option<String> = connection
        .query_row("SELECT value FROM meta WHERE key = 'tool_version'", [], |row| row.get(0))
        .optional()
        .unwrap_or_default();
    Err(StoreError::Newer {
        path: path.to_owned(),
        found,
        known: VERSION,
        written_by: written_by.unwrap_or_else(|| "of an unknown version".to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{JobFilter, Store};

    #[test]
    fn an_older_store_is_read_and_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("jobs.sqlite");
        let old = Connection::open(&path).unwrap();
        for step in &STEPS[..2] {
            old.execute_batch(step).unwrap();
        }
        old.pragma_update(None, "user_version", 2).unwrap();
        old.execute("INSERT INTO meta (key, value) VALUES ('tool_version', '0.0.1')", []).unwrap();
        drop(old);
        let before = std::fs::read(&path).unwrap();
        let store = Store::open_to_read(&path).unwrap();
        assert!(store.jobs(&JobFilter::default()).unwrap().is_empty());
        assert_eq!(current(&store.connection, &path).unwrap(), VERSION, "the copy is up to date");
        drop(store);
        assert!(std::fs::read(&path).unwrap() == before, "the file is not");
        drop(Store::open(&path).unwrap());
        let migrated = Connection::open(&path).unwrap();
        assert_eq!(current(&migrated, &path).unwrap(), VERSION, "who writes brings it up to date");
    }
}
