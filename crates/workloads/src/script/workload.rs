//! The scripts of a run as a [`Workload`]: each is a transaction type.

use std::cell::{RefCell, RefMut};
use std::fmt;
use std::rc::Rc;
use std::sync::{Arc, LazyLock};

use triphammer_core::mix::Mix;
use triphammer_core::random::Rng;
use triphammer_core::session::{Access, Session};
use triphammer_core::sql::{Required, StatementDef};
use triphammer_core::value::Timestamp;
use triphammer_core::workload::{
    Borrowed, Completion, Description, Mode, OwnData, OwnTexts, OwnWork, Refusal, ScaleUnit,
    StatementTimes, Statements, TransactionDef, Workload, WorkloadSettings,
};
use triphammer_core::{DbError, SpecError};

use super::attempts::sees_the_one_before;
use super::expression::Machine;
use super::names::Names;
use super::parser::{Action, Program, parse};
use super::runner::{Prepared, run};
use super::settings::{ALLOW_SHELL, DEFINE, OPTIONS, SCRIPT, definitions};
use super::source::{ScriptText, load, scripts, summary};
use super::sql::Capture;
use super::times::Times;
use super::variable::{Value, Variable};
use super::{NAME, SETTING, builtin};
use crate::of_user::description;
use crate::tpc_b::{self, TpcB};

/// Purpose of the random number that is `:default_seed`.
const DEFAULT_SEED: u64 = 0x7365_6564;
/// Maximum length of a key, in characters.
const KEY_MAX: usize = 40;

/// The scripts of a run.
#[derive(Debug)]
pub struct Script {
    description: Arc<Description>,
    pub(super) scripts: Vec<ParsedScript>,
    pub(super) names: Names,
    /// Names of the scripts, for their clients.
    titles: Arc<[String]>,
    /// The variables before a client's first transaction.
    defaults: Vec<Variable>,
    /// Slot of `:client_id`, unless it is defined by the user.
    client_id: Option<usize>,
    mix: Arc<Mix>,
    pub(super) may_shell: bool,
    /// Number of statements of all scripts.
    pub(super) statements: usize,
    pub(super) times: Arc<Times>,
}

/// A script of a run.
#[derive(Debug)]
pub(super) struct ParsedScript {
    pub name: String,
    pub program: Program,
    pub has_pipelines: bool,
    /// Whether an attempt may see the variables of an earlier one, so that those before it must be kept.
    pub sees_attempts: bool,
    /// For each step the number under which its times are counted.
    pub counted: Box<[Option<usize>]>,
}

/// A virtual user: its variables last from one transaction to the next.
pub struct User(Rc<Client>);

/// The variables of a client, lent to the transaction that it runs, and the names of the scripts.
pub(super) struct Client {
    state: RefCell<State>,
    names: Arc<[String]>,
}

/// What a client keeps.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub variables: Vec<Variable>,
    /// The variables before the current transaction, with which every attempt begins.
    pub before: Vec<Variable>,
    pub machine: Machine,
    /// Text of a statement, or of its arguments.
    pub text: String,
}

/// A transaction: a script, the client that runs it, and its random numbers.
#[derive(Clone)]
pub struct Input {
    pub(super) script: usize,
    pub(super) client: Rc<Client>,
    pub(super) rng: Rng,
}

/// A client's state during a transaction, of which a client has one at a time.
pub(super) struct Lent<'a> {
    pub state: RefMut<'a, State>,
}

impl Client {
    pub fn lend(&self) -> Lent<'_> {
        Lent { state: self.state.borrow_mut() }
    }
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "script = {}", self.client.names[self.script])
    }
}

/// Scripts are texts that a server of triphammer runs for its clients, too, unless they run commands.
const WORK: OwnWork = OwnWork {
    setting: SETTING,
    texts: Some(OwnTexts { load, summary }),
    data: OwnData::Never,
    unused: "scripts have no data of their own, so there is nothing to {command}; the built-in scripts use \
             the tables of tpc-b (-w tpc-b)",
    only_local: None,
    local_options: &[Refusal {
        about: "allow-shell",
        why: "a request cannot set allow-shell: it would run commands on the server's host",
    }],
};

static DESCRIPTION: LazyLock<Arc<Description>> =
    LazyLock::new(|| Arc::new(describe(Vec::new(), false)));

