//! What a workload is: schema, data, mix, inputs, invariants. It knows no database by name, never
//! sleeps and never retries. Everything that multiplies is kept out of it: pacing, retries, stopping
//! and recording are the engine's, spelling is the statement catalogue's, protocol is the driver's.
//!
//! A new workload is one module that implements [`Workload`], its folder of SQL, and one line in the
//! workloads crate's list.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{DbError, SpecError};
use crate::pace::Cycle;
use crate::random::Rng;
use crate::rows::Rows;
use crate::scale::Scale;
use crate::session::{Access, Capabilities, RowSource, Session, StatementId};
use crate::sql::{StatementCatalogue, StatementDef};
use crate::value::{ColumnType, Timestamp, Value};

/// A name or a title that many share: cheap to clone, whether it was known when the program was compiled or
/// read from a file.
pub type Name = smol_str::SmolStr;

/// What a workload declares, to everybody who drives, stores or shows it. It belongs to an instance, so
/// that a workload may come from a file as well as from a module.
#[derive(Clone, Debug)]
pub struct Description {
    /// The word the command line takes: `tproc-c`.
    pub name: Name,
    /// The name as people write it: `TPROC-C`.
    pub title: Name,
    /// Raised whenever the work or the data changes its meaning; results of two versions do not compare.
    pub version: u32,
    /// What `scale` counts: `warehouses`.
    pub scale_unit: ScaleUnit,
    /// Options beside scale and seed: each becomes a flag, an environment variable and a job-file key.
    pub options: Vec<OptionDef>,
    /// Statements that every dialect's catalogue must have, with their parameters.
    pub statements: Vec<StatementDef>,
    /// The tables in the order of creation.
    pub tables: Arc<[TableDef]>,
    /// The transaction types; their order is the order of every array and report. None where the workload has
    /// data and questions about it, but nothing that a run could time.
    pub transactions: Vec<TransactionDef>,
    /// The figure that is printed first, and how the database itself counts it.
    pub primary_metric: PrimaryMetric,
    /// The conditions that `check` verifies.
    pub checks: Vec<CheckDef>,
    /// Questions whose answers are known as long as the data is as built.
    pub answers: Option<Answers>,
    /// Sums that a run must move by exactly what its own transactions say.
    pub audits: Vec<AuditDef>,
    /// Where its logic can run, the preferred place first.
    pub modes: Vec<Mode>,
    /// Who else makes this workload's tables, and how theirs are recognised.
    pub external: Option<ExternalSchema>,
    /// Keying and thinking times of the workload's terminals.
    pub cycle: Option<Cycle>,
}

/// What a scale counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScaleUnit {
    /// One: `warehouse`.
    pub one: Name,
    /// Several: `warehouses`.
    pub many: Name,
    /// [`Chunk::key`]s of one unit, by which checks cut the data into ranges: 1 where only whole units
    /// can be, else 1000.
    pub keys: u32,
    /// Keys that one question of a check covers at most: few enough for progress, enough that the
    /// database reads tables in stretches.
    pub range_max: u32,
}

impl ScaleUnit {
    /// The unit by its two forms.
    #[must_use]
    pub const fn new(one: &'static str, many: &'static str) -> Self {
        Self { one: Name::new_static(one), many: Name::new_static(many), keys: 1, range_max: 10 }
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

    /// `1 warehouse`, `8 warehouses`.
    #[must_use]
    pub fn count(&self, scale: Scale) -> String {
        format!("{scale} {}", if scale == Scale::ONE { &self.one } else { &self.many })
    }
}

/// Schema, data, mix, inputs and invariants of a load.
pub trait Workload: Send + Sync + 'static {
    /// One virtual user's state: plain data, so that a waiting terminal costs its bytes and no task.
    type User;
    /// Everything a transaction needs, drawn before its first attempt and kept over its retries.
    type Input: Clone + fmt::Debug;
    /// What belongs to a session: statement ids and buffers. Made on connect and on reconnect.
    type Prepared;

    /// What it declares.
    fn description(&self) -> &Arc<Description>;

    /// The pieces in which data is loaded, each in one database transaction; independent of each other.
    fn chunks(&self) -> Vec<Chunk>;

    /// The rows of one table in one part. The same for the same seed, whoever asks.
    fn rows(&self, chunk: &Chunk, table: &TableDef) -> Box<dyn RowSource + '_>;

