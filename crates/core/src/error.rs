//! Errors of databases and of specifications. A driver assigns every error an [`ErrorClass`]; what
//! follows from a class (retry, reconnect, count) is the engine's decision, never the driver's.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Kind of failure that a database reported. The driver derives it from the SQLSTATE or result
/// code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// The isolation level could not be guaranteed (SQLSTATE 40001); the same work may succeed on
    /// retry.
    Serialization,
    /// This transaction was the victim of a deadlock (SQLSTATE 40P01).
    Deadlock,
    /// A lock was not acquired within the lock timeout (SQLSTATE 55P03, `SQLITE_BUSY`).
    LockTimeout,
    /// The connection was lost, or could not be opened because nothing answers.
    Disconnected,
    /// The server answers but serves no work now: it is starting, stopping, full, or cut off from
    /// its cluster. Sessions move to another node, or wait.
    Unavailable,
    /// User, password, database or certificate was rejected: retrying will not help.
    Refused,
    /// A constraint was violated (SQLSTATE class 23).
    Constraint,
    /// The statement was cancelled, by the watchdog or by someone else (SQLSTATE 57014).
    Cancelled,
    /// The transaction exceeded the watchdog's limit.
    Timeout,
    /// The database's disk is full (SQLSTATE 53100, `SQLITE_FULL`).
    DiskFull,
    /// A write was sent to a database that is read only.
    ReadOnly,
    /// A prepared statement no longer fits the schema, which was changed meanwhile: prepared again,
    /// the same work may succeed.
    SchemaChanged,
    /// The database or driver does not support this.
    Unsupported,
    /// Any other error, such as a missing table or a malformed answer.
    Other,
}

impl ErrorClass {
    /// All classes, in the order of [`ErrorClass::index`].
    pub const ALL: [Self; 14] = [
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
        Self::SchemaChanged,
        Self::Unsupported,
        Self::Other,
    ];
    /// Number of error classes.
    pub const COUNT: usize = Self::ALL.len();

    /// Index of this class in arrays of [`ErrorClass::COUNT`] counters.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Name for people, such as `lock timeout`.
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
            Self::SchemaChanged => "schema changed",
            Self::Unsupported => "unsupported",
            Self::Other => "other",
        }
    }

    /// Whether the same transaction may be retried with the same input.
    #[must_use]
    pub const fn is_retryable(self) -> bool {
        matches!(self, Self::Serialization | Self::Deadlock | Self::SchemaChanged)
    }

    /// Whether the database has rolled the transaction back when a COMMIT, or a call that commits
    /// itself, ends with an error of this class. Others can come after the commit, too: a call can
    /// be cancelled between its COMMIT and its end.
    #[must_use]
    pub const fn proves_rollback(self) -> bool {
        match self {
            Self::Serialization
            | Self::Deadlock
            | Self::LockTimeout
            | Self::Constraint
            | Self::DiskFull
            | Self::ReadOnly
            | Self::SchemaChanged
            | Self::Unsupported => true,
            Self::Disconnected
            | Self::Unavailable
            | Self::Refused
            | Self::Cancelled
            | Self::Timeout
            | Self::Other => false,
        }
    }

    /// Whether the session can no longer be used and has to reconnect.
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

/// An error from a database or its driver. It is one word wide, because it is passed through every
/// call.
pub struct DbError(Box<Inner>);

struct Inner {
    class: ErrorClass,
    code: Option<String>,
    state: Option<[u8; 5]>,
    message: String,
    commit_sent: bool,
    unread: bool,
    undone: bool,
    no_database: bool,
    hopeless: bool,
    no_room: bool,
}

impl DbError {
    /// Creates an error of a class. The message reads after "failed to …", contains no secret and
    /// has no full stop. It may come from a server, so it is cut to
    /// [`MESSAGE_MAX`](crate::text::MESSAGE_MAX) characters in one line.
    pub fn new(class: ErrorClass, message: impl AsRef<str>) -> Self {
        let message = crate::text::message(message.as_ref());
        Self(Box::new(Inner {
            class,
            code: None,
            state: None,
            message,
            commit_sent: false,
            unread: false,
            undone: false,
            no_database: false,
            hopeless: false,
            no_room: false,
        }))
    }

    /// Adds the database's own code: SQLSTATE or result code.
    #[must_use]
    pub fn with_code(mut self, code: impl Into<String>) -> Self {
        self.0.code = Some(crate::text::message(&code.into()));
        self
    }

    /// Adds the SQLSTATE of a database whose own code is another one.
    #[must_use]
    pub fn with_state(mut self, state: [u8; 5]) -> Self {
        self.0.state = Some(state);
        self
    }

