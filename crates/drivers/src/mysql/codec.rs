//! Values on the wire: binary arguments, result rows in binary or as text, and JSON lists. Types
//! and layouts are those of the protocol's "Binary Protocol Value".

use std::fmt;

use triphammer_core::session::ColumnSource;
use triphammer_core::value::{parse_decimal128, write_decimal};
use triphammer_core::{ColumnType, Date, DbError, ErrorClass, Rows, Timestamp, Value};

use super::error::broken;
use super::texts;
use crate::json_list::{exact, read_list};

/// The protocol's types that must be distinguished.
#[expect(missing_docs, reason = "each is what its name says")]
pub mod wire_type {
    pub const TINY: u8 = 1;
    pub const SHORT: u8 = 2;
    pub const LONG: u8 = 3;
    pub const FLOAT: u8 = 4;
    pub const DOUBLE: u8 = 5;
    pub const NULL: u8 = 6;
    pub const TIMESTAMP: u8 = 7;
    pub const LONGLONG: u8 = 8;
    pub const INT24: u8 = 9;
    pub const DATE: u8 = 10;
    pub const TIME: u8 = 11;
    pub const DATETIME: u8 = 12;
    pub const YEAR: u8 = 13;
    pub const JSON: u8 = 245;
    pub const NEWDECIMAL: u8 = 246;
    pub const TINY_BLOB: u8 = 249;
    pub const BLOB: u8 = 252;
    pub const VAR_STRING: u8 = 253;
}
use wire_type as t;

/// Flag of a column whose numbers are unsigned.
pub const UNSIGNED: u16 = 32;

/// Reads a packet from front to back; contains what is left of it.
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    /// Takes the next `count` bytes.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], DbError> {
        let (taken, rest) =
            self.0.split_at_checked(count).ok_or_else(|| broken("a short packet"))?;
        self.0 = rest;
        Ok(taken)
    }

    /// Takes as many bytes as the result has.
    pub fn fixed<const N: usize>(&mut self) -> Result<[u8; N], DbError> {
        let (taken, rest) = self.0.split_first_chunk().ok_or_else(|| broken("a short packet"))?;
        self.0 = rest;
        Ok(*taken)
    }

    /// Takes one byte.
    pub fn byte(&mut self) -> Result<u8, DbError> {
        Ok(self.fixed::<1>()?[0])
    }

    /// Takes a length-encoded integer of one to nine bytes.
    pub fn number(&mut self) -> Result<u64, DbError> {
        Ok(match self.byte()? {
            0xfc => u64::from(u16::from_le_bytes(self.fixed()?)),
            0xfd => {
                let [low, middle, high] = self.fixed()?;
                u64::from(u32::from_le_bytes([low, middle, high, 0]))
            }
            0xfe => u64::from_le_bytes(self.fixed()?),
            short => u64::from(short),
        })
    }

    /// Takes bytes preceded by their length.
    pub fn bytes(&mut self) -> Result<&'a [u8], DbError> {
        let length = self.number()?;
        self.take(usize::try_from(length).map_err(|_| broken("a length"))?)
    }
}

/// How the fields of a column are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnKind {
    /// The type of its values.
    pub wire_type: u8,
    /// Whether its numbers are unsigned.
    pub unsigned: bool,
}

impl ColumnKind {
    /// Reads a column definition.
    ///
    /// # Errors
    /// When it is malformed.
    pub fn read(packet: &[u8]) -> Result<Self, DbError> {
        // Names come first, and the fields of fixed length last: their total length, character set,
        // width, type, flags, digits, and two unused bytes.
        match packet.last_chunk() {
            Some(&[0x0c, _, _, _, _, _, _, wire_type, low, high, _, _, _]) => {
                Ok(Self { wire_type, unsigned: u16::from_le_bytes([low, high]) & UNSIGNED != 0 })
            }
            _ => Err(broken("a column definition")),
        }
    }

