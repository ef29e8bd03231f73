//! How much of an answer is taken in: a server that never comes to the end of its rows must not fill the
//! memory of the host.

use triphammer_core::{DbError, ErrorClass};

/// Longest answer that is kept whole, in bytes: far more than any statement of a workload gives. Streams,
/// whose rows go on to their reader, have no limit.
pub const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Longest answer to a question of the driver's own, such as for settings and tables.
const QUESTION_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Most rows of one.
const QUESTION_ROWS_MAX: usize = 100_000;

/// What may still come of the answer to a question.
pub struct Room {
    bytes: usize,
    rows: usize,
}

impl Room {
    /// For a question of the driver's own.
    pub fn of_question() -> Self {
        Self { bytes: QUESTION_BYTES_MAX, rows: QUESTION_ROWS_MAX }
    }

    /// Takes a row in.
    ///
    /// # Errors
    /// When there is no room for it; the session is lost, for the rest is not waited for.
    pub fn take(&mut self, bytes: usize) -> Result<(), DbError> {
        let left = self.bytes.checked_sub(bytes).zip(self.rows.checked_sub(1));
        let (bytes, rows) = left.ok_or_else(|| {
            given_up(format!(
                "the server's answer is longer than {} MiB or {QUESTION_ROWS_MAX} rows, so it was abandoned",
                QUESTION_BYTES_MAX / 1024 / 1024
            ))
        })?;
        (self.bytes, self.rows) = (bytes, rows);
        Ok(())
    }
}

/// The answer is longer than [`ANSWER_BYTES_MAX`].
#[cold]
pub fn too_large() -> DbError {
    let most = ANSWER_BYTES_MAX / 1024 / 1024;
    given_up(format!("the server's answer is longer than {most} MiB, so it was abandoned"))
}

fn given_up(message: String) -> DbError {
    DbError::new(ErrorClass::Disconnected, message)
}
