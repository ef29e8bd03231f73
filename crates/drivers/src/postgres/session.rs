//! A session: one connection, its statements and its transaction.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{SinkExt, TryStreamExt};
use tokio::time::timeout;
use tokio_postgres::types::Type;
use tokio_postgres::{
    CancelToken, Client, CopyInSink, Row as PgRow, RowStream, SimpleQueryMessage, Statement,
};
use triphammer_core::rows::Rows;
use triphammer_core::session::{
    Access, Canceller, Claim, Isolation, Protocol, RowSource, ServerInfo, Session, StatementId,
};
use triphammer_core::sql::BoundStatement;
use triphammer_core::workload::TableDef;
use triphammer_core::{DbError, ErrorClass, Value};

use super::codec::{
    Arg, COPY_HEAD, COPY_TAIL, Kind, Misfit, Raw, Wire, put_copy_row, read_field, type_of,
};
use super::database::{Opened, Route, Shared};
use super::error::closed;
use super::link::{Failure, Link};
use super::text::{self, Template, wrong_count};

/// Bytes of a bulk load that are sent as one message.
const CHUNK_BYTES: usize = 128 * 1024;
/// Room beyond a chunk for the row that passes its end.
const CHUNK_SLACK_BYTES: usize = 8 * 1024;
/// Bytes of a result that are handed on as one batch of a stream.
const BATCH_BYTES: usize = 1024 * 1024;
/// How long an orderly end or a cancel may take.
const GOODBYE_LIMIT: Duration = Duration::from_secs(5);

/// One connection to a PostgreSQL server.
pub struct PostgresSession {
    client: Client,
    link: Link,
    statements: Vec<Prepared>,
    transaction: Transaction,
    /// The text of the statement that the simple protocol sends, kept for its memory.
    text: String,
    route: Route,
    shared: Arc<Shared>,
}

/// A statement as the session's protocol keeps it.
enum Prepared {
    /// On the server, with how its columns are read.
    OnServer { statement: Statement, kinds: Box<[Kind]> },
    /// Here, with the types of its parameters.
    Here { sql: String, types: Box<[Type]> },
    /// Here, cut at its placeholders.
    Text(Template),
}

/// What is known of the transaction. While a call is under way in an open one it counts as failed, so
/// that a call given up half-way leaves the right state behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transaction {
    None,
    Open,
    Failed,
}

impl PostgresSession {
    pub(super) fn new(opened: Opened, shared: Arc<Shared>) -> Self {
        Self {
            client: opened.client,
            link: Link::new(opened.connection),
            statements: Vec::new(),
            transaction: Transaction::None,
            text: String::new(),
            route: opened.route,
            shared,
        }
    }

    /// Runs what every new session begins with.
    pub(super) async fn set_up(&mut self, sql: &str) -> Result<(), DbError> {
        self.batch(sql).await.map_err(|error| error.context("setting the session up"))
    }

    /// Whether new transactions cannot write.
    pub(super) async fn is_read_only(&self) -> Result<bool, DbError> {
        let answer = self.ask("SHOW transaction_read_only").await?;
        Ok(answer.first().is_some_and(|row| row[0].as_deref() == Some("on")))
    }

    /// Makes a database; false when it is there.
    pub(super) async fn create_database(&self, name: &str) -> Result<bool, DbError> {
        let literal = quote_literal(name);
        let there =
            self.ask(&format!("SELECT 1 FROM pg_database WHERE datname = {literal}")).await?;
        if !there.is_empty() {
            return Ok(false);
        }
        match self.batch(&format!("CREATE DATABASE {}", quote_identifier(name))).await {
            Ok(()) => Ok(true),
            // Somebody else was faster.
            Err(error) if matches!(error.code(), Some("42P04" | "23505")) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Says goodbye.
    pub(super) async fn end(self) {
        let Self { client, link, statements, .. } = self;
        // The library sends its farewell when nothing can ask it for anything any more.
        drop(statements);
        drop(client);
        // Whoever does not hear a farewell in time sees the connection end.
        let _ = timeout(GOODBYE_LIMIT, link.finish()).await;
    }

    /// Runs SQL text whose rows nobody wants.
    async fn batch(&self, sql: &str) -> Result<(), DbError> {
        self.link.drive(async { Ok(self.client.batch_execute(sql).await?) }).await
    }

    /// Runs SQL text and gives its rows as text, for the few questions that are asked once.
    async fn ask(&self, sql: &str) -> Result<Vec<Vec<Option<String>>>, DbError> {
        let messages = self.link.drive(async { Ok(self.client.simple_query(sql).await?) }).await?;
        let rows = messages.iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => {
                Some((0..row.len()).map(|column| row.get(column).map(str::to_owned)).collect())
            }
            _ => None,
        });
        Ok(rows.collect())
    }

