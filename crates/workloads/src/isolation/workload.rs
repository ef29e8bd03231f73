//! The load as a [`Workload`].

use std::sync::{Arc, LazyLock};

use triphammer_core::outcome::Outcome;
use triphammer_core::random::Rng;
use triphammer_core::rows::Rows;
use triphammer_core::session::{Access, Session, StatementId};
use triphammer_core::sql::{StatementDef, optional, param, statement};
use triphammer_core::value::ColumnType::{BigInt, Text};
use triphammer_core::value::{Timestamp, Value};
use triphammer_core::workload::{
    Author, Completion, Description, MeasureDef, Mode, PrimaryMetric, ScaleUnit, Statements,
    TransactionDef, Workload, WorkloadSettings,
};
use triphammer_core::{DbError, Elapsed, ErrorClass, SpecError};
use triphammer_isolation::{Action, Fate, Key};

use super::epochs::Epochs;
use super::input::{Input, OnList};
use super::recorder::Recorder;
use super::rows::{counter, epoch_after, list, pair, rows, set, tables, value_of};
use super::settings::{OPTIONS, Options, TRANSACTIONS, WEIGHTS_DEFAULT, weights};
use crate::drill::{SESSION_ID, SESSION_IS_OWN, SESSION_TERMINATE, Sessions};

/// Name of the workload, and of its build record.
pub const NAME: &str = "isolation";
/// Index of the transaction that only reads.
const READ: usize = 1;
/// Index of the transaction that inserts the rows of the next epoch.
const PREPARE: usize = 5;
/// Members at which a set is full.
const MEMBERS: usize = 12;
/// Transactions after which a set is followed by the next.
const OF_SET: u64 = 80;
/// Values that one attempt can write.
const VALUES: u64 = 16;

/// Users that conflict, and the histories of what they did.
#[derive(Debug)]
pub struct IsolationLoad {
    options: Options,
    epochs: Arc<Epochs>,
    sessions: Sessions,
}

