//! A script of sysbench as a [`Workload`]: each event is a transaction.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};

use triphammer_core::random::Rng;
use triphammer_core::session::{Access, Session};
use triphammer_core::value::Timestamp;
use triphammer_core::workload::{
    Completion, Description, Mode, OwnData, OwnTexts, OwnWork, Refusal, ScriptTotals, Statements,
    TransactionDef, Workload, WorkloadSettings,
};
use triphammer_core::{Clock, DbError, SpecError};
use triphammer_lua::{
    Environment, Hook, IGNORE_ERRORS, OptionKind, Output, Scalar, ScriptOption, State, Unique,
};

use super::NAME;
use super::runner::{self, Prepared};
use super::settings::{DEFINE, OPTIONS, SCRIPT, definitions};
use super::source::{folders, load, script};
use super::totals::Totals;
use crate::of_user::description;
use crate::script::{SETTING, ScriptText, summary};

/// Purpose of the random numbers before a thread's first event.
const BEFORE_EVENTS: u64 = 0x6c75_6100;
/// Length of a run by events, as in sysbench.
const TIME_S: u64 = 10;
/// The command of a run.
const RUN: &str = "run";

/// A script of sysbench.
#[derive(Debug)]
pub struct Sysbench {
    description: Arc<Description>,
    script: ScriptText,
    options: Arc<BTreeMap<String, String>>,
    declared: Vec<ScriptOption>,
    command: String,
    output: Output,
    seed: u64,
    unique: Arc<Unique>,
    title: Arc<str>,
    pub(super) ignored: Option<Ignored>,
    pub(super) as_text: bool,
    pub(super) totals: Arc<Totals>,
    /// `None` without a limit on events.
    limit: Option<Limit>,
}

/// The end of a run by events: its number of events, or its time.
#[derive(Debug)]
struct Limit {
    left: AtomicU64,
    /// 0 for no limit.
    seconds: u64,
    clock: OnceLock<Clock>,
}

impl Limit {
    /// Reads the general options `events` and `time`.
    fn read(options: &BTreeMap<String, String>) -> Result<Option<Self>, SpecError> {
        let number = |name: &str, default| match options.get(name) {
            None => Ok(default),
            Some(text) => match OptionKind::Int.read(name, text)? {
                Scalar::Int(count) => Ok(u64::try_from(count).unwrap_or_default()),
                _ => Ok(default),
            },
        };
        let (events, seconds) = (number("events", 0)?, number("time", TIME_S)?);
        let limit = Self { left: AtomicU64::new(events), seconds, clock: OnceLock::new() };
        Ok((events > 0).then_some(limit))
    }

    /// Whether the time is over.
    fn is_over(&self) -> bool {
        let clock = self.clock.get_or_init(Clock::start);
        self.seconds > 0 && clock.now().second() >= self.seconds
    }

    /// Whether no further event may begin.
    fn is_reached(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0 || self.is_over()
    }

    /// Whether another event may begin.
    fn take(&self) -> bool {
        let take = |left: u64| left.checked_sub(1);
        !self.is_over()
            && self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }
}

/// Errors after which an event is restarted; all others end the run.
#[derive(Debug)]
pub(super) struct Ignored(Vec<String>);

/// SQLSTATEs that sysbench's driver for PostgreSQL always ignores: deadlock, duplicate key, serialization.
const ALWAYS_IGNORED: [&str; 3] = ["40P01", "23505", "40001"];

impl Ignored {
    pub fn has(&self, code: Option<&str>) -> bool {
        self.0.iter().any(|ignored| ignored == "all" || Some(ignored.as_str()) == code)
            || code.is_some_and(|code| ALWAYS_IGNORED.contains(&code))
    }
}

/// A virtual user: whether its thread has ended itself.
pub struct User(Rc<Cell<bool>>);

/// An event: the seed of its random numbers.
#[derive(Clone)]
pub struct Input {
    pub(super) seed: u64,
    pub(super) has_ended: Rc<Cell<bool>>,
    title: Arc<str>,
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "script = {}\nseed = {}", self.title, self.seed)
    }
}

