//! Servers that demand a primary key of every table when it is created: the keys move from scripts
//! of their own into the CREATE TABLE.

use serde::Deserialize;

use super::text::Script;

/// How a dialect's servers demand keys.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeysWithTables {
    /// Query that returns rows where the server demands or makes a key of every new table.
    pub when: String,
    /// Definition of a column that is the key of a table that has none.
    pub row: String,
}

/// Moves the primary keys into the statements that create their tables, and gives a table without
/// one the column `row`. Returns the scripts that this replaces.
pub(super) fn fold(scripts: &mut Vec<Script>, row: &str) -> Vec<Script> {
    let keys: Vec<Script> = scripts.iter().filter(|s| s.kind() == "key").cloned().collect();
    let mut replaced = Vec::new();
    for create in scripts.iter_mut().filter(|script| script.kind() == "create") {
        let has_key = create.sql.to_uppercase().contains("PRIMARY KEY");
        let key = keys.iter().find(|key| key.object() == create.object());
        let element = match key {
            _ if has_key => None,
            Some(key) => key_of(&key.sql).map(|columns| format!("PRIMARY KEY {columns}")),
            None => Some(row.to_owned()),
        };
        // The parenthesis after the last column begins a line.
        if let (Some(element), Some(end)) = (element, create.sql.find("\n)")) {
            create.sql.insert_str(end, &format!(",\n    {element}"));
            replaced.push(create.object().to_owned());
        }
    }
    let is_replaced = |script: &Script| {
        let is_key = script.kind() == "key" || script.kind().ends_with("_key");
        is_key && script.kind() != "foreign_key" && replaced.iter().any(|t| t == script.object())
    };
    let gone = scripts.iter().filter(|script| is_replaced(script)).cloned().collect();
    scripts.retain(|script| !is_replaced(script));
    gone
}

/// The columns, in parentheses, of `ALTER TABLE t ADD PRIMARY KEY (a, b)`.
fn key_of(sql: &str) -> Option<&str> {
    let (_, columns) = sql.split_once("ADD PRIMARY KEY ")?;
    columns.find(')').map(|end| &columns[..=end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_move_into_the_tables_and_a_table_without_one_gets_a_column() {
        let script = |name: &str, sql: &str| Script { name: name.into(), sql: sql.into() };
        let mut scripts = vec![
            script("create.a", "CREATE TABLE a (\n    x int NOT NULL\n) PARTITION BY (\n)"),
            script("create.h", "CREATE TABLE h (\n    x int NOT NULL\n)"),
            script("create.k", "CREATE TABLE k (\n    x int PRIMARY KEY\n)"),
            script("key.a", "ALTER TABLE a ADD PRIMARY KEY (x, y);"),
            script("h_key.h", "ALTER TABLE h ADD COLUMN id bigint PRIMARY KEY;"),
            script("foreign_key.a", "ALTER TABLE a ADD FOREIGN KEY (x) REFERENCES h (x);"),
        ];
        let replaced = fold(&mut scripts, "id bigint PRIMARY KEY");
        let names = |scripts: &[Script]| {
            scripts.iter().map(|script| script.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(names(&replaced), ["key.a", "h_key.h"]);
        assert_eq!(names(&scripts), ["create.a", "create.h", "create.k", "foreign_key.a"]);
        assert_eq!(
            scripts[0].sql,
            "CREATE TABLE a (\n    x int NOT NULL,\n    PRIMARY KEY (x, y)\n) PARTITION BY (\n)"
        );
        assert!(scripts[1].sql.contains("NOT NULL,\n    id bigint PRIMARY KEY\n)"));
        assert_eq!(scripts[2].sql.matches("PRIMARY KEY").count(), 1);
    }
}
