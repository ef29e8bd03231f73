//! The interface of workloads: schema, data, mix, inputs, invariants. A workload knows no database
//! by name, never sleeps and never retries. Pacing, retries, stopping and recording belong to the
//! engine, SQL dialects to the statement catalogue, and protocols to the driver.
//!
//! A new workload is one module that implements [`Workload`], its folder of SQL, and one line in
//! the workloads crate's list.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answers::ReplayAnswers;
use crate::clock::Elapsed;
use crate::error::{DbError, ErrorClass, SpecError};
use crate::mix::Mix;
pub use crate::name::Name;
use crate::outcome::Outcome;
use crate::pace::Cycle;
use crate::query_plan::{QueryPlan, Refresh};
use crate::random::Rng;
use crate::rows::{Row, Rows};
use crate::scale::Scale;
use crate::session::{Access, Capabilities, Isolation, Protocol, RowSource, Session, StatementId};
use crate::sql::{BoundStatement, Placeholder, StatementCatalogue, StatementDef};
pub use crate::sql::{OwnSql, OwnSqlUse};
pub use crate::table::{Column, TableDef, column, table};
use crate::value::{Timestamp, Value};

/// The declarations of a workload, for all code that drives, stores or shows it. They belong to an
/// instance, so that a workload may come from a file as well as from a module.
#[derive(Clone, Debug)]
pub struct Description {
    /// Name on the command line, such as `tproc-c`.
    pub name: Name,
    /// Name as people write it, such as `TPROC-C`.
    pub title: Name,
    /// Who wrote the transactions.
    pub author: Author,
    /// The workload whose tables, statements and transactions this one has too, to which it adds its own. Both
    /// have one build record and one advisory lock. `None` for a workload on its own.
    pub extends: Option<Name>,
    /// Name of the build record if it is not that of the workload: workloads of several files can be in one
    /// schema.
    pub record: Option<Name>,
    /// Statements and scripts that the workload supplies as they are.
    pub own_sql: Vec<OwnSql>,
    /// Whether a run has streams of queries beside its transactions ([`Workload::query_plan`]).
    pub has_streams: bool,
    /// Raised whenever the meaning of the work or the data changes; results of two versions are not
    /// comparable.
    pub version: u32,
    /// Unit of the scale, such as `warehouses`.
    pub scale_unit: ScaleUnit,
    /// Options besides scale and seed: each becomes a flag, an environment variable and a job-file
    /// key.
    pub options: Vec<OptionDef>,
    /// Statements that every dialect's catalogue must have, with their parameters.
    pub statements: Vec<StatementDef>,
    /// The tables, in the order of creation.
    pub tables: Arc<[TableDef]>,
    /// The transaction types; their order is the order of every array and report. None where a run times a
    /// finite set of queries instead.
    pub transactions: Vec<TransactionDef>,
    /// The primary metric, and how the database itself counts it.
    pub primary_metric: PrimaryMetric,
    /// The conditions that `check` verifies.
    pub checks: Vec<CheckDef>,
    /// Queries whose answers are known while the data is as built.
    pub answers: Option<Answers>,
    /// Sums that a run must change by exactly what its own transactions report.
    pub audits: Vec<AuditDef>,
    /// Where the logic can run, preferred first.
    pub modes: Vec<Mode>,
    /// Whether BEGIN and COMMIT may share a round trip with a statement
    /// ([`Pipelining`](crate::session::Pipelining)); an error is the reason why not.
    pub pipelining: Result<(), &'static str>,
    /// Other programs' tables for this workload, and how to recognise them.
    pub external: Option<ExternalSchema>,
    /// The workload whose build makes the tables; `None` if its own build does.
    pub borrowed: Option<Borrowed>,
    /// Keying and thinking times of the workload's terminals.
    pub cycle: Option<Cycle>,
    /// The recording that the workload replays.
    pub recording: Option<RecordingDef>,
}

impl Description {
    /// Name of the build record and of the advisory lock.
    #[must_use]
    pub fn record_name(&self) -> &Name {
        self.record.as_ref().or(self.extends.as_ref()).unwrap_or(&self.name)
    }

    /// The user's own work; `None` if the transactions are the program's.
    #[must_use]
    pub const fn own_work(&self) -> Option<&OwnWork> {
        match &self.author {
            Author::User(work) => Some(work),
            Author::Program | Author::Command(_) => None,
        }
    }

    /// Whether the transactions are the user's own.
    #[must_use]
    pub const fn is_of_user(&self) -> bool {
        self.own_work().is_some()
    }

    /// Whether only the command line runs it: a server would have to read files or run scripts of
    /// its host.
    #[must_use]
    pub fn is_only_local(&self) -> bool {
        self.own_work().is_some_and(|work| work.only_local.is_some())
    }

    /// Whether a transaction of the declared mix writes.
    #[must_use]
    pub fn writes(&self) -> bool {
        self.transactions.iter().any(|of| of.weight > 0 && of.access.writes())
    }

