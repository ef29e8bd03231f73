//! PostgreSQL: `EXPLAIN (FORMAT JSON)`. Which partitions of a table a query reads depends on its
//! literals, so equal scans of several partitions are one operation, and names of partitions have no
//! numbers.

use super::PlanOperation;
use super::json::Json;
use super::text::without_numbers;

/// Members with conditions and keys, which are part of the plan.
const CONDITIONS: [&str; 14] = [
    "Index Cond",
    "Recheck Cond",
    "TID Cond",
    "Hash Cond",
    "Merge Cond",
    "Join Filter",
    "Filter",
    "One-Time Filter",
    "Sort Key",
    "Presorted Key",
    "Group Key",
    "Cache Key",
    "Order By",
    "Function Name",
];
/// Name of the number of parallel workers that the planner wanted.
pub(super) const PLANNED: &str = "workers";
/// Name of the number of parallel workers that were started.
pub(super) const LAUNCHED: &str = "workers launched";
/// Members with estimates and measurements, and their names here.
const FIGURES: [(&str, &str); 10] = [
    ("Plan Rows", "rows"),
    ("Total Cost", "cost"),
    ("Workers Planned", PLANNED),
    ("Actual Rows", "actual rows"),
    ("Actual Loops", "loops"),
    ("Actual Total Time", "ms"),
    ("Workers Launched", LAUNCHED),
    ("Rows Removed by Filter", "removed"),
    ("Shared Hit Blocks", "blocks hit"),
    ("Shared Read Blocks", "blocks read"),
];

pub(super) fn read(text: &str) -> Result<Vec<PlanOperation>, String> {
    let answer = Json::parse(text)?;
    let plan = answer.elements().first().and_then(|first| first.get("Plan"));
    let plan = plan.ok_or("the answer to EXPLAIN has no plan")?;
    let mut operations = Vec::new();
    walk(plan, 0, &mut operations);
    Ok(operations)
}

fn walk(node: &Json, depth: usize, operations: &mut Vec<PlanOperation>) {
    let mut operation = operation(node);
    for name in CONDITIONS {
        if let Some(condition) = node.text(name) {
            operation.push_str(&format!("; {name}: {condition}"));
        }
    }
    let mut figures: Vec<String> = (FIGURES.iter())
        .filter_map(|(member, name)| Some(format!("{name} {}", node.text(member)?)))
        .collect();
    let children = node.get("Plans").map_or(&[][..], Json::elements);
    if !matches!(node.text("Node Type").as_deref(), Some("Append" | "Merge Append")) {
        operations.push(PlanOperation::new(depth, &operation, figures.join(", ")));
        children.iter().for_each(|child| walk(child, depth + 1, operations));
        return;
    }
    figures.insert(0, format!("inputs {}", children.len()));
    operations.push(PlanOperation::new(depth, &without_numbers(&operation), figures.join(", ")));
    let mut inputs: Vec<Vec<PlanOperation>> = Vec::new();
    for child in children {
        let mut input = Vec::new();
        walk(child, depth + 1, &mut input);
        input.iter_mut().for_each(|one| one.operation = without_numbers(&one.operation));
        let is_same = |(a, b): (&PlanOperation, &PlanOperation)| {
            (a.depth, &a.operation) == (b.depth, &b.operation)
        };
        let is_new = |known: &Vec<PlanOperation>| {
            known.len() != input.len() || !known.iter().zip(&input).all(is_same)
        };
        if inputs.iter().all(is_new) {
            inputs.push(input);
        }
    }
    operations.extend(inputs.into_iter().flatten());
}

/// The operation in the words of EXPLAIN's text format: `Parallel Hash Left Join`.
fn operation(node: &Json) -> String {
    let text = |name: &str| node.text(name).unwrap_or_default();
    let mut words = node.text("Subplan Name").map_or_else(String::new, |name| format!("{name}: "));
    if text("Parallel Aware") == "true" {
        words.push_str("Parallel ");
    }
    if let mode @ ("Partial" | "Finalize") = text("Partial Mode").as_str() {
        words.push_str(&format!("{mode} "));
    }
    words.push_str(&kind(node));
    if text("Scan Direction") == "Backward" {
        words.push_str(" Backward");
    }
    for (member, before) in [("Index Name", "using"), ("Relation Name", "on"), ("CTE Name", "on")] {
        if let Some(name) = node.text(member) {
            words.push_str(&format!(" {before} {}", without_numbers(&name)));
        }
    }
    if let Some(alias) = node.text("Alias").filter(|alias| *alias != text("Relation Name")) {
        words.push_str(&format!(" {alias}"));
    }
    words
}

fn kind(node: &Json) -> String {
    let kind = node.text("Node Type").unwrap_or_else(|| "?".to_owned());
    match (kind.as_str(), node.text("Strategy").as_deref(), node.text("Join Type").as_deref()) {
        ("Aggregate", Some("Sorted"), _) => "GroupAggregate".to_owned(),
        ("Aggregate", Some("Hashed"), _) => "HashAggregate".to_owned(),
        ("Aggregate", Some("Mixed"), _) => "MixedAggregate".to_owned(),
        ("SetOp", Some("Hashed"), _) => "HashSetOp".to_owned(),
        (_, _, Some("Inner") | None) => kind,
        (_, _, Some(join)) => format!("{} {join} Join", kind.trim_end_matches(" Join")),
    }
}
