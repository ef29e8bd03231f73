//! A workload file as a [`Workload`].

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use triphammer_capture::digest::{GUESSED, guesses};
use triphammer_core::mix::Mix;
use triphammer_core::pace::Cycle;
use triphammer_core::random::Rng;
use triphammer_core::rows::Row;
use triphammer_core::session::Session;
use triphammer_core::value::Timestamp;
use triphammer_core::workload::{
    AuditDef, AuditTerm, CheckDef, CheckWhen, Completion, Description, Mode, Name, OwnData, OwnSql,
    OwnSqlUse, OwnTexts, OwnWork, PrimaryMetric, StatementTimes, Statements, TransactionDef,
    Workload, WorkloadSettings,
};
use triphammer_core::{DbError, SpecError};

use super::by_dialect::ByDialect;
use super::datum::Datum;
use super::definition::{Counter, Definition, Question, SCALE, Step, Transaction, read};
use super::generator::Generator;
use super::runner::{Prepared, run};
use super::settings::{FILE, OPTIONS};
use super::source::{WorkloadText, load, summary};
use super::{NAME, SETTING};
use crate::of_user::description;
use crate::script::times::Times;

/// The parameters that a transaction shows: their names and slots.
type Shown = Box<[(String, usize)]>;

/// The workload of a file.
#[derive(Debug)]
pub struct Custom {
    description: Arc<Description>,
    pub(super) definition: Box<Definition>,
    /// Name of the file, for messages.
    pub(super) file: String,
    /// Number of parameters that `capture` guessed and that are not yet reviewed.
    guesses: usize,
    /// The values before a transaction's own are drawn.
    defaults: Vec<Datum>,
    mix: Arc<Mix>,
    /// By parameter, the number of its sequence; each user counts the values of each.
    sequences: Vec<Option<usize>>,
    /// By transaction.
    shown: Arc<[Shown]>,
    pub(super) times: Arc<Times>,
    /// By statement, the number under which its times are counted.
    pub(super) counted: Box<[usize]>,
    /// Whether the database was asked before the run; one that stores nothing cannot answer.
    pub(super) has_started: AtomicBool,
}

/// A virtual user: its sequences last from one transaction to the next.
pub struct User {
    client: Rc<Client>,
    /// Number of values that each sequence has returned.
    drawn: Box<[i64]>,
    /// The first number of this user in each sequence, and how far its numbers are apart.
    first: i64,
    stride: i64,
}

/// The values of a user's transaction, lent to its attempts.
pub(super) struct Client {
    values: Cell<Vec<Datum>>,
    shown: Arc<[Shown]>,
}

/// A transaction: its type, and the user whose values it has.
#[derive(Clone)]
pub struct Input {
    pub(super) transaction: usize,
    client: Rc<Client>,
}

/// A user's values during an attempt; they return to the user even if the attempt is abandoned.
pub(super) struct Lent<'a> {
    client: &'a Client,
    pub values: Vec<Datum>,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        self.client.values.set(std::mem::take(&mut self.values));
    }
}

impl Input {
    pub(super) fn lend(&self) -> Lent<'_> {
        Lent { client: &self.client, values: self.client.values.take() }
    }
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lent = self.lend();
        for (place, (name, slot)) in self.client.shown[self.transaction].iter().enumerate() {
            let end = if place > 0 { "\n" } else { "" };
            let value = lent.values.get(*slot).unwrap_or(&Datum::Null);
            write!(f, "{end}{name} = {value}")?;
        }
        Ok(())
    }
}

const WORK: OwnWork = OwnWork {
    setting: SETTING,
    texts: Some(OwnTexts { load, summary }),
    data: OwnData::InBuild,
    unused: "`{command}` does not use workload files: their data is made by the set-up script, which \
             `triphammer build` runs",
    only_local: None,
    local_options: &[],
};

static DESCRIPTION: LazyLock<Arc<Description>> =
    LazyLock::new(|| Arc::new(describe(&Definition::default())));