    /// Notes that a call begins; the result is to be given to [`PostgresSession::leave`].
    fn enter(&mut self) -> Transaction {
        let before = self.transaction;
        if before == Transaction::Open {
            self.transaction = Transaction::Failed;
        }
        before
    }

    fn leave<T>(&mut self, before: Transaction, result: Result<T, DbError>) -> Result<T, DbError> {
        if result.is_ok() {
            self.transaction = before;
        }
        result
    }

    /// Runs a statement and reads its rows into `rows`, calling `after_row` after each. Gives the number
    /// of rows touched.
    async fn fetch(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        rows: &mut Rows,
        lists: bool,
        after_row: impl FnMut(&mut Rows),
    ) -> Result<u64, DbError> {
        let before = self.enter();
        let Self { client, link, statements, text, .. } = self;
        let result = match statements.get(id.index()) {
            Some(Prepared::OnServer { statement, kinds }) => {
                rows.reset(kinds.len());
                let call = async {
                    let stream = client.query_raw(statement, args.iter().map(Arg)).await?;
                    read_rows(stream, Some(kinds), rows, after_row).await
                };
                link.drive(call).await
            }
            Some(Prepared::Here { types, .. }) if types.len() != args.len() => {
                Err(wrong_count(types.len(), args.len()))
            }
            Some(Prepared::Here { sql, types }) => {
                rows.reset(0);
                let call = async {
                    let params = args.iter().map(Arg).zip(types.iter().cloned());
                    let stream = client.query_typed_raw(sql, params).await?;
                    read_rows(stream, None, rows, after_row).await
                };
                link.drive(call).await
            }
            Some(Prepared::Text(template)) => match template.fill(args, text) {
                Ok(()) => link.drive(read_texts(client, text, rows, lists, after_row)).await,
                Err(error) => Err(error),
            },
            None => Err(DbError::new(ErrorClass::Other, "no such statement is prepared")),
        };
        self.leave(before, result)
    }

    async fn begin_with(&mut self, sql: &str) -> Result<(), DbError> {
        let before = self.transaction;
        self.transaction = Transaction::Failed;
        let result = self.batch(sql).await;
        self.transaction = match &result {
            Ok(()) => Transaction::Open,
            // In no transaction, or in the one that was there, which is failed now.
            Err(_) if before == Transaction::None => Transaction::None,
            Err(_) => Transaction::Failed,
        };
        result
    }

    async fn copy(&mut self, table: &TableDef, source: &mut dyn RowSource) -> Result<u64, DbError> {
        let wires: Vec<_> = table.columns.iter().map(|c| Wire::of(c.column_type)).collect();
        let mut sink = pin!(self.begin_copy(table).await?);
        let mut batch = Rows::new();
        let mut chunk = new_chunk();
        chunk.extend_from_slice(&COPY_HEAD);
        loop {
            batch.reset(wires.len());
            let more = source.fill(&mut batch);
            if batch.has_partial_row() {
                let message = format!("the rows for `{}` end within a row", table.name);
                return Err(DbError::new(ErrorClass::Other, message));
            }
            for row in batch.iter() {
                put_copy_row(&mut chunk, &row, &wires).map_err(Misfit::into_error)?;
                if chunk.len() >= CHUNK_BYTES {
                    let full = std::mem::replace(&mut chunk, new_chunk());
                    self.send(sink.as_mut(), full).await?;
                }
            }
            if !more {
                break;
            }
        }
        chunk.extend_from_slice(&COPY_TAIL);
        self.send(sink.as_mut(), chunk).await?;
        self.link.drive(async { Ok(sink.finish().await?) }).await
    }

