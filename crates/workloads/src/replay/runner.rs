//! Runs a recorded transaction on a session.
//!
//! Timers have whole milliseconds, but most gaps between statements are shorter. What is owed is added
//! up, and waited for as soon as it is a millisecond; what a timer took too long is deducted from later
//! gaps. So a transaction takes as long as recorded, if its statements do.

use std::time::Duration;

use triphammer_capture::{Argument, Ending, Gap, Step};
use triphammer_core::rows::Rows;
use triphammer_core::session::{Session, StatementId};
use triphammer_core::sql::Placeholder;
use triphammer_core::workload::{Completion, Statements};
use triphammer_core::{DbError, Elapsed, ErrorClass, Value};

use super::plan::Statement;
use super::workload::{Input, Replay};
use crate::script::times::Counts;

/// The shortest wait, in nanoseconds.
const WAIT_NS_MIN: i64 = 1_000_000;
/// Errors that are reported at once.
const SHOWN_MAX: usize = 10;

/// The statements of a session; each is prepared when it is first used.
pub struct Prepared {
    statements: Vec<Option<PreparedStatement>>,
    placeholder: Placeholder,
    rows: Rows,
    counts: Counts,
}

/// A prepared statement.
#[derive(Clone)]
struct PreparedStatement {
    id: StatementId,
    /// Indexes of its arguments in those of the recording.
    arguments: Box<[usize]>,
}

impl Prepared {
    /// Begins without prepared statements.
    pub fn new(replay: &Replay, statements: &Statements<'_>) -> Self {
        Self {
            statements: vec![None; replay.plan.statements.len()],
            placeholder: statements.catalogue().placeholder(),
            rows: Rows::new(),
            counts: Counts::new(&replay.times),
        }
    }
}

/// Tries every statement once. A recording may have statements on what does not exist here, whose
/// transactions fail in the run; if no statement can be prepared, it is for another database.
///
/// # Errors
/// When no statement can be prepared, with the first errors; when the session is lost.
pub async fn start<S: Session>(
    replay: &Replay,
    statements: &Statements<'_>,
    session: &mut S,
) -> Result<(), DbError> {
    let mut prepared = Prepared::new(replay, statements);
    let mut errors: Vec<DbError> = Vec::new();
    let count = replay.plan.statements.len();
    for number in 0..count {
        match prepare(replay, &mut prepared, number, session).await {
            Err(error) if error.class().loses_session() => return Err(error),
            Err(error) => errors.push(error),
            Ok(_) => {}
        }
    }
    if errors.len() < count {
        return Ok(());
    }
    let class = errors.first().map_or(ErrorClass::Other, DbError::class);
    let lines: Vec<String> = errors.iter().take(SHOWN_MAX).map(ToString::to_string).collect();
    let message = format!(
        "no statement of the recording can be prepared; is this a copy of the recorded database?\n{}",
        lines.join("\n")
    );
    Err(DbError::new(class, message))
}

/// The prepared statement of a number.
async fn prepare<S: Session>(
    replay: &Replay,
    prepared: &mut Prepared,
    number: usize,
    session: &mut S,
) -> Result<PreparedStatement, DbError> {
    if let Some(known) = &prepared.statements[number] {
        return Ok(known.clone());
    }
    let plan = &replay.plan;
    let statement = &plan.statements[number];
    let (bound, slots) = statement.part.bound(prepared.placeholder, &plan.names);
    let id = session.prepare(&bound).await;
    let id = id.map_err(|error| error.context(format_args!("statement {}", number + 1)))?;
    let arguments = slots.iter().map(|slot| plan.arguments[*slot]).collect();
    let known = PreparedStatement { id, arguments };
    prepared.statements[number] = Some(known.clone());
    Ok(known)
}

/// What is left to wait.
#[derive(Debug, Default)]
struct RemainingWait {
    owed_ns: i64,
    /// Start of the statement before.
    last_start: Option<Elapsed>,
}

