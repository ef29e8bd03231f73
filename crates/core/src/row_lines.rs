//! Rows as lines of text files: fields that end with `|`, as dbgen writes them, and CSV.

use std::fmt;
use std::io::{self, Write};

use crate::rows::{Cell, Row};
use crate::value::{Date, write_decimal};

/// Appends a row as dbgen writes it, with the end of its line: each field ends with `|`, NULL is empty.
///
/// # Errors
/// When a column has a type that such files do not have.
pub fn put_tbl(out: &mut Vec<u8>, row: Row<'_>) -> io::Result<()> {
    for column in 0..row.len() {
        put(out, row, column)?;
        out.push(b'|');
    }
    out.push(b'\n');
    Ok(())
}

/// Appends a row as CSV by RFC 4180, with the end of its line: an empty text is quoted, NULL is empty.
///
/// # Errors
/// When a column has a type that such files do not have.
pub fn put_csv(out: &mut Vec<u8>, row: Row<'_>) -> io::Result<()> {
    for column in 0..row.len() {
        if column > 0 {
            out.push(b',');
        }
        let start = out.len();
        put(out, row, column)?;
        quote(out, start, row.is_null(column));
    }
    out.push(b'\n');
    Ok(())
}

/// Appends a field as text; nothing for NULL.
fn put(out: &mut Vec<u8>, row: Row<'_>, column: usize) -> io::Result<()> {
    match row.cell(column) {
        Cell::Null => Ok(()),
        Cell::Int(value) => put_number(out, value, 0),
        Cell::Decimal { units, scale } => put_number(out, units, scale),
        Cell::Date(date) => put_date(out, date),
        Cell::Timestamp(at) => write!(out, "{at}"),
        Cell::Text(span) => {
            out.extend_from_slice(row.text_bytes(span));
            Ok(())
        }
        Cell::Float(_) | Cell::Decimal128 { .. } | Cell::List(_) => {
            Err(io::Error::other(format!("column {column} cannot be written to a text file")))
        }
    }
}

/// Most digits of a number.
const DIGITS_MAX: usize = 20;
/// Largest scale that [`put_number`] writes itself.
const SCALE_MAX: u8 = 18;
/// The numbers from 00 to 99.
const PAIRS: [[u8; 2]; 100] = {
    let (mut pairs, mut number) = ([[0; 2]; 100], 0);
    while number < 100 {
        pairs[number as usize] = [b'0' + number / 10, b'0' + number % 10];
        number += 1;
    }
    pairs
};

/// Appends `units` × 10^-`scale`. Numbers are most of the fields, and formatting them with `write!` takes longer than
/// generating them.
fn put_number(out: &mut Vec<u8>, units: i64, scale: u8) -> io::Result<()> {
    if scale > SCALE_MAX {
        return write_decimal(&mut Text(out), units, scale).map_err(io::Error::other);
    }
    if units < 0 {
        out.push(b'-');
    }
    let units = units.unsigned_abs();
    match scale {
        0 => put_digits(out, units),
        2 => {
            put_digits(out, units / 100);
            let [tens, ones] = pair(units % 100);
            out.extend_from_slice(&[b'.', tens, ones]);
        }
        _ => {
            let one = 10_u64.pow(scale.into());
            put_digits(out, units / one);
            out.push(b'.');
            let (start, fraction) = (out.len(), units % one);
            // A digit before it keeps its zeros.
            put_digits(out, one + fraction);
            out.remove(start);
        }
    }
    Ok(())
}

/// Appends a number without a sign.
fn put_digits(out: &mut Vec<u8>, number: u64) {
    // The digits end in the middle, so that a fixed number of bytes from the first one on can be copied.
    let mut text = [0; 2 * DIGITS_MAX];
    let (mut rest, mut start) = (number, DIGITS_MAX);
    while rest >= 100 {
        start -= 2;
        text[start..start + 2].copy_from_slice(&pair(rest % 100));
        rest /= 100;
    }
    let [tens, ones] = pair(rest);
    start -= 1;
    text[start] = ones;
    if rest >= 10 {
        start -= 1;
        text[start] = tens;
    }
    out.extend_from_slice(&text[start..start + DIGITS_MAX]);
    out.truncate(out.len() - start);
}

