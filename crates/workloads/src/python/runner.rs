//! Carries out what a transaction requests on a session.

use std::sync::Arc;

use triphammer_core::random::Rng;
use triphammer_core::rows::Rows;
use triphammer_core::session::Session;
use triphammer_core::workload::{Completion, ScriptTotals, Statements};
use triphammer_core::{DbError, ErrorClass, Value};

use super::code::{Answer, CodeError, Function, Request, RequestKind, SessionCode};
use super::meter::Meter;
use super::workload::{Input, Python};
use crate::sysbench::runner::{Database, driver, failed, refused};
use crate::sysbench::statement::StatementKind;
use crate::sysbench::totals::Totals;

/// Number of arguments of a statement for which nothing is allocated.
const FEW: usize = 16;

/// Purposes of the random streams of `setup` and, with the session's number, of `connected`.
const SETUP: u64 = 0x7079_0001;
const CONNECTED: u64 = 0x7079_0002;

/// A session of the workload.
pub struct Prepared {
    code: Box<dyn SessionCode>,
    database: Database,
    meter: Meter,
    request: Request,
    rows: Rows,
    counts: ScriptTotals,
    totals: Arc<Totals>,
    /// The error of the last statement that failed.
    error: Option<DbError>,
}

/// Why a function did not return.
enum Fault {
    /// An error of the database that the function did not catch, and where it was raised.
    Database(DbError, Option<String>),
    /// An exception of the code itself.
    Code(String),
}

/// What a statement returned.
enum StatementResult {
    Nothing,
    Rows,
    Count(u64),
}

impl Drop for Prepared {
    fn drop(&mut self) {
        self.totals.add(ScriptTotals { ..self.counts });
        self.totals.add(self.meter.totals());
    }
}

impl Prepared {
    fn load(python: &Python, statements: &Statements<'_>) -> Result<Self, DbError> {
        let (number, of) = statements.session();
        Ok(Self {
            code: python.code.session(number, of).map_err(|error| refused(error.message))?,
            database: Database::new(statements, &driver(statements).map_err(refused)?, false),
            meter: Meter::default(),
            request: Request::default(),
            rows: Rows::new(),
            counts: ScriptTotals::default(),
            totals: Arc::clone(&python.totals),
            error: None,
        })
    }

    /// Creates the session's code, and calls its `connected`.
    ///
    /// # Errors
    /// When it fails, or the database does.
    pub async fn new<S: Session>(
        python: &Python,
        statements: &Statements<'_>,
        session: &mut S,
    ) -> Result<Self, DbError> {
        if let Some(why) = python.totals.failure() {
            return Err(refused(format!("the script has failed: {why}")));
        }
        let mut prepared = Self::load(python, statements)?;
        let (number, _) = statements.session();
        let seed = Rng::of(python.seed, &[CONNECTED, number.into()]).bits();
        let done = prepared.call(Function::Connected, seed, session).await;
        done.map_err(|fault| match fault {
            Fault::Database(error, _) => error.context("connected()"),
            Fault::Code(why) => {
                python.totals.fail(why.clone());
                refused(why)
            }
        })?;
        Ok(prepared)
    }

    /// Calls a function, and carries out its requests until it returns.
    async fn call<S: Session>(
        &mut self,
        function: Function,
        seed: u64,
        session: &mut S,
    ) -> Result<(), Fault> {
        let Self { code, meter, request, .. } = self;
        let mut continued = code.call(function, seed, meter, request);
        loop {
            if let Err(error) = continued {
                return Err(self.fault(error));
            }
            if self.request.kind == RequestKind::Returned {
                break;
            }
            let done = self.carry_out(session).await;
            let Self { code, meter, request, rows, .. } = self;
            continued = match done {
                Ok(StatementResult::Nothing) => code.answer(Answer::Done, meter, request),
                Ok(StatementResult::Rows) => code.answer(Answer::Rows(rows), meter, request),
                Ok(StatementResult::Count(count)) => {
                    code.answer(Answer::Count(count), meter, request)
                }
                // Code that would catch the loss of its session could continue forever, so it ends.
                Err(error) if error.class().loses_session() => {
                    return Err(Fault::Database(error, None));
                }
                Err(error) => {
                    self.counts.errors += 1;
                    let continued = code.answer(Answer::Failed(&error), meter, request);
                    self.error = Some(error);
                    continued
                }
            };
        }
        if self.database.in_transaction {
            let message =
                "it returned without commit() or rollback() of the transaction that it began";
            return Err(Fault::Code(message.to_owned()));
        }
        Ok(())
    }

