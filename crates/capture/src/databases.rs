//! The databases of a log: a load has one target, so only the statements of one of them are of use.

use std::collections::BTreeMap;

/// Most databases whose statements are counted.
const DATABASES_MAX: usize = 1_000;

/// The databases of a log, with the number of statements that can be replayed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Databases {
    wanted: Option<String>,
    counts: BTreeMap<String, u64>,
}

impl Databases {
    /// Only the statements of this database are wanted; without it, those of all.
    #[must_use]
    pub const fn new(wanted: Option<String>) -> Self {
        Self { wanted, counts: BTreeMap::new() }
    }

    /// Whether statements in this database, or in none that is known, are left out.
    #[must_use]
    pub fn excludes(&self, database: Option<&str>) -> bool {
        self.wanted.is_some() && self.wanted.as_deref() != database
    }

    /// Counts statements in a database.
    pub(crate) fn add(&mut self, database: Option<&str>, statements: u64) {
        let Some(database) = database.filter(|_| statements > 0) else { return };
        if let Some(count) = self.counts.get_mut(database) {
            *count += statements;
        } else if self.counts.len() < DATABASES_MAX {
            self.counts.insert(database.to_owned(), statements);
        }
    }

    /// Whether statements of several databases would be replayed on one.
    #[must_use]
    pub fn is_mixed(&self) -> bool {
        self.wanted.is_none() && self.counts.len() > 1
    }

    /// Whether the log has statements of this database.
    #[must_use]
    pub fn has(&self, database: &str) -> bool {
        self.counts.contains_key(database)
    }

    /// The database that is wanted.
    #[must_use]
    pub fn wanted(&self) -> Option<&str> {
        self.wanted.as_deref()
    }

    /// One line per database with its number of statements, those with the most first, each after
    /// `indent`.
    #[must_use]
    pub fn lines(&self, indent: &str) -> String {
        let mut all: Vec<(&String, &u64)> = self.counts.iter().collect();
        all.sort_by(|(a, x), (b, y)| y.cmp(x).then(a.cmp(b)));
        let shown = |text: &str| -> String {
            text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
        };
        let line = |(name, count): (&String, &u64)| {
            let unit = if *count == 1 { "statement" } else { "statements" };
            format!("{indent}{}: {count} {unit}\n", shown(name))
        };
        all.into_iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_databases_are_mixed_unless_one_is_wanted() {
        let mut databases = Databases::default();
        databases.add(None, 3);
        databases.add(Some("one"), 1);
        assert!(!databases.is_mixed() && !databases.excludes(Some("two")));
        databases.add(Some("two"), 0);
        assert!(!databases.is_mixed(), "statements that are not replayed are of no interest");
        databases.add(Some("two"), 2);
        assert!(databases.is_mixed());
        assert_eq!(databases.lines("  "), "  two: 2 statements\n  one: 1 statement\n");
        let one = Databases::new(Some("one".to_owned()));
        assert!(one.excludes(Some("two")) && one.excludes(None) && !one.excludes(Some("one")));
    }
}
