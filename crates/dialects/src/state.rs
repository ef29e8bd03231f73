//! How the state of a database is described, brought into caches and waited for, from `state.toml` of
//! the dialects' folders.
//!
//! Lists of tables are queries that return the statements for each table, so that names and columns are
//! quoted where they are known. Names of views and counters differ between versions: each declaration
//! may say for which it is.

use serde::Deserialize;
use triphammer_core::SpecError;

use crate::catalogues;
use crate::doctor::is_between;
use crate::observe::lay_over;

/// What a dialect declares about the state of its databases.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StateDef {
    /// The smallest statement; `None` for that of most databases.
    pub smallest: Option<String>,
    /// Query of one number: rows that were deleted or replaced and still take space.
    pub dead_rows: Option<String>,
    /// Query of one number: bytes of tables that hold nothing.
    pub free_bytes: Option<String>,
    /// Query of the tables: name, and the query of one text that is its number of rows.
    pub rows: Option<String>,
    /// The same, with a text that depends on all values of all rows and on nothing else.
    pub checksums: Option<String>,
    /// What reads tables or indexes into caches.
    pub warm: Vec<WarmDef>,
    /// What a server does in the background.
    pub quiet: Vec<QuietDef>,
}

/// What is read into caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Warmed {
    /// The rows of tables.
    Tables,
    /// The entries of indexes.
    Indexes,
}

/// A way to read tables or indexes into caches; the first whose condition holds is used.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WarmDef {
    /// Name of the way, for people.
    pub name: String,
    /// What it reads.
    pub of: Warmed,
    /// Query that returns a row if it can be used; `None` if it always can.
    pub when: Option<String>,
    /// Query of what is to be read: name, and the statements that read it.
    pub list: String,
    /// What to know of it; `None` if there is nothing.
    pub note: Option<String>,
}

/// Work in the background.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuietDef {
    /// Name of the work, for people: `autovacuum`.
    pub name: String,
    /// Query of one number: how much of it there is. No row, or NULL, where this user cannot see that.
    pub sql: String,
    /// Query that returns a row if the number can be asked for; `None` if it always can.
    #[serde(default)]
    pub when: Option<String>,
    /// Whether the work is also done when the number does not change any more, because what is left is
    /// done at another occasion only.
    #[serde(default)]
    pub rests: bool,
    /// First version of the server that it is for.
    #[serde(default)]
    pub from: Option<String>,
    /// First version that it is not for.
    #[serde(default)]
    pub before: Option<String>,
}

impl QuietDef {
    /// Whether it is for a server of this version.
    #[must_use]
    pub fn is_for(&self, version: &str) -> bool {
        is_between(version, self.from.as_deref(), self.before.as_deref())
    }
}

/// The declarations of a dialect, including inherited ones.
///
/// # Errors
/// When there is no such dialect, or a file is malformed.
pub fn state(dialect: &str) -> Result<StateDef, SpecError> {
    let mut all = StateDef::default();
    for dialect in catalogues::chain(dialect)? {
        let path = format!("{}/state.toml", dialect.name);
        let Some(text) = catalogues::text(&path) else { continue };
        let own: StateDef = toml::from_str(&text)
            .map_err(|error| SpecError::new(format!("sql/{path}: {error}")))?;
        all.extend(own);
    }
    Ok(all)
}

impl StateDef {
    /// The smallest statement that the database has to execute.
    #[must_use]
    pub fn smallest(&self) -> &str {
        self.smallest.as_deref().unwrap_or("SELECT 1")
    }

    /// Lays a child's declarations over its parent's.
    fn extend(&mut self, child: Self) {
        self.smallest = child.smallest.or(self.smallest.take());
        self.dead_rows = child.dead_rows.or(self.dead_rows.take());
        self.free_bytes = child.free_bytes.or(self.free_bytes.take());
        self.rows = child.rows.or(self.rows.take());
        self.checksums = child.checksums.or(self.checksums.take());
        lay_over(&mut self.warm, child.warm, |way| &way.name);
        lay_over(&mut self.quiet, child.quiet, |work| &work.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dialects_state_is_readable_and_a_child_replaces_its_parents() {
        for dialect in catalogues::dialects() {
            state(&dialect).unwrap();
        }
        let sql = |dialect: &str, name: &str| {
            let quiet = state(dialect).unwrap().quiet;
            quiet.into_iter().find(|work| work.name == name).unwrap().sql
        };
        assert_ne!(sql("mysql", "dirty pages"), sql("mariadb", "dirty pages"));
        assert_eq!(state("postgres").unwrap().warm.len(), 4);
        assert_eq!(state("postgres").unwrap().smallest(), "SELECT 1");
        assert_eq!(state("oracle").unwrap().smallest(), "SELECT 1 FROM dual");
    }
}
