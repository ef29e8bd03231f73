//! Errors of PostgreSQL and its library, sorted into our classes.

use std::error::Error as _;

use tokio_postgres::Error as PgError;
use tokio_postgres::error::{DbError as ServerError, Severity};
use triphammer_core::{DbError, ErrorClass};

use super::codec::Misfit;

/// What was being done when an error came: the same code can mean different things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// A session was being opened.
    Connecting,
    /// A session was in use.
    InUse,
}

/// Sorts a library error. Only a server's answer says nothing about the connection; all else that is
/// no mistake of ours means that it is gone.
pub fn classify(error: &PgError, moment: Moment) -> DbError {
    if let Some(answer) = error.as_db_error() {
        return classify_answer(answer, moment);
    }
    if error.is_closed() {
        return closed();
    }
    if let Some(misfit) = error.source().and_then(|s| s.downcast_ref::<Misfit>()) {
        return DbError::new(ErrorClass::Other, format!("{error}: {misfit}"));
    }
    if let Some(refusal) = tls_refusal(error) {
        return refusal;
    }
    let cause = error.source().map(ToString::to_string).unwrap_or_default();
    if error.source().is_some_and(|s| s.is::<std::io::Error>()) {
        return DbError::new(ErrorClass::Disconnected, format!("lost the connection: {cause}"));
    }
    let message = if cause.is_empty() { error.to_string() } else { format!("{error}: {cause}") };
    let class = match moment {
        // What is left are the library's own refusals: no password, no common way to prove one.
        Moment::Connecting => ErrorClass::Refused,
        Moment::InUse => ErrorClass::Other,
    };
    DbError::new(class, message)
}

/// The connection ended without a word.
pub fn closed() -> DbError {
    DbError::new(ErrorClass::Disconnected, "the server closed the connection")
}

/// An alert that the server sends after its half of a handshake, such as about our certificate.
fn tls_refusal(error: &PgError) -> Option<DbError> {
    let io = error.source()?.downcast_ref::<std::io::Error>()?;
    let tls = io.get_ref()?.downcast_ref::<rustls::Error>()?;
    Some(DbError::new(ErrorClass::Refused, format!("TLS failed: {tls}")))
}

fn classify_answer(answer: &ServerError, moment: Moment) -> DbError {
    let code = answer.code().code();
    let mut class = class_of(code);
    if moment == Moment::Connecting && code == "42501" {
        class = ErrorClass::Refused;
    }
    let ends_session = matches!(answer.parsed_severity(), Some(Severity::Fatal | Severity::Panic));
    if ends_session && !class.loses_session() {
        class = match moment {
            Moment::Connecting => ErrorClass::Refused,
            Moment::InUse => ErrorClass::Disconnected,
        };
    }
    if !ends_session
        && moment == Moment::InUse
        && matches!(class, ErrorClass::Unavailable | ErrorClass::Refused)
    {
        // As an ordinary error these are about something else, such as a limit on temporary files.
        class = ErrorClass::Other;
    }
    let mut message = answer.message().to_owned();
    for (word, more) in [("detail", answer.detail()), ("hint", answer.hint())] {
        if let Some(more) = more {
            message.push_str(&format!("; {word}: {}", more.trim_end_matches('.')));
        }
    }
    if let Some(position) = answer.where_().and_then(|text| text.lines().next()) {
        message.push_str(&format!("; in {position}"));
    }
    DbError::new(class, message).with_code(code)
}

/// The class of a SQLSTATE.
fn class_of(code: &str) -> ErrorClass {
    match code {
        "40001" => ErrorClass::Serialization,
        "40P01" => ErrorClass::Deadlock,
        "55P03" => ErrorClass::LockTimeout,
        "57014" => ErrorClass::Cancelled,
        "53300" | "53400" | "57P01" | "57P02" | "57P03" | "57P05" => ErrorClass::Unavailable,
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
