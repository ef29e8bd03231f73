//! Execution plans of the costliest statements of a replay, after it: reading one may execute a
//! part of a statement, and fills caches. `compare --replay` names the statements whose plans differ
//! between the sides.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::timeout;
use triphammer_core::session::Session as _;
use triphammer_core::sql::Explain;
use triphammer_core::workload::{StatementExample, StatementTimes, Workload as _};
use triphammer_core::{DbError, Value};
use triphammer_document::execution_plan::ExecutionPlan;
use triphammer_document::redacted::mask_secrets;
use triphammer_drivers::AnySession;
use triphammer_load::Plan;
use triphammer_settings::limited::Limited;

use super::explain;

/// Number of statements that are explained: those that took the most time in all.
const STATEMENTS_MAX: usize = 20;

/// What was read, and what could not be, in words.
#[derive(Debug, Default)]
pub(super) struct StatementPlans {
    /// The plans, those of the costliest statements first.
    pub plans: Vec<ExecutionPlan>,
    /// Why plans are missing.
    pub missing: Option<String>,
}

/// Reads the plans of a replay, given the times of its statements; nothing for other workloads, and
/// where the database has no EXPLAIN.
pub(super) async fn read(plan: &Plan, times: &[StatementTimes]) -> StatementPlans {
    let Some(explain) = plan.catalogue.explain() else { return StatementPlans::default() };
    let examples = examples(plan, times);
    if examples.is_empty() {
        return StatementPlans::default();
    }
    let mut found = StatementPlans::default();
    if let Err(error) = read_all(plan, explain, &examples, &mut found).await {
        let why = mask_secrets(error.message());
        found.missing = Some(format!("execution plans of statements could not be read: {why}"));
    }
    found
}

/// The costliest statements, with arguments of the recording.
fn examples(plan: &Plan, times: &[StatementTimes]) -> Vec<StatementExample> {
    // A statement has times in each transaction type that has it.
    let mut totals: BTreeMap<&str, Duration> = BTreeMap::new();
    for of in times.iter().filter(|of| of.runs > 0) {
        *totals.entry(of.text.as_str()).or_default() += of.total;
    }
    let mut costliest: Vec<(&str, Duration)> = totals.into_iter().collect();
    costliest.sort_by_key(|(_, total)| Reverse(*total));
    let placeholder = plan.catalogue.placeholder();
    let example = |(text, _): &(&str, _)| plan.workload.statement_example(text, placeholder);
    costliest.iter().take(STATEMENTS_MAX).filter_map(example).collect()
}

/// Reads plan by plan.
///
/// # Errors
/// When the session is lost.
async fn read_all(
    plan: &Plan,
    explain: &Explain,
    examples: &[StatementExample],
    found: &mut StatementPlans,
) -> Result<(), DbError> {
    let mut session = explain::connect(plan).await?;
    for example in examples {
        let reading = one(&mut session, explain, example);
        match timeout(explain::limit(plan), reading).await {
            Ok(Ok(read)) => found.plans.push(read),
            Ok(Err(error)) if session.is_closed() || error.class().loses_session() => {
                return Err(error);
            }
            // Not every statement has a plan, such as a SET or a CALL.
            Ok(Err(_)) => session.rollback().await?,
            // It waits for a lock: the others may not.
            Err(_) => {
                let _ = session.canceller().cancel().await;
                found.missing = Some("the plan of a statement was not read in time".to_owned());
                session = explain::connect(plan).await?;
            }
        }
    }
    session.close().await;
    Ok(())
}

async fn one(
    session: &mut Limited<AnySession>,
    explain: &Explain,
    example: &StatementExample,
) -> Result<ExecutionPlan, DbError> {
    let arguments: Vec<Value<'_>> = example.arguments.iter().map(Into::into).collect();
    let words = (explain, explain.plan.as_str());
    let operations = explain::operations(session, words, &example.statement, &arguments).await?;
    Ok(ExecutionPlan::new(&mask_secrets(&example.text), operations))
}
