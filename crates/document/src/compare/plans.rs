//! Execution plans that differ between the sides of a comparison.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::facts::{Difference, Subject};
use super::run::Run;
use crate::execution_plan::ExecutionPlan;

/// A query whose execution plan changed from A to B.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanChange {
    /// Key of the query: `q9`.
    pub query: String,
    /// Title of the query.
    pub title: String,
    /// Its plan in A: that of the first run whose plan B does not have.
    pub a: ExecutionPlan,
    /// Its plan in B, likewise.
    pub b: ExecutionPlan,
}

/// The plans that differ, by the differences of the facts.
pub(super) fn changes(differences: &[Difference], a: &[&Run], b: &[&Run]) -> Vec<PlanChange> {
    let changed = differences.iter().filter(|difference| difference.subject == Subject::Plan);
    changed.filter_map(|difference| change(&difference.name.to_lowercase(), a, b)).collect()
}

fn change(query: &str, a: &[&Run], b: &[&Run]) -> Option<PlanChange> {
    let plans = |runs: &[&Run]| -> Vec<ExecutionPlan> {
        let sets = runs.iter().filter_map(|run| run.result.queries.as_ref());
        sets.filter_map(|set| set.plan(query)).cloned().collect()
    };
    let (a, title) = (plans(a), title(query, a)?);
    let b = plans(b);
    let only = |these: &[ExecutionPlan], others: &[ExecutionPlan]| {
        let is_new = |plan: &&ExecutionPlan| {
            others.iter().all(|other| other.fingerprint != plan.fingerprint)
        };
        these.iter().find(is_new).or(these.first()).cloned()
    };
    Some(PlanChange { query: query.to_owned(), title, a: only(&a, &b)?, b: only(&b, &a)? })
}

fn title(query: &str, runs: &[&Run]) -> Option<String> {
    let queries = runs.iter().filter_map(|run| run.result.queries.as_ref());
    let mut queries = queries.flat_map(|set| &set.queries);
    queries.find(|summary| summary.name == query).map(|summary| summary.title.clone())
}