impl RemainingWait {
    /// Waits for a recorded gap.
    async fn wait<S: Session>(
        &mut self,
        gap: Gap,
        replay: &Replay,
        counts: &Counts,
        session: &mut S,
    ) {
        let mut ns = i64::try_from(replay.load.nanoseconds(gap.us)).unwrap_or(i64::MAX);
        if let Some(start) = self.last_start.filter(|_| gap.from_start) {
            // The gap contains the time of the statement, which has passed.
            let passed = i64::try_from(counts.start().since(start)).unwrap_or(i64::MAX);
            ns = ns.saturating_sub(passed).max(0);
        }
        self.owed_ns = self.owed_ns.saturating_add(ns);
        if self.owed_ns < WAIT_NS_MIN {
            return;
        }
        let begun = counts.start();
        session.pause(Duration::from_nanos(self.owed_ns.unsigned_abs())).await;
        let waited = i64::try_from(counts.start().since(begun)).unwrap_or(i64::MAX);
        self.owed_ns = self.owed_ns.saturating_sub(waited);
    }
}

/// Runs the transaction of an input.
///
/// # Errors
/// As the database reports.
pub async fn run<S: Session>(
    replay: &Replay,
    input: &Input,
    prepared: &mut Prepared,
    session: &mut S,
) -> Result<Completion, DbError> {
    let plan = &replay.plan;
    let transaction = plan.transaction(input.transaction);
    let kind = plan.kind_of[input.transaction as usize];
    let is_single = transaction.ending == Ending::Single;
    if !is_single {
        let access = transaction.characteristics.access();
        match transaction.characteristics.isolation {
            Some(level) => session.begin_isolated(access, level).await?,
            None => session.begin(access).await?,
        }
    }
    let mut waiting = RemainingWait::default();
    for step in &transaction.steps {
        waiting.wait(step.gap, replay, &prepared.counts, session).await;
        let started = prepared.counts.start();
        waiting.last_start = Some(started);
        let statement = &plan.statements[step.shape];
        let commits = is_single && !statement.reads;
        let known = prepare(replay, prepared, step.shape, session).await;
        let done = match known {
            Ok(known) => {
                let rows = &mut prepared.rows;
                execute(statement, &known, step, commits, rows, session).await
            }
            Err(error) => Err(error),
        };
        if let Some(number) = replay.counted.get(&(kind, step.shape)) {
            prepared.counts.end(*number, started, done.is_err());
        }
        match done {
            // It failed when it was recorded, too.
            Err(error) if has_failed(step) && !error.class().loses_session() => {
                if is_single {
                    return Ok(Completion::ROLLED_BACK);
                }
            }
            done => done?,
        }
    }
    waiting.wait(transaction.last_gap, replay, &prepared.counts, session).await;
    match transaction.ending {
        Ending::Single => {}
        Ending::Commit => session.commit().await?,
        Ending::Rollback => {
            session.rollback().await?;
            return Ok(Completion::ROLLED_BACK);
        }
    }
    Ok(Completion::COMMITTED)
}

/// Whether a statement failed when it was recorded.
fn has_failed(step: &Step) -> bool {
    step.answer.as_ref().is_some_and(|answer| answer.error.is_some())
}

/// Runs a statement; `commits` if the database commits it implicitly.
async fn execute<S: Session>(
    statement: &Statement,
    known: &PreparedStatement,
    step: &Step,
    commits: bool,
    rows: &mut Rows,
    session: &mut S,
) -> Result<(), DbError> {
    let value = |index: &usize| match step.arguments.get(*index) {
        None | Some(Argument::Null) => Value::Null,
        Some(Argument::Int(number)) => Value::Int(*number),
        Some(Argument::Number(text) | Argument::Text(text)) => Value::Text(text),
    };
    let values: Vec<Value<'_>> = known.arguments.iter().map(value).collect();
    match (statement.returns_rows, commits) {
        (false, true) => session.execute_autocommit(known.id, &values).await.map(drop),
        (false, false) => session.execute(known.id, &values).await.map(drop),
        (true, true) => session.call(known.id, &values, rows).await,
        (true, false) => session.query(known.id, &values, rows).await,
    }
}
