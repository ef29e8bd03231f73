//! The key-value load as a [`Workload`].

use std::sync::{Arc, LazyLock, OnceLock};

use triphammer_core::mix::Mix;
use triphammer_core::random::Rng;
use triphammer_core::session::{RowSource, Session};
use triphammer_core::sql::{StatementDef, optional, param, statement};
use triphammer_core::value::ColumnType::{BigInt, Text};
use triphammer_core::value::Timestamp;
use triphammer_core::workload::{
    Author, Chunk, Completion, Description, Mode, ScaleUnit, Statements, TableDef, TransactionDef,
    Workload, WorkloadSettings,
};
use triphammer_core::{DbError, Rows, Scale, SpecError};

use super::checks::checks;
use super::keys::{Key, KeyChooser};
use super::operations::{
    DELETE, INSERT, Input, Keys, READ, SCAN, audits, primary_metric, transactions,
};
use super::prepared::Prepared;
use super::schema::{chunks, rows, tables};
use super::settings::{OPTIONS, Settings};
use super::user::{Deck, User};

/// Million rows of a build for which no scale is given.
const SCALE: u32 = 10;
/// Most thousands of keys that one question of a check covers.
const RANGE_MAX: u32 = 100;

/// The `kv` workload at a scale.
#[derive(Debug)]
pub struct Kv {
    description: Arc<Description>,
    settings: Settings,
    mix: Arc<Mix>,
    data_seed: u64,
    chooser: KeyChooser,
    deck: Deck,
    /// The last key at the start of the run: all sessions connect before anything is inserted, and
    /// those that reconnect find it here.
    last_key: OnceLock<i64>,
}

static DESCRIPTION: LazyLock<Arc<Description>> = LazyLock::new(|| {
    let given = WorkloadSettings { scale: SCALE.into(), ..WorkloadSettings::default() };
    let settings = Settings::new(&given).expect("the defaults are valid");
    Arc::new(describe(&settings))
});

fn describe(settings: &Settings) -> Description {
    let unit = ScaleUnit::new("million rows", "million rows").in_thousandths();
    Description {
        name: "kv".into(),
        title: "Key-value".into(),
        author: Author::Program,
        extends: None,
        record: None,
        own_sql: Vec::new(),
        has_streams: false,
        recording: None,
        version: 1,
        scale_unit: ScaleUnit { range_max: RANGE_MAX, ..unit }.by_default(Scale::from(SCALE)),
        options: OPTIONS.to_vec(),
        statements: statements(),
        tables: tables(),
        transactions: transactions(settings),
        primary_metric: primary_metric(),
        checks: checks(),
        answers: None,
        audits: audits(settings),
        modes: vec![Mode::Statements],
        pipelining: Ok(()),
        external: None,
        borrowed: None,
        cycle: None,
    }
}

/// The statements that every dialect's catalogue must have.
fn statements() -> Vec<StatementDef> {
    let id = || param("id", BigInt);
    let row = [id(), param("checksum", BigInt), param("payload", Text)];
    let range = [param("first", BigInt), param("last", BigInt)];
    vec![
        statement("row.read", &[id()]),
        statement("row.update", &row),
        statement("row.insert", &row),
        statement("row.delete", &[id()]),
        optional("row.take", &[id()]),
        statement("row.lock", &[id()]),
        statement("row.scan", &[id(), param("rows", BigInt)]),
        statement("key.last", &[]),
        statement("audit.version", &[]),
        statement("check.rows", &range),
        statement("check.beyond", &range),
        statement("check.new", &range),
        statement("check.version", &range),
        statement("check.payload", &range),
        statement("check.payload_beyond", &range),
    ]
}

impl Kv {
    /// Declares kv with its default options.
    #[must_use]
    pub fn describe() -> Arc<Description> {
        Arc::clone(&DESCRIPTION)
    }

    /// Creates kv at the given scale, with the given options.
    ///
    /// # Errors
    /// When an option or the scale is invalid.
    pub fn new(given: &WorkloadSettings) -> Result<Self, SpecError> {
        let settings = Settings::new(given)?;
        let description = Arc::new(describe(&settings));
        Ok(Self {
            mix: TransactionDef::mix(&description.transactions, settings.mix.weights),
            description,
            data_seed: given.data_seed,
            chooser: KeyChooser::new(settings.keys, settings.rows()),
            deck: Deck::new(&settings.mix, given.run_seed),
            last_key: OnceLock::new(),
            settings,
        })
    }

