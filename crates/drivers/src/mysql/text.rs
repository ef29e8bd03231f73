//! Statements that the server cannot prepare: they are sent as texts with their values in them.

use std::fmt::Write as _;

use triphammer_core::sql::BoundStatement;
use triphammer_core::value::hex;
use triphammer_core::{DbError, ErrorClass, Value};

use super::codec::{decimal128_text, put_decimal};
use super::quote::quote_literal;

/// Numbers of errors that say so: "not supported in the prepared statement protocol yet", and from
/// MySQL 9 "dynamic parameters can only be used in DML statements".
pub(super) const UNPREPARABLE: [&str; 2] = ["1295", "6413"];

/// A statement split at its placeholders.
pub(super) struct Template(Vec<Box<str>>);

impl Template {
    /// Splits a statement at each `?` that is not in a string, a quoted name or a comment.
    pub(super) fn new(statement: &BoundStatement) -> Self {
        let (sql, mut pieces, mut from, mut at) = (statement.sql.as_str(), Vec::new(), 0, 0);
        while let Some(first) = sql[at..].chars().next() {
            let rest = &sql[at..];
            at += match first {
                '?' => {
                    pieces.push(sql[from..at].into());
                    from = at + 1;
                    1
                }
                quote @ ('\'' | '"' | '`') => {
                    rest[1..].find(quote).map_or(rest.len(), |end| end + 2)
                }
                '#' => rest.find('\n').unwrap_or(rest.len()),
                '-' if rest.starts_with("-- ") => rest.find('\n').unwrap_or(rest.len()),
                '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
                other => other.len_utf8(),
            };
        }
        pieces.push(sql[from..].into());
        Self(pieces)
    }

    /// Number of placeholders.
    pub(super) fn placeholders(&self) -> usize {
        self.0.len() - 1
    }

    /// The text with these values.
    pub(super) fn fill<'a>(
        &self,
        mut values: impl Iterator<Item = &'a Value<'a>>,
    ) -> Result<String, DbError> {
        let mut text = String::new();
        for (at, piece) in self.0.iter().enumerate() {
            if at > 0 {
                let value = values.next().expect("as many values as placeholders");
                put_literal(&mut text, value)?;
            }
            text.push_str(piece);
        }
        Ok(text)
    }
}

fn put_literal(out: &mut String, value: &Value<'_>) -> Result<(), DbError> {
    let written = match value {
        Value::Null => write!(out, "NULL"),
        Value::Int(value) => write!(out, "{value}"),
        Value::Float(value) => write!(out, "{value:e}"),
        Value::Decimal { units, scale } => {
            let mut digits = Vec::new();
            put_decimal(&mut digits, *units, *scale);
            out.push_str(&String::from_utf8_lossy(&digits));
            Ok(())
        }
        Value::Decimal128 { units, scale } => write!(out, "{}", decimal128_text(**units, *scale)),
        Value::Text(text) => write!(out, "{}", quote_literal(text)),
        Value::Bytes(bytes) => write!(out, "x'{}'", hex(bytes)),
        Value::Timestamp(at) => write!(out, "'{at}'"),
        Value::Date(date) => write!(out, "'{date}'"),
        Value::Ints(_) => {
            let message = "a list cannot be passed to a statement that the server cannot prepare";
            return Err(DbError::new(ErrorClass::Unsupported, message));
        }
    };
    written.map_err(|_| DbError::new(ErrorClass::Other, "writing an argument failed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(sql: &str) -> Template {
        let (name, sql) = ("s".to_owned(), sql.to_owned());
        Template::new(&BoundStatement { name, sql, params: Vec::new(), order: Vec::new() })
    }

    #[test]
    fn values_are_written_where_the_placeholders_are() {
        let kill = template("KILL ?");
        assert_eq!(kill.placeholders(), 1);
        assert_eq!(kill.fill([Value::Int(7)].iter()).unwrap(), "KILL 7");
        let sql = "SET @a = ?, @b = '?' /* ? */, `c?` = ? -- ?\n";
        let bytes = template("SELECT ?").fill([Value::Bytes(b"\xff'")].iter());
        assert_eq!(bytes.unwrap(), "SELECT x'ff27'");
        let values = [Value::Text("it's"), Value::Decimal { units: -5, scale: 2 }];
        let filled = template(sql).fill(values.iter()).unwrap();
        assert_eq!(filled, "SET @a = 'it''s', @b = '?' /* ? */, `c?` = -0.05 -- ?\n");
        assert_eq!(template("it '").placeholders(), 0);
    }
}
