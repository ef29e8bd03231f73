//! What a statement names: tables, and the column that a value is compared with or assigned to.

use super::super::columns::bare;
use super::super::sql::{OF_SEQUENCES, Rules, Spelled, TokenKind, after_value, calls_last, tokens};

/// Functions whose first argument is the name of a setting.
const OF_SETTINGS: [&str; 2] = ["set_config", "current_setting"];
/// Words before a column that is compared or assigned.
const BEFORE_COLUMNS: [&str; 13] = [
    "where", "and", "or", "not", "on", "set", "when", "then", "else", "having", "select",
    "distinct", "by",
];
/// Words between a column and a value.
const COMPARISONS: [&str; 10] =
    ["like", "ilike", "rlike", "regexp", "in", "between", "not", "any", "some", "all"];
/// First words of statements that always have a table.
const OF_TABLES: [&str; 8] =
    ["insert", "replace", "update", "delete", "merge", "copy", "load", "table"];

/// Whether the value after a piece is a name, of a sequence or of a setting: it stays, as names of tables do.
pub(super) fn is_name(piece: &str) -> bool {
    calls_last(piece, &OF_SEQUENCES) || calls_last(piece, &OF_SETTINGS)
}

fn is_word(token: &Spelled<'_>, words: &[&str]) -> bool {
    token.kind == TokenKind::Word && words.iter().any(|word| token.is(word))
}

const fn names(token: &Spelled<'_>) -> bool {
    matches!(token.kind, TokenKind::Word | TokenKind::QuotedName)
}

/// Whether a statement names a table.
pub(super) fn has_table(all: &[Spelled<'_>]) -> bool {
    if all.first().is_some_and(|token| is_word(token, &OF_TABLES)) {
        return true;
    }
    // By depth of brackets, whether a statement is in them, whose FROM is not that of `trim('x' from a)`.
    let mut selects = vec![false];
    for (at, token) in all.iter().enumerate() {
        let is_select = selects.last().is_some_and(|is| *is);
        match token.text {
            "(" => selects.push(false),
            ")" if selects.len() > 1 => drop(selects.pop()),
            _ if is_word(token, &["select", "delete"]) => {
                selects.pop();
                selects.push(true);
            }
            _ if is_word(token, &["from"]) && is_select && is_table(all, at + 1) => return true,
            _ if is_word(token, &["join"]) && is_table(all, at + 1) => return true,
            _ if is_word(token, &["into", "update"]) && all.get(at + 1).is_some_and(names) => {
                return true;
            }
            _ => {}
        }
    }
    false
}

/// Whether a table is named here, rather than a function.
fn is_table(all: &[Spelled<'_>], mut at: usize) -> bool {
    while all.get(at).is_some_and(|token| is_word(token, &["only", "lateral"])) {
        at += 1;
    }
    let is_dot = |at: usize| all.get(at).is_some_and(|token| token.is("."));
    let is_dual = !is_dot(at + 1) && all.get(at).is_some_and(|token| token.is("dual"));
    if !all.get(at).is_some_and(names) || is_dual {
        return false;
    }
    while is_dot(at + 1) {
        at += 2;
    }
    !all.get(at + 1).is_some_and(|token| token.is("("))
}

/// The names that a statement gives: those after AS, and after a name that `is_masked`.
pub(super) fn aliases(all: &[Spelled<'_>], is_masked: impl Fn(&str) -> bool) -> Vec<String> {
    let gives = |before: &Spelled<'_>| {
        is_word(before, &["as"]) || names(before) && is_masked(bare(before.text))
    };
    let pairs = all.windows(2).filter(|pair| gives(&pair[0]) && names(&pair[1]));
    pairs.map(|pair| bare(pair[1].text).to_lowercase()).collect()
}

/// The columns of the values of a statement, by hole, in lower case: of those that are plainly compared with a column, or
/// assigned to it. The pieces are those of a shape.
pub(super) fn columns_of_values(pieces: &[String], rules: Rules) -> Vec<Option<String>> {
    let mut found: Vec<Option<String>> = Vec::new();
    // What may continue after the last value: a list of IN, or a range.
    let (mut in_list, mut in_range) = (false, false);
    for piece in &pieces[..pieces.len().saturating_sub(1)] {
        let before = after_value(piece);
        let is_next = in_list && before == "," || in_range && before.eq_ignore_ascii_case("and");
        if is_next {
            in_range = false;
            found.push(found.last().cloned().flatten());
            continue;
        }
        let all = tokens(piece, rules);
        let ends = |words: &[&str], from_end: usize| {
            all.len().checked_sub(from_end).is_some_and(|at| is_word(&all[at], words))
        };
        in_list = piece.trim_end().ends_with('(') && ends(&["in"], 2);
        in_range = ends(&["between"], 1);
        found.push(column_before(&all).map(str::to_lowercase));
    }
    found
}

/// The column that a value after these tokens is plainly compared with, or assigned to: nothing but an operator is between
/// them, and the column begins an expression.
fn column_before<'a>(all: &[Spelled<'a>]) -> Option<&'a str> {
    let is_symbol = |token: &Spelled<'_>, of: &str| {
        token.kind == TokenKind::Symbol && token.text.chars().all(|c| of.contains(c))
    };
    let (mut rest, mut operators) = (all, 0);
    while let [before @ .., last] = rest {
        let is_function = last.is("(")
            && before.last().is_some_and(|word| names(word) && !is_word(word, &COMPARISONS));
        let is_operator = is_symbol(last, "=<>!~+-*/%") || is_word(last, &COMPARISONS);
        if is_function || !is_operator && !last.is("(") {
            break;
        }
        operators += usize::from(is_operator);
        rest = before;
    }
    let is_arrow = all.len() >= 2
        && all[all.len() - 2].is("=")
        && all[all.len() - 1].is(">")
        && all[all.len() - 2].adjoins(&all[all.len() - 1]);
    let [before @ .., column] = rest else { return None };
    if !names(column) || operators == 0 || is_arrow {
        return None;
    }
    let mut before = before;
    while let [more @ .., schema, dot] = before
        && dot.is(".")
        && names(schema)
    {
        before = more;
    }
    let left = before.last()?;
    let begins = is_word(left, &BEFORE_COLUMNS) || is_symbol(left, "(,=<>");
    begins.then(|| bare(column.text))
}

