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
mod statement;
mod text;

pub use catalogue::{DialectLayer, StatementCatalogue};
pub use dialect::{Dialect, DialectOption, Explain, Layout, ParamKind, Placeholder, PlanFormat};
pub use statement::{
    BoundStatement, Param, Required, StatementDef, call, optional, param, statement,
};
pub use text::Script;
