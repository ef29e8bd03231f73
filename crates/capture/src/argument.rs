//! Values of statements.

use std::borrow::Cow;

use triphammer_core::value::hex;

/// An argument of a statement: bound by the client, or written as a literal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Argument {
    /// SQL NULL.
    Null,
    /// A whole number of 64 bits.
    Int(i64),
    /// Another number that was written as a literal, with its digits.
    Number(String),
    /// Anything else, as the log has it.
    Text(String),
    /// Bytes that are no text in UTF-8.
    Bytes(Vec<u8>),
}

impl Argument {
    /// An argument of this text: an integer if it is written as one.
    #[must_use]
    pub fn of_text(text: String) -> Self {
        match text.parse::<i64>() {
            Ok(number) if number.to_string() == text => Self::Int(number),
            _ => Self::Text(text),
        }
    }

    /// An argument of these bytes: a text if they are one.
    #[must_use]
    pub fn of_bytes(bytes: Vec<u8>) -> Self {
        String::from_utf8(bytes).map_or_else(|no| Self::Bytes(no.into_bytes()), Self::Text)
    }

    /// Its text in SQL without quotes; `None` for NULL.
    #[must_use]
    pub fn written(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Null => None,
            Self::Int(number) => Some(number.to_string().into()),
            Self::Number(text) | Self::Text(text) => Some(text.into()),
            Self::Bytes(bytes) => Some(hex(bytes).into()),
        }
    }

    /// The text that it has.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Number(text) => Some(text),
            Self::Null | Self::Int(_) | Self::Bytes(_) => None,
        }
    }

    /// Bytes in memory.
    pub(crate) fn bytes(&self) -> usize {
        let length = match self {
            Self::Bytes(bytes) => bytes.len(),
            _ => self.text().map_or(0, str::len),
        };
        size_of::<Self>() + length
    }
}

/// The bytes of hexadecimal digits; `None` if they are something else.
#[must_use]
pub fn unhex(digits: &str) -> Option<Vec<u8>> {
    let is_hex = digits.len().is_multiple_of(2) && digits.bytes().all(|b| b.is_ascii_hexdigit());
    let pairs = (0..digits.len()).step_by(2).map(|at| digits.get(at..at + 2));
    pairs.map(|pair| u8::from_str_radix(pair?, 16).ok()).collect::<Option<_>>().filter(|_| is_hex)
}
