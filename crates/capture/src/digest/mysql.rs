//! Digests of MySQL and MariaDB: statements whose values are `?`, and whose lists are `...`. They are not always valid
//! SQL: functions have a space before their bracket.

use super::folded::{Folded, LIST_VALUES};
use crate::columns::{Tables, bare};
use crate::skipped::Reason;
use crate::written::listed_columns;

/// What a digest has in place of the second and later rows of an INSERT.
const MORE_ROWS: &str = "/* , ... */";

/// The statement of a digest: lists in brackets get [`LIST_VALUES`] values, rows one value per column, and an INSERT one
/// row. Also returns which of these the server left out.
///
/// # Errors
/// When the server cut the text, or left out values whose number cannot be guessed.
pub(super) fn expanded(digest: &str, tables: &Tables) -> Result<(String, Folded), Reason> {
    let mut folded = Folded { lists: false, rows: digest.contains(MORE_ROWS) };
    let text = digest.trim().trim_end_matches(';').replace(MORE_ROWS, "").replace(" . ", ".");
    if text.ends_with("...") {
        return Err(Reason::Truncated);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find("...") {
        let before = &rest[..at];
        out.push_str(before);
        rest = &rest[at + 3..];
        let word = last_word(out.trim_end_matches(['(', ' ', '?', ',']));
        let is = |any: &[&str]| any.iter().any(|known| word.eq_ignore_ascii_case(known));
        let in_brackets = before.ends_with('(') && rest.starts_with(')');
        if in_brackets && is(&["in"]) {
            out.push_str(&["?"; LIST_VALUES].join(", "));
            folded.lists = true;
        } else if before.ends_with("?, ") && is(&["limit"]) {
            out.push('?');
        } else if in_brackets && is(&["values", "value"]) {
            let width = width(&out, tables).ok_or(Reason::Folded)?;
            out.push_str(&vec!["?"; width].join(", "));
        } else {
            return Err(Reason::Folded);
        }
    }
    out.push_str(rest);
    Ok((joined(out.trim_end()), folded))
}

/// Number of values of a row that is inserted.
fn width(insert: &str, tables: &Tables) -> Option<usize> {
    let columns = match listed_columns(insert) {
        Some(columns) => columns.len(),
        None => tables.columns_of(&tables.mentions(insert)).len(),
    };
    (columns > 0).then_some(columns)
}

fn last_word(text: &str) -> &str {
    let start = text.rfind(|c: char| !c.is_ascii_alphabetic()).map_or(0, |at| at + 1);
    bare(&text[start..])
}

/// Without the space between a word and a bracket: MySQL knows some functions only so.
fn joined(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut quoted = false;
    for c in text.chars() {
        quoted ^= c == '`';
        if c == '(' && !quoted && out.ends_with(' ') {
            let before = out.trim_end_matches(' ').len();
            if out[..before].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_') {
                out.truncate(before);
            }
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_become_statements() {
        let tables = Tables::default();
        let (whole, lists, rows) = (
            Folded::default(),
            Folded { lists: true, rows: false },
            Folded { lists: false, rows: true },
        );
        for (digest, expected) in [
            (
                "SELECT COUNT ( * ) FROM `a` . `t` WHERE `id` IN (...)",
                Ok((
                    "SELECT COUNT( * ) FROM `a`.`t` WHERE `id` IN(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    lists,
                )),
            ),
            (
                "INSERT INTO `t` ( `a` , `b` ) VALUES (...) /* , ... */",
                Ok(("INSERT INTO `t` ( `a` , `b` ) VALUES(?, ?)", rows)),
            ),
            (
                "INSERT INTO `t` ( `a` ) VALUES (?) /* , ... */",
                Ok(("INSERT INTO `t` ( `a` ) VALUES(?)", rows)),
            ),
            ("SELECT `a` FROM `t (x` LIMIT ?, ...", Err(Reason::Truncated)),
            (
                "SELECT `a` FROM `t` LIMIT ?, ... FOR UPDATE",
                Ok(("SELECT `a` FROM `t` LIMIT ?, ? FOR UPDATE", whole)),
            ),
            ("INSERT INTO `t` VALUES (...)", Err(Reason::Folded)),
            ("SELECT `f` (...) FROM `t`", Err(Reason::Folded)),
            ("SELECT `a` FROM `t` WHERE ...", Err(Reason::Truncated)),
        ] {
            let expected = expected.map(|(text, folded)| (text.to_owned(), folded));
            assert_eq!(expanded(digest, &tables), expected, "{digest}");
        }
    }
}
