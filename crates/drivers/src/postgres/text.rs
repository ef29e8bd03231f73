//! The simple protocol: sends statements as one text with the values in it, and reads results as
//! text.

use std::fmt::{self, Write as _};

use triphammer_core::sql::BoundStatement;
use triphammer_core::value::write_decimal;
use triphammer_core::{ColumnType, DbError, ErrorClass, Rows, Value};

use super::codec::bytea;
use crate::arguments::wrong_count;

/// A statement split at its placeholders.
#[derive(Debug)]
pub struct Template {
    /// Text before each placeholder, with the index of its argument and its type.
    pieces: Vec<(String, usize, ColumnType)>,
    /// Text after the last placeholder.
    tail: String,
    /// Number of arguments that the statement takes.
    params: usize,
}

impl Template {
    /// Splits a statement at each `$n` that is not in a string, a quoted name, a comment or a
    /// dollar-quoted body.
    ///
    /// # Errors
    /// When a number has no parameter.
    pub fn new(statement: &BoundStatement) -> Result<Self, DbError> {
        let sql = statement.sql.as_str();
        let mut pieces = Vec::new();
        let mut piece = String::new();
        let mut at = 0;
        while at < sql.len() {
            let rest = &sql[at..];
            let skipped = match rest.as_bytes()[0] {
                b'$' => match digits(&rest[1..]) {
                    "" => dollar_quoted(rest),
                    number if !ends_in_word(&sql[..at]) => {
                        let index = number.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
                        let param = index.and_then(|index| statement.params.get(index));
                        let (Some(index), Some(param)) = (index, param) else {
                            let message = format!(
                                "`{}` uses ${number}, which has no parameter",
                                statement.name
                            );
                            return Err(DbError::new(ErrorClass::Unsupported, message));
                        };
                        pieces.push((std::mem::take(&mut piece), index, param.param_type));
                        at += 1 + number.len();
                        continue;
                    }
                    _ => 1,
                },
                quote @ (b'\'' | b'"') => quoted(rest, quote, is_escape_string(&sql[..at])),
                b'-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
                b'/' if rest.starts_with("/*") => block_comment(rest),
                _ => rest.chars().next().map_or(1, char::len_utf8),
            };
            piece.push_str(&rest[..skipped]);
            at += skipped;
        }
        Ok(Self { pieces, tail: piece, params: statement.params.len() })
    }

    /// Writes the statement with its arguments into `out`, which is emptied first.
    ///
    /// # Errors
    /// When an argument does not fit its parameter.
    pub fn fill(&self, args: &[Value<'_>], out: &mut String) -> Result<(), DbError> {
        if args.len() != self.params {
            return Err(wrong_count(self.params, args.len()));
        }
        out.clear();
        for (text, index, param_type) in &self.pieces {
            out.push_str(text);
            write_literal(out, &args[*index], *param_type)?;
        }
        out.push_str(&self.tail);
        Ok(())
    }
}

fn digits(text: &str) -> &str {
    &text[..text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len())]
}

fn ends_in_word(text: &str) -> bool {
    text.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '$'))
}

/// Whether a quote after `before` begins an `E'…'` string.
fn is_escape_string(before: &str) -> bool {
    before.strip_suffix(['E', 'e']).is_some_and(|rest| !ends_in_word(rest))
}

/// Length of a quoted piece; a doubled quote is read as two pieces, with the same result.
fn quoted(text: &str, quote: u8, escapes: bool) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if escapes && quote == b'\'' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// Length of `$tag$ … $tag$`, or 1 if this dollar does not begin one.
fn dollar_quoted(text: &str) -> usize {
    let Some(end) = text[1..].find('$') else { return 1 };
    let tag = &text[..end + 2];
    let is_tag = tag[1..=end].chars().all(|c| c.is_alphanumeric() || c == '_');
    if !is_tag {
        return 1;
    }
    text[tag.len()..].find(tag).map_or(text.len(), |close| close + 2 * tag.len())
}

/// Length of a block comment, which may be nested.
fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0usize, 0);
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        if rest.starts_with(b"/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if rest.starts_with(b"*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    text.len()
}

