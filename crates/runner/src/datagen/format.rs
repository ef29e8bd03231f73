//! The formats of the files, and their lines.

use std::fmt;
use std::io::{self, Write};

use triphammer_core::rows::{Cell, Row};
use triphammer_core::value::{Date, write_decimal};

/// The forms of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// As `dbgen` writes them: each field ends with `|`, NULL is empty.
    Tbl,
    /// Comma-separated by RFC 4180, the first line with the names of the columns, NULL empty without quotes.
    Csv,
    /// Parquet, compressed with Snappy.
    #[cfg(feature = "parquet")]
    Parquet,
}

impl FileFormat {
    /// Every format with the word that settings take, which ends the files' names too, and its meaning.
    pub const ALL: &[(Self, &'static str, &'static str)] = &[
        (Self::Tbl, "tbl", "fields that end with |, as dbgen writes them"),
        (Self::Csv, "csv", "comma-separated, with a line of names"),
        #[cfg(feature = "parquet")]
        (Self::Parquet, "parquet", "columns, compressed with Snappy"),
    ];

    pub(super) fn word(self) -> &'static str {
        Self::ALL.iter().find(|(format, ..)| *format == self).expect("ALL has every format").1
    }

    /// Reads the word of a format.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|(_, word, _)| *word == text.trim());
        found.map(|(format, ..)| *format).ok_or_else(|| {
            if text.trim() == "parquet" {
                return "this program was built without Parquet; build it with `cargo build --release --features \
                        parquet`, or use tbl or csv"
                    .to_owned();
            }
            let words = Self::ALL.iter().map(|(_, word, _)| *word).collect::<Vec<_>>().join(" or ");
            format!("unknown format `{text}`: expected {words}")
        })
    }

    /// Appends a row with the end of its line, in a format of lines.
    pub(super) fn put(self, out: &mut Vec<u8>, row: Row<'_>) -> io::Result<()> {
        for column in 0..row.len() {
            match self {
                Self::Tbl => {
                    put(out, row, column)?;
                    out.push(b'|');
                }
                _ => {
                    if column > 0 {
                        out.push(b',');
                    }
                    let start = out.len();
                    put(out, row, column)?;
                    quote(out, start, row.is_null(column));
                }
            }
        }
        out.push(b'\n');
        Ok(())
    }
}

/// Appends a field as text; nothing for NULL.
fn put(out: &mut Vec<u8>, row: Row<'_>, column: usize) -> io::Result<()> {
    match row.cell(column) {
        Cell::Null => Ok(()),
        Cell::Int(value) => write!(out, "{value}"),
        Cell::Decimal { units, scale } => {
            write_decimal(&mut Text(out), units, scale).map_err(io::Error::other)
        }
        Cell::Date(date) => put_date(out, date),
        Cell::Timestamp(at) => write!(out, "{at}"),
        Cell::Text(_) => {
            let text = row.text(column).map_err(|error| io::Error::other(error.to_string()))?;
            out.write_all(text.as_bytes())
        }
        Cell::Float(_) | Cell::Decimal128 { .. } | Cell::List(_) => {
            Err(io::Error::other(format!("column {column} cannot be written to a text file")))
        }
    }
}

/// Bytes that text is written to.
struct Text<'a>(&'a mut Vec<u8>);

impl fmt::Write for Text<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

/// Appends `1995-03-11`, which dates of three columns make worth more than their `Display`.
fn put_date(out: &mut Vec<u8>, date: Date) -> io::Result<()> {
    let Some(civil) = date.civil() else { return write!(out, "{date}") };
    let (year, month, day) = (civil.year().unsigned_abs(), civil.month(), civil.day());
    let digit = |n: u16| b'0' + u8::try_from(n % 10).unwrap_or_default();
    out.extend([digit(year / 1000), digit(year / 100), digit(year / 10), digit(year), b'-']);
    for (number, end) in [(month, Some(b'-')), (day, None)] {
        let number = u16::from(number.unsigned_abs());
        out.extend([digit(number / 10), digit(number)].into_iter().chain(end));
    }
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
    use triphammer_core::Rows;

    use super::*;

    fn line(format: FileFormat, put: impl Fn(&mut Rows)) -> String {
        let mut rows = Rows::new();
        rows.reset(4);
        put(&mut rows);
        let mut out = Vec::new();
        format.put(&mut out, rows.row(0)).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn fields_are_written_as_each_format_has_them() {
        let row = |rows: &mut Rows| {
            rows.int(-7);
            rows.decimal(-5, 2);
            rows.date(Date::parse("1995-03-11").unwrap());
            rows.null();
        };
        assert_eq!(line(FileFormat::Tbl, row), "-7|-0.05|1995-03-11||\n");
        assert_eq!(line(FileFormat::Csv, row), "-7,-0.05,1995-03-11,\n");
        let texts = |rows: &mut Rows| {
            ["a, b", "a \"b\"", "", "plain"].into_iter().for_each(|text| rows.text(text));
        };
        assert_eq!(line(FileFormat::Csv, texts), "\"a, b\",\"a \"\"b\"\"\",\"\",plain\n");
        assert_eq!(line(FileFormat::Tbl, texts), "a, b|a \"b\"||plain|\n");
    }
}