const WORK: OwnWork = OwnWork {
    setting: SETTING,
    texts: Some(OwnTexts { load, summary }),
    data: OwnData::Never,
    unused: "`{command}` does not use scripts of sysbench: their data is made by their own commands, as in \
             `triphammer sysbench oltp_read_write --mysql-db=test prepare`",
    only_local: Some(Refusal {
        about: "workload",
        why: "a script of sysbench can run commands on the server's host, so it can be run only from the \
              command line",
    }),
    local_options: &[],
};

static DESCRIPTION: LazyLock<Arc<Description>> = LazyLock::new(|| Arc::new(describe(Vec::new())));

fn describe(transactions: Vec<TransactionDef>) -> Description {
    let meaning = "events completed per second";
    description(NAME, "sysbench".into(), meaning.into(), WORK, OPTIONS, transactions)
}

impl Sysbench {
    /// Declares the workload before its script is known.
    #[must_use]
    pub fn describe() -> Arc<Description> {
        Arc::clone(&DESCRIPTION)
    }

    /// Loads the script of a run.
    ///
    /// # Errors
    /// When it cannot be loaded, with file and line, has no events, or an option is unknown or invalid.
    pub fn new(given: &WorkloadSettings) -> Result<Self, SpecError> {
        let (loaded, state) = Self::load(given, RUN, Output::Stderr)?;
        if state.has("event").is_none() && !state.has_own_loop() {
            let name = &loaded.script.name;
            let message = format!("the script {name} has no function event()");
            return Err(SpecError::new(message).about("script"));
        }
        Ok(loaded)
    }

    /// Loads the script for one of its commands, such as `prepare`.
    ///
    /// # Errors
    /// As [`Sysbench::new`].
    pub fn of_command(
        given: &WorkloadSettings,
        command: &str,
    ) -> Result<(Self, Option<triphammer_lua::Commands>), SpecError> {
        let (loaded, state) = Self::load(given, command, Output::Stdout)?;
        let how = state.has(command);
        Ok((loaded, how))
    }

    fn load(
        given: &WorkloadSettings,
        command: &str,
        output: Output,
    ) -> Result<(Self, State), SpecError> {
        given.refuse_unknown(NAME, OPTIONS)?;
        let script = script(given.option(&SCRIPT))?;
        let options = definitions(given.option(&DEFINE))?;
        let file = script.name.rsplit('/').next().unwrap_or(&script.name).to_owned();
        let ignored = options.get(IGNORE_ERRORS);
        let as_text = match options.get("db_ps_mode").map(String::as_str) {
            None | Some("auto") => false,
            Some("disable") => true,
            Some(other) => {
                let message = format!("--db-ps-mode {other}: expected auto or disable");
                return Err(SpecError::new(message).about("define"));
            }
        };
        let limit = Limit::read(&options)?;
        let mut loaded = Self {
            description: Arc::new(describe(vec![TransactionDef {
                name: crate::script::key(&file, &[]).into(),
                title: file.as_str().into(),
                weight: 1,
                access: Access::Write,
                isolation: None,
                counter: None,
            }])),
            title: script.name.as_str().into(),
            script,
            declared: Vec::new(),
            command: command.to_owned(),
            output,
            seed: given.run_seed,
            unique: Arc::new(Unique::new(given.run_seed)),
            ignored: ignored.map(|codes| Ignored(codes.split(',').map(str::to_owned).collect())),
            as_text,
            totals: Arc::new(Totals::default()),
            limit,
            options: Arc::new(options),
        };
        let driver = loaded.options.get("db_driver").map_or("mysql", String::as_str);
        let trial = Environment { output: Output::Nowhere, ..loaded.environment(driver, (0, 1)) };
        let state = State::new(&trial).map_err(|error| error.about("script"))?;
        loaded.declared = state.options().to_vec();
        Ok((loaded, state))
    }