    /// Whether a build makes data, without which nothing runs on a database that stores.
    #[must_use]
    pub fn has_data(&self) -> bool {
        !self.tables.is_empty() || self.own_sql.iter().any(|sql| sql.used == OwnSqlUse::Script)
    }
}

/// Who wrote the transactions of a workload.
#[derive(Clone, Debug)]
pub enum Author {
    /// The program: they are declared.
    Program,
    /// Likewise, for the command of this name, which builds and runs the workload: users name the
    /// command.
    Command(&'static str),
    /// The user.
    User(OwnWork),
}

/// Where the transactions of the user come from, and what may be done with them.
#[derive(Clone, Copy, Debug)]
pub struct OwnWork {
    /// The setting that names their files.
    pub setting: &'static str,
    /// How the files become texts, which replace them; `None` if they stay files.
    pub texts: Option<OwnTexts>,
    /// When their data is made.
    pub data: OwnData,
    /// Why a command that runs nothing cannot use them; `{command}` stands for its name.
    pub unused: &'static str,
    /// Why clients of a server cannot send them; `None` if they can.
    pub only_local: Option<Refusal>,
    /// Switches that clients of a server cannot set.
    pub local_options: &'static [Refusal],
}

/// How the user's files become one value that contains them, so that a stored job repeats what it
/// ran.
#[derive(Clone, Copy, Debug)]
pub struct OwnTexts {
    /// Makes the value of the setting one that contains the files that it names; one that already
    /// does stays. The flag says whether files may be read.
    pub load: fn(&str, bool) -> Result<String, SpecError>,
    /// The names of the files of such a value.
    pub summary: fn(&str) -> String,
}

/// When the data of the user's own transactions is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnData {
    /// By others, before.
    Never,
    /// By the user's set-up script, which `build` runs.
    InBuild,
    /// By the user's code, when a run starts.
    InRun,
}

/// Why something is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The setting that is to blame.
    pub about: &'static str,
    /// The reason, for people.
    pub why: &'static str,
}

/// The tables of another workload.
#[derive(Clone, Debug)]
pub struct Borrowed {
    /// Name of the workload.
    pub workload: Name,
    /// What needs which tables, for people.
    pub needs: Name,
}

/// A recording, as a run sees it: at the speed at which it is replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordingDef {
    /// Largest number of sessions that worked at the same time.
    pub sessions: u32,
    /// Transactions of all sessions.
    pub transactions: u64,
    /// Transactions that are due in each second.
    pub due: Arc<[u32]>,
}

/// Unit of a scale.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScaleUnit {
    /// Singular, such as `warehouse`.
    pub one: Name,
    /// Plural, such as `warehouses`.
    pub many: Name,
    /// [`Chunk::key`]s of one unit, by which checks cut the data into ranges: 1 where only whole units
    /// can be, else 1000.
    pub keys: u32,
    /// Scale of a build for which none is given.
    pub default: Scale,
    /// Keys that one question of a check covers at most: few enough for progress, enough that the
    /// database reads tables in stretches.
    pub range_max: u32,
}

impl ScaleUnit {
    /// Creates the unit from its singular and plural.
    #[must_use]
    pub const fn new(one: &'static str, many: &'static str) -> Self {
        Self {
            one: Name::new_static(one),
            many: Name::new_static(many),
            keys: 1,
            default: Scale::ONE,
            range_max: 10,
        }
    }

    /// The same unit, with another scale of a build for which none is given.
    #[must_use]
    pub fn by_default(self, scale: Scale) -> Self {
        Self { default: scale, ..self }
    }

    /// The same unit, of which there may be a fraction in thousandths.
    #[must_use]
    pub fn in_thousandths(self) -> Self {
        Self { keys: 1_000, range_max: 100, ..self }
    }

    /// The last key of data of this size; the first is 1.
    #[must_use]
    pub fn last_key(&self, scale: Scale) -> i64 {
        let keys = scale.thousandths() * u64::from(self.keys) / 1_000;
        i64::try_from(keys).unwrap_or(i64::MAX)
    }

    /// The scale with its unit, such as `1 warehouse`, `8 warehouses` or, of a million, `5,000 rows`.
    #[must_use]
    pub fn count(&self, scale: Scale) -> String {
        if let Some(units) = self.many.strip_prefix("million ").filter(|_| scale < Scale::ONE) {
            return format!("{},000 {units}", scale.thousandths());
        }
        format!("{scale} {}", if scale == Scale::ONE { &self.one } else { &self.many })
    }
}

