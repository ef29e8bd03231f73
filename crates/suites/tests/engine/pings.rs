//! The smallest workload that exercises the whole engine: a read, a write in a transaction, a call,
//! and a rollback by rule.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use triphammer_core::pace::{Cycle, Load};
use triphammer_core::session::{Access, Pipelining, Protocol, Session, StatementId};
use triphammer_core::spec::{Length, LoginPolicy, Pacing, RetryPolicy, RunSpec, TimeLimits};
use triphammer_core::sql::{Dialect, DialectLayer, StatementCatalogue, call, statement};
use triphammer_core::workload::{
    Author, Completion, Description, MeasureDef, Mode, PrimaryMetric, ScaleUnit, Statements,
    TransactionDef, Workload,
};
use triphammer_core::{DbError, Rng, Rows, Timestamp};
use triphammer_drivers::null::Null;
use triphammer_drivers::{ConnectSettings, TargetUrl};
use triphammer_engine::{RunPlan, Share};

/// Indexes of the transaction types.
pub const READ: usize = 0;
pub const WRITE: usize = 1;
pub const CALL: usize = 2;

#[derive(Debug)]
pub struct Pings {
    description: Arc<Description>,
    /// Types that users cycle through, as indexes.
    pub round: Vec<usize>,
    /// One in this many inputs is rolled back; 0 for none.
    pub rule_every: u64,
    /// The input of every attempt, for tests of retries.
    pub attempts: std::sync::Mutex<Vec<u64>>,
    /// Transactions that all users together have left; without a limit at first.
    pub left: AtomicU64,
    /// Number of the attempt in which the workload panics; without one at first.
    pub panics_at: u64,
}

/// Keying and thinking times of a read, a write and a call.
fn cycle() -> Cycle {
    Cycle {
        terminals: 2,
        keying: [1, 2, 3].map(Duration::from_secs).to_vec(),
        thinking: [6, 5, 4].map(Duration::from_secs).to_vec(),
        primary_metric_max: 1.0,
    }
}

fn description() -> Description {
    Description {
        name: "pings".into(),
        title: "Pings".into(),
        author: Author::Program,
        extends: None,
        record: None,
        own_sql: Vec::new(),
        has_streams: false,
        recording: None,
        version: 1,
        scale_unit: ScaleUnit::new("nothing", "nothing"),
        options: Vec::new(),
        statements: vec![statement("read", &[]), statement("write", &[]), call("call", &[])],
        tables: Arc::default(),
        transactions: ["read", "write", "call"].map(transaction).to_vec(),
        primary_metric: PrimaryMetric {
            name: "PPS".into(),
            meaning: "pings per second".into(),
            transactions: vec![WRITE],
            measure: MeasureDef::Rate { per_seconds: 1 },
            database_count: None,
            counted: Vec::new(),
        },
        checks: Vec::new(),
        answers: None,
        audits: Vec::new(),
        modes: vec![Mode::Procedures, Mode::Statements],
        pipelining: Ok(()),
        external: None,
        borrowed: None,
        cycle: Some(cycle()),
    }
}

#[derive(Clone, Debug)]
pub struct Input {
    transaction: usize,
    number: u64,
}

impl std::fmt::Display for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "number = {}", self.number)
    }
}

pub struct Prepared {
    read: StatementId,
    write: StatementId,
    call: StatementId,
    rows: Rows,
}

fn transaction(name: &'static str) -> TransactionDef {
    let writes = TransactionDef::new(name, name, 1);
    if name == "read" { writes.reading() } else { writes }
}

impl Pings {
    pub fn new(round: Vec<usize>, rule_every: u64) -> Self {
        let description = Arc::new(description());
        Self {
            description,
            round,
            rule_every,
            attempts: Default::default(),
            left: u64::MAX.into(),
            panics_at: u64::MAX,
        }
    }
}

impl Workload for Pings {
    type User = usize;
    type Input = Input;
    type Prepared = Prepared;

    fn description(&self) -> &Arc<Description> {
        &self.description
    }

    fn user(&self, _: u32, _: u32, _: &mut Rng) -> usize {
        0
    }

    fn next(&self, user: &mut usize, _: &mut Rng) -> Option<usize> {
        let take = |left: u64| left.checked_sub(1);
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).ok()?;
        *user += 1;
        Some(self.round[(*user - 1) % self.round.len()])
    }

    fn draw(&self, transaction: usize, user: &mut usize, rng: &mut Rng, _: Timestamp) -> Input {
        let _ = user;
        Input { transaction, number: rng.below(1 << 40) }
    }

    fn is_done(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
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
        let attempts = {
            let mut attempts = self.attempts.lock().unwrap();
            attempts.push(input.number);
            attempts.len() as u64
        };
        assert_ne!(attempts, self.panics_at, "a defect of a workload");
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
pub fn plan(target: &str, users: u32, seconds: u64) -> RunPlan<Pings, Null> {
    let url = TargetUrl::parse(target).unwrap();
    let database = Null::open(&url, &ConnectSettings::default()).unwrap();
    let base = DialectLayer {
        dialect: Dialect { name: "null".into(), ..Dialect::default() },
        files: vec![(
            "pings.sql".into(),
            "-- name: read\nrows 1: int 1\n-- name: write\ntouched 1\n-- name: call\nrows 1: int 0\n"
                .into(),
        )],
    };
    let workload = Pings::new(vec![WRITE], 0);
    let definitions: Vec<_> = workload.description.statements.iter().collect();
    RunPlan {
        nodes: None,
        database: Arc::new(database),
        catalogue: Arc::new(StatementCatalogue::new(&[base], &definitions, true).unwrap()),
        workload: Arc::new(workload),
        spec: RunSpec {
            users,
            threads: 1,
            rampup: Duration::ZERO,
            length: Length::Time(Duration::from_secs(seconds)),
            mode: Mode::Statements,
            protocol: Protocol::Prepared,
            pipelining: Pipelining::Off,
            io: triphammer_core::io::Io::Epoll,
            isolation: None,
            load: Load::Closed,
            pacing: Pacing { backlog: 1_000_000, ..Pacing::default() },
            seed: 1,
            retry: RetryPolicy::default(),
            // Preparing takes round trips too, and some tests make those hours long.
            limits: TimeLimits { connect: Duration::from_secs(86_400), ..TimeLimits::default() },
            logins: LoginPolicy::default(),
            max_failures: 0.01,
        },
        share: Share::WHOLE,
    }
}