    /// The name of a column, from its definition.
    pub fn name_in(packet: &[u8]) -> Result<&str, DbError> {
        let mut rest = Reader(packet);
        // Catalogue, schema, table, and the table's original name precede it.
        for _ in 0..4 {
            rest.bytes()?;
        }
        str::from_utf8(rest.bytes()?).map_err(|_| broken("the name of a column"))
    }

    /// The table and the column that a column is, from its definition; `None` for one that is computed.
    pub fn source_in(packet: &[u8]) -> Result<Option<ColumnSource>, DbError> {
        let mut rest = Reader(packet);
        let mut name = || rest.bytes().map(|name| String::from_utf8_lossy(name).into_owned());
        // Catalogue, schema, and the table's alias.
        for _ in 0..3 {
            name()?;
        }
        let (table, _alias, column) = (name()?, name()?, name()?);
        let is_known = !table.is_empty() && !column.is_empty();
        Ok(is_known.then_some(ColumnSource { table, column }))
    }

    /// Whether its values are integers.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        matches!(self.wire_type, t::TINY | t::SHORT | t::LONG | t::LONGLONG | t::INT24 | t::YEAR)
    }

    /// Whether it may contain a JSON array: JSON itself, and the types that JSON functions and
    /// variables have.
    fn may_be_list(self) -> bool {
        self.wire_type == t::JSON || (t::TINY_BLOB..=t::BLOB).contains(&self.wire_type)
    }
}

/// The error for an argument that does not fit its type.
fn misfit(what: impl fmt::Display, wanted: &str) -> DbError {
    DbError::new(ErrorClass::Other, format!("{what} does not fit a {wanted}"))
}

/// Checks an integer against its declared type, because in some modes servers round what does not
/// fit.
pub fn check_int(value: i64, column: ColumnType) -> Result<i64, DbError> {
    let fits = match column {
        ColumnType::SmallInt => i16::try_from(value).is_ok(),
        ColumnType::Int => i32::try_from(value).is_ok(),
        _ => true,
    };
    let wanted = if column == ColumnType::SmallInt { "16-bit integer" } else { "32-bit integer" };
    if fits { Ok(value) } else { Err(misfit(value, wanted)) }
}

/// The type with which an argument is sent.
pub fn type_of(value: &Value<'_>) -> u8 {
    match value {
        Value::Null => t::NULL,
        Value::Int(_) => t::LONGLONG,
        Value::Float(_) => t::DOUBLE,
        Value::Decimal { .. } | Value::Decimal128 { .. } => t::NEWDECIMAL,
        Value::Timestamp(_) => t::DATETIME,
        Value::Date(_) => t::DATE,
        Value::Text(_) | Value::Ints(_) => t::VAR_STRING,
        Value::Bytes(_) => t::BLOB,
    }
}

/// Writes an argument; NULL is written only in the bitmap.
pub fn put_value(out: &mut Vec<u8>, value: &Value<'_>, column: ColumnType) -> Result<(), DbError> {
    match *value {
        Value::Null => {}
        Value::Int(value) => {
            out.extend_from_slice(&check_int(value, column)?.to_le_bytes());
        }
        Value::Float(value) => out.extend_from_slice(&value.to_le_bytes()),
        Value::Decimal { units, scale } => {
            put_short(out, |out| put_decimal(out, units, scale));
        }
        Value::Decimal128 { units, scale } => {
            let text = decimal128_text(*units, scale);
            put_number(out, text.len() as u64);
            out.extend_from_slice(text.as_bytes());
        }
        Value::Date(date) => put_date(out, date)?,
        Value::Text(text) => {
            put_number(out, text.len() as u64);
            out.extend_from_slice(text.as_bytes());
        }
        Value::Bytes(bytes) => {
            put_number(out, bytes.len() as u64);
            out.extend_from_slice(bytes);
        }
        Value::Timestamp(at) => put_timestamp(out, at)?,
        Value::Ints(list) => put_list(out, list),
    }
    Ok(())
}