/// Schema, data, mix, inputs and invariants of a load.
pub trait Workload: Send + Sync + 'static {
    /// State of one virtual user: plain data, so that a waiting terminal costs its bytes and no
    /// task.
    type User;
    /// Input of a transaction, drawn before its first attempt and kept over its retries. As text, it
    /// is one line of `name = value` per value.
    type Input: Clone + fmt::Display;
    /// State of a session: statement ids and buffers. Created on connect and on reconnect.
    type Prepared;

    /// Returns the declarations of the workload.
    fn description(&self) -> &Arc<Description>;

    /// The chunks in which data is loaded, each in one database transaction; they are independent
    /// of each other. None for a workload that loads no rows.
    fn chunks(&self) -> Vec<Chunk> {
        Vec::new()
    }

    /// The rows of one table in one chunk. They depend only on the seed.
    fn rows(&self, chunk: &Chunk, table: &TableDef) -> Box<dyn RowSource + '_> {
        let _ = (chunk, table);
        Box::new(|_: &mut Rows| false)
    }

    /// Facts that the build stores for runs, besides scale and seed, such as `c_load`.
    fn build_facts(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Tries and reads what the workload needs of the database, once before a run or the replay of a transaction.
    /// Not called for a database that stores nothing.
    ///
    /// # Errors
    /// As the database reports, and when its data is not what the workload needs.
    async fn start<S: Session>(
        &self,
        statements: &Statements<'_>,
        session: &mut S,
    ) -> Result<(), DbError> {
        let _ = (statements, session);
        Ok(())
    }

    /// Creates virtual user `id` of `users`, before its first transaction.
    fn user(&self, id: u32, users: u32, rng: &mut Rng) -> Self::User;

    /// Turns `user` into the user of arrival `number` (from 0) of an open load, and returns its
    /// transaction type: all of it depends on the number and on `rng`, which belongs to the arrival,
    /// and nothing on earlier arrivals. Override it where creating a user allocates.
    fn arrive(&self, user: &mut Self::User, number: u64, rng: &mut Rng) -> Option<usize> {
        let _ = number;
        let id = u32::try_from(rng.below(u64::from(u32::MAX))).expect("below 32 bits");
        *user = self.user(id, u32::MAX, rng);
        self.next(user, rng)
    }

    /// The user's next transaction type: an index into [`Description::transactions`], or `None`
    /// when the user is done.
    fn next(&self, user: &mut Self::User, rng: &mut Rng) -> Option<usize>;

    /// When the transaction that [`Workload::next`] returned last is due, since the start of the run,
    /// in a replay of a [recording](Description::recording).
    fn due(&self, user: &Self::User) -> Elapsed {
        let _ = user;
        Elapsed::default()
    }

    /// Draws the input of a transaction; `now` is part of its data, in whole seconds.
    fn draw(
        &self,
        transaction: usize,
        user: &mut Self::User,
        rng: &mut Rng,
        now: Timestamp,
    ) -> Self::Input;

    /// Prepares what a session needs in `mode`.
    ///
    /// # Errors
    /// As the database reports.
    async fn prepare<S: Session>(
        &self,
        mode: Mode,
        statements: &mut Statements<'_>,
        session: &mut S,
    ) -> Result<Self::Prepared, DbError>;

    /// The result of a transaction with this input whose commit was acknowledged but whose answer
    /// cannot be read; `None` where it depends on the answer. Committed by default.
    fn acknowledged(&self, input: &Self::Input) -> Option<Completion> {
        let _ = input;
        Some(Completion::COMMITTED)
    }

    /// The part of the data that a transaction with this input is mainly about, from 1: its
    /// warehouse. `None` if the workload's data has no parts.
    fn partition(&self, input: &Self::Input) -> Option<u64> {
        let _ = input;
        None
    }

    /// Receives the outcome of a transaction of the user, and when it ended. Not called for one that
    /// an abort abandoned.
    fn ended(&self, user: &mut Self::User, input: &Self::Input, outcome: Outcome, at: Elapsed) {
        let _ = (user, input, outcome, at);
    }

    /// Runs one transaction, from its begin to its commit or its rollback by rule. On an error the
    /// engine rolls back.
    ///
    /// # Errors
    /// As the database reports, and when its answer is malformed.
    async fn run<S: Session>(
        &self,
        input: &Self::Input,
        prepared: &mut Self::Prepared,
        session: &mut S,
    ) -> Result<Completion, DbError>;

    /// Ends what the workload has begun on a session, before the session is closed.
    async fn finish<S: Session>(&self, prepared: Self::Prepared, session: &mut S) {
        let _ = (prepared, session);
    }

    /// Whether all work of the run has been handed out: when a user or an arrival gets none, the run ends before its time.
    fn is_done(&self) -> bool {
        false
    }

    /// Why the run as a whole has failed, such as an error in a user's script; `None` if it has not.
    fn failure(&self) -> Option<String> {
        None
    }

    /// Whether its transactions write; `None` if only the user who wrote them knows. One that does not
    /// leaves the data as it was built, and runs where nobody may write.
    fn writes(&self) -> Option<bool> {
        Some(self.description().writes())
    }

    /// The mix that its transaction types are drawn from, if it can change while a run is in progress;
    /// `arrives` if the load is open.
    ///
    /// # Errors
    /// Says why it cannot.
    fn mix(&self, arrives: bool) -> Result<&Arc<Mix>, &'static str> {
        let _ = arrives;
        Err("the transaction types of this workload are not drawn from a mix")
    }

    /// What to know about the workload before the figures of a run are used, in one sentence; `None` if there is nothing.
    fn warning(&self) -> Option<String> {
        None
    }

    /// What the users' own code has done so far; `None` if the workload runs none.
    fn script_totals(&self) -> Option<ScriptTotals> {
        None
    }

    /// Times of single statements in the sessions that have ended; empty if the workload does not
    /// count them.
    fn statement_times(&self) -> Vec<StatementTimes> {
        Vec::new()
    }

    /// What the statements of a replay answered so far; `None` for every other workload.
    fn replay_answers(&self) -> Option<ReplayAnswers> {
        None
    }

    /// A statement that has times, by its text, with arguments that it was run with, for the database
    /// to explain; `None` if the workload keeps none.
    fn statement_example(&self, text: &str, placeholder: Placeholder) -> Option<StatementExample> {
        let _ = (text, placeholder);
        None
    }

    /// The queries that a run times: all that it does if its measure is [`MeasureDef::Queries`], else beside its
    /// transactions, in streams that repeat until the end. `None` for a run without queries.
    fn query_plan(&self) -> Option<QueryPlan> {
        None
    }

    /// Whether a refresh function may be used on the data as it is: why not, for people, or `None`.
    /// It may not if rows exist that it would delete and that it has not added, and, with `tries`,
    /// if the tables do not accept its rows. What is tried is rolled back.
    ///
    /// # Errors
    /// As the database reports. The caller rolls back.
    async fn refuse_refresh<S: Session>(
        &self,
        refresh: Refresh,
        tries: bool,
        statements: &mut Statements<'_>,
        session: &mut S,
    ) -> Result<Option<String>, DbError> {
        let _ = (refresh, tries, statements, session);
        Ok(None)
    }

    /// Runs a refresh function of the [plan](Workload::query_plan) in its own transactions, and
    /// returns the number of rows that it changed. On an error the caller rolls back.
    ///
    /// # Errors
    /// As the database reports.
    async fn refresh<S: Session>(
        &self,
        refresh: Refresh,
        statements: &mut Statements<'_>,
        session: &mut S,
    ) -> Result<u64, DbError> {
        let _ = (refresh, statements, session);
        Err(DbError::new(ErrorClass::Unsupported, "this workload has no refresh functions"))
    }
}

