//! Values of expressions and of variables, with pgbench's conversions.

use std::fmt::{self, Write as _};

use super::names::continues_name;

/// A value of an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// SQL NULL.
    Null,
    /// A boolean.
    Bool(bool),
    /// A 64-bit integer.
    Int(i64),
    /// A double-precision number.
    Double(f64),
}

/// The first integer that does not fit: 2^63, which unlike the last that fits is exact in a double.
const INT_END: f64 = 9_223_372_036_854_775_808.0;
/// Digits of a double that is written as text: pgbench's `%.15g`.
const DIGITS: i32 = 15;

impl Value {
    /// Whether a condition with this value holds: zero and NULL are false.
    #[must_use]
    pub fn is_true(self) -> bool {
        match self {
            Self::Null => false,
            Self::Bool(value) => value,
            Self::Int(value) => value != 0,
            Self::Double(value) => value != 0.0,
        }
    }

    /// The value as a boolean.
    ///
    /// # Errors
    /// When it is not one.
    #[inline]
    pub fn bool(self) -> Result<bool, String> {
        match self {
            Self::Bool(value) => Ok(value),
            other => Err(format!("cannot coerce {} to boolean", other.kind())),
        }
    }

    /// The value as an integer; a double is rounded.
    ///
    /// # Errors
    /// When it is not a number, or does not fit.
    #[inline]
    pub fn int(self) -> Result<i64, String> {
        match self {
            Self::Int(value) => Ok(value),
            Self::Double(value) => {
                let rounded = value.round_ties_even();
                if (-INT_END..INT_END).contains(&rounded) {
                    #[expect(clippy::cast_possible_truncation, reason = "within the range")]
                    return Ok(rounded as i64);
                }
                Err(format!("double to int overflow for {value}"))
            }
            other => Err(format!("cannot coerce {} to int", other.kind())),
        }
    }

    /// The value as a double.
    ///
    /// # Errors
    /// When it is not a number.
    #[inline]
    pub fn double(self) -> Result<f64, String> {
        match self {
            Self::Double(value) => Ok(value),
            #[expect(clippy::cast_precision_loss, reason = "as pgbench does")]
            Self::Int(value) => Ok(value as f64),
            other => Err(format!("cannot coerce {} to double", other.kind())),
        }
    }

    fn kind(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Int(_) => "int",
            Self::Double(_) => "double",
        }
    }

    /// Reads the text of a variable, as from `--define` or a query's answer.
    ///
    /// # Errors
    /// When it is neither null, nor a boolean, nor a number.
    pub fn parse(text: &str) -> Result<Self, String> {
        let is = |word: &str| text.eq_ignore_ascii_case(word);
        let begins = |word: &str| {
            word.get(..text.len()).is_some_and(|start| text.eq_ignore_ascii_case(start))
        };
        if text.is_empty() {
            return Err("an empty text is not a value".into());
        }
        if is("null") {
            return Ok(Self::Null);
        }
        if begins("true") || begins("yes") || is("on") {
            return Ok(Self::Bool(true));
        }
        if begins("false") || begins("no") || is("off") || is("of") {
            return Ok(Self::Bool(false));
        }
        let trimmed = text.trim_start();
        let digits = trimmed.strip_prefix(['+', '-']).unwrap_or(trimmed);
        if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
            return trimmed
                .parse()
                .map(Self::Int)
                .map_err(|_| format!("`{text}` is out of range for a 64-bit integer"));
        }
        let is_negative = trimmed.starts_with('-');
        let value = number(digits).ok_or_else(|| format!("`{text}` is not a number"))?;
        Ok(Self::Double(if is_negative { -value } else { value }))
    }
}

