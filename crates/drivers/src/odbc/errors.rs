//! Maps ODBC's errors to error classes, by the table of the dialect.

use triphammer_core::error::{DbError, ErrorClass};
use triphammer_core::odbc::OdbcDef;
use triphammer_odbc::{Error, ManagerError};

/// SQLSTATE of errors that have no other.
const GENERAL: &str = "HY000";

/// SQLSTATE of a time limit: of a statement, or of the login.
const TIMED_OUT: &str = "HYT00";

/// Classes of SQLSTATEs where no dialect is known yet, or says nothing of them: the standard's and
/// ODBC's own.
const STANDARD: [(&str, ErrorClass); 12] = [
    (TIMED_OUT, ErrorClass::Cancelled),
    ("HYT01", ErrorClass::Disconnected),
    ("HY008", ErrorClass::Cancelled),
    ("HYC00", ErrorClass::Unsupported),
    ("IM001", ErrorClass::Unsupported),
    ("IM", ErrorClass::Refused),
    ("08", ErrorClass::Disconnected),
    ("0A", ErrorClass::Unsupported),
    ("23", ErrorClass::Constraint),
    ("25006", ErrorClass::ReadOnly),
    ("28", ErrorClass::Refused),
    ("40001", ErrorClass::Serialization),
];

fn class_of(error: &Error, def: Option<&OdbcDef>) -> ErrorClass {
    let declared = def.and_then(|def| def.class_of(&error.state, error.native, &error.message));
    let standard = || STANDARD.iter().find(|(state, _)| error.state.starts_with(state));
    declared.or_else(|| standard().map(|(_, class)| *class)).unwrap_or(ErrorClass::Other)
}

/// Converts an error of a session in use.
#[cold]
pub(super) fn on_statement(error: &Error, def: &OdbcDef) -> DbError {
    let class = match class_of(error, Some(def)) {
        // Neither is about a session that works.
        ErrorClass::Refused => ErrorClass::Other,
        class => class,
    };
    DbError::new(class, &error.message).with_code(code(error, Some(def)))
}

/// Converts an error of an attempt to connect; `was_there` if an earlier one has succeeded.
#[cold]
pub(super) fn on_connect(error: &Error, def: Option<&OdbcDef>, was_there: bool) -> DbError {
    let class = match class_of(error, def) {
        class if class.loses_session() => class,
        // Nobody answered in time, which is how drivers report a server that is away.
        _ if error.state == TIMED_OUT => ErrorClass::Disconnected,
        // An error that nobody has classed, of a server that has let this user in: it may be starting.
        _ if was_there => ErrorClass::Unavailable,
        _ => ErrorClass::Refused,
    };
    let hint = match error.state.as_str() {
        "IM002" => "; list the names with `odbcinst -q -s` and `odbcinst -q -d`",
        "01000" if error.of_manager && is_unregistered(&error.message) => {
            "; no driver of that name is registered: list the names with `odbcinst -q -d`"
        }
        "01000" | "IM003" | "IM004" | "IM005" if error.of_manager => {
            "; the manager cannot load the driver: see `odbcinst -j` for the files it reads, and \
             check the library with `ldd`"
        }
        _ => "",
    };
    let message = format!("{}{hint}", error.message);
    DbError::new(class, message).with_code(code(error, def))
}

/// Whether unixODBC tried to load a driver's name as a library, which it does with names that are
/// not registered. A library has a path or an ending.
fn is_unregistered(message: &str) -> bool {
    let rest = message.strip_prefix("Can't open lib '");
    let name = rest.and_then(|rest| rest.split_once('\'')).map(|(name, _)| name);
    name.is_some_and(|name| !name.contains('/') && !name.contains(".so"))
}

/// The error for a driver manager that is not there.
pub(super) fn on_load(error: &ManagerError) -> DbError {
    DbError::new(ErrorClass::Refused, error.to_string())
}

/// The code that people look up: the number where a dialect goes by it, else the SQLSTATE.
fn code(error: &Error, def: Option<&OdbcDef>) -> String {
    let by_number = def.is_some_and(|def| def.native_codes.unwrap_or(false));
    match (error.state.as_str(), error.native) {
        (_, native) if by_number && native != 0 => native.to_string(),
        (GENERAL | "", native) if native != 0 => format!("{GENERAL}/{native}"),
        (state, _) => state.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_is_away_is_not_one_that_refuses() {
        let of = |state: &str| Error {
            state: state.to_owned(),
            message: "Login timeout expired".to_owned(),
            ..Error::default()
        };
        for (state, first, again) in [
            ("HYT00", ErrorClass::Disconnected, ErrorClass::Disconnected),
            ("HYT01", ErrorClass::Disconnected, ErrorClass::Disconnected),
            ("08001", ErrorClass::Disconnected, ErrorClass::Disconnected),
            ("28000", ErrorClass::Refused, ErrorClass::Refused),
            ("IM002", ErrorClass::Refused, ErrorClass::Refused),
            ("HY000", ErrorClass::Refused, ErrorClass::Unavailable),
        ] {
            assert_eq!(on_connect(&of(state), None, false).class(), first, "{state}");
            assert_eq!(on_connect(&of(state), None, true).class(), again, "{state}");
        }
        let def = OdbcDef::default();
        assert_eq!(on_statement(&of("HYT00"), &def).class(), ErrorClass::Cancelled);
    }

    #[test]
    fn a_driver_that_is_not_registered_is_told_from_one_that_does_not_load() {
        for (name, hint) in [
            ("Nope", "`odbcinst -q -d`"),
            ("MariaDB Unicod", "`odbcinst -q -d`"),
            ("/nowhere/driver.so", "cannot load the driver"),
            ("/nowhere/driver", "cannot load the driver"),
            ("libmaodbc.so", "cannot load the driver"),
            ("libmaodbc.so.2", "cannot load the driver"),
        ] {
            let error = Error {
                state: "01000".to_owned(),
                message: format!("Can't open lib '{name}' : file not found"),
                of_manager: true,
                ..Error::default()
            };
            let message = on_connect(&error, None, false).message().to_owned();
            assert!(message.contains(hint), "{message}");
        }
    }
}
