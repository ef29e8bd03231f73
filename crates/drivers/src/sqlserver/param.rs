//! Arguments of calls: each is sent with its type.

use triphammer_core::value::{rescale128, write_decimal};
use triphammer_core::{ColumnType, Date, DbError, ErrorClass, Timestamp, Value};

use super::reader::put_utf16;
use super::types::{DAY_US, DAYS_TO_1970, id};

/// Any collation: texts are sent in UTF-16.
pub(super) const COLLATION: [u8; 5] = [0x09, 0x04, 0xd0, 0x00, 0x34];
/// Longest text and binary value of a type with a limit, in bytes.
const SHORT_BYTES_MAX: usize = 8000;
/// Status of a parameter that returns a value.
const OUTPUT: u8 = 1;
/// Digits of a decimal of nine bytes, and of one of 17.
const DIGITS: u8 = 19;
const DIGITS_MAX: u8 = 38;
/// Days from 0001-01-01 to 9999-12-31.
const DAY_MAX: i32 = 3_652_058;

/// The type with which a parameter is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParamType {
    Int2,
    Int4,
    Int8,
    Float,
    Decimal {
        precision: u8,
        scale: u8,
    },
    /// `nvarchar(4000)`, or `nvarchar(max)` if long.
    Text {
        long: bool,
    },
    Timestamp,
    Date,
    /// A list of 32-bit integers: `varbinary(8000)`, or `varbinary(max)` if long.
    List {
        long: bool,
    },
}

impl ParamType {
    /// The type for a parameter that is declared as `column`.
    pub(super) fn of(column: ColumnType) -> Self {
        match column {
            ColumnType::SmallInt => Self::Int2,
            ColumnType::Int => Self::Int4,
            ColumnType::BigInt | ColumnType::Any => Self::Int8,
            ColumnType::Float => Self::Float,
            ColumnType::Decimal(scale) => Self::Decimal { precision: DIGITS, scale },
            ColumnType::Text => Self::Text { long: false },
            ColumnType::Timestamp => Self::Timestamp,
            ColumnType::Date => Self::Date,
            ColumnType::IntList => Self::List { long: false },
        }
    }

    /// The type of a value that has to speak for itself.
    fn natural(value: &Value<'_>) -> Self {
        match *value {
            Value::Null | Value::Int(_) => Self::Int8,
            Value::Float(_) => Self::Float,
            Value::Decimal { scale, .. } => Self::Decimal { precision: DIGITS, scale },
            Value::Decimal128 { scale, .. } => Self::Decimal { precision: DIGITS_MAX, scale },
            Value::Text(text) => Self::Text { long: is_long(text) },
            // It is rejected where it is written.
            Value::Bytes(_) => Self::Text { long: false },
            Value::Timestamp(_) => Self::Timestamp,
            Value::Date(_) => Self::Date,
            Value::Ints(list) => Self::List { long: 4 * list.len() > SHORT_BYTES_MAX },
        }
    }

    /// The type that a parameter of this type needs for a value: itself, a wider one, or another.
    #[inline]
    pub(super) fn for_value(self, value: &Value<'_>) -> Self {
        match (self, value) {
            (_, Value::Null)
            | (Self::Int2 | Self::Int4 | Self::Int8 | Self::Float, Value::Int(_))
            | (Self::Float, Value::Float(_))
            | (Self::Timestamp, Value::Timestamp(_) | Value::Date(_))
            | (Self::Date, Value::Date(_))
            | (Self::Text { long: true }, Value::Text(_))
            | (Self::List { long: true }, Value::Ints(_)) => self,
            (Self::Text { long: false }, Value::Text(text)) => Self::Text { long: is_long(text) },
            (Self::Decimal { scale, .. }, Value::Decimal { scale: given, .. })
                if scale == *given =>
            {
                self
            }
            (Self::Decimal { precision, scale }, _) => match units_at(value, scale) {
                Some(units) if fits(units, precision) => self,
                Some(units) if fits(units, DIGITS_MAX) => {
                    Self::Decimal { precision: DIGITS_MAX, scale }
                }
                _ => Self::natural(value),
            },
            _ => Self::natural(value),
        }
    }

