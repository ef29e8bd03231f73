//! Trino: `EXPLAIN (TYPE LOGICAL, FORMAT JSON)`. What projections and scans assign is left out: their names follow from
//! the rest, and those of a connector's columns contain numbers of the table.

use super::PlanOperation;
use super::json::Json;

/// Members of the descriptor that follow from the joins, with numbers of symbols.
const IGNORED: [&str; 1] = ["dynamicFilters"];
/// Values of the descriptor that say nothing.
const EMPTY: [&str; 2] = ["", "[]"];
/// What Trino returns for an estimate that it does not have.
const UNKNOWN: &str = "NaN";

pub(super) fn read(text: &str) -> Result<Vec<PlanOperation>, String> {
    let mut operations = Vec::new();
    walk(&Json::parse(text)?, 0, &mut operations);
    Ok(operations)
}

fn walk(node: &Json, depth: usize, operations: &mut Vec<PlanOperation>) {
    let Some(mut operation) = node.text("name") else { return };
    let descriptor = node.get("descriptor").map_or(&[][..], Json::members);
    for (name, value) in descriptor.iter().filter(|(name, _)| !IGNORED.contains(&name.as_str())) {
        let value = value.as_text().unwrap_or_default();
        if !EMPTY.contains(&value.trim()) {
            operation.push_str(&format!("; {name}: {}", value.trim()));
        }
    }
    let estimates = node.get("estimates").map_or(&[][..], Json::elements).first();
    let rows = estimates.and_then(|first| first.text("outputRowCount"));
    let rows = rows.filter(|rows| rows != UNKNOWN).map(|rows| format!("rows {rows}"));
    operations.push(PlanOperation::new(depth, &operation, rows.unwrap_or_default()));
    for child in node.get("children").map_or(&[][..], Json::elements) {
        walk(child, depth + 1, operations);
    }
}