/// Declares the workload for these transaction types; built-in scripts need pgbench's tables.
fn describe(transactions: Vec<TransactionDef>, is_builtin: bool) -> Description {
    let meaning = "transactions committed per second";
    let of_user = description(NAME, "Script".into(), meaning.into(), WORK, OPTIONS, transactions);
    if !is_builtin {
        return of_user;
    }
    let external = tpc_b::external("pgbench -i or a build of tpc-b");
    let scale = StatementDef {
        name: external.scale.clone(),
        params: Vec::new(),
        required: Required::Always,
        text: Some("SELECT COUNT(*) FROM pgbench_branches".into()),
    };
    Description {
        scale_unit: ScaleUnit::new("branch", "branches"),
        statements: vec![scale],
        tables: Arc::clone(&TpcB::describe().tables),
        external: Some(external),
        borrowed: Some(Borrowed {
            workload: TpcB::describe().name.clone(),
            needs: "the built-in scripts need pgbench's tables".into(),
        }),
        ..of_user
    }
}

/// A key for a script in JSON and in requirements: the name of its file in lower case, without its
/// extension, with a number if another script has it.
pub(crate) fn key(name: &str, others: &[TransactionDef]) -> String {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    let mut base: String = stem.chars().take(KEY_MAX).map(letter).collect();
    if !base.starts_with(|c: char| c.is_ascii_alphabetic()) {
        base.insert_str(0, "script_");
    }
    let is_free = |key: &str| others.iter().all(|other| other.name != key) && key != "all";
    if is_free(&base) {
        return base;
    }
    (2..).map(|n| format!("{base}_{n}")).find(|key| is_free(key)).unwrap_or(base)
}

fn transaction(script: &ScriptText, others: &[TransactionDef]) -> TransactionDef {
    let is_select_only = script.text.is_none() && script.name == "select-only";
    TransactionDef {
        name: key(&script.name, others).into(),
        title: script.name.as_str().into(),
        weight: script.weight,
        access: if is_select_only { Access::Read } else { Access::Write },
        isolation: None,
        counter: None,
    }
}

impl Script {
    /// Declares the workload before its scripts are known.
    #[must_use]
    pub fn describe() -> Arc<Description> {
        Arc::clone(&DESCRIPTION)
    }

    /// Parses the scripts.
    ///
    /// # Errors
    /// With the place of the first syntax error, or what is wrong with an option.
    pub fn new(given: &WorkloadSettings) -> Result<Self, SpecError> {
        given.refuse_unknown(NAME, OPTIONS)?;
        let texts = scripts(given.option(&SCRIPT))?;
        let may_shell = given.switch(&ALLOW_SHELL)?;
        let mut names = Names::default();
        let mut parsed = Vec::new();
        let mut transactions: Vec<TransactionDef> = Vec::new();
        let mut statements = 0;
        let mut times = Times::default();
        for (place, script) in texts.iter().enumerate() {
            let mut program = parse(&script.name, script.text(), &mut names)
                .map_err(|message| SpecError::new(message).about("script"))?;
            for part in program.parts_mut() {
                part.id = statements;
                statements += 1;
            }
            transactions.push(transaction(script, &transactions));
            let counted = times.add(place, &program, &names);
            parsed.push(ParsedScript::new(script.name.clone(), program, counted, may_shell)?);
        }
        let is_builtin = texts
            .iter()
            .any(|script| script.text.is_none() && builtin::find(&script.name).is_some());
        let (defaults, client_id) = defaults(given, &mut names)?;
        mark_texts(&mut parsed, &defaults, &names);
        let description = Arc::new(describe(transactions, is_builtin));
        Ok(Self {
            mix: TransactionDef::mix(
                &description.transactions,
                texts.iter().map(|script| script.weight),
            ),
            description,
            scripts: parsed,
            names,
            titles: texts.iter().map(|script| script.name.clone()).collect(),
            defaults,
            client_id,
            may_shell,
            statements,
            times: Arc::new(times),
        })
    }

    /// Puts the variables of `user` back to those before its first transaction; the client keeps
    /// its number.
    fn reset(&self, user: &User) {
        let mut lent = user.0.lend();
        let state = &mut *lent.state;
        for (slot, (variable, default)) in
            state.variables.iter_mut().zip(&self.defaults).enumerate()
        {
            if Some(slot) != self.client_id {
                variable.clone_from(default);
            }
        }
    }
}