    /// What the build remembers and a run must know, beside scale and seed: `c_load`.
    fn build_facts(&self) -> Vec<(&'static str, String)>;

    /// Virtual user `id` of `users`, before its first transaction.
    fn user(&self, id: u32, users: u32, rng: &mut Rng) -> Self::User;

    /// Makes `user` the one of an arrival of an open load, and gives what it does: all of it drawn from
    /// `rng`, which is the arrival's own, and nothing from arrivals before. Overridden where making a
    /// user allocates.
    fn arrive(&self, user: &mut Self::User, rng: &mut Rng) -> Option<usize> {
        let id = u32::try_from(rng.below(u64::from(u32::MAX))).expect("below 32 bits");
        *user = self.user(id, u32::MAX, rng);
        self.next(user, rng)
    }

    /// What the user does next: a place in [`Description::transactions`], or `None` when the user is done.
    fn next(&self, user: &mut Self::User, rng: &mut Rng) -> Option<usize>;

    /// Draws the input of a transaction; `now` is data of the transaction, whole seconds.
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

    /// What a transaction with this input came to, when the database has acknowledged its commit and its
    /// answer cannot be read; `None` where only the answer tells. Committed, unless it says otherwise.
    fn acknowledged(&self, input: &Self::Input) -> Option<Completion> {
        let _ = input;
        Some(Completion::COMMITTED)
    }

    /// Runs one transaction, from its begin to its commit or its rollback by rule. On an error the
    /// engine rolls back.
    ///
    /// # Errors
    /// As the database reports, and when its answer cannot be understood.
    async fn run<S: Session>(
        &self,
        input: &Self::Input,
        prepared: &mut Self::Prepared,
        session: &mut S,
    ) -> Result<Completion, DbError>;
}

/// How a transaction that worked ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// False when the workload's own rule rolled it back.
    pub committed: bool,
    /// What [`TransactionDef::counter`] counts, or what [`Description::audits`] sum.
    pub counter: i64,
}

impl Completion {
    /// Committed, nothing to count.
    pub const COMMITTED: Self = Self { committed: true, counter: 0 };
    /// Rolled back by rule.
    pub const ROLLED_BACK: Self = Self { committed: false, counter: 0 };
}

/// Where the logic of a transaction runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// In the database, called in one round trip.
    Procedures,
    /// In the client, statement by statement.
    Statements,
}

impl Mode {
    /// The word the command line takes.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Procedures => "procedures",
            Self::Statements => "statements",
        }
    }

    /// What a run of a workload with these modes uses when nothing is asked for.
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
            _ => Err(format!("no mode is called `{text}`; modes are procedures and statements")),
        }
    }
}

/// A type of transaction.
#[derive(Clone, Debug)]
pub struct TransactionDef {
    /// Key in JSON and settings: `new_order`.
    pub name: Name,
    /// For people: `New-Order`.
    pub title: Name,
    /// Share of the default mix.
    pub weight: u32,
    /// Whether it writes: a database of several nodes sends those that only read elsewhere.
    pub access: Access,
    /// Something counted inside the transaction, such as districts that Delivery found empty.
    pub counter: Option<CounterDef>,
}

impl TransactionDef {
    /// A type that writes, and counts nothing inside.
    #[must_use]
    pub const fn new(name: &'static str, title: &'static str, weight: u32) -> Self {
        Self {
            name: Name::new_static(name),
            title: Name::new_static(title),
            weight,
            access: Access::Write,
            counter: None,
        }
    }

    /// The same, but it only reads.
    #[must_use]
    pub const fn reading(mut self) -> Self {
        self.access = Access::Read;
        self
    }
}

/// Something that a transaction counts of itself.
#[derive(Clone, Debug)]
pub struct CounterDef {
    /// Key in JSON: `districts_skipped`.
    pub name: Name,
    /// For people: `districts skipped`.
    pub title: Name,
    /// How many there could be in one transaction.
    pub per_transaction: u32,
    /// Share of all possible above which the result warns.
    pub warn_above: f64,
}

/// The first figure of a workload.
#[derive(Clone, Debug)]
pub struct PrimaryMetric {
    /// `NOPM`.
    pub name: Name,
    /// What it counts, for people: `New-Orders committed per minute`.
    pub meaning: Name,
    /// The transaction types that count, by place.
    pub transactions: Vec<usize>,
    /// How a run gives its value.
    pub measure: MeasureDef,
    /// Statement whose one integer grows by one with each of `counted`, asked before and after a run.
    pub database_count: Option<Name>,
    /// The transaction types that `database_count` counts, by place: `transactions`, but for those that
    /// leave no trace.
    pub counted: Vec<usize>,
}

impl PrimaryMetric {
    /// Of a workload without transactions, where nothing reads it.
    #[must_use]
    pub const fn none() -> Self {
        Self {
            name: Name::new_static("none"),
            meaning: Name::new_static("no timed transactions"),
            transactions: Vec::new(),
            measure: MeasureDef::Rate { per_seconds: 60 },
            database_count: None,
            counted: Vec::new(),
        }
    }
}

