//! Statement catalogues: named statements of a workload in the SQL of a dialect.
//!
//! A catalogue is laid over its parent: `sql/base/tproc-c/*.sql` first, then each dialect's folder
//! from the root of its family down to the dialect itself, by name, so that a dialect's folder
//! holds only what differs. In a file `-- name: new_order.stock` begins a block that ends at the
//! next such line; so procedure bodies can be stored without parsing semicolons. `{word}` is
//! replaced by the dialect's template variable of that name, which may contain variables itself,
//! and `:param` by the dialect's placeholder, once, when the catalogue is created; nothing is
//! looked up by name during a run. Options of a dialect ([`DialectOption`]) are variables that a
//! build may set.
//!
//! Blocks whose name is a declared [`StatementDef`] are statements. All others are scripts, run as
//! they are; the part of their name before the first dot says when: `create.`, `key.`, `index.`,
//! `foreign_key.`, `procedure.`, `analyze.`, `after_drop.` (when the tables are dropped),
//! `drop_procedure.`, and `load_SOURCE.`, which loads a table within the server when the dialect's
//! option `load-from` is `SOURCE`.

mod catalogue;
mod dialect;
mod keys;
mod statement;
mod text;

pub use catalogue::{DialectLayer, StatementCatalogue};
pub use dialect::{Dialect, DialectOption, Explain, Layout, ParamKind, Placeholder, PlanFormat};
pub use keys::KeysWithTables;
pub use statement::{
    BoundStatement, OwnSql, OwnSqlUse, Param, Required, StatementDef, call, optional, param,
    statement,
};
pub use text::Script;

/// First words of statements that may commit and go on: calls of procedures, and blocks.
const BLOCKS: [&str; 6] = ["CALL", "DO", "EXEC", "EXECUTE", "BEGIN", "DECLARE"];

/// Whether a text may commit before it ends: a call of a procedure, a block, or several statements.
/// An error that it ends with does not show then that nothing was committed.
#[must_use]
pub fn commits_inside(sql: &str) -> bool {
    let text = sql.trim().trim_end_matches([';', ' ', '\n', '\r', '\t']);
    let first = text.split(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
    let is_block = BLOCKS.iter().any(|word| first.eq_ignore_ascii_case(word));
    is_block || first.starts_with(['{', '-', '/', '#']) || text.contains(';')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_and_several_statements_may_commit_before_they_end() {
        for (sql, expected) in [
            ("CALL p(1)", true),
            ("{? = call p(1)}", true),
            ("/* a */ call p()", true),
            ("do $$ begin commit; end $$", true),
            ("UPDATE t SET a = 1; COMMIT", true),
            ("UPDATE t SET a = 1;\n", false),
            ("SELECT f(1)", false),
            ("INSERT INTO t VALUES (1)", false),
        ] {
            assert_eq!(commits_inside(sql), expected, "{sql}");
        }
    }
}
