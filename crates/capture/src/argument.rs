//! Values of statements.

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

    /// The text that it has.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Number(text) => Some(text),
            Self::Null | Self::Int(_) => None,
        }
    }

    /// Bytes in memory.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>() + self.text().map_or(0, str::len)
    }
}