/// Declares the workload of a definition.
fn describe(definition: &Definition) -> Description {
    let transactions: Vec<TransactionDef> =
        definition.transactions.iter().map(transaction).collect();
    let has_title = !definition.title.is_empty();
    let title: Name =
        if has_title { definition.title.as_str().into() } else { "Workload file".into() };
    let of_user = description(NAME, title, meaning(definition).into(), WORK, OPTIONS, transactions);
    let transactions = definition.primary.clone();
    Description {
        record: has_title.then(|| record(&definition.title).into()),
        own_sql: own_sql(definition),
        primary_metric: PrimaryMetric { transactions, ..of_user.primary_metric },
        checks: definition.checks.iter().map(check).collect(),
        audits: definition
            .audits
            .iter()
            .map(|audit| AuditDef {
                id: audit.question.name.as_str().into(),
                title: audit.question.title.as_str().into(),
                statement: format!("audit.{}", audit.question.name).into(),
                terms: (audit.transactions.iter())
                    .map(|transaction| AuditTerm::counted(*transaction, audit.most))
                    .collect(),
                except: None,
            })
            .collect(),
        pipelining: pipelining(definition),
        cycle: cycle(definition),
        ..of_user
    }
}

/// Whether transactions can be pipelined: a BEGIN that is followed by a pause must not wait for the first statement.
fn pipelining(definition: &Definition) -> Result<(), &'static str> {
    let is_pause = |step: Option<&Step>| matches!(step, Some(Step::Pause(_)));
    match definition.transactions.iter().any(|transaction| is_pause(transaction.steps.first())) {
        true => Err("a transaction of the workload file begins with a pause"),
        false => Ok(()),
    }
}

fn transaction(transaction: &Transaction) -> TransactionDef {
    TransactionDef {
        name: transaction.name.as_str().into(),
        title: transaction.title.as_str().into(),
        weight: transaction.weight,
        access: transaction.access,
        isolation: transaction.isolation,
        counter: None,
    }
}

fn meaning(definition: &Definition) -> String {
    if definition.primary.len() == definition.transactions.len() {
        return "transactions committed per second".to_owned();
    }
    let title = |index: &usize| definition.transactions[*index].title.as_str();
    let titles: Vec<&str> = definition.primary.iter().map(title).collect();
    format!("{} committed per second", titles.join(", "))
}

/// The name of the build record: workloads of several files can be in one schema.
fn record(title: &str) -> String {
    let letter = |c: char| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    // At most 40 characters of up to 4 bytes would not fit a column of 64 bytes; ASCII always fits.
    let ascii = title.chars().map(|c| if c.is_ascii() { letter(c) } else { '-' });
    format!("{NAME}/{}", ascii.collect::<String>())
}

fn check(question: &Question) -> CheckDef {
    CheckDef {
        id: question.name.as_str().into(),
        title: question.title.as_str().into(),
        statement: format!("check.{}", question.name).into(),
        when: CheckWhen::Once,
        judge: Some(violation),
    }
}

/// Every row that a check returns is a violation; its fields are its key.
fn violation(row: &Row<'_>) -> Result<Option<String>, DbError> {
    let fields: Vec<String> = (0..row.len()).map(|column| row.show(column)).collect();
    Ok(Some(fields.join(", ")))
}

fn own_sql(definition: &Definition) -> Vec<OwnSql> {
    let own = |name: String, used: OwnSqlUse, sql: &ByDialect<String>| OwnSql {
        name: name.into(),
        used,
        default: sql.default.as_deref().map(Name::from),
        dialects: sql
            .others
            .iter()
            .map(|(name, sql)| (name.as_str().into(), sql.as_str().into()))
            .collect(),
    };
    let scripts = [("setup.script", &definition.setup), ("teardown.script", &definition.teardown)];
    let scripts = scripts.into_iter().filter_map(|(name, sql)| Some((name, sql.as_ref()?)));
    let scripts = scripts.map(|(name, sql)| own(name.to_owned(), OwnSqlUse::Script, sql));
    let checks = definition.checks.iter().map(|question| ("check", question));
    let audits = definition.audits.iter().map(|audit| ("audit", &audit.question));
    let questions = checks.chain(audits).map(|(kind, question)| {
        own(format!("{kind}.{}", question.name), OwnSqlUse::Statement, &question.sql)
    });
    scripts.chain(questions).collect()
}

