//! User variables of MySQL and MariaDB: `@name`, which a session keeps between its statements.

use std::collections::BTreeSet;

use super::sql::{Rules, Shape, Spelled, Syntax, TokenKind, tokens};

/// The user variables of a statement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables {
    /// Those that it assigns. What a CALL has for its arguments counts: the procedure may set it.
    pub assigned: BTreeSet<String>,
    /// Those whose value it needs.
    pub read: BTreeSet<String>,
    /// Whether it is a SET of user variables only.
    pub is_set: bool,
}

impl Variables {
    /// The variables of a statement, by names in lower case.
    #[must_use]
    pub fn of(sql: &str, rules: Rules) -> Self {
        if rules.syntax != Syntax::MySql || !sql.contains('@') {
            return Self::default();
        }
        let all = tokens(sql.trim(), rules);
        let is = |at: usize, word: &str| all.get(at).is_some_and(|token| token.is(word));
        let (is_set, is_call) = (is(0, "set"), is(0, "call"));
        let mut found = Self { is_set, ..Self::default() };
        // Whether the item of a SET's list begins here; whether a list of INTO continues.
        let (mut begins, mut into) = (is_set, false);
        let (mut at, mut depth) = (usize::from(is_set), 0_usize);
        while at < all.len() {
            let Some(name) = variable(&all, at) else {
                found.is_set &= !begins;
                match all[at].text {
                    "(" => depth += 1,
                    ")" => depth = depth.saturating_sub(1),
                    _ => {}
                }
                into = is(at, "into") || into && is(at, ",");
                begins = is_set && depth == 0 && is(at, ",");
                at += 1;
                continue;
            };
            at += 2;
            if is_call || into || is(at, ":=") || begins && is(at, "=") {
                found.assigned.insert(name);
            } else {
                found.read.insert(name);
            }
            begins = false;
        }
        found
    }
}

/// The name of the user variable at a token.
fn variable(all: &[Spelled<'_>], at: usize) -> Option<String> {
    let (mark, name) = (&all[at], all.get(at + 1)?);
    let before = at.checked_sub(1).map(|before| &all[before]);
    let before = before.filter(|before| before.adjoins(mark));
    let names = |token: &Spelled<'_>| {
        matches!(token.kind, TokenKind::Word | TokenKind::QuotedName | TokenKind::Text(_))
    };
    // `@@sql_mode` is a variable of the system, root@localhost an account.
    let is_other = before.is_some_and(|before| before.is("@") || names(before));
    let is_one = mark.is("@") && names(name) && mark.adjoins(name) && !is_other;
    is_one.then(|| name.text.trim_matches(['\'', '"', '`']).to_lowercase())
}

/// Whether the statements of a transaction need the value that a variable had before it.
pub fn inherits<'a>(shapes: impl Iterator<Item = &'a Shape>) -> bool {
    let mut assigned = BTreeSet::new();
    for shape in shapes.filter(|shape| shape.pieces.iter().any(|piece| piece.contains('@'))) {
        // Strings in it are as MySQL writes them by default: those with values have become holes.
        let variables = Variables::of(&shape.to_string(), Syntax::MySql.into());
        if !variables.read.is_subset(&assigned) {
            return true;
        }
        assigned.extend(variables.assigned);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_assigned_or_read() {
        for (sql, assigned, read, is_set) in [
            ("SET @v=16", &["v"] as &[&str], &[] as &[&str], true),
            ("set @A := @b + 1, @`c` = f(@d, 2)", &["a", "c"], &["b", "d"], true),
            ("SET @old = @@sql_mode, sql_mode = ''", &["old"], &[], false),
            ("SET @@session.sql_mode = @old", &[], &["old"], false),
            ("insert into y values (@v, 'u@v', a@b)", &[], &["v"], false),
            ("select a, b into @a, @b from t where c = @c", &["a", "b"], &["c"], false),
            ("select @n := @n + 1 from t", &["n"], &["n"], false),
            ("call p(1, @out)", &["out"], &[], false),
            ("select 1", &[], &[], false),
        ] {
            let found = Variables::of(sql, Syntax::MySql.into());
            let set = |names: &[&str]| names.iter().map(ToString::to_string).collect();
            let expected = Variables { assigned: set(assigned), read: set(read), is_set };
            assert_eq!(found, expected, "{sql}");
        }
        assert_eq!(Variables::of("select @x", Syntax::Postgres.into()), Variables::default());
    }
}
