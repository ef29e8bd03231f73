//! What a log, or what passes on the wire, says about a session, whatever its format.

use super::answer::ServerAnswer;
pub use super::argument::Argument;

/// What happened, and when.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The session, by the name that the log has for it.
    pub session: String,
    /// Microseconds since 1970-01-01 on the clock of the log, whose zone does not matter: the
    /// start of a statement.
    pub at_us: i64,
    /// The database that the session is in, if the log says so.
    pub database: Option<String>,
    /// What happened.
    pub what: What,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A statement, or several with semicolons between them.
    Statement {
        /// Its text.
        sql: String,
        /// Its bound arguments; the text has `$1` or `:name` for them.
        binds: Vec<Argument>,
        /// How long it took, in microseconds, if the log says so.
        took_us: Option<u64>,
    },
    /// A statement, or several with semicolons between them, with what the server answered.
    Answered {
        /// Its text.
        sql: String,
        /// Its bound arguments; the text has `$1` or `?` for them.
        binds: Vec<Argument>,
        /// The answers to its statements; those after an error have none, because they did not run.
        answers: Vec<ServerAnswer>,
    },
    /// The session's last statement took this many microseconds.
    Took(u64),
    /// A statement failed: the one with this text if it is known, else the last one.
    Failed(Option<String>, Aftermath),
    /// The session ended; what it had not committed was rolled back.
    Disconnected,
    /// Nothing more is known of the session, nor how its transaction ended.
    Lost,
    /// Something that cannot be replayed.
    Skipped(super::skipped::Reason),
}

/// What the error of a statement left of its transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aftermath {
    /// Only the statement was undone: the transaction went on (MySQL, Oracle).
    Open,
    /// The transaction accepted nothing but its end, or ROLLBACK TO SAVEPOINT (PostgreSQL).
    Aborted,
    /// The server rolled the transaction back, and it was over (a deadlock on MySQL).
    RolledBack,
}
