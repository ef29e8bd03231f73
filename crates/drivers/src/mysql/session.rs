//! A session: one connection, its statements and its transaction.

use std::fmt::Write as _;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;
use triphammer_core::rows::Rows;
use triphammer_core::session::{
    Access, Admin, Canceller, Claim, IsAtWork, RowSource, ServerInfo, ServerProcess, Session,
    StatementId,
};
use triphammer_core::sql::BoundStatement;
use triphammer_core::workload::TableDef;
use triphammer_core::{ColumnType, DbError, ErrorClass, Value};

use super::codec::{Kind, Reader, put_value, read_row, read_texts, type_of};
use super::database::{Product, Route, Shared};
use super::error::broken;
use super::obstacles;
use super::wire::Wire;
use crate::answer::{ANSWER_BYTES_MAX, Room, too_large};
use crate::stream::closed;

/// Commands of the protocol.
mod command {
    pub const QUIT: u8 = 0x01;
    pub const QUERY: u8 = 0x03;
    pub const PING: u8 = 0x0e;
    pub const PREPARE: u8 = 0x16;
    pub const EXECUTE: u8 = 0x17;
    pub const CLOSE: u8 = 0x19;
}

/// What a server's process is called.
const PROCESS_NAMES: &[&str] = &["mariadbd", "mysqld"];
/// Flags that the server sends with the end of each result.
const IN_TRANSACTION: u16 = 0x0001;
const MORE_RESULTS: u16 = 0x0008;
/// Bytes of a result that are handed on as one batch of a stream.
const BATCH_BYTES: usize = 1024 * 1024;
/// Most columns that a result has; servers allow 4096.
const COLUMNS_MAX: u64 = 65_535;
/// How long an orderly end or a cancel may take.
const GOODBYE_LIMIT: Duration = Duration::from_secs(5);
/// How many may hold a claim shared at the same time.
const CLAIM_PLACES: u32 = 32;
/// Seconds of idleness that the server allows the holder of a claim: as many as there can be.
const CLAIM_SECONDS: u32 = 31_536_000;
/// Settings whose values may hold passwords.
const SECRET_SETTINGS: [&str; 2] = ["wsrep_sst_auth", "wsrep_provider_options"];
/// What is listed among the settings and set by nobody: the clock, the session's last statements, and how far
/// the log of changes has come.
const NO_SETTINGS: [&str; 20] = [
    "error_count",
    "gtid_binlog_pos",
    "gtid_binlog_state",
    "gtid_current_pos",
    "gtid_executed",
    "gtid_owned",
    "gtid_purged",
    "gtid_slave_pos",
    "identity",
    "in_transaction",
    "insert_id",
    "last_gtid",
    "last_insert_id",
    "original_commit_timestamp",
    "pseudo_thread_id",
    "rand_seed1",
    "rand_seed2",
    "statement_id",
    "timestamp",
    "warning_count",
];

/// One connection to a MySQL or MariaDB server.
pub struct MysqlSession {
    pub(super) wire: Wire,
    statements: Vec<Prepared>,
    /// How the columns of the result under way are read, kept for its memory.
    kinds: Vec<Kind>,
    /// Whether a transaction is, or may be, open.
    open: bool,
    /// Rows of questions of our own, kept for their memory.
    answer: Rows,
    pub(super) route: Route,
    pub(super) shared: Arc<Shared>,
}

/// A statement on the server.
struct Prepared {
    id: u32,
    /// For each placeholder, the place of its argument and its type.
    placeholders: Box<[(usize, ColumnType)]>,
    /// Number of arguments.
    params: usize,
}

/// What ends each result.
#[derive(Clone, Copy)]
pub(super) struct Ended {
    pub(super) touched: u64,
    pub(super) warnings: u16,
    status: u16,
}

/// How the fields of a result are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Binary { lists: bool },
    Text,
}

