//! Runs a recorded transaction on a session.
//!
//! Timers have whole milliseconds, but most gaps between statements are shorter. What is owed is added
//! up, and waited for as soon as it is a millisecond; what a timer took too long is deducted from later
//! gaps. So a transaction takes as long as recorded, if its statements do.

use std::time::Duration;

use triphammer_capture::answer::MADE_MAX;
use triphammer_capture::{Argument, Ending, Gap, Step};
use triphammer_core::rows::{Row, Rows};
use triphammer_core::session::{Isolation, RowEffect, Session, StatementId};
use triphammer_core::sql::{BoundStatement, Placeholder};
use triphammer_core::workload::{Completion, Literal, StatementExample, Statements};
use triphammer_core::{ColumnType, DbError, Elapsed, ErrorClass, Value};

use super::answers::{ReplayedAnswer, ReplayedRows, Spot};
use super::plan::Plan;
use super::progress::{ENDED, Reached, WaitEnd};
use super::workload::{Input, Replay, TypedArguments};
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
            rows: Rows::as_texts(),
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
        errors.extend(prepare_typed(replay, &mut prepared, number, session).await?);
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

/// Prepares a statement with as many types as the database takes; returns the first error if it takes it in no way.
async fn prepare_typed<S: Session>(
    replay: &Replay,
    prepared: &mut Prepared,
    number: usize,
    session: &mut S,
) -> Result<Option<DbError>, DbError> {
    let has_integers = replay.plan.statements[number].integers.iter().any(Option::is_some);
    let mut first = None;
    for typed in &TypedArguments::ALL[..if has_integers { TypedArguments::ALL.len() } else { 1 }] {
        replay.set_typed(number, *typed);
        match prepare(replay, prepared, number, session).await {
            Ok(_) => return Ok(None),
            Err(error) if error.class().loses_session() => return Err(error),
            Err(error) => {
                first.get_or_insert(error);
            }
        }
    }
    replay.set_typed(number, TypedArguments::Literals);
    Ok(first)
}

/// Gives arguments that are integers their types.
fn type_integers(
    bound: &mut BoundStatement,
    slots: &[usize],
    (plan, number): (&Plan, usize),
    typed: TypedArguments,
) {
    let (statement, literals) =
        (&plan.statements[number], &plan.recording.statements[number].literals);
    for (param, slot) in bound.params.iter_mut().zip(slots) {
        let argument = plan.arguments[*slot];
        let is_typed = match typed {
            TypedArguments::Literals => literals.contains(&argument),
            TypedArguments::All => true,
            TypedArguments::None => false,
        };
        let known = statement.integers.get(argument).copied().flatten().filter(|_| is_typed);
        // A value that the server makes here may be larger than the recorded ones.
        let is_replaced = !plan.ids.used(number, argument).is_empty();
        let known = known.map(|known| if is_replaced { ColumnType::BigInt } else { known });
        param.param_type = known.unwrap_or(param.param_type);
    }
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
    let (bound, arguments) = bound(replay, number, prepared.placeholder);
    let id = session.prepare(&bound).await;
    let id = id.map_err(|error| error.context(format_args!("statement {}", number + 1)))?;
    if !replay.knows_columns(number) {
        match session.sources(id).await {
            Err(error) if error.class().loses_session() => return Err(error),
            sources => replay.set_columns(number, &sources.unwrap_or_default()),
        }
    }
    let known = PreparedStatement { id, arguments };
    prepared.statements[number] = Some(known.clone());
    Ok(known)
}

/// The statement of a number as this database takes it, and the indexes of its arguments in those of
/// the recording.
fn bound(
    replay: &Replay,
    number: usize,
    placeholder: Placeholder,
) -> (BoundStatement, Box<[usize]>) {
    let plan = &replay.plan;
    let statement = &plan.statements[number];
    let (mut bound, slots) = statement.part.bound(placeholder, &plan.names);
    type_integers(&mut bound, &slots, (plan, number), replay.typed(number));
    (bound, slots.iter().map(|slot| plan.arguments[*slot]).collect())
}

