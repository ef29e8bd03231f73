//! Maps SQLite's result codes to error classes.

use std::path::Path;

use rusqlite::{Error, ErrorCode, ffi};
use triphammer_core::error::{DbError, ErrorClass};

/// Names of the result codes that users encounter; others keep their number.
const NAMES: [(std::ffi::c_int, &str); 35] = [
    (ffi::SQLITE_ERROR, "SQLITE_ERROR"),
    (ffi::SQLITE_INTERNAL, "SQLITE_INTERNAL"),
    (ffi::SQLITE_PERM, "SQLITE_PERM"),
    (ffi::SQLITE_ABORT, "SQLITE_ABORT"),
    (ffi::SQLITE_BUSY, "SQLITE_BUSY"),
    (ffi::SQLITE_BUSY_RECOVERY, "SQLITE_BUSY_RECOVERY"),
    (ffi::SQLITE_BUSY_SNAPSHOT, "SQLITE_BUSY_SNAPSHOT"),
    (ffi::SQLITE_LOCKED, "SQLITE_LOCKED"),
    (ffi::SQLITE_NOMEM, "SQLITE_NOMEM"),
    (ffi::SQLITE_READONLY, "SQLITE_READONLY"),
    (ffi::SQLITE_READONLY_DBMOVED, "SQLITE_READONLY_DBMOVED"),
    (ffi::SQLITE_READONLY_DIRECTORY, "SQLITE_READONLY_DIRECTORY"),
    (ffi::SQLITE_INTERRUPT, "SQLITE_INTERRUPT"),
    (ffi::SQLITE_IOERR, "SQLITE_IOERR"),
    (ffi::SQLITE_IOERR_READ, "SQLITE_IOERR_READ"),
    (ffi::SQLITE_IOERR_SHORT_READ, "SQLITE_IOERR_SHORT_READ"),
    (ffi::SQLITE_IOERR_WRITE, "SQLITE_IOERR_WRITE"),
    (ffi::SQLITE_IOERR_FSYNC, "SQLITE_IOERR_FSYNC"),
    (ffi::SQLITE_IOERR_LOCK, "SQLITE_IOERR_LOCK"),
    (ffi::SQLITE_CORRUPT, "SQLITE_CORRUPT"),
    (ffi::SQLITE_FULL, "SQLITE_FULL"),
    (ffi::SQLITE_CANTOPEN, "SQLITE_CANTOPEN"),
    (ffi::SQLITE_SCHEMA, "SQLITE_SCHEMA"),
    (ffi::SQLITE_TOOBIG, "SQLITE_TOOBIG"),
    (ffi::SQLITE_CONSTRAINT, "SQLITE_CONSTRAINT"),
    (ffi::SQLITE_CONSTRAINT_CHECK, "SQLITE_CONSTRAINT_CHECK"),
    (ffi::SQLITE_CONSTRAINT_FOREIGNKEY, "SQLITE_CONSTRAINT_FOREIGNKEY"),
    (ffi::SQLITE_CONSTRAINT_NOTNULL, "SQLITE_CONSTRAINT_NOTNULL"),
    (ffi::SQLITE_CONSTRAINT_PRIMARYKEY, "SQLITE_CONSTRAINT_PRIMARYKEY"),
    (ffi::SQLITE_CONSTRAINT_ROWID, "SQLITE_CONSTRAINT_ROWID"),
    (ffi::SQLITE_CONSTRAINT_TRIGGER, "SQLITE_CONSTRAINT_TRIGGER"),
    (ffi::SQLITE_CONSTRAINT_UNIQUE, "SQLITE_CONSTRAINT_UNIQUE"),
    (ffi::SQLITE_MISMATCH, "SQLITE_MISMATCH"),
    (ffi::SQLITE_MISUSE, "SQLITE_MISUSE"),
    (ffi::SQLITE_NOTADB, "SQLITE_NOTADB"),
];

/// Converts an error of a statement.
pub(super) fn on_statement(error: Error) -> DbError {
    let Some(code) = result_code(&error) else {
        return DbError::new(ErrorClass::Other, error.to_string());
    };
    if code.code == ErrorCode::AuthorizationForStatementDenied {
        let message = format!(
            "{}: SQL that a server runs for its clients opens no other files, \
                               and sets nothing for the whole process",
            message(error)
        );
        return DbError::new(ErrorClass::Other, message).with_code("SQLITE_AUTH");
    }
    let name = NAMES.iter().find(|(known, _)| *known == code.extended_code);
    let name = name.map_or_else(|| code.extended_code.to_string(), |(_, name)| (*name).to_owned());
    DbError::new(class(code), message(error)).with_code(name)
}