    /// Prefixes the message with what was being done.
    #[must_use]
    pub fn context(mut self, what: impl fmt::Display) -> Self {
        self.0.message = format!("{what}: {}", self.0.message);
        self
    }

    /// Changes the text of the message and of the code.
    #[must_use]
    pub fn reworded(mut self, change: impl Fn(&str) -> String) -> Self {
        self.0.message = change(&self.0.message);
        self.0.code = self.0.code.as_deref().map(change);
        self
    }

    /// Marks that a COMMIT, or a call that commits implicitly, had been sent when this happened.
    #[must_use]
    pub fn after_commit_sent(mut self) -> Self {
        self.0.commit_sent = true;
        self
    }

    /// Marks that the database did what was requested, but its answer cannot be read.
    #[must_use]
    pub fn unread(mut self) -> Self {
        self.0.unread = true;
        self
    }

    /// Marks that the database is known to have rolled back, or to do so with the next rollback:
    /// whatever the class is, and even if it reported success, as stored routines can.
    #[must_use]
    pub fn undone(mut self) -> Self {
        self.0.undone = true;
        self
    }

    /// Adds what to do about it to the message.
    #[must_use]
    pub fn with_advice(mut self, what: impl fmt::Display) -> Self {
        self.0.message = format!("{}; {what}", self.0.message);
        self
    }

    /// Marks that nothing else on this way to the database can succeed, although the session lives.
    #[must_use]
    pub fn hopeless(mut self) -> Self {
        self.0.hopeless = true;
        self
    }

    /// Marks that a statement which is a transaction of its own, or a COMMIT, failed: the database
    /// has rolled back, unless the session was lost, or the answer to a success was unreadable.
    #[must_use]
    pub fn failed_commit(self) -> Self {
        let is_answered = !self.class().loses_session() && !self.is_unread();
        let error = self.after_commit_sent();
        if is_answered { error.undone() } else { error }
    }

    /// Marks that the server is reachable but the target's database does not exist.
    #[must_use]
    pub fn without_database(mut self) -> Self {
        self.0.no_database = true;
        self
    }

    /// Marks that the server has no room for another session, but serves those that it has.
    #[must_use]
    pub fn without_room(mut self) -> Self {
        self.0.no_room = true;
        self
    }

    /// Class that the driver assigned to the error.
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        self.0.class
    }

    /// The database's own error code, if there is one.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        self.0.code.as_deref()
    }

    /// The SQLSTATE beside the database's own code, if it sent one.
    #[must_use]
    pub fn state(&self) -> Option<&str> {
        self.0.state.as_ref().and_then(|state| std::str::from_utf8(state).ok())
    }

    /// The message, without class and code.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Whether the database did what was requested, but its answer cannot be read.
    #[must_use]
    pub fn is_unread(&self) -> bool {
        self.0.unread
    }

    /// Whether the database is known to have rolled back, even if it acknowledged the call.
    #[must_use]
    pub fn is_undone(&self) -> bool {
        self.0.undone
    }

    /// Whether the server is reachable but the target's database does not exist.
    #[must_use]
    pub fn lacks_database(&self) -> bool {
        self.0.no_database
    }

    /// Whether nothing else on this way to the database can succeed, although the session lives.
    #[must_use]
    pub fn is_hopeless(&self) -> bool {
        self.0.hopeless
    }

    /// Whether it is unknown if the transaction was committed: a commit was sent, and neither the
    /// class of the error nor the driver proves that it was rolled back.
    #[must_use]
    pub fn is_indeterminate(&self) -> bool {
        self.0.commit_sent && !self.0.undone && !self.0.class.proves_rollback()
    }

    /// Whether a session that could not be opened because of this shows that its server serves
    /// nobody now: the one rule by which nodes count as lost. A full server serves the sessions that
    /// it has.
    #[must_use]
    pub fn shows_no_service(&self) -> bool {
        matches!(self.0.class, ErrorClass::Disconnected | ErrorClass::Unavailable)
            && !self.0.no_room
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

/// A request that cannot be carried out as given: what, where, and what to do next. The program
/// exits with code 2.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SpecError {
    message: String,
    setting: Option<String>,
}

impl SpecError {
    /// Creates an error with a message for the user.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), setting: None }
    }

    /// Names the setting whose value is at fault, so that a form can show the error beside its
    /// field.
    #[must_use]
    pub fn about(mut self, setting: &str) -> Self {
        self.setting.get_or_insert_with(|| setting.to_owned());
        self
    }

    /// The setting whose value is at fault; `None` if the error is not about one.
    #[must_use]
    pub fn setting(&self) -> Option<&str> {
        self.setting.as_deref()
    }
}
