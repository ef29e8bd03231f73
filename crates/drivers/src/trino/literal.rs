//! Arguments as literals of Trino's SQL. Each has its type, so that a negative number needs no
//! parentheses and no literal is inferred as another type. In a string only the quote is special.

use std::fmt::Write;

use triphammer_core::error::{DbError, ErrorClass};
use triphammer_core::value::{ColumnType, Value, hex, write_decimal};

/// Writes an argument of a declared type.
///
/// # Errors
/// When the value does not fit its type, or has no literal.
pub(super) fn put(out: &mut String, value: Value<'_>, wanted: ColumnType) -> Result<(), DbError> {
    match value {
        Value::Null => out.push_str("NULL"),
        Value::Int(value) => put_int(out, value, wanted)?,
        Value::Float(value) if value.is_nan() => out.push_str("DOUBLE 'NaN'"),
        Value::Float(value) if value.is_infinite() => {
            let sign = if value < 0.0 { "-" } else { "" };
            typed(out, "DOUBLE", format_args!("{sign}Infinity"));
        }
        Value::Float(value) => typed(out, "DOUBLE", format_args!("{value:e}")),
        Value::Decimal { units, scale } => put_decimal(out, units.into(), scale)?,
        Value::Decimal128 { units, scale } => put_decimal(out, *units, scale)?,
        Value::Text(text) => quote(out, text),
        Value::Bytes(bytes) => {
            let _ = write!(out, "X'{}'", hex(bytes));
        }
        Value::Timestamp(at) if at.civil().is_some_and(|civil| civil.year() >= 0) => {
            typed(out, "TIMESTAMP", format_args!("{}", Micros(at)));
        }
        Value::Date(date) if date.civil().is_some_and(|civil| civil.year() >= 0) => {
            typed(out, "DATE", format_args!("{date}"));
        }
        Value::Timestamp(_) | Value::Date(_) => {
            return Err(misfit("a date before year 0 or after 9999 has no literal"));
        }
        Value::Ints(values) => {
            let texts: Vec<String> = values.iter().map(i32::to_string).collect();
            let list = texts.join(",");
            // An array constructor is limited to a few thousand elements.
            let _ = write!(out, "CAST(json_parse('[{list}]') AS array(integer))");
        }
    }
    Ok(())
}

fn put_int(out: &mut String, value: i64, wanted: ColumnType) -> Result<(), DbError> {
    let (name, fits) = match wanted {
        ColumnType::SmallInt => ("SMALLINT", i16::try_from(value).is_ok()),
        ColumnType::Int => ("INTEGER", i32::try_from(value).is_ok()),
        _ => ("BIGINT", true),
    };
    if !fits {
        return Err(misfit(&format!("{value} does not fit {wanted:?}")));
    }
    typed(out, name, format_args!("{value}"));
    Ok(())
}

fn put_decimal(out: &mut String, units: i128, scale: u8) -> Result<(), DbError> {
    out.push_str("DECIMAL '");
    write_decimal(out, units, scale).map_err(|_| misfit("a decimal has more than 38 digits"))?;
    out.push('\'');
    Ok(())
}

fn typed(out: &mut String, name: &str, value: std::fmt::Arguments<'_>) {
    let _ = write!(out, "{name} '{value}'");
}

fn misfit(message: &str) -> DbError {
    DbError::new(ErrorClass::Other, message)
}

/// Writes text as a string literal.
pub(super) fn quote(out: &mut String, text: &str) {
    out.push('\'');
    for part in text.split_inclusive('\'') {
        out.push_str(part);
        if part.ends_with('\'') {
            out.push('\'');
        }
    }
    out.push('\'');
}

/// Writes a name as a quoted identifier.
pub(super) fn quote_identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A timestamp with all of its six digits: the number of digits is the literal's precision.
pub(super) struct Micros(pub triphammer_core::Timestamp);

impl std::fmt::Display for Micros {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = self.0.to_string();
        let rest = if text.contains('.') { "" } else { ".000000" };
        write!(f, "{text}{rest}")
    }
}

#[cfg(test)]
mod tests {
    use triphammer_core::{Date, Timestamp};

    use super::*;

    fn literal(value: Value<'_>, wanted: ColumnType) -> String {
        let mut out = String::new();
        put(&mut out, value, wanted).map_or_else(|error| error.to_string(), |()| out)
    }

    #[test]
    fn values_are_literals_of_their_type() {
        use ColumnType::{BigInt, Float, Int, IntList, SmallInt, Text};
        let large = -10_i128.pow(37);
        let timestamp = |text| Value::Timestamp(Timestamp::parse(text).unwrap());
        for (value, wanted, expected) in [
            (Value::Null, Int, "NULL"),
            (Value::Int(i64::MIN), BigInt, "BIGINT '-9223372036854775808'"),
            (Value::Int(-5), Int, "INTEGER '-5'"),
            (Value::Int(7), SmallInt, "SMALLINT '7'"),
            (Value::Int(40_000), SmallInt, "40000 does not fit SmallInt"),
            (Value::Float(-1.5), Float, "DOUBLE '-1.5e0'"),
            (Value::Float(1e300), Float, "DOUBLE '1e300'"),
            (Value::Float(f64::NAN), Float, "DOUBLE 'NaN'"),
            (Value::Float(f64::NEG_INFINITY), Float, "DOUBLE '-Infinity'"),
            (Value::cents(-5), ColumnType::Decimal(2), "DECIMAL '-0.05'"),
            (
                Value::Decimal128 { units: &large, scale: 10 },
                ColumnType::Decimal(10),
                "DECIMAL '-1000000000000000000000000000.0000000000'",
            ),
            (Value::Text("it's -- ?"), Text, "'it''s -- ?'"),
            (Value::Text("'"), Text, "''''"),
            (Value::Text(""), Text, "''"),
            (Value::Text("a\\'b"), Text, "'a\\''b'"),
            (
                timestamp("2024-02-29 23:59:59"),
                ColumnType::Timestamp,
                "TIMESTAMP '2024-02-29 23:59:59.000000'",
            ),
            (
                timestamp("1999-12-31 23:59:59.000001"),
                ColumnType::Timestamp,
                "TIMESTAMP '1999-12-31 23:59:59.000001'",
            ),
            (Value::Date(Date(0)), ColumnType::Date, "DATE '1970-01-01'"),
            (
                Value::Date(Date(i32::MAX)),
                ColumnType::Date,
                "a date before year 0 or after 9999 has no literal",
            ),
            (Value::Ints(&[1, -2]), IntList, "CAST(json_parse('[1,-2]') AS array(integer))"),
        ] {
            assert_eq!(literal(value, wanted), expected);
        }
        assert_eq!(quote_identifier("a\"b"), "\"a\"\"b\"");
    }
}
