//! Templates of JSON: a text value `":name"` stands for the parameter of that name. Nothing recurses, so no
//! template is too deep.

use std::fmt::Write as _;

use super::datum::Datum;
use crate::script::names::is_name;

/// A template.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Template(Vec<Piece>);

#[derive(Clone, Debug, PartialEq)]
enum Piece {
    Text(String),
    /// The value of a slot, and whether it is JSON itself.
    Slot {
        slot: usize,
        is_json: bool,
    },
}

/// A parameter that a template names: its name and its offset in the text.
pub type Mention<'a> = (&'a str, usize);

/// Finds the parameters of a template.
///
/// # Errors
/// With the offset, if it is not JSON.
pub fn mentions(text: &str) -> Result<Vec<Mention<'_>>, (usize, String)> {
    if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(text) {
        let line_start = text
            .split_inclusive('\n')
            .take(error.line().saturating_sub(1))
            .map(str::len)
            .sum::<usize>();
        let at = (line_start + error.column().saturating_sub(1)).min(text.len());
        return Err((at, format!("the template is not JSON: {error}")));
    }
    Ok(places(text).map(|(start, end)| (&text[start + 2..end - 1], start)).collect())
}

/// The places of the text values that are a parameter, with their quotes.
fn places(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + text[at..].find('"')?;
            let end = end_of_text(text, start);
            at = end;
            let is_key = text[end..].trim_start().starts_with(':');
            let name = text[start + 1..end - 1].strip_prefix(':');
            if name.is_some_and(is_name) && !is_key {
                return Some((start, end));
            }
        }
    })
}

/// Offset after the text that begins with a quote; valid JSON ends each.
fn end_of_text(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

impl Template {
    /// Splits a template at its parameters; `slot` gives their slots, and whether they are JSON themselves.
    pub fn new(text: &str, mut slot: impl FnMut(&str) -> Option<(usize, bool)>) -> Self {
        let mut pieces = Vec::new();
        let mut done = 0;
        for (start, end) in places(text) {
            if let Some((slot, is_json)) = slot(&text[start + 2..end - 1]) {
                pieces.push(Piece::Text(text[done..start].to_owned()));
                pieces.push(Piece::Slot { slot, is_json });
                done = end;
            }
        }
        pieces.push(Piece::Text(text[done..].to_owned()));
        pieces.retain(|piece| !matches!(piece, Piece::Text(text) if text.is_empty()));
        Self(pieces)
    }

    /// Appends the template with the values of its parameters.
    pub fn write(&self, values: &[Datum], out: &mut String) {
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Slot { slot, is_json } => write_value(&values[*slot], *is_json, out),
            }
        }
    }
}

fn write_value(value: &Datum, is_json: bool, out: &mut String) {
    match value {
        Datum::Null => out.push_str("null"),
        Datum::Text(text) if is_json => out.push_str(text),
        Datum::Text(text) => quote(text, out),
        Datum::Date(_) | Datum::Timestamp(_) => {
            write!(out, "\"{value}\"").expect("writing to a string cannot fail");
        }
        Datum::Int(_) | Datum::Float(_) | Datum::Decimal(..) => {
            write!(out, "{value}").expect("writing to a string cannot fail");
        }
    }
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            c if c < ' ' => {
                write!(out, "\\u{:04x}", u32::from(c)).expect("writing to a string cannot fail");
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_quoted_as_their_type_needs() {
        let text =
            "{\":a\": [\":a\", \":b\", \"x :a\", \"\\\":a\"],\n \"c\": \":c\", \"d\": \":d\"}";
        let found = mentions(text).unwrap();
        assert_eq!(found.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["a", "b", "c", "d"]);
        let slot = |name: &str| Some(("abcd".find(name)?, name == "d"));
        let template = Template::new(text, slot);
        let values =
            [Datum::Int(-7), Datum::Text("q\"\n".into()), Datum::Null, Datum::Text("[1]".into())];
        let mut out = String::new();
        template.write(&values, &mut out);
        assert_eq!(
            out,
            "{\":a\": [-7, \"q\\\"\\u000a\", \"x :a\", \"\\\":a\"],\n \"c\": null, \"d\": [1]}"
        );
        serde_json::from_str::<serde_json::Value>(&out).unwrap();
    }

    #[test]
    fn what_is_no_json_is_rejected_with_its_place() {
        let (at, message) = mentions("{\n  \"a\": :b\n}").unwrap_err();
        assert_eq!(at, 9);
        assert!(message.contains("is not JSON"), "{message}");
        // Nothing recurses, so depth does no harm.
        let deep = format!("{}\":a\"{}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(mentions(&deep).map(|found| found.len()), Ok(1));
    }
}
