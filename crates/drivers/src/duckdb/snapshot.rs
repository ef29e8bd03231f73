//! Snapshots of DuckDB files: copies of the file, when everything is in it and nobody uses it.

use std::path::Path;
use std::time::Duration;

use triphammer_core::{DbError, ErrorClass};
use triphammer_duckdb::Library;

use super::errors;
use super::session::DuckdbSession;
use crate::database_file::DatabaseFile;
use crate::snapshot::OneFile;

/// A file of DuckDB.
pub(crate) struct DuckdbFile;

impl OneFile for DuckdbFile {
    fn bring_together(&self, path: &Path, _: Duration) -> Result<(), DbError> {
        bring_together(path)
    }

    fn objects(&self, path: &Path) -> Result<Vec<String>, DbError> {
        objects(path)
    }

    fn beside(&self) -> &'static [&'static str] {
        &[".wal"]
    }
}

/// Brings what is in the log into the file itself, and fails if somebody else has the file open.
fn bring_together(path: &Path) -> Result<(), DbError> {
    on_file(path, &[])?.texts::<1>("FORCE CHECKPOINT")?;
    // A connection of this process with other settings would be in the way of this one.
    objects(path).map(drop)
}

/// Kinds and names of what is in a file.
fn objects(path: &Path) -> Result<Vec<String>, DbError> {
    const OBJECTS: &str = "SELECT 'table ' || schema_name || '.' || table_name FROM duckdb_tables()
        WHERE database_name = current_database()
        UNION ALL
        SELECT 'view ' || schema_name || '.' || view_name FROM duckdb_views()
        WHERE database_name = current_database() AND NOT internal
        UNION ALL
        SELECT 'index ' || schema_name || '.' || index_name FROM duckdb_indexes()
        WHERE database_name = current_database()
        UNION ALL
        SELECT 'column ' || schema_name || '.' || table_name || '.' || column_name FROM duckdb_columns()
        WHERE database_name = current_database() AND NOT internal
        UNION ALL
        SELECT 'function ' || schema_name || '.' || function_name FROM duckdb_functions()
        WHERE database_name = current_database() AND NOT internal
        UNION ALL
        SELECT 'sequence ' || schema_name || '.' || sequence_name FROM duckdb_sequences()
        WHERE database_name = current_database()
        UNION ALL
        SELECT 'type ' || schema_name || '.' || type_name FROM duckdb_types()
        WHERE database_name = current_database() AND NOT internal";
    let session = on_file(path, &[("access_mode", "READ_ONLY".to_owned())])?;
    Ok(session.texts::<1>(OBJECTS)?.into_iter().map(|[name]| name).collect())
}

/// A session on a file, apart from those of a target.
fn on_file(
    path: &Path,
    configuration: &[(&'static str, String)],
) -> Result<DuckdbSession, DbError> {
    let library =
        Library::get().map_err(|error| DbError::new(ErrorClass::Refused, error.to_string()))?;
    let connection = library.connect_with(path, configuration);
    let connection =
        connection.map_err(|error| errors::on_open(&DatabaseFile::at(path.to_owned()), &error))?;
    Ok(DuckdbSession::new(connection, path.to_owned(), None, false))
}
