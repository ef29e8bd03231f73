//! What each database promises at its isolation levels, from `isolation.toml` of the dialects' folders:
//! data with its source, because names of levels promise different things in different products.

use serde::Deserialize;
use triphammer_core::SpecError;
use triphammer_core::isolation::Isolation;
use triphammer_isolation::{Consistency, Order, Promise};

use crate::catalogues;

/// The levels of a database.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct IsolationDef {
    /// Query of one text, the variant of the server, on which promises may depend; `None` without
    /// variants. One that fails has none.
    pub variant: Option<String>,
    /// The level of a transaction that asks for none; `None` if the server is asked.
    pub default_level: Option<Isolation>,
    /// Query of the level of a transaction that asks for none, by its name in SQL.
    pub default_query: Option<String>,
    /// The levels, the weakest first.
    #[serde(rename = "level")]
    pub levels: Vec<LevelDef>,
}

/// What a database promises at a level.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LevelDef {
    /// The level.
    pub name: Isolation,
    /// The variant of the server that it is about; `None` for all others.
    pub variant: Option<String>,
    /// The consistency model that the documentation describes.
    pub model: String,
    /// The order that transactions respect on one server: `none`, `session` or `real-time`.
    pub order: String,
    /// The model that holds for the commits of several nodes together; `None` for read committed, or
    /// a weaker one.
    pub on_nodes: Option<String>,
    /// The level that the product makes of this one: it is tested only if it is asked for.
    pub treated_as: Option<Isolation>,
    /// Where the promise is written.
    pub source: String,
    /// What to know about it, in a sentence; `None` for nothing.
    pub note: Option<String>,
}

impl LevelDef {
    /// The promise of one server, as the checker reads it.
    ///
    /// # Errors
    /// When a name is unknown.
    pub fn promise(&self) -> Result<Promise, SpecError> {
        let order = self.order.parse().map_err(SpecError::new)?;
        let model = self.model.parse().map_err(SpecError::new)?;
        Ok(Promise { model, order })
    }

    /// The promise of several nodes together, which keep no order of time.
    ///
    /// # Errors
    /// When a name is unknown.
    pub fn promise_of_nodes(&self) -> Result<Promise, SpecError> {
        let of_one = self.promise()?.model;
        let model = match &self.on_nodes {
            Some(model) => model.parse().map_err(SpecError::new)?,
            None if of_one == Consistency::ReadUncommitted => of_one,
            None => Consistency::ReadCommitted,
        };
        Ok(Promise { model, order: Order::Dependencies })
    }
}

/// What the name of a level promises by the standard, or by the literature where the standard has none.
#[must_use]
pub const fn of_name(level: Isolation) -> Consistency {
    match level {
        Isolation::ReadUncommitted => Consistency::ReadUncommitted,
        Isolation::ReadCommitted => Consistency::ReadCommitted,
        Isolation::RepeatableRead => Consistency::RepeatableRead,
        Isolation::Snapshot => Consistency::SnapshotIsolation,
        Isolation::Serializable => Consistency::Serializable,
    }
}

/// The declarations of a dialect: its own, or its nearest parent's.
///
/// # Errors
/// When there is no such dialect, or the file is malformed.
pub fn levels(dialect: &str) -> Result<IsolationDef, SpecError> {
    let mut found = IsolationDef::default();
    for dialect in catalogues::chain(dialect)? {
        let path = format!("{}/isolation.toml", dialect.name);
        let Some(text) = catalogues::text(&path) else { continue };
        let refuse = |error: String| SpecError::new(format!("sql/{path}: {error}"));
        found = toml::from_str(&text).map_err(|error| refuse(error.to_string()))?;
        for level in &found.levels {
            level.promise().map_err(|error| refuse(error.to_string()))?;
            level.promise_of_nodes().map_err(|error| refuse(error.to_string()))?;
        }
    }
    Ok(found)
}

impl IsolationDef {
    /// What is promised at a level by a server of this variant.
    #[must_use]
    pub fn level(&self, name: Isolation, variant: Option<&str>) -> Option<&LevelDef> {
        let of_name = || self.levels.iter().filter(move |level| level.name == name);
        of_name()
            .find(|level| variant.is_some() && level.variant.as_deref() == variant)
            .or_else(|| of_name().find(|level| level.variant.is_none()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dialect_says_what_its_levels_promise_and_where_that_is_written() {
        for dialect in catalogues::dialects() {
            let def = levels(&dialect).unwrap();
            for level in &def.levels {
                let source = &level.source;
                assert!(source.starts_with("https://"), "{dialect}: {source}");
            }
            let is_weaker = |a: &LevelDef, b: &LevelDef| (a.name as u8) <= (b.name as u8);
            assert!(def.levels.is_sorted_by(is_weaker), "{dialect}: the weakest first");
        }
    }

    #[test]
    fn a_name_promises_different_things_in_different_products() {
        let model = |dialect: &str, level: Isolation, variant: Option<&str>| {
            let def = levels(dialect).unwrap();
            def.level(level, variant).unwrap().promise().unwrap().model
        };
        let level = Isolation::RepeatableRead;
        assert_eq!(model("postgres", level, None), Consistency::SnapshotIsolation);
        assert_eq!(model("mysql", level, None), Consistency::ReadCommitted);
        assert_eq!(model("mariadb", level, None), Consistency::ReadCommitted);
        assert_eq!(model("mariadb", level, Some("snapshot")), Consistency::SnapshotIsolation);
        assert_eq!(model("sqlserver", level, None), Consistency::RepeatableRead);
    }
}
