//! Execution plans as text: an operation per line, indented, wrapped to the width of a report.

use triphammer_document::compare::PlanChange;
use triphammer_document::execution_plan::{ExecutionPlan, PlanOperation};
use triphammer_document::result::{QueriesResult, QuerySummary, RunResult};
use triphammer_settings::failure::Failure;
use triphammer_settings::format;

use super::profile::WIDTH;
use super::table::wrapped;

/// Word for all queries.
const ALL: &str = "all";

/// Renders the plan of a query, such as `9`, `q9` or `all`.
///
/// # Errors
/// When the run has no such plan.
pub fn plans(result: &RunResult, wanted: &str) -> Result<String, Failure> {
    let set = result.queries.as_ref().filter(|set| !set.plans.is_empty());
    let set = set.ok_or_else(|| Failure::refuse("no execution plans are stored with this job"))?;
    let query = format!("q{}", wanted.to_lowercase().trim_start_matches('q'));
    let chosen: Vec<&ExecutionPlan> =
        set.plans.iter().filter(|plan| wanted == ALL || plan.query == query).collect();
    if chosen.is_empty() {
        let names: Vec<String> = set.plans.iter().map(|plan| plan.query.to_uppercase()).collect();
        let names = names.join(", ");
        let message = format!("no plan of `{wanted}` is stored: expected one of {names}, or all");
        return Err(Failure::refuse(message));
    }
    let lines: Vec<String> = chosen.into_iter().flat_map(|plan| one(set, plan)).collect();
    Ok(format!("{}\n", lines.join("\n").trim_end()))
}

/// A plan with its heading, and its measurements if there are any.
fn one(set: &QueriesResult, plan: &ExecutionPlan) -> Vec<String> {
    let title = set.queries.iter().find(|query| query.name == plan.query);
    let title = title.map_or("", |QuerySummary { title, .. }| title);
    let query = plan.query.to_uppercase();
    let mut lines = vec![format!("Plan of {query} {title} (fingerprint {})", plan.fingerprint)];
    lines.extend(plan.operations.iter().flat_map(|operation| line("  ", operation)));
    lines.push(String::new());
    if let Some(analyzed) = &plan.analyzed {
        let time = format::seconds(analyzed.seconds);
        lines.push(format!("Measured plan of {query}, in a separate execution of {time}"));
        lines.extend(analyzed.operations.iter().flat_map(|operation| line("  ", operation)));
        lines.push(String::new());
    }
    lines
}

fn line(before: &str, operation: &PlanOperation) -> Vec<String> {
    let indented = operation.line();
    let text = indented.trim_start();
    let lead = format!("{before}{}", " ".repeat(indented.len() - text.len()));
    wrapped(&lead, text, WIDTH)
}

/// That plans changed, in one sentence; `None` if none did.
pub(super) fn in_short(changes: &[PlanChange]) -> Option<String> {
    let first = changes.first()?;
    let others = match changes.len() - 1 {
        0 => String::new(),
        others => format!(", and {} more", format::counted(others as u64, "plans")),
    };
    Some(format!("{}{others}", heading(first)))
}

/// Heading of a plan that changed.
pub(super) fn heading(change: &PlanChange) -> String {
    match change.title.as_str() {
        "" => format!("The plan of a statement changed: {}", change.query),
        title => format!("The plan of {} ({title}) changed", change.query.to_uppercase()),
    }
}

/// Both plans; operations that only one of them has are marked.
pub(super) fn change(change: &PlanChange) -> Vec<String> {
    let side = |name: &str, sign: &str, plan: &ExecutionPlan, other: &ExecutionPlan| {
        let mut lines = vec![format!("  {name}  fingerprint {}", plan.short())];
        for operation in &plan.operations {
            let is_there = |one: &PlanOperation| one.operation == operation.operation;
            let sign = if other.operations.iter().any(is_there) { " " } else { sign };
            lines.extend(line(&format!("  {sign} "), operation));
        }
        lines
    };
    let (a, b) = (&change.a, &change.b);
    [side("A", "-", a, b), side("B", "+", b, a)].concat()
}