/// What the users' own code did, in the whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptTotals {
    /// CPU time of the code, without that of its statements.
    pub cpu: std::time::Duration,
    /// Statements that read.
    pub reads: u64,
    /// Statements that change rows.
    pub writes: u64,
    /// All other statements.
    pub other: u64,
    /// Statements that failed, and errors that the code counted itself.
    pub errors: u64,
    /// Time for which the code held a lock that only one thread can have, such as Python's; zero if it needs none.
    pub lock_held: std::time::Duration,
    /// Time for which all threads together waited for that lock.
    pub lock_waited: std::time::Duration,
}

/// A statement with arguments that it was run with.
#[derive(Clone, Debug)]
pub struct StatementExample {
    /// The statement in one line, as in its times.
    pub text: String,
    /// The statement.
    pub statement: BoundStatement,
    /// A value for each of its parameters, in their order.
    pub arguments: Vec<Literal>,
}

/// A value that is its own owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Literal {
    /// NULL.
    Null,
    /// An integer.
    Int(i64),
    /// Everything else, as text.
    Text(String),
    /// Bytes that are no text.
    Bytes(Vec<u8>),
}

impl<'a> From<&'a Literal> for Value<'a> {
    fn from(literal: &'a Literal) -> Self {
        match literal {
            Literal::Null => Value::Null,
            Literal::Int(number) => Value::Int(*number),
            Literal::Text(text) => Value::Text(text),
            Literal::Bytes(bytes) => Value::Bytes(bytes),
        }
    }
}

/// Times of one statement, of all users together, over the whole run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatementTimes {
    /// Index of its transaction type.
    pub transaction: usize,
    /// Line of its script, from 1.
    pub line: usize,
    /// The statement, in one line.
    pub text: String,
    /// How many times it succeeded.
    pub runs: u64,
    /// How many times it failed.
    pub failures: u64,
    /// Time of all successful runs.
    pub total: std::time::Duration,
    /// Time of the longest of them.
    pub longest: std::time::Duration,
}

/// How a successful transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// False when the workload's own rule rolled it back.
    pub committed: bool,
    /// Value of the counter: what [`TransactionDef::counter`] counts, or what [`Description::audits`]
    /// sum.
    pub counter: i64,
}

impl Completion {
    /// Committed, with nothing to count.
    pub const COMMITTED: Self = Self { committed: true, counter: 0 };
    /// Rolled back by the workload's rule.
    pub const ROLLED_BACK: Self = Self { committed: false, counter: 0 };
}

