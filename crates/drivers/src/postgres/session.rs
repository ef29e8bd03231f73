//! A session: one connection, its statements and its transaction.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use postgres_protocol::message::backend;
use tokio::time::timeout;
use triphammer_core::login::LoginTimes;
use triphammer_core::rows::Rows;
use triphammer_core::session::{
    Access, Canceller, ColumnSource, IsAtWork, Isolation, Pipeline, Pipelining, Protocol,
    RowEffect, RowSource, Session, StatementId, execute_then_commit,
};
use triphammer_core::sql::{BoundStatement, commits_inside};
use triphammer_core::workload::TableDef;
use triphammer_core::{DbError, ErrorClass, Value};

use super::codec::{COPY_HEAD, COPY_TAIL, Misfit, Wire, oid_of, put_copy_row, read_field};
use super::database::{OpenedConnection, Route, Shared};
use super::prepared::{Format, OnServer, Prepared, are_texts, name_of};
use super::text::{self, Template};
use super::wire::{
    BindHead, CancelKey, Chunk, Column, Connection, Fields, Greeting, Status, Then, Unwritable,
    columns, touched,
};
use crate::answer::{ANSWER_BYTES_MAX, Room, too_large};

/// Takes the limits on idle and long transactions off the open one; older servers lack some of them.
pub(super) const KEEP_OPEN: &str = "SELECT set_config(name, '0', true) FROM pg_settings WHERE name IN \
    ('idle_in_transaction_session_timeout', 'transaction_timeout')";

/// Size of one batch of a stream, in bytes.
const BATCH_BYTES: usize = 1024 * 1024;
/// How long a proper close or a cancel request may take.
const GOODBYE_LIMIT: Duration = Duration::from_secs(5);

/// Answer to a COMMIT of a transaction that had failed.
const ROLLED_BACK: &[u8] = b"ROLLBACK\0";

/// One session on a PostgreSQL server.
pub struct PostgresSession {
    /// In a cell because checking for unsolicited messages takes `&self`.
    connection: RefCell<Connection>,
    statements: Vec<Prepared>,
    /// How often the server has said that the results of statements have other types than when they
    /// were prepared: `ALTER TABLE` during a run.
    changes: u32,
    /// By statement, the number of changes when it was prepared.
    prepared_after: Vec<u32>,
    /// Whether each of them may commit before it ends.
    commits_inside: Vec<bool>,
    /// Number of statement names used so far: one whose preparation was abandoned may exist on the
    /// server.
    names: u32,
    /// The text of the statement that the simple protocol sends; kept to reuse its memory.
    text: String,
    pipelining: Pipelining,
    /// Rows that the last statement touched.
    touched: u64,
    /// Whether the server is asked about a statement that is not kept there when it is prepared.
    tries: bool,
    greeting: Greeting,
    login: LoginTimes,
    pub(super) route: Route,
    pub(super) shared: Arc<Shared>,
}

impl PostgresSession {
    pub(super) fn new(opened: OpenedConnection, shared: Arc<Shared>) -> Self {
        Self {
            connection: RefCell::new(opened.connection),
            statements: Vec::new(),
            changes: 0,
            prepared_after: Vec::new(),
            commits_inside: Vec::new(),
            names: 0,
            text: String::new(),
            pipelining: Pipelining::Off,
            touched: 0,
            tries: false,
            greeting: opened.greeting,
            login: opened.login,
            route: opened.route,
            shared,
        }
    }

    /// Sets which messages of a transaction share a round trip.
    pub(super) fn pipeline_transactions(&mut self, pipelining: Pipelining) {
        self.pipelining = pipelining;
    }

    /// Has the server look at each statement when it is prepared, as users need not.
    pub(super) fn try_statements(&mut self) {
        self.tries = true;
    }

    /// Runs the setup of a new session.
    pub(super) async fn set_up(&mut self, sql: &str) -> Result<(), DbError> {
        self.batch(sql).await.map_err(|error| error.context("setting up the session"))
    }

