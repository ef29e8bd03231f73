//! What is wrong with the arguments of a statement.

use triphammer_core::{DbError, ErrorClass};

/// The error for a wrong number of arguments.
#[cold]
pub(crate) fn wrong_count(wanted: usize, given: usize) -> DbError {
    DbError::new(
        ErrorClass::Other,
        format!("wrong number of arguments: expected {wanted}, got {given}"),
    )
}