/// Where the logic of a transaction runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// In the database, in stored procedures called in one round trip.
    Procedures,
    /// In the client, statement by statement.
    Statements,
}

impl Mode {
    /// Name of the mode on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Procedures => "procedures",
            Self::Statements => "statements",
        }
    }

    /// Default mode of a run for a workload with these modes.
    #[must_use]
    pub fn default_for(modes: &[Self], capabilities: &Capabilities) -> Self {
        let can = |mode: &&Self| capabilities.procedures || **mode == Self::Statements;
        modes.iter().find(can).copied().unwrap_or(Self::Statements)
    }
}

impl std::str::FromStr for Mode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "procedures" => Ok(Self::Procedures),
            "statements" => Ok(Self::Statements),
            _ => Err(format!("unknown mode `{text}`: expected procedures or statements")),
        }
    }
}

/// A type of transaction.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TransactionDef {
    /// Key in JSON and settings, such as `new_order`.
    pub name: Name,
    /// Name for people, such as `New-Order`.
    pub title: Name,
    /// Weight in the default mix.
    pub weight: u32,
    /// Whether it reads or writes: a database of several nodes sends transactions that only read
    /// elsewhere.
    pub access: Access,
    /// Its isolation level; `None` for the run's.
    pub isolation: Option<Isolation>,
    /// A counter inside the transaction, such as districts that Delivery found empty.
    pub counter: Option<CounterDef>,
}

impl TransactionDef {
    /// Declares a type that writes and has no counter.
    #[must_use]
    pub const fn new(name: &'static str, title: &'static str, weight: u32) -> Self {
        Self {
            name: Name::new_static(name),
            title: Name::new_static(title),
            weight,
            access: Access::Write,
            isolation: None,
            counter: None,
        }
    }

    /// The mix of these types with these weights at the start of a run.
    pub fn mix(types: &[Self], weights: impl IntoIterator<Item = u32>) -> Arc<Mix> {
        Mix::new(types.iter().map(|of| of.name.clone()).zip(weights))
    }

    /// Marks the type as read only.
    #[must_use]
    pub const fn reading(mut self) -> Self {
        self.access = Access::Read;
        self
    }
}

/// A counter that a transaction keeps of itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CounterDef {
    /// Key in JSON, such as `districts_skipped`.
    pub name: Name,
    /// Name for people, such as `districts skipped`.
    pub title: Name,
    /// Largest count in one transaction.
    pub per_transaction: u32,
    /// Share of the possible total above which the result warns.
    pub warn_above: f64,
}

/// The primary metric of a workload.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PrimaryMetric {
    /// Name of the metric, such as `NOPM`.
    pub name: Name,
    /// Meaning for people, such as `New-Orders committed per minute`.
    pub meaning: Name,
    /// Indexes of the transaction types that count.
    pub transactions: Vec<usize>,
    /// How the value is computed from a run.
    pub measure: MeasureDef,
    /// Statement that returns one integer, which grows by one with each transaction in `counted`;
    /// queried before and after a run.
    pub database_count: Option<Name>,
    /// Indexes of the transaction types that `database_count` counts: `transactions`, except those
    /// that leave no trace.
    pub counted: Vec<usize>,
}

/// How the primary metric is computed from a run. Everything that depends on it (the contribution
/// of a second, the better direction, the data that a verdict needs) is defined by the runner's
/// module `measure`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MeasureDef {
    /// Throughput: transactions committed in the timed window, per unit of time.
    Rate {
        /// Seconds of the unit of time: 60 for "per minute".
        per_seconds: u32,
    },
    /// A finite set of queries with a time for each, planned by [`Workload::query_plan`].
    Queries,
}

/// A sum over the data that a run changes by what its own transactions do. Queried before and after
/// a run; the difference must be the client's sum, except for transactions in doubt or in flight.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AuditDef {
    /// Key in JSON, such as `abalance`.
    pub id: Name,
    /// The equation in one line, such as `ΔΣ abalance = Σ delta`.
    pub title: Name,
    /// Statement that returns the sum as one integer. It may read whole tables.
    pub statement: Name,
    /// The transaction types that change it.
    pub terms: Vec<AuditTerm>,
    /// Option and value of the run with which the equation does not hold; `None` if it always does.
    pub except: Option<(Name, Name)>,
}

/// How a transaction type changes the sum of an audit: by `each`, and by its
/// [`Completion::counter`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditTerm {
    /// Index of the transaction type.
    pub transaction: usize,
    /// Change by every committed transaction, besides its counter.
    pub each: i64,
    /// Least and largest change by one transaction: the error allowed for one in doubt.
    pub range: std::ops::RangeInclusive<i64>,
    /// Whether the counter is read from the database's answer, so that it is unknown for a
    /// transaction that committed but whose answer could not be read.
    pub is_answered: bool,
}

