//! The prepared statements of a session, and the operations themselves.

use std::fmt::Write;

use triphammer_core::random::Rng;
use triphammer_core::rows::Rows;
use triphammer_core::session::{Access, Session, StatementId};
use triphammer_core::sql::{BoundStatement, Placeholder, param};
use triphammer_core::value::ColumnType::BigInt;
use triphammer_core::value::Value;
use triphammer_core::workload::{Completion, Statements};
use triphammer_core::{DbError, ErrorClass};

use super::keys::Key;
use super::operations::{DELETE, INSERT, Input, READ, SCAN, UPDATE};
use super::schema::{checksum, payload};
use super::settings::Settings;

/// Statements and buffers of a session.
#[derive(Debug)]
pub struct Prepared {
    read: StatementId,
    /// Reads [`Prepared::batch`] keys.
    read_many: Option<StatementId>,
    scan: StatementId,
    /// If the mix changes anything: who may only read can prepare no changes.
    changes: Option<Changes>,
    /// The last key at the start of the run.
    last_key: i64,
    batch: usize,
    payload_size: usize,
    payload: Vec<u8>,
    args: Vec<Value<'static>>,
    rows: Rows,
}

/// The statements that change or lock rows.
#[derive(Clone, Copy, Debug)]
struct Changes {
    update: StatementId,
    insert: StatementId,
    delete: StatementId,
    /// Deletes a row and returns its version, where the database has that.
    take: Option<StatementId>,
    lock: StatementId,
}

impl Changes {
    async fn prepare<S: Session>(
        statements: &mut Statements<'_>,
        session: &mut S,
    ) -> Result<Self, DbError> {
        let has_take = statements.has("row.take");
        let take =
            if has_take { Some(statements.prepare(session, "row.take").await?) } else { None };
        Ok(Self {
            update: statements.prepare(session, "row.update").await?,
            insert: statements.prepare(session, "row.insert").await?,
            delete: statements.prepare(session, "row.delete").await?,
            take,
            lock: statements.prepare(session, "row.lock").await?,
        })
    }
}

impl Prepared {
    /// Prepares the statements on a session; those that change rows if the mix `writes`.
    pub(super) async fn new<S: Session>(
        settings: &Settings,
        writes: bool,
        last_key: i64,
        statements: &mut Statements<'_>,
        session: &mut S,
    ) -> Result<Self, DbError> {
        let batch = usize::try_from(settings.batch).expect("a small number");
        let read_many = match batch {
            1 => None,
            _ => Some(session.prepare(&multi_get(batch, statements)).await?),
        };
        let changes =
            if writes { Some(Changes::prepare(statements, session).await?) } else { None };
        Ok(Self {
            read: statements.prepare(session, "row.read").await?,
            read_many,
            scan: statements.prepare(session, "row.scan").await?,
            changes,
            last_key,
            batch,
            payload_size: settings.payload_size,
            payload: Vec::with_capacity(settings.payload_size),
            args: Vec::with_capacity(batch),
            rows: Rows::new(),
        })
    }

    /// Runs one operation.
    pub(super) async fn run<S: Session>(
        &mut self,
        input: &Input,
        session: &mut S,
    ) -> Result<Completion, DbError> {
        let counter = match input.operation {
            READ => self.read(input, session).await?,
            SCAN => self.scan(input, session).await?,
            DELETE => return self.delete(input, session).await,
            operation @ (INSERT | UPDATE) => self.write(operation, input, session).await?,
            _ => self.read_modify_write(input, session).await?,
        };
        Ok(Completion { committed: true, counter })
    }

    /// Reads all keys in one statement; returns the number of those without a row.
    async fn read<S: Session>(&mut self, input: &Input, session: &mut S) -> Result<i64, DbError> {
        let keys = input.keys.all();
        let Some(read_many) = self.read_many else {
            let id = keys[0].resolve(self.last_key);
            session.query(self.read, &[id.into()], &mut self.rows).await?;
            return Ok(self.rows.is_empty().into());
        };
        self.args.clear();
        self.args.extend(keys.iter().map(|key| Value::Int(key.resolve(self.last_key))));
        // Duplicates were removed: the last key fills their places.
        let last = self.args[keys.len() - 1];
        self.args.resize(self.batch, last);
        session.query(read_many, &self.args, &mut self.rows).await?;
        Ok(count(keys.len()) - count(self.rows.len()))
    }

    /// Reads rows in the order of their keys; returns their number.
    async fn scan<S: Session>(&mut self, input: &Input, session: &mut S) -> Result<i64, DbError> {
        let from = input.keys.all()[0].resolve(self.last_key);
        session.query(self.scan, &[from.into(), input.rows.into()], &mut self.rows).await?;
        Ok(count(self.rows.len()))
    }

    /// Inserts or updates: one row in one statement, several in a transaction. Returns the number of
    /// rows.
    async fn write<S: Session>(
        &mut self,
        operation: usize,
        input: &Input,
        session: &mut S,
    ) -> Result<i64, DbError> {
        let mut rng = input.payloads();
        if let [key] = input.keys.all() {
            let id = key.resolve(self.last_key);
            let (statement, args) = self.row(operation, id, &mut rng)?;
            return session.execute_autocommit(statement, &args).await.map(affected);
        }
        session.begin(Access::Write).await?;
        let mut changed = 0;
        for (key, is_last) in with_last(input.keys.all()) {
            let id = key.resolve(self.last_key);
            let (statement, args) = self.row(operation, id, &mut rng)?;
            changed += affected(execute(session, statement, &args, is_last).await?);
        }
        Ok(changed)
    }