    /// Why a function failed.
    fn fault(&mut self, error: CodeError) -> Fault {
        self.database.in_transaction = false;
        match self.error.take() {
            Some(cause) if error.is_of_statement => Fault::Database(cause, Some(error.message)),
            _ => Fault::Code(error.message),
        }
    }

    /// Carries out the request.
    async fn carry_out<S: Session>(&mut self, session: &mut S) -> Result<StatementResult, DbError> {
        let Self { database, request, rows, counts, .. } = self;
        let sql = request.sql.as_str();
        let ended = match request.kind {
            RequestKind::Returned => return Ok(StatementResult::Nothing),
            RequestKind::Sleep(wait) => {
                session.pause(wait).await;
                return Ok(StatementResult::Nothing);
            }
            RequestKind::Script => {
                count(counts, StatementKind::Other);
                session.text(sql, !database.in_transaction, rows).await?;
                return Ok(StatementResult::Nothing);
            }
            RequestKind::Begin => StatementKind::Begin,
            RequestKind::Commit => StatementKind::Commit,
            RequestKind::Rollback => StatementKind::Rollback,
            RequestKind::Query | RequestKind::Execute => StatementKind::of(sql),
        };
        count(counts, ended);
        if matches!(ended, StatementKind::Begin | StatementKind::Commit | StatementKind::Rollback) {
            database.transaction(ended, session).await?;
            return Ok(StatementResult::Nothing);
        }
        // What is neither a query nor a change cannot be prepared everywhere.
        if ended == StatementKind::Other && request.arguments.is_empty() {
            database.query(ended, sql, session, rows).await?;
        } else {
            let number = database.prepare(sql, session).await?;
            let (mut few, mut many) = ([Value::Null; FEW], Vec::new());
            let values = if request.arguments.len() <= FEW {
                for (place, argument) in few.iter_mut().zip(&request.arguments) {
                    *place = argument.value();
                }
                &few[..request.arguments.len()]
            } else {
                many.extend(request.arguments.iter().map(super::Argument::value));
                &many[..]
            };
            let changed = database.execute(number, values, session, rows).await?;
            if request.kind == RequestKind::Execute {
                return Ok(StatementResult::Count(changed));
            }
        }
        Ok(if request.kind == RequestKind::Execute {
            StatementResult::Count(0)
        } else {
            StatementResult::Rows
        })
    }
}

/// Counts a statement.
fn count(counts: &mut ScriptTotals, kind: StatementKind) {
    match kind {
        StatementKind::Read => counts.reads += 1,
        StatementKind::Write => counts.writes += 1,
        _ => counts.other += 1,
    }
}

/// Calls `setup`.
///
/// # Errors
/// When it fails, or the database does.
pub async fn setup<S: Session>(
    python: &Python,
    statements: &Statements<'_>,
    session: &mut S,
) -> Result<(), DbError> {
    let mut prepared = Prepared::load(python, statements)?;
    let seed = Rng::of(python.seed, &[SETUP]).bits();
    let done = prepared.call(Function::Setup, seed, session).await;
    // They are not part of the run.
    prepared.counts = ScriptTotals::default();
    done.map_err(|fault| match fault {
        Fault::Database(error, None) => error.context("setup()"),
        Fault::Database(error, Some(shown)) => DbError::new(error.class(), shown),
        Fault::Code(why) => DbError::new(ErrorClass::Other, format!("setup(): {why}")),
    })
}

/// Runs one transaction.
///
/// # Errors
/// As the database reports, and when the code fails, which ends the run.
pub async fn run<S: Session>(
    python: &Python,
    input: &Input,
    prepared: &mut Prepared,
    session: &mut S,
) -> Result<Completion, DbError> {
    prepared.meter.begin();
    prepared.error = None;
    prepared.database.has_committed = false;
    prepared.database.was_rolled_back = false;
    let ended = prepared.call(Function::Transaction(input.transaction), input.seed, session).await;
    let Database { has_committed, was_rolled_back, in_transaction, .. } = prepared.database;
    let error = match ended {
        Ok(()) if was_rolled_back && !in_transaction => return Ok(Completion::ROLLED_BACK),
        Ok(()) => return Ok(Completion::COMMITTED),
        Err(Fault::Database(error, _)) => error,
        Err(Fault::Code(why)) => {
            let why = format!("{}(): {why}", input.name());
            python.totals.fail(why.clone());
            failed(why)
        }
    };
    prepared.database.in_transaction = false;
    // What is committed already does not make the transaction succeed.
    Err(if has_committed { error.undone() } else { error })
}