    /// The type in SQL.
    pub(super) fn sql(self) -> String {
        match self {
            Self::Int2 => "smallint".into(),
            Self::Int4 => "int".into(),
            Self::Int8 => "bigint".into(),
            Self::Float => "float".into(),
            Self::Decimal { precision, scale } => format!("decimal({precision},{scale})"),
            Self::Text { long: false } => "nvarchar(4000)".into(),
            Self::Text { long: true } => "nvarchar(max)".into(),
            Self::Timestamp => "datetime2(6)".into(),
            Self::Date => "date".into(),
            Self::List { long: false } => "varbinary(8000)".into(),
            Self::List { long: true } => "varbinary(max)".into(),
        }
    }

    /// Writes the type and a value that it holds (see [`ParamType::for_value`]).
    #[inline]
    fn put(self, out: &mut Vec<u8>, value: &Value<'_>) -> Result<(), DbError> {
        match self {
            _ if matches!(value, Value::Bytes(_)) => {
                let message = "this driver cannot send bytes as an argument";
                Err(DbError::new(ErrorClass::Unsupported, message))
            }
            Self::Int2 => put_int(out, 2, value),
            Self::Int4 => put_int(out, 4, value),
            Self::Int8 => put_int(out, 8, value),
            Self::Float => {
                out.extend_from_slice(&[id::FLOAT_N, 8]);
                #[expect(clippy::cast_precision_loss, reason = "declared as floating point")]
                let value = match *value {
                    Value::Float(value) => value,
                    Value::Int(value) => value as f64,
                    _ => return put_null(out),
                };
                out.push(8);
                out.extend_from_slice(&value.to_le_bytes());
                Ok(())
            }
            Self::Decimal { precision, scale } => put_decimal(out, precision, scale, value),
            Self::Text { long } => {
                let Value::Text(text) = value else {
                    put_text_type(out, long);
                    return put_long_null(out, long);
                };
                put_text_value(out, text, long);
                Ok(())
            }
            Self::Timestamp => {
                out.extend_from_slice(&[id::DATETIME2, 6]);
                let at = match *value {
                    Value::Timestamp(at) => at,
                    Value::Date(date) => date.midnight().ok_or_else(|| misfit(date))?,
                    _ => return put_null(out),
                };
                out.push(8);
                put_timestamp(out, at)
            }
            Self::Date => {
                out.push(id::DATE);
                let Value::Date(date) = *value else { return put_null(out) };
                out.push(3);
                put_date(out, date)
            }
            Self::List { long } => put_list(out, value, long),
        }
    }
}

/// The error for a moment that no type of the server holds.
fn misfit(what: impl std::fmt::Display) -> DbError {
    DbError::new(ErrorClass::Other, format!("{what} is not between the years 1 and 9999"))
}

fn is_long(text: &str) -> bool {
    2 * text.len() > SHORT_BYTES_MAX && 2 * text.encode_utf16().count() > SHORT_BYTES_MAX
}

fn fits(units: i128, precision: u8) -> bool {
    units.unsigned_abs() < 10u128.pow(precision.into())
}

/// The units of a number at a scale, if it is exact.
fn units_at(value: &Value<'_>, scale: u8) -> Option<i128> {
    match *value {
        Value::Int(value) => rescale128(value.into(), 0, scale),
        Value::Decimal { units, scale: from } => rescale128(units.into(), from, scale),
        Value::Decimal128 { units, scale: from } => rescale128(*units, from, scale),
        _ => None,
    }
}

/// Writes an unnamed argument.
///
/// # Errors
/// When the value does not fit its type.
#[inline]
pub(super) fn put_argument(
    out: &mut Vec<u8>,
    declared: ParamType,
    value: &Value<'_>,
) -> Result<(), DbError> {
    out.extend_from_slice(&[0, 0]);
    declared.put(out, value)
}

/// Writes an argument with the name of its parameter in UTF-16, which may be empty.
///
/// # Errors
/// When the value does not fit its type.
pub(super) fn put_named(
    out: &mut Vec<u8>,
    name: &[u8],
    returns: bool,
    declared: ParamType,
    value: &Value<'_>,
) -> Result<(), DbError> {
    out.push(u8::try_from(name.len() / 2).expect("names of parameters are short"));
    out.extend_from_slice(name);
    out.push(if returns { OUTPUT } else { 0 });
    declared.put(out, value)
}

/// Writes an argument that returns an integer.
pub(super) fn put_handle_output(out: &mut Vec<u8>) {
    out.extend_from_slice(&[0, OUTPUT, id::INT_N, 4, 0]);
}

