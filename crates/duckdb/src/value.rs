//! Types of columns and their values.

/// Type of a column, as far as it can be read or loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// No type: a column that is only NULL.
    Null,
    /// True or false.
    Boolean,
    /// Signed integers by their number of bits: 8, 16, 32, 64 or 128.
    Int(u8),
    /// Unsigned integers by their number of bits: 8, 16, 32, 64 or 128.
    Unsigned(u8),
    /// Single-precision floating point.
    Float,
    /// Double-precision floating point.
    Double,
    /// Exact decimals of so many digits in all, and after the point.
    Decimal {
        /// Number of digits.
        width: u8,
        /// Number of digits after the point.
        scale: u8,
    },
    /// Characters.
    Text,
    /// Days since 1970-01-01.
    Date,
    /// Instants since 1970-01-01, in units of 10^-`digits` seconds: 0, 3, 6 or 9.
    Timestamp {
        /// Number of digits after the second.
        digits: u8,
    },
    /// Any other type, by DuckDB's number.
    Other(u32),
}

impl ColumnType {
    /// Returns the kind of a type by DuckDB's number; `decimal` returns width and scale of a decimal.
    pub(crate) fn of(number: u32, decimal: impl FnOnce() -> (u8, u8)) -> Self {
        match number {
            1 => Self::Boolean,
            2 => Self::Int(8),
            3 => Self::Int(16),
            4 => Self::Int(32),
            5 => Self::Int(64),
            6 => Self::Unsigned(8),
            7 => Self::Unsigned(16),
            8 => Self::Unsigned(32),
            9 => Self::Unsigned(64),
            10 => Self::Float,
            11 => Self::Double,
            12 | 31 => Self::Timestamp { digits: 6 },
            13 => Self::Date,
            16 => Self::Int(128),
            17 => Self::Text,
            19 => {
                let (width, scale) = decimal();
                Self::Decimal { width, scale }
            }
            20 => Self::Timestamp { digits: 0 },
            21 => Self::Timestamp { digits: 3 },
            22 => Self::Timestamp { digits: 9 },
            32 => Self::Unsigned(128),
            36 => Self::Null,
            other => Self::Other(other),
        }
    }

    /// Size of a value in a vector, in bytes; 0 for kinds that are not read.
    pub(crate) const fn size(self) -> usize {
        match self {
            Self::Null | Self::Other(_) => 0,
            Self::Boolean => 1,
            Self::Int(bits) | Self::Unsigned(bits) => bits as usize / 8,
            Self::Float | Self::Date => 4,
            Self::Double | Self::Timestamp { .. } => 8,
            Self::Decimal { width, .. } => match width {
                0..=4 => 2,
                5..=9 => 4,
                10..=18 => 8,
                _ => 16,
            },
            Self::Text => 16,
        }
    }
}

/// A value on its way from a result or to a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// SQL NULL.
    Null,
    /// An integer, or a boolean.
    Int(i128),
    /// An integer above 2^127.
    Unsigned(u128),
    /// A floating-point number.
    Float(f64),
    /// `units` × 10^-`scale`.
    Decimal {
        /// All digits as one integer.
        units: i128,
        /// Number of digits after the point.
        scale: u8,
    },
    /// Characters in UTF-8.
    Text(&'a [u8]),
    /// Days since 1970-01-01.
    Date(i32),
    /// Microseconds since 1970-01-01.
    Timestamp(i64),
}
