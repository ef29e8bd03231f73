//! The drill as a [`Workload`].

use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

use triphammer_core::outcome::Outcome;
use triphammer_core::random::Rng;
use triphammer_core::rows::Rows;
use triphammer_core::session::{Access, Session, StatementId};
use triphammer_core::sql::{StatementDef, optional, param, statement};
use triphammer_core::value::ColumnType::{BigInt, Int};
use triphammer_core::value::{Timestamp, Value};
use triphammer_core::workload::{
    Author, Completion, Description, MeasureDef, Mode, PrimaryMetric, ScaleUnit, Statements,
    TableDef, TransactionDef, Workload, WorkloadSettings, column, table,
};
use triphammer_core::{DbError, Elapsed, SpecError};

use super::chain::hash;
use super::ledger::{Fate, Ledger};
use super::sessions::{SESSION_ID, SESSION_IS_OWN, SESSION_TERMINATE, Sessions};
use crate::lock::lock;

/// Name of the workload, and of its build record.
pub const NAME: &str = "drill";
/// Statement that returns whether a server accepts writes: 0 on a replica.
pub const WRITABLE: &str = "server.is_writable";

/// Transactions of one type: each appends a row.
#[derive(Debug)]
pub struct Drill {
    seed: u64,
    /// Number of the last attempt.
    attempts: AtomicI64,
    ledgers: Arc<Ledgers>,
    sessions: Sessions,
}

/// The ledgers of users that have left.
type Ledgers = Mutex<Vec<Ledger>>;

static DESCRIPTION: LazyLock<Arc<Description>> = LazyLock::new(|| {
    Arc::new(Description {
        name: NAME.into(),
        title: "Durability drill".into(),
        author: Author::Command(NAME),
        extends: None,
        record: None,
        own_sql: Vec::new(),
        has_streams: false,
        recording: None,
        version: 1,
        scale_unit: ScaleUnit::new("table", "tables"),
        options: Vec::new(),
        statements: statements(),
        tables: tables(),
        transactions: vec![TransactionDef::new("append", "Append", 1)],
        primary_metric: primary_metric(),
        checks: Vec::new(),
        answers: None,
        audits: Vec::new(),
        modes: vec![Mode::Statements],
        pipelining: Ok(()),
        external: None,
        borrowed: None,
        cycle: None,
    })
});

fn tables() -> Arc<[TableDef]> {
    let columns = [
        column("usr", Int),
        column("seq", BigInt),
        column("attempt", BigInt),
        column("input", BigInt),
        column("prev", BigInt),
        column("hash", BigInt),
    ];
    [table("triphammer_drill", columns)].into()
}

fn statements() -> Vec<StatementDef> {
    let usr = || param("usr", Int);
    let row = [
        usr(),
        param("seq", BigInt),
        param("attempt", BigInt),
        param("input", BigInt),
        param("prev", BigInt),
        param("hash", BigInt),
    ];
    vec![
        statement("row.last", &[usr()]),
        statement("row.append", &row),
        statement("rows.count", &[]),
        statement("rows.of_user", &[usr()]),
        optional(SESSION_ID, &[]),
        optional(SESSION_IS_OWN, &[param("id", BigInt)]),
        optional(SESSION_TERMINATE, &[param("id", BigInt)]),
        optional(WRITABLE, &[]),
    ]
}

fn primary_metric() -> PrimaryMetric {
    PrimaryMetric {
        name: "TPS".into(),
        meaning: "rows committed per second".into(),
        transactions: vec![0],
        measure: MeasureDef::Rate { per_seconds: 1 },
        database_count: Some("rows.count".into()),
        counted: vec![0],
    }
}

impl Drill {
    /// Declares the drill: its table, statements and transaction.
    #[must_use]
    pub fn describe() -> Arc<Description> {
        Arc::clone(&DESCRIPTION)
    }

    /// Creates the workload.
    ///
    /// # Errors
    /// When an option is given: it has none.
    pub fn new(given: &WorkloadSettings) -> Result<Self, SpecError> {
        given.refuse_unknown(NAME, &[])?;
        Ok(Self {
            seed: given.run_seed,
            attempts: AtomicI64::new(0),
            ledgers: Arc::default(),
            sessions: Sessions::default(),
        })
    }

    /// Seed of the rows' hashes.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// Takes the ledgers of the users that have left, in the order of the users. After a run, all
    /// have.
    pub fn take_ledgers(&self) -> Vec<Ledger> {
        let mut ledgers = std::mem::take(&mut *lock(&self.ledgers));
        ledgers.sort_by_key(Ledger::user);
        ledgers
    }

    /// The sessions, which a fault can end.
    #[must_use]
    pub const fn sessions(&self) -> &Sessions {
        &self.sessions
    }
}

