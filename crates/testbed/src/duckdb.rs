//! DuckDB's library; a test that lacks it says how to get it.

use std::path::PathBuf;

use triphammer_duckdb::{Library, LibraryError};

use crate::TestbedError;

/// The library's file, as the driver finds it; a program that runs in an environment of its own
/// needs it as `TRIPHAMMER_DUCKDB`.
///
/// # Errors
/// When it is missing, with the command that installs it, or cannot be used.
pub fn duckdb_library() -> Result<PathBuf, TestbedError> {
    match Library::get() {
        Ok(library) => Ok(library.path().to_owned()),
        Err(LibraryError::Missing(_)) => Err(TestbedError::Missing {
            product: "DuckDB's library",
            command: "tools/fetch-duckdb.py",
        }),
        Err(error) => Err(TestbedError::Failed(error.to_string())),
    }
}
