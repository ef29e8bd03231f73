//! Conditions without their literals.

/// What stands for a literal.
const LITERAL: &str = "?";

/// Replaces the literals of an expression: quoted texts and numbers. A list of literals becomes one,
/// so that its length does not matter. Identifiers and parameters such as `$1` and `#2` are kept.
pub(super) fn without_literals(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '\'' => quoted(rest, '\''),
            '0'..='9' => number(rest),
            _ => 0,
        };
        if length > 0 {
            literal(&mut out);
            rest = &rest[length..];
            continue;
        }
        let kept = match c {
            '"' | '`' => quoted(rest, c),
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        out.push_str(&rest[..kept]);
        rest = &rest[kept..];
    }
    out
}

/// Replaces the numbers in names such as `lineitem_1995_09` and `lineitem_7`, those of a table's
/// partitions, by one `*`.
pub(super) fn without_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('_') {
        let after = &rest[at + 1..];
        let digits = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        let is_whole = digits > 0 && !after[digits..].starts_with(|c| is_word(c) && c != '_');
        out.push_str(&rest[..at]);
        if !is_whole {
            out.push('_');
        } else if !out.ends_with("_*") {
            out.push_str("_*");
        }
        rest = &after[if is_whole { digits } else { 0 }..];
    }
    out + rest
}

/// Whether a character belongs to an identifier or to the number of a parameter.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '#' | '@')
}

/// Length of a quoted text; a doubled quote is part of it.
fn quoted(text: &str, quote: char) -> usize {
    let mut at = 1;
    loop {
        match text[at..].find(quote) {
            None => return text.len(),
            Some(end) if text[at + end + 1..].starts_with(quote) => at += end + 2,
            Some(end) => return at + end + 1,
        }
    }
}

/// Length of a number, with its fraction and exponent.
fn number(text: &str) -> usize {
    let is_digit = |c: char| c.is_ascii_digit() || c == '.';
    let digits = text.find(|c| !is_digit(c)).unwrap_or(text.len());
    let exponent = &text[digits..];
    let Some(power) = exponent.strip_prefix(['e', 'E']) else { return digits };
    let power_digits = power.strip_prefix(['+', '-']).unwrap_or(power);
    let end = power_digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(power_digits.len());
    if end == 0 { digits } else { text.len() - power_digits.len() + end }
}

/// Appends a literal, unless it continues a list of literals.
fn literal(out: &mut String) {
    let before = out.trim_end().strip_suffix(',').map(str::trim_end);
    match before.filter(|before| before.ends_with(LITERAL)) {
        Some(list) => out.truncate(list.len()),
        None => out.push_str(LITERAL),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_partitions_lose_their_numbers() {
        for (text, expected) in [
            ("lineitem_1995_09", "lineitem_*"),
            ("Seq Scan on orders_1992_01 orders_7", "Seq Scan on orders_* orders_*"),
            ("(l_7.l_tax > l_8.l_tax)", "(l_*.l_tax > l_*.l_tax)"),
            ("lineitem_1995_09_l_suppkey_idx", "lineitem_*_l_suppkey_idx"),
            ("l_ship_2nd, x_, _9", "l_ship_2nd, x_, _*"),
        ] {
            assert_eq!(without_numbers(text), expected);
        }
    }

    #[test]
    fn literals_become_question_marks_and_names_stay() {
        for (text, expected) in [
            ("(l_shipdate <= '1998-09-02'::date)", "(l_shipdate <= ?::date)"),
            ("p_size = 15 AND p_type ~~ '%BRASS'", "p_size = ? AND p_type ~~ ?"),
            ("(p_size = ANY ('{49,14}'::integer[]))", "(p_size = ANY (?::integer[]))"),
            ("n1.n_name IN ('FRANCE', 'GERMANY')", "n1.n_name IN (?)"),
            ("x in (1,2, 3) and y between .05 and 1e-3", "x in (?) and y between .? and ?"),
            ("name = 'it''s' or b", "name = ? or b"),
            ("lineitem_1.l_tax * 0.2 > $0 + #12", "lineitem_1.l_tax * ? > $0 + #12"),
            ("\"1 a\" = `2 b` = 'c", "\"1 a\" = `2 b` = ?"),
            ("DATE'1995-03-15' + interval 90 day", "DATE? + interval ? day"),
            ("2e day, 2e5", "?e day, ?"),
            ("größer > 5 €", "größer > ? €"),
        ] {
            assert_eq!(without_literals(text), expected);
        }
    }
}
