//! The replay of a recording as a [`Workload`].

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use triphammer_capture::recording::Recording;
use triphammer_capture::{Argument, Ending, Step};
use triphammer_core::answers::{AnswerDigests, ReplayAnswers};
use triphammer_core::pace::ReplayLoad;
use triphammer_core::random::Rng;
use triphammer_core::session::{Access, ColumnSource, Session};
use triphammer_core::sql::Placeholder;
use triphammer_core::value::Timestamp;
use triphammer_core::workload::{
    Completion, Description, Mode, Name, OptionCommand, OptionDef, OwnData, OwnWork, RecordingDef,
    Refusal, StatementExample, StatementTimes, Statements, TransactionDef, Workload,
    WorkloadSettings,
};
use triphammer_core::{DbError, Elapsed, SpecError};

use super::answers::{Answers, Spot};
use super::ids::{ColumnDomains, ReplayedValues};
use super::lanes::Lanes;
use super::plan::{OrderRule, Plan};
use super::progress::{ENDED, Progress, Reached};
use super::runner::{self, Prepared};
use super::source::load;
use super::{NAME, SETTING};
use crate::of_user::description;
use crate::script::times::Times;

/// The recording.
pub const RECORDING: OptionDef = OptionDef::value(
    OptionCommand::Run,
    SETTING,
    "FILE",
    "",
    "the recording to replay, which `triphammer capture` makes from a log, and its speed, as in \
     FILE,speed=2x; --load replay:FILE,speed=2x means the same",
);

/// How the order of the recording is kept.
const ORDER: OptionDef = OptionDef::value(
    OptionCommand::Run,
    "order",
    "RULE",
    "",
    "what a replay keeps of the order between sessions, beside the order of values that the server made [default: commit \
     for a recording with answers, else times]",
)
.choices(&[
    ("commit", "transactions that read or change the same rows by their keys keep the order of their commits"),
    ("times", "the recorded times only"),
    ("session", "the statements of each session only, without the recorded times; needs --load closed"),
]);

/// All options of the workload.
static OPTIONS: &[OptionDef] = &[RECORDING, ORDER];

/// Longest recording, in seconds: a week at its speed.
const SECONDS_MAX: u64 = 7 * 24 * 60 * 60;

/// Which integers among the arguments of a statement are sent with their types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TypedArguments {
    /// Those that were literals, whose type says which function or operator is meant: `substring(a, 3)`, `10 > 9`.
    Literals,
    /// All, where the database cannot infer those of parameters.
    All,
    /// None, where it takes no type.
    None,
}

impl TypedArguments {
    /// All, in the order in which they are tried.
    pub const ALL: [Self; 3] = [Self::Literals, Self::All, Self::None];
}

/// The workload of a recording.
#[derive(Debug)]
pub struct Replay {
    description: Arc<Description>,
    pub(super) plan: Arc<Plan>,
    pub(super) load: ReplayLoad,
    pub(super) times: Arc<Times>,
    /// By transaction type and statement, the number under which its times are counted.
    pub(super) counted: std::collections::HashMap<(usize, usize), usize>,
    /// Which session of ours runs what, for the number of sessions that was asked for last.
    lanes: Mutex<Option<Arc<Lanes>>>,
    /// By statement, which of its arguments are sent with types, as a place in [`TypedArguments::ALL`].
    types: Box<[AtomicUsize]>,
    /// By statement, once it has been prepared, the domains of the columns of its result.
    columns: Box<[OnceLock<Box<[ColumnDomains]>>]>,
    /// Number of transactions that sessions have taken.
    taken: AtomicUsize,
    /// Which transactions have ended.
    pub(super) progress: Box<Progress>,
    /// What was made here in place of recorded values.
    pub(super) made: Box<ReplayedValues>,
    /// What was answered.
    pub(super) answers: Box<Answers>,
}

/// A session of ours, and how far it is.
#[derive(Debug)]
pub struct User {
    lanes: Arc<Lanes>,
    lane: u32,
    next: usize,
}

impl User {
    fn transaction(&self) -> Option<u32> {
        let lane = self.lanes.transactions.get(self.lane as usize)?;
        lane.get(self.next.checked_sub(1)?).copied()
    }
}