/// The keying and thinking times, if a transaction has one.
fn cycle(definition: &Definition) -> Option<Cycle> {
    let thinking: Vec<Duration> = definition.transactions.iter().map(|t| t.think).collect();
    if thinking.iter().all(Duration::is_zero) {
        return None;
    }
    let weight = |index: usize| f64::from(definition.transactions[index].weight);
    let all: f64 = (0..thinking.len()).map(weight).sum();
    let primary: f64 = definition.primary.iter().map(|index| weight(*index)).sum();
    let mean: f64 =
        (0..thinking.len()).map(|i| weight(i) * thinking[i].as_secs_f64()).sum::<f64>() / all;
    Some(Cycle {
        terminals: definition.terminals,
        keying: vec![Duration::ZERO; thinking.len()],
        thinking,
        primary_metric_max: f64::from(definition.terminals) * primary / all / mean,
    })
}

impl Custom {
    /// Declares the workload before its file is known.
    #[must_use]
    pub fn describe() -> Arc<Description> {
        Arc::clone(&DESCRIPTION)
    }

    /// Prepares all statements; returns the numbers of those that the database rejects, in the order of the file, with
    /// the errors and their places.
    ///
    /// # Errors
    /// When the session is lost.
    pub async fn try_statements<S: Session>(
        &self,
        statements: &Statements<'_>,
        session: &mut S,
    ) -> Result<Vec<(usize, DbError)>, DbError> {
        super::start::try_statements(self, statements, session).await
    }

    /// Reads the file.
    ///
    /// # Errors
    /// With the places of all its problems.
    pub fn new(given: &WorkloadSettings) -> Result<Self, SpecError> {
        given.refuse_unknown(NAME, OPTIONS)?;
        let text = WorkloadText::parse(given.option(&FILE))?;
        let scale =
            i64::from(given.scale.whole().unwrap_or_else(|| given.scale.rounded_up())).max(1);
        let definition = read(&text, scale)?;
        let mut times = Times::default();
        let mut counted = vec![0; definition.statements];
        for (index, transaction) in definition.transactions.iter().enumerate() {
            for step in &transaction.steps {
                let Step::Statement(statement) = step else { continue };
                let title = statement.sql.all().next().map(|part| part.title(&definition.names));
                counted[statement.id] =
                    times.push(index, statement.line, title.unwrap_or_default());
            }
        }
        let mut defaults = vec![Datum::Null; definition.names.len()];
        if let Some(slot) = definition.names.find(SCALE) {
            defaults[slot] = Datum::Int(scale);
        }
        let mut count = 0;
        let sequence = |generator: &Generator| {
            matches!(generator, Generator::Sequence { .. }).then(|| {
                count += 1;
                count - 1
            })
        };
        let sequences = definition.parameters.iter().map(|p| &p.generator).map(sequence).collect();
        let shown = definition.transactions.iter().map(|transaction| {
            let shown = |index: &usize| {
                let slot = definition.parameters[*index].slot;
                (definition.names.name(slot).to_owned(), slot)
            };
            transaction.draws.iter().map(shown).collect()
        });
        let description = Arc::new(describe(&definition));
        let weights = definition.transactions.iter().map(|transaction| transaction.weight);
        Ok(Self {
            mix: TransactionDef::mix(&description.transactions, weights),
            description,
            guesses: guesses(&text.text),
            file: text.name,
            defaults,
            sequences,
            shown: shown.collect(),
            times: Arc::new(times),
            counted: counted.into(),
            has_started: AtomicBool::new(false),
            definition: Box::new(definition),
        })
    }

    /// What a transaction with these values adds to the sums of audits.
    pub(super) fn completion(&self, transaction: usize, values: &[Datum]) -> Completion {
        let counter = match self.definition.transactions[transaction].counter {
            Counter::Constant(value) => value,
            Counter::Slot(slot) => match values.get(slot) {
                Some(Datum::Int(value)) => *value,
                _ => 0,
            },
        };
        Completion { committed: true, counter }
    }
}

