//! A stream of queries on its own thread.

use std::collections::BTreeSet;
use std::sync::{Arc, Barrier};
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;
use tokio::time::{Instant, sleep, timeout};
use triphammer_core::query_plan::{QueryPlan, QueryStep, QueryStream, QueryTest, Refresh};
use triphammer_core::session::{Database as _, Role, Session as _};
use triphammer_core::value::{hex, write_decimal};
use triphammer_core::workload::{Statements, Workload as _};
use triphammer_core::{Clock, DbError, Elapsed, ErrorClass, Rows, Value, clock};
use triphammer_document::redacted::mask_secrets;
use triphammer_document::result::{StepOutcome, StepTime};
use triphammer_document::usage::Usage;
use triphammer_drivers::AnySession;
use triphammer_load::Plan;
use triphammer_observe::HostUsage;
use triphammer_settings::limited::Limited;
use triphammer_settings::worker_pool::on_this_thread;

use super::answer::Answer;
use super::slot::{Slot, until_cancelled};

/// Pause between two attempts to reconnect.
const RECONNECT_AFTER: Duration = Duration::from_millis(100);
/// Number of steps after which an endless stream replaces its session. Each step prepares its statement again, so that
/// it is planned for its values, and a server keeps prepared statements until the session ends.
const SESSION_STEPS: u32 = 100;

/// What a stream reports.
#[derive(Debug)]
pub(super) enum Report {
    /// A step begins.
    Began { stream: usize, position: u32, name: String, at: Elapsed },
    /// A step has ended, or was not run.
    Ended { stream: usize, step: StepTime },
    /// The rows of a refresh set could not be deleted.
    Left { set: u64, reason: String },
    /// The connection was lost.
    Lost,
    /// It is there again.
    Reconnected,
    /// All steps have ended; CPU time of the thread.
    Closed { stream: usize, cpu_ns: u64, is_away: bool },
}

/// What a stream needs.
pub(super) struct Stream {
    pub plan: Plan,
    pub queries: Arc<QueryPlan>,
    pub test: QueryTest,
    pub repeat: u32,
    /// Index in its phase.
    pub index: usize,
    pub stream: QueryStream,
    pub clock: Clock,
    pub slot: Arc<Slot>,
    /// All streams of the phase begin together.
    pub start: Arc<Barrier>,
    pub reports: UnboundedSender<Report>,
    pub connect_limit: Duration,
    /// Whether the steps are repeated until the stream is stopped.
    pub is_endless: bool,
    /// Whether another program created the tables.
    pub is_external: bool,
    /// Reads what is used; `None` if another stream runs beside it, or nothing can be read.
    pub usage: Option<Arc<HostUsage>>,
}

/// How a step ended.
struct StepEnd {
    outcome: StepOutcome,
    rows: u64,
    fingerprint: Option<String>,
    error: Option<DbError>,
    usage: Option<Usage>,
}

impl Stream {
    /// Runs all steps.
    pub fn run(self) {
        let ran = on_this_thread(async {
            let is_away = self.steps().await;
            Ok::<_, DbError>(is_away)
        });
        let cpu_ns = clock::thread_cpu_ns();
        let is_away = ran.unwrap_or(true);
        self.report(Report::Closed { stream: self.index, cpu_ns, is_away });
    }

    fn report(&self, report: Report) {
        // There is no receiver only if the whole run was aborted.
        let _ = self.reports.send(report);
    }

    /// Returns whether the stream ended without a connection.
    async fn steps(&self) -> bool {
        let mut session = self.connect().await;
        let mut no_refresh = None;
        if let Ok(live) = &mut session {
            match self.prepare_refresh(live).await {
                Ok(refused) => no_refresh = refused,
                Err(error) => session = Err(error),
            }
        }
        self.start.wait();
        let laps = if self.is_endless { usize::MAX } else { 1 };
        let mut inserted = BTreeSet::new();
        let steps = std::iter::repeat_n(&self.stream.steps, laps).flatten();
        for (position, step) in (1..).zip(steps) {
            if self.slot.is_stopped() && self.is_endless {
                break;
            }
            if self.slot.is_stopped() {
                self.not_run(position, step, StepOutcome::NotRun, "the run was stopped");
                continue;
            }
            if let (QueryStep::Refresh(_), Some(reason)) = (step, &no_refresh) {
                self.not_run(position, step, StepOutcome::Unsupported, reason);
                continue;
            }
            let live = match &mut session {
                Ok(live) => live,
                Err(error) => {
                    let error = format!("no connection: {error}");
                    self.not_run(position, step, StepOutcome::NotRun, &error);
                    if self.is_endless {
                        break;
                    }
                    continue;
                }
            };
            let ended = self.step(live, position, step).await;
            match step {
                QueryStep::Refresh(Refresh { function: 1, set }) => _ = inserted.insert(*set),
                QueryStep::Refresh(Refresh { set, .. }) if ended == Ok(StepOutcome::Answered) => {
                    inserted.remove(set);
                }
                _ => {}
            }
            if ended.is_err() {
                self.report(Report::Lost);
                session = self.reconnect().await;
            } else if self.is_endless && position.is_multiple_of(SESSION_STEPS) {
                session = self.renew(session).await;
            }
        }
        self.restore(&mut session, inserted).await;
        let is_away = session.is_err();
        if let Ok(session) = session {
            session.close().await;
        }
        is_away
    }