/// How a run gives its primary metric. What follows from that (what a second says about it, which way is
/// better, what a verdict needs) the runner answers, in its module `measure`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeasureDef {
    /// Throughput: transactions committed in the timed window, per unit of time.
    Rate {
        /// Seconds of the unit of time: 60 for "per minute".
        per_seconds: u32,
    },
}

/// A sum over the data that a run moves by the counters of its own transactions. Asked before and after a
/// run; the difference is the client's sum, but for what is in doubt or was in flight.
#[derive(Clone, Debug)]
pub struct AuditDef {
    /// Key in JSON: `abalance`.
    pub id: Name,
    /// The equation in a line: `ΔΣ abalance = Σ delta`.
    pub title: Name,
    /// Statement that gives the sum, one integer. It may read whole tables.
    pub statement: Name,
    /// The transaction types whose [`Completion::counter`] moves it, by place.
    pub transactions: Vec<usize>,
    /// The most that one transaction moves it, either way: the bound of one in doubt.
    pub most: u32,
}

/// A table set of the workload that another program made: all of [`Description::tables`] are there, no
/// record of ours is, and a statement gives its scale. It can be run and checked as it is; nothing is
/// recorded about it, and it is dropped by force only.
#[derive(Clone, Debug)]
pub struct ExternalSchema {
    /// The program, for people: `pgbench -i`.
    pub made_by: Name,
    /// Statement that gives the scale as one integer; 0, null, no row or an error say that the tables
    /// are not of that program. A dialect without it has no such tables.
    pub scale: Name,
    /// What a run needs there beside the tables. Nothing, unless it says so.
    pub needs: Option<Needs>,
    /// Where logic can run on such tables, the preferred place first.
    pub modes: Vec<Mode>,
    /// Options of a run that such tables decide, as (name, value).
    pub options: Vec<(Name, Name)>,
    /// The conditions, by [`CheckDef::id`], that do not hold there by that program's own rules.
    pub violates: Vec<Name>,
}

/// What a run on tables that another program made needs beside them: its stored routines.
#[derive(Clone, Debug)]
pub struct Needs {
    /// Statement that lists what is there.
    pub statement: Name,
    /// Judges what the statement listed, knowing what the catalogue can do with it.
    pub judge: fn(&StatementCatalogue, &Rows) -> Result<Judged, DbError>,
}

/// What a look at a [`ExternalSchema`] table set found beside the tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// Why no run is possible, in words; none when one is.
    pub lack: Option<String>,
    /// Conditions that the version of the program found does not keep, beside [`ExternalSchema::violates`].
    pub violates: Vec<Name>,
}

/// A condition on the data.
#[derive(Clone, Debug)]
pub struct CheckDef {
    /// `3.3.2.1`, `13`.
    pub id: Name,
    /// The condition in a line: `w_ytd = Σ d_ytd`.
    pub title: Name,
    /// Its statement: no row when the condition holds, else one row of (number of violations, key of the
    /// first). Takes `:first` and `:last`, a range of [`Chunk::key`]s.
    pub statement: Name,
    /// When it can be asked.
    pub when: CheckWhen,
}

/// A check, short enough to write checks as a table.
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
    }
}

/// When a check can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckWhen {
    /// At any time when nobody writes.
    Always,
    /// Only as long as no run has touched the data.
    Untouched,
    /// As `Always`, but asked once of all that is asked for, not range by range.
    Once,
    /// As `Always`, and about the whole database: asked once of the whole scale, whatever part of it is
    /// asked for.
    Whole,
    /// As `Untouched`, but asked once, not range by range.
    UntouchedOnce,
}

impl CheckWhen {
    /// Whether it is asked once, not range by range.
    #[must_use]
    pub const fn is_once(self) -> bool {
        matches!(self, Self::Once | Self::Whole | Self::UntouchedOnce)
    }

    /// Whether it holds only as long as no run has touched the data.
    #[must_use]
    pub const fn is_of_population(self) -> bool {
        matches!(self, Self::Untouched | Self::UntouchedOnce)
    }
}

/// Questions whose answers are known, at some scales.
#[derive(Clone, Debug)]
pub struct Answers {
    /// These scales, for people: `0.01, 0.1 and 1 SF`.
    pub known_at: Name,
    /// The questions with their answers at a scale; none where they are not known.
    pub at: fn(Scale) -> Vec<Answer>,
}

/// A question and its answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// `Q1`.
    pub id: Name,
    /// The question in a line.
    pub title: Name,
    /// Its statement.
    pub statement: Name,
    /// The statement's arguments.
    pub args: Vec<Value<'static>>,
    /// The columns of the answer.
    pub columns: Vec<AnswerColumn>,
    /// The rows of the answer in order, as text; `NULL` is SQL NULL.
    pub rows: Vec<Vec<&'static str>>,
}

/// A column of an answer.
#[derive(Clone, Debug)]
pub struct AnswerColumn {
    /// Its name.
    pub name: Name,
    /// How it is compared.
    pub rule: AnswerRule,
}

