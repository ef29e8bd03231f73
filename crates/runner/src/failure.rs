//! Why a command could not do its work: what failed, where, and what to do next. Exit code 2.

use triphammer_core::engine::RunError;
use triphammer_core::{DbError, ErrorClass, SpecError};

use crate::store::StoreError;

/// Why a command could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Something asked for cannot be.
    #[error("{0}")]
    Spec(#[from] SpecError),
    /// The database said no.
    #[error("{doing}: {error}{}", next_step(error))]
    Database {
        /// What was being done, with the target redacted.
        doing: String,
        /// What it said.
        error: DbError,
    },
    /// The run could not start.
    #[error("{0}")]
    Start(#[from] RunError),
    /// Somebody cancelled it.
    #[error("cancelled; what was done is kept, and the same build command resumes from there")]
    Cancelled,
    /// The operating system said no.
    #[error("{doing}: {error}")]
    System {
        /// What was being done.
        doing: String,
        /// What it said.
        error: std::io::Error,
    },
}

impl Failure {
    /// Whether somebody stopped it before it had done anything that could be told.
    #[must_use]
    pub fn is_interruption(&self) -> bool {
        match self {
            Self::Cancelled => true,
            Self::Start(error) => error.error.class() == ErrorClass::Cancelled,
            Self::Spec(_) | Self::Database { .. } | Self::System { .. } => false,
        }
    }

    /// The job store said no.
    pub(crate) fn from_store(error: StoreError) -> Self {
        Self::refuse(error.to_string())
    }

    /// A refusal with a message.
    pub fn refuse(message: impl Into<String>) -> Self {
        Self::Spec(SpecError::new(message))
    }
}

/// What to do about a database error, where that is not plain from its words.
fn next_step(error: &DbError) -> &'static str {
    match error.class() {
        _ if error.lacks_database() => "; `triphammer build` with --create-database creates it",
        ErrorClass::DiskFull => "; free some space and run the same command again",
        ErrorClass::ReadOnly => "; use a user, server or file that can be written to",
        _ => "",
    }
}

/// Says what was being done when a database error came.
pub trait Doing<T> {
    /// Turns the error into a [`Failure`].
    ///
    /// # Errors
    /// The error, with what was being done.
    fn doing(self, what: impl std::fmt::Display) -> Result<T, Failure>;
}

impl<T> Doing<T> for Result<T, DbError> {
    fn doing(self, what: impl std::fmt::Display) -> Result<T, Failure> {
        self.map_err(|error| Failure::Database { doing: what.to_string(), error })
    }
}