impl Workload for Custom {
    type User = User;
    type Input = Input;
    type Prepared = Prepared;

    fn description(&self) -> &Arc<Description> {
        &self.description
    }

    fn writes(&self) -> Option<bool> {
        (!self.description().writes()).then_some(false)
    }

    fn mix(&self, _arrives: bool) -> Result<&Arc<Mix>, &'static str> {
        Ok(&self.mix)
    }

    /// The hash of the set-up, so that a run notices data of another one.
    fn build_facts(&self) -> Vec<(&'static str, String)> {
        let Some(setup) = &self.definition.setup else { return Vec::new() };
        let mut digest = Sha256::new();
        for (name, sql) in setup
            .default
            .iter()
            .map(|sql| ("", sql))
            .chain(setup.others.iter().map(|(n, s)| (n.as_str(), s)))
        {
            digest.update(name.as_bytes());
            digest.update([0]);
            digest.update(sql.as_bytes());
            digest.update([0]);
        }
        let hash: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        vec![("setup", hash)]
    }

    fn user(&self, id: u32, users: u32, _rng: &mut Rng) -> User {
        let count = self.sequences.iter().flatten().count();
        let client =
            Client { values: Cell::new(self.defaults.clone()), shown: Arc::clone(&self.shown) };
        User {
            client: Rc::new(client),
            drawn: vec![0; count].into(),
            first: id.into(),
            stride: users.max(1).into(),
        }
    }

    /// The numbers of an arrival's sequences are its own number.
    fn arrive(&self, user: &mut User, number: u64, rng: &mut Rng) -> Option<usize> {
        user.drawn.fill(0);
        user.first = number.cast_signed();
        self.next(user, rng)
    }

    fn next(&self, _user: &mut User, rng: &mut Rng) -> Option<usize> {
        self.mix.draw(rng)
    }

    fn draw(&self, transaction: usize, user: &mut User, rng: &mut Rng, _now: Timestamp) -> Input {
        let input = Input { transaction, client: Rc::clone(&user.client) };
        let mut lent = input.lend();
        for index in &*self.definition.transactions[transaction].draws {
            let parameter = &self.definition.parameters[*index];
            let serial = self.sequences[*index].map_or(0, |sequence| {
                let nth = &mut user.drawn[sequence];
                let serial = user.first.wrapping_add(user.stride.wrapping_mul(*nth));
                *nth += 1;
                serial
            });
            let mut value = std::mem::take(&mut lent.values[parameter.slot]);
            parameter.generator.draw(rng, &mut value, &lent.values, serial);
            lent.values[parameter.slot] = value;
        }
        drop(lent);
        input
    }

    async fn start<S: Session>(
        &self,
        statements: &Statements<'_>,
        session: &mut S,
    ) -> Result<(), DbError> {
        super::start::start(self, statements, session).await?;
        self.has_started.store(true, Ordering::Relaxed);
        Ok(())
    }

    async fn prepare<S: Session>(
        &self,
        _mode: Mode,
        statements: &mut Statements<'_>,
        session: &mut S,
    ) -> Result<Prepared, DbError> {
        Prepared::new(self, statements, session).await
    }

    fn warning(&self) -> Option<String> {
        (self.guesses > 0).then(|| {
            let Self { file, guesses, .. } = self;
            format!(
                "{file} has lines that `capture` guessed ({guesses}): review those that are marked `{GUESSED}`, and remove \
                 the mark"
            )
        })
    }

    fn acknowledged(&self, input: &Input) -> Option<Completion> {
        let lent = input.lend();
        Some(self.completion(input.transaction, &lent.values))
    }

    async fn run<S: Session>(
        &self,
        input: &Input,
        prepared: &mut Prepared,
        session: &mut S,
    ) -> Result<Completion, DbError> {
        // In a box, because it is large: the future of a transaction has the size of the largest
        // workload's, and is moved for each.
        Box::pin(run(self, input, prepared, session)).await
    }

    fn statement_times(&self) -> Vec<StatementTimes> {
        self.times.read()
    }
}
