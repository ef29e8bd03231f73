//! Statements of a script: what they do to a transaction, their placeholders, and their values as text.

use std::fmt::Write as _;

use triphammer_core::Value;
use triphammer_core::sql::{BoundStatement, Param, Placeholder};
use triphammer_core::value::ColumnType;

/// What a statement does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementKind {
    /// Begins a transaction, without options.
    Begin,
    /// Begins a transaction with options, such as READ ONLY.
    BeginWith,
    /// Commits it.
    Commit,
    /// Rolls it back.
    Rollback,
    /// Reads.
    Read,
    /// Changes rows.
    Write,
    /// Anything else: schema, settings.
    Other,
}

/// Statements that mean nothing but the beginning or the end of a transaction.
const PLAIN: [(&[&str], StatementKind); 3] = [
    (&["begin", "begin work", "begin transaction", "start transaction"], StatementKind::Begin),
    (&["commit", "commit work", "commit transaction", "end"], StatementKind::Commit),
    (&["rollback", "rollback work", "rollback transaction", "abort"], StatementKind::Rollback),
];

impl StatementKind {
    /// The kind of a statement.
    pub fn of(sql: &str) -> Self {
        let mut text = sql.trim_start();
        while let Some(comment) = text.strip_prefix("/*") {
            text = comment.split_once("*/").map_or("", |(_, after)| after).trim_start();
        }
        let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
        let is = |word: &&str| text[..end].eq_ignore_ascii_case(word);
        if ["select", "show", "values", "table"].iter().any(&is) {
            return Self::Read;
        }
        if ["insert", "update", "delete", "replace"].iter().any(is) {
            return Self::Write;
        }
        let whole = text.trim_end_matches(|c: char| c == ';' || c.is_whitespace());
        let is_plain = |(texts, _): &&(&[&str], Self)| {
            texts.iter().any(|plain| whole.eq_ignore_ascii_case(plain))
        };
        let words = whole.split_ascii_whitespace().map(str::to_ascii_lowercase).take(2);
        let begins = match words.collect::<Vec<_>>().as_slice() {
            [first, ..] if first == "begin" => true,
            [first, second] => first == "start" && second == "transaction",
            _ => false,
        };
        let other = if begins { Self::BeginWith } else { Self::Other };
        PLAIN.iter().find(is_plain).map_or(other, |(_, kind)| *kind)
    }
}

/// A statement, cut at its placeholders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// One more than placeholders.
    pieces: Vec<String>,
}

impl Template {
    /// Cuts a statement at each `?` outside quotes and comments.
    pub fn new(sql: &str) -> Self {
        let mut pieces = Vec::new();
        let (mut start, mut at) = (0, 0);
        while let Some(next) = sql[at..].find(['?', '\'', '"', '`', '-', '/']) {
            let place = at + next;
            let rest = &sql[place..];
            let skipped = match rest.as_bytes() {
                [b'?', ..] => {
                    pieces.push(sql[start..place].to_owned());
                    start = place + 1;
                    1
                }
                [b'-', b'-', ..] => rest.find('\n').unwrap_or(rest.len()),
                [b'/', b'*', ..] => rest.find("*/").map_or(rest.len(), |end| end + 2),
                [b'-' | b'/', ..] => 1,
                [quote, ..] => rest[1..].find(char::from(*quote)).map_or(rest.len(), |end| end + 2),
                [] => break,
            };
            at = place + skipped;
        }
        pieces.push(sql[start..].to_owned());
        Self { pieces }
    }

    /// Number of placeholders.
    pub fn params(&self) -> usize {
        self.pieces.len() - 1
    }

    /// The statement with the placeholders of a dialect.
    pub fn bound(&self, placeholder: Placeholder) -> BoundStatement {
        let mut sql = String::new();
        for (place, piece) in self.pieces.iter().enumerate() {
            if place > 0 {
                let _ = match placeholder {
                    Placeholder::Dollar => write!(sql, "${place}"),
                    Placeholder::NumberedQuestion => write!(sql, "?{place}"),
                    Placeholder::At => write!(sql, "@p{place}"),
                    Placeholder::Question => write!(sql, "?"),
                };
            }
            sql.push_str(piece);
        }
        let param = |place| Param { name: format!("p{place}").into(), param_type: ColumnType::Any };
        let params = (1..=self.params()).map(param).collect();
        let order = (0..self.params()).collect();
        let name = self.pieces.join("?").split_whitespace().collect::<Vec<_>>().join(" ");
        BoundStatement { name, sql, params, order }
    }

    /// Writes the statement with its values in it. With `backslashes` those are special in strings.
    pub fn write(&self, values: &[Value<'_>], backslashes: bool, out: &mut String) {
        out.clear();
        for (place, piece) in self.pieces.iter().enumerate() {
            if let Some(value) = place.checked_sub(1).and_then(|place| values.get(place)) {
                write_value(value, backslashes, out);
            }
            out.push_str(piece);
        }
    }
}

fn write_value(value: &Value<'_>, backslashes: bool, out: &mut String) {
    let _ = match value {
        Value::Int(value) => write!(out, "{value}"),
        Value::Float(value) => write!(out, "{value}"),
        Value::Text(text) => {
            out.push('\'');
            for c in text.chars() {
                if c == '\'' || c == '\\' && backslashes {
                    out.push(c);
                }
                out.push(c);
            }
            out.push('\'');
            Ok(())
        }
        // Scripts have no others.
        _ => write!(out, "NULL"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_have_a_kind() {
        for (sql, kind) in [
            ("BEGIN", StatementKind::Begin),
            (" start transaction;\n", StatementKind::Begin),
            ("BEGIN ISOLATION LEVEL SERIALIZABLE", StatementKind::BeginWith),
            ("start transaction READ ONLY", StatementKind::BeginWith),
            ("START SLAVE", StatementKind::Other),
            ("Commit", StatementKind::Commit),
            ("ROLLBACK", StatementKind::Rollback),
            ("ROLLBACK TO a", StatementKind::Other),
            ("\n  SELECT 1", StatementKind::Read),
            ("/* x */ select(1)", StatementKind::Read),
            ("INSERT INTO t VALUES (1)", StatementKind::Write),
            ("SET autocommit=0", StatementKind::Other),
            ("CREATE TABLE t (a int)", StatementKind::Other),
            ("", StatementKind::Other),
        ] {
            assert_eq!(StatementKind::of(sql), kind, "{sql}");
        }
    }

    #[test]
    fn placeholders_are_found_outside_of_quotes_and_comments() {
        let template =
            Template::new("SELECT '?', a -- ?\n/* ? */ FROM \"?\" WHERE a=? AND b-1=?/2");
        assert_eq!(template.params(), 2);
        let bound = template.bound(Placeholder::Dollar);
        assert_eq!(bound.sql, "SELECT '?', a -- ?\n/* ? */ FROM \"?\" WHERE a=$1 AND b-1=$2/2");
        assert_eq!(bound.order, [0, 1]);
        let mut text = String::new();
        let values = [Value::Text("it's \\"), Value::Null];
        Template::new("a=? b=?").write(&values, true, &mut text);
        assert_eq!(text, "a='it''s \\\\' b=NULL");
        Template::new("a=? b=?").write(&values, false, &mut text);
        assert_eq!(text, "a='it''s \\' b=NULL");
    }
}
