//! Classifies errors of MySQL and MariaDB by their numbers, as listed in MySQL's "Server Error
//! Message Reference" and MariaDB's "Error Codes".

use triphammer_core::{DbError, ErrorClass};

/// The operation in progress when an error occurred: the same number can mean different things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorContext {
    /// A session was being opened.
    Connecting,
    /// A session was in use.
    InUse,
}

/// The database does not exist.
const NO_DATABASE: u16 = 1049;

/// Reads an error packet: 0xff, number, `#` and SQLSTATE (omitted before the greeting), message.
pub fn read_error(packet: &[u8], moment: ErrorContext) -> DbError {
    let [_, low, high, rest @ ..] = packet else { return broken("an error without a number") };
    let code = u16::from_le_bytes([*low, *high]);
    let message = match rest {
        [b'#', _, _, _, _, _, message @ ..] => message,
        message => message,
    };
    answer(code, &String::from_utf8_lossy(message), moment)
}

/// Creates the error for a number and its message.
pub fn answer(code: u16, message: &str, moment: ErrorContext) -> DbError {
    let class = class_of(code, moment);
    let error = DbError::new(class, message.trim_end_matches('.')).with_code(code.to_string());
    if code == NO_DATABASE { error.without_database() } else { error }
}

/// The error for an answer that violates the protocol.
#[cold]
pub fn broken(what: &str) -> DbError {
    DbError::new(ErrorClass::Disconnected, format!("the server's answer cannot be parsed: {what}"))
}

fn class_of(code: u16, moment: ErrorContext) -> ErrorClass {
    match code {
        // Record has changed since last read (MariaDB's snapshot isolation, Galera); XA_RBROLLBACK.
        1020 | 1402 => ErrorClass::Serialization,
        1213 | 1614 | 3101 => ErrorClass::Deadlock,
        1205 | 1613 | 3572 | 3058 => ErrorClass::LockTimeout,
        // Shutting down, killed, gone, disconnected by the server for idleness.
        1053 | 1927 | 2006 | 2013 | 4031 => ErrorClass::Disconnected,
        // Full, host blocked after errors (it may be admitted again), starting, offline, hourly
        // limits.
        1040 | 1203 | 1129 | 1226 | 3032 | 1135 => ErrorClass::Unavailable,
        1022 | 1048 | 1062 | 1169 | 1216 | 1217 | 1451 | 1452 | 1557 | 1586 | 1761 | 1762
        | 3819 | 4025 => ErrorClass::Constraint,
        1317 | 1028 | 1969 | 3024 => ErrorClass::Cancelled,
        1021 | 1114 => ErrorClass::DiskFull,
        1290 | 1792 | 1836 | 1874 => ErrorClass::ReadOnly,
        1235 | 1289 | 1295 => ErrorClass::Unsupported,
        // Other reasons for rejecting a login: user, password, database, authentication method.
        _ if moment == ErrorContext::Connecting => ErrorClass::Refused,
        _ => ErrorClass::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_classes() {
        for (code, class) in [
            (1213, ErrorClass::Deadlock),
            (1205, ErrorClass::LockTimeout),
            (1020, ErrorClass::Serialization),
            (1062, ErrorClass::Constraint),
            (1317, ErrorClass::Cancelled),
            (3024, ErrorClass::Cancelled),
            (1969, ErrorClass::Cancelled),
            (1040, ErrorClass::Unavailable),
            (1053, ErrorClass::Disconnected),
            (1290, ErrorClass::ReadOnly),
            (1836, ErrorClass::ReadOnly),
            (1114, ErrorClass::DiskFull),
            (1146, ErrorClass::Other),
            (1045, ErrorClass::Other),
        ] {
            assert_eq!(class_of(code, ErrorContext::InUse), class, "{code}");
        }
        assert_eq!(class_of(1045, ErrorContext::Connecting), ErrorClass::Refused);
        assert_eq!(class_of(1049, ErrorContext::Connecting), ErrorClass::Refused);
    }

    #[test]
    fn packets_are_read_with_and_without_a_state() {
        let with = read_error(b"\xff\x15\x04#28000Access denied.", ErrorContext::Connecting);
        assert_eq!((with.code(), with.message()), (Some("1045"), "Access denied"));
        let without = read_error(b"\xff\x10\x04Too many connections", ErrorContext::Connecting);
        assert_eq!((without.code(), without.message()), (Some("1040"), "Too many connections"));
        assert_eq!(read_error(b"\xff", ErrorContext::InUse).class(), ErrorClass::Disconnected);
    }
}
