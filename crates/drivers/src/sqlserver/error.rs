//! Classifies errors of SQL Server by their numbers, as listed in "Database Engine events and
//! errors", and those that Babelfish passes on from PostgreSQL by their words.

use triphammer_core::{DbError, ErrorClass};

/// The operation in progress when an error occurred: the same number can mean different things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ErrorContext {
    /// A session was being opened.
    Connecting,
    /// A session was in use.
    InUse,
}

/// Severity from which on the server closes the connection.
const FATAL: u8 = 20;
/// Babelfish's number for errors of PostgreSQL that it does not translate.
const UNTRANSLATED: i32 = 33_557_097;
/// The database does not exist or may not be used.
const NO_DATABASE: [i32; 2] = [4060, 911];
/// No room for another session: of users, for a thread, and in Azure SQL.
const NO_ROOM: [i32; 4] = [17809, 17189, 10928, 10929];
/// The same in PostgreSQL's words.
const TOO_MANY: &str = "too many clients";

/// Creates the error for a number, severity and message of a server.
pub(super) fn answer(number: i32, severity: u8, message: &str, moment: ErrorContext) -> DbError {
    let class = class_of(number, severity, message, moment);
    let error = DbError::new(class, message.trim_end_matches('.')).with_code(number.to_string());
    match number {
        number if NO_DATABASE.contains(&number) => error.without_database(),
        number if NO_ROOM.contains(&number) => error.without_room(),
        UNTRANSLATED if message.contains(TOO_MANY) => error.without_room(),
        _ => error,
    }
}

/// The error for an answer that violates the protocol.
#[cold]
pub(super) fn broken(what: &str) -> DbError {
    DbError::new(ErrorClass::Disconnected, format!("the server's answer cannot be parsed: {what}"))
}

/// The class of an error; what is of the class `Unavailable` is the declaration of "the server
/// cannot serve now" for this product.
fn class_of(number: i32, severity: u8, message: &str, moment: ErrorContext) -> ErrorClass {
    match number {
        1205 => ErrorClass::Deadlock,
        // Snapshot conflicts, with rows and with the definition of a table; validation of
        // memory-optimized tables.
        3960 | 3961 | 41301 | 41302 | 41305 | 41325 | 41839 => ErrorClass::Serialization,
        1222 => ErrorClass::LockTimeout,
        // Unique key and index, CHECK and REFERENCES, NOT NULL.
        2627 | 2601 | 547 | 515 => ErrorClass::Constraint,
        // The server shuts down, starts or is upgraded, the database starts, recovers, is in
        // transition, has no free workers or connections; those of Azure SQL that pass.
        6005 | 18401 | 17142 | 17147 | 17187 | 17188 | 17189 | 17809 | 921 | 922 | 927 | 904
        | 976 | 983 | 40197 | 40501 | 40613 | 49918 | 49919 | 49920 | 10928 | 10929 => {
            ErrorClass::Unavailable
        }
        1101 | 1105 | 9002 | 3257 => ErrorClass::DiskFull,
        // A database, filegroup or secondary that is read only.
        3906 | 3908 | 652 | 978 => ErrorClass::ReadOnly,
        // Cancelled by the client; the session's query was killed.
        3617 | 8184 => ErrorClass::Cancelled,
        UNTRANSLATED => match class_of_text(message) {
            ErrorClass::Other if moment == ErrorContext::Connecting => ErrorClass::Refused,
            class => class,
        },
        _ if moment == ErrorContext::Connecting => ErrorClass::Refused,
        596 | 10054 | 10060 | 18056 => ErrorClass::Disconnected,
        _ if severity >= FATAL => ErrorClass::Disconnected,
        _ => ErrorClass::Other,
    }
}

/// The class of an error that PostgreSQL reports through Babelfish.
fn class_of_text(message: &str) -> ErrorClass {
    for (words, class) in [
        ("could not serialize access", ErrorClass::Serialization),
        ("deadlock detected", ErrorClass::Deadlock),
        ("due to lock timeout", ErrorClass::LockTimeout),
        ("due to user request", ErrorClass::Cancelled),
        ("terminating connection", ErrorClass::Disconnected),
        ("the database system is", ErrorClass::Unavailable),
        (TOO_MANY, ErrorClass::Unavailable),
        ("read-only transaction", ErrorClass::ReadOnly),
        ("violates", ErrorClass::Constraint),
    ] {
        if message.contains(words) {
            return class;
        }
    }
    ErrorClass::Other
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_classes() {
        for (number, class) in [
            (1205, ErrorClass::Deadlock),
            (3960, ErrorClass::Serialization),
            (3961, ErrorClass::Serialization),
            // Another isolation level in mid-transaction, which no repeat mends.
            (3951, ErrorClass::Other),
            (41302, ErrorClass::Serialization),
            (1222, ErrorClass::LockTimeout),
            (2627, ErrorClass::Constraint),
            (2601, ErrorClass::Constraint),
            (547, ErrorClass::Constraint),
            (9002, ErrorClass::DiskFull),
            (3906, ErrorClass::ReadOnly),
            (6005, ErrorClass::Unavailable),
            (40613, ErrorClass::Unavailable),
            (208, ErrorClass::Other),
            (18456, ErrorClass::Other),
        ] {
            let error = answer(number, 16, "Something.", ErrorContext::InUse);
            assert_eq!(error.class(), class, "{number}");
            assert_eq!((error.code(), error.message()), (Some(&*number.to_string()), "Something"));
        }
        let connecting = |number| answer(number, 14, "x", ErrorContext::Connecting);
        assert_eq!(connecting(18456).class(), ErrorClass::Refused);
        assert_eq!(connecting(4060).class(), ErrorClass::Refused);
        assert!(connecting(4060).lacks_database() && !connecting(18456).lacks_database());
        assert_eq!(connecting(17142).class(), ErrorClass::Unavailable);
        assert!(connecting(17142).shows_no_service() && !connecting(17809).shows_no_service());
        assert_eq!(answer(596, 21, "x", ErrorContext::InUse).class(), ErrorClass::Disconnected);
        assert_eq!(answer(50000, 20, "x", ErrorContext::InUse).class(), ErrorClass::Disconnected);
    }

    #[test]
    fn errors_of_postgresql_have_theirs_by_their_words() {
        for (message, class) in [
            ("canceling statement due to lock timeout", ErrorClass::LockTimeout),
            ("could not serialize access due to concurrent update", ErrorClass::Serialization),
            ("relation \"t\" does not exist", ErrorClass::Other),
        ] {
            assert_eq!(class_of(UNTRANSLATED, 16, message, ErrorContext::InUse), class);
        }
        let invalid = "invalid TDS authentication request";
        let class = class_of(UNTRANSLATED, 16, invalid, ErrorContext::Connecting);
        assert_eq!(class, ErrorClass::Refused);
    }
}