/// A transaction of the recording.
#[derive(Clone, Debug)]
pub struct Input {
    pub(super) transaction: u32,
    plan: Arc<Plan>,
    pub(super) lanes: Arc<Lanes>,
    /// The lane that runs it.
    pub(super) lane: u32,
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut end = "";
        for (place, step) in (1..).zip(self.plan.steps(self.transaction)) {
            for (number, argument) in (1..).zip(&step.arguments) {
                write!(f, "{end}statement {place} :p{number} = ")?;
                f.write_str(argument.written().as_deref().unwrap_or("NULL"))?;
                end = "\n";
            }
        }
        Ok(())
    }
}

const WORK: OwnWork = OwnWork {
    setting: SETTING,
    texts: None,
    data: OwnData::Never,
    unused: "a recording has no data of its own, so there is nothing to {command}; it is replayed on a copy of \
             the recorded database",
    only_local: Some(Refusal {
        about: "load",
        why: "the server does not read files of its host for clients, so a recording can be replayed only \
              from the command line",
    }),
    local_options: &[],
};

static DESCRIPTION: LazyLock<Arc<Description>> =
    LazyLock::new(|| Arc::new(describe(Vec::new(), None)));

fn describe(transactions: Vec<TransactionDef>, recording: Option<RecordingDef>) -> Description {
    let meaning = "transactions committed per second";
    let of_user = description(NAME, "Replay".into(), meaning.into(), WORK, OPTIONS, transactions);
    Description { recording, ..of_user }
}

impl Replay {
    /// Declares the workload before its recording is known.
    #[must_use]
    pub fn describe() -> Arc<Description> {
        Arc::clone(&DESCRIPTION)
    }

    /// Reads the recording.
    ///
    /// # Errors
    /// When it cannot be read, or is too long.
    pub fn new(given: &WorkloadSettings) -> Result<Self, SpecError> {
        given.refuse_unknown(NAME, OPTIONS)?;
        let wrong = |why: String| SpecError::new(why).about(&RECORDING.name);
        let definition = RECORDING;
        let value = given.option(&definition);
        if value.is_empty() {
            return Err(wrong(
                "no recording is given: name one, as in --load replay:shop.recording; `triphammer \
                 capture LOG -o shop.recording` makes one"
                    .to_owned(),
            ));
        }
        let mut load_of: ReplayLoad = value.parse().map_err(wrong)?;
        if given.without_waits {
            load_of.speed = f64::INFINITY;
        }
        let recording = load(&load_of.file)?;
        let rule = order(given, &recording)?;
        let plan = Arc::new(Plan::new(recording, rule)?);
        let due = due(&plan, &load_of)
            .ok_or_else(|| wrong("the recording lasts longer than a week".to_owned()))?;
        let recording = RecordingDef {
            sessions: u32::try_from(plan.overlapping()).unwrap_or(u32::MAX),
            transactions: plan.recording.transactions.len() as u64,
            due,
        };
        let mut times = Times::default();
        let mut counted = std::collections::HashMap::new();
        for (transaction, kind) in plan.recording.transactions.iter().zip(&plan.kind_of) {
            for step in &transaction.steps {
                counted.entry((*kind, step.shape)).or_insert_with(|| {
                    let title = plan.titles[step.shape].clone();
                    times.push(*kind, step.shape + 1, title)
                });
            }
        }
        let transactions = plan.kinds.iter().map(|kind| TransactionDef {
            name: kind.name.as_str().into(),
            title: Name::from(kind.name.replace('_', " ")),
            weight: u32::try_from(kind.count).unwrap_or(u32::MAX),
            access: if kind.reads { Access::Read } else { Access::Write },
            isolation: None,
            counter: None,
        });
        Ok(Self {
            description: Arc::new(describe(transactions.collect(), Some(recording))),
            load: load_of,
            times: Arc::new(times),
            counted,
            lanes: Mutex::default(),
            types: plan.statements.iter().map(|_| AtomicUsize::new(0)).collect(),
            columns: plan.statements.iter().map(|_| OnceLock::new()).collect(),
            taken: AtomicUsize::new(0),
            progress: Box::new(Progress::new(plan.recording.transactions.len())),
            made: Box::default(),
            answers: Box::new(Answers::new(plan.statements.len(), plan.statements_in_all())),
            plan,
        })
    }