    /// Prepares the tables for the refresh functions, before anything is timed. Returns why these may not be used:
    /// nothing is inserted that cannot be deleted again, and queries run all the same.
    async fn prepare_refresh(
        &self,
        session: &mut Limited<AnySession>,
    ) -> Result<Option<String>, DbError> {
        match self.clear(session).await {
            Err(error) if error.class() == ErrorClass::Unsupported => {
                Ok(Some(format!("the database cannot delete rows: {error}")))
            }
            // Whether the session is lost shows when it rolls back.
            Err(error) if self.is_external => {
                session.rollback().await?;
                Ok(Some(format!("the tables of another program do not accept its rows: {error}")))
            }
            cleared => cleared,
        }
    }

    /// Deletes rows of refresh functions that an interrupted run left behind, unless there is a reason not to.
    async fn clear(&self, session: &mut Limited<AnySession>) -> Result<Option<String>, DbError> {
        let workload = &self.plan.workload;
        let mut statements = Statements::new(&self.plan.catalogue);
        let transactions = self.plan.database.capabilities().transactions;
        for step in &self.stream.steps {
            let QueryStep::Refresh(Refresh { function: 1, set }) = step else { continue };
            let delete = Refresh { function: 2, set: *set };
            // In the tables of a build, these keys are those of refresh functions.
            if self.is_external {
                let refused =
                    workload.refuse_refresh(delete, transactions, &mut statements, session);
                if let Some(reason) = refused.await? {
                    return Ok(Some(reason));
                }
            }
            workload.refresh(delete, &mut statements, session).await?;
        }
        Ok(None)
    }

    /// Deletes the rows that were inserted and whose deletion was not reached, with a new session if that of the stream
    /// is lost.
    async fn restore(
        &self,
        session: &mut Result<Limited<AnySession>, DbError>,
        inserted: BTreeSet<u64>,
    ) {
        if session.is_err() && !inserted.is_empty() {
            *session = self.connect().await;
        }
        for set in inserted {
            let delete = Refresh { function: 2, set };
            let deleted = match session {
                Ok(session) => {
                    let mut statements = Statements::new(&self.plan.catalogue);
                    self.plan.workload.refresh(delete, &mut statements, session).await.map(drop)
                }
                Err(error) => Err(DbError::new(error.class(), error.message())),
            };
            if let Err(error) = deleted {
                let reason = mask_secrets(error.message());
                self.report(Report::Left { set, reason });
            }
        }
    }

    async fn connect(&self) -> Result<Limited<AnySession>, DbError> {
        // Beside transactions, the first numbers are those of their users.
        let first = if self.is_endless { self.plan.spec.users } else { 0 };
        let number = first.saturating_add(u32::try_from(self.index).unwrap_or(u32::MAX));
        let connecting =
            timeout(self.connect_limit, self.plan.database.connect(Role::User, number));
        let session = connecting.await.unwrap_or_else(|_| {
            let message = format!("no answer within {} s", self.connect_limit.as_secs_f64());
            Err(DbError::new(ErrorClass::Disconnected, message))
        })?;
        Ok(Limited::new(session, self.plan.database.waits()))
    }

    /// Connects again, for a server that is restarting too; an endless stream tries until it is stopped.
    async fn reconnect(&self) -> Result<Limited<AnySession>, DbError> {
        let began = Instant::now();
        loop {
            match self.connect().await {
                Ok(session) => {
                    self.report(Report::Reconnected);
                    return Ok(session);
                }
                Err(error) if error.class() == ErrorClass::Refused => return Err(error),
                Err(error) if !self.is_endless && began.elapsed() >= self.connect_limit => {
                    return Err(error);
                }
                Err(_) if self.slot.is_stopped() => {
                    return Err(DbError::new(ErrorClass::Cancelled, "the run was stopped"));
                }
                Err(_) => sleep(RECONNECT_AFTER).await,
            }
        }
    }

    /// Replaces the session between two steps.
    async fn renew(
        &self,
        session: Result<Limited<AnySession>, DbError>,
    ) -> Result<Limited<AnySession>, DbError> {
        if let Ok(session) = session {
            session.close().await;
        }
        match self.connect().await {
            Ok(session) => Ok(session),
            Err(_) => {
                self.report(Report::Lost);
                self.reconnect().await
            }
        }
    }