    /// The last key at the start of the run, which the first session queries. Keys of loaded rows count
    /// even if the rows are deleted.
    async fn last_key<S: Session>(
        &self,
        statements: &mut Statements<'_>,
        session: &mut S,
    ) -> Result<i64, DbError> {
        if let Some(known) = self.last_key.get() {
            return Ok(*known);
        }
        let id = statements.prepare(session, "key.last").await?;
        let mut rows = Rows::new();
        session.query(id, &[], &mut rows).await?;
        let last = rows.first("the last key")?.int(0)?.max(self.settings.rows());
        Ok(*self.last_key.get_or_init(|| last))
    }

    /// The keys of an operation at a position.
    fn keys_at(&self, position: i64) -> Keys {
        let batch = i64::from(self.settings.batch);
        let first = position.saturating_mul(batch) + 1;
        match batch {
            1 => Keys::One(Key::AfterLast(first)),
            _ => Keys::Many((first..first + batch).map(Key::AfterLast).collect()),
        }
    }

    /// Chooses the keys of an operation on existing rows.
    fn choose(&self, count: u32, user: &User, rng: &mut Rng) -> Keys {
        let newest = (user.newest() + 1).saturating_mul(self.settings.batch.into());
        match count {
            1 => Keys::One(self.chooser.draw(newest, rng)),
            _ => Keys::many((0..count).map(|_| self.chooser.draw(newest, rng)).collect()),
        }
    }
}

impl Workload for Kv {
    type User = User;
    type Input = Input;
    type Prepared = Prepared;

    fn description(&self) -> &Arc<Description> {
        &self.description
    }

    fn mix(&self, arrives: bool) -> Result<&Arc<Mix>, &'static str> {
        match arrives {
            true => Err(
                "which keys an open load inserts and deletes follows from its mix, which is fixed",
            ),
            false => Ok(&self.mix),
        }
    }

    fn chunks(&self) -> Vec<Chunk> {
        chunks(&self.settings)
    }

    fn rows(&self, chunk: &Chunk, _table: &TableDef) -> Box<dyn RowSource + '_> {
        Box::new(rows(&self.settings, self.data_seed, chunk))
    }

    fn user(&self, id: u32, users: u32, _rng: &mut Rng) -> User {
        User::new(id, users)
    }

    fn arrive(&self, user: &mut User, number: u64, _rng: &mut Rng) -> Option<usize> {
        let (operation, arrival) = self.deck.arrival(number);
        *user = arrival;
        Some(operation)
    }

    fn next(&self, _user: &mut User, rng: &mut Rng) -> Option<usize> {
        self.mix.draw(rng)
    }

    fn draw(&self, operation: usize, user: &mut User, rng: &mut Rng, _now: Timestamp) -> Input {
        let batch = self.settings.batch;
        let keys = match operation {
            INSERT => self.keys_at(user.insert()),
            DELETE => match user.delete() {
                Some(position) => self.keys_at(position),
                None => self.choose(batch, user, rng),
            },
            SCAN => self.choose(1, user, rng),
            _ => self.choose(batch, user, rng),
        };
        let payload = if matches!(operation, READ | SCAN | DELETE) { 0 } else { rng.bits() };
        let rows =
            if operation == SCAN { rng.between(1, self.settings.scan_rows.into()) } else { 0 };
        Input { operation, keys, payload, rows }
    }

    async fn prepare<S: Session>(
        &self,
        _mode: Mode,
        statements: &mut Statements<'_>,
        session: &mut S,
    ) -> Result<Prepared, DbError> {
        let last_key = self.last_key(statements, session).await?;
        let writes = self.writes() == Some(true);
        Prepared::new(&self.settings, writes, last_key, statements, session).await
    }

    fn acknowledged(&self, input: &Input) -> Option<Completion> {
        match input.operation {
            READ | SCAN => Some(Completion::COMMITTED),
            INSERT => {
                let counter = i64::try_from(input.keys.all().len()).unwrap_or(i64::MAX);
                Some(Completion { committed: true, counter })
            }
            // It is unknown whether there were such rows.
            _ => None,
        }
    }

    async fn run<S: Session>(
        &self,
        input: &Input,
        prepared: &mut Prepared,
        session: &mut S,
    ) -> Result<Completion, DbError> {
        prepared.run(input, session).await
    }
}
