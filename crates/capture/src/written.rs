//! Parts of a workload file: texts of TOML, and names of transactions and parameters.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::sql::Shape;

/// A text of TOML: literal if it can be, so that errors have their place.
pub fn quoted(text: &str) -> String {
    let is_plain = |text: &str| !text.chars().any(|c| c.is_control() && c != '\n' && c != '\t');
    if !text.contains(['\'', '\n']) && is_plain(text) {
        return format!("'{text}'");
    }
    if !text.contains("'''") && !text.ends_with('\'') && is_plain(text) {
        return format!("'''{}{text}'''", if text.starts_with('\n') { "\n" } else { "" });
    }
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The verb and the first table of a statement, such as `update_accounts`.
pub fn title(shape: &Shape) -> String {
    let letters = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    let name = format!("{}_{}", shape.verb(), table(shape));
    let name: String = name.chars().map(letters).collect();
    let name = name.trim_matches('_');
    let name = if name.starts_with(|c: char| c.is_ascii_lowercase()) { name } else { "statement" };
    name.chars().take(30).collect()
}

/// The first table that a statement names, without its schema; empty if it names none.
pub fn table(shape: &Shape) -> String {
    let text = shape.to_string();
    let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || c == '(').collect();
    let is = |word: &str, any: &[&str]| any.iter().any(|known| word.eq_ignore_ascii_case(known));
    let verb = shape.verb();
    let before: &[&str] = if verb == "update" { &["update"] } else { &["from", "into", "call"] };
    let place = words.iter().position(|word| is(word, before));
    let skipped = ["only", "ignore", "low_priority", ""];
    let table = place.and_then(|place| words[place + 1..].iter().find(|word| !is(word, &skipped)));
    table.map_or("", |table| table.rsplit('.').next().unwrap_or_default()).to_owned()
}

/// The columns of `INSERT INTO t (a, b) VALUES (`, if it lists them.
pub fn listed_columns(insert: &str) -> Option<Vec<&str>> {
    let lower = insert.to_ascii_lowercase();
    let is_insert = ["insert", "replace"].iter().any(|verb| lower.trim_start().starts_with(verb));
    let values = lower.find("values").filter(|_| is_insert)?;
    let (_, list) = insert[..values].trim_end().strip_suffix(')')?.rsplit_once('(')?;
    Some(list.split(',').map(|name| name.trim().trim_matches(['"', '`'])).collect())
}

/// The number of a hole in its row of `VALUES (…), (…)`, from 0.
pub fn place_in_row(shape: &Shape, hole: usize) -> Option<usize> {
    let first = shape.pieces.first()?;
    let lower = first.to_ascii_lowercase();
    let is_insert = ["insert", "replace"].iter().any(|verb| lower.trim_start().starts_with(verb));
    let values = lower.find("values").filter(|_| is_insert)? + "values".len();
    let (mut depth, mut place) = (0_i32, 0);
    let pieces =
        std::iter::once(&first[values..]).chain(shape.pieces[1..=hole].iter().map(String::as_str));
    for c in pieces.flat_map(str::chars) {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 1 => place += 1,
            ',' if depth == 0 => place = 0,
            c if depth == 0 && !c.is_whitespace() => return None,
            _ => {}
        }
    }
    (depth > 0).then_some(place)
}

/// The columns of `INSERT INTO t (a, b) SELECT …`, and what follows SELECT in the text.
fn selected_columns(insert: &str) -> Option<(Vec<&str>, &str)> {
    let lower = insert.to_ascii_lowercase();
    let is_insert = ["insert", "replace"].iter().any(|verb| lower.trim_start().starts_with(verb));
    let (open, close) = (insert.find('(').filter(|_| is_insert)?, insert.find(')')?);
    let list = insert.get(open + 1..close)?;
    let rest = insert[close + 1..].trim_start_matches([' ', '(']);
    let word = rest.get(.."select".len()).filter(|word| word.eq_ignore_ascii_case("select"))?;
    let columns = list.split(',').map(|name| name.trim().trim_matches(['"', '`'])).collect();
    Some((columns, &rest[word.len()..]))
}

/// The number of a hole among what is selected, from 0, by the text from SELECT to it: in the list, as in `SELECT ?, unnest(?)`,
/// or among the arrays of `SELECT * FROM unnest(?, ?)`.
fn place_in_select(text: &str) -> Option<usize> {
    let lower = text.to_ascii_lowercase();
    let all = lower.trim_start().strip_prefix('*').map(str::trim_start);
    let arrays =
        all.and_then(|rest| rest.strip_prefix("from unnest")?.trim_start().strip_prefix('('));
    let (list, of_arrays) = (arrays.unwrap_or(&lower), arrays.is_some());
    let (mut depth, mut place, mut outside) = (0_i32, 0, String::new());
    for c in list.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => place += 1,
            c if depth == 0 => outside.push(c),
            _ => {}
        }
        if depth < 0 {
            return None;
        }
    }
    let ends = ["from", "where", "union", "order", "group"];
    let is_over = outside.split(|c: char| !c.is_alphanumeric()).any(|word| ends.contains(&word));
    (of_arrays || !is_over).then_some(place)
}

/// The column that a hole of `INSERT INTO t (a, b) VALUES (?, ?)` is for, or of `INSERT INTO t (a, b) SELECT …`.
pub fn inserted(shape: &Shape, hole: usize) -> Option<&str> {
    let first = shape.pieces.first()?;
    let name = match place_in_row(shape, hole) {
        Some(place) => *listed_columns(first)?.get(place)?,
        None => {
            let (columns, rest) = selected_columns(first)?;
            let pieces = shape.pieces[1..=hole].iter().map(String::as_str);
            let text: Vec<&str> = std::iter::once(rest).chain(pieces).collect();
            *columns.get(place_in_select(&text.join("?"))?)?
        }
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic());
    (begins && name.chars().all(is_name) && name.len() <= 30).then_some(name)
}

/// The name, with a number if it is taken.
pub fn unique(names: &mut BTreeSet<String>, name: &str) -> String {
    let mut found = name.to_owned();
    let mut number = 1;
    while !names.insert(found.clone()) {
        number += 1;
        found = format!("{name}_{number}");
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_can_be_written() {
        for (text, expected) in [
            ("a", "'a'"),
            ("it's", "'''it's'''"),
            ("it's 'x'", "\"it's 'x'\""),
            ("a\nb", "'''a\nb'''"),
            ("a'\u{1}", "\"a'\\u0001\""),
        ] {
            assert_eq!(quoted(text), expected);
        }
    }
}