/// Writes a length-encoded integer of one to nine bytes.
pub fn put_number(out: &mut Vec<u8>, value: u64) {
    let bytes = value.to_le_bytes();
    match value {
        0..=250 => out.push(bytes[0]),
        251..=0xffff => {
            out.push(0xfc);
            out.extend_from_slice(&bytes[..2]);
        }
        0x1_0000..=0xff_ffff => {
            out.push(0xfd);
            out.extend_from_slice(&bytes[..3]);
        }
        _ => {
            out.push(0xfe);
            out.extend_from_slice(&bytes);
        }
    }
}

/// Writes text of at most 250 bytes, preceded by its length.
fn put_short(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.push(0);
    write(out);
    out[at] = u8::try_from(out.len() - at - 1).expect("a number has few digits");
}

/// Writes an integer as text.
pub fn put_int(out: &mut Vec<u8>, value: i64) {
    put_decimal(out, value, 0);
}

/// Writes a decimal as text with all its digits: `-0.05`.
pub fn put_decimal(out: &mut Vec<u8>, units: i64, scale: u8) {
    let mut digits = [b'0'; 64];
    let mut at = digits.len();
    let mut left = units.unsigned_abs();
    let whole_at = digits.len() - usize::from(scale.min(40));
    while left > 0 || at >= whole_at {
        at -= 1;
        digits[at] = b'0' + u8::try_from(left % 10).expect("a single digit");
        left /= 10;
    }
    if units < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[at..whole_at]);
    if scale > 0 {
        out.push(b'.');
        out.extend_from_slice(&digits[whole_at..]);
    }
}

/// Formats a 128-bit decimal as text. Slow, but rare.
#[cold]
pub fn decimal128_text(units: i128, scale: u8) -> String {
    let mut text = String::new();
    match write_decimal(&mut text, units, scale) {
        Ok(()) => text,
        // No server supports so many digits after the point; it reports the error.
        Err(_) => format!("{units}e-{scale}"),
    }
}

fn put_date(out: &mut Vec<u8>, date: Date) -> Result<(), DbError> {
    let no = || misfit(date, "date of this era");
    let civil = date.civil().ok_or_else(no)?;
    let year = u16::try_from(civil.year()).map_err(|_| no())?;
    out.push(4);
    out.extend_from_slice(&year.to_le_bytes());
    out.extend([civil.month(), civil.day()].map(i8::cast_unsigned));
    Ok(())
}

fn put_timestamp(out: &mut Vec<u8>, at: Timestamp) -> Result<(), DbError> {
    let no = || misfit(at, "date of this era");
    let civil = at.civil().ok_or_else(no)?;
    let year = u16::try_from(civil.year()).map_err(|_| no())?;
    let part = |part: i8| u8::try_from(part).expect("parts of a date have no sign");
    let micros = u32::try_from(civil.subsec_nanosecond() / 1000).expect("under a million");
    out.push(if micros == 0 { 7 } else { 11 });
    out.extend_from_slice(&year.to_le_bytes());
    out.extend(
        [civil.month(), civil.day(), civil.hour(), civil.minute(), civil.second()].map(part),
    );
    if micros != 0 {
        out.extend_from_slice(&micros.to_le_bytes());
    }
    Ok(())
}

/// Writes a list as a JSON array. Its length is not known in advance, so room is left for the
/// widest form.
fn put_list(out: &mut Vec<u8>, list: &[i32]) {
    out.push(0xfe);
    let at = out.len();
    out.extend_from_slice(&[0; 8]);
    out.push(b'[');
    for (place, value) in list.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        put_int(out, i64::from(*value));
    }
    out.push(b']');
    let length = (out.len() - at - 8) as u64;
    out[at..at + 8].copy_from_slice(&length.to_le_bytes());
}