/// Writes an integer argument.
#[inline]
pub(super) fn put_handle(out: &mut Vec<u8>, handle: i32) {
    out.extend_from_slice(&[0, 0, id::INT_N, 4, 4]);
    out.extend_from_slice(&handle.to_le_bytes());
}

/// Writes an argument that is SQL text.
pub(super) fn put_sql(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(&[0, 0]);
    put_text_value(out, text, is_long(text));
}

/// Writes an argument that is SQL text, but absent.
pub(super) fn put_no_sql(out: &mut Vec<u8>) {
    out.extend_from_slice(&[0, 0]);
    put_text_type(out, false);
    out.extend_from_slice(&[0xff; 2]);
}

fn put_null(out: &mut Vec<u8>) -> Result<(), DbError> {
    out.push(0);
    Ok(())
}

fn put_long_null(out: &mut Vec<u8>, long: bool) -> Result<(), DbError> {
    out.extend_from_slice(if long { &[0xff; 8] } else { &[0xff; 2] });
    Ok(())
}

fn put_int(out: &mut Vec<u8>, bytes: u8, value: &Value<'_>) -> Result<(), DbError> {
    out.extend_from_slice(&[id::INT_N, bytes]);
    let Value::Int(value) = *value else { return put_null(out) };
    let (fits, bits) = match bytes {
        2 => (i16::try_from(value).is_ok(), 16),
        4 => (i32::try_from(value).is_ok(), 32),
        _ => (true, 64),
    };
    if !fits {
        let message = format!("{value} does not fit a {bits}-bit integer");
        return Err(DbError::new(ErrorClass::Other, message));
    }
    out.push(bytes);
    out.extend_from_slice(&value.to_le_bytes()[..bytes.into()]);
    Ok(())
}

fn put_decimal(
    out: &mut Vec<u8>,
    precision: u8,
    scale: u8,
    value: &Value<'_>,
) -> Result<(), DbError> {
    let bytes = if precision <= DIGITS { 9 } else { 17 };
    out.extend_from_slice(&[id::DECIMAL_N, bytes, precision, scale]);
    if *value == Value::Null {
        return put_null(out);
    }
    let Some(units) = units_at(value, scale).filter(|units| fits(*units, precision)) else {
        let mut text = String::new();
        if let Value::Decimal128 { units, scale } = *value {
            // One that cannot be written is described.
            let _ = write_decimal(&mut text, *units, scale);
        }
        let message = format!("{text} does not fit a decimal of {precision} digits");
        return Err(DbError::new(ErrorClass::Other, message.trim_start()));
    };
    out.push(bytes);
    put_units(out, units, bytes);
    Ok(())
}

/// Writes the sign and the digits of a decimal in `bytes` bytes.
pub(super) fn put_units(out: &mut Vec<u8>, units: i128, bytes: u8) {
    out.push((units >= 0).into());
    out.extend_from_slice(&units.unsigned_abs().to_le_bytes()[..usize::from(bytes) - 1]);
}

fn put_text_type(out: &mut Vec<u8>, long: bool) {
    let [low, high] = if long { [0xff, 0xff] } else { short_length().to_le_bytes() };
    out.extend_from_slice(&[id::NVARCHAR, low, high]);
    out.extend_from_slice(&COLLATION);
}

fn short_length() -> u16 {
    u16::try_from(SHORT_BYTES_MAX).expect("it is short")
}

fn put_text_value(out: &mut Vec<u8>, text: &str, long: bool) {
    put_text_type(out, long);
    let at = out.len();
    if long {
        put_long(out, |out| put_utf16(out, text));
    } else {
        out.extend_from_slice(&[0, 0]);
        put_utf16(out, text);
        let length = u16::try_from(out.len() - at - 2).expect("the text is short");
        out[at..at + 2].copy_from_slice(&length.to_le_bytes());
    }
}

/// Writes a value of unlimited length as one chunk.
pub(super) fn put_long(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.extend_from_slice(&[0; 12]);
    write(out);
    let length = out.len() - at - 12;
    out[at..at + 8].copy_from_slice(&(length as u64).to_le_bytes());
    if length == 0 {
        // An empty chunk ends the value.
        return;
    }
    let chunk = u32::try_from(length).expect("a value is shorter than 4 GiB");
    out[at + 8..at + 12].copy_from_slice(&chunk.to_le_bytes());
    out.extend_from_slice(&[0; 4]);
}