/// A virtual user, whose ledger is handed over when it leaves.
pub struct User {
    ledger: Ledger,
    ledgers: Arc<Ledgers>,
}

impl Drop for User {
    fn drop(&mut self) {
        let ledger = std::mem::replace(&mut self.ledger, Ledger::new(0));
        lock(&self.ledgers).push(ledger);
    }
}

/// Input of a transaction.
#[derive(Clone, Debug)]
pub struct Input {
    user: u32,
    seq: u64,
    input: i64,
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "usr = {}", self.user)?;
        writeln!(f, "seq = {}", self.seq)?;
        writeln!(f, "input = {}", self.input)
    }
}

/// Statements and buffer of a session.
#[derive(Debug)]
pub struct Prepared {
    last: StatementId,
    append: StatementId,
    rows: Rows,
}

impl Workload for Drill {
    type User = User;
    type Input = Input;
    type Prepared = Prepared;

    fn description(&self) -> &Arc<Description> {
        &DESCRIPTION
    }

    fn user(&self, id: u32, _users: u32, _rng: &mut Rng) -> User {
        User { ledger: Ledger::new(id), ledgers: Arc::clone(&self.ledgers) }
    }

    fn next(&self, user: &mut User, _rng: &mut Rng) -> Option<usize> {
        (!user.ledger.is_full()).then_some(0)
    }

    fn draw(&self, _: usize, user: &mut User, rng: &mut Rng, now: Timestamp) -> Input {
        let seq = user.ledger.begin(now.0.div_euclid(1_000_000));
        Input { user: user.ledger.user(), seq, input: rng.bits().cast_signed() }
    }

    fn ended(&self, user: &mut User, _input: &Input, outcome: Outcome, at: Elapsed) {
        let fate = match outcome {
            Outcome::Committed => Fate::Acknowledged,
            Outcome::RolledBack | Outcome::Failed(_) => Fate::Failed,
            Outcome::Indeterminate => Fate::Indeterminate,
        };
        user.ledger.end(fate, at);
    }

    async fn prepare<S: Session>(
        &self,
        _mode: Mode,
        statements: &mut Statements<'_>,
        session: &mut S,
    ) -> Result<Prepared, DbError> {
        self.sessions.add(statements, session).await?;
        Ok(Prepared {
            last: statements.prepare(session, "row.last").await?,
            append: statements.prepare(session, "row.append").await?,
            rows: Rows::new(),
        })
    }

    async fn run<S: Session>(
        &self,
        input: &Input,
        prepared: &mut Prepared,
        session: &mut S,
    ) -> Result<Completion, DbError> {
        let Input { user, seq, input } = *input;
        let attempt = self.attempts.fetch_add(1, Ordering::Relaxed) + 1;
        session.begin(Access::Write).await?;
        session.query(prepared.last, &[i64::from(user).into()], &mut prepared.rows).await?;
        let prev = prepared.rows.iter().next().map_or(Ok(0), |row| row.int(0))?;
        let row: [Value<'_>; 6] = [
            i64::from(user).into(),
            seq.cast_signed().into(),
            attempt.into(),
            input.into(),
            prev.into(),
            hash(self.seed, user, seq, input, prev).into(),
        ];
        session.execute_and_commit(prepared.append, &row, None).await?;
        Ok(Completion::COMMITTED)
    }
}

#[cfg(test)]
mod tests {
    use triphammer_dialects::catalogues::catalogue;

    use super::*;

    #[test]
    fn every_dialect_has_its_statements() {
        for dialect in ["postgres", "mysql", "mariadb", "sqlserver", "sqlite", "duckdb", "trino"] {
            let catalogue = catalogue(&DESCRIPTION, dialect, false).unwrap();
            let terminates = ["postgres", "mysql", "mariadb", "sqlserver"].contains(&dialect);
            assert_eq!(catalogue.has_statement(SESSION_TERMINATE), terminates, "{dialect}");
            assert_eq!(catalogue.has_statement(WRITABLE), terminates, "{dialect}");
        }
    }

    #[test]
    fn a_user_hands_over_its_ledger_when_it_leaves() {
        let drill = Drill::new(&WorkloadSettings::default()).unwrap();
        let rng = &mut Rng::of(1, &[]);
        let mut user = drill.user(4, 8, rng);
        let input = drill.draw(0, &mut user, rng, Timestamp::from_seconds(100));
        drill.ended(&mut user, &input, Outcome::Committed, Elapsed(0));
        drill.draw(0, &mut user, rng, Timestamp::from_seconds(101));
        assert!(drill.take_ledgers().is_empty());
        drop(user);
        let [ledger] = drill.take_ledgers().try_into().unwrap();
        let fates: Vec<_> = ledger.stretches().map(|stretch| stretch.fate).collect();
        assert_eq!((ledger.user(), fates), (4, vec![Fate::Acknowledged, Fate::Indeterminate]));
    }
}
