//! Failures of commands: what failed, where, and what to do next. Exit code 2.

use triphammer_core::{DbError, ErrorClass, SpecError};
use triphammer_engine::RunError;

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
    /// The user ended the command before it had begun its work, with what it was doing.
    #[error("{0}")]
    Interrupted(String),
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
            Self::Cancelled | Self::Interrupted(_) => true,
            Self::Start(error) => error.error.class() == ErrorClass::Cancelled,
            Self::Spec(_) | Self::Database { .. } | Self::System { .. } => false,
        }
    }

    /// Creates a rejection with a message.
    pub fn refuse(message: impl Into<String>) -> Self {
        Self::Spec(SpecError::new(message))
    }
}

/// Errors of statements that a timeout of the server ended: code, a part of the message, and the
/// setting with what to do. The timeouts of roles, users and databases are theirs to change.
const TIMEOUTS: [(&str, &str, &str); 8] = [
    (
        "57014",
        "statement timeout",
        "; statement_timeout of the role, database or server ended it: ALTER ROLE … SET \
         statement_timeout = 0",
    ),
    (
        "55P03",
        "lock timeout",
        "; lock_timeout of the role, database or server ended it: ALTER ROLE … SET lock_timeout = 0",
    ),
    ("25P03", "", "; raise idle_in_transaction_session_timeout of the role, database or server"),
    ("25P04", "", "; raise transaction_timeout of the role, database or server"),
    ("57P05", "", "; raise idle_session_timeout of the role, database or server"),
    (
        "1969",
        "",
        "; max_statement_time of the user or server ended it: SET GLOBAL max_statement_time = 0",
    ),
    ("3024", "", "; max_execution_time of the server ended it: SET GLOBAL max_execution_time = 0"),
    ("4031", "", "; raise wait_timeout of the server"),
];

/// The advice on a timeout of the server.
fn after_timeout(error: &DbError) -> Option<&'static str> {
    let code = error.code()?;
    let is_it = |known: &&(&str, &str, &str)| known.0 == code && error.message().contains(known.1);
    TIMEOUTS.iter().find(is_it).map(|known| known.2)
}

/// Longest line of a quoted excerpt, in characters.
const EXCERPT_MAX: usize = 160;

/// Cuts a text to so many characters, and says how long it is.
#[must_use]
pub fn cut(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{} … ({} bytes in all)", text[..end].trim_end(), text.len()),
        None => text.to_owned(),
    }
}

/// Cuts the long lines of a message that quotes a file: a line of 60 KB hides the message.
#[must_use]
pub fn excerpt(message: &str) -> String {
    // The mark below a cut line points at nothing.
    let is_mark =
        |line: &str| line.len() > EXCERPT_MAX && line.trim_matches([' ', '|', '^']).is_empty();
    let lines = message.lines().filter(|line| !is_mark(line)).map(|line| cut(line, EXCERPT_MAX));
    lines.collect::<Vec<_>>().join("\n")
}

/// Codes with which PostgreSQL, MySQL and MariaDB say that they accept no more connections.
const NO_MORE_SESSIONS: [&str; 4] = ["53300", "1040", "1203", "1226"];

/// Advice on a database error, if its message does not make it clear.
fn next_step(error: &DbError) -> &'static str {
    match error.class() {
        _ if error.code().is_some_and(|code| NO_MORE_SESSIONS.contains(&code)) => {
            "; the server accepts no more connections: use fewer (--vus, or --jobs of a build), or \
             raise max_connections or the limit of the user there"
        }
        _ if error.lacks_database() => "; `triphammer build` with --create-database creates it",
        _ if after_timeout(error).is_some() => after_timeout(error).unwrap_or_default(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_of_the_server_is_named() {
        let error = |code: &str, message: &str| {
            let error = DbError::new(ErrorClass::Cancelled, message).with_code(code);
            Err::<(), _>(error).doing("running `key.stock`").unwrap_err().to_string()
        };
        let text = error("57014", "canceling statement due to statement timeout");
        assert!(text.contains("ALTER ROLE … SET statement_timeout = 0"), "{text}");
        let text = error("57014", "canceling statement due to user request");
        assert!(!text.contains("ALTER ROLE"), "{text}");
        assert!(error("1969", "interrupted").contains("max_statement_time"));
    }
}