fn type_name(param_type: ColumnType) -> &'static str {
    match param_type {
        ColumnType::SmallInt => "int2",
        ColumnType::Int => "int4",
        ColumnType::BigInt => "int8",
        ColumnType::Float => "float8",
        ColumnType::Decimal(_) => "numeric",
        ColumnType::Text => "text",
        ColumnType::Timestamp => "timestamp",
        ColumnType::Date => "date",
        ColumnType::IntList => "int4[]",
        ColumnType::Any => "unknown",
    }
}

/// Writes an argument as a literal of its parameter's type.
fn write_literal(out: &mut String, arg: &Value<'_>, ty: ColumnType) -> Result<(), DbError> {
    let name = type_name(ty);
    check_fit(arg, ty)?;
    let written = match arg {
        Value::Null => write!(out, "(NULL::{name})"),
        // The server reads a bare number of this size as int4 anyway.
        Value::Int(value) if ty == ColumnType::Int && *value >= 0 => write!(out, "{value}"),
        Value::Int(value) => write!(out, "('{value}'::{name})"),
        Value::Float(value) if value.is_nan() => write!(out, "('NaN'::{name})"),
        Value::Float(value) if value.is_infinite() => {
            write!(out, "('{}Infinity'::{name})", if *value < 0.0 { "-" } else { "" })
        }
        Value::Float(value) => write!(out, "('{value:e}'::{name})"),
        Value::Decimal { units, scale } => {
            write_decimal_literal(out, (*units).into(), *scale, name)
        }
        Value::Decimal128 { units, scale } => write_decimal_literal(out, **units, *scale, name),
        Value::Date(date) => write!(out, "('{date}'::{name})"),
        Value::Text(text) => write_string(out, text, name)?,
        Value::Bytes(bytes) => write_string(out, &bytea(bytes), name)?,
        Value::Timestamp(at) => write!(out, "('{at}'::{name})"),
        Value::Ints(list) => write_list(out, list, name),
    };
    written.map_err(|_| DbError::new(ErrorClass::Other, "writing an argument failed"))
}

fn write_decimal_literal(out: &mut String, units: i128, scale: u8, name: &str) -> fmt::Result {
    // A decimal without a fraction may be passed to an integer parameter, which accepts no
    // fraction.
    let (units, scale) = match triphammer_core::value::rescale128(units, scale, 0) {
        Some(whole) if name.starts_with("int") => (whole, 0),
        _ => (units, scale),
    };
    out.push_str("('");
    write_decimal(out, units, scale)?;
    write!(out, "'::{name})")
}

fn write_list(out: &mut String, list: &[i32], name: &str) -> fmt::Result {
    out.push_str("('{");
    for (index, value) in list.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        write!(out, "{comma}{value}")?;
    }
    write!(out, "}}'::{name})")
}

/// Writes a string so that it is read the same whatever `standard_conforming_strings` is.
fn write_string(out: &mut String, text: &str, name: &str) -> Result<fmt::Result, DbError> {
    if text.contains('\0') {
        return Err(DbError::new(ErrorClass::Other, "text must not contain a zero byte"));
    }
    let escapes = text.contains('\\');
    out.push_str(if escapes { "(E'" } else { "('" });
    for c in text.chars() {
        if c == '\'' || c == '\\' {
            out.push(c);
        }
        out.push(c);
    }
    Ok(write!(out, "'::{name})"))
}

/// Rejects what the binary protocol would reject.
fn check_fit(arg: &Value<'_>, ty: ColumnType) -> Result<(), DbError> {
    use ColumnType as C;
    let whole = |value: i64| match ty {
        C::SmallInt => i16::try_from(value).is_ok(),
        C::Int => i32::try_from(value).is_ok(),
        C::BigInt | C::Float | C::Decimal(_) | C::Any => true,
        C::Text | C::Timestamp | C::Date | C::IntList => false,
    };
    let fits = match arg {
        Value::Null => true,
        Value::Int(value) => whole(*value),
        Value::Float(_) => matches!(ty, C::Float | C::Any),
        Value::Decimal { units, scale } => match ty {
            C::Decimal(_) | C::Float | C::Any => true,
            _ => triphammer_core::value::rescale(*units, *scale, 0).is_some_and(whole),
        },
        Value::Decimal128 { units, scale } => match ty {
            C::Decimal(_) | C::Float | C::Any => true,
            _ => triphammer_core::value::rescale128(**units, *scale, 0)
                .and_then(|units| i64::try_from(units).ok())
                .is_some_and(whole),
        },
        Value::Date(_) => matches!(ty, C::Date | C::Any),
        Value::Text(_) | Value::Bytes(_) => matches!(ty, C::Text | C::Any),
        Value::Timestamp(_) => matches!(ty, C::Timestamp | C::Any),
        Value::Ints(_) => ty == C::IntList,
    };
    if fits {
        return Ok(());
    }
    let what = match arg {
        Value::Text(_) => "text".to_owned(),
        Value::Bytes(_) => "bytes".to_owned(),
        Value::Ints(_) => "a list".to_owned(),
        Value::Int(value) => value.to_string(),
        other => format!("{other:?}"),
    };
    Err(DbError::new(ErrorClass::Other, format!("{what} does not fit {}", type_name(ty))))
}

