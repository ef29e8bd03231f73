//! The statements of the workload.

use triphammer_core::sql::{StatementDef, param, statement};
use triphammer_core::value::ColumnType::BigInt;

use super::checks::CHECKS;

/// All statements.
pub fn statements() -> Vec<StatementDef> {
    let range = [param("first", BigInt), param("last", BigInt)];
    CHECKS
        .iter()
        .map(|check| StatementDef { name: check.statement.clone(), ..statement("", &range) })
        .collect()
}
