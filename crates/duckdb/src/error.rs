//! Errors that DuckDB reports.

use std::ffi::{CStr, CString, c_char};
use std::fmt;

/// What went wrong, as far as callers act on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// Another transaction changed the same rows, or the transaction cannot continue.
    Transaction,
    /// A constraint was violated.
    Constraint,
    /// The statement was interrupted.
    Interrupt,
    /// A file could not be read, written or locked.
    Io,
    /// Memory or disk space ran out.
    OutOfMemory,
    /// DuckDB cannot do this.
    NotImplemented,
    /// The database does not permit this, such as a write in a read-only transaction.
    InvalidInput,
    /// Anything else, such as a table that does not exist.
    Other,
}

/// The prefixes of messages, by kind; some calls give no number.
const PREFIXES: [(&str, ErrorKind); 9] = [
    ("TransactionContext Error", ErrorKind::Transaction),
    ("Transaction Error", ErrorKind::Transaction),
    ("Constraint Error", ErrorKind::Constraint),
    ("INTERRUPT Error", ErrorKind::Interrupt),
    ("IO Error", ErrorKind::Io),
    ("Out of Memory Error", ErrorKind::OutOfMemory),
    ("Not implemented Error", ErrorKind::NotImplemented),
    ("Invalid Input Error", ErrorKind::InvalidInput),
    ("Invalid Error", ErrorKind::Other),
];

impl ErrorKind {
    /// The kind by DuckDB's own number (`duckdb_error_type`).
    const fn of_number(number: u32) -> Self {
        match number {
            10 => Self::Transaction,
            11 => Self::NotImplemented,
            18 => Self::Constraint,
            28 => Self::Io,
            29 => Self::Interrupt,
            32 => Self::InvalidInput,
            33 => Self::OutOfMemory,
            _ => Self::Other,
        }
    }
}

/// An error that DuckDB reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What went wrong.
    pub kind: ErrorKind,
    /// Message of DuckDB, which starts with DuckDB's name of the kind.
    pub message: String,
}

impl Error {
    /// An error with this message, of the kind that the message names.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        let message = message.into();
        let known = PREFIXES.iter().find(|(prefix, _)| message.starts_with(prefix));
        Self { kind: known.map_or(ErrorKind::Other, |(_, kind)| *kind), message }
    }

    /// An error with DuckDB's number of its kind; 0 is none.
    pub(crate) fn numbered(number: u32, message: impl Into<String>) -> Self {
        let error = Self::new(message);
        match ErrorKind::of_number(number) {
            ErrorKind::Other => error,
            kind => Self { kind, ..error },
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// Copies a text of DuckDB's; null is an empty one.
///
/// # Safety
/// The pointer must be null or lead to a text that ends with a zero byte.
pub(crate) unsafe fn text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: not null, and a text by the caller's word.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_string_lossy().into_owned()
}

/// Text for a C function.
pub(crate) fn c_text(text: &str) -> Result<CString, Error> {
    CString::new(text).map_err(|_| Error::new("the text contains a zero byte"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_comes_from_the_number_or_else_from_the_message() {
        let conflict = "TransactionContext Error: Conflict on update!";
        assert_eq!(Error::new(conflict).kind, ErrorKind::Transaction);
        assert_eq!(Error::numbered(18, "Failed to commit").kind, ErrorKind::Constraint);
        assert_eq!(Error::numbered(0, "IO Error: x").kind, ErrorKind::Io);
        assert_eq!(Error::new("Catalog Error: no table").kind, ErrorKind::Other);
    }

    #[test]
    fn no_text_is_an_empty_one() {
        // SAFETY: a null pointer is allowed.
        assert_eq!(unsafe { text(std::ptr::null()) }, "");
        // SAFETY: ends with a zero byte.
        assert_eq!(unsafe { text(c"näh".as_ptr()) }, "näh");
    }
}
