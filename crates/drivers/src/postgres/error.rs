//! Classifies errors of PostgreSQL and of its connections.

use triphammer_core::{DbError, ErrorClass};

use super::wire::ServerError;

/// The operation in progress when an error occurred: the same code can mean different things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorContext {
    /// A session was being opened.
    Connecting,
    /// A session was in use.
    InUse,
}

/// The server's function that reports, with the code of anything unsupported, that a prepared
/// statement would now return columns of other types: its message is translated.
const REVALIDATES: &str = "RevalidateCachedQuery";

/// Classifies an error that the server reports.
#[cold]
pub fn classify(answer: &ServerError, moment: ErrorContext) -> DbError {
    let code = answer.code.as_str();
    let mut class = class_of(code);
    if moment == ErrorContext::Connecting && code == "42501" {
        class = ErrorClass::Refused;
    }
    if code == "0A000" && answer.routine == REVALIDATES {
        class = ErrorClass::SchemaChanged;
    }
    if answer.is_fatal && !class.loses_session() {
        class = match moment {
            ErrorContext::Connecting => ErrorClass::Refused,
            ErrorContext::InUse => ErrorClass::Disconnected,
        };
    }
    if !answer.is_fatal
        && moment == ErrorContext::InUse
        && (class == ErrorClass::Refused || code.starts_with("53") && class.loses_session())
    {
        // As ordinary errors these have other causes, such as a limit on temporary files.
        class = ErrorClass::Other;
    }
    let mut message = answer.message.clone();
    for (word, more) in [("detail", &answer.detail), ("hint", &answer.hint)] {
        if let Some(more) = more {
            message.push_str(&format!("; {word}: {}", more.trim_end_matches('.')));
        }
    }
    if let Some(position) = answer.position.as_ref().and_then(|text| text.lines().next()) {
        message.push_str(&format!("; in {position}"));
    }
    let error = DbError::new(class, message).with_code(code);
    if NO_ROOM.contains(&code) { error.without_room() } else { error }
}

/// No room for another session.
const NO_ROOM: [&str; 2] = ["53300", "53400"];

/// The class of an SQLSTATE; what is of the class `Unavailable` is the declaration of "the server
/// cannot serve now" for this product.
fn class_of(code: &str) -> ErrorClass {
    match code {
        "40001" => ErrorClass::Serialization,
        "40P01" => ErrorClass::Deadlock,
        "55P03" => ErrorClass::LockTimeout,
        "57014" => ErrorClass::Cancelled,
        "53300" | "53400" | "57P01" | "57P02" | "57P03" => ErrorClass::Unavailable,
        // The session was idle too long.
        "57P05" => ErrorClass::Disconnected,
        "3D000" | "57P04" => ErrorClass::Refused,
        "53100" => ErrorClass::DiskFull,
        "25006" => ErrorClass::ReadOnly,
        "25P03" | "25P04" => ErrorClass::Disconnected,
        _ if code.starts_with("08") => ErrorClass::Disconnected,
        _ if code.starts_with("28") => ErrorClass::Refused,
        _ if code.starts_with("23") => ErrorClass::Constraint,
        _ if code.starts_with("0A") => ErrorClass::Unsupported,
        _ => ErrorClass::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_result_type_is_told_from_what_is_unsupported() {
        for (routine, class) in [
            ("RevalidateCachedQuery", ErrorClass::SchemaChanged),
            ("transformLockingClause", ErrorClass::Unsupported),
        ] {
            let (code, routine) = ("0A000".to_owned(), routine.to_owned());
            let answer = ServerError { code, routine, ..ServerError::default() };
            assert_eq!(classify(&answer, ErrorContext::InUse).class(), class);
        }
    }

    #[test]
    fn codes_have_their_classes() {
        for (code, class) in [
            ("40001", ErrorClass::Serialization),
            ("40P01", ErrorClass::Deadlock),
            ("55P03", ErrorClass::LockTimeout),
            ("57014", ErrorClass::Cancelled),
            ("53300", ErrorClass::Unavailable),
            ("57P03", ErrorClass::Unavailable),
            ("57P01", ErrorClass::Unavailable),
            ("08006", ErrorClass::Disconnected),
            ("08P01", ErrorClass::Disconnected),
            ("28P01", ErrorClass::Refused),
            ("3D000", ErrorClass::Refused),
            ("23505", ErrorClass::Constraint),
            ("53100", ErrorClass::DiskFull),
            ("25006", ErrorClass::ReadOnly),
            ("0A000", ErrorClass::Unsupported),
            ("42P01", ErrorClass::Other),
        ] {
            assert_eq!(class_of(code), class, "{code}");
        }
    }
}