impl ParsedScript {
    fn new(
        name: String,
        program: Program,
        counted: Box<[Option<usize>]>,
        may_shell: bool,
    ) -> Result<Self, SpecError> {
        let has = |wanted: fn(&Action) -> bool| {
            program.steps.iter().find(|step| wanted(&step.action)).map(|step| step.line)
        };
        if let Some(line) = has(|action| matches!(action, Action::Shell(..)))
            && !may_shell
        {
            let message = format!(
                "{name}:{line}:1: the script runs commands of the operating system, which needs \
                 --allow-shell"
            );
            return Err(SpecError::new(message).about("script"));
        }
        let has_pipelines = has(|action| matches!(action, Action::Pipeline(_))).is_some();
        let sees_attempts = sees_the_one_before(&program);
        Ok(Self { name, program, has_pipelines, sees_attempts, counted })
    }
}

/// Marks the statements that have a variable in quotes: one that can have a value, because what
/// looks like another is text, as in pgbench.
fn mark_texts(scripts: &mut [ParsedScript], defaults: &[Variable], names: &Names) {
    let is_set = |variable: &Variable| !matches!(variable, Variable::Unset);
    let mut has_value: Vec<bool> = defaults.iter().map(is_set).collect();
    for script in &*scripts {
        for step in &script.program.steps {
            if let Action::Set(slot, _) | Action::Shell(_, Some(slot)) = step.action {
                has_value[slot] = true;
            }
        }
        for sql in &script.program.sql {
            let (Capture::One(prefix) | Capture::All(prefix)) = &sql.capture else { continue };
            for (slot, has_value) in has_value.iter_mut().enumerate() {
                *has_value |= names.name(slot).starts_with(prefix);
            }
        }
    }
    for part in scripts.iter_mut().flat_map(|script| script.program.parts_mut()) {
        let is_text = part.quoted().any(|slot| has_value[slot]);
        part.is_text = is_text;
    }
}

/// The variables before a client's first transaction, and the slot of `:client_id`: what the user
/// defines has precedence over the automatic ones.
fn defaults(
    given: &WorkloadSettings,
    names: &mut Names,
) -> Result<(Vec<Variable>, Option<usize>), SpecError> {
    let defined = definitions(given.option(&DEFINE))?;
    let scale = given.scale.whole().unwrap_or_else(|| given.scale.rounded_up());
    let default_seed = Rng::of(given.run_seed, &[DEFAULT_SEED]).bits();
    let automatic = [
        ("scale", i64::from(scale)),
        ("random_seed", given.run_seed.cast_signed()),
        ("default_seed", default_seed.cast_signed()),
        ("client_id", 0),
    ];
    let mut values: Vec<(usize, Variable)> = Vec::new();
    for (name, value) in automatic {
        values.push((names.slot(name), Variable::Value(Value::Int(value))));
    }
    for (name, value) in &defined {
        values.push((names.slot(name), Variable::Text(value.clone())));
    }
    let mut variables = vec![Variable::Unset; names.len()];
    for (slot, value) in values {
        variables[slot] = value;
    }
    let is_defined = defined.iter().any(|(name, _)| name == "client_id");
    Ok((variables, names.find("client_id").filter(|_| !is_defined)))
}

impl Workload for Script {
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

    fn user(&self, id: u32, _users: u32, _rng: &mut Rng) -> User {
        let mut variables = self.defaults.clone();
        if let Some(slot) = self.client_id {
            variables[slot] = Variable::Value(Value::Int(id.into()));
        }
        let before = variables.clone();
        let state = State { variables, before, ..State::default() };
        let (state, names) = (RefCell::new(state), Arc::clone(&self.titles));
        User(Rc::new(Client { state, names }))
    }

    /// An arrival begins with new variables; its client is the session that runs it.
    fn arrive(&self, user: &mut User, _number: u64, rng: &mut Rng) -> Option<usize> {
        self.reset(user);
        self.next(user, rng)
    }

    fn next(&self, _user: &mut User, rng: &mut Rng) -> Option<usize> {
        self.mix.draw(rng)
    }

    fn draw(&self, transaction: usize, user: &mut User, rng: &mut Rng, _now: Timestamp) -> Input {
        if self.scripts[transaction].sees_attempts {
            let mut lent = user.0.lend();
            let State { variables, before, .. } = &mut *lent.state;
            before.clone_from(variables);
        }
        Input { script: transaction, client: Rc::clone(&user.0), rng: Rng::of(rng.bits(), &[]) }
    }

    async fn prepare<S: Session>(
        &self,
        _mode: Mode,
        statements: &mut Statements<'_>,
        session: &mut S,
    ) -> Result<Prepared, DbError> {
        Prepared::new(self, statements, session).await
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
