//! What may differ between dialects of SQL.

/// A value for all dialects, and those of single ones.
#[derive(Clone, Debug, PartialEq)]
pub struct ByDialect<T> {
    /// For dialects without their own.
    pub default: Option<T>,
    /// The name of a dialect with its own.
    pub others: Vec<(String, T)>,
}

impl<T> Default for ByDialect<T> {
    fn default() -> Self {
        Self { default: None, others: Vec::new() }
    }
}

impl<T> ByDialect<T> {
    /// The value for a dialect, given with its ancestors, the oldest first.
    pub fn of(&self, chain: &[String]) -> Option<&T> {
        let own = |name: &String| self.others.iter().find(|(other, _)| other == name);
        chain.iter().rev().find_map(own).map(|(_, value)| value).or(self.default.as_ref())
    }

    /// All values.
    pub fn all(&self) -> impl Iterator<Item = &T> {
        self.default.iter().chain(self.others.iter().map(|(_, value)| value))
    }

    /// The same for what each value becomes.
    pub fn map<U>(self, mut change: impl FnMut(T) -> U) -> ByDialect<U> {
        ByDialect {
            default: self.default.map(&mut change),
            others: self.others.into_iter().map(|(name, value)| (name, change(value))).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_dialect_counts() {
        let sql = ByDialect {
            default: Some(1),
            others: vec![("mysql".to_owned(), 2), ("mariadb".to_owned(), 3)],
        };
        let of = |names: &[&str]| {
            sql.of(&names.iter().map(ToString::to_string).collect::<Vec<_>>()).copied()
        };
        assert_eq!(of(&["base", "postgres"]), Some(1));
        assert_eq!(of(&["base", "mysql"]), Some(2));
        assert_eq!(of(&["base", "mysql", "mariadb"]), Some(3));
        assert_eq!(ByDialect::<u8>::default().of(&["base".to_owned()]), None);
    }
}