/// Appends a field in text format; with `lists`, one of the form `{…}` becomes a list of texts.
pub fn read_field(rows: &mut Rows, field: Option<&str>, lists: bool) {
    match field {
        None => rows.null(),
        Some(text) if lists && is_array(text) => rows.list(|list| read_elements(list, text)),
        Some(text) => rows.text(text),
    }
}

/// One step through the text of an array.
enum Element<'a> {
    /// An element in quotes, still with its escapes.
    Quoted(&'a str),
    /// An element without quotes.
    Bare(&'a str),
}

/// Splits off the first element of `a,b}` or `"a",b}`; returns it, the separator and the rest.
fn next_element(text: &str) -> Option<(Element<'_>, u8, &str)> {
    let (element, after) = if text.starts_with('"') {
        let end = quoted_end(text)?;
        (Element::Quoted(&text[1..end - 1]), end)
    } else {
        let end = text.find([',', '}', '"', '{'])?;
        (Element::Bare(&text[..end]), end)
    };
    let separator = *text.as_bytes().get(after)?;
    matches!(separator, b',' | b'}').then(|| (element, separator, &text[after + 1..]))
}

/// Length of `"…"` with backslash escapes.
fn quoted_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}

/// Whether text is an array of one dimension, from its first brace to its last.
fn is_array(text: &str) -> bool {
    let Some(mut rest) = text.strip_prefix('{') else { return false };
    if rest == "}" {
        return true;
    }
    while let Some((element, separator, after)) = next_element(rest) {
        if matches!(element, Element::Bare("")) {
            return false;
        }
        if separator == b'}' {
            return after.is_empty();
        }
        rest = after;
    }
    false
}