/// Reads a binary row. Text that contains a JSON array becomes a list if `lists` is set.
pub fn read_row(
    rows: &mut Rows,
    packet: &[u8],
    kinds: &[ColumnKind],
    lists: bool,
) -> Result<(), DbError> {
    let mut rest = Reader(packet);
    rest.byte()?;
    let nulls = rest.take((kinds.len() + 9) / 8)?;
    let (as_texts, mut text) = (rows.wants_texts(), Vec::new());
    for (column, kind) in kinds.iter().enumerate() {
        // The first two bits are reserved.
        let bit = column + 2;
        if nulls[bit / 8] & (1 << (bit % 8)) != 0 {
            rows.null();
        } else if as_texts {
            text.clear();
            texts::binary(*kind, &mut rest, &mut text).ok_or_else(|| broken("a field"))?;
            texts::put(rows, *kind, &text);
        } else {
            read_field(rows, &mut rest, *kind, lists)?;
        }
    }
    Ok(())
}

fn read_field(
    rows: &mut Rows,
    rest: &mut Reader<'_>,
    kind: ColumnKind,
    lists: bool,
) -> Result<(), DbError> {
    match (kind.wire_type, kind.unsigned) {
        (t::LONGLONG, false) => rows.int(i64::from_le_bytes(rest.fixed()?)),
        (t::LONGLONG, true) => {
            let value = u64::from_le_bytes(rest.fixed()?);
            match i64::try_from(value) {
                Ok(value) => rows.int(value),
                Err(_) => rows.text(&value.to_string()),
            }
        }
        (t::LONG | t::INT24, false) => rows.int(i32::from_le_bytes(rest.fixed()?).into()),
        (t::LONG | t::INT24, true) => rows.int(u32::from_le_bytes(rest.fixed()?).into()),
        (t::SHORT, false) => rows.int(i16::from_le_bytes(rest.fixed()?).into()),
        (t::SHORT | t::YEAR, _) => rows.int(u16::from_le_bytes(rest.fixed()?).into()),
        (t::TINY, false) => rows.int(i8::from_le_bytes(rest.fixed()?).into()),
        (t::TINY, true) => rows.int(rest.byte()?.into()),
        (t::FLOAT, _) => rows.float(f32::from_le_bytes(rest.fixed()?).into()),
        (t::DOUBLE, _) => rows.float(f64::from_le_bytes(rest.fixed()?)),
        (t::DATE | t::DATETIME | t::TIMESTAMP, _) => {
            read_timestamp(rows, rest, kind.wire_type == t::DATE)?;
        }
        (t::TIME, _) => read_time(rows, rest)?,
        (0 | t::NEWDECIMAL, _) => read_decimal(rows, rest.bytes()?),
        _ => {
            let text = rest.bytes()?;
            if !(lists && kind.may_be_list() && text.first() == Some(&b'[')) {
                rows.text_with(|out| out.extend_from_slice(text));
            } else {
                read_list(rows, text)
                    .ok_or_else(|| broken("a list that is not a JSON array of plain values"))?;
            }
        }
    }
    Ok(())
}

/// Reads a row in text format.
pub fn read_texts(rows: &mut Rows, packet: &[u8], kinds: &[ColumnKind]) -> Result<(), DbError> {
    let mut rest = Reader(packet);
    let mut kinds = kinds.iter();
    while let Some(first) = rest.0.first() {
        let kind = kinds.next().filter(|_| rows.wants_texts());
        if *first == 0xfb {
            rest.byte()?;
            rows.null();
            continue;
        }
        let text = rest.bytes()?;
        match kind {
            Some(kind) => texts::put(rows, *kind, text),
            None => rows.text_with(|out| out.extend_from_slice(text)),
        }
    }
    Ok(())
}

/// Reads a decimal; one with more digits than an integer holds stays text.
fn read_decimal(rows: &mut Rows, text: &[u8]) {
    match exact(text) {
        Some((units, scale)) => rows.decimal(units, scale),
        None => match exact128(text) {
            Some((units, scale)) => rows.decimal128(units, scale),
            None => rows.text_with(|out| out.extend_from_slice(text)),
        },
    }
}

