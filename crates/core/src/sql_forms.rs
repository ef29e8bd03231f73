//! Rewrites a form of SQL in which databases differ everywhere, so that their catalogues need not
//! repeat each statement that has it. What differs in words only is a variable of the dialect.

/// Replaces `concat(a, b, c)` with the operator between its arguments: `(a || b || c)`. For
/// databases whose `concat` takes two arguments, or that have none.
#[must_use]
pub(crate) fn join_by(sql: &str, operator: &str) -> String {
    const CALL: &str = "concat(";
    let mut out = String::with_capacity(sql.len());
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let begins_word = !out.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        if begins_word
            && let Some(inner) = rest.strip_prefix(CALL)
            && let Some((arguments, after)) = arguments(inner)
        {
            let joined: Vec<_> =
                arguments.iter().map(|text| join_by(text.trim(), operator)).collect();
            out.push_str(&format!("({})", joined.join(&format!(" {operator} "))));
            rest = after;
            continue;
        }
        let length = token(rest, first);
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    out
}

/// Length of a text in quotes, a comment, or one character.
fn token(rest: &str, first: char) -> usize {
    if rest.starts_with("--") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    match first {
        '\'' | '"' => rest[1..].find(first).map_or(rest.len(), |end| end + 2),
        _ => first.len_utf8(),
    }
}

/// The arguments of a call, and what follows its closing parenthesis.
fn arguments(inner: &str) -> Option<(Vec<&str>, &str)> {
    let (mut found, mut start, mut deep, mut at) = (Vec::new(), 0, 0u32, 0);
    while let Some(first) = inner[at..].chars().next() {
        match first {
            '(' => deep += 1,
            ')' if deep == 0 => {
                found.push(&inner[start..at]);
                return Some((found, &inner[at + 1..]));
            }
            ')' => deep -= 1,
            ',' if deep == 0 => {
                found.push(&inner[start..at]);
                start = at + 1;
            }
            _ => {}
        }
        at += token(&inner[at..], first);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_joined_by_an_operator() {
        for (sql, expected) in [
            ("SELECT concat('w_id=', w_id) AS k", "SELECT ('w_id=' || w_id) AS k"),
            ("concat('a,b)', concat(x, f(1, 2)), y)", "('a,b)' || (x || f(1, 2)) || y)"),
            ("group_concat(a, b) 'concat(a, b)'", "group_concat(a, b) 'concat(a, b)'"),
            ("-- concat(a, b)\nconcat(a)", "-- concat(a, b)\n(a)"),
            ("concat(a", "concat(a"),
        ] {
            assert_eq!(join_by(sql, "||"), expected);
        }
    }
}