/// How a field of an answer is compared with what is known. The names are those of TPC-H's clause 2.1.3.5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerRule {
    /// Text, equal but for blanks at its ends.
    Words,
    /// A whole number, equal.
    Count,
    /// A decimal of two digits after the point, equal.
    Cents,
    /// A date, equal.
    Day,
    /// A sum: at most 100 and at most a hundredth off.
    Sum,
    /// An average or a ratio: at most a hundredth off.
    Ratio,
}

/// A table.
#[derive(Clone, Debug)]
pub struct TableDef {
    /// Its name.
    pub name: Name,
    /// Its columns in order.
    pub columns: Vec<Column>,
}

/// A column.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub column_type: ColumnType,
}

/// A column, short enough to write tables as tables.
#[must_use]
pub const fn column(name: &'static str, column_type: ColumnType) -> Column {
    Column { name: Name::new_static(name), column_type }
}

/// A table, short enough to write a schema as a list.
#[must_use]
pub fn table<const N: usize>(name: &'static str, columns: [Column; N]) -> TableDef {
    TableDef { name: Name::new_static(name), columns: columns.into() }
}

/// A piece of the data, loaded in one transaction.
#[derive(Clone, Debug)]
pub struct Chunk {
    /// Name in `triphammer_build`: `warehouse 7`.
    pub name: String,
    /// The number by which checks cut the data into ranges; 0 for data that is there once.
    pub key: i64,
    /// Its tables, in loading order.
    pub tables: Arc<[TableDef]>,
    /// About how many rows it has, for progress.
    pub rows: u64,
}

/// An option of a workload.
#[derive(Clone, Debug)]
pub struct OptionDef {
    /// Flag without dashes and job-file key: `all-warehouses`.
    pub name: Name,
    /// Help in a line.
    pub help: Name,
    /// Name of the value in help; `None` for a switch.
    pub value: Option<Name>,
    /// Value when nothing is given.
    pub default: Name,
    /// The command it belongs to.
    pub command: OptionCommand,
    /// What it changes, where it is a switch that changes how any workload is built.
    pub effect: Option<BuildEffect>,
}

/// What an option may change in how a workload is built, beside its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildEffect {
    /// The catalogue's foreign keys are added after the load.
    ForeignKeys,
    /// Keys of this kind are added to the others.
    Keys(&'static str),
    /// The catalogue's procedures are left out.
    NoProcedures,
}

impl OptionDef {
    /// An option that takes a value.
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
        }
    }

    /// An option that is on or off, and off by default.
    #[must_use]
    pub const fn switch(command: OptionCommand, name: &'static str, help: &'static str) -> Self {
        Self {
            name: Name::new_static(name),
            help: Name::new_static(help),
            value: None,
            default: Name::new_static("false"),
            command,
            effect: None,
        }
    }

    /// The same switch, which changes how the workload is built.
    #[must_use]
    pub const fn with_effect(mut self, effect: BuildEffect) -> Self {
        self.effect = Some(effect);
        self
    }
}

/// The command that an option of a workload belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionCommand {
    /// Changes the data; remembered with it.
    Build,
    /// Changes a run.
    Run,
}

/// What a workload is made from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkloadSettings {
    /// Size, in [`Description::scale_unit`].
    pub scale: Scale,
    /// Seed of the data.
    pub data_seed: u64,
    /// Seed of a run.
    pub run_seed: u64,
    /// Options by name; those not given have their defaults.
    pub options: std::collections::BTreeMap<String, String>,
}

impl WorkloadSettings {
    /// An option's value, or the default that its definition gives.
    #[must_use]
    pub fn option<'a>(&'a self, definition: &'a OptionDef) -> &'a str {
        self.options.get(&*definition.name).map_or(&*definition.default, String::as_str)
    }

    /// Refuses an option that `workload`, which has `options`, does not know.
    ///
    /// # Errors
    /// With the name of the option.
    pub fn refuse_unknown(&self, workload: &str, options: &[OptionDef]) -> Result<(), SpecError> {
        match self.options.keys().find(|name| options.iter().all(|o| o.name != **name)) {
            Some(name) => Err(SpecError::new(format!("{workload} has no option `{name}`"))),
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
                "`{}` takes true or false, not `{}`",
                definition.name,
                self.option(definition)
            ))
        })
    }
}

/// Hands out the statements of a resolved catalogue while a session prepares them.
pub struct Statements<'a> {
    catalogue: &'a StatementCatalogue,
}

impl<'a> Statements<'a> {
    /// The statements of `catalogue`.
    #[must_use]
    pub fn new(catalogue: &'a StatementCatalogue) -> Self {
        Self { catalogue }
    }

    /// The catalogue.
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
