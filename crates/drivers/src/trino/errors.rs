//! Maps Trino's errors to error classes, by their names; the names are those of
//! `StandardErrorCode` and of the connectors.

use triphammer_core::error::{DbError, ErrorClass};

/// Names of errors with their classes. All others are [`ErrorClass::Other`]: mistakes in a
/// statement, failures inside the server, limits that a statement exceeds.
const CLASSES: [(&str, ErrorClass); 18] = [
    ("USER_CANCELED", ErrorClass::Cancelled),
    ("ADMINISTRATIVELY_KILLED", ErrorClass::Cancelled),
    ("ADMINISTRATIVELY_PREEMPTED", ErrorClass::Cancelled),
    ("ABANDONED_QUERY", ErrorClass::Cancelled),
    ("ABANDONED_TASK", ErrorClass::Cancelled),
    ("EXCEEDED_TIME_LIMIT", ErrorClass::Cancelled),
    ("EXCEEDED_CPU_LIMIT", ErrorClass::Cancelled),
    ("NOT_SUPPORTED", ErrorClass::Unsupported),
    ("READ_ONLY_VIOLATION", ErrorClass::ReadOnly),
    ("CONSTRAINT_VIOLATION", ErrorClass::Constraint),
    ("TRANSACTION_CONFLICT", ErrorClass::Serialization),
    ("ICEBERG_COMMIT_ERROR", ErrorClass::Serialization),
    ("OUT_OF_SPILL_SPACE", ErrorClass::DiskFull),
    ("SERVER_STARTING_UP", ErrorClass::Unavailable),
    ("SERVER_SHUTTING_DOWN", ErrorClass::Unavailable),
    ("NO_NODES_AVAILABLE", ErrorClass::Unavailable),
    ("QUERY_QUEUE_FULL", ErrorClass::Unavailable),
    ("INVALID_SESSION_PROPERTY", ErrorClass::Refused),
];

/// Error of a schema that does not exist.
pub(super) const NO_SCHEMA: &str = "SCHEMA_NOT_FOUND";
/// Error of a schema that exists already.
pub(super) const SCHEMA_EXISTS: &str = "SCHEMA_ALREADY_EXISTS";

/// Converts an error of a statement.
pub(super) fn on_statement(name: &str, message: &str) -> DbError {
    let class = CLASSES.iter().find(|(known, _)| *known == name).map(|(_, class)| *class);
    DbError::new(class.unwrap_or(ErrorClass::Other), message).with_code(name)
}

/// Converts an error of the first statement of a session: what the server rejects now, it will
/// reject again.
pub(super) fn on_connect(error: DbError) -> DbError {
    let is_final = matches!(error.class(), ErrorClass::Other | ErrorClass::Unsupported);
    let Some(code) = error.code().filter(|_| is_final) else { return error };
    let refused = DbError::new(ErrorClass::Refused, error.message()).with_code(code);
    if code == NO_SCHEMA { refused.without_database() } else { refused }
}

/// Converts an HTTP status other than success; `text` is the beginning of the answer's body.
pub(super) fn on_status(status: u16, text: &str) -> DbError {
    let (class, what) = match status {
        401 | 403 => (ErrorClass::Refused, "the server rejected user or password"),
        404 | 410 => (ErrorClass::Disconnected, "the server no longer knows the query"),
        429 | 502..=504 => (ErrorClass::Unavailable, "the server does not accept queries now"),
        300..=399 => {
            (ErrorClass::Refused, "the server redirects to another address, which is not followed")
        }
        _ => (ErrorClass::Disconnected, "the server did not answer as Trino does"),
    };
    let separator = if text.is_empty() { "" } else { ": " };
    DbError::new(class, format!("{what}{separator}{text}")).with_code(format!("HTTP {status}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_their_class() {
        for (name, class) in [
            ("USER_CANCELED", ErrorClass::Cancelled),
            ("TABLE_NOT_FOUND", ErrorClass::Other),
            ("NOT_SUPPORTED", ErrorClass::Unsupported),
            ("NO_NODES_AVAILABLE", ErrorClass::Unavailable),
            ("TRANSACTION_CONFLICT", ErrorClass::Serialization),
        ] {
            let error = on_statement(name, "why");
            assert_eq!((error.class(), error.code()), (class, Some(name)));
        }
        for (status, class) in [
            (401, ErrorClass::Refused),
            (302, ErrorClass::Refused),
            (410, ErrorClass::Disconnected),
            (503, ErrorClass::Unavailable),
            (500, ErrorClass::Disconnected),
        ] {
            assert_eq!(on_status(status, "").class(), class, "{status}");
        }
    }

    #[test]
    fn what_is_rejected_at_the_start_is_final_unless_the_server_is_only_busy() {
        let error = on_connect(on_statement(NO_SCHEMA, "Schema 'x' does not exist"));
        assert!(error.class() == ErrorClass::Refused && error.lacks_database());
        let error = on_connect(on_statement("CATALOG_NOT_FOUND", "Catalog 'x' not found"));
        assert!(error.class() == ErrorClass::Refused && !error.lacks_database());
        let error = on_connect(on_statement("SERVER_STARTING_UP", "starting"));
        assert_eq!(error.class(), ErrorClass::Unavailable);
    }
}
