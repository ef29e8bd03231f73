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
/// No room for another session: of all, of this user (at once and per hour), for another thread.
const NO_ROOM: [u16; 4] = [1040, 1203, 1226, 1135];
/// Galera's "WSREP has not yet prepared node for application use", and a hook of group replication
/// that rejects the transaction before it is committed.
const NO_CLUSTER: [u16; 2] = [NOT_PREPARED, 3100];
/// An unknown command, and Galera's word for a node that is not part of its cluster.
const NOT_PREPARED: u16 = 1047;
/// An error of a storage engine or of Galera at the end of a transaction.
const DURING_COMMIT: u16 = 1180;
/// The statement cannot be run with one of the server's options.
const OPTION_PREVENTS: u16 = 1290;

/// Reads an error packet: 0xff, number, `#` and SQLSTATE (omitted before the greeting), message.
pub fn read_error(packet: &[u8], moment: ErrorContext) -> DbError {
    let [_, low, high, rest @ ..] = packet else { return broken("an error without a number") };
    let code = u16::from_le_bytes([*low, *high]);
    let (state, message) = match rest {
        [b'#', a, b, c, d, e, message @ ..] => (Some([*a, *b, *c, *d, *e]), message),
        message => (None, message),
    };
    let error = answer(code, &String::from_utf8_lossy(message), moment);
    match state {
        Some(state) => error.with_state(state),
        None => error,
    }
}

/// Creates the error for a number and its message.
pub fn answer(code: u16, message: &str, moment: ErrorContext) -> DbError {
    let class = class_of(code, message, moment);
    let error = DbError::new(class, message.trim_end_matches('.')).with_code(code.to_string());
    match code {
        NO_DATABASE => error.without_database(),
        code if NO_ROOM.contains(&code) => error.without_room(),
        _ => error,
    }
}

/// The error of a COMMIT. A server that is not part of its cluster, or does not come to terms with
/// it, has not committed.
pub fn of_commit(error: DbError) -> DbError {
    let code = error.code().and_then(|code| code.parse().ok());
    match code {
        Some(code) if NO_CLUSTER.contains(&code) => error.undone(),
        _ => error.after_commit_sent(),
    }
}

/// The error for an answer that violates the protocol.
#[cold]
pub fn broken(what: &str) -> DbError {
    DbError::new(ErrorClass::Disconnected, format!("the server's answer cannot be parsed: {what}"))
}

/// The class of an error; what is of the class `Unavailable` is the declaration of "the server
/// cannot serve now" for these products.
fn class_of(code: u16, message: &str, moment: ErrorContext) -> ErrorClass {
    match code {
        NOT_PREPARED if message.contains("WSREP") => ErrorClass::Unavailable,
        // Galera: "provider status: Not connected to Primary Component".
        DURING_COMMIT if message.contains("Primary Component") => ErrorClass::Unavailable,
        // The message names the option: super_read_only has the same number as secure_file_priv.
        OPTION_PREVENTS if message.contains("read-only") || message.contains("read_only") => {
            ErrorClass::ReadOnly
        }
        // Record has changed since last read (MariaDB's snapshot isolation, Galera); XA_RBROLLBACK.
        1020 | 1402 => ErrorClass::Serialization,
        1213 | 1614 | 3101 => ErrorClass::Deadlock,
        1205 | 1613 | 3572 | 3058 => ErrorClass::LockTimeout,
        // Killed, gone, disconnected by the server for idleness; also by a proxy in between.
        1927 | 2003 | 2006 | 2013 | 3169 | 4031 => ErrorClass::Disconnected,
        // Full, shutting down, host blocked after errors (it may be admitted again), offline, group
        // replication without a quorum, ProxySQL without a server.
        1040 | 1203 | 1053 | 1129 | 1226 | 3032 | 1135 | 3100 | 9001 => ErrorClass::Unavailable,
        1022 | 1048 | 1062 | 1169 | 1216 | 1217 | 1451 | 1452 | 1557 | 1586 | 1761 | 1762
        | 3819 | 4025 => ErrorClass::Constraint,
        1317 | 1028 | 1969 | 3024 => ErrorClass::Cancelled,
        1021 | 1114 => ErrorClass::DiskFull,
        1792 | 1836 | 1874 => ErrorClass::ReadOnly,
        // A table is newer than the snapshot of the transaction; the server itself prepares again first,
        // several times.
        1412 | 1615 => ErrorClass::SchemaChanged,
        1235 | 1289 | 1295 | 6413 => ErrorClass::Unsupported,
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
            (1412, ErrorClass::SchemaChanged),
            (1615, ErrorClass::SchemaChanged),
            (1020, ErrorClass::Serialization),
            (1062, ErrorClass::Constraint),
            (1317, ErrorClass::Cancelled),
            (3024, ErrorClass::Cancelled),
            (1969, ErrorClass::Cancelled),
            (1040, ErrorClass::Unavailable),
            (1053, ErrorClass::Unavailable),
            (3100, ErrorClass::Unavailable),
            // Without Galera's words it is an unknown command.
            (1047, ErrorClass::Other),
            (1290, ErrorClass::Other),
            (1836, ErrorClass::ReadOnly),
            (1114, ErrorClass::DiskFull),
            (1146, ErrorClass::Other),
            (1045, ErrorClass::Other),
        ] {
            assert_eq!(class_of(code, "x", ErrorContext::InUse), class, "{code}");
        }
        assert_eq!(class_of(1045, "x", ErrorContext::Connecting), ErrorClass::Refused);
        assert_eq!(class_of(1049, "x", ErrorContext::Connecting), ErrorClass::Refused);
    }

    #[test]
    fn a_server_that_cannot_serve_now_is_told_from_one_that_is_full_or_refuses_a_statement() {
        let of = |code, message: &str| answer(code, message, ErrorContext::InUse);
        let galera = of(1047, "WSREP has not yet prepared node for application use");
        assert!(galera.class() == ErrorClass::Unavailable && galera.shows_no_service());
        assert!(!of_commit(galera).is_indeterminate(), "its COMMIT was not carried out");
        assert!(of_commit(of(1053, "Server shutdown in progress")).is_indeterminate());
        let cut_off = "Error while appending streaming replication fragment(provider status: Not \
                       connected to Primary Component)";
        assert_eq!(of(1180, cut_off).class(), ErrorClass::Unavailable);
        let full = of(1040, "Too many connections");
        assert!(full.class() == ErrorClass::Unavailable && !full.shows_no_service());
        for (option, class) in [
            ("--read-only", ErrorClass::ReadOnly),
            ("--super-read-only", ErrorClass::ReadOnly),
            ("read_only=NO_LOCK_NO_ADMIN", ErrorClass::ReadOnly),
            ("--secure-file-priv", ErrorClass::Other),
        ] {
            let message = format!(
                "The MySQL server is running with the {option} option so it cannot execute this"
            );
            assert_eq!(of(1290, &message).class(), class, "{option}");
        }
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