/// The statement of a number with the arguments of its first run in the recording.
pub fn example(replay: &Replay, number: usize, placeholder: Placeholder) -> StatementExample {
    let (statement, indexes) = bound(replay, number, placeholder);
    let transactions = &replay.plan.recording.transactions;
    let mut steps = transactions.iter().flat_map(|transaction| &transaction.steps);
    let recorded = steps.find(|step| step.shape == number).map_or(&[][..], |step| &step.arguments);
    let literal = |index: &usize| match recorded.get(*index) {
        None | Some(Argument::Null) => Literal::Null,
        Some(Argument::Int(number)) => Literal::Int(*number),
        Some(Argument::Number(text) | Argument::Text(text)) => Literal::Text(text.clone()),
        Some(Argument::Bytes(bytes)) => Literal::Bytes(bytes.clone()),
    };
    let arguments = indexes.iter().map(literal).collect();
    StatementExample { text: replay.plan.titles[number].clone(), statement, arguments }
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
    let transaction = replay.plan.transaction(input.transaction);
    let mut done = 0;
    let ended = statements(replay, input, prepared, session, &mut done).await;
    let count = transaction.steps.len();
    match &ended {
        Ok(_) => {
            replay.progress.reach(Reached { transaction: input.transaction, steps: ENDED });
        }
        // It may be retried: what depends on it goes on with the session's next transaction.
        Err(error) if done == count && transaction.ending == Ending::Commit => {
            replay.answers.fail_end(replay.plan.spot(input.transaction, count - 1), error);
        }
        Err(_) => (done..count).for_each(|place| {
            replay.answers.miss(replay.plan.spot(input.transaction, place));
        }),
    }
    ended
}