impl AuditTerm {
    /// A type whose counter is the change, by at most `most` in either direction.
    #[must_use]
    pub fn counted(transaction: usize, most: u32) -> Self {
        let most = i64::from(most);
        Self { transaction, each: 0, range: -most..=most, is_answered: false }
    }
}

/// The workload's tables as created by another program: all of [`Description::tables`] exist,
/// triphammer's record does not, and a statement returns their scale. They can be run on and
/// checked as they are; nothing is recorded about them, and they are dropped only with force.
#[derive(Clone, Debug)]
pub struct ExternalSchema {
    /// The program, for people, such as `pgbench -i`.
    pub made_by: Name,
    /// Statement that returns the scale as one integer, counted in [`ScaleUnit::keys`]; 0, null, no
    /// row or an error mean that the tables are not that program's. A dialect without it has no
    /// such tables.
    pub scale: Name,
    /// What to do when the statement fails on tables with the workload's names; `None` for nothing.
    pub hint: Option<Name>,
    /// Objects that a run needs besides the tables; `None` for nothing.
    pub needs: Option<Needs>,
    /// Where logic can run on such tables, preferred first.
    pub modes: Vec<Mode>,
    /// Run options that are determined by such tables, as (name, value).
    pub options: Vec<(Name, Name)>,
    /// Conditions, by [`CheckDef::id`], that do not hold by that program's own rules.
    pub violates: Vec<Name>,
}

/// The stored routines that a run on another program's tables needs.
#[derive(Clone, Debug)]
pub struct Needs {
    /// Statement that lists the routines found.
    pub statement: Name,
    /// Judges the routines that the statement listed, given what the catalogue can use.
    pub judge: fn(&StatementCatalogue, &Rows) -> Result<ExternalFindings, DbError>,
}

/// Findings besides the tables of an [`ExternalSchema`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExternalFindings {
    /// Why no run is possible, for people; `None` if one is.
    pub lack: Option<String>,
    /// Conditions that the program's version does not keep, besides [`ExternalSchema::violates`].
    pub violates: Vec<Name>,
}

/// A condition that the data must satisfy.
#[derive(Clone, Debug)]
pub struct CheckDef {
    /// Identifier, such as `3.3.2.1` or `13`.
    pub id: Name,
    /// The condition in one line, such as `w_ytd = Σ d_ytd`.
    pub title: Name,
    /// Its statement: returns no row when the condition holds, else one row of (number of
    /// violations, key of the first), unless [`CheckDef::judge`] is set. Takes `:first` and `:last`, a range of [`Chunk::key`]s.
    pub statement: Name,
    /// When the condition can be checked.
    pub when: CheckWhen,
    /// Judges each row where SQL cannot: the statement then returns all rows of the range, in the
    /// order of their keys.
    pub judge: Option<RowJudge>,
}

/// Returns the key of a row that violates a condition; `None` if the row satisfies it.
pub type RowJudge = fn(&Row<'_>) -> Result<Option<String>, DbError>;

impl CheckDef {
    /// The same check, whose rows the client judges.
    #[must_use]
    pub fn judged_by(mut self, judge: RowJudge) -> Self {
        self.judge = Some(judge);
        self
    }
}

/// Declares a check; short enough to write checks as a table.
#[must_use]
pub const fn check(
    id: &'static str,
    statement: &'static str,
    title: &'static str,
    when: CheckWhen,
) -> CheckDef {
    CheckDef {
        id: Name::new_static(id),
        title: Name::new_static(title),
        statement: Name::new_static(statement),
        when,
        judge: None,
    }
}

/// When a condition can be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckWhen {
    /// At any time when no client writes.
    Always,
    /// Only until the first run has changed the data.
    Untouched,
    /// Like `Always`, but once for everything rather than range by range.
    Once,
    /// Like `Always`, but about the whole database: checked once over the whole scale, even if only
    /// a part was requested.
    Whole,
    /// Like `Untouched`, but once rather than range by range.
    UntouchedOnce,
}

impl CheckWhen {
    /// Whether the condition is checked once rather than range by range.
    #[must_use]
    pub const fn is_once(self) -> bool {
        matches!(self, Self::Once | Self::Whole | Self::UntouchedOnce)
    }

    /// Whether the condition holds only until the first run has changed the data.
    #[must_use]
    pub const fn is_of_population(self) -> bool {
        matches!(self, Self::Untouched | Self::UntouchedOnce)
    }
}

/// Queries whose answers are known at some scales.
#[derive(Clone, Debug)]
pub struct Answers {
    /// The scales at which answers are known, for messages: `0.01, 0.1 and 1 SF`.
    pub known_at: Name,
    /// The queries with their answers at a scale; empty if they are not known.
    pub at: fn(Scale) -> Vec<Answer>,
    /// The same queries at any scale, without rows.
    pub questions: fn() -> Vec<Answer>,
    /// What tells whether tables of another program have the texts that some answers depend on.
    pub texts: Texts,
}

