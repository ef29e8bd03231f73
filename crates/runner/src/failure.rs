//! Failures of commands: what failed, where, and what to do next. Exit code 2.

use triphammer_core::engine::RunError;
use triphammer_core::{DbError, ErrorClass, SpecError};

use crate::store::StoreError;

/// The reason why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A request that cannot be fulfilled.
    #[error("{0}")]
    Spec(#[from] SpecError),
    /// The database reported an error.
    #[error("{doing}: {error}{}", next_step_after(doing, error))]
    Database {
        /// The operation, with the target redacted.
        doing: String,
        /// The error that was reported.
        error: DbError,
    },
    /// The run could not start.
    #[error("{0}{advice}", advice = next_step(&.0.error))]
    Start(#[from] RunError),
    /// The user cancelled the command.
    #[error("cancelled; what was done is kept, and the same build command resumes from there")]
    Cancelled,
    /// The operating system reported an error.
    #[error("{doing}: {error}")]
    System {
        /// The operation that failed.
        doing: String,
        /// The error that was reported.
        error: std::io::Error,
    },
}

impl Failure {
    /// Whether the user stopped it before it had any result to report.
    #[must_use]
    pub fn is_interruption(&self) -> bool {
        match self {
            Self::Cancelled => true,
            Self::Start(error) => error.error.class() == ErrorClass::Cancelled,
            Self::Spec(_) | Self::Database { .. } | Self::System { .. } => false,
        }
    }

    /// Converts an error of the job store.
    pub(crate) fn from_store(error: StoreError) -> Self {
        Self::refuse(error.to_string())
    }

    /// Creates a rejection with a message.
    pub fn refuse(message: impl Into<String>) -> Self {
        Self::Spec(SpecError::new(message))
    }
}

/// PostgreSQL's codes for a prepared statement that exists already, or does not exist. Each session
/// prepares its statements once, so something in between has swapped sessions.
const SWAPPED_SESSIONS: [&str; 2] = ["42P05", "26000"];

/// Advice on a database error, if its message does not make it clear.
fn next_step(error: &DbError) -> &'static str {
    match error.class() {
        _ if error.lacks_database() => "; `triphammer build` with --create-database creates it",
        _ if error.code().is_some_and(|code| SWAPPED_SESSIONS.contains(&code)) => {
            "; a transaction pooler, such as PgBouncer, loses prepared statements: connect to the \
             server directly for build and check; run also works with --protocol extended or simple"
        }
        ErrorClass::DiskFull => "; free some space and run the same command again",
        ErrorClass::ReadOnly => "; use a user, server or file that can be written to",
        _ => "",
    }
}

/// Advice on a database error in an operation: also what to check when the server cannot be reached.
fn next_step_after(doing: &str, error: &DbError) -> &'static str {
    let unreached = ["could not connect to", "does not answer within"];
    let is_unreached = |text: &&str| error.message().contains(text);
    if doing.starts_with("connecting to") && unreached.iter().any(is_unreached) {
        return "; check host and port, and that the server is running there";
    }
    next_step(error)
}

/// Adds the operation to a database error.
pub trait Doing<T> {
    /// Turns the error into a [`Failure`].
    ///
    /// # Errors
    /// Wraps the error with the operation.
    fn doing(self, what: impl std::fmt::Display) -> Result<T, Failure>;
}

impl<T> Doing<T> for Result<T, DbError> {
    fn doing(self, what: impl std::fmt::Display) -> Result<T, Failure> {
        self.map_err(|error| Failure::Database { doing: what.to_string(), error })
    }
}
