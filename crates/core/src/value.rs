//! Values that are sent to a database, and the types of columns and parameters. Nothing here owns
//! memory: a transaction's arguments borrow from its input.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Type of a column or a parameter; every database has an equivalent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ColumnType {
    /// 16-bit integer; passed as [`Value::Int`].
    SmallInt,
    /// 32-bit integer; passed as [`Value::Int`].
    Int,
    /// 64-bit integer; passed as [`Value::Int`].
    BigInt,
    /// Double-precision floating point.
    Float,
    /// Exact decimal with this many digits after the point.
    Decimal(u8),
    /// Characters in UTF-8.
    Text,
    /// Date and time without a zone.
    Timestamp,
    /// Calendar date without a time.
    Date,
    /// List of 32-bit integers, for databases that accept a list as one argument.
    IntList,
    /// Parameters only: the value has its own type, and the database decides what it stands for.
    Any,
}

/// An instant without a zone: microseconds since 1970-01-01 00:00:00. TPROC-C uses whole seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Converts whole seconds since 1970-01-01 00:00:00.
    #[must_use]
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds * 1_000_000)
    }

    /// The civil date and time, for databases that store text; `None` outside the years -9999 to
    /// 9999, where PostgreSQL's `infinity` lies.
    #[must_use]
    pub fn civil(self) -> Option<jiff::civil::DateTime> {
        let instant = jiff::Timestamp::from_microsecond(self.0).ok()?;
        Some(jiff::tz::TimeZone::UTC.to_datetime(instant))
    }

    /// Reads `2026-01-01 00:00:00[.ffffff]`, with a space or a `T`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let civil: jiff::civil::DateTime = text.trim().parse().ok()?;
        let zoned = jiff::tz::TimeZone::UTC.to_timestamp(civil).ok()?;
        Some(Self(zoned.as_microsecond()))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(c) = self.civil() else {
            return write!(f, "{} us from 1970-01-01 00:00:00", self.0);
        };
        write!(
            f,
            "{:04}-{:02}-{:02} {:02}:{:02}:{:02}",
            c.year(),
            c.month(),
            c.day(),
            c.hour(),
            c.minute(),
            c.second()
        )?;
        match c.subsec_nanosecond() / 1000 {
            0 => Ok(()),
            micros => write!(f, ".{micros:06}"),
        }
    }
}

/// A date: days since 1970-01-01.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Date(pub i32);

impl Date {
    /// Reads a date such as `2026-01-31`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let civil: jiff::civil::Date = text.trim().parse().ok()?;
        Some(Self(civil.since(EPOCH).ok()?.get_days()))
    }

    /// The date of an instant.
    #[must_use]
    pub fn of(at: Timestamp) -> Option<Self> {
        i32::try_from(at.0.div_euclid(DAY_US)).ok().map(Self)
    }

    /// Midnight of the date; `None` if it is too far away to be counted in microseconds.
    #[must_use]
    pub fn midnight(self) -> Option<Timestamp> {
        i64::from(self.0).checked_mul(DAY_US).map(Timestamp)
    }

    /// The civil date; `None` outside the years -9999 to 9999.
    #[must_use]
    pub fn civil(self) -> Option<jiff::civil::Date> {
        EPOCH.checked_add(jiff::Span::new().try_days(self.0).ok()?).ok()
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.civil() {
            Some(c) => write!(f, "{:04}-{:02}-{:02}", c.year(), c.month(), c.day()),
            None => write!(f, "day {} from 1970-01-01", self.0),
        }
    }
}

/// Day 0: 1970-01-01.
const EPOCH: jiff::civil::Date = jiff::civil::Date::constant(1970, 1, 1);
/// Number of microseconds per day.
const DAY_US: i64 = 86_400_000_000;

/// One argument of a statement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// SQL NULL, of any type.
    Null,
    /// An integer; the driver narrows it to the parameter's [`ColumnType`] and rejects one that
    /// does not fit.
    Int(i64),
    /// Double-precision floating point.
    Float(f64),
    /// An exact decimal: `units` × 10^-`scale`.
    Decimal {
        /// The digits as one integer: 12.34 is 1234 at scale 2.
        units: i64,
        /// Number of digits after the point.
        scale: u8,
    },
    /// An exact decimal of up to 38 digits: `units` × 10^-`scale`. It borrows, so that all values stay
    /// small.
    Decimal128 {
        /// All digits as one integer.
        units: &'a i128,
        /// Digits after the point.
        scale: u8,
    },
    /// Characters in UTF-8.
    Text(&'a str),
    /// Bytes of any kind, for databases that accept them as an argument.
    Bytes(&'a [u8]),
    /// Date and time without a zone.
    Timestamp(Timestamp),
    /// Calendar date without a time.
    Date(Date),
    /// A list of 32-bit integers.
    Ints(&'a [i32]),
}

impl Value<'_> {
    /// A decimal with two digits after the point, such as money.
    #[must_use]
    pub const fn cents(units: i64) -> Self {
        Self::Decimal { units, scale: 2 }
    }
}

impl From<i32> for Value<'_> {
    fn from(value: i32) -> Self {
        Self::Int(i64::from(value))
    }
}

impl From<i64> for Value<'_> {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(value: &'a str) -> Self {
        Self::Text(value)
    }
}

/// Bytes as hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        fmt::Write::write_fmt(&mut digits, format_args!("{byte:02x}"))
            .expect("writing to a string cannot fail");
    }
    digits
}

/// Most digits after the point that 128 bits can hold.
pub const SCALE_MAX: u8 = 38;