/// Texts of the data, which another program may have made in its own way.
#[derive(Clone, Debug)]
pub struct Texts {
    /// Statement that returns one of them.
    pub statement: Name,
    /// What it returns from the data to which the answers belong.
    pub expected: Name,
    /// The queries whose answers depend on such texts, by their [`Answer::id`].
    pub answers: &'static [&'static str],
    /// Programs that make the same data with texts of their own.
    pub own: &'static [OtherTexts],
    /// Why no answer is compared when it returns something else.
    pub unknown: Name,
}

/// The texts of a program that makes the same data otherwise.
#[derive(Clone, Debug)]
pub struct OtherTexts {
    /// The program, for people: ``DuckDB's `CALL dbgen` ``.
    pub made_by: Name,
    /// What [`Texts::statement`] returns from its data.
    pub expected: Name,
    /// Answers that belong to its texts at a scale, of [`Texts::answers`]; those that it lacks are
    /// unknown.
    pub at: fn(Scale) -> Vec<Answer>,
    /// Why others of [`Texts::answers`] are not compared, after their list.
    pub reason: Name,
}

/// A query and its expected answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Name of the query: `Q1`.
    pub id: Name,
    /// The question that it answers, in one line.
    pub title: Name,
    /// Name of the statement in the catalogue.
    pub statement: Name,
    /// Arguments of the statement.
    pub args: Vec<Value<'static>>,
    /// Columns of the answer, in order.
    pub columns: Vec<AnswerColumn>,
    /// Rows of the answer in order, as text; `NULL` is SQL NULL.
    pub rows: Vec<Vec<Name>>,
}

/// A column of an answer.
#[derive(Clone, Debug)]
pub struct AnswerColumn {
    /// Name of the column.
    pub name: Name,
    /// How its fields are compared.
    pub rule: AnswerRule,
}

/// How a field of an answer is compared with the expected one (TPC-H, clause 2.1.3.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerRule {
    /// Text: equal, ignoring leading and trailing blanks.
    Words,
    /// An integer: equal.
    Count,
    /// A decimal with two fractional digits: equal.
    Cents,
    /// A date: equal.
    Day,
    /// A sum: within 100 of the expected value.
    Sum,
    /// An average or a ratio: within 1 % of the expected value.
    Ratio,
}

/// A piece of the data, loaded in one transaction.
#[derive(Clone, Debug)]
pub struct Chunk {
    /// Name in `triphammer_build`, such as `warehouse 7`.
    pub name: String,
    /// Number by which checks divide the data into ranges; 0 for data that exists once.
    pub key: i64,
    /// Tables of the chunk, in loading order.
    pub tables: Arc<[TableDef]>,
    /// Approximate number of rows, for progress.
    pub rows: u64,
}

/// An option of a workload.
#[derive(Clone, Debug)]
pub struct OptionDef {
    /// Name of the flag without dashes and of the job-file key, such as `all-warehouses`.
    pub name: Name,
    /// Help text of one line.
    pub help: Name,
    /// Placeholder of the value in the help; `None` for a switch.
    pub value: Option<Name>,
    /// Value used when the option is not given.
    pub default: Name,
    /// The command that the option belongs to.
    pub command: OptionCommand,
    /// The option's effect, if it is a switch that changes how any workload is built.
    pub effect: Option<BuildEffect>,
    /// Whether it can be repeated: the values are joined with commas, and a job file may contain a
    /// list.
    pub repeats: bool,
    /// Short, one-letter flag; `None` if it has none.
    pub short: Option<char>,
    /// The accepted words, each with its description; empty if other values are accepted.
    pub choices: &'static [(&'static str, &'static str)],
}

/// What an option changes about a build, besides its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildEffect {
    /// The catalogue's foreign keys are added after the load.
    ForeignKeys,
    /// Keys of this kind are added to the other ones.
    Keys(&'static str),
    /// The catalogue's procedures are left out.
    NoProcedures,
    /// The tables have the dialect's [layout](crate::sql::Layout) of the option's name.
    Layout,
}

impl OptionDef {
    /// Declares an option that takes a value.
    #[must_use]
    pub const fn value(
        command: OptionCommand,
        name: &'static str,
        value: &'static str,
        default: &'static str,
        help: &'static str,
    ) -> Self {
        Self {
            name: Name::new_static(name),
            help: Name::new_static(help),
            value: Some(Name::new_static(value)),
            default: Name::new_static(default),
            command,
            effect: None,
            repeats: false,
            short: None,
            choices: &[],
        }
    }

    /// Declares an option that is on or off, and off by default.
    #[must_use]
    pub const fn switch(command: OptionCommand, name: &'static str, help: &'static str) -> Self {
        Self {
            name: Name::new_static(name),
            help: Name::new_static(help),
            value: None,
            default: Name::new_static("false"),
            command,
            effect: None,
            repeats: false,
            short: None,
            choices: &[],
        }
    }