/// A number without its sign, as C's `strtod` reads it: decimal, hexadecimal, `inf` or `nan`;
/// `None` for others, and for those that are too large or too small for a double.
fn number(text: &str) -> Option<f64> {
    let lower = text.to_ascii_lowercase();
    if let Some(hexadecimal) = lower.strip_prefix("0x") {
        return hexadecimal_number(hexadecimal);
    }
    if ["inf", "infinity"].contains(&lower.as_str()) {
        return Some(f64::INFINITY);
    }
    let payload = lower.strip_prefix("nan").map(|rest| {
        let inner = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
        rest.is_empty() || inner.is_some_and(|inner| inner.chars().all(continues_name))
    });
    if payload == Some(true) {
        return Some(f64::NAN);
    }
    let is_decimal = lower.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let value: f64 = lower.parse().ok().filter(|_| is_decimal)?;
    let mantissa = lower.split('e').next().unwrap_or_default();
    let is_zero = !mantissa.contains(|c: char| ('1'..='9').contains(&c));
    (value.is_normal() || is_zero).then_some(value)
}

/// `1f.8p-2` without its `0x`: digits, and an exponent of two.
fn hexadecimal_number(text: &str) -> Option<f64> {
    /// Digits that fit into 64 bits.
    const HEX_DIGITS_MAX: usize = 16;
    let (mantissa, exponent) = match text.split_once('p') {
        Some((mantissa, exponent)) => {
            let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            (mantissa, exponent.parse::<i32>().ok().filter(|_| is_number)?)
        }
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let significant = digits.trim_start_matches('0');
    if significant.is_empty() {
        return Some(0.0);
    }
    if significant.len() > HEX_DIGITS_MAX {
        return None;
    }
    let places = i32::try_from(fraction.len()).ok()?.checked_mul(4)?;
    #[expect(clippy::cast_precision_loss, reason = "it rounds as strtod does")]
    let value = u64::from_str_radix(significant, 16).ok()? as f64;
    let value = value * 2f64.powi(exponent.checked_sub(places)?);
    value.is_normal().then_some(value)
}

/// As pgbench's `debug` shows it: the type and the value.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        write_value(&mut text, *self);
        match self {
            Self::Null => f.write_str("null"),
            other => write!(f, "{} {text}", other.kind()),
        }
    }
}

/// Appends a value as pgbench writes it into SQL.
pub fn write_value(out: &mut String, value: Value) {
    match value {
        Value::Null => out.push_str("NULL"),
        Value::Bool(value) => out.push_str(if value { "true" } else { "false" }),
        Value::Int(value) => write_int(out, value),
        Value::Double(value) => write_double(out, value),
    }
}

fn write_int(out: &mut String, value: i64) {
    write!(out, "{value}").expect("writing to a string cannot fail");
}

/// Appends a double with 15 significant digits, as `%.15g` does: no trailing zeros, and an exponent
/// only below 1e-4 and from 1e15.
fn write_double(out: &mut String, value: f64) {
    if !value.is_finite() {
        let sign = if value < 0.0 { "-" } else { "" };
        let text = if value.is_nan() { "NaN" } else { "Infinity" };
        write!(out, "{sign}{text}").expect("writing to a string cannot fail");
        return;
    }
    let scientific = format!("{:.*e}", (DIGITS - 1).unsigned_abs() as usize, value);
    let (mantissa, exponent) = scientific.split_once('e').expect("scientific notation");
    let exponent: i32 = exponent.parse().expect("an exponent is a number");
    if (-4..DIGITS).contains(&exponent) {
        let decimals = (DIGITS - 1 - exponent).unsigned_abs() as usize;
        out.push_str(without_zeros(&format!("{value:.decimals$}")));
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        let (mantissa, exponent) = (without_zeros(mantissa), exponent.unsigned_abs());
        write!(out, "{mantissa}e{sign}{exponent:02}").expect("writing to a string cannot fail");
    }
}

fn without_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// A variable of a script.
#[derive(Debug, Default)]
pub enum Variable {
    /// Not assigned yet.
    #[default]
    Unset,
    /// Assigned by `\set`, or an automatic one.
    Value(Value),
    /// Assigned as text, which an expression converts when it reads it.
    Text(String),
}

/// Copies into the text that is there, which keeps its memory.
impl Clone for Variable {
    fn clone(&self) -> Self {
        match self {
            Self::Unset => Self::Unset,
            Self::Value(value) => Self::Value(*value),
            Self::Text(text) => Self::Text(text.clone()),
        }
    }