/// Writes `units` × 10^-`scale` as text: `-0.05`. The scale is at most [`SCALE_MAX`].
pub fn write_decimal(out: &mut impl fmt::Write, units: impl Into<i128>, scale: u8) -> fmt::Result {
    let units = units.into();
    let sign = if units < 0 { "-" } else { "" };
    let magnitude = units.unsigned_abs();
    if scale == 0 {
        return write!(out, "{sign}{magnitude}");
    }
    let power = 10u128.checked_pow(u32::from(scale)).ok_or(fmt::Error)?;
    write!(
        out,
        "{sign}{}.{:0width$}",
        magnitude / power,
        magnitude % power,
        width = usize::from(scale)
    )
}

/// Converts a decimal to another scale; `None` if digits would be lost or it does not fit.
#[must_use]
#[inline]
pub fn rescale(units: i64, from: u8, to: u8) -> Option<i64> {
    if to >= from {
        units.checked_mul(10i64.checked_pow(u32::from(to - from))?)
    } else {
        let power = 10i64.checked_pow(u32::from(from - to))?;
        (units % power == 0).then_some(units / power)
    }
}

/// Like [`rescale`], for 128 bits.
#[must_use]
pub fn rescale128(units: i128, from: u8, to: u8) -> Option<i128> {
    let power = 10i128.checked_pow(u32::from(to.abs_diff(from)))?;
    if to >= from {
        units.checked_mul(power)
    } else {
        (units % power == 0).then_some(units / power)
    }
}

/// Reads a decimal such as `-12.5` as units at `scale`; `None` when it is not a decimal or has more
/// digits.
#[must_use]
pub fn parse_decimal(text: &str, scale: u8) -> Option<i64> {
    i64::try_from(parse_decimal128(text, scale)?).ok()
}

/// Like [`parse_decimal`], for 128 bits.
#[must_use]
pub fn parse_decimal128(text: &str, scale: u8) -> Option<i128> {
    let text = text.trim();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all_digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
    // Oracle, and ODBC drivers such as that of Microsoft, write no zero before the point.
    let has_digits = !whole.is_empty() || !fraction.is_empty();
    if !has_digits || !all_digits(whole) || !all_digits(fraction) {
        return None;
    }
    let written: i128 = format!("{whole}{fraction}").parse().ok()?;
    let units = rescale128(written, u8::try_from(fraction.len()).ok()?, scale)?;
    Some(if negative { -units } else { units })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_written_with_all_their_digits() {
        for (units, scale, expected) in
            [(-5, 2, "-0.05"), (1234, 2, "12.34"), (7, 0, "7"), (20000, 4, "2.0000")]
        {
            let mut text = String::new();
            write_decimal(&mut text, units, scale).unwrap();
            assert_eq!(text, expected);
        }
    }

    #[test]
    fn decimals_are_read_with_their_sign_and_scale() {
        for (text, expected) in [
            ("-0.05", Some(-5)),
            ("12", Some(1200)),
            ("1.5", Some(150)),
            (".5", Some(50)),
            ("-.05", Some(-5)),
            ("1.234", None),
            ("x", None),
            (".", None),
            ("-.", None),
            ("", None),
        ] {
            assert_eq!(parse_decimal(text, 2), expected, "{text}");
        }
    }

    #[test]
    fn rescaling_refuses_to_lose_digits() {
        assert_eq!(rescale(125, 2, 4), Some(12_500));
        assert_eq!(rescale(12_500, 4, 2), Some(125));
        assert_eq!(rescale(12_501, 4, 2), None);
        assert_eq!(rescale(i64::MAX, 0, 1), None);
    }

    #[test]
    fn decimals_of_128_bits_read_what_they_write() {
        for units in [i128::MAX, i128::MIN + 1, 0, -1, 10_i128.pow(30)] {
            for scale in [0, 2, 19, SCALE_MAX] {
                let mut text = String::new();
                write_decimal(&mut text, units, scale).unwrap();
                assert_eq!(parse_decimal128(&text, scale), Some(units), "{text}");
            }
        }
        assert!(write_decimal(&mut String::new(), 1, 39).is_err());
        assert_eq!(parse_decimal("9223372036854775808", 0), None, "no 64 bits");
        assert_eq!(rescale128(1, 0, 38), Some(10_i128.pow(38)));
        assert_eq!((rescale128(2, 0, 38), rescale128(1, 0, 39)), (None, None));
    }

    #[test]
    fn dates_read_what_they_write() {
        for (text, days) in [
            ("1970-01-01", 0),
            ("1969-12-31", -1),
            ("2024-02-29", 19_782),
            ("0001-01-01", -719_162),
        ] {
            assert_eq!(Date::parse(text), Some(Date(days)));
            assert_eq!(Date(days).to_string(), text);
            assert_eq!(Date::of(Date(days).midnight().unwrap()), Some(Date(days)));
        }
        assert_eq!(Date::of(Timestamp(-1)), Some(Date(-1)));
        assert_eq!(Date::parse("2026-02-30"), None);
        assert_eq!(Date(i32::MAX).to_string(), "day 2147483647 from 1970-01-01");
    }

    #[test]
    fn a_value_takes_three_words() {
        assert_eq!(size_of::<Value<'_>>(), 24);
    }

    #[test]
    fn timestamps_read_what_they_write() {
        for text in ["2026-01-01 00:00:00", "1999-12-31 23:59:59.000001"] {
            assert_eq!(Timestamp::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Timestamp::parse("yesterday"), None);
    }
}