    /// Has the server wait for rows. A COPY that is refused before its first row costs the session: the
    /// library ends it twice, and all later answers would be taken for those of the call before. So
    /// what may be refused, and any waiting for locks, comes before it, in a statement for no row.
    async fn begin_copy(&self, table: &TableDef) -> Result<CopyInSink<Bytes>, DbError> {
        let name = quote_identifier(table.name);
        let columns: Vec<_> = table.columns.iter().map(|c| quote_identifier(c.name)).collect();
        let columns = columns.join(", ");
        let check =
            format!("INSERT INTO {name} ({columns}) SELECT {columns} FROM {name} WHERE false");
        self.batch(&check).await?;
        let sql = format!("COPY {name} ({columns}) FROM STDIN (FORMAT binary)");
        let begin = async { Ok(self.client.copy_in::<str, Bytes>(&sql).await?) };
        self.link.drive(begin).await.inspect_err(|_| self.link.give_up())
    }

    /// Hands a chunk over, and to the system as much as it takes at once: the server reads that while
    /// the next chunk is made.
    async fn send(
        &self,
        mut sink: Pin<&mut CopyInSink<Bytes>>,
        chunk: Vec<u8>,
    ) -> Result<(), DbError> {
        let feed = async { Ok(sink.feed(Bytes::from(chunk)).await?) };
        self.link.drive(feed).await?;
        self.link.nudge().await;
        Ok(())
    }
}

fn new_chunk() -> Vec<u8> {
    Vec::with_capacity(CHUNK_BYTES + CHUNK_SLACK_BYTES)
}

/// Reads rows in binary. Without `kinds` each row's own columns say how.
async fn read_rows(
    stream: RowStream,
    kinds: Option<&[Kind]>,
    rows: &mut Rows,
    mut after_row: impl FnMut(&mut Rows),
) -> Result<u64, Failure> {
    let mut stream = pin!(stream);
    let mut found: Vec<Kind> = Vec::new();
    while let Some(row) = stream.as_mut().try_next().await? {
        match kinds {
            Some(kinds) => read_row(&row, kinds, rows)?,
            None => {
                if found.is_empty() {
                    found.extend(row.columns().iter().map(|column| Kind::of(column.type_())));
                    rows.reset(found.len());
                }
                read_row(&row, &found, rows)?;
            }
        }
        after_row(rows);
    }
    Ok(stream.rows_affected().unwrap_or(0))
}

#[inline]
fn read_row(row: &PgRow, kinds: &[Kind], rows: &mut Rows) -> Result<(), Failure> {
    for (index, kind) in kinds.iter().enumerate() {
        let raw: Raw<'_> = row.try_get(index)?;
        read_field(rows, *kind, raw.0).map_err(|problem| {
            let column = &row.columns()[index];
            Failure::Ours(problem.error(column.name(), column.type_().name()))
        })?;
    }
    Ok(())
}

/// Sends a text and reads its rows, which come as text too.
async fn read_texts(
    client: &Client,
    sql: &str,
    rows: &mut Rows,
    lists: bool,
    mut after_row: impl FnMut(&mut Rows),
) -> Result<u64, Failure> {
    rows.reset(0);
    let mut stream = pin!(client.simple_query_raw(sql).await?);
    let mut touched = 0;
    while let Some(message) = stream.as_mut().try_next().await? {
        match message {
            SimpleQueryMessage::RowDescription(columns) => rows.reset(columns.len()),
            SimpleQueryMessage::Row(row) => {
                for column in 0..row.len() {
                    text::read_field(rows, row.try_get(column)?, lists);
                }
                after_row(rows);
            }
            SimpleQueryMessage::CommandComplete(count) => touched = count,
            _ => {}
        }
    }
    Ok(touched)
}

impl Session for PostgresSession {
    async fn script(&mut self, sql: &str) -> Result<(), DbError> {
        // A script may hold a BEGIN of its own, so after a failure nothing is certain.
        let before = std::mem::replace(&mut self.transaction, Transaction::Failed);
        let result = self.batch(sql).await;
        self.leave(before, result)
    }

