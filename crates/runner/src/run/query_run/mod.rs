//! Drives a finite set of queries, and times each.
//!
//! ```text
//!  this thread (control.rs)                  a thread per stream (stream.rs)
//!  ────────────────────────                  ───────────────────────────────
//!  for each repeat, for each phase:
//!    starts the streams' threads ──────────► connects; waits until all are connected
//!    keeps deadlines           ◄── began ──  arms its slot: canceller and position
//!    cancels what is too late  ── slot ────► runs the step: prepare, execute, read all rows
//!    reports progress          ◄── ended ──  a StepTime: time, rows, fingerprint, outcome
//!    waits for the streams     ◄── closed ─  takes its next step, reconnects if it has to
//! ```
//!
//! The engine's session loop is not used: it serves transactions by the thousand, with seconds as samples, retries and
//! pacing. Here each step runs once, at its place in its stream, and its own time is the result. Everything around it
//! is that of any run: settings, lock, facts, job store, watcher, document.
//!
//! - **Time.** From the request to prepare the statement until the last row was read (clause 5.3.7). Rows are read in
//!   batches and reduced to their number and a fingerprint, so the client needs the memory of one batch.
//! - **Threads.** Each stream has its own, because some databases run on the thread that calls them. So the control
//!   thread keeps the time limits and cancels: a stream whose thread is busy could not.
//! - **Cancelling.** A stream that ends a step waits until a cancel request that is being sent has been delivered, so
//!   that it cannot meet the next step. A cancel request may come too early for some databases, so it is repeated
//!   while the step runs. If the database does not react, the stream drops the session.
//! - **Failures.** A step that times out or fails is recorded with its outcome and the stream continues; nothing is
//!   retried, because a repeated query would find warm caches. After a lost connection the stream reconnects for the
//!   next step; if it cannot within `--connect-timeout`, its other steps are recorded as not run.
//! - **Sessions.** They are new in every repeat and phase, so that each statement gets a new plan for its values.
//! - **Refresh functions.** They leave the data as they found it: before anything is timed, rows that an interrupted run
//!   left are deleted; at the end, those whose deletion was not reached. They are not used where rows of others have the
//!   same keys, or where tables of another program do not accept theirs.
//! - **Plans.** The execution plan of each query is read afterwards (plans.rs), so that nothing of it is timed.
//! - **Beside transactions.** [`beside`] drives streams in the same way while the engine drives transactions; these
//!   streams have no end of their own.
//! - **Stopping.** The first Ctrl-C cancels what is running and ends the run; what was answered is stored.

mod answer;
mod beside;
mod control;
mod plans;
mod slot;
mod stream;

use std::time::Duration;

use triphammer_core::Scale;
use triphammer_core::SpecError;
use triphammer_core::io::Io;
use triphammer_core::pace::Load;
use triphammer_core::query_plan::QueryPlan;
use triphammer_core::session::{Capabilities, Database as _, Pipelining};
use triphammer_core::spec::{Length, LoginPolicy, Pacing, RetryPolicy, RunSpec, TimeLimits};
use triphammer_core::sql::StatementCatalogue;
use triphammer_core::workload::{Description, MeasureDef, Mode, Workload as _, WorkloadSettings};
use triphammer_drivers::AnyDatabase;
use triphammer_settings::failure::Failure;
use triphammer_settings::{Mark, Settings, of_command};
use triphammer_workloads::AnyWorkload;

use crate::record::Record;

pub(super) use beside::{Alone, Beside, streams};
pub(super) use control::{ControlEvent, Driven, drive};
pub(super) use plans::read_plans;

/// Scale of the default SQLite file: one that is built in a second or two.
pub(super) const EMBEDDED_SCALE: Scale = Scale::from_thousandths(10);

/// A resolved run of queries.
#[derive(Clone, Debug)]
pub(super) struct QueryRun {
    /// What to run.
    pub plan: QueryPlan,
    /// Maximum time of a query; `None` for none.
    pub timeout: Option<Duration>,
    /// Whether another program created the tables: refresh functions are tried before they are timed.
    pub is_external: bool,
    /// Whether each stream repeats its steps until the run ends. Steps are then only reported, and not kept.
    pub is_endless: bool,
    /// Time for which these queries run alone, and the transactions beside which they run; `None` for none.
    pub baseline: Option<Duration>,
}