    /// Which arguments of a statement are sent with the types of their values.
    pub(super) fn typed(&self, statement: usize) -> TypedArguments {
        TypedArguments::ALL[self.types[statement].load(Ordering::Relaxed)]
    }

    /// Sets which are.
    pub(super) fn set_typed(&self, statement: usize, typed: TypedArguments) {
        let place = TypedArguments::ALL.iter().position(|of| *of == typed).unwrap_or(0);
        self.types[statement].store(place, Ordering::Relaxed);
    }

    /// Whether it is known where the columns of a statement's result come from, or that does not matter.
    pub(super) fn knows_columns(&self, statement: usize) -> bool {
        self.plan.ids.count() == 0 || self.columns[statement].get().is_some()
    }

    /// Sets where the columns of a statement's result come from.
    pub(super) fn set_columns(&self, statement: usize, sources: &[Option<ColumnSource>]) {
        let facts = &self.plan.facts[statement];
        let domains = |source: &Option<_>| self.plan.ids.of_column(facts, source.as_ref());
        // Another session may have been faster.
        let _ = self.columns[statement].set(sources.iter().map(domains).collect());
    }

    /// The domains of the columns of a statement's result; empty if they are not known.
    pub(super) fn columns(&self, statement: usize) -> &[ColumnDomains] {
        self.columns[statement].get().map_or(&[], |columns| columns)
    }

    /// The arguments of a statement that are replaced by what was made here.
    pub(super) fn replaced(&self, spot: Spot<'_>) -> Vec<(usize, Argument)> {
        let found = self.plan.ids.replaced(spot.number, spot.step, &self.made);
        self.answers.replaced(found.replaced, found.missing);
        found.arguments
    }

    /// Notes what a statement has made, row by row, in place of what was recorded.
    /// `changed` is the number of rows that it changed here.
    pub(super) fn keep_made(&self, step: &Step, made: &[Vec<Argument>], changed: Option<u64>) {
        let Some(answer) = &step.answer else { return };
        let (domains, facts) = (self.plan.ids.made_by(step.shape), &self.plan.facts[step.shape]);
        let recorded = facts.all_made(&answer.made, answer.changed);
        for (recorded, made) in recorded.iter().zip(facts.all_made(made, changed).iter()) {
            for ((domain, recorded), made) in domains.iter().zip(recorded).zip(made) {
                if *recorded != Argument::Null && *made != Argument::Null {
                    let block = self.plan.ids.block(*domain);
                    self.made.add(*domain, block, recorded, made.clone());
                }
            }
        }
    }
}

/// The rule of the order between sessions.
fn order(given: &WorkloadSettings, recording: &Recording) -> Result<OrderRule, SpecError> {
    let definition = ORDER;
    let value = given.option(&definition);
    if value.is_empty() {
        let mut steps = recording.transactions.iter().flat_map(|transaction| &transaction.steps);
        let has_answers = steps.any(|step| step.answer.is_some());
        return Ok(if has_answers { OrderRule::Commit } else { OrderRule::Alone });
    }
    match definition.chosen(value)? {
        "commit" => Ok(OrderRule::Commit),
        "session" if !given.without_waits => {
            let why = "a replay at its recorded times has more order than that of its sessions; add \
                       -w replay --load closed";
            Err(SpecError::new(format!("--order session: {why}")).about(&ORDER.name))
        }
        _ => Ok(OrderRule::Alone),
    }
}

/// Transactions that are due in each second; `None` if there are too many seconds.
fn due(plan: &Plan, load: &ReplayLoad) -> Option<Arc<[u32]>> {
    let mut due: Vec<u32> = Vec::new();
    for transaction in &plan.recording.transactions {
        let at = load.nanoseconds(transaction.start_us.unsigned_abs());
        let second = Elapsed(at).second();
        if second >= SECONDS_MAX {
            return None;
        }
        let second = usize::try_from(second).ok()?;
        due.resize(due.len().max(second + 1), 0);
        due[second] = due[second].saturating_add(1);
    }
    Some(due.into())
}

