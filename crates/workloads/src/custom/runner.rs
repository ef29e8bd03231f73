//! Runs a transaction on a session: its statements in order, within a transaction of the database.

use std::sync::atomic::Ordering;

use triphammer_core::rows::Rows;
use triphammer_core::session::{Access, Session, StatementId};
use triphammer_core::sql::BoundStatement;
use triphammer_core::workload::{Completion, Statements};
use triphammer_core::{DbError, ErrorClass, SpecError, Value};
use triphammer_dialects::catalogues;

use super::datum::Datum;
use super::definition::{Statement, Step, Transaction};
use super::workload::{Custom, Input};
use crate::script::times::Counts;

/// Number of arguments of a statement for which nothing is allocated. They are part of the future of a transaction, whose
/// memory is cold when many users share a thread: few of them keep it small.
const FEW: usize = 4;

/// The statements of a session.
pub struct Prepared {
    /// By [`Statement::id`].
    statements: Vec<PreparedStatement>,
    /// Rows of statements whose columns are known.
    rows: Rows,
    /// Rows with the names of their columns.
    named: Rows,
    counts: Counts,
    /// Whether the number of rows is compared with what is expected.
    is_strict: bool,
}

/// A prepared statement.
struct PreparedStatement {
    id: StatementId,
    /// Slots of its arguments.
    slots: Box<[usize]>,
    /// Columns of the results that are kept, once it has run.
    columns: Option<Box<[usize]>>,
}

/// The dialect of a catalogue and its ancestors, the oldest first.
///
/// # Errors
/// When there is no such dialect.
pub fn chain(statements: &Statements<'_>) -> Result<Vec<String>, SpecError> {
    let chain = catalogues::chain(statements.catalogue().dialect())?;
    Ok(chain.into_iter().map(|dialect| dialect.name).collect())
}

/// The statement in a dialect, with the slots of its arguments.
///
/// # Errors
/// When the file has no SQL for the dialect.
pub fn bound(
    custom: &Custom,
    statement: &Statement,
    statements: &Statements<'_>,
    chain: &[String],
) -> Result<(BoundStatement, Vec<usize>), DbError> {
    let definition = &custom.definition;
    let part = statement.sql.of(chain).ok_or_else(|| {
        let dialect = statements.catalogue().dialect();
        let message = format!("the statement has no SQL for {dialect}: add `sql`, or `{dialect}`");
        DbError::new(ErrorClass::Unsupported, message).context(place(custom, statement))
    })?;
    let placeholder = statements.catalogue().placeholder();
    let (mut bound, slots) = part.bound(placeholder, &definition.names);
    for (param, slot) in bound.params.iter_mut().zip(&slots) {
        param.param_type = definition.types[*slot];
    }
    Ok((bound, slots))
}

/// Where a statement is, for messages.
pub fn place(custom: &Custom, statement: &Statement) -> String {
    format!("{}:{}:{}", custom.file, statement.line, statement.column)
}

impl Prepared {
    /// Prepares all statements.
    ///
    /// # Errors
    /// As the database reports, with the place of the statement.
    pub async fn new<S: Session>(
        custom: &Custom,
        statements: &Statements<'_>,
        session: &mut S,
    ) -> Result<Self, DbError> {
        let wrong = |error: SpecError| DbError::new(ErrorClass::Unsupported, error.to_string());
        let chain = chain(statements).map_err(wrong)?;
        let mut known = Vec::with_capacity(custom.definition.statements);
        for statement in custom.statements() {
            let (bound, slots) = bound(custom, statement, statements, &chain)?;
            let id = session.prepare(&bound).await;
            let id = id.map_err(|error| error.context(place(custom, statement)))?;
            known.push(PreparedStatement { id, slots: slots.into(), columns: None });
        }
        Ok(Self {
            statements: known,
            rows: Rows::new(),
            named: Rows::with_names(),
            counts: Counts::new(&custom.times),
            is_strict: custom.has_started.load(Ordering::Relaxed),
        })
    }
}

impl Custom {
    /// All statements, by their numbers.
    pub(super) fn statements(&self) -> impl Iterator<Item = &Statement> {
        let steps = self.definition.transactions.iter().flat_map(|transaction| &transaction.steps);
        steps.filter_map(|step| match step {
            Step::Statement(statement) => Some(statement),
            Step::Pause(_) => None,
        })
    }
}

/// Runs the transaction of an input.
///
/// # Errors
/// As the database reports, and when a statement has another number of rows than expected.
pub async fn run<S: Session>(
    custom: &Custom,
    input: &Input,
    prepared: &mut Prepared,
    session: &mut S,
) -> Result<Completion, DbError> {
    let transaction = &custom.definition.transactions[input.transaction];
    let mut lent = input.lend();
    for slot in &*transaction.results {
        lent.values[*slot] = Datum::Null;
    }
    let is_single = is_single(transaction);
    if !is_single {
        match transaction.isolation {
            Some(level) => session.begin_isolated(transaction.access, level).await?,
            None => session.begin(transaction.access).await?,
        }
    }
    // Without pipelining, the time and the errors of COMMIT are not those of the last statement.
    let joins_commit = !is_single && session.pipelining().joins_commit();
    let last = joins_commit.then(|| last_statement(transaction)).flatten();
    for step in &transaction.steps {
        let statement = match step {
            Step::Pause(wait) => {
                session.pause(*wait).await;
                continue;
            }
            Step::Statement(statement) => statement,
        };
        let started = prepared.counts.start();
        let ends = match last {
            _ if is_single && !statement.reads => Ends::ByItself,
            Some(last) if last == statement.id => Ends::WithCommit,
            _ => Ends::Not,
        };
        let done = execute(statement, prepared, &mut lent.values, ends, session).await;
        prepared.counts.end(custom.counted[statement.id], started, done.is_err());
        done.map_err(|error| error.context(place(custom, statement)))?;
    }
    if !is_single && last.is_none() {
        session.commit().await?;
    }
    Ok(custom.completion(input.transaction, &lent.values))
}