impl MysqlSession {
    pub(super) fn new(wire: Wire, route: Route, shared: Arc<Shared>) -> Self {
        Self {
            wire,
            statements: Vec::new(),
            kinds: Vec::new(),
            open: false,
            answer: Rows::new(),
            route,
            shared,
        }
    }

    /// Runs SQL text whose rows nobody wants.
    pub(super) async fn batch(&mut self, sql: &str) -> Result<Ended, DbError> {
        self.wire.command(command::QUERY)?.extend_from_slice(sql.as_bytes());
        self.wire.send().await?;
        let mut rows = std::mem::take(&mut self.answer);
        let result = self.results(&mut rows, Form::Text, pass_over).await;
        self.answer = rows;
        result
    }

    /// Runs SQL text and gives its rows as text, for the few questions that are asked once.
    pub(super) async fn ask(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, DbError> {
        self.wire.command(command::QUERY)?.extend_from_slice(sql.as_bytes());
        self.wire.send().await?;
        let mut rows = Rows::new();
        let mut room = Room::of_question();
        let mut seen = 0;
        self.results(&mut rows, Form::Text, |rows| {
            let before = std::mem::replace(&mut seen, rows.bytes());
            room.take(seen.saturating_sub(before))
        })
        .await?;
        let field = |row: &triphammer_core::Row<'_>, column| {
            let text = row.optional(column, triphammer_core::Row::text).ok().flatten();
            text.map(str::to_owned)
        };
        Ok(rows.iter().map(|row| (0..row.len()).map(|at| field(&row, at)).collect()).collect())
    }

