//! DuckDB: `EXPLAIN (FORMAT json)`. Expressions of projections are left out: their types depend on
//! statistics of the data.

use super::PlanOperation;
use super::json::Json;

/// Names of operators: when explained, and when measured, before 2.0 and since.
const NAMES: [&str; 3] = ["name", "operator_name", "type"];
/// Members with the operators below: since 2.0, those of a measured query are in another one.
const BELOW: [&str; 2] = ["children", "operator"];
/// Members of `extra_info` that are part of the plan.
const DECIDED: [&str; 12] = [
    "Table",
    "Type",
    "Join Type",
    "Conditions",
    "Filters",
    "Filter",
    "Expression",
    "Groups",
    "Aggregates",
    "Order By",
    "Top",
    "CTE Name",
];
/// Members with measurements, before 2.0 and since, and their names here.
const MEASURED: [(&str, &str); 4] = [
    ("operator_cardinality", "actual rows"),
    ("intermediate_rows", "actual rows"),
    ("operator_timing", "s"),
    ("timing", "s"),
];

pub(super) fn read(text: &str) -> Result<Vec<PlanOperation>, String> {
    let mut operations = Vec::new();
    for root in Json::parse(text)?.elements() {
        walk(root, 0, &mut operations);
    }
    Ok(operations)
}

fn walk(node: &Json, depth: usize, operations: &mut Vec<PlanOperation>) {
    let name = NAMES.iter().find_map(|name| node.text(name));
    let name = name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    if let Some(name) = &name {
        operations.push(operation(name, node, depth));
    }
    let below = depth + usize::from(name.is_some());
    for children in BELOW.iter().filter_map(|name| node.get(name)) {
        for child in children.elements() {
            walk(child, below, operations);
        }
    }
}

fn operation(name: &str, node: &Json, depth: usize) -> PlanOperation {
    let mut operation = name.to_owned();
    let info = node.get("extra_info").unwrap_or(&Json::Null);
    for member in DECIDED {
        if let Some(value) = info.text(member).filter(|value| !value.is_empty()) {
            operation.push_str(&format!("; {member}: {}", value.replace('\n', " ")));
        }
    }
    let mut figures = Vec::new();
    figures.extend(info.text("Estimated Cardinality").map(|rows| format!("rows {rows}")));
    let measured = MEASURED.iter();
    figures.extend(measured.filter_map(|(m, name)| Some(format!("{name} {}", node.text(m)?))));
    PlanOperation::new(depth, &operation, figures.join(", "))
}
