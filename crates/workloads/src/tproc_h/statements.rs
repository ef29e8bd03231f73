//! The statements of the workload.

use triphammer_core::sql::{StatementDef, param, statement};
use triphammer_core::value::ColumnType::BigInt;
use triphammer_core::workload::Name;

use super::checks::CHECKS;
use super::queries::{QUERIES, Query};
use super::refresh;

/// All statements.
pub fn statements() -> Vec<StatementDef> {
    let range = [param("first", BigInt), param("last", BigInt)];
    let check = |name: &Name| StatementDef { name: name.clone(), ..statement("", &range) };
    let checks = CHECKS.iter().map(|definition| check(&definition.statement));
    let queries = QUERIES.iter().map(Query::definition);
    checks.chain(queries).chain(refresh::definitions()).collect()
}