    async fn prepare(&mut self, statement: &BoundStatement) -> Result<StatementId, DbError> {
        let types: Vec<_> = statement.params.iter().map(|p| type_of(p.param_type)).collect();
        let prepared = match self.shared.protocol {
            Protocol::Prepared => {
                let before = self.enter();
                let call = async { Ok(self.client.prepare_typed(&statement.sql, &types).await?) };
                let result = self.link.drive(call).await;
                let on_server = self.leave(before, result)?;
                let kinds = on_server.columns().iter().map(|c| Kind::of(c.type_())).collect();
                Prepared::OnServer { statement: on_server, kinds }
            }
            Protocol::Extended => {
                Prepared::Here { sql: statement.sql.clone(), types: types.into() }
            }
            Protocol::Simple => Prepared::Text(Template::new(statement)?),
        };
        let id = u32::try_from(self.statements.len())
            .map_err(|_| DbError::new(ErrorClass::Unsupported, "too many statements"))?;
        self.statements.push(prepared);
        Ok(StatementId(id))
    }

    async fn execute(&mut self, id: StatementId, args: &[Value<'_>]) -> Result<u64, DbError> {
        if let Some(Prepared::OnServer { statement, .. }) = self.statements.get(id.index()) {
            let statement = statement.clone();
            let before = self.enter();
            let call =
                async { Ok(self.client.execute_raw(&statement, args.iter().map(Arg)).await?) };
            let result = self.link.drive(call).await;
            return self.leave(before, result);
        }
        let mut rows = Rows::new();
        self.fetch(id, args, &mut rows, false, |rows| rows.reset(rows.width())).await
    }

    async fn query(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        rows: &mut Rows,
    ) -> Result<(), DbError> {
        self.fetch(id, args, rows, false, |_| {}).await?;
        Ok(())
    }

    async fn call(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        rows: &mut Rows,
    ) -> Result<(), DbError> {
        if self.is_closed() {
            return Err(closed());
        }
        let result = self.fetch(id, args, rows, true, |_| {}).await;
        result.map(drop).map_err(DbError::after_commit_sent)
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
        self.fetch(id, args, batch, false, hand_on).await?;
        if !batch.is_empty() {
            each(batch);
        }
        Ok(())
    }

    async fn begin(&mut self, access: Access) -> Result<(), DbError> {
        let sql = begin_text(access, self.shared.isolation);
        self.begin_with(sql).await
    }

    async fn begin_at(&mut self, name: &str) -> Result<(), DbError> {
        let begin = begin_text(Access::Snapshot, None);
        let literal = quote_literal(name);
        self.begin_with(&format!("{begin}; SET TRANSACTION SNAPSHOT {literal}")).await
    }

    async fn share_snapshot(&mut self) -> Result<Option<String>, DbError> {
        let before = self.enter();
        let answer = self.ask("SELECT pg_export_snapshot()").await;
        let mut answer = self.leave(before, answer)?;
        Ok(answer.pop().and_then(|mut row| row.pop()).flatten())
    }

    async fn commit(&mut self) -> Result<(), DbError> {
        if self.transaction == Transaction::Failed {
            // The server would answer a COMMIT with a ROLLBACK, which the library does not show.
            self.rollback().await?;
            let message = "the transaction had failed, so it was rolled back instead";
            return Err(DbError::new(ErrorClass::Other, message).with_code("25P02"));
        }
        if self.is_closed() {
            return Err(closed());
        }
        self.transaction = Transaction::Failed;
        let result = self.batch("COMMIT").await;
        self.transaction = Transaction::None;
        result.map_err(DbError::after_commit_sent)
    }

    async fn rollback(&mut self) -> Result<(), DbError> {
        if self.transaction == Transaction::None {
            return Ok(());
        }
        self.transaction = Transaction::Failed;
        self.batch("ROLLBACK").await?;
        self.transaction = Transaction::None;
        Ok(())
    }

    async fn load(&mut self, table: &TableDef, source: &mut dyn RowSource) -> Result<u64, DbError> {
        let before = self.enter();
        let result = self.copy(table, source).await;
        self.leave(before, result)
            .map_err(|error| error.context(format_args!("loading `{}`", table.name)))
    }

    fn is_closed(&self) -> bool {
        self.link.is_closed()
    }

    fn canceller(&self) -> Box<dyn Canceller> {
        Box::new(PostgresCanceller {
            token: self.client.cancel_token(),
            route: self.route.clone(),
            shared: self.shared.clone(),
        })
    }

    async fn server(&mut self) -> Result<ServerInfo, DbError> {
        let sql = "SELECT version(), current_setting('server_version'), \
                   (SELECT version || ' ' || cipher FROM pg_stat_ssl \
                    WHERE pid = pg_backend_pid() AND ssl)";
        let mut rows = self.ask(sql).await?;
        let mut fields = rows.pop().unwrap_or_default().into_iter();
        let mut next = || fields.next().flatten();
        let (product, version, cipher) = (next(), next(), next());
        let first_word = |text: String| text.split(' ').next().unwrap_or_default().to_owned();
        Ok(ServerInfo {
            product: product.map(first_word).unwrap_or_default(),
            version: version.unwrap_or_default(),
            transport: self.route.transport.to_owned(),
            // Behind a pooler the server knows of another connection than ours.
            cipher: self.route.has_tls.then(|| cipher.unwrap_or_else(|| "TLS".to_owned())),
            same_host: Some(self.route.same_host),
        })
    }

    async fn settings(&mut self) -> Result<Vec<(String, String)>, DbError> {
        let sql = "SELECT name, current_setting(name, true) FROM pg_settings ORDER BY name";
        let rows = self.ask(sql).await?;
        let pair = |row: Vec<Option<String>>| {
            let mut fields = row.into_iter().map(Option::unwrap_or_default);
            (fields.next().unwrap_or_default(), fields.next().unwrap_or_default())
        };
        Ok(rows.into_iter().map(pair).collect())
    }

    async fn transaction_count(&mut self) -> Result<Option<u64>, DbError> {
        let sql = "SELECT sum(xact_commit + xact_rollback)::int8 FROM pg_stat_database";
        let rows = self.ask(sql).await?;
        Ok(rows.first().and_then(|row| row.first()?.as_deref()?.parse().ok()))
    }

    /// A query without a statement in it, which the server answers without doing anything.
    async fn ping(&mut self) -> Result<bool, DbError> {
        self.batch("").await?;
        Ok(true)
    }

    async fn tables(&mut self) -> Result<Vec<String>, DbError> {
        let sql = "SELECT lower(c.relname) FROM pg_class c \
                   JOIN pg_namespace n ON n.oid = c.relnamespace \
                   WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') ORDER BY 1";
        let rows = self.ask(sql).await?;
        Ok(rows.into_iter().filter_map(|mut row| row.pop().flatten()).collect())
    }

    /// The claim lasts as long as the transaction that this opens and nobody ends: unlike a lock of the
    /// session, that works behind poolers that deal connections out by transaction.
    async fn claim(&mut self, name: &str, claim: Claim) -> Result<bool, DbError> {
        let function = match claim {
            Claim::Shared => "pg_try_advisory_xact_lock_shared",
            Claim::Exclusive => "pg_try_advisory_xact_lock",
        };
        let name = quote_literal(name);
        // Limits that end idle or long transactions would end the claim; older servers lack some.
        let sql = format!(
            "BEGIN; SELECT set_config(name, '0', true) FROM pg_settings WHERE name IN \
             ('idle_in_transaction_session_timeout', 'transaction_timeout'); \
             SELECT {function}(hashtextextended(\
             'triphammer/' || coalesce(current_schema(), '') || '/' || {name}, 0))"
        );
        self.transaction = Transaction::Failed;
        let answer = self.ask(&sql).await?;
        let has_it = answer.last().is_some_and(|row| row[0].as_deref() == Some("t"));
        if has_it {
            self.transaction = Transaction::Open;
        } else {
            self.rollback().await?;
        }
        Ok(has_it)
    }

    async fn close(self) {
        self.end().await;
    }
}

/// The text that begins a transaction. The level is in it, and not only in the session's default,
/// because poolers may deal out another session for each transaction.
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

/// A name as SQL has it, whatever is in it.
pub(super) fn quote_identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A string as SQL has it, whatever is in it.
fn quote_literal(text: &str) -> String {
    let doubled = text.replace('\'', "''");
    if doubled.contains('\\') {
        format!("E'{}'", doubled.replace('\\', "\\\\"))
    } else {
        format!("'{doubled}'")
    }
}

/// Cancels by a connection of its own, as the protocol wants it.
struct PostgresCanceller {
    token: CancelToken,
    route: Route,
    shared: Arc<Shared>,
}

impl Canceller for PostgresCanceller {
    fn cancel(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async {
            let asked = timeout(GOODBYE_LIMIT, self.shared.cancel(&self.route, &self.token)).await;
            match asked {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::debug!("could not ask to cancel: {error}"),
                Err(_) => tracing::debug!("could not ask to cancel in time"),
            }
        })
    }
}