/// Converts an error while a file is opened: what is wrong with the file will still be wrong next
/// time.
pub(super) fn on_open(path: &Path, error: Error) -> DbError {
    let code = result_code(&error).map(|error| error.code);
    let refused = matches!(
        code,
        Some(
            ErrorCode::CannotOpen
                | ErrorCode::NotADatabase
                | ErrorCode::DatabaseCorrupt
                | ErrorCode::PermissionDenied
        )
    );
    let error = on_statement(error);
    let class = match error.class() {
        _ if refused => ErrorClass::Refused,
        ErrorClass::LockTimeout => ErrorClass::Unavailable,
        class => class,
    };
    let hint = match code {
        Some(ErrorCode::CannotOpen) => "; it and its folder must be readable and writable",
        _ => "",
    };
    let path = path.display().to_string();
    // SQLite names the file in some of its messages.
    let text = error.message().trim_end_matches(&path).trim_end_matches(": ");
    let opened = DbError::new(class, format!("{path}: {text}{hint}"));
    match error.code() {
        Some(code) => opened.with_code(code),
        None => opened,
    }
}

/// Whether another session's lock was the cause.
pub(super) fn is_busy(error: &Error) -> bool {
    result_code(error).is_some_and(|code| code.code == ErrorCode::DatabaseBusy)
}

fn result_code(error: &Error) -> Option<ffi::Error> {
    match error {
        Error::SqliteFailure(code, _) | Error::SqlInputError { error: code, .. } => Some(*code),
        _ => None,
    }
}

/// SQLite's own message, without the statement, which may be long.
fn message(error: Error) -> String {
    match error {
        Error::SqliteFailure(_, Some(text)) | Error::SqlInputError { msg: text, .. } => text,
        Error::SqliteFailure(code, None) => ffi::code_to_str(code.extended_code).to_owned(),
        error => error.to_string(),
    }
}

fn class(error: ffi::Error) -> ErrorClass {
    match error.code {
        _ if error.extended_code == ffi::SQLITE_BUSY_SNAPSHOT => ErrorClass::Serialization,
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => ErrorClass::LockTimeout,
        ErrorCode::ConstraintViolation => ErrorClass::Constraint,
        ErrorCode::DiskFull => ErrorClass::DiskFull,
        ErrorCode::ReadOnly => ErrorClass::ReadOnly,
        // SQLite itself prepares again first, many times.
        ErrorCode::SchemaChanged => ErrorClass::SchemaChanged,
        ErrorCode::OperationInterrupted => ErrorClass::Cancelled,
        _ => ErrorClass::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_codes_have_their_class_and_name() {
        for (code, class, name) in [
            (ffi::SQLITE_BUSY, ErrorClass::LockTimeout, "SQLITE_BUSY"),
            (ffi::SQLITE_BUSY_SNAPSHOT, ErrorClass::Serialization, "SQLITE_BUSY_SNAPSHOT"),
            (ffi::SQLITE_LOCKED_SHAREDCACHE, ErrorClass::LockTimeout, "262"),
            (ffi::SQLITE_CONSTRAINT_UNIQUE, ErrorClass::Constraint, "SQLITE_CONSTRAINT_UNIQUE"),
            (ffi::SQLITE_FULL, ErrorClass::DiskFull, "SQLITE_FULL"),
            (ffi::SQLITE_READONLY_DBMOVED, ErrorClass::ReadOnly, "SQLITE_READONLY_DBMOVED"),
            (ffi::SQLITE_INTERRUPT, ErrorClass::Cancelled, "SQLITE_INTERRUPT"),
            (ffi::SQLITE_IOERR_WRITE, ErrorClass::Other, "SQLITE_IOERR_WRITE"),
        ] {
            let error = on_statement(Error::SqliteFailure(ffi::Error::new(code), None));
            assert_eq!((error.class(), error.code()), (class, Some(name)));
        }
        for (code, class) in [
            (ffi::SQLITE_NOTADB, ErrorClass::Refused),
            (ffi::SQLITE_CANTOPEN, ErrorClass::Refused),
            (ffi::SQLITE_BUSY, ErrorClass::Unavailable),
        ] {
            let error = Error::SqliteFailure(ffi::Error::new(code), None);
            let error = on_open(Path::new("a/b.db"), error);
            assert_eq!(error.class(), class);
            assert!(error.to_string().starts_with("a/b.db: "), "{error}");
        }
    }
}