/// The two digits of a number below 100.
fn pair(number: u64) -> [u8; 2] {
    PAIRS[usize::try_from(number).unwrap_or_default() % PAIRS.len()]
}

/// Bytes that text is written to.
struct Text<'a>(&'a mut Vec<u8>);

impl fmt::Write for Text<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

/// Days from 0000-03-01 to 1970-01-01.
const EPOCH_DAYS: i64 = 719_468;
/// Days of 400, 100 and 4 years, without the leap day at the end of the last two.
const DAYS_400: u64 = 146_097;
const DAYS_100: u64 = 36_524;
const DAYS_4: u64 = 1_460;

/// Appends `1995-03-11`.
fn put_date(out: &mut Vec<u8>, date: Date) -> io::Result<()> {
    let Ok(days) = u64::try_from(i64::from(date.0) + EPOCH_DAYS) else {
        return write!(out, "{date}");
    };
    // Years begin in March, so that a leap day is the last of its year.
    let (cycle, day) = (days / DAYS_400, days % DAYS_400);
    let year = (day - day / DAYS_4 + day / DAYS_100 - day / (DAYS_400 - 1)) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, after) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = 400 * cycle + year + after;
    if year > 9_999 {
        return write!(out, "{date}");
    }
    let ([a, b], [c, d]) = (pair(year / 100), pair(year % 100));
    let ([e, f], [g, h]) = (pair(month), pair(day));
    out.extend_from_slice(&[a, b, c, d, b'-', e, f, b'-', g, h]);
    Ok(())
}

/// Puts what was written from `start` on into quotes, where it needs them: an empty text does, NULL does not.
fn quote(out: &mut Vec<u8>, start: usize, is_null: bool) {
    let field = &out[start..];
    let special = |byte: &u8| matches!(byte, b',' | b'"' | b'\n' | b'\r');
    if is_null || (!field.is_empty() && !field.iter().any(special)) {
        return;
    }
    let field = out.split_off(start);
    out.push(b'"');
    for byte in field {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rows;

    type Format = fn(&mut Vec<u8>, Row<'_>) -> io::Result<()>;

    fn line(format: Format, put: impl Fn(&mut Rows)) -> String {
        let mut rows = Rows::new();
        rows.reset(4);
        put(&mut rows);
        let mut out = Vec::new();
        format(&mut out, rows.row(0)).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_and_dates_are_those_that_are_displayed() {
        let text = |put: &dyn Fn(&mut Vec<u8>)| {
            let mut out = Vec::new();
            put(&mut out);
            String::from_utf8(out).unwrap()
        };
        for units in [0, 7, -7, 10, 99, -100, 12_345, i64::MAX, i64::MIN] {
            for scale in [0, 1, 2, 3, 18, 19] {
                let mut expected = String::new();
                write_decimal(&mut expected, units, scale).unwrap();
                assert_eq!(text(&|out| put_number(out, units, scale).unwrap()), expected);
            }
        }
        let all = (-720_000..2_940_000).step_by(13).chain(0..11_000).chain([i32::MIN, i32::MAX]);
        for date in all.map(Date) {
            assert_eq!(text(&|out| put_date(out, date).unwrap()), date.to_string());
        }
    }

    #[test]
    fn fields_are_written_as_each_format_has_them() {
        let row = |rows: &mut Rows| {
            rows.int(-7);
            rows.decimal(-5, 2);
            rows.date(Date::parse("1995-03-11").unwrap());
            rows.null();
        };
        assert_eq!(line(put_tbl, row), "-7|-0.05|1995-03-11||\n");
        assert_eq!(line(put_csv, row), "-7,-0.05,1995-03-11,\n");
        let texts = |rows: &mut Rows| {
            ["a, b", "a \"b\"", "", "plain"].into_iter().for_each(|text| rows.text(text));
        };
        assert_eq!(line(put_csv, texts), "\"a, b\",\"a \"\"b\"\"\",\"\",plain\n");
        assert_eq!(line(put_tbl, texts), "a, b|a \"b\"||plain|\n");
    }
}
