//! The values of parameters and results. A slot keeps the memory of its text from one transaction to the next.

use std::fmt;

use triphammer_core::Value;
use triphammer_core::rows::{Cell, Row};
use triphammer_core::value::{Date, Timestamp, write_decimal};

/// A value of a slot.
#[derive(Debug, Default, PartialEq)]
pub enum Datum {
    /// SQL NULL, and what has no value yet.
    #[default]
    Null,
    /// An integer.
    Int(i64),
    /// A number.
    Float(f64),
    /// An exact decimal: units × 10^-scale.
    Decimal(i64, u8),
    /// Text.
    Text(String),
    /// A date.
    Date(Date),
    /// A date and time.
    Timestamp(Timestamp),
}

/// Copies into the text that is there, which keeps its memory.
impl Clone for Datum {
    fn clone(&self) -> Self {
        let mut copy = Self::Null;
        copy.clone_from(self);
        copy
    }

    #[inline]
    fn clone_from(&mut self, source: &Self) {
        *self = match source {
            Self::Text(source) => {
                let text = self.text();
                text.push_str(source);
                return;
            }
            Self::Null => Self::Null,
            Self::Int(value) => Self::Int(*value),
            Self::Float(value) => Self::Float(*value),
            Self::Decimal(units, scale) => Self::Decimal(*units, *scale),
            Self::Date(value) => Self::Date(*value),
            Self::Timestamp(value) => Self::Timestamp(*value),
        };
    }
}

impl Datum {
    /// Makes it an empty text, whose memory is that of the text before.
    #[inline]
    pub fn text(&mut self) -> &mut String {
        if !matches!(self, Self::Text(_)) {
            *self = Self::Text(String::new());
        }
        let Self::Text(text) = self else { unreachable!("it is a text") };
        text.clear();
        text
    }

    /// The value as an argument.
    #[inline]
    pub fn argument(&self) -> Value<'_> {
        match self {
            Self::Null => Value::Null,
            Self::Int(value) => Value::Int(*value),
            Self::Float(value) => Value::Float(*value),
            Self::Decimal(units, scale) => Value::Decimal { units: *units, scale: *scale },
            Self::Text(text) => Value::Text(text),
            Self::Date(date) => Value::Date(*date),
            Self::Timestamp(at) => Value::Timestamp(*at),
        }
    }

    /// Takes a field of a row.
    pub fn take(&mut self, row: &Row<'_>, column: usize) {
        *self = match row.cell(column) {
            Cell::Null => Self::Null,
            Cell::Int(value) => Self::Int(value),
            Cell::Float(value) => Self::Float(value),
            Cell::Decimal { units, scale } => Self::Decimal(units, scale),
            Cell::Date(date) => Self::Date(date),
            Cell::Timestamp(at) => Self::Timestamp(at),
            Cell::Text(_) => {
                self.text().push_str(row.text(column).unwrap_or_default());
                return;
            }
            Cell::Decimal128 { .. } | Cell::List(_) => Self::Text(row.show(column)),
        };
    }
}

impl fmt::Display for Datum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value}"),
            Self::Decimal(units, scale) => write_decimal(f, *units, *scale),
            Self::Text(text) => f.write_str(text),
            Self::Date(date) => write!(f, "{date}"),
            Self::Timestamp(at) => write!(f, "{at}"),
        }
    }
}