/// Writes the day of a date.
///
/// # Errors
/// When it is before the year 1 or after 9999.
pub(super) fn put_date(out: &mut Vec<u8>, date: Date) -> Result<(), DbError> {
    let day = date.0.checked_add(DAYS_TO_1970).filter(|day| (0..=DAY_MAX).contains(day));
    let day = day.ok_or_else(|| misfit(date))?;
    out.extend_from_slice(&day.to_le_bytes()[..3]);
    Ok(())
}

/// Writes a date and time with six digits after the second.
///
/// # Errors
/// As [`put_date`].
pub(super) fn put_timestamp(out: &mut Vec<u8>, at: Timestamp) -> Result<(), DbError> {
    let micros = at.0.rem_euclid(DAY_US);
    out.extend_from_slice(&micros.to_le_bytes()[..5]);
    put_date(out, Date::of(at).ok_or_else(|| misfit(at))?)
}

/// Writes a list as binary data: four bytes per number, the high byte first, so that
/// `CAST(SUBSTRING(list, 4 * n - 3, 4) AS int)` is number n.
fn put_list(out: &mut Vec<u8>, value: &Value<'_>, long: bool) -> Result<(), DbError> {
    let [low, high] = if long { [0xff, 0xff] } else { short_length().to_le_bytes() };
    out.extend_from_slice(&[id::VARBINARY, low, high]);
    let Value::Ints(list) = *value else { return put_long_null(out, long) };
    let write = |out: &mut Vec<u8>| out.extend(list.iter().flat_map(|number| number.to_be_bytes()));
    if long {
        put_long(out, write);
    } else {
        let length = u16::try_from(4 * list.len()).expect("the list is short");
        out.extend_from_slice(&length.to_le_bytes());
        write(out);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_does_not_fit_gets_a_wider_type() {
        let text = ParamType::of(ColumnType::Text);
        assert_eq!(text.for_value(&Value::Text("short")), text);
        let long = "x".repeat(4001);
        assert_eq!(text.for_value(&Value::Text(&long)), ParamType::Text { long: true });
        // Three bytes in UTF-8 are two in UTF-16.
        assert_eq!(text.for_value(&Value::Text(&"日".repeat(4000))), text);
        let cents = ParamType::of(ColumnType::Decimal(2));
        assert_eq!(cents.for_value(&Value::cents(i64::MAX)), cents);
        assert_eq!(cents.for_value(&Value::Int(7)), cents);
        let wide = ParamType::Decimal { precision: 38, scale: 2 };
        assert_eq!(cents.for_value(&Value::Int(i64::MAX)), wide);
        let digits = Value::Decimal { units: 1, scale: 5 };
        assert_eq!(cents.for_value(&digits), ParamType::Decimal { precision: 19, scale: 5 });
        let any = ParamType::of(ColumnType::Any);
        assert_eq!(any.for_value(&Value::Text("x")), text);
        assert_eq!(any.for_value(&Value::Float(1.5)), ParamType::Float);
        assert_eq!(any.for_value(&Value::Null), any);
    }

    #[test]
    fn a_value_outside_its_type_is_an_error_that_shows_it() {
        let mut out = Vec::new();
        let error = put_argument(&mut out, ParamType::Int2, &Value::Int(40_000)).unwrap_err();
        assert_eq!(error.message(), "40000 does not fit a 16-bit integer");
        let units = 10i128.pow(38);
        let value = Value::Decimal128 { units: &units, scale: 2 };
        let wide = ParamType::Decimal { precision: 38, scale: 2 };
        let error = put_argument(&mut out, wide, &value).unwrap_err();
        assert!(error.message().contains("does not fit a decimal of 38 digits"), "{error}");
        let year_0 = Value::Date(Date(-DAYS_TO_1970 - 1));
        assert!(put_argument(&mut out, ParamType::Date, &year_0).is_err());
    }

    #[test]
    fn lists_are_written_with_the_high_byte_first() {
        let mut out = Vec::new();
        put_list(&mut out, &Value::Ints(&[1, -2]), false).unwrap();
        assert_eq!(out, [0xa5, 0x40, 0x1f, 8, 0, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xfe]);
    }
}