    /// The statements that change rows, which the mix has.
    fn changes(&self) -> Result<Changes, DbError> {
        let without = || DbError::new(ErrorClass::Other, "the mix of this run changes no rows");
        self.changes.ok_or_else(without)
    }

    /// The statement and the arguments that write a row with a new payload.
    fn row(
        &mut self,
        operation: usize,
        id: i64,
        rng: &mut Rng,
    ) -> Result<(StatementId, [Value<'_>; 3]), DbError> {
        let changes = self.changes()?;
        self.payload.clear();
        payload(self.payload_size, rng, &mut self.payload);
        let sum = checksum(&self.payload);
        let text = str::from_utf8(&self.payload)
            .map_err(|_| DbError::new(ErrorClass::Other, "a payload must be ASCII"))?;
        let statement = if operation == INSERT { changes.insert } else { changes.update };
        Ok((statement, [id.into(), sum.into(), text.into()]))
    }

    /// Deletes rows. The counter is what the sum of the versions loses; an operation that finds no row
    /// is rolled back.
    async fn delete<S: Session>(
        &mut self,
        input: &Input,
        session: &mut S,
    ) -> Result<Completion, DbError> {
        let changes = self.changes()?;
        if let (Some(take), [key]) = (changes.take, input.keys.all()) {
            let id = key.resolve(self.last_key);
            session.call(take, &[id.into()], &mut self.rows).await?;
            let version = self.rows.iter().next().map(|row| row.int(0)).transpose()?;
            let gone = version.map(|version| Completion { committed: true, counter: -version });
            return Ok(gone.unwrap_or(Completion::ROLLED_BACK));
        }
        session.begin(Access::Write).await?;
        let (mut lost, mut found) = (0, false);
        for key in input.keys.all() {
            let id = key.resolve(self.last_key);
            let lock = changes.take.unwrap_or(changes.lock);
            session.query(lock, &[id.into()], &mut self.rows).await?;
            let Some(row) = self.rows.iter().next() else { continue };
            (lost, found) = (lost + row.int(0)?, true);
            if changes.take.is_none() {
                session.execute(changes.delete, &[id.into()]).await?;
            }
        }
        if !found {
            session.rollback().await?;
            return Ok(Completion::ROLLED_BACK);
        }
        session.commit().await?;
        Ok(Completion { committed: true, counter: -lost })
    }

    /// Reads each row, locks it, and writes it back with a new payload, in one transaction. Returns the
    /// number of rows.
    async fn read_modify_write<S: Session>(
        &mut self,
        input: &Input,
        session: &mut S,
    ) -> Result<i64, DbError> {
        let mut rng = input.payloads();
        let lock = self.changes()?.lock;
        session.begin(Access::Write).await?;
        let mut changed = 0;
        for (key, is_last) in with_last(input.keys.all()) {
            let id = key.resolve(self.last_key);
            session.query(lock, &[id.into()], &mut self.rows).await?;
            if !self.rows.is_empty() {
                let (statement, args) = self.row(UPDATE, id, &mut rng)?;
                changed += affected(execute(session, statement, &args, is_last).await?);
            } else if is_last {
                session.commit().await?;
            }
        }
        Ok(changed)
    }
}

/// The keys, each with whether it is the last one.
fn with_last(keys: &[Key]) -> impl Iterator<Item = (&Key, bool)> {
    (1..).zip(keys).map(move |(number, key)| (key, number == keys.len()))
}

/// Runs a statement, and commits if it is the last one of its transaction.
async fn execute<S: Session>(
    session: &mut S,
    statement: StatementId,
    args: &[Value<'_>],
    is_last: bool,
) -> Result<u64, DbError> {
    match is_last {
        true => session.execute_and_commit(statement, args, None).await,
        false => session.execute(statement, args).await,
    }
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn affected(rows: u64) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}

/// The statement that reads `batch` keys.
fn multi_get(batch: usize, statements: &Statements<'_>) -> BoundStatement {
    let placeholder = statements.catalogue().placeholder();
    let mut sql = "SELECT version, payload FROM kv_store WHERE id IN (".to_owned();
    for place in 0..batch {
        let comma = if place == 0 { "" } else { ", " };
        let written = match placeholder {
            Placeholder::Dollar => write!(sql, "{comma}${}", place + 1),
            Placeholder::NumberedQuestion => write!(sql, "{comma}?{}", place + 1),
            Placeholder::At => write!(sql, "{comma}@p{}", place + 1),
            Placeholder::Question => write!(sql, "{comma}?"),
        };
        written.expect("writing to a string cannot fail");
    }
    sql.push(')');
    let params = vec![param("id", BigInt); batch];
    BoundStatement { name: "row.read_many".to_owned(), sql, params, order: (0..batch).collect() }
}