impl Workload for Replay {
    type User = User;
    type Input = Input;
    type Prepared = Prepared;

    fn description(&self) -> &Arc<Description> {
        &self.description
    }

    fn writes(&self) -> Option<bool> {
        (!self.description().writes()).then_some(false)
    }

    fn user(&self, id: u32, users: u32, _rng: &mut Rng) -> User {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lanes.take().filter(|known| known.transactions.len() == users as usize);
        let lanes = lanes.insert(known.unwrap_or_else(|| {
            let transactions = self.plan.recording.transactions.len();
            Arc::new(Lanes::new(self.plan.lanes(users as usize), transactions))
        }));
        User { lanes: Arc::clone(lanes), lane: id, next: 0 }
    }

    fn next(&self, user: &mut User, _rng: &mut Rng) -> Option<usize> {
        // Also one that was never run, as after the loss of its session.
        if let Some(transaction) = user.transaction() {
            self.progress.reach(Reached { transaction, steps: ENDED });
        }
        user.next += 1;
        let transaction = user.transaction()?;
        self.taken.fetch_add(1, Ordering::Relaxed);
        Some(self.plan.kind_of[transaction as usize])
    }

    fn is_done(&self) -> bool {
        self.taken.load(Ordering::Relaxed) >= self.plan.recording.transactions.len()
    }

    fn due(&self, user: &User) -> Elapsed {
        let transaction = user.transaction().map(|index| self.plan.transaction(index));
        let start_us = transaction.map_or(0, |transaction| transaction.start_us.unsigned_abs());
        Elapsed(self.load.nanoseconds(start_us))
    }

    fn draw(&self, _kind: usize, user: &mut User, _rng: &mut Rng, _now: Timestamp) -> Input {
        let transaction = user.transaction().unwrap_or_default();
        let (plan, lanes) = (Arc::clone(&self.plan), Arc::clone(&user.lanes));
        Input { transaction, plan, lanes, lane: user.lane }
    }

    async fn start<S: Session>(
        &self,
        statements: &Statements<'_>,
        session: &mut S,
    ) -> Result<(), DbError> {
        runner::start(self, statements, session).await
    }

    async fn prepare<S: Session>(
        &self,
        _mode: Mode,
        statements: &mut Statements<'_>,
        _session: &mut S,
    ) -> Result<Prepared, DbError> {
        Ok(Prepared::new(self, statements))
    }

    fn acknowledged(&self, input: &Input) -> Option<Completion> {
        let committed = self.plan.transaction(input.transaction).ending != Ending::Rollback;
        Some(Completion { committed, counter: 0 })
    }

    async fn run<S: Session>(
        &self,
        input: &Input,
        prepared: &mut Prepared,
        session: &mut S,
    ) -> Result<Completion, DbError> {
        // In a box, because it is large: see the workload `custom`.
        Box::pin(runner::run(self, input, prepared, session)).await
    }

    fn replay_answers(&self) -> Option<ReplayAnswers> {
        let (plan, made) = (&self.plan, self.plan.ids.count());
        let mut answers = self.answers.read(&plan.facts, &plan.titles, made);
        answers.digests = AnswerDigests {
            shapes: self.plan.shapes(),
            titles: Arc::clone(&self.plan.titles),
            limited: plan.facts.iter().map(|facts| facts.stability.why().is_some()).collect(),
            of: self.answers.digests(),
            is_concurrent: self.description.recording.as_ref().is_none_or(|of| of.sessions > 1),
        };
        Some(answers)
    }

    fn statement_times(&self) -> Vec<StatementTimes> {
        self.times.read()
    }

    fn statement_example(&self, text: &str, placeholder: Placeholder) -> Option<StatementExample> {
        let number = self.plan.titles.iter().position(|title| title == text)?;
        // A definition has no plan.
        let has_plan = !["create", "drop"].contains(&self.plan.facts[number].verb.as_str());
        has_plan.then(|| runner::example(self, number, placeholder))
    }
}