/// Like [`exact`], for 128 bits.
#[cold]
fn exact128(text: &[u8]) -> Option<(i128, u8)> {
    let text = str::from_utf8(text).ok()?;
    let fraction = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let scale = u8::try_from(fraction).ok()?;
    Some((parse_decimal128(text, scale)?, scale))
}

/// Reads a date and time, or a date.
fn read_timestamp(rows: &mut Rows, rest: &mut Reader<'_>, is_date: bool) -> Result<(), DbError> {
    let length = rest.byte()?;
    let mut field = Reader(rest.take(usize::from(length))?);
    if length == 0 {
        rows.text("0000-00-00 00:00:00");
        return Ok(());
    }
    let year = i16::from_le_bytes(field.fixed()?);
    let [month, day] = field.fixed()?.map(|byte: u8| byte.cast_signed());
    let [hour, minute, second] = match field.0.len() {
        0 => [0; 3],
        _ => field.fixed()?.map(|byte: u8| byte.cast_signed()),
    };
    let micros = if field.0.is_empty() { 0 } else { i32::from_le_bytes(field.fixed()?) };
    let civil = micros.checked_mul(1000).and_then(|nanos| {
        jiff::civil::DateTime::new(year, month, day, hour, minute, second, nanos).ok()
    });
    match civil.and_then(|civil| jiff::tz::TimeZone::UTC.to_timestamp(civil).ok()) {
        Some(at) => {
            let at = Timestamp(at.as_microsecond());
            match Date::of(at).filter(|_| is_date) {
                Some(date) => rows.date(date),
                None => rows.timestamp(at),
            }
        }
        // Servers may store dates that no calendar has.
        None => rows.text(&format!(
            "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{micros:06}"
        )),
    }
    Ok(())
}

