//! What a session prepared: only what its mix needs.

use triphammer_core::{DbError, ErrorClass};

/// What was prepared for a type of the mix.
pub(super) fn of_mix<T>(prepared: Option<T>) -> Result<T, DbError> {
    prepared.ok_or_else(drawn_otherwise)
}

/// The error for an input of other routines or of no type in the mix: the workload draws inputs and prepares sessions with
/// the same settings.
#[cold]
pub(super) fn drawn_otherwise() -> DbError {
    DbError::new(
        ErrorClass::Other,
        "this input does not belong to the routines that the session prepared",
    )
}
