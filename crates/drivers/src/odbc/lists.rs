//! Lists of values as text: JSON's `[1, null, "a"]` and PostgreSQL's `{1,NULL,"a"}`.

use std::fmt::Write;

use triphammer_core::odbc::ListForm;
use triphammer_core::rows::Rows;

const fn brackets(form: ListForm) -> [char; 2] {
    match form {
        ListForm::Json => ['[', ']'],
        ListForm::Braces => ['{', '}'],
    }
}

/// Writes a list of integers.
pub(super) fn write(out: &mut String, form: ListForm, list: &[i32]) {
    let [open, close] = brackets(form);
    out.push(open);
    for (place, value) in list.iter().enumerate() {
        let comma = if place == 0 { "" } else { "," };
        write!(out, "{comma}{value}").expect("writing to a String cannot fail");
    }
    out.push(close);
}

/// Whether text has the form of a list.
pub(super) fn is_list(form: ListForm, text: &[u8]) -> bool {
    let [open, close] = brackets(form);
    text.len() >= 2 && text.first() == Some(&(open as u8)) && text.last() == Some(&(close as u8))
}

/// Appends a list; text that is none stays text.
pub(super) fn read(rows: &mut Rows, text: &[u8]) {
    let Some(elements) = std::str::from_utf8(&text[1..text.len() - 1]).ok().and_then(elements)
    else {
        return rows.text_with(|out| out.extend_from_slice(text));
    };
    rows.list(|list| {
        for element in elements {
            match element {
                Element::Quoted(text) => list.text(&text),
                Element::Plain(word) if word.eq_ignore_ascii_case("null") => list.null(),
                Element::Plain(word) => number(list, word),
            }
        }
    });
}

/// A number keeps its digits; any other word is text.
fn number(list: &mut Rows, word: &str) {
    if let Ok(value) = word.parse() {
        return list.int(value);
    }
    let digits = word.split_once('.').map_or("", |(_, digits)| digits);
    let scale = u8::try_from(digits.len()).unwrap_or(u8::MAX);
    match triphammer_core::value::parse_decimal(word, scale) {
        Some(units) => list.decimal(units, scale),
        None => list.text(word),
    }
}

enum Element<'a> {
    Plain(&'a str),
    Quoted(String),
}

/// The elements between the brackets; `None` if there are lists in the list, or quotes that do not
/// end.
fn elements(text: &str) -> Option<Vec<Element<'_>>> {
    let mut found = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let after = if let Some(quoted) = rest.strip_prefix('"') {
            let (element, after) = quoted_text(quoted)?;
            found.push(Element::Quoted(element));
            after.trim_start()
        } else {
            let end = rest.find(',').unwrap_or(rest.len());
            let word = rest[..end].trim();
            if word.is_empty() || word.contains(['[', '{', '"', ':']) {
                return None;
            }
            found.push(Element::Plain(word));
            &rest[end..]
        };
        rest = match after.strip_prefix(',') {
            Some(more) => more.trim_start(),
            None if after.is_empty() => after,
            None => return None,
        };
    }
    Some(found)
}

/// Text up to its closing quote, and what follows that.
fn quoted_text(text: &str) -> Option<(String, &str)> {
    let mut out = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((out, &text[at + 1..])),
            '\\' => match chars.next()?.1 {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                'r' => out.push('\r'),
                'u' => {
                    let digits = text.get(at + 2..at + 6)?;
                    out.push(char::from_u32(u32::from_str_radix(digits, 16).ok()?)?);
                    chars.nth(3)?;
                }
                other => out.push(other),
            },
            _ => out.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_in_both_forms() {
        for text in ["[1, null, 3.50, \"a,\\\"b\\u00e4\"]", "{1,NULL,3.50,\"a,\\\"b\u{e4}\"}"] {
            let mut rows = Rows::new();
            rows.reset(1);
            read(&mut rows, text.as_bytes());
            let row = rows.row(0);
            let list = row.list(0).unwrap();
            assert_eq!((list.int(0).unwrap(), list.is_null(1)), (1, true), "{text}");
            assert_eq!(list.decimal(2, 2).unwrap(), 350);
            assert_eq!(list.text(3).unwrap(), "a,\"bä");
        }
        for text in ["[[1]]", "[\"open]", "[1 \"a\"]", "{\"a\": 1}"] {
            let mut rows = Rows::new();
            rows.reset(1);
            read(&mut rows, text.as_bytes());
            assert_eq!(rows.row(0).text(0).unwrap(), text);
        }
    }

    #[test]
    fn lists_are_written_in_both_forms() {
        for (form, expected) in [(ListForm::Json, "[1,-2]"), (ListForm::Braces, "{1,-2}")] {
            let mut out = String::new();
            write(&mut out, form, &[1, -2]);
            assert_eq!(out, expected);
        }
        assert!(is_list(ListForm::Json, b"[]") && !is_list(ListForm::Json, b"{}"));
    }
}
