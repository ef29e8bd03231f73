//! Maps DuckDB's errors to error classes: by their kind, and where one kind has several meanings,
//! by their text.

use triphammer_core::error::{DbError, ErrorClass};
use triphammer_duckdb::{Error, ErrorKind};

use crate::database_file::DatabaseFile;

/// Length of the longest name of a kind, in bytes.
const KIND_MAX: usize = 40;

/// Parts of messages, in lower case, with the error class of each.
const TEXTS: [(&str, ErrorClass); 6] = [
    // All sessions must go before the file can be opened again.
    ("database has been invalidated", ErrorClass::Disconnected),
    ("read-only mode", ErrorClass::ReadOnly),
    ("no space left on device", ErrorClass::DiskFull),
    ("duplicate key", ErrorClass::Constraint),
    ("constraint violat", ErrorClass::Constraint),
    ("constraint error", ErrorClass::Constraint),
];

/// Converts an error of a statement.
pub(super) fn on_statement(error: Error) -> DbError {
    let text = error.message.to_lowercase();
    let class = match error.kind {
        ErrorKind::Interrupt => ErrorClass::Cancelled,
        // "Conflict on update!", "Transaction conflict: …", "write-write conflict on key: …"
        ErrorKind::Transaction | ErrorKind::Constraint if text.contains("conflict") => {
            ErrorClass::Serialization
        }
        ErrorKind::Constraint => ErrorClass::Constraint,
        ErrorKind::NotImplemented => ErrorClass::Unsupported,
        _ => {
            let known = TEXTS.iter().find(|(part, _)| text.contains(part));
            known.map_or(ErrorClass::Other, |(_, class)| *class)
        }
    };
    // DuckDB has no codes, but begins with the name of the kind: `Constraint Error: …`.
    match error.message.split_once(": ") {
        Some((kind, message)) if kind.ends_with(" Error") && kind.len() <= KIND_MAX => {
            DbError::new(class, message).with_code(kind)
        }
        _ => DbError::new(class, error.message),
    }
}

/// Whether a ROLLBACK failed because there was nothing to roll back.
pub(super) fn is_without_transaction(error: &Error) -> bool {
    error.kind == ErrorKind::Transaction && error.message.contains("no transaction is active")
}

/// Converts an error while a file is opened: what is wrong with the file will still be wrong next
/// time, unless another process has it open.
pub(super) fn on_open(file: &DatabaseFile, error: &Error) -> DbError {
    let text = &error.message;
    if text.contains("Could not set lock") {
        let path = file.path().display();
        let message = format!("{path}: another process has the database open: {text}");
        return DbError::new(ErrorClass::Unavailable, message);
    }
    file.refused(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_their_class() {
        for (kind, message, class) in [
            (
                ErrorKind::Transaction,
                "TransactionContext Error: Conflict on update!",
                ErrorClass::Serialization,
            ),
            (
                ErrorKind::Transaction,
                "TransactionContext Error: Failed to commit: PRIMARY KEY or UNIQUE constraint \
                 violation: duplicate key \"1\"",
                ErrorClass::Constraint,
            ),
            (
                ErrorKind::Transaction,
                "TransactionContext Error: Failed to commit: Cannot open file",
                ErrorClass::Other,
            ),
            (ErrorKind::Constraint, "Constraint Error: NOT NULL", ErrorClass::Constraint),
            (ErrorKind::Interrupt, "INTERRUPT Error: Interrupted!", ErrorClass::Cancelled),
            (ErrorKind::Io, "IO Error: x: No space left on device", ErrorClass::DiskFull),
            (ErrorKind::Other, "Catalog Error: no table", ErrorClass::Other),
        ] {
            let error = on_statement(Error { kind, message: message.to_owned() });
            assert_eq!(error.class(), class, "{message}");
            assert!(error.code().is_some_and(|code| message.starts_with(code)), "{error:?}");
        }
    }
}