    /// Begins an `EXECUTE` and sends it.
    async fn send_execute(&mut self, id: StatementId, args: &[Value<'_>]) -> Result<(), DbError> {
        let Some(statement) = self.statements.get(id.index()) else {
            return Err(DbError::new(ErrorClass::Other, "no such statement is prepared"));
        };
        if statement.params != args.len() {
            let (wanted, given) = (statement.params, args.len());
            let message = format!("{given} arguments are given for {wanted} parameters");
            return Err(DbError::new(ErrorClass::Other, message));
        }
        let out = self.wire.command(command::EXECUTE)?;
        let values = statement.placeholders.iter().map(|(place, column)| (&args[*place], *column));
        if let Err(error) = put_execute(out, statement.id, values) {
            self.wire.take_back();
            return Err(error);
        }
        self.wire.send().await
    }

    /// Runs a statement that the session has prepared.
    async fn run(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        rows: &mut Rows,
        lists: bool,
        after_row: impl FnMut(&mut Rows) -> Result<(), DbError>,
    ) -> Result<Ended, DbError> {
        self.send_execute(id, args).await?;
        self.results(rows, Form::Binary { lists }, after_row).await
    }

    /// Reads all results of a command to their end. The rows of the last result that has columns stay.
    async fn results(
        &mut self,
        rows: &mut Rows,
        form: Form,
        mut after_row: impl FnMut(&mut Rows) -> Result<(), DbError>,
    ) -> Result<Ended, DbError> {
        rows.reset(0);
        let mut problem = None;
        loop {
            let packet = self.wire.answer().await?;
            let ended = match *packet {
                [0x00, ref rest @ ..] => read_end(rest)?,
                // The server asks for a file. It gets none.
                [0xfb, ..] => {
                    self.wire.reply();
                    self.wire.send().await?;
                    continue;
                }
                _ => {
                    let columns = Reader(packet).number()?;
                    self.rows_of(columns, rows, form, &mut after_row, &mut problem).await?
                }
            };
            if ended.status & MORE_RESULTS == 0 {
                self.wire.done();
                self.open = ended.status & IN_TRANSACTION != 0;
                return problem.map_or(Ok(ended), |error: DbError| Err(error.unread()));
            }
        }
    }

    /// Reads the columns and rows of one result, to its end even when a row cannot be read: the
    /// `problem` is told, and the session stays in step with the server.
    async fn rows_of(
        &mut self,
        columns: u64,
        rows: &mut Rows,
        form: Form,
        after_row: &mut impl FnMut(&mut Rows) -> Result<(), DbError>,
        problem: &mut Option<DbError>,
    ) -> Result<Ended, DbError> {
        if columns > COLUMNS_MAX {
            return Err(broken("a number of columns"));
        }
        self.kinds.clear();
        rows.set_names([]);
        for _ in 0..columns {
            let packet = self.wire.answer().await?;
            self.kinds.push(Kind::read(packet)?);
            if rows.wants_names() {
                rows.add_name(Kind::name_in(packet)?);
            }
        }
        rows.reset(self.kinds.len());
        loop {
            let packet = self.wire.answer().await?;
            let read = match (packet, form) {
                ([0xfe, rest @ ..], _) => return read_end(rest),
                _ if problem.is_some() => continue,
                (row, Form::Binary { lists }) => read_row(rows, row, &self.kinds, lists),
                (row, Form::Text) => read_texts(rows, row),
            };
            match read {
                Ok(()) => after_row(rows).inspect_err(|_| self.wire.give_up())?,
                Err(error) if error.class().loses_session() => return Err(error),
                // What is in the buffer is no whole row.
                Err(error) => {
                    *problem = Some(error);
                    rows.reset(self.kinds.len());
                }
            }
        }
    }

    /// Begins a `LOAD DATA LOCAL`; an error when the server refuses it.
    pub(super) async fn begin_load(&mut self, sql: &str) -> Result<(), DbError> {
        self.wire.command(command::QUERY)?.extend_from_slice(sql.as_bytes());
        self.wire.send().await?;
        let packet = self.wire.answer().await?;
        match packet {
            [0xfb, ..] => Ok(()),
            _ => Err(broken("no request for rows")),
        }
    }

    /// Reads what a `LOAD DATA LOCAL` comes to.
    pub(super) async fn end_load(&mut self) -> Result<Ended, DbError> {
        self.results(&mut Rows::new(), Form::Text, pass_over).await
    }

    /// Prepares a statement on the server: its id and the number of its placeholders.
    async fn prepare_text(&mut self, sql: &str) -> Result<(u32, usize), DbError> {
        self.wire.command(command::PREPARE)?.extend_from_slice(sql.as_bytes());
        self.wire.send().await?;
        let packet = self.wire.answer().await?;
        let mut rest = match *packet {
            [0x00, ref rest @ ..] => Reader(rest),
            _ => return Err(broken("a prepared statement")),
        };
        let id = u32::from_le_bytes(rest.fixed()?);
        let columns = u16::from_le_bytes(rest.fixed()?);
        let params = u16::from_le_bytes(rest.fixed()?);
        for _ in 0..u32::from(columns) + u32::from(params) {
            self.wire.answer().await?;
        }
        self.wire.done();
        Ok((id, usize::from(params)))
    }

    /// Runs a text with placeholders once, for bulk inserts.
    pub(super) async fn insert<'a>(
        &mut self,
        id: u32,
        values: impl Iterator<Item = (&'a Value<'a>, ColumnType)> + Clone,
    ) -> Result<Ended, DbError> {
        let out = self.wire.command(command::EXECUTE)?;
        if let Err(error) = put_execute(out, id, values) {
            self.wire.take_back();
            return Err(error);
        }
        self.wire.send().await?;
        self.results(&mut Rows::new(), Form::Binary { lists: false }, pass_over).await
    }

    /// Prepares a bulk insert.
    pub(super) async fn prepare_insert(&mut self, sql: &str) -> Result<u32, DbError> {
        Ok(self.prepare_text(sql).await?.0)
    }

    /// Forgets a bulk insert; the server does not answer.
    pub(super) async fn forget(&mut self, id: u32) -> Result<(), DbError> {
        self.wire.command(command::CLOSE)?.extend_from_slice(&id.to_le_bytes());
        self.wire.send().await?;
        self.wire.done();
        Ok(())
    }

