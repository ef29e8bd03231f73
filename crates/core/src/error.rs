//! Errors of databases and of specifications. A driver sorts every error into an [`ErrorClass`];
//! what follows from a class (retry, reconnect, count) is the engine's decision, never the driver's.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What kind of failure a database reported. The driver sets it from SQLSTATE or result code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// The isolation level could not be kept (SQLSTATE 40001); the same work may succeed again.
    Serialization,
    /// A deadlock was broken by ending this transaction (SQLSTATE 40P01).
    Deadlock,
    /// A lock was not had within the lock timeout (SQLSTATE 55P03, `SQLITE_BUSY`).
    LockTimeout,
    /// The connection is gone, or could not be made because nobody answers.
    Disconnected,
    /// The server answers but does not accept sessions now: starting up, shutting down, full.
    Unavailable,
    /// User, password, database or certificate is refused: trying again will not help.
    Refused,
    /// A constraint was violated (SQLSTATE class 23).
    Constraint,
    /// The statement was cancelled, by the watchdog or by somebody else (SQLSTATE 57014).
    Cancelled,
    /// The transaction watchdog's limit passed.
    Timeout,
    /// No room is left on the database's disk (SQLSTATE 53100, `SQLITE_FULL`).
    DiskFull,
    /// The database was asked to write but is read only.
    ReadOnly,
    /// The database or driver cannot do this.
    Unsupported,
    /// Anything else, such as a missing table or an answer of an unexpected shape.
    Other,
}

impl ErrorClass {
    /// Every class, in the order of [`ErrorClass::index`].
    pub const ALL: [Self; 13] = [
        Self::Serialization,
        Self::Deadlock,
        Self::LockTimeout,
        Self::Disconnected,
        Self::Unavailable,
        Self::Refused,
        Self::Constraint,
        Self::Cancelled,
        Self::Timeout,
        Self::DiskFull,
        Self::ReadOnly,
        Self::Unsupported,
        Self::Other,
    ];
    /// How many classes there are.
    pub const COUNT: usize = Self::ALL.len();

    /// Place of this class in arrays of [`ErrorClass::COUNT`] counters.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Words for people: `lock timeout`.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Serialization => "serialization",
            Self::Deadlock => "deadlock",
            Self::LockTimeout => "lock timeout",
            Self::Disconnected => "disconnected",
            Self::Unavailable => "unavailable",
            Self::Refused => "refused",
            Self::Constraint => "constraint",
            Self::Cancelled => "cancelled",
            Self::Timeout => "timeout",
            Self::DiskFull => "disk full",
            Self::ReadOnly => "read only",
            Self::Unsupported => "unsupported",
            Self::Other => "other",
        }
    }

    /// Whether the same transaction may be tried again with the same input.
    #[must_use]
    pub const fn is_retryable(self) -> bool {
        matches!(self, Self::Serialization | Self::Deadlock)
    }

    /// Whether the session cannot be used any more and has to reconnect.
    #[must_use]
    pub const fn loses_session(self) -> bool {
        matches!(self, Self::Disconnected | Self::Unavailable | Self::Refused | Self::Timeout)
    }
}

impl fmt::Display for ErrorClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

/// An error from a database or its driver: one word wide, because it travels through every call.
pub struct DbError(Box<Inner>);

struct Inner {
    class: ErrorClass,
    code: Option<String>,
    message: String,
    commit_sent: bool,
    unread: bool,
    undone: bool,
    no_database: bool,
}

impl DbError {
    /// An error of a class; the message reads after "failed to …", names no secret, and has no period.
    /// It may be a server's: it is cut to [`MESSAGE_MAX`](crate::text::MESSAGE_MAX) characters in one line.
    pub fn new(class: ErrorClass, message: impl AsRef<str>) -> Self {
        let message = crate::text::message(message.as_ref());
        let (commit_sent, unread, undone, no_database) = (false, false, false, false);
        let code = None;
        Self(Box::new(Inner { class, code, message, commit_sent, unread, undone, no_database }))
    }

    /// Adds the database's own code: SQLSTATE or result code.
    #[must_use]
    pub fn with_code(mut self, code: impl Into<String>) -> Self {
        self.0.code = Some(crate::text::message(&code.into()));
        self
    }

    /// Puts what was being done in front of the message.
    #[must_use]
    pub fn context(mut self, what: impl fmt::Display) -> Self {
        self.0.message = format!("{what}: {}", self.0.message);
        self
    }

    /// Marks that a COMMIT, or a call that commits by itself, had been sent when this happened.
    #[must_use]
    pub fn after_commit_sent(mut self) -> Self {
        self.0.commit_sent = true;
        self
    }

    /// Marks that the database did what it was asked to, and only its answer cannot be read.
    #[must_use]
    pub fn unread(mut self) -> Self {
        self.0.unread = true;
        self
    }

    /// Marks that the database rolled back although it answered that all is well: routines can.
    #[must_use]
    pub fn undone(mut self) -> Self {
        self.0.undone = true;
        self
    }

    /// Marks that the server is there and the database that the target names is not.
    #[must_use]
    pub fn without_database(mut self) -> Self {
        self.0.no_database = true;
        self
    }

    /// The class the driver gave.
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        self.0.class
    }

    /// The database's own code, when there is one.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        self.0.code.as_deref()
    }

    /// The message, without class and code.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Whether the database did what it was asked to, and only its answer cannot be read.
    #[must_use]
    pub fn is_unread(&self) -> bool {
        self.0.unread
    }

    /// Whether the database is known to have rolled back, whatever it has acknowledged.
    #[must_use]
    pub fn is_undone(&self) -> bool {
        self.0.undone
    }

    /// Whether the server is there and the database that the target names is not.
    #[must_use]
    pub fn lacks_database(&self) -> bool {
        self.0.no_database
    }

    /// Whether nobody can say if the transaction was committed.
    #[must_use]
    pub fn is_indeterminate(&self) -> bool {
        self.0.commit_sent && self.0.class.loses_session()
    }
}

impl fmt::Display for DbError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        match &self.0.code {
            Some(code) => write!(f, " ({code})"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for DbError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DbError({}: {self})", self.0.class)
    }
}

impl std::error::Error for DbError {}

/// Something asked for that cannot be done as asked: what, where, and what to do next.
/// The program ends with exit code 2.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SpecError {
    message: String,
    setting: Option<String>,
}

impl SpecError {
    /// An error with a message for the person who asked.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), setting: None }
    }

    /// Names the setting whose value it is about, so that a form can show it beside its field.
    #[must_use]
    pub fn about(mut self, setting: &str) -> Self {
        self.setting.get_or_insert_with(|| setting.to_owned());
        self
    }

    /// The setting whose value it is about, where that is one.
    #[must_use]
    pub fn setting(&self) -> Option<&str> {
        self.setting.as_deref()
    }
}