/// Whether a run of the workload times a set of queries.
pub(super) fn is_for(workload: &Description) -> bool {
    workload.primary_metric.measure == MeasureDef::Queries
}

/// Rejects settings that were given for this run and would have no effect. In a job file or the environment they may
/// be meant for another run.
pub(super) fn refuse_settings(settings: &Settings, workload: &Description) -> Result<(), Failure> {
    let is_asked = |name: &&str| settings.source(name).is_of_job();
    let is_on = |name: &&str| settings.get(name).is_some_and(|value| value != "false");
    let of_transactions = of_command(settings.command()).filter(|s| s.is(Mark::OfTransactions));
    match of_transactions.map(|setting| setting.name).filter(is_asked).find(is_on) {
        None => Ok(()),
        Some(name) => {
            let message = format!(
                "--{name} is about transactions, and a run of {} is a set of queries; omit it",
                workload.title
            );
            Err(SpecError::new(message).about(name).into())
        }
    }
}

/// Resolves a run of queries: its plan, and its spec in the words of all runs.
///
/// # Errors
/// When a setting is invalid.
pub(super) fn resolve(
    settings: &mut Settings,
    workload: &Description,
    given: &WorkloadSettings,
    record: &Record,
    database: &AnyDatabase,
    catalogue: &StatementCatalogue,
) -> Result<(RunSpec, QueryRun), Failure> {
    let run_seed = settings.parse("seed")?;
    let given = WorkloadSettings { run_seed, ..given.clone() };
    let plan = AnyWorkload::new(&workload.name, &given)?.query_plan();
    let plan = plan.ok_or_else(|| SpecError::new("the workload plans no queries"))?;
    if plan.analyze && catalogue.explain().is_none_or(|explain| explain.analyze.is_none()) {
        let dialect = catalogue.dialect();
        let message =
            format!("--analyze: {dialect} cannot measure the operations of a plan; omit it");
        return Err(SpecError::new(message).about("analyze").into());
    }
    let timeout = timeout(settings)?;
    let spec = spec(settings, &plan, database.capabilities(), run_seed)?;
    spec.validate(database.capabilities(), None)?;
    let is_external = record.is_external();
    Ok((spec, QueryRun { plan, timeout, is_external, is_endless: false, baseline: None }))
}

/// The limit of each query: `--query-timeout`, if it was given.
fn timeout(settings: &mut Settings) -> Result<Option<Duration>, SpecError> {
    if settings.get("query-timeout").is_none() {
        return Ok(None);
    }
    Ok(Some(settings.duration("query-timeout")?).filter(|limit| !limit.is_zero()))
}

/// The spec of a run of queries, in the words of all runs: each stream is a user.
fn spec(
    settings: &mut Settings,
    plan: &QueryPlan,
    capabilities: &Capabilities,
    seed: u64,
) -> Result<RunSpec, SpecError> {
    let sessions = plan.sessions();
    let steps = plan.phases.iter().flat_map(|phase| &phase.streams).map(|s| s.steps.len()).max();
    let limits =
        TimeLimits { connect: settings.duration("connect-timeout")?, ..TimeLimits::default() };
    let protocol = settings.get("protocol").and_then(|text| text.parse().ok());
    Ok(RunSpec {
        users: sessions,
        threads: sessions,
        rampup: Duration::ZERO,
        length: Length::Transactions(steps.unwrap_or(0) as u64 * u64::from(plan.repeats)),
        mode: Mode::Statements,
        protocol: protocol.unwrap_or(capabilities.protocols[0]),
        pipelining: Pipelining::Off,
        io: Io::Epoll,
        isolation: settings.get("isolation").and_then(|text| text.parse().ok()),
        load: Load::Closed,
        pacing: Pacing::default(),
        seed,
        retry: RetryPolicy { attempts: 1, ..RetryPolicy::default() },
        limits,
        logins: LoginPolicy::default(),
        max_failures: 0.0,
    })
}
