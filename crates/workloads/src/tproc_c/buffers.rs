//! Reusable memory of a session's transactions for their answers, and how these are read.

use triphammer_core::rows::{Row, Rows};
use triphammer_core::{DbError, ErrorClass};

use super::output::Output;

/// Reusable buffers of a session.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    pub(super) rows: Rows,
    pub(super) output: Output,
    /// Buffer in which c_data is composed.
    pub(super) text: String,
    /// Buffer in which h_data is composed.
    pub(super) history: String,
}

/// Checks a procedure's status, its first column: 0 for success.
pub(super) fn expect_done(row: &Row<'_>, title: &str) -> Result<(), DbError> {
    match row.int(0)? {
        0 => Ok(()),
        status => {
            let message = format!("{title} returned the unknown status {status}");
            Err(DbError::new(ErrorClass::Other, message))
        }
    }
}