    async fn begin_with(&mut self, sql: &str) -> Result<(), DbError> {
        self.batch(sql).await?;
        self.open = true;
        Ok(())
    }
}

/// Nobody wants this row.
#[expect(clippy::unnecessary_wraps, reason = "as those do that may give an answer up")]
fn pass_over(rows: &mut Rows) -> Result<(), DbError> {
    rows.reset(rows.width());
    Ok(())
}

/// All rows of the answer are kept.
fn keep(rows: &mut Rows) -> Result<(), DbError> {
    if rows.bytes() > ANSWER_BYTES_MAX { Err(too_large()) } else { Ok(()) }
}

/// Writes the content of an `EXECUTE`.
fn put_execute<'a>(
    out: &mut Vec<u8>,
    id: u32,
    values: impl Iterator<Item = (&'a Value<'a>, ColumnType)> + Clone,
) -> Result<(), DbError> {
    out.extend_from_slice(&id.to_le_bytes());
    // No cursor, once.
    out.extend_from_slice(&[0, 1, 0, 0, 0]);
    let nulls_at = out.len();
    for (place, (value, _)) in values.clone().enumerate() {
        if place % 8 == 0 {
            out.push(0);
        }
        if *value == Value::Null {
            out[nulls_at + place / 8] |= 1 << (place % 8);
        }
    }
    if out.len() == nulls_at {
        return Ok(());
    }
    // The types follow.
    out.push(1);
    for (value, _) in values.clone() {
        out.extend_from_slice(&[type_of(value), 0]);
    }
    for (value, column) in values {
        put_value(out, value, column)?;
    }
    Ok(())
}

fn read_end(packet: &[u8]) -> Result<Ended, DbError> {
    let mut rest = Reader(packet);
    let touched = rest.number()?;
    // The last number that an insert has made.
    rest.number()?;
    let status = u16::from_le_bytes(rest.fixed()?);
    let warnings = u16::from_le_bytes(rest.fixed()?);
    Ok(Ended { touched, warnings, status })
}

impl Session for MysqlSession {
    async fn script(&mut self, sql: &str) -> Result<(), DbError> {
        let was_open = self.open;
        match self.batch(sql).await {
            Ok(_) => Ok(()),
            // A text without a statement in it.
            Err(error) if error.code() == Some("1065") => Ok(()),
            Err(error) => {
                // A script may have begun a transaction before it failed.
                self.open = was_open || !self.wire.is_closed();
                Err(error)
            }
        }
    }

    async fn prepare(&mut self, statement: &BoundStatement) -> Result<StatementId, DbError> {
        let id = u32::try_from(self.statements.len())
            .map_err(|_| DbError::new(ErrorClass::Unsupported, "too many statements"))?;
        let (on_server, params) = self.prepare_text(&statement.sql).await?;
        if params != statement.order.len() {
            let message = format!(
                "`{}` has {params} placeholders for {} arguments",
                statement.name,
                statement.order.len()
            );
            return Err(DbError::new(ErrorClass::Unsupported, message));
        }
        let placeholder = |place: &usize| (*place, statement.params[*place].param_type);
        self.statements.push(Prepared {
            id: on_server,
            placeholders: statement.order.iter().map(placeholder).collect(),
            params: statement.params.len(),
        });
        Ok(StatementId(id))
    }