    /// Lets the option be repeated.
    #[must_use]
    pub const fn repeated(mut self) -> Self {
        self.repeats = true;
        self
    }

    /// Restricts the values to these words, each with its description.
    #[must_use]
    pub const fn choices(mut self, words: &'static [(&'static str, &'static str)]) -> Self {
        self.choices = words;
        self
    }

    /// The value of an option with choices.
    ///
    /// # Errors
    /// When it is not one of the words.
    pub fn chosen<'a>(&self, value: &'a str) -> Result<&'a str, SpecError> {
        let value = value.trim();
        if self.choices.iter().any(|(word, _)| *word == value) {
            return Ok(value);
        }
        let words: Vec<&str> = self.choices.iter().map(|(word, _)| *word).collect();
        let words = words
            .split_last()
            .map_or_else(String::new, |(last, others)| format!("{} or {last}", others.join(", ")));
        let message = format!("--{}: unknown value `{value}`: expected {words}", self.name);
        Err(SpecError::new(message).about(&self.name))
    }

    /// Sets a short flag.
    #[must_use]
    pub const fn short(mut self, letter: char) -> Self {
        self.short = Some(letter);
        self
    }

    /// Makes the switch change how the workload is built.
    #[must_use]
    pub const fn with_effect(mut self, effect: BuildEffect) -> Self {
        self.effect = Some(effect);
        self
    }
}

/// The command that an option of a workload belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionCommand {
    /// Changes the data; stored with it.
    Build,
    /// Changes runs on the data.
    Run,
    /// Defines the workload itself: belongs to every job on it, and is not stored with the data.
    Every,
}

/// Parameters for creating a workload.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkloadSettings {
    /// Size of the data, in [`Description::scale_unit`].
    pub scale: Scale,
    /// Random seed of the data.
    pub data_seed: u64,
    /// Random seed of a run.
    pub run_seed: u64,
    /// Whether recorded times are not kept: each user does its work without waiting, as in a closed
    /// load.
    pub without_waits: bool,
    /// Options by name; missing ones have their defaults.
    pub options: std::collections::BTreeMap<String, String>,
}

impl WorkloadSettings {
    /// Value of an option, or the default of its definition.
    #[must_use]
    pub fn option<'a>(&'a self, definition: &'a OptionDef) -> &'a str {
        self.options.get(&*definition.name).map_or(&*definition.default, String::as_str)
    }

    /// Rejects options that `workload`, which has `options`, does not know.
    ///
    /// # Errors
    /// With the name of the option.
    pub fn refuse_unknown(&self, workload: &str, options: &[OptionDef]) -> Result<(), SpecError> {
        match self.options.keys().find(|name| options.iter().all(|o| o.name != **name)) {
            Some(name) => Err(SpecError::new(format!("unknown option `{name}` of {workload}"))),
            None => Ok(()),
        }
    }

    /// Whether a switch is on.
    ///
    /// # Errors
    /// When the value is neither `true` nor `false`.
    pub fn switch(&self, definition: &OptionDef) -> Result<bool, SpecError> {
        self.option(definition).parse().map_err(|_| {
            SpecError::new(format!(
                "--{} must be true or false, got `{}`",
                definition.name,
                self.option(definition)
            ))
        })
    }
}

/// Provides the statements of a resolved catalogue for a session to prepare.
pub struct Statements<'a> {
    catalogue: &'a StatementCatalogue,
    protocol: Protocol,
    session: (u32, u32),
}

impl<'a> Statements<'a> {
    /// Uses the statements of `catalogue`.
    #[must_use]
    pub fn new(catalogue: &'a StatementCatalogue) -> Self {
        Self { catalogue, protocol: Protocol::Prepared, session: (0, 1) }
    }

    /// The same statements, for sessions that send them by `protocol`.
    #[must_use]
    pub const fn by(self, protocol: Protocol) -> Self {
        Self { protocol, ..self }
    }

    /// The same statements, for the session of this number, from 0, of so many.
    #[must_use]
    pub const fn on(self, session: u32, of: u32) -> Self {
        Self { session: (session, of), ..self }
    }

    /// Number of the session in the run, from 0, and the number of sessions.
    #[must_use]
    pub const fn session(&self) -> (u32, u32) {
        self.session
    }

    /// How the session sends statements.
    #[must_use]
    pub const fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// The catalogue that the statements come from.
    #[must_use]
    pub const fn catalogue(&self) -> &StatementCatalogue {
        self.catalogue
    }

    /// Whether the catalogue has the statement `name`.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.catalogue.has_statement(name)
    }

    /// Prepares the statement `name` on `session`.
    ///
    /// # Errors
    /// As the database reports; the message names the statement.
    pub async fn prepare<S: Session>(
        &mut self,
        session: &mut S,
        name: &str,
    ) -> Result<StatementId, DbError> {
        let statement = self.catalogue.statement(name)?;
        session
            .prepare(statement)
            .await
            .map_err(|error| error.context(format_args!("preparing `{name}`")))
    }
}