/// Reads a time span, as text.
fn read_time(rows: &mut Rows, rest: &mut Reader<'_>) -> Result<(), DbError> {
    let length = rest.byte()?;
    let mut field = Reader(rest.take(usize::from(length))?);
    if length == 0 {
        rows.text("00:00:00");
        return Ok(());
    }
    let sign = if field.byte()? == 1 { "-" } else { "" };
    let days = u32::from_le_bytes(field.fixed()?);
    let [hours, minutes, seconds] = field.fixed()?;
    let micros = if field.0.is_empty() { 0 } else { u32::from_le_bytes(field.fixed()?) };
    let hours = u64::from(days) * 24 + u64::from(hours);
    let fraction = if micros == 0 { String::new() } else { format!(".{micros:06}") };
    rows.text(&format!("{sign}{hours:02}:{minutes:02}:{seconds:02}{fraction}"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_are_written_with_all_their_digits() {
        for (units, scale, expected) in [
            (0, 0, "0"),
            (-5, 2, "-0.05"),
            (1234, 2, "12.34"),
            (0, 2, "0.00"),
            (20000, 4, "2.0000"),
            (i64::MIN, 0, "-9223372036854775808"),
            (i64::MAX, 2, "92233720368547758.07"),
        ] {
            assert_eq!(text_of(|out| put_decimal(out, units, scale)), expected);
        }
    }

    #[test]
    fn lengths_take_as_many_bytes_as_they_need() {
        for value in [0, 250, 251, 0xffff, 0x1_0000, 0xff_ffff, 0x100_0000, u64::MAX] {
            let mut out = Vec::new();
            put_number(&mut out, value);
            let mut reader = Reader(&out);
            assert_eq!(reader.number().unwrap(), value);
            assert!(reader.0.is_empty());
        }
    }

    #[test]
    fn decimals_beyond_an_integer_are_kept_and_beyond_two_stay_text() {
        let mut rows = Rows::new();
        rows.reset(1);
        for text in ["-0.05", "12", "99999999999999999999.9", &"9".repeat(40)] {
            read_decimal(&mut rows, text.as_bytes());
        }
        assert_eq!(rows.row(0).decimal(0, 2).unwrap(), -5);
        assert_eq!(rows.row(1).int(0).unwrap(), 12);
        assert_eq!(rows.row(2).decimal128(0, 1).unwrap(), 10_i128.pow(21) - 1);
        assert_eq!(rows.row(3).text(0).unwrap(), "9".repeat(40));
    }

    #[test]
    fn json_arrays_become_lists() {
        let mut rows = Rows::new();
        rows.reset(1);
        let text = r#"[1, -2.50, null, "it's \"so\" \\ \n \u00e4\ud83e\udd80 näh", "", 1.5e3]"#;
        read_list(&mut rows, text.as_bytes()).unwrap();
        let list = rows.row(0).list(0).unwrap();
        assert_eq!(list.len(), 6);
        assert_eq!(list.int(0).unwrap(), 1);
        assert_eq!(list.decimal(1, 2).unwrap(), -250);
        assert!(list.is_null(2));
        assert_eq!(list.text(3).unwrap(), "it's \"so\" \\ \n ä🦀 näh");
        assert_eq!(list.text(4).unwrap(), "");
        assert_eq!(list.float(5).unwrap(), 1500.0);
        for broken in ["[1", "[\"a", "[{}]", "[\"\\u12", "[\"\\ud800x\"]", "["] {
            assert!(read_list(&mut rows, broken.as_bytes()).is_none());
        }
    }

    #[test]
    fn truncated_rows_are_errors_and_no_panics() {
        let kinds = [t::LONGLONG, t::DATETIME, t::NEWDECIMAL, t::VAR_STRING, t::TIME]
            .map(|wire_type| ColumnKind { wire_type, unsigned: false });
        let mut packet = vec![0, 0];
        packet.extend_from_slice(&7i64.to_le_bytes());
        put_timestamp(&mut packet, Timestamp(1)).unwrap();
        packet.extend_from_slice(b"\x0412.5\x03abc\x00");
        let mut rows = Rows::new();
        rows.reset(kinds.len());
        read_row(&mut rows, &packet, &kinds, false).unwrap();
        assert_eq!(rows.row(0).timestamp(1).unwrap(), Timestamp(1));
        for end in 0..packet.len() {
            read_row(&mut rows, &packet[..end], &kinds, false).unwrap_err();
        }
    }
    /// Bytes that no server sends, in fields of every type, with the lengths that times have.
    #[test]
    fn noise_is_an_error_or_a_value_and_no_panic() {
        let mut rng = triphammer_core::Rng::of(1, &[]);
        let mut read = 0;
        let mut rows = Rows::new();
        for round in 0..60_000_u32 {
            let wire_type = u8::try_from(rng.below(256)).unwrap();
            let kind = ColumnKind {
                wire_type: [wire_type, t::TIME, t::DATETIME][round as usize % 3],
                unsigned: rng.percent(50),
            };
            let mut field: Vec<u8> =
                (0..rng.below(24)).map(|_| u8::try_from(rng.below(256)).unwrap()).collect();
            if let Some(length) = field.first_mut().filter(|_| rng.percent(80)) {
                *length = [4, 7, 8, 11, 12][usize::try_from(rng.below(5)).unwrap()];
            }
            rows.reset(1);
            if read_field(&mut rows, &mut Reader(&field), kind, true).is_ok() {
                let row = rows.row(0);
                let _ = (row.int(0), row.decimal(0, 2), row.decimal128(0, 2), row.float(0));
                let _ = (row.date(0).map(|date| date.to_string()), row.text(0).map(str::len));
                let _ = row.timestamp(0).map(|at| at.to_string());
                read += 1;
            }
        }
        assert!(read > 1_000, "{read}");
    }
}
