//! What the transactions of a session use again and again: memory for their answers, and how these are read.

use triphammer_core::rows::{Row, Rows};
use triphammer_core::{DbError, ErrorClass};

use super::output::Output;

/// Buffers of a session.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    pub(super) rows: Rows,
    pub(super) output: Output,
    /// c_data while it is put together.
    pub(super) text: String,
    /// h_data while it is put together.
    pub(super) history: String,
}

/// A procedure's status, its first column, is 0 when it did its work.
pub(super) fn expect_done(row: &Row<'_>, title: &str) -> Result<(), DbError> {
    match row.int(0)? {
        0 => Ok(()),
        status => {
            let message = format!("{title} answered the unknown status {status}");
            Err(DbError::new(ErrorClass::Other, message))
        }
    }
}
