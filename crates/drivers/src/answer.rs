//! Limits on how much of an answer is kept: a server that sends rows without end must not fill the
//! host's memory.

use triphammer_core::{DbError, ErrorClass};

/// Longest answer that is kept whole, in bytes: far more than any statement of a workload returns.
/// Streams, whose rows are passed on to their reader, have no limit.
pub const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Longest answer to one of the driver's own queries, such as for settings and tables.
const QUESTION_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Maximum number of rows of such an answer.
const QUESTION_ROWS_MAX: usize = 100_000;

/// The remaining size limit of an answer.
pub struct Room {
    bytes: usize,
    rows: usize,
}

impl Room {
    /// Room for one of the driver's own queries.
    pub fn of_question() -> Self {
        Self { bytes: QUESTION_BYTES_MAX, rows: QUESTION_ROWS_MAX }
    }

    /// Accounts for a row.
    ///
    /// # Errors
    /// When there is no room for it; the session is lost, because the rest is not read.
    pub fn take(&mut self, bytes: usize) -> Result<(), DbError> {
        let left = self.bytes.checked_sub(bytes).zip(self.rows.checked_sub(1));
        let (bytes, rows) = left.ok_or_else(|| {
            given_up(format!(
                "the server's answer exceeds {} MiB or {QUESTION_ROWS_MAX} rows and was abandoned",
                QUESTION_BYTES_MAX / 1024 / 1024
            ))
        })?;
        (self.bytes, self.rows) = (bytes, rows);
        Ok(())
    }
}

/// The error for an answer longer than [`ANSWER_BYTES_MAX`].
#[cold]
pub fn too_large() -> DbError {
    let most = ANSWER_BYTES_MAX / 1024 / 1024;
    given_up(format!("the server's answer exceeds {most} MiB and was abandoned"))
}

fn given_up(message: String) -> DbError {
    DbError::new(ErrorClass::Disconnected, message)
}
