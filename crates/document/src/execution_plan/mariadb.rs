//! MariaDB: `EXPLAIN FORMAT=JSON`, objects in objects. Every object is an operation, except those
//! that only group others.

use super::PlanOperation;
use super::json::Json;

/// Members that are part of the plan.
const DECIDED: [&str; 17] = [
    "table_name",
    "access_type",
    "key",
    "used_key_parts",
    "ref",
    "index_condition",
    "attached_condition",
    "having_condition",
    "outer_ref_condition",
    "sort_key",
    "join_type",
    "buffer_type",
    "using_index",
    "distinct",
    "first_match",
    "operation",
    "message",
];
/// Members with estimates and measurements, and their names here.
const FIGURES: [(&str, &str); 7] = [
    ("rows", "rows"),
    ("filtered", "filtered"),
    ("cost", "cost"),
    ("r_loops", "loops"),
    ("r_rows", "actual rows"),
    ("r_filtered", "actual filtered"),
    ("r_total_time_ms", "ms"),
];
/// Objects about the optimizer's work, or with measurements only.
const IGNORED: [&str; 2] = ["query_optimization", "r_engine_stats"];

pub(super) fn read(text: &str) -> Result<Vec<PlanOperation>, String> {
    let mut operations = Vec::new();
    inputs(&Json::parse(text)?, 0, &mut operations);
    Ok(operations)
}

/// Adds the objects of an object.
fn inputs(of: &Json, depth: usize, operations: &mut Vec<PlanOperation>) {
    for (name, value) in of.members() {
        match value {
            _ if IGNORED.contains(&name.as_str()) => {}
            Json::Object(_) => walk(name, value, depth, operations),
            Json::Array(elements) if elements.iter().any(|one| !one.members().is_empty()) => {
                operations.push(PlanOperation::new(depth, name, String::new()));
                elements.iter().for_each(|element| inputs(element, depth + 1, operations));
            }
            _ => {}
        }
    }
}

fn walk(name: &str, object: &Json, depth: usize, operations: &mut Vec<PlanOperation>) {
    let mut operation = name.to_owned();
    for member in DECIDED {
        let Some(value) = object.text(member) else { continue };
        match member {
            "table_name" => operation.push_str(&format!(" {value}")),
            "ref" => operation.push_str(&format!("; ref: {}", without_database(&value))),
            _ => operation.push_str(&format!("; {member}: {value}")),
        }
    }
    // Which ones depends on the literals.
    let partitions =
        object.get("partitions").map(|all| format!("partitions {}", all.elements().len()));
    let figures = FIGURES.iter();
    let figures =
        figures.filter_map(|(member, name)| Some(format!("{name} {}", object.text(member)?)));
    let figures: Vec<String> = partitions.into_iter().chain(figures).collect();
    operations.push(PlanOperation::new(depth, &operation, figures.join(", ")));
    inputs(object, depth + 1, operations);
}

/// `tpch.orders.o_custkey` without its database, whose name is not part of the plan.
fn without_database(columns: &str) -> String {
    let short = |column: &str| match *column.split('.').collect::<Vec<_>>() {
        [_, table, column] => format!("{table}.{column}"),
        _ => column.to_owned(),
    };
    columns.split(", ").map(short).collect::<Vec<_>>().join(", ")
}
