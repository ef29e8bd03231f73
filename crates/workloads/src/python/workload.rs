//! A class in Python as a [`Workload`].

use std::fmt;
use std::sync::{Arc, LazyLock};

use triphammer_core::mix::Mix;
use triphammer_core::random::Rng;
use triphammer_core::session::{Access, Session};
use triphammer_core::value::Timestamp;
use triphammer_core::workload::{
    Completion, Description, Mode, OwnData, OwnTexts, OwnWork, Refusal, ScriptTotals, Statements,
    TransactionDef, Workload, WorkloadSettings,
};
use triphammer_core::{DbError, SpecError};

use super::NAME;
use super::code::{Code, Script, Transaction, interpreter};
use super::runner::{self, Prepared};
use super::settings::{DEFINE, OPTIONS, SCRIPT};
use super::source::{load, script, split};
use crate::of_user::description;
use crate::script::{SETTING, summary};
use crate::sysbench::settings::definitions;
use crate::sysbench::totals::Totals;

/// A workload in Python.
#[derive(Debug)]
pub struct Python {
    description: Arc<Description>,
    pub(super) code: Box<dyn Code>,
    mix: Arc<Mix>,
    names: Arc<[String]>,
    /// Seed of the run.
    pub(super) seed: u64,
    pub(super) totals: Arc<Totals>,
}

/// The input of a transaction: its type, and the seed of its random numbers.
#[derive(Clone)]
pub struct Input {
    pub(super) transaction: usize,
    pub(super) seed: u64,
    names: Arc<[String]>,
}

impl Input {
    /// Name of the transaction.
    pub(super) fn name(&self) -> &str {
        &self.names[self.transaction]
    }
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "transaction = {}\nseed = {}", self.name(), self.seed)
    }
}

const WORK: OwnWork = OwnWork {
    setting: SETTING,
    texts: Some(OwnTexts { load: |value, _| load(value), summary }),
    data: OwnData::InRun,
    unused: "a workload in Python has no data of its own, so there is nothing to {command}: its setup() makes \
             what it needs, before each run",
    only_local: Some(Refusal {
        about: "workload",
        why: "a workload in Python can run commands on the server's host, so it can be run only from Python \
              and the command line",
    }),
    local_options: &[],
};

static DESCRIPTION: LazyLock<Arc<Description>> = LazyLock::new(|| Arc::new(describe(&[])));

fn describe(transactions: &[Transaction]) -> Description {
    let define = |transaction: &Transaction| TransactionDef {
        name: transaction.name.clone().into(),
        title: transaction.name.clone().into(),
        weight: transaction.weight,
        access: if transaction.reads { Access::Read } else { Access::Write },
        isolation: None,
        counter: None,
    };
    let transactions = transactions.iter().map(define).collect();
    let meaning = "transactions completed per second";
    description(NAME, "Python".into(), meaning.into(), WORK, OPTIONS, transactions)
}

impl Python {
    /// Declares the workload before its script is known.
    #[must_use]
    pub fn describe() -> Arc<Description> {
        Arc::clone(&DESCRIPTION)
    }

    /// Loads the script of a run.
    ///
    /// # Errors
    /// When there is no interpreter, or the script cannot be loaded, with file and line.
    pub fn new(given: &WorkloadSettings) -> Result<Self, SpecError> {
        given.refuse_unknown(NAME, OPTIONS)?;
        let script = script(given.option(&SCRIPT))?;
        let options = definitions(given.option(&DEFINE))?;
        let (file, class) = split(&script.name);
        let loaded = Script { file, class, text: script.text(), options: &options };
        let code = interpreter()?.load(&loaded).map_err(|error| error.about("script"))?;
        let transactions = code.transactions();
        let description = Arc::new(describe(transactions));
        Ok(Self {
            mix: TransactionDef::mix(
                &description.transactions,
                transactions.iter().map(|one| one.weight),
            ),
            description,
            names: transactions.iter().map(|one| one.name.clone()).collect(),
            seed: given.run_seed,
            totals: Arc::new(Totals::default()),
            code,
        })
    }
}

impl Workload for Python {
    type User = ();
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

    /// Calls `setup`.
    async fn start<S: Session>(
        &self,
        statements: &Statements<'_>,
        session: &mut S,
    ) -> Result<(), DbError> {
        runner::setup(self, statements, session).await
    }

    fn user(&self, _id: u32, _users: u32, _rng: &mut Rng) {}

    fn arrive(&self, user: &mut (), _number: u64, rng: &mut Rng) -> Option<usize> {
        self.next(user, rng)
    }

    fn next(&self, _user: &mut (), rng: &mut Rng) -> Option<usize> {
        if self.totals.has_failed() {
            return None;
        }
        self.mix.draw(rng)
    }

    fn draw(&self, transaction: usize, _user: &mut (), rng: &mut Rng, _now: Timestamp) -> Input {
        Input { transaction, seed: rng.bits(), names: Arc::clone(&self.names) }
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

    fn is_done(&self) -> bool {
        self.totals.has_failed()
    }

    fn failure(&self) -> Option<String> {
        self.totals.failure()
    }

    fn script_totals(&self) -> Option<ScriptTotals> {
        Some(self.totals.read())
    }
}
