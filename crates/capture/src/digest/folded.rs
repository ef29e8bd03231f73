//! What a server leaves out of the texts of its statistics: how many values a list has, and how many rows an INSERT.
//! Both have to be guessed, because one value is other work than a hundred.

use std::borrow::Cow;

/// Number of values that a list gets whose length is unknown.
pub(super) const LIST_VALUES: usize = 10;
/// Number of the first argument that is added to a list: statements have fewer of their own.
const ADDED_FROM: usize = super::BINDS_MAX / 2;
/// What PostgreSQL 18 and later have in place of the second and later constants of a list.
const MORE_VALUES: &str = " /*, ... */";

/// What the server left out of a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Folded {
    /// The number of values of a list.
    pub lists: bool,
    /// The number of rows of an INSERT.
    pub rows: bool,
}

impl Folded {
    /// What was guessed in place of it; `None` if nothing is missing.
    pub fn guess(self) -> Option<String> {
        let lists = self.lists.then(|| format!("{LIST_VALUES} values per list"));
        let rows = self.rows.then(|| "a single row".to_owned());
        let guessed: Vec<_> = lists.into_iter().chain(rows).collect();
        let what = guessed.join(" and ");
        (!guessed.is_empty()).then(|| format!("{what}, because the server does not keep how many"))
    }

    /// What either of two statements lacks.
    pub const fn or(self, other: Self) -> Self {
        Self { lists: self.lists || other.lists, rows: self.rows || other.rows }
    }
}

/// A statement of PostgreSQL with [`LIST_VALUES`] arguments in each list of which the server shows only the first:
/// `IN ($1 /*, ... */)`.
pub(super) fn unfolded(text: &str) -> (Cow<'_, str>, Folded) {
    if !text.contains(MORE_VALUES) {
        return (Cow::Borrowed(text), Folded::default());
    }
    let mut added = ADDED_FROM;
    let mut parts = text.split(MORE_VALUES);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        for _ in 1..LIST_VALUES {
            out.push_str(&format!(", ${added}"));
            added += 1;
        }
        out.push_str(part);
    }
    (Cow::Owned(out), Folded { lists: true, rows: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_list_gets_values_of_its_own() {
        let (text, folded) = unfolded("SELECT 1 WHERE a IN ($1 /*, ... */) AND b = $2");
        assert_eq!(
            text,
            "SELECT 1 WHERE a IN ($1, $500, $501, $502, $503, $504, $505, $506, $507, $508) AND b = $2"
        );
        assert!(folded.guess().unwrap().starts_with("10 values per list, because"));
        let (text, _) = unfolded("a IN ($1 /*, ... */) OR b = ANY (ARRAY[$2 /*, ... */])");
        assert_eq!(text.matches('$').count(), 2 * LIST_VALUES);
        assert!(text.ends_with("$516, $517])"), "{text}");
        assert_eq!(unfolded("a IN ($1)"), (Cow::Borrowed("a IN ($1)"), Folded::default()));
        assert_eq!(Folded::default().guess(), None);
    }
}