    async fn execute(&mut self, id: StatementId, args: &[Value<'_>]) -> Result<u64, DbError> {
        let mut rows = std::mem::take(&mut self.answer);
        let result = self.run(id, args, &mut rows, false, pass_over).await;
        self.answer = rows;
        Ok(result?.touched)
    }

    async fn query(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        rows: &mut Rows,
    ) -> Result<(), DbError> {
        self.run(id, args, rows, false, keep).await.map(drop)
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
        match self.run(id, args, rows, true, keep).await {
            // An answer that could not be read changes nothing about that.
            ended if self.open && ended.as_ref().map_or_else(DbError::is_unread, |_| true) => {
                self.rollback().await?;
                let message = "the procedure left its transaction open, so it was rolled back";
                Err(DbError::new(ErrorClass::Other, message))
            }
            Ok(_) => Ok(()),
            Err(error) if error.is_unread() => Err(error),
            Err(error) => {
                // A procedure that fails leaves the transaction that it began to its caller.
                self.open = true;
                Err(error.after_commit_sent())
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
            Ok(())
        };
        self.run(id, args, batch, false, hand_on).await?;
        if !batch.is_empty() {
            each(batch);
        }
        Ok(())
    }

    async fn begin(&mut self, access: Access) -> Result<(), DbError> {
        self.begin_with(match access {
            Access::Write => "START TRANSACTION",
            Access::Read => "START TRANSACTION READ ONLY",
            Access::Snapshot => {
                "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; \
                 START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"
            }
        })
        .await
    }

    async fn commit(&mut self) -> Result<(), DbError> {
        if self.is_closed() {
            return Err(closed());
        }
        let result = self.batch("COMMIT").await;
        self.open = false;
        result.map(drop).map_err(DbError::after_commit_sent)
    }

    async fn rollback(&mut self) -> Result<(), DbError> {
        if self.open {
            self.batch("ROLLBACK").await?;
            self.open = false;
        }
        Ok(())
    }

    async fn load(&mut self, table: &TableDef, source: &mut dyn RowSource) -> Result<u64, DbError> {
        super::load::load(self, table, source)
            .await
            .map_err(|error| error.context(format_args!("loading `{}`", table.name)))
    }

    fn is_closed(&self) -> bool {
        self.wire.is_closed()
    }

    fn canceller(&self) -> Box<dyn Canceller> {
        Box::new(MysqlCanceller { thread: self.route.thread, shared: self.shared.clone() })
    }

    async fn ping(&mut self) -> Result<bool, DbError> {
        self.wire.command(command::PING)?;
        self.wire.send().await?;
        let open = self.open;
        self.results(&mut Rows::new(), Form::Text, pass_over).await?;
        self.open = open;
        Ok(true)
    }

    async fn close(mut self) {
        let farewell = async {
            if self.wire.command(command::QUIT).is_ok() && self.wire.send().await.is_ok() {
                self.wire.shut_down().await;
            }
        };
        // Whoever does not hear a farewell in time sees the connection end.
        let _ = timeout(GOODBYE_LIMIT, farewell).await;
    }
}

impl Admin for MysqlSession {
    async fn server(&mut self) -> Result<ServerInfo, DbError> {
        let mut rows = self.ask("SELECT VERSION()").await?;
        let version = rows.pop().and_then(|mut row| row.pop()).flatten().unwrap_or_default();
        let product = Product::of(&version);
        Ok(ServerInfo {
            product: product.name().to_owned(),
            version: version.split("-MariaDB").next().unwrap_or_default().to_owned(),
            transport: self.route.transport.to_owned(),
            cipher: self.wire.cipher(),
            same_host: Some(self.route.same_host),
        })
    }

    async fn settings(&mut self) -> Result<Vec<(String, String)>, DbError> {
        let rows = self.ask("SHOW VARIABLES").await?;
        let pair = |row: Vec<Option<String>>| {
            let mut fields = row.into_iter().map(Option::unwrap_or_default);
            let name = fields.next().unwrap_or_default();
            let value = fields.next().unwrap_or_default();
            let is_secret = SECRET_SETTINGS.contains(&name.as_str()) && !value.is_empty();
            (name, if is_secret { "***".to_owned() } else { value })
        };
        let is_set = |(name, _): &(String, String)| !NO_SETTINGS.contains(&name.as_str());
        Ok(rows.into_iter().map(pair).filter(is_set).collect())
    }

    /// What HammerDB counts: COMMIT and ROLLBACK as statements, also those in procedures. What commits by
    /// itself without them is not in it.
    async fn transaction_count(&mut self) -> Result<Option<u64>, DbError> {
        let sql = "SHOW GLOBAL STATUS WHERE Variable_name IN ('Com_commit', 'Com_rollback')";
        let rows = self.ask(sql).await?;
        let counts = rows.iter().filter_map(|row| row.get(1)?.as_deref()?.parse::<u64>().ok());
        Ok(Some(counts.sum()))
    }

    async fn server_process(&mut self) -> Result<Option<ServerProcess>, DbError> {
        if !self.route.same_host {
            return Ok(None);
        }
        let sql = match self.shared.product() {
            Product::MariaDb => {
                "SELECT TID FROM information_schema.PROCESSLIST WHERE ID = CONNECTION_ID()"
            }
            Product::Mysql => {
                "SELECT THREAD_OS_ID FROM performance_schema.threads \
                 WHERE PROCESSLIST_ID = CONNECTION_ID()"
            }
        };
        let rows = self.ask(sql).await?;
        let id = rows.first().and_then(|row| row.first()?.as_deref()?.parse().ok());
        Ok(id.map(|id| ServerProcess { id, names: PROCESS_NAMES }))
    }

    async fn tables(&mut self) -> Result<Vec<String>, DbError> {
        let sql = "SELECT LOWER(table_name) FROM information_schema.tables \
                   WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' ORDER BY 1";
        let rows = self.ask(sql).await?;
        Ok(rows.into_iter().filter_map(|mut row| row.pop().flatten()).collect())
    }

    async fn dependents(&mut self, tables: &[&str]) -> Result<Vec<String>, DbError> {
        obstacles::dependents(self, tables).await
    }

    async fn rehearse(&mut self, tables: &[&str], longest: Option<usize>) -> Result<(), DbError> {
        obstacles::rehearse(self, tables, longest).await
    }

    /// The server's named locks know no sharing, so a claim is a row of places: who shares takes any one
    /// that is free, who wants it alone takes them all. The claim lasts as long as the session.
    async fn claim(&mut self, name: &str, claim: Claim) -> Result<bool, DbError> {
        let name = quote_literal(name);
        let mut sql = format!(
            "SET SESSION wait_timeout = {CLAIM_SECONDS}, \
             @claim = CONCAT('triphammer/', MD5(CONCAT(DATABASE(), '/', {name}))); SELECT "
        );
        let joined_by = match claim {
            Claim::Shared => " OR ",
            Claim::Exclusive => " AND ",
        };
        for place in 0..CLAIM_PLACES {
            let join = if place == 0 { "" } else { joined_by };
            let taken = write!(sql, "{join}GET_LOCK(CONCAT(@claim, '/{place}'), 0) = 1");
            taken.expect("text can be written to");
        }
        let answer = self.ask(&sql).await?;
        let has_it = answer.last().is_some_and(|row| row[0].as_deref() == Some("1"));
        if !has_it {
            self.batch("DO RELEASE_ALL_LOCKS()").await?;
        }
        Ok(has_it)
    }
}

/// A name as SQL has it, whatever is in it; sessions read `"` as the standard does.
pub(super) fn quote_identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A string as SQL has it, whatever is in it; sessions take a backslash for itself.
pub(super) fn quote_literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Cancels by a connection of its own.
struct MysqlCanceller {
    thread: u32,
    shared: Arc<Shared>,
}

impl Canceller for MysqlCanceller {
    fn cancel(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async {
            match timeout(GOODBYE_LIMIT, self.shared.cancel(self.thread)).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::debug!("could not ask to cancel: {error}"),
                Err(_) => tracing::debug!("could not ask to cancel in time"),
            }
        })
    }

    fn is_at_work(&self) -> IsAtWork<'_> {
        let (shared, thread) = (self.shared.clone(), self.thread);
        Box::pin(async move { shared.is_at_work(thread).await })
    }
}