#[cfg(test)]
mod tests {
    use super::super::super::sql::{Syntax, read};
    use super::*;

    #[test]
    fn values_are_of_a_column_only_if_it_is_plain() {
        for (sql, expected) in [
            ("select 1 from t where a = 'x' and t.\"B\" <> 'y'", &["", "a", "b"] as &[&str]),
            ("update t set a = 'x', b = b + 5 where c in ('y', 'z')", &["a", "b", "c", "c"]),
            ("delete from t where (a not like 'x' or b between 1.5 and 2)", &["a", "b", "b"]),
            ("delete from t where a = any('{x}') or b = ('y')", &["a", "b"]),
            ("delete from t where lower(a) = 'x' or a = lower('y')", &["", ""]),
            ("delete from t where a collate \"C\" = 'x' or b || a = 'y'", &["", ""]),
            ("delete from t where a is not distinct from 'x' and f(a => 'y')", &["", ""]),
            (
                "delete from t where (a, b) = ('x', 'y') and position('z' in a) > 0",
                &["", "", "", ""],
            ),
        ] {
            let pieces = read(sql, Syntax::Postgres, &[]).unwrap().shape.pieces;
            let found = columns_of_values(&pieces, Syntax::Postgres.into());
            let found: Vec<_> = found.iter().map(|name| name.as_deref().unwrap_or("")).collect();
            assert_eq!(found, expected, "{sql}");
        }
    }

    #[test]
    fn statements_without_a_table_are_recognised() {
        for (sql, expected) in [
            ("select 1 from t", true),
            ("select 1 from s.t, f(1)", true),
            ("select (select 1 from only (t) join u on true)", true),
            ("with x as (update t set a = 1) select 1", true),
            ("insert t values (1)", true),
            ("set @v = 1", false),
            ("call p(1)", false),
            ("select trim('x' from 'y'), f(1) from dual", false),
            ("select * from s.f(1)", false),
            ("select 1 into @v", false),
        ] {
            assert_eq!(has_table(&tokens(sql, Syntax::MySql.into())), expected, "{sql}");
        }
    }
}