fn read_elements(list: &mut Rows, text: &str) {
    let mut rest = &text[1..];
    while let Some((element, separator, after)) = next_element(rest) {
        match element {
            Element::Bare("") => {}
            Element::Bare(word) if word.eq_ignore_ascii_case("null") => list.null(),
            Element::Bare(word) => list.text(word),
            Element::Quoted(inner) => list.text_with(|out| {
                let mut bytes = inner.bytes();
                while let Some(byte) = bytes.next() {
                    out.push(if byte == b'\\' { bytes.next().unwrap_or(byte) } else { byte });
                }
            }),
        }
        if separator == b'}' {
            return;
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use triphammer_core::Timestamp;
    use triphammer_core::sql::param;

    fn fill(sql: &str, types: &[ColumnType], args: &[Value<'_>]) -> Result<String, String> {
        let statement = BoundStatement {
            name: "s".into(),
            sql: sql.into(),
            params: types.iter().map(|ty| param("p", *ty)).collect(),
            order: (0..types.len()).collect(),
        };
        let mut out = String::from("left over");
        Template::new(&statement)
            .and_then(|template| template.fill(args, &mut out))
            .map_err(|error| error.to_string())?;
        Ok(out)
    }

    #[test]
    fn values_are_written_as_literals_of_their_type() {
        use ColumnType as C;
        let at = Timestamp::parse("2026-01-02 03:04:05").unwrap();
        for (ty, value, expected) in [
            (C::Int, Value::Int(5), "5"),
            (C::Int, Value::Int(-5), "('-5'::int4)"),
            (C::SmallInt, Value::Int(5), "('5'::int2)"),
            (C::BigInt, Value::Int(i64::MIN), "('-9223372036854775808'::int8)"),
            (C::Decimal(2), Value::cents(-5), "('-0.05'::numeric)"),
            (C::Int, Value::cents(300), "('3'::int4)"),
            (C::Float, Value::Float(1.5), "('1.5e0'::float8)"),
            (C::Float, Value::Float(f64::NAN), "('NaN'::float8)"),
            (C::Float, Value::Float(f64::NEG_INFINITY), "('-Infinity'::float8)"),
            (C::Text, Value::Text("O'Brien"), "('O''Brien'::text)"),
            (C::Text, Value::Text("a\\'b"), "(E'a\\\\''b'::text)"),
            (C::Text, Value::Text("$1"), "('$1'::text)"),
            (C::Timestamp, Value::Timestamp(at), "('2026-01-02 03:04:05'::timestamp)"),
            (C::IntList, Value::Ints(&[1, -2]), "('{1,-2}'::int4[])"),
            (C::IntList, Value::Ints(&[]), "('{}'::int4[])"),
            (C::Text, Value::Null, "(NULL::text)"),
        ] {
            assert_eq!(fill("$1", &[ty], &[value]).unwrap(), expected);
        }
    }

    #[test]
    fn values_that_do_not_fit_are_refused() {
        use ColumnType as C;
        for (ty, value) in [
            (C::SmallInt, Value::Int(40_000)),
            (C::Int, Value::Int(1 << 40)),
            (C::Int, Value::cents(1)),
            (C::Text, Value::Int(1)),
            (C::Timestamp, Value::Text("now")),
            (C::Decimal(2), Value::Float(1.0)),
            (C::Text, Value::Text("a\0b")),
        ] {
            let error = fill("$1", &[ty], &[value]).unwrap_err();
            assert!(error.contains("does not fit") || error.contains("zero byte"), "{error}");
        }
        assert!(fill("$1", &[C::Int], &[]).unwrap_err().contains("got 0"));
        assert!(fill("$2", &[C::Int], &[Value::Int(1)]).unwrap_err().contains("$2"));
    }

    #[test]
    fn placeholders_are_found_only_where_they_are_some() {
        let types = [ColumnType::Int; 11];
        let args: Vec<_> = (1..=11).map(|n| Value::Int(100 + n)).collect();
        for (sql, expected) in [
            ("$1,$11", "101,111"),
            ("'$1' || $2", "'$1' || 102"),
            ("'it''s $1' $2", "'it''s $1' 102"),
            ("E'\\'$1' $2", "E'\\'$1' 102"),
            ("'\\' $2", "'\\' 102"),
            ("\"a$1\" $2", "\"a$1\" 102"),
            ("-- $1\n$2", "-- $1\n102"),
            ("/* $1 /* */ $1 */ $2", "/* $1 /* */ $1 */ 102"),
            ("$$ $1 $$ $2", "$$ $1 $$ 102"),
            ("$x$ $1 $$ $x$ $2", "$x$ $1 $$ $x$ 102"),
            ("col$1 $2", "col$1 102"),
            ("ä$1 $2::int", "ä$1 102::int"),
        ] {
            assert_eq!(fill(sql, &types, &args).unwrap(), expected, "{sql}");
        }
    }

    #[test]
    fn array_texts_become_lists() {
        for (text, expected) in [
            ("{}", Some(vec![])),
            ("{1,2}", Some(vec![Some("1"), Some("2")])),
            ("{a,NULL,\"NULL\"}", Some(vec![Some("a"), None, Some("NULL")])),
            ("{\"a,b\",\"q\\\"\\\\\",\"\"}", Some(vec![Some("a,b"), Some("q\"\\"), Some("")])),
            ("{\"{}\",ä}", Some(vec![Some("{}"), Some("ä")])),
            ("{1,2", None),
            ("{1}x", None),
            ("{1,,2}", None),
            ("{{1},{2}}", None),
            ("plain", None),
        ] {
            let mut rows = Rows::new();
            rows.reset(1);
            read_field(&mut rows, Some(text), true);
            let row = rows.row(0);
            match expected {
                None => assert_eq!(row.text(0).unwrap(), text),
                Some(elements) => {
                    let list = row.list(0).unwrap();
                    let found: Vec<_> = (0..list.len())
                        .map(|i| list.optional(i, |row, i| row.text(i)).unwrap())
                        .collect();
                    assert_eq!(found, elements, "{text}");
                }
            }
        }
    }
}