    #[inline]
    fn clone_from(&mut self, source: &Self) {
        match (self, source) {
            (Self::Text(text), Self::Text(source)) => text.clone_from(source),
            (target, Self::Value(value)) => *target = Self::Value(*value),
            (target, source) => *target = source.clone(),
        }
    }
}

impl Variable {
    /// Its value in an expression.
    ///
    /// # Errors
    /// When it is not assigned, or its text is not a value; the message lacks the name.
    #[inline]
    pub fn value(&self) -> Result<Value, String> {
        match self {
            Self::Value(value) => Ok(*value),
            Self::Unset => Err("undefined variable".into()),
            Self::Text(text) => Value::parse(text).map_err(|why| format!("malformed value: {why}")),
        }
    }

    /// Appends the text that replaces it in SQL; returns false, and appends nothing, when it is not
    /// assigned.
    pub fn write(&self, out: &mut String) -> bool {
        match self {
            Self::Unset => return false,
            Self::Value(value) => write_value(out, *value),
            Self::Text(text) => out.push_str(text),
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_written_with_fifteen_digits() {
        for (value, text) in [
            (0.0, "0"),
            (15.0, "15"),
            (-0.125, "-0.125"),
            (-0.00032, "-0.00032"),
            (0.1 + 0.2, "0.3"),
            (1e15, "1e+15"),
            (123_456_789_012_345.0, "123456789012345"),
            (1e30, "1e+30"),
            (9_223_372_036_854_775_807.0f64.powi(2), "8.50705917302346e+37"),
            (0.00001, "1e-05"),
            (9.999_999_999_999_999e-5, "0.0001"),
            (f64::NEG_INFINITY, "-Infinity"),
            (f64::NAN, "NaN"),
        ] {
            let mut written = String::new();
            write_double(&mut written, value);
            assert_eq!(written, text);
        }
    }

    #[test]
    fn texts_are_read_as_pgbench_reads_them() {
        for (text, value) in [
            ("null", Value::Null),
            ("t", Value::Bool(true)),
            ("Ye", Value::Bool(true)),
            ("on", Value::Bool(true)),
            ("of", Value::Bool(false)),
            ("n", Value::Bool(false)),
            ("+3", Value::Int(3)),
            (" -7", Value::Int(-7)),
            ("-10.1", Value::Double(-10.1)),
            ("1.0", Value::Double(1.0)),
            ("1e3", Value::Double(1000.0)),
            (".5", Value::Double(0.5)),
            ("5.", Value::Double(5.0)),
            ("0x1F", Value::Double(31.0)),
            ("-0x1F", Value::Double(-31.0)),
            ("0X1p3", Value::Double(8.0)),
            ("0x.8", Value::Double(0.5)),
            ("0x0", Value::Double(0.0)),
            ("inf", Value::Double(f64::INFINITY)),
            ("-Infinity", Value::Double(f64::NEG_INFINITY)),
            ("0.0e-999", Value::Double(0.0)),
        ] {
            assert_eq!(Value::parse(text), Ok(value), "{text}");
        }
        for text in ["nan", "NAN", "-nan", "nan(12)"] {
            let read = Value::parse(text).unwrap();
            assert!(matches!(read, Value::Double(value) if value.is_nan()), "{text}");
        }
        for text in [
            "",
            "o",
            "abc",
            "1a",
            "9223372036854775808",
            "infx",
            "nan(",
            "1e999",
            "1e-400",
            "1e-310",
            "0x",
            "0xg",
            "0x1p",
            "0x1p99999",
            "1 ",
            " ",
            ".",
            "1e",
            "+-5",
            "1_000",
            "e5",
            "1.5.2",
        ] {
            assert!(Value::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn doubles_round_to_even_and_overflow_is_an_error() {
        assert_eq!(Value::Double(2.5).int(), Ok(2));
        assert_eq!(Value::Double(7.3).int(), Ok(7));
        assert_eq!(Value::Double(-9_223_372_036_854_775_808.0).int(), Ok(i64::MIN));
        for value in [f64::NAN, 9.3e18, -9.3e18, f64::INFINITY] {
            assert!(Value::Double(value).int().is_err());
        }
    }
}
