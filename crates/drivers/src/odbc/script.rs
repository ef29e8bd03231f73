//! Splits scripts into statements, since few drivers take several at once: at semicolons outside
//! texts, names, comments and the bodies of routines.

/// First words of a statement whose semicolons end parts of it, not the statement.
const ROUTINES: [&str; 5] = ["PROCEDURE", "FUNCTION", "TRIGGER", "PACKAGE", "TYPE"];

/// The statements of a script, without their semicolons. A line that holds nothing but `/` ends a
/// routine, as in Oracle's tools; without one a routine lasts until the script ends.
pub(super) fn statements(script: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut start, mut at) = (0, 0);
    let mut is_quoted_body = false;
    while at < script.len() {
        let rest = &script[at..];
        let is_line_start = script[..at].ends_with('\n') || at == 0;
        if is_line_start && rest.lines().next().is_some_and(|line| line.trim() == "/") {
            found.push(&script[start..at]);
            at += rest.find('\n').map_or(rest.len(), |end| end + 1);
            (start, is_quoted_body) = (at, false);
            continue;
        }
        if rest.starts_with(';') && (is_quoted_body || !is_routine(&script[start..at])) {
            found.push(&script[start..at]);
            at += 1;
            (start, is_quoted_body) = (at, false);
            continue;
        }
        let length = token(rest);
        is_quoted_body |= rest.starts_with('$') && length > 1;
        at += length;
    }
    found.push(&script[start..]);
    // Without comments before them, whose semicolons some drivers count.
    found.into_iter().map(without_comments).filter(|statement| !statement.is_empty()).collect()
}

/// Length of what cannot be split: a text, a name, a comment, or one character.
fn token(rest: &str) -> usize {
    let first = rest.chars().next().expect("not at the end");
    let until = |from: usize, end: &str| {
        rest[from..].find(end).map_or(rest.len(), |found| from + found + end.len())
    };
    match first {
        '\'' | '"' | '`' => until(1, &rest[..1]),
        '-' if rest.starts_with("--") => until(2, "\n"),
        '/' if rest.starts_with("/*") => until(2, "*/"),
        '$' => match rest[1..].find('$') {
            // `$$` or `$tag$` of PostgreSQL, rather than a parameter.
            Some(end) if rest[1..=end].chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => {
                until(end + 2, &rest[..end + 2])
            }
            _ => 1,
        },
        _ => first.len_utf8(),
    }
}

/// What is left of a statement without comments and blanks around it.
fn without_comments(mut statement: &str) -> &str {
    loop {
        statement = statement.trim();
        let is_comment = statement.starts_with("--") || statement.starts_with("/*");
        let is_comment = is_comment && !statement.starts_with("/*!");
        if !is_comment {
            return statement;
        }
        statement = &statement[token(statement)..];
    }
}

/// Whether a statement creates a routine, or is a block of procedural code.
fn is_routine(statement: &str) -> bool {
    let statement = without_comments(statement);
    let mut words = statement.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let is =
        |word: Option<&str>, wanted: &str| word.is_some_and(|w| w.eq_ignore_ascii_case(wanted));
    let first = words.next();
    if is(first, "DECLARE") {
        return true;
    }
    if is(first, "BEGIN") {
        // `BEGIN` and `BEGIN TRANSACTION` begin transactions.
        let next = statement["BEGIN".len()..].trim_start();
        let is_transaction = |word: &str| {
            next.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
        };
        return !next.is_empty()
            && !["TRANSACTION", "WORK", "IMMEDIATE", "ISOLATION", "READ"]
                .into_iter()
                .any(is_transaction);
    }
    is(first, "CREATE")
        && words
            .filter(|word| !word.is_empty())
            .take(8)
            .any(|word| ROUTINES.iter().any(|routine| routine.eq_ignore_ascii_case(word)))
}

/// Whether a text can return several results: a call of a procedure, a block, or several statements.
pub(super) fn may_return_several(sql: &str) -> bool {
    let sql = without_comments(sql);
    if sql.starts_with('{') || statements(sql).len() > 1 {
        return true;
    }
    let first = sql.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    ["CALL", "EXEC", "EXECUTE", "BEGIN", "DECLARE"].iter().any(|w| w.eq_ignore_ascii_case(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_split_at_the_semicolons_between_statements() {
        for (script, expected) in [
            ("", &[][..]),
            (";", &[]),
            ("-- nothing\n", &[]),
            ("a; b", &["a", "b"]),
            ("a ';' b; c \";\" ; `;`", &["a ';' b", "c \";\"", "`;`"]),
            ("a -- it's; a comment\n; /* ; */ b", &["a -- it's; a comment", "b"]),
            ("-- x\n/*!50000 a */; b", &["/*!50000 a */", "b"]),
            ("a 'it''s;'; b", &["a 'it''s;'", "b"]),
            ("BEGIN; a; COMMIT", &["BEGIN", "a", "COMMIT"]),
            ("BEGIN READ ONLY; a", &["BEGIN READ ONLY", "a"]),
            (
                "DROP PROCEDURE p; CREATE PROCEDURE p() BEGIN a; b; END;",
                &["DROP PROCEDURE p", "CREATE PROCEDURE p() BEGIN a; b; END;"],
            ),
            (
                "CREATE FUNCTION f() AS $$ a; b $$; CREATE FUNCTION g() AS $x$ $$; $x$",
                &["CREATE FUNCTION f() AS $$ a; b $$", "CREATE FUNCTION g() AS $x$ $$; $x$"],
            ),
            (
                "CREATE OR REPLACE PACKAGE p AS a; END;\n/\nCREATE TABLE t (n int);",
                &["CREATE OR REPLACE PACKAGE p AS a; END;", "CREATE TABLE t (n int)"],
            ),
            ("a $1; b", &["a $1", "b"]),
            ("SELECT 'open; a", &["SELECT 'open; a"]),
        ] {
            assert_eq!(statements(script), expected, "{script}");
        }
    }

    #[test]
    fn calls_and_blocks_may_return_several_results() {
        for sql in [
            "CALL p(?)",
            "{call p(?)}",
            " -- x\n exec p",
            "begin p(?); end;",
            "UPDATE t SET a = 1; SELECT 1",
        ] {
            assert!(may_return_several(sql), "{sql}");
        }
        for sql in ["SELECT 1", "INSERT INTO calls VALUES (?)", "WITH call AS (SELECT 1)"] {
            assert!(!may_return_several(sql), "{sql}");
        }
    }
}