    /// What the script sees in the thread of this number, of so many.
    pub(super) fn environment(&self, driver: &str, (tid, threads): (u32, u32)) -> Environment {
        Environment {
            name: self.script.name.as_str().into(),
            text: self.script.text().into(),
            folders: folders(&self.script.name),
            command: self.command.clone(),
            driver: driver.to_owned(),
            tid,
            threads,
            options: Arc::clone(&self.options),
            seed: Rng::of(self.seed, &[BEFORE_EVENTS, tid.into()]).bits(),
            unique: Arc::clone(&self.unique),
            output: self.output,
        }
    }

    /// The script in a state of its own for its report hooks; `None` if it sets none.
    ///
    /// # Errors
    /// When it cannot be loaded.
    pub fn reports(&self, threads: u32) -> Result<Option<State>, SpecError> {
        let driver = self.options.get("db_driver").map_or("mysql", String::as_str);
        let quiet =
            Environment { output: Output::Nowhere, ..self.environment(driver, (0, threads)) };
        let has_hooks = |state: &State| {
            [Hook::Intermediate, Hook::Cumulative].into_iter().any(|hook| state.reports(hook))
        };
        if !has_hooks(&State::new(&quiet)?) {
            return Ok(None);
        }
        State::new(&Environment { output: Output::Stdout, ..quiet }).map(Some)
    }

    /// The options that the script declares.
    #[must_use]
    pub fn declared(&self) -> &[ScriptOption] {
        &self.declared
    }

    /// The script's file or name.
    #[must_use]
    pub fn script_name(&self) -> &str {
        &self.script.name
    }

    /// The command for which the script was loaded.
    #[must_use]
    pub fn command_name(&self) -> &str {
        &self.command
    }

    /// Runs the script's command on a session, as the thread of this number.
    ///
    /// # Errors
    /// When the script fails.
    pub async fn command<S: Session>(
        &self,
        statements: &Statements<'_>,
        session: &mut S,
    ) -> Result<(), DbError> {
        runner::command(self, &self.command, statements, session).await
    }
}

impl Workload for Sysbench {
    type User = User;
    type Input = Input;
    type Prepared = Prepared;

    fn description(&self) -> &Arc<Description> {
        &self.description
    }

    fn writes(&self) -> Option<bool> {
        (!self.description().writes()).then_some(false)
    }

    /// Calls the script's `init()`, in a state of its own.
    async fn start<S: Session>(
        &self,
        statements: &Statements<'_>,
        session: &mut S,
    ) -> Result<(), DbError> {
        runner::command(self, "init", statements, session).await
    }

    fn user(&self, _id: u32, _users: u32, _rng: &mut Rng) -> User {
        User(Rc::default())
    }

    fn arrive(&self, user: &mut User, _number: u64, rng: &mut Rng) -> Option<usize> {
        self.next(user, rng)
    }

    fn next(&self, user: &mut User, _rng: &mut Rng) -> Option<usize> {
        if user.0.get() || self.totals.has_failed() {
            return None;
        }
        self.limit.as_ref().is_none_or(Limit::take).then_some(0)
    }

    fn draw(&self, _transaction: usize, user: &mut User, rng: &mut Rng, _now: Timestamp) -> Input {
        Input { seed: rng.bits(), has_ended: Rc::clone(&user.0), title: Arc::clone(&self.title) }
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
        // In a box, because it is large: see the workload `custom`.
        Box::pin(runner::run(self, input, prepared, session)).await
    }

    async fn finish<S: Session>(&self, prepared: Prepared, session: &mut S) {
        runner::finish(self, prepared, session).await;
    }

    fn is_done(&self) -> bool {
        self.totals.has_failed() || self.limit.as_ref().is_some_and(Limit::is_reached)
    }

    fn failure(&self) -> Option<String> {
        self.totals.failure()
    }

    fn script_totals(&self) -> Option<ScriptTotals> {
        Some(self.totals.read())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_that_sysbench_always_ignores_on_postgresql_are_not_in_its_option() {
        let default = Ignored(vec!["1213".into(), "1020".into(), "1205".into()]);
        for code in ["1213", "23505", "40001", "40P01"] {
            assert!(default.has(Some(code)), "{code}");
        }
        assert!(!default.has(Some("1062")) && !default.has(Some("42P01")) && !default.has(None));
        assert!(Ignored(vec!["all".into()]).has(None));
    }
}
