//! The statements of the workload.

use triphammer_core::sql::{StatementDef, param, statement};
use triphammer_core::value::ColumnType::BigInt;
use triphammer_core::workload::Name;

use super::checks::CHECKS;
use super::queries::{QUERIES, Query};
use super::refresh;

/// Scale of tables that somebody else filled, in thousandths.
pub const EXTERNAL_SCALE: &str = "external.scale";
/// Which of the tables that somebody else filled have rows.
pub const EXTERNAL_ROWS: &str = "external.rows";
/// One of the texts of the data.
pub const ONE_TEXT: &str = "answers.text";

/// All statements.
pub fn statements() -> Vec<StatementDef> {
    let range = [param("first", BigInt), param("last", BigInt)];
    let check = |name: &Name| StatementDef { name: name.clone(), ..statement("", &range) };
    let checks = CHECKS.iter().map(|definition| check(&definition.statement));
    let queries = QUERIES.iter().map(Query::definition);
    let external = [EXTERNAL_SCALE, EXTERNAL_ROWS, ONE_TEXT].map(|name| statement(name, &[]));
    checks.chain(queries).chain(refresh::definitions()).chain(external).collect()
}
