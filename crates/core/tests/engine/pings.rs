//! The smallest workload that has everything the engine looks at: a read, a write in a transaction, a
//! call, and a rollback by rule.

use std::sync::Arc;
use std::time::Duration;

use triphammer_core::engine::Plan;
use triphammer_core::pace::{Cycle, Load};
use triphammer_core::session::{Access, Protocol, RowSource, Session, StatementId};
use triphammer_core::spec::{Length, Limits, Pacing, RetryPolicy, RunSpec};
use triphammer_core::sql::{Dialect, Layer, SqlBook, StatementDef, call, statement};
use triphammer_core::workload::{
    CheckDef, Completion, Headline, Mode, OptionDef, Part, Statements, TableDef, TransactionDef,
    Workload, WorkloadSettings,
};
use triphammer_core::{DbError, Rng, Rows, SpecError, Timestamp};
use triphammer_drivers::null::Null;
use triphammer_drivers::{ConnectSettings, TargetUrl};

/// Places of the transaction types.
pub const READ: usize = 0;
pub const WRITE: usize = 1;
pub const CALL: usize = 2;

#[derive(Debug)]
pub struct Pings {
    /// Types that users go round, as places.
    pub round: Vec<usize>,
    /// Every so many inputs one is rolled back by rule; 0 for never.
    pub rule_every: u64,
    /// Every input that an attempt was made with, for tests of retries.
    pub attempts: std::sync::Mutex<Vec<u64>>,
}

/// Keying and thinking of a read, a write and a call.
pub const CYCLE: Cycle = Cycle {
    terminals: 2,
    keying: &[Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(3)],
    thinking: &[Duration::from_secs(6), Duration::from_secs(5), Duration::from_secs(4)],
    headline_max: 1.0,
};

#[derive(Clone, Debug)]
pub struct Input {
    transaction: usize,
    number: u64,
}

pub struct Prepared {
    read: StatementId,
    write: StatementId,
    call: StatementId,
    rows: Rows,
}

const fn transaction(name: &'static str) -> TransactionDef {
    TransactionDef { name, title: name, weight: 1, tally: None }
}

impl Workload for Pings {
    const NAME: &'static str = "pings";
    const TITLE: &'static str = "Pings";
    const VERSION: u32 = 1;
    const SCALE_UNIT: &'static str = "nothing";
    type User = usize;
    type Input = Input;
    type Prepared = Prepared;

    fn options() -> &'static [OptionDef] {
        &[]
    }

    fn new(_: &WorkloadSettings) -> Result<Self, SpecError> {
        Ok(Self { round: vec![WRITE], rule_every: 0, attempts: std::sync::Mutex::default() })
    }

    fn statements() -> &'static [StatementDef] {
        const { &[statement("read", &[]), statement("write", &[]), call("call", &[])] }
    }

    fn tables() -> &'static [TableDef] {
        &[]
    }

    fn transactions() -> &'static [TransactionDef] {
        const { &[transaction("read"), transaction("write"), transaction("call")] }
    }

    fn headline() -> Headline {
        Headline {
            name: "PPS",
            meaning: "pings a second",
            transactions: &[WRITE],
            per_seconds: 1,
            database_count: None,
            counted: &[],
        }
    }

    fn checks() -> &'static [CheckDef] {
        &[]
    }

    fn cycle() -> Option<&'static Cycle> {
        Some(&CYCLE)
    }

    fn parts(&self) -> Vec<Part> {
        Vec::new()
    }

    fn rows(&self, _: &Part, _: &TableDef) -> Box<dyn RowSource + '_> {
        Box::new(|_: &mut Rows| false)
    }

    fn build_facts(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn user(&self, _: u32, _: u32, _: &mut Rng) -> usize {
        0
    }

    fn next(&self, user: &mut usize, _: &mut Rng) -> Option<usize> {
        *user += 1;
        Some(self.round[(*user - 1) % self.round.len()])
    }

    fn draw(&self, transaction: usize, user: &mut usize, rng: &mut Rng, _: Timestamp) -> Input {
        let _ = user;
        Input { transaction, number: rng.below(1 << 40) }
    }

    async fn prepare<S: Session>(
        &self,
        _: Mode,
        statements: &mut Statements<'_>,
        session: &mut S,
    ) -> Result<Prepared, DbError> {
        Ok(Prepared {
            read: statements.prepare(session, "read").await?,
            write: statements.prepare(session, "write").await?,
            call: statements.prepare(session, "call").await?,
            rows: Rows::new(),
        })
    }

    async fn run<S: Session>(
        &self,
        input: &Input,
        prepared: &mut Prepared,
        session: &mut S,
    ) -> Result<Completion, DbError> {
        self.attempts.lock().unwrap().push(input.number);
        match input.transaction {
            READ => session.query(prepared.read, &[], &mut prepared.rows).await?,
            CALL => session.call(prepared.call, &[], &mut prepared.rows).await?,
            _ => {
                session.begin(Access::Write).await?;
                session.execute(prepared.write, &[]).await?;
                if self.rule_every > 0 && input.number.is_multiple_of(self.rule_every) {
                    session.rollback().await?;
                    return Ok(Completion::ROLLED_BACK);
                }
                session.commit().await?;
            }
        }
        Ok(Completion::COMMITTED)
    }
}

/// A run of `users` on the null database `target` for a window of `seconds`.
pub fn plan(target: &str, users: u32, seconds: u64) -> Plan<Pings, Null> {
    let url = TargetUrl::parse(target).unwrap();
    let database = Null::open(&url, &ConnectSettings::default()).unwrap();
    let base = Layer {
        dialect: Dialect { name: "null".into(), ..Dialect::default() },
        files: vec![(
            "pings.sql".into(),
            "-- name: read\nrows 1: int 1\n-- name: write\ntouched 1\n-- name: call\nrows 1: int 0\n"
                .into(),
        )],
    };
    let definitions: Vec<_> = Pings::statements().iter().collect();
    Plan {
        workload: Arc::new(Pings::new(&WorkloadSettings::default()).unwrap()),
        database: Arc::new(database),
        book: Arc::new(SqlBook::new(&[base], &definitions, true).unwrap()),
        spec: RunSpec {
            users,
            threads: 1,
            rampup: Duration::ZERO,
            length: Length::Time(Duration::from_secs(seconds)),
            mode: Mode::Statements,
            protocol: Protocol::Prepared,
            isolation: None,
            load: Load::Closed,
            pacing: Pacing { backlog: 1_000_000, ..Pacing::default() },
            seed: 1,
            retry: RetryPolicy::default(),
            // Preparing is round trips too, and some tests make those as long as hours.
            limits: Limits { connect: Duration::from_secs(86_400), ..Limits::default() },
            max_failures: 0.01,
        },
    }
}
