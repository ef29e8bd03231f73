//! Execution plans of queries and statements that differ between the sides of a comparison.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::facts::{Difference, Subject};
use super::run::Run;
use crate::execution_plan::ExecutionPlan;
use crate::result::RunResult;

/// A query or a statement whose execution plan changed from A to B.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanChange {
    /// Key of the query: `q9`; the statement of a replay, in one line.
    pub query: String,
    /// Title of the query; empty for a statement.
    pub title: String,
    /// Its plan in the first run of A that has one; no run of B has it.
    pub a: ExecutionPlan,
    /// Its plan in B, likewise.
    pub b: ExecutionPlan,
}

/// The plans that differ, by the differences of the facts.
pub(super) fn changes(differences: &[Difference], a: &[&Run], b: &[&Run]) -> Vec<PlanChange> {
    let changed = differences.iter().filter(|difference| difference.subject == Subject::Plan);
    changed.filter_map(|difference| change(&difference.name, a, b)).collect()
}

fn change(name: &str, a: &[&Run], b: &[&Run]) -> Option<PlanChange> {
    let first = |runs: &[&Run]| runs.iter().find_map(|run| plan_of(&run.result, name));
    let (title, a, b) = (title(name, a), first(a)?, first(b)?);
    Some(PlanChange { query: a.query.clone(), title, a, b })
}

/// The plan of a query or statement, by the name of its difference.
fn plan_of(result: &RunResult, name: &str) -> Option<ExecutionPlan> {
    let of_queries = result.queries.iter().flat_map(|set| &set.plans);
    let of_query = of_queries.filter(|plan| plan.query.to_uppercase() == name);
    // The names of differences are shortened.
    let is_named = |query: &str| match name.strip_suffix('…') {
        Some(start) => query.starts_with(start),
        None => query == name,
    };
    let of_statement = result.statement_plans.iter().filter(|plan| is_named(&plan.query));
    of_query.chain(of_statement).next().cloned()
}

/// Title of a query; empty for a statement.
fn title(name: &str, runs: &[&Run]) -> String {
    let queries = runs.iter().filter_map(|run| run.result.queries.as_ref());
    let mut queries = queries.flat_map(|set| &set.queries);
    let found = queries.find(|summary| summary.name.to_uppercase() == name);
    found.map(|summary| summary.title.clone()).unwrap_or_default()
}