static DESCRIPTION: LazyLock<Arc<Description>> = LazyLock::new(|| {
    Arc::new(Description {
        name: NAME.into(),
        title: "Isolation".into(),
        author: Author::Command(NAME),
        extends: None,
        record: None,
        own_sql: Vec::new(),
        has_streams: false,
        recording: None,
        version: 1,
        scale_unit: ScaleUnit::new("set of tables", "sets of tables"),
        options: OPTIONS.to_vec(),
        statements: statements(),
        tables: tables(),
        transactions: transactions(),
        primary_metric: PrimaryMetric {
            name: "TPS".into(),
            meaning: "transactions committed per second".into(),
            transactions: (0..PREPARE).collect(),
            measure: MeasureDef::Rate { per_seconds: 1 },
            database_count: None,
            counted: Vec::new(),
        },
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

/// The mix by default; options change its weights.
fn transactions() -> Vec<TransactionDef> {
    let titles = ["Append", "Read", "Counter", "Pair", "Predicate"];
    let weights = weights(WEIGHTS_DEFAULT).expect("the default is valid");
    let of_mix = TRANSACTIONS.into_iter().zip(titles).zip(weights);
    let mut all: Vec<_> =
        of_mix.map(|((name, title), weight)| TransactionDef::new(name, title, weight)).collect();
    all[READ] = all[READ].clone().reading();
    all.push(TransactionDef::new("prepare", "Prepare", 0));
    all
}

fn statements() -> Vec<StatementDef> {
    let id = || param("id", BigInt);
    let grp = || param("grp", BigInt);
    vec![
        statement("list.read", &[id()]),
        statement("list.append", &[param("element", Text), id()]),
        statement("list.newest", &[]),
        statement("register.read", &[id()]),
        statement("register.write", &[param("version", BigInt), param("amount", BigInt), id()]),
        statement("set.read", &[grp()]),
        statement("set.insert", &[grp(), param("member", BigInt)]),
        optional(SESSION_ID, &[]),
        optional(SESSION_IS_OWN, &[id()]),
        optional(SESSION_TERMINATE, &[id()]),
    ]
}

impl IsolationLoad {
    /// Declares the load: its tables, statements and transactions.
    #[must_use]
    pub fn describe() -> Arc<Description> {
        Arc::clone(&DESCRIPTION)
    }

    /// Creates the workload.
    ///
    /// # Errors
    /// When an option is invalid.
    pub fn new(given: &WorkloadSettings) -> Result<Self, SpecError> {
        let options = Options::new(given, NAME)?;
        let epochs = Arc::new(Epochs::new(options.rows));
        Ok(Self { options, epochs, sessions: Sessions::default() })
    }

    /// The histories of the run.
    #[must_use]
    pub const fn epochs(&self) -> &Arc<Epochs> {
        &self.epochs
    }

    /// The sessions, which a fault can end.
    #[must_use]
    pub const fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// Inserts the rows of an epoch.
    async fn insert_rows<S: Session>(&self, epoch: u64, session: &mut S) -> Result<(), DbError> {
        session.begin(Access::Write).await?;
        for (at, table) in DESCRIPTION.tables.iter().enumerate().take(2) {
            session.load(table, &mut rows(epoch, at, self.options.rows)).await?;
        }
        session.commit().await
    }

    /// The set that is in use: all users meet on it, until it is full.
    fn set(&self, epoch: u64, number: u64) -> Key {
        set(epoch, number / OF_SET)
    }
}

/// A virtual user.
#[derive(Debug)]
pub struct User {
    /// The epoch whose rows it inserts next.
    to_prepare: Option<u64>,
}

/// Statements, buffers and the record of a session.
#[derive(Debug)]
pub struct Prepared {
    list_read: StatementId,
    list_append: StatementId,
    register_read: StatementId,
    register_write: StatementId,
    set_read: StatementId,
    set_insert: StatementId,
    rows: Rows,
    recorder: Recorder,
    element: String,
}

impl Workload for IsolationLoad {
    type User = User;
    type Input = Input;
    type Prepared = Prepared;

    fn description(&self) -> &Arc<Description> {
        &DESCRIPTION
    }

    /// Inserts the rows of the first two epochs, after those of earlier runs.
    async fn start<S: Session>(
        &self,
        statements: &Statements<'_>,
        session: &mut S,
    ) -> Result<(), DbError> {
        let newest = session.prepare(statements.catalogue().statement("list.newest")?).await?;
        let mut rows = Rows::new();
        session.query(newest, &[], &mut rows).await?;
        let first = epoch_after(rows.first("the newest row")?.int(0)?.unsigned_abs());
        for epoch in [first, first + 1] {
            self.insert_rows(epoch, session).await?;
            self.epochs.set_ready(epoch);
        }
        Ok(())
    }

    fn user(&self, _id: u32, _users: u32, _rng: &mut Rng) -> User {
        User { to_prepare: None }
    }

    fn next(&self, user: &mut User, rng: &mut Rng) -> Option<usize> {
        user.to_prepare = self.epochs.to_prepare();
        match user.to_prepare {
            Some(_) => Some(PREPARE),
            None => rng.weighted(self.options.weights.iter().map(|weight| u64::from(*weight))),
        }
    }

    fn draw(&self, transaction: usize, user: &mut User, rng: &mut Rng, _: Timestamp) -> Input {
        match user.to_prepare.take() {
            Some(epoch) => Input::Prepare(epoch),
            None => Input::draw(transaction, &self.options, rng),
        }
    }

    fn ended(&self, _: &mut User, input: &Input, outcome: Outcome, _: Elapsed) {
        if let Input::Prepare(epoch) = input {
            self.epochs.prepared(*epoch, outcome == Outcome::Committed);
        }
    }

    async fn prepare<S: Session>(
        &self,
        _mode: Mode,
        statements: &mut Statements<'_>,
        session: &mut S,
    ) -> Result<Prepared, DbError> {
        self.sessions.add(statements, session).await?;
        Ok(Prepared {
            list_read: statements.prepare(session, "list.read").await?,
            list_append: statements.prepare(session, "list.append").await?,
            register_read: statements.prepare(session, "register.read").await?,
            register_write: statements.prepare(session, "register.write").await?,
            set_read: statements.prepare(session, "set.read").await?,
            set_insert: statements.prepare(session, "set.insert").await?,
            rows: Rows::new(),
            recorder: Recorder::new(&self.epochs, statements.session().0),
            element: String::new(),
        })
    }

    async fn run<S: Session>(
        &self,
        input: &Input,
        prepared: &mut Prepared,
        session: &mut S,
    ) -> Result<Completion, DbError> {
        if let Input::Prepare(epoch) = input {
            self.insert_rows(*epoch, session).await?;
            return Ok(Completion::COMMITTED);
        }
        let epoch = prepared.recorder.begin();
        let mut attempt = Attempt {
            load: self,
            epoch,
            number: self.epochs.attempt(),
            written: 0,
            prepared,
            session,
        };
        let done = attempt.run(input).await;
        if let Err(error) = &done {
            prepared.recorder.failed(error.is_undone() || error.class().proves_rollback());
        }
        done
    }
}

/// One attempt at a transaction.
struct Attempt<'a, S> {
    load: &'a IsolationLoad,
    epoch: u64,
    number: u64,
    /// Values that it has written.
    written: u64,
    prepared: &'a mut Prepared,
    session: &'a mut S,
}

impl<S: Session> Attempt<'_, S> {
    async fn run(&mut self, input: &Input) -> Result<Completion, DbError> {
        let access = if matches!(input, Input::Read { .. }) { Access::Read } else { Access::Write };
        match self.load.options.level {
            Some(level) => self.session.begin_isolated(access, level).await?,
            None => self.session.begin(access).await?,
        }
        match input {
            Input::Append { operations, .. } => self.append(operations).await?,
            Input::Read { lists, pair, set } => self.read(lists, *pair, *set).await?,
            Input::Counter(place) => self.counter(*place).await?,
            Input::Pair { pair, second } => self.pair(*pair, *second).await?,
            Input::Predicate { again } => self.predicate(*again).await?,
            Input::Prepare(_) => {}
        }
        if matches!(input, Input::Append { rolls_back: true, .. }) {
            self.session.rollback().await?;
            self.prepared.recorder.ended(Fate::Aborted);
            return Ok(Completion::ROLLED_BACK);
        }
        self.prepared.recorder.commits();
        self.session.commit().await?;
        self.prepared.recorder.ended(Fate::Committed);
        Ok(Completion::COMMITTED)
    }

    /// A number that nobody else writes.
    fn value(&mut self) -> u64 {
        self.written += 1;
        self.number * VALUES + self.written
    }

    async fn append(&mut self, operations: &[OnList]) -> Result<(), DbError> {
        for OnList { list: place, appends } in operations {
            let key = list(self.epoch, *place);
            if !appends || !self.load.epochs.append(*place, self.epoch) {
                self.read_list(key).await?;
                continue;
            }
            let value = self.value();
            self.prepared.recorder.did(key, Action::Append(value));
            self.prepared.element.clear();
            self.prepared.element.push(',');
            self.prepared.element.push_str(&value.to_string());
            let row: [Value<'_>; 2] =
                [self.prepared.element.as_str().into(), key.id.cast_signed().into()];
            let changed = self.session.execute(self.prepared.list_append, &row).await?;
            self.wrote(changed);
        }
        Ok(())
    }

    /// A replica that becomes a primary may lack the newest rows.
    fn wrote(&mut self, changed: u64) {
        match changed {
            0 => self.prepared.recorder.forget(),
            _ => self.prepared.recorder.answered(),
        }
    }

    async fn read_list(&mut self, key: Key) -> Result<(), DbError> {
        let Prepared { list_read, rows, recorder, .. } = &mut *self.prepared;
        self.session.query(*list_read, &[key.id.cast_signed().into()], rows).await?;
        let mut list = Vec::new();
        // A node that is behind may lack the row, which is as good as an empty list.
        for row in rows.iter().filter(|row| !row.is_null(0)) {
            for element in row.text(0)?.split(',').skip(1) {
                list.push(element.parse().map_err(|_| {
                    let message = format!("a list has the element `{element}`, which is no number");
                    DbError::new(ErrorClass::Other, message)
                })?);
            }
        }
        recorder.did(key, Action::List(list));
        Ok(())
    }

    /// Reads the version and the amount of a register.
    async fn read_register(&mut self, key: Key) -> Result<u64, DbError> {
        let Prepared { register_read, rows, recorder, .. } = &mut *self.prepared;
        self.session.query(*register_read, &[key.id.cast_signed().into()], rows).await?;
        let row = rows.iter().next();
        let [version, amount] = match row {
            Some(row) => [row.int(0)?, row.int(1)?].map(i64::unsigned_abs),
            None => [0, 0],
        };
        recorder.did(key, Action::Read(value_of(version, amount)));
        Ok(amount)
    }

    async fn write_register(&mut self, key: Key, amount: u64) -> Result<(), DbError> {
        let version = self.value();
        self.prepared.recorder.did(key, Action::Write(value_of(version, amount)));
        let row = [version, amount, key.id].map(|value| Value::from(value.cast_signed()));
        let changed = self.session.execute(self.prepared.register_write, &row).await?;
        self.wrote(changed);
        Ok(())
    }

    async fn counter(&mut self, place: u32) -> Result<(), DbError> {
        let key = counter(self.epoch, place);
        let amount = self.read_register(key).await?;
        self.write_register(key, amount + 1).await
    }

    /// Takes one from a register if both together have something and it has, else adds ten.
    async fn pair(&mut self, number: u32, second: bool) -> Result<(), DbError> {
        let keys = pair(self.epoch, number);
        let amounts = [self.read_register(keys[0]).await?, self.read_register(keys[1]).await?];
        let at = usize::from(second);
        let amount = match amounts[at] {
            0 => 10,
            _ if amounts.iter().sum::<u64>() > 1 => amounts[at] - 1,
            amount => amount + 10,
        };
        self.write_register(keys[at], amount).await
    }

    async fn read_set(&mut self, key: Key) -> Result<usize, DbError> {
        let Prepared { set_read, rows, recorder, .. } = &mut *self.prepared;
        self.session.query(*set_read, &[key.id.cast_signed().into()], rows).await?;
        let member = |row: triphammer_core::rows::Row<'_>| row.int(0).map(i64::unsigned_abs);
        let members: Vec<u64> = rows.iter().map(member).collect::<Result<_, _>>()?;
        let count = members.len();
        recorder.did(key, Action::Members(members));
        Ok(count)
    }

    async fn predicate(&mut self, again: bool) -> Result<(), DbError> {
        let key = self.load.set(self.epoch, self.number);
        if self.read_set(key).await? >= MEMBERS {
            return Ok(());
        }
        let member = self.value();
        self.prepared.recorder.did(key, Action::Insert(member));
        let row = [key.id, member].map(|value| Value::from(value.cast_signed()));
        self.session.execute(self.prepared.set_insert, &row).await?;
        self.prepared.recorder.answered();
        if again {
            self.read_set(key).await?;
        }
        Ok(())
    }

    async fn read(
        &mut self,
        lists: &[u32],
        of_pair: Option<u32>,
        of_set: bool,
    ) -> Result<(), DbError> {
        for place in lists {
            self.read_list(list(self.epoch, *place)).await?;
        }
        if let Some(number) = of_pair {
            for key in pair(self.epoch, number) {
                self.read_register(key).await?;
            }
        }
        if of_set {
            self.read_set(self.load.set(self.epoch, self.number)).await?;
        }
        Ok(())
    }
}