/// Runs the statements of a transaction, of which `done` are answered, and its end.
async fn statements<S: Session>(
    replay: &Replay,
    input: &Input,
    prepared: &mut Prepared,
    session: &mut S,
    done: &mut usize,
) -> Result<Completion, DbError> {
    let transaction = replay.plan.transaction(input.transaction);
    let is_single = transaction.ending == Ending::Single;
    if !is_single {
        let access = transaction.characteristics.access();
        match transaction.characteristics.isolation {
            Some(level) => session.begin_isolated(access, level).await?,
            None => session.begin(access).await?,
        }
    }
    let mut waiting = RemainingWait::default();
    for (place, step) in transaction.steps.iter().enumerate() {
        waiting.wait(step.gap, replay, &prepared.counts, session).await;
        keep_order(replay, input, place, &prepared.counts).await;
        waiting.last_start = Some(prepared.counts.start());
        let recorded_us = step.answer.as_ref().map_or(0, |answer| answer.took_us);
        let call = input.lanes.call(input.lane, recorded_us);
        let answered = statement(replay, input.transaction, place, prepared, session).await;
        drop(call);
        *done = place + 1;
        let steps = u32::try_from(*done).unwrap_or(ENDED);
        replay.progress.reach(Reached { transaction: input.transaction, steps });
        match answered {
            // It failed when it was recorded, too.
            Err(error) if has_failed(step) && !error.class().loses_session() => {
                if is_single {
                    return Ok(Completion::ROLLED_BACK);
                }
            }
            answered => answered?,
        }
    }
    waiting.wait(transaction.last_gap, replay, &prepared.counts, session).await;
    let _call = input.lanes.call(input.lane, transaction.took_us.end);
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

/// Waits for what must have happened before a statement.
async fn keep_order(replay: &Replay, input: &Input, place: usize, counts: &Counts) {
    let (plan, transaction) = (&replay.plan, input.transaction);
    let conflicts = plan.order.before(transaction, u32::try_from(place).unwrap_or(u32::MAX));
    let spot = plan.spot(transaction, place);
    let makers = plan.ids.makers(spot.number, spot.step).into_iter();
    let makers = makers
        .filter(|maker| *maker != transaction)
        .map(|transaction| Reached { transaction, steps: ENDED });
    for wanted in conflicts.iter().copied().chain(makers) {
        if replay.progress.has_reached(wanted) {
            continue;
        }
        let begun = counts.start();
        let _awaiting = input.lanes.wait(input.lane, wanted);
        let holds = holds_locks(replay, transaction, place);
        let has_reached = |wanted| replay.progress.has_reached(wanted);
        let is_vain = || input.lanes.is_vain(input.lane, wanted, holds, has_reached);
        let end = replay.progress.wait(wanted, is_vain).await;
        replay.answers.waited(counts.start().since(begun), end);
        if end == WaitEnd::TimedOut {
            // Nobody else waits as long for the same.
            replay.progress.reach(wanted);
        }
    }
}

/// Whether a transaction holds locks of rows before one of its statements.
fn holds_locks(replay: &Replay, transaction: u32, place: usize) -> bool {
    let plan = &replay.plan;
    let transaction = plan.transaction(transaction);
    let is_strict = transaction.characteristics.isolation == Some(Isolation::Serializable);
    let locks = |step: &Step| {
        is_strict || !plan.statements[step.shape].reads || plan.facts[step.shape].locks
    };
    transaction.ending != Ending::Single && transaction.steps[..place].iter().any(locks)
}

/// Runs a statement of a transaction, counts its time, and compares its answer.
async fn statement<S: Session>(
    replay: &Replay,
    transaction: u32,
    place: usize,
    prepared: &mut Prepared,
    session: &mut S,
) -> Result<(), DbError> {
    let plan = &replay.plan;
    let spot = plan.spot(transaction, place);
    let kind = plan.kind_of[transaction as usize];
    let started = prepared.counts.start();
    let answered = match prepare(replay, prepared, spot.step.shape, session).await {
        Ok(known) => execute(replay, spot, &known, &mut prepared.rows, session).await,
        Err(error) => Err(error),
    };
    if let Some(number) = replay.counted.get(&(kind, spot.step.shape)) {
        prepared.counts.end(*number, started, answered.is_err());
    }
    let count =
        |met: &ReplayedAnswer<'_>| replay.answers.count(spot, met, &plan.facts[spot.step.shape]);
    match answered {
        Ok((rows, effect)) => {
            count(&ReplayedAnswer { rows, effect, error: None });
            Ok(())
        }
        Err(error) => {
            count(&ReplayedAnswer { error: Some(&error), ..ReplayedAnswer::default() });
            Err(error)
        }
    }
}

/// Runs a statement; returns what is known of its rows.
async fn execute<S: Session>(
    replay: &Replay,
    spot: Spot<'_>,
    known: &PreparedStatement,
    rows: &mut Rows,
    session: &mut S,
) -> Result<(Option<ReplayedRows>, RowEffect), DbError> {
    let (plan, step) = (&replay.plan, spot.step);
    let replaced = replay.replaced(spot);
    let value = |index: &usize| {
        let replaced = replaced.iter().find(|(argument, _)| argument == index);
        match replaced.map(|(_, made)| made).or_else(|| step.arguments.get(*index)) {
            None | Some(Argument::Null) => Value::Null,
            Some(Argument::Int(number)) => Value::Int(*number),
            Some(Argument::Number(text) | Argument::Text(text)) => Value::Text(text),
            Some(Argument::Bytes(bytes)) => Value::Bytes(bytes),
        }
    };
    let values: Vec<Value<'_>> = known.arguments.iter().map(value).collect();
    let is_single = plan.transaction(spot.transaction).ending == Ending::Single;
    let commits = is_single && !plan.statements[step.shape].reads;
    let mut seen = ReplayedRows::default();
    let mut made: Vec<Vec<Argument>> = Vec::new();
    let keeps = !plan.ids.made_by(step.shape).is_empty();
    let mut look = |rows: &Rows| {
        replay.made.with_back(|back| seen.add(rows, back, replay.columns(step.shape)));
        if keeps && made.len() < MADE_MAX {
            made.extend(rows.iter().map(|row| texts(&row)));
        }
    };
    if commits {
        session.call(known.id, &values, rows).await?;
        look(rows);
    } else {
        session.stream(known.id, &values, rows, &mut look).await?;
    }
    let effect = session.effect();
    let has_rows = rows.width() > 0;
    if keeps && !has_rows {
        made.extend(effect.made_id.map(|id| vec![Argument::of_text(id.to_string())]));
    }
    replay.keep_made(step, &made, effect.changed);
    Ok((has_rows.then_some(seen), effect))
}

/// The fields of a row, as values of a recording.
fn texts(row: &Row<'_>) -> Vec<Argument> {
    let text = |column| match row.bytes(column).map(str::from_utf8) {
        Some(Ok(text)) => Argument::of_text(text.to_owned()),
        _ => Argument::Null,
    };
    (0..row.len()).map(text).collect()
}
