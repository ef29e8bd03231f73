//! The statistics that a dialect's servers keep about statements, from `capture.toml` of the dialects' folders: what
//! `capture` makes a workload file from. A new database needs a file and no Rust.
//!
//! A dialect has its parent's declarations; a query of the same name replaces it.

use serde::Deserialize;
use triphammer_core::SpecError;

use crate::catalogues;
use crate::observe::{QueryDef, lay_over};

/// How the texts of a server's statements are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Texts {
    /// `$1`.
    Postgres,
    /// `?`, and `...` for lists.
    Mysql,
}

/// What a server needs to keep statistics.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NeedDef {
    /// Query that returns a row if this is what is missing; `None` for whatever else is.
    #[serde(default)]
    pub when: Option<String>,
    /// What is missing, for messages.
    pub text: String,
}

/// What a dialect declares about the statistics of statements.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StatisticsDef {
    /// How texts are written; `None` if the servers of the dialect have no such statistics.
    pub texts: Option<Texts>,
    /// What a server needs to keep the statistics, for messages: the first one whose condition holds.
    pub needs: Vec<NeedDef>,
    /// The statistics, of which the first one that suits the server is used: the text and the number of calls.
    pub statements: Vec<QueryDef>,
    /// The columns of the database's tables, in the tables' order: table, column, both as they are written in SQL, kind
    /// (`integer`, `decimal`, `float`, `text`, `date`, `timestamp`, `other`), digits after the point or length, and
    /// whether values are unique (1).
    pub columns: String,
    /// Smallest and largest value of `{column}` in `{table}`, as texts.
    pub span: String,
    /// Some values of `{column}` in `{table}`.
    pub values: String,
    /// Some lists of values of `{column}` in `{table}`, for `= ANY (…)`.
    pub lists: String,
    /// The largest value of `{column}` in `{table}`, 0 if there is none.
    pub last: String,
}

/// The declarations of a dialect, including inherited ones.
///
/// # Errors
/// When there is no such dialect, or a file is malformed.
pub fn statistics(dialect: &str) -> Result<StatisticsDef, SpecError> {
    let mut all = StatisticsDef::default();
    for dialect in catalogues::chain(dialect)? {
        let path = format!("{}/capture.toml", dialect.name);
        let Some(text) = catalogues::text(&path) else { continue };
        let own: StatisticsDef = toml::from_str(&text)
            .map_err(|error| SpecError::new(format!("sql/{path}: {error}")))?;
        all.extend(own);
    }
    Ok(all)
}

impl StatisticsDef {
    /// Lays a child's declarations over its parent's.
    fn extend(&mut self, child: Self) {
        self.texts = child.texts.or(self.texts);
        lay_over(&mut self.statements, child.statements, |query| &query.name);
        if !child.needs.is_empty() {
            self.needs = child.needs;
        }
        for (mine, own) in [
            (&mut self.columns, child.columns),
            (&mut self.span, child.span),
            (&mut self.values, child.values),
            (&mut self.lists, child.lists),
            (&mut self.last, child.last),
        ] {
            if !own.is_empty() {
                *mine = own;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_complete() {
        let mut found = 0;
        for dialect in catalogues::dialects() {
            let def = statistics(&dialect).unwrap();
            if def.texts.is_none() {
                continue;
            }
            found += 1;
            assert!(!def.statements.is_empty() && !def.needs.is_empty(), "{dialect}");
            assert!(!def.columns.is_empty(), "{dialect}");
            for template in [&def.span, &def.values, &def.last] {
                assert!(template.contains("{column}") && template.contains("{table}"), "{dialect}");
            }
        }
        assert!(found >= 3, "PostgreSQL, MySQL and MariaDB have statistics");
    }
}