    /// Runs a step and reports it; returns its outcome.
    ///
    /// # Errors
    /// When the session is lost.
    async fn step(
        &self,
        session: &mut Limited<AnySession>,
        position: u32,
        step: &QueryStep,
    ) -> Result<StepOutcome, ()> {
        let name = self.name(step);
        let before = self.usage.as_ref().and_then(|usage| usage.now());
        let sent = self.slot.arm(position, session.canceller()).await;
        let began = self.clock.now();
        self.report(Report::Began { stream: self.index, position, name, at: began });
        let answer = until_cancelled(&sent, self.work(session, step)).await;
        let ended_at = self.clock.now();
        let usage = self.usage.as_ref().and_then(|usage| usage.since(before));
        let cancelled = self.slot.disarm().await;
        let is_refresh = matches!(step, QueryStep::Refresh(_));
        let ended = match answer {
            Ok(answer) => StepEnd {
                outcome: StepOutcome::Answered,
                rows: answer.rows,
                fingerprint: (!is_refresh).then(|| answer.fingerprint()),
                error: None,
                usage,
            },
            Err(error) => StepEnd {
                outcome: cancelled.unwrap_or(StepOutcome::Failed),
                rows: 0,
                fingerprint: None,
                error: Some(error),
                usage,
            },
        };
        let mut is_lost = session.is_closed();
        if let Some(error) = &ended.error {
            is_lost |= error.class().loses_session();
            is_lost = is_lost || session.rollback().await.is_err();
        }
        let seconds = Duration::from_nanos(ended_at.since(began)).as_secs_f64();
        let outcome = ended.outcome;
        self.ended(position, step, Some((began, seconds)), ended);
        if is_lost { Err(()) } else { Ok(outcome) }
    }

    /// The work that is timed.
    async fn work(
        &self,
        session: &mut Limited<AnySession>,
        step: &QueryStep,
    ) -> Result<Answer, DbError> {
        let mut statements = Statements::new(&self.plan.catalogue);
        let mut answer = Answer::default();
        match step {
            QueryStep::Query { query, args } => {
                let name = &self.queries.queries[*query].name;
                let id = statements.prepare(session, name).await?;
                let mut batch = Rows::new();
                session.stream(id, args, &mut batch, &mut |rows| answer.add(rows)).await?;
            }
            QueryStep::Refresh(refresh) => {
                let workload = &self.plan.workload;
                answer.rows = workload.refresh(*refresh, &mut statements, session).await?;
            }
        }
        Ok(answer)
    }

    fn name(&self, step: &QueryStep) -> String {
        match step {
            QueryStep::Query { query, .. } => self.queries.queries[*query].name.to_string(),
            QueryStep::Refresh(refresh) => format!("rf{}", refresh.function),
        }
    }

    fn not_run(&self, position: u32, step: &QueryStep, outcome: StepOutcome, reason: &str) {
        let ended = StepEnd {
            outcome,
            rows: 0,
            fingerprint: None,
            error: Some(DbError::new(ErrorClass::Other, reason)),
            usage: None,
        };
        self.ended(position, step, None, ended);
    }

    fn ended(&self, position: u32, step: &QueryStep, time: Option<(Elapsed, f64)>, ended: StepEnd) {
        let lap =
            (position - 1) / u32::try_from(self.stream.steps.len()).unwrap_or(u32::MAX).max(1);
        let step = StepTime {
            repeat: self.repeat + lap,
            test: self.test,
            stream: self.stream.number,
            position,
            name: self.name(step),
            parameters: parameters(step),
            start_s: time.map(|(began, _)| began.duration().as_secs_f64()),
            seconds: time.map(|(_, seconds)| seconds),
            rows: ended.rows,
            outcome: ended.outcome,
            error: ended.error.map(|error| mask_secrets(error.message())),
            fingerprint: ended.fingerprint,
            usage: ended.usage,
        };
        self.report(Report::Ended { stream: self.index, step });
    }
}

/// The arguments of a step as text.
fn parameters(step: &QueryStep) -> Vec<String> {
    match step {
        QueryStep::Query { args, .. } => args.iter().map(shown).collect(),
        QueryStep::Refresh(refresh) => vec![refresh.set.to_string()],
    }
}

fn shown(value: &Value<'_>) -> String {
    let decimal = |units: i128, scale| {
        let mut text = String::new();
        // Writing to a text cannot fail.
        let _ = write_decimal(&mut text, units, scale);
        text
    };
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Int(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Decimal { units, scale } => decimal((*units).into(), *scale),
        Value::Decimal128 { units, scale } => decimal(**units, *scale),
        Value::Text(text) => (*text).to_owned(),
        Value::Bytes(bytes) => hex(bytes),
        Value::Timestamp(at) => at.to_string(),
        Value::Date(date) => date.to_string(),
        Value::Ints(list) => format!("{list:?}"),
    }
}