    /// Whether new transactions are read only.
    pub(super) async fn is_read_only(&mut self) -> Result<bool, DbError> {
        let answer = self.ask("SHOW transaction_read_only").await?;
        Ok(answer.first().is_some_and(|row| row[0].as_deref() == Some("on")))
    }

    /// Whether the server process of another session is running a statement; `None` if there is no
    /// such process.
    pub(super) async fn is_active(&mut self, process: i32) -> Result<Option<bool>, DbError> {
        let sql = format!("SELECT state = 'active' FROM pg_stat_activity WHERE pid = {process}");
        let flag = self.ask(&sql).await?.pop().and_then(|mut row| row.pop()).flatten();
        Ok(flag.map(|flag| flag == "t"))
    }

    /// Whether the database has a schema of that name.
    pub(super) async fn has_schema(&mut self, name: &str) -> Result<bool, DbError> {
        let literal = quote_literal(name);
        let ask = format!("SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = {literal}");
        Ok(!self.ask(&ask).await?.is_empty())
    }

    /// Creates a database; returns false if it exists.
    pub(super) async fn create_database(&mut self, name: &str) -> Result<bool, DbError> {
        let literal = quote_literal(name);
        let there =
            self.ask(&format!("SELECT 1 FROM pg_database WHERE datname = {literal}")).await?;
        if !there.is_empty() {
            return Ok(false);
        }
        match self.batch(&format!("CREATE DATABASE {}", quote_identifier(name))).await {
            Ok(()) => Ok(true),
            // Another session was faster.
            Err(error) if matches!(error.code(), Some("42P04" | "23505")) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Closes the session properly.
    pub(super) async fn end(self) {
        // A server that does not read the message in time sees the connection close.
        let _ = timeout(GOODBYE_LIMIT, self.connection.into_inner().terminate()).await;
    }

    /// Begins a transaction, now or with the next call.
    async fn begin_with(&mut self, begin: &'static str) -> Result<(), DbError> {
        if !self.pipelining.defers_begin() {
            return self.batch(begin).await;
        }
        let connection = self.connection.get_mut();
        connection.settled().await?;
        connection.defer_begin(begin);
        Ok(())
    }

    /// Runs SQL text and discards its rows.
    async fn batch(&mut self, sql: &str) -> Result<(), DbError> {
        let connection = self.connection.get_mut();
        connection.ready().await?;
        connection.query(sql)?;
        connection.answer(|_| Ok(())).await
    }

    /// Runs SQL text and returns its rows as text, for the few queries that are made once.
    pub(super) async fn ask(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, DbError> {
        let connection = self.connection.get_mut();
        connection.ready().await?;
        connection.query(sql)?;
        let mut rows = Vec::new();
        let mut room = Room::of_question();
        connection
            .answer(|frame| {
                if frame.tag == backend::DATA_ROW_TAG {
                    room.take(frame.body.len())?;
                    let mut fields = Fields::new(frame.body).ok_or_else(cut_short)?;
                    let mut row = Vec::with_capacity(fields.len());
                    while fields.len() > 0 {
                        let field = fields.next().ok_or_else(cut_short)?;
                        row.push(field.map(|raw| String::from_utf8_lossy(raw).into_owned()));
                    }
                    rows.push(row);
                }
                Ok(())
            })
            .await?;
        Ok(rows)
    }

    /// Runs a statement, and `then` what follows it, and reads its rows into `rows`, if requested,
    /// calling `after_row` after each. Returns the number of affected rows.
    async fn fetch(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        mut rows: Option<&mut Rows>,
        (lists, then): (bool, Then),
        after_row: impl FnMut(&mut Rows),
    ) -> Result<u64, DbError> {
        if self.changes > 0 {
            self.refresh(id.index()).await?;
        }
        let Self { connection, statements, text, .. } = self;
        let connection = connection.get_mut();
        connection.settled().await?;
        let statement = statements.get(id.index()).ok_or_else(not_prepared)?;
        let as_texts = rows.as_ref().is_some_and(|rows| rows.wants_texts());
        let format = statement.send(connection, args, text, (then, as_texts))?;
        if let Some(rows) = &mut rows {
            rows.reset(format.width());
            if rows.wants_names() {
                rows.set_names(format.columns().iter().map(Column::name));
            }
        }
        let received = receive(connection, format, rows, (lists, then), after_row).await;
        self.touched = received.as_ref().copied().unwrap_or_default();
        received.map_err(|error| self.failed(Some(id), error))
    }

    /// Notes what an error says about prepared statements.
    #[cold]
    fn failed(&mut self, id: Option<StatementId>, error: DbError) -> DbError {
        if error.class() == ErrorClass::SchemaChanged {
            self.changes += 1;
        }
        match id.and_then(|id| self.statements.get(id.index())) {
            Some(Prepared::OnServer(statement)) => explain_swap(error, &statement.name),
            Some(Prepared::Here { .. }) => explain_swap(error, "unnamed prepared statement"),
            _ => error,
        }
    }

    /// Prepares a statement again, under another name, if the session has met a change since it was
    /// prepared.
    async fn refresh(&mut self, index: usize) -> Result<(), DbError> {
        let Some(Prepared::OnServer(old)) = self.statements.get(index) else { return Ok(()) };
        if self.prepared_after[index] == self.changes {
            return Ok(());
        }
        let old = Arc::clone(old);
        let OnServer { sql, types, wires, .. } = &*old;
        let (sql, types, wires) = (sql.clone(), types.clone(), wires.clone());
        let fresh = self.prepare_on_server(Some(&old.name), sql, types, wires).await?;
        self.statements[index] = fresh;
        self.prepared_after[index] = self.changes;
        self.shared.prepared_again.count();
        Ok(())
    }

    /// The error of a statement that is a transaction of its own.
    fn autocommit_failed(&self, id: StatementId, error: DbError) -> DbError {
        match self.commits_inside.get(id.index()) {
            Some(true) => error.after_commit_sent(),
            _ => error.failed_commit(),
        }
    }

    /// Prepares a statement on the server, in place of the one of the name `old`, if there is one.
    async fn prepare_on_server(
        &mut self,
        old: Option<&str>,
        sql: Box<str>,
        types: Box<[u32]>,
        wires: Box<[Wire]>,
    ) -> Result<Prepared, DbError> {
        self.names += 1;
        let name = name_of(self.names, &sql, &types);
        let columns = self.describe(old, &name, &sql, &types).await;
        // Nothing is executed here, so the error is about this statement.
        let columns = columns.map_err(|error| explain_swap(error, ""))?;
        let head = BindHead::new(&name, wires.len(), are_texts(&wires));
        let head = head.map_err(Unwritable::into_error)?;
        let statement = OnServer { name, head, sql, types, wires, columns };
        Ok(Prepared::OnServer(self.shared.statements.share(statement)))
    }

    /// Prepares a statement of this name on the server; returns the columns of its result.
    pub(super) async fn describe(
        &mut self,
        old: Option<&str>,
        name: &str,
        sql: &str,
        types: &[u32],
    ) -> Result<Box<[Column]>, DbError> {
        let connection = self.connection.get_mut();
        connection.settled().await?;
        connection.prepare(old, name, sql, types)?;
        let mut described = Box::default();
        connection
            .answer(|frame| {
                if frame.tag == backend::ROW_DESCRIPTION_TAG {
                    described = columns(frame.body).ok_or_else(cut_short)?;
                }
                Ok(())
            })
            .await?;
        Ok(described)
    }

    /// Removes a prepared statement from the server, if it is there.
    pub(super) async fn forget_named(&mut self, name: &str) -> Result<(), DbError> {
        let connection = self.connection.get_mut();
        connection.forget(name)?;
        connection.answer(|_| Ok(())).await
    }

    /// Runs a prepared statement without parameters, and discards its rows.
    pub(super) async fn run_named(&mut self, name: &str) -> Result<(), DbError> {
        let connection = self.connection.get_mut();
        let head = BindHead::new(name, 0, false).map_err(Unwritable::into_error)?;
        connection.execute(&head, false, Then::Sync, |_, _| Ok(false))?;
        connection.answer(|_| Ok(())).await
    }

    /// The process that the server gave the session's cancel key for.
    pub(super) const fn process(&self) -> i32 {
        self.greeting.key.process
    }

    /// First number of the server's version; 0 if it is unknown.
    pub(super) const fn version(&self) -> u32 {
        self.greeting.version
    }

    /// The formats of a table's columns: those of the types that they have on the server, because another program
    /// may have created the table, and the binary form of a row has no types of its own.
    async fn copy_wires(
        &mut self,
        table: &TableDef,
        name: &str,
        columns: &str,
    ) -> Result<Vec<Wire>, DbError> {
        let sql = format!("SELECT {columns} FROM {name} LIMIT 0");
        let there = self.describe(None, "", &sql, &[]).await?;
        let declared = table.columns.iter().map(|column| Wire::of(column.column_type));
        let of = |(place, declared): (usize, Wire)| {
            there.get(place).and_then(|column| Wire::of_kind(column.kind)).unwrap_or(declared)
        };
        Ok(declared.enumerate().map(of).collect())
    }

    async fn copy(&mut self, table: &TableDef, source: &mut dyn RowSource) -> Result<u64, DbError> {
        let columns: Vec<_> = table.columns.iter().map(|c| quote_identifier(&c.name)).collect();
        let (name, columns) = (quote_identifier(&table.name), columns.join(", "));
        let wires = self.copy_wires(table, &name, &columns).await?;
        let sql = format!("COPY {name} ({columns}) FROM STDIN (FORMAT binary)");
        let connection = self.connection.get_mut();
        connection.ready().await?;
        connection.begin_copy(&sql).await?;
        let mut batch = Rows::new();
        let mut chunk = Chunk::new();
        chunk.rows().extend_from_slice(&COPY_HEAD);
        loop {
            batch.reset(wires.len());
            let more = source.fill(&mut batch);
            if batch.has_partial_row() {
                let message = format!("the data for `{}` ends within a row", table.name);
                return Err(DbError::new(ErrorClass::Other, message));
            }
            for row in batch.iter() {
                put_copy_row(chunk.rows(), &row, &wires).map_err(Misfit::into_error)?;
                if chunk.is_full() {
                    connection.send_rows(&mut chunk).await?;
                }
            }
            if !more {
                break;
            }
        }
        chunk.rows().extend_from_slice(&COPY_TAIL);
        connection.send_rows(&mut chunk).await?;
        connection.end_copy().await
    }
}

/// Reads the answer to a statement, and to the BEGIN and COMMIT around it: its rows into `rows`, if
/// requested, calling `after_row` after each. Returns the number of affected rows.
async fn receive(
    connection: &mut Connection,
    mut format: Format<'_>,
    mut rows: Option<&mut Rows>,
    (lists, then): (bool, Then),
    mut after_row: impl FnMut(&mut Rows),
) -> Result<u64, DbError> {
    let mut count = 0;
    let mut problem = None;
    let mut was_rolled_back = false;
    loop {
        let Some(frame) = connection.taken()? else {
            connection.more().await?;
            continue;
        };
        match frame.tag {
            backend::DATA_ROW_TAG => {
                if let (Some(rows), None) = (&mut rows, &problem) {
                    match format.read_row(frame.body, rows, lists) {
                        Ok(()) => {
                            after_row(rows);
                            if rows.bytes() > ANSWER_BYTES_MAX {
                                return Err(connection.given_up(too_large()));
                            }
                        }
                        Err(error) => problem = Some(error),
                    }
                }
            }
            backend::BIND_COMPLETE_TAG | backend::PARSE_COMPLETE_TAG => {}
            backend::COMMAND_COMPLETE_TAG => {
                count += touched(frame.body);
                was_rolled_back = then == Then::CommitAndSync && frame.body == ROLLED_BACK;
            }
            backend::READY_FOR_QUERY_TAG if was_rolled_back => return Err(rolled_back()),
            backend::READY_FOR_QUERY_TAG => {
                return problem.map_or(Ok(count), |error| Err(error.unread()));
            }
            backend::ROW_DESCRIPTION_TAG => {
                let Some(described) = columns(frame.body) else {
                    return Err(connection.garbled("truncated columns"));
                };
                if let Some(rows) = &mut rows {
                    rows.reset(described.len());
                    rows.set_names(described.iter().map(Column::name));
                }
                format.described(described);
            }
            backend::NO_DATA_TAG | backend::EMPTY_QUERY_RESPONSE_TAG => {}
            tag => return Err(connection.misplaced(tag)),
        }
    }
}

impl Format<'_> {
    #[inline]
    fn read_row(&self, body: &[u8], rows: &mut Rows, lists: bool) -> Result<(), DbError> {
        let columns = match self {
            Self::Known(columns) => columns,
            Self::Described(columns) => &**columns,
            Self::Text(_) => return read_texts(body, rows, lists && !rows.wants_texts()),
        };
        let mut fields = Fields::new(body).ok_or_else(cut_short)?;
        if fields.len() != columns.len() {
            return Err(cut_short());
        }
        for column in columns {
            let field = fields.next().ok_or_else(cut_short)?;
            read_field(rows, column.kind, field)
                .map_err(|problem| problem.error(column.name(), &column.type_name()))?;
        }
        Ok(())
    }
}

fn read_texts(body: &[u8], rows: &mut Rows, lists: bool) -> Result<(), DbError> {
    let mut fields = Fields::new(body).ok_or_else(cut_short)?;
    if fields.len() != rows.width() {
        return Err(cut_short());
    }
    while fields.len() > 0 {
        let field = fields.next().ok_or_else(cut_short)?;
        let text = field.map(std::str::from_utf8).transpose();
        text::read_field(rows, text.map_err(|_| cut_short())?, lists);
    }
    Ok(())
}

/// Codes for a prepared statement that exists already, or does not exist. Each session prepares its
/// statements once, so something in between has swapped sessions.
const SWAPPED_SESSIONS: [&str; 2] = ["42P05", "26000"];

/// Explains an error about the statement of this name, or about the unnamed one: whatever the session
/// does, it would meet sessions of the server that lack its statements.
#[cold]
fn explain_swap(error: DbError, name: &str) -> DbError {
    let is_swapped = error.code().is_some_and(|code| SWAPPED_SESSIONS.contains(&code));
    // A statement may itself execute another, by SQL.
    if !is_swapped || !error.message().contains(name) {
        return error;
    }
    error.hopeless().with_advice(
        "a transaction pooler, such as PgBouncer, loses prepared statements: use \
         --protocol extended or simple, or connect to the server directly",
    )
}

/// The error for a truncated row. The session cannot be trusted with such a server, but its
/// connection is in order.
#[cold]
fn cut_short() -> DbError {
    DbError::new(ErrorClass::Other, "the server sent a row that does not match its columns")
}

/// The error for a COMMIT that the server answered with a rollback.
#[cold]
fn rolled_back() -> DbError {
    let message = "the transaction had failed, so it was rolled back instead";
    DbError::new(ErrorClass::Other, message).with_code("25P02").undone()
}

#[cold]
fn not_prepared() -> DbError {
    DbError::new(ErrorClass::Other, "no such prepared statement")
}

impl Session for PostgresSession {
    async fn script(&mut self, sql: &str) -> Result<(), DbError> {
        self.batch(sql).await
    }

    async fn prepare(&mut self, statement: &BoundStatement) -> Result<StatementId, DbError> {
        let id = u32::try_from(self.statements.len())
            .map_err(|_| DbError::new(ErrorClass::Unsupported, "too many statements"))?;
        let wires = Wire::of_all(&statement.params);
        let types: Box<[_]> = statement.params.iter().map(|p| oid_of(p.param_type)).collect();
        let prepared = match self.shared.protocol() {
            Protocol::Prepared => {
                let sql = statement.sql.as_str().into();
                self.prepare_on_server(None, sql, types, wires).await?
            }
            Protocol::Extended => {
                if self.tries {
                    self.describe(None, "", &statement.sql, &types).await?;
                }
                Prepared::Here { sql: statement.sql.as_str().into(), types, wires }
            }
            Protocol::Simple => Prepared::Text(Template::new(statement)?),
        };
        self.statements.push(prepared);
        self.prepared_after.push(self.changes);
        self.commits_inside.push(commits_inside(&statement.sql));
        Ok(StatementId(id))
    }

    async fn execute(&mut self, id: StatementId, args: &[Value<'_>]) -> Result<u64, DbError> {
        let connection = self.connection.get_mut();
        if connection.is_in_pipeline() {
            let statement = self.statements.get(id.index()).ok_or_else(not_prepared)?;
            let then = (Then::Nothing, false);
            return statement.send(connection, args, &mut self.text, then).map(|_| 0);
        }
        self.fetch(id, args, None, (false, Then::Sync), |_| {}).await
    }

    async fn query(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        rows: &mut Rows,
    ) -> Result<(), DbError> {
        self.fetch(id, args, Some(rows), (false, Then::Sync), |_| {}).await?;
        Ok(())
    }

    async fn call(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        rows: &mut Rows,
    ) -> Result<(), DbError> {
        if self.is_closed() {
            return Err(self.connection.get_mut().end());
        }
        let result = self.fetch(id, args, Some(rows), (true, Then::Sync), |_| {}).await;
        result.map(drop).map_err(|error| self.autocommit_failed(id, error))
    }

    async fn execute_autocommit(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
    ) -> Result<u64, DbError> {
        self.execute(id, args).await.map_err(|error| self.autocommit_failed(id, error))
    }

    async fn execute_and_commit(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        rows: Option<&mut Rows>,
    ) -> Result<u64, DbError> {
        let connection = self.connection.get_mut();
        connection.settled().await?;
        // A transaction that a call cancelled half-way has failed must not be committed.
        if !self.pipelining.joins_commit() || connection.status() == Status::Failed {
            return execute_then_commit(self, id, args, rows).await;
        }
        if self.is_closed() {
            return Err(self.connection.get_mut().end());
        }
        let result = self.fetch(id, args, rows, (false, Then::CommitAndSync), |_| {}).await;
        result.map_err(DbError::failed_commit)
    }

    async fn text(&mut self, sql: &str, commits: bool, rows: &mut Rows) -> Result<(), DbError> {
        let connection = self.connection.get_mut();
        connection.ready().await?;
        connection.query(sql)?;
        rows.reset(0);
        let read =
            receive(connection, Format::Text(&[]), Some(rows), (false, Then::Sync), |_| {}).await;
        self.touched = read.as_ref().copied().unwrap_or_default();
        match read {
            Err(error) if commits && !commits_inside(sql) => Err(error.failed_commit()),
            read => read.map(drop),
        }
    }

    async fn sources(&mut self, id: StatementId) -> Result<Vec<Option<ColumnSource>>, DbError> {
        let sources = match self.statements.get(id.index()) {
            Some(Prepared::OnServer(statement)) => {
                statement.columns.iter().map(|column| column.source).collect()
            }
            _ => Vec::new(),
        };
        let tables: BTreeSet<u32> = sources.iter().map(|(table, _)| *table).collect();
        let known: Vec<String> = tables.iter().filter(|of| **of > 0).map(u32::to_string).collect();
        if known.is_empty() {
            return Ok(sources.iter().map(|_| None).collect());
        }
        let sql = format!(
            "SELECT a.attrelid::text, a.attnum::text, c.relname::text, a.attname::text FROM pg_catalog.pg_attribute a \
             JOIN pg_catalog.pg_class c ON c.oid = a.attrelid WHERE a.attnum > 0 AND a.attrelid IN ({})",
            known.join(", ")
        );
        let mut rows = Rows::new();
        self.text(&sql, false, &mut rows).await?;
        let mut names = HashMap::new();
        for row in rows.iter() {
            let [table, column] = [2, 3].map(|at| row.text(at).map(str::to_owned));
            let number = (row.text(0)?.parse::<u32>(), row.text(1)?.parse::<i16>());
            if let (Ok(of), Ok(place)) = number {
                names.insert((of, place), ColumnSource { table: table?, column: column? });
            }
        }
        Ok(sources.iter().map(|source| names.get(source).cloned()).collect())
    }

    fn effect(&self) -> RowEffect {
        RowEffect { changed: Some(self.touched), ..RowEffect::default() }
    }

    async fn pipeline(&mut self, step: Pipeline) -> Result<(), DbError> {
        match step {
            Pipeline::Start if self.shared.protocol() == Protocol::Simple => {
                let message = "a pipeline needs --protocol prepared or extended, not simple";
                Err(DbError::new(ErrorClass::Unsupported, message))
            }
            Pipeline::Start => {
                if self.changes > 0 {
                    for index in 0..self.statements.len() {
                        self.refresh(index).await?;
                    }
                }
                self.connection.get_mut().start_pipeline().await
            }
            Pipeline::Sync => self.connection.get_mut().sync_pipeline(),
            Pipeline::End => {
                let ended = self.connection.get_mut().end_pipeline().await;
                ended.map_err(|error| self.failed(None, error).failed_commit())
            }
        }
    }

    async fn stream(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        batch: &mut Rows,
        each: &mut dyn FnMut(&Rows),
    ) -> Result<(), DbError> {
        let hand_on = |rows: &mut Rows| {
            if rows.bytes() >= BATCH_BYTES {
                each(rows);
                rows.reset(rows.width());
            }
        };
        self.fetch(id, args, Some(batch), (false, Then::Sync), hand_on).await?;
        if !batch.is_empty() {
            each(batch);
        }
        Ok(())
    }

    fn pipelining(&self) -> Pipelining {
        self.pipelining
    }

    async fn begin(&mut self, access: Access) -> Result<(), DbError> {
        self.begin_with(begin_text(access, self.shared.isolation)).await
    }

    async fn begin_isolated(&mut self, access: Access, level: Isolation) -> Result<(), DbError> {
        self.begin_with(begin_text(access, Some(level))).await
    }

    async fn begin_at(&mut self, name: &str) -> Result<(), DbError> {
        let begin = begin_text(Access::Snapshot, None);
        let literal = quote_literal(name);
        self.batch(&format!("{begin}; SET TRANSACTION SNAPSHOT {literal}")).await
    }

    async fn share_snapshot(&mut self) -> Result<Option<String>, DbError> {
        let mut answer = self.ask(&format!("{KEEP_OPEN}; SELECT pg_export_snapshot()")).await?;
        Ok(answer.pop().and_then(|mut row| row.pop()).flatten())
    }

    async fn commit(&mut self) -> Result<(), DbError> {
        if self.is_closed() {
            return Err(self.connection.get_mut().end());
        }
        let connection = self.connection.get_mut();
        connection.settled().await?;
        let has_failed = connection.status() == Status::Failed;
        if connection.has_deferred_begin() {
            connection.end_empty("COMMIT")?;
        } else {
            // The server itself would roll back a failed one, but not one that was cancelled
            // half-way.
            connection.query(if has_failed { "ROLLBACK" } else { "COMMIT" })?;
        }
        let mut was_rolled_back = has_failed;
        let answer = connection.answer(|frame| {
            was_rolled_back |=
                frame.tag == backend::COMMAND_COMPLETE_TAG && frame.body == ROLLED_BACK;
            Ok(())
        });
        let result = answer.await;
        if !has_failed {
            result.map_err(DbError::failed_commit)?;
        }
        if was_rolled_back { Err(rolled_back()) } else { Ok(()) }
    }

    async fn rollback(&mut self) -> Result<(), DbError> {
        let connection = self.connection.get_mut();
        if connection.is_in_pipeline()
            && let Err(error) = connection.abandon_pipeline().await
            && error.class().loses_session()
        {
            return Err(error);
        }
        connection.settled().await?;
        connection.forget_begin();
        if connection.status() == Status::Idle {
            return Ok(());
        }
        self.batch("ROLLBACK").await
    }

    async fn load(&mut self, table: &TableDef, source: &mut dyn RowSource) -> Result<u64, DbError> {
        let result = self.copy(table, source).await;
        result.map_err(|error| error.context(format_args!("loading `{}`", table.name)))
    }

    fn is_closed(&self) -> bool {
        self.connection.borrow_mut().is_closed()
    }

    fn ended_idle(&mut self) -> Option<DbError> {
        let connection = self.connection.get_mut();
        connection.is_closed().then(|| connection.end())
    }

    fn take_unconfirmed(&mut self) -> Option<String> {
        self.connection.get_mut().take_unconfirmed()
    }

    fn login_times(&self) -> LoginTimes {
        self.login
    }

    fn canceller(&self) -> Box<dyn Canceller> {
        Box::new(PostgresCanceller {
            key: self.greeting.key,
            route: self.route.clone(),
            shared: self.shared.clone(),
        })
    }

    /// Sends an empty query, which the server answers without doing anything.
    async fn ping(&mut self) -> Result<bool, DbError> {
        self.batch("").await?;
        Ok(true)
    }

    async fn close(self) {
        self.end().await;
    }
}

/// The text that begins a transaction. It contains the level, which is not only set as the
/// session's default, because poolers may assign another session to each transaction.
fn begin_text(access: Access, isolation: Option<Isolation>) -> &'static str {
    use Isolation as I;
    match (access, isolation) {
        (Access::Write, None) => "BEGIN",
        (Access::Write, Some(I::ReadUncommitted)) => "BEGIN ISOLATION LEVEL READ UNCOMMITTED",
        (Access::Write, Some(I::ReadCommitted)) => "BEGIN ISOLATION LEVEL READ COMMITTED",
        (Access::Write, Some(I::RepeatableRead | I::Snapshot)) => {
            "BEGIN ISOLATION LEVEL REPEATABLE READ"
        }
        (Access::Write, Some(I::Serializable)) => "BEGIN ISOLATION LEVEL SERIALIZABLE",
        (Access::Read, None) => "BEGIN READ ONLY",
        (Access::Read, Some(I::ReadUncommitted)) => {
            "BEGIN ISOLATION LEVEL READ UNCOMMITTED READ ONLY"
        }
        (Access::Read, Some(I::ReadCommitted)) => "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY",
        (Access::Read, Some(I::Serializable)) => "BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY",
        (Access::Read, Some(I::RepeatableRead | I::Snapshot)) | (Access::Snapshot, _) => {
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        }
    }
}

/// Quotes a name, whatever it contains.
pub(super) fn quote_identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Quotes a string, whatever it contains.
pub(super) fn quote_literal(text: &str) -> String {
    let doubled = text.replace('\'', "''");
    if doubled.contains('\\') {
        format!("E'{}'", doubled.replace('\\', "\\\\"))
    } else {
        format!("'{doubled}'")
    }
}

/// Cancels on a separate connection, as the protocol requires.
struct PostgresCanceller {
    key: CancelKey,
    route: Route,
    shared: Arc<Shared>,
}

impl Canceller for PostgresCanceller {
    fn cancel(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async {
            let asked = timeout(GOODBYE_LIMIT, self.shared.cancel(&self.route, self.key)).await;
            match asked {
                Ok(Ok(())) => {}
                Ok(Err(error)) => {
                    tracing::debug!("could not send the cancel request: {}", error.class());
                }
                Err(_) => tracing::debug!("timed out sending the cancel request"),
            }
        })
    }

    fn is_at_work(&self) -> IsAtWork<'_> {
        let (shared, key) = (self.shared.clone(), self.key);
        Box::pin(async move { shared.is_at_work(key).await })
    }
}
