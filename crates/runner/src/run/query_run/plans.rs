//! Reads the execution plan of each query, after the timed part: reading one may execute a part of
//! the query, and fills caches.
//!
//! Each query is explained once, with the arguments of its first execution, on a session like that
//! of a stream. With `--analyze` it is then executed once more, with measurements. A thread of its
//! own does that, as for a stream, so that it can be cancelled.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::{Instant, sleep_until};
use triphammer_core::query_plan::{QueryPlan, QueryStep};
use triphammer_core::session::Session as _;
use triphammer_core::sql::Explain;
use triphammer_core::{DbError, ErrorClass, Value};
use triphammer_document::execution_plan::{AnalyzedPlan, ExecutionPlan, PlanOperation};
use triphammer_document::redacted::mask_secrets;
use triphammer_document::result::StepOutcome;
use triphammer_drivers::AnySession;
use triphammer_load::Plan;
use triphammer_settings::cancel::Cancel;
use triphammer_settings::failure::Failure;
use triphammer_settings::limited::Limited;
use triphammer_settings::worker_pool::on_this_thread;

use super::QueryRun;
use super::control::CANCEL_AGAIN;
use super::slot::{Slot, until_cancelled};
use crate::run::explain;

/// What was read, and what could not be, in words.
#[derive(Debug, Default)]
pub struct Plans {
    /// The plans, in the order of the queries.
    pub plans: Vec<ExecutionPlan>,
    /// Why plans or their measurements are missing.
    pub missing: Vec<String>,
}

/// What the reading thread reports.
enum Report {
    /// A step begins, with its time limit.
    Began { position: u32, limit: Option<Duration> },
    /// The plan of a query was read.
    Read(ExecutionPlan),
    /// The plan of a query, or its measurements, could not be read.
    Missing { what: String, why: String },
}

/// Reads the plans of all queries of a run.
///
/// # Errors
/// When the thread cannot be started.
pub async fn read_plans(plan: &Plan, run: &QueryRun, cancel: &Cancel) -> Result<Plans, Failure> {
    let Some(explain) = plan.catalogue.explain() else {
        let dialect = plan.catalogue.dialect();
        let missing = vec![format!("no execution plans are kept: {dialect} has no EXPLAIN")];
        return Ok(Plans { plans: Vec::new(), missing });
    };
    let slot = Arc::new(Slot::default());
    let (reports, mut received) = unbounded_channel();
    let reader = Reader {
        plan: plan.clone(),
        queries: queries(&run.plan),
        explain: explain.clone(),
        analyze: run.plan.analyze,
        timeout: run.timeout,
        slot: Arc::clone(&slot),
        reports,
    };
    let thread = std::thread::Builder::new().name("plans".into()).spawn(move || reader.run());
    let doing = "starting a thread for the plans";
    let thread = thread.map_err(|error| Failure::System { doing: doing.into(), error })?;
    let mut found = CollectedPlans::default();
    let mut is_stopping = false;
    loop {
        let due = found.running.and_then(|(_, at, _)| at);
        tokio::select! {
            report = received.recv() => {
                let Some(report) = report else { break };
                found.take(report);
                if is_stopping {
                    found.cancel_now();
                }
            }
            () = cancel.cancelled(), if !is_stopping => {
                is_stopping = true;
                slot.stop();
                found.cancel_now();
            }
            () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {
                if let Some((position, at, reason)) = &mut found.running {
                    slot.cancel(*position, *reason).await;
                    *at = Some(Instant::now() + CANCEL_AGAIN);
                }
            }
        }
    }
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
    Ok(found.plans())
}

/// Each query of a run with the arguments of its first execution, by its number.
fn queries(plan: &QueryPlan) -> BTreeMap<usize, (String, Vec<Value<'static>>)> {
    let mut queries = BTreeMap::new();
    let streams = plan.phases.iter().flat_map(|phase| &phase.streams);
    for step in streams.flat_map(|stream| &stream.steps) {
        if let QueryStep::Query { query, args } = step {
            let name = plan.queries[*query].name.to_string();
            queries.entry(*query).or_insert_with(|| (name, args.clone()));
        }
    }
    queries
}

/// What the control collects.
#[derive(Default)]
struct CollectedPlans {
    plans: Vec<ExecutionPlan>,
    /// What is missing, by the reason.
    missing: Vec<(String, Vec<String>)>,
    /// The step that is running, when to cancel it, and why.
    running: Option<(u32, Option<Instant>, StepOutcome)>,
}

impl CollectedPlans {
    fn take(&mut self, report: Report) {
        match report {
            Report::Began { position, limit } => {
                let due = limit.map(|limit| Instant::now() + limit);
                self.running = Some((position, due, StepOutcome::TimedOut));
            }
            Report::Read(plan) => self.plans.push(plan),
            Report::Missing { what, why } => {
                match self.missing.iter_mut().find(|(known, _)| *known == why) {
                    Some((_, all)) => all.push(what),
                    None => self.missing.push((why, vec![what])),
                }
            }
        }
    }