/// Whether the only statement of a transaction is sent without BEGIN and COMMIT: the database commits it implicitly.
fn is_single(transaction: &Transaction) -> bool {
    let [Step::Statement(statement)] = &transaction.steps[..] else { return false };
    // A wrong number of rows must be undone.
    let is_checked = statement.rows.is_some() && !statement.reads;
    transaction.isolation.is_none()
        && !is_checked
        && (statement.reads || transaction.access == Access::Write)
}

/// The id of the last statement, if the transaction commits right after it whatever it returns.
fn last_statement(transaction: &Transaction) -> Option<usize> {
    match transaction.steps.last() {
        Some(Step::Statement(last)) if last.rows.is_none() && last.keep.is_empty() => Some(last.id),
        _ => None,
    }
}

/// Whether a statement ends its transaction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// It does not.
    Not,
    /// The database commits it implicitly.
    ByItself,
    /// It is the last one, and the transaction commits whatever it returns.
    WithCommit,
}

/// Runs a statement.
async fn execute<S: Session>(
    statement: &Statement,
    prepared: &mut Prepared,
    values: &mut [Datum],
    ends: Ends,
    session: &mut S,
) -> Result<(), DbError> {
    let Prepared { statements, rows, named, is_strict, .. } = prepared;
    let PreparedStatement { id, slots, columns } = &mut statements[statement.id];
    let mut few = [Value::Null; FEW];
    let mut many = Vec::new();
    let args = arguments(slots, values, &mut few, &mut many);
    if !statement.returns_rows {
        let changed = match ends {
            Ends::ByItself => session.execute_autocommit(*id, args).await?,
            Ends::WithCommit => session.execute_and_commit(*id, args, None).await?,
            Ends::Not => session.execute(*id, args).await?,
        };
        return expect(statement, changed, *is_strict);
    }
    let rows = if statement.keep.is_empty() || columns.is_some() { rows } else { named };
    match ends {
        Ends::ByItself => session.call(*id, args, rows).await?,
        Ends::WithCommit => session.execute_and_commit(*id, args, Some(rows)).await.map(drop)?,
        Ends::Not => session.query(*id, args, rows).await?,
    }
    expect(statement, rows.len() as u64, *is_strict)?;
    if statement.keep.is_empty() || rows.is_empty() {
        return Ok(());
    }
    if columns.is_none() {
        *columns = Some(columns_of(statement, rows)?);
    }
    let row = rows.row(0);
    for (column, (_, slot)) in columns.iter().flat_map(|c| &**c).zip(&statement.keep) {
        values[*slot].take(&row, *column);
    }
    Ok(())
}

/// The columns that are kept.
fn columns_of(statement: &Statement, rows: &Rows) -> Result<Box<[usize]>, DbError> {
    let all = || (0..rows.width()).filter_map(|column| rows.name(column));
    let find = |(wanted, _): &(String, usize)| {
        all().position(|name| name.eq_ignore_ascii_case(wanted)).ok_or_else(|| {
            let names: Vec<&str> = all().collect();
            let message = format!(
                "`keep` names the column {wanted}, but the statement returns {}",
                names.join(", ")
            );
            DbError::new(ErrorClass::Other, message)
        })
    };
    statement.keep.iter().map(find).collect()
}

/// Compares the number of rows with what is expected.
#[inline]
fn expect(statement: &Statement, found: u64, is_strict: bool) -> Result<(), DbError> {
    match &statement.rows {
        Some(rows) if is_strict && !rows.contains(&found) => Err(unexpected(rows, found)),
        _ => Ok(()),
    }
}

#[cold]
fn unexpected(rows: &std::ops::RangeInclusive<u64>, found: u64) -> DbError {
    let wanted = match (rows.start(), rows.end()) {
        (1, 1) => "1 row".to_owned(),
        (low, high) if low == high => format!("{low} rows"),
        (low, high) if *high == i64::MAX.unsigned_abs() => format!("{low} rows or more"),
        (low, high) => format!("{low} to {high} rows"),
    };
    DbError::new(ErrorClass::Other, format!("expected {wanted}, got {found}"))
}

/// The arguments of a statement.
#[inline]
fn arguments<'a>(
    slots: &[usize],
    values: &'a [Datum],
    few: &'a mut [Value<'a>; FEW],
    many: &'a mut Vec<Value<'a>>,
) -> &'a [Value<'a>] {
    if slots.len() > FEW {
        many.extend(slots.iter().map(|slot| values[*slot].argument()));
        return many;
    }
    for (argument, slot) in few.iter_mut().zip(slots) {
        *argument = values[*slot].argument();
    }
    &few[..slots.len()]
}