    fn cancel_now(&mut self) {
        if let Some((_, at, reason)) = &mut self.running {
            (*at, *reason) = (Some(Instant::now()), StepOutcome::Cancelled);
        }
    }

    fn plans(self) -> Plans {
        let words = |(why, what): (String, Vec<String>)| {
            format!("{} could not be read: {why}", what.join(", "))
        };
        Plans { plans: self.plans, missing: self.missing.into_iter().map(words).collect() }
    }
}

/// The thread that reads.
struct Reader {
    plan: Plan,
    queries: BTreeMap<usize, (String, Vec<Value<'static>>)>,
    explain: Explain,
    analyze: bool,
    timeout: Option<Duration>,
    slot: Arc<Slot>,
    reports: UnboundedSender<Report>,
}

impl Reader {
    fn run(self) {
        let read = on_this_thread(async {
            let mut session = explain::connect(&self.plan).await?;
            let mut position = 0;
            for (name, args) in self.queries.values() {
                if self.slot.is_stopped() {
                    return Err(DbError::new(ErrorClass::Cancelled, "the run was stopped"));
                }
                self.query(&mut session, &mut position, name, args).await?;
            }
            session.close().await;
            Ok::<_, DbError>(())
        });
        if let Err(error) = read {
            self.missing("further execution plans".to_owned(), &error);
        }
    }

    /// Reads the plan of a query.
    ///
    /// # Errors
    /// When the session is lost.
    async fn query(
        &self,
        session: &mut Limited<AnySession>,
        position: &mut u32,
        name: &str,
        args: &[Value<'static>],
    ) -> Result<(), DbError> {
        let of = format!("the plan of {}", name.to_uppercase());
        let limit = Some(explain::limit(&self.plan));
        let step = Step { name, args, text: &self.explain.plan, limit };
        let Some((operations, _)) = self.step(session, position, &step, &of).await? else {
            return Ok(());
        };
        let mut plan = ExecutionPlan::new(name, operations);
        if let Some(text) = self.explain.analyze.as_ref().filter(|_| self.analyze) {
            let of = format!("the measurements of {}", name.to_uppercase());
            let step = Step { text, limit: self.timeout, ..step };
            let analyzed = self.step(session, position, &step, &of).await;
            // What was read is kept even if the session is lost.
            let read = analyzed.as_ref().ok().and_then(Option::as_ref).cloned();
            plan.analyzed = read.map(|(operations, seconds)| AnalyzedPlan { seconds, operations });
            self.report(Report::Read(plan));
            return analyzed.map(drop);
        }
        self.report(Report::Read(plan));
        Ok(())
    }

    /// Explains a query; `None` after an error that was reported and leaves the session usable.
    ///
    /// # Errors
    /// When the session is lost.
    async fn step(
        &self,
        session: &mut Limited<AnySession>,
        position: &mut u32,
        step: &Step<'_>,
        of: &str,
    ) -> Result<Option<(Vec<PlanOperation>, f64)>, DbError> {
        *position += 1;
        let sent = self.slot.arm(*position, session.canceller()).await;
        self.report(Report::Began { position: *position, limit: step.limit });
        let began = Instant::now();
        let read = until_cancelled(&sent, self.explain(session, step)).await;
        let seconds = began.elapsed().as_secs_f64();
        let why = self.slot.disarm().await;
        match read {
            Ok(operations) => Ok(Some((operations, seconds))),
            Err(error) if session.is_closed() || error.class().loses_session() => Err(error),
            Err(error) => {
                session.rollback().await?;
                match why {
                    Some(StepOutcome::TimedOut) => {
                        let text = format!("no answer within {} s", step.limit_s());
                        self.missing(of.to_owned(), &DbError::new(ErrorClass::Cancelled, text));
                    }
                    _ => self.missing(of.to_owned(), &error),
                }
                Ok(None)
            }
        }
    }

    async fn explain(
        &self,
        session: &mut Limited<AnySession>,
        step: &Step<'_>,
    ) -> Result<Vec<PlanOperation>, DbError> {
        let statement = self.plan.catalogue.statement(step.name)?;
        explain::operations(session, (&self.explain, step.text), statement, step.args).await
    }

    fn missing(&self, what: String, error: &DbError) {
        self.report(Report::Missing { what, why: mask_secrets(error.message()) });
    }

    fn report(&self, report: Report) {
        // There is no receiver only if the whole run was aborted.
        let _ = self.reports.send(report);
    }
}

/// A statement that explains a query.
#[derive(Clone, Copy)]
struct Step<'a> {
    name: &'a str,
    args: &'a [Value<'static>],
    /// What stands before the query.
    text: &'a str,
    limit: Option<Duration>,
}

impl Step<'_> {
    fn limit_s(&self) -> f64 {
        self.limit.unwrap_or_default().as_secs_f64()
    }
}
