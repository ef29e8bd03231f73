//! A session: requests to the coordinator, one after another. Trino keeps nothing of it; user,
//! catalog and schema are headers of every statement. Statements commit by themselves.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use tokio::time::timeout;
use triphammer_core::error::{DbError, ErrorClass};
use triphammer_core::rows::{Row, Rows};
use triphammer_core::session::{
    Access, Admin, Canceller, LockMode, RowSource, ServerInfo, Session, StatementId,
};
use triphammer_core::sql::BoundStatement;
use triphammer_core::value::Value;
use triphammer_core::workload::TableDef;

use super::errors::{on_connect, on_statement};
use super::http::{Answer, Http, Shared};
use super::literal;
use super::load;
use super::locks;
use super::page::{Column, ColumnKind, Page, read_rows};
use super::statement::{CallerStatement, split};
use crate::advisory_lock::LockFile;
use crate::answer::{ANSWER_BYTES_MAX, Room, too_large};

/// Size of a batch of [`Session::stream`], in bytes.
const BATCH_BYTES: usize = 256 * 1024;
/// Facts about the server.
const INFO: &str = "/v1/info";
/// Maximum wait for the server to cancel a statement.
const CANCEL_LIMIT: Duration = Duration::from_secs(5);
/// A statement that fails unless catalog, schema and user are accepted, and returns nothing.
const LOOK: &str = "SHOW TABLES LIKE 'triphammer'";

/// A session on a Trino coordinator.
pub struct TrinoSession {
    shared: Arc<Shared>,
    http: Http,
    kept: Vec<CallerStatement>,
    running: Arc<Running>,
    /// Whether a statement has changed anything since the last `begin`.
    has_written: bool,
    is_lost: bool,
    advisory_lock: Option<LockFile>,
}

/// What a canceller knows of a session's statement.
#[derive(Default)]
struct Running(Mutex<Statement>);

#[derive(Default)]
struct Statement {
    /// Path of the next page of the statement that is running.
    page: Option<String>,
    /// Whether it is to be cancelled as soon as there is a page.
    is_cancelled: bool,
}

impl Running {
    fn with<T>(&self, work: impl FnOnce(&mut Statement) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Sets the next page; returns whether the statement is to be cancelled.
    fn go_on(&self, page: Option<String>) -> bool {
        self.with(|statement| {
            statement.page = page;
            std::mem::take(&mut statement.is_cancelled)
        })
    }
}

/// How a statement ended.
#[derive(Debug, Default)]
pub(super) struct StatementEnd {
    /// Number of rows that it changed.
    pub(super) changed: u64,
}

/// What happens after each row.
type AfterRow<'a> = &'a mut dyn FnMut(&mut Rows) -> Result<(), DbError>;

impl TrinoSession {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        let http = Http::new(Arc::clone(&shared));
        Self {
            shared,
            http,
            kept: Vec::new(),
            running: Arc::default(),
            has_written: false,
            is_lost: false,
            advisory_lock: None,
        }
    }

    /// Verifies that the server accepts user, catalog and schema.
    pub(super) async fn look(&mut self) -> Result<(), DbError> {
        self.texts::<1>(LOOK).await.map(drop).map_err(on_connect)
    }

    /// Runs a statement to its end; its rows go to `rows`.
    ///
    /// Its future is in a box, because it is large: sessions of all drivers are one enum, whose
    /// futures have the size of the largest and are moved at each call.
    pub(super) async fn run(
        &mut self,
        sql: String,
        rows: &mut Rows,
        after_row: AfterRow<'_>,
    ) -> Result<StatementEnd, DbError> {
        Box::pin(self.run_to_end(sql, rows, after_row)).await
    }

    async fn run_to_end(
        &mut self,
        sql: String,
        rows: &mut Rows,
        after_row: AfterRow<'_>,
    ) -> Result<StatementEnd, DbError> {
        self.abandon().await;
        let ended = self.pages(sql, rows, after_row).await;
        if let Err(error) = &ended {
            self.abandon().await;
            self.is_lost |= error.class().loses_session();
        }
        ended
    }

    /// Cancels a statement that nobody reads any more: its reader failed, or stopped waiting.
    async fn abandon(&mut self) {
        let page = self.running.with(|statement| std::mem::take(statement).page);
        if let Some(page) = page {
            // The server abandons it too when nobody asks for its pages.
            let _ = timeout(CANCEL_LIMIT, self.http.delete(&page)).await;
        }
    }

    async fn pages(
        &mut self,
        sql: String,
        rows: &mut Rows,
        after_row: AfterRow<'_>,
    ) -> Result<StatementEnd, DbError> {
        rows.reset(0);
        let mut answer = self.http.post(sql).await?;
        let mut kinds = None;
        loop {
            let page = Page::read(&answer.body)?;
            if let Some(failure) = &page.error {
                self.running.go_on(None);
                return Err(on_statement(&failure.error_name, &failure.message));
            }
            // Known before its rows are read, so that they can be cancelled.
            let next = page.next_uri.as_deref().map(|uri| self.shared.page(uri)).transpose()?;
            let is_cancelled = self.running.go_on(next.clone());
            self.has_written |= page.update_type.is_some();
            if let (None, Some(columns)) = (&kinds, &page.columns) {
                kinds = Some(describe(columns, rows));
            }
            if page.has_rows() {
                let kinds = kinds.as_deref().unwrap_or_default();
                read_rows(&answer.body, kinds, rows, after_row)?;
            }
            let Some(next) = next else {
                return Ok(StatementEnd { changed: page.update_count.unwrap_or_default() });
            };
            if is_cancelled {
                self.http.delete(&next).await?;
            }
            answer = self.http.get(&next).await?;
        }
    }

    /// Runs one of the driver's own queries, and reads its first columns as text.
    pub(super) async fn texts<const N: usize>(
        &mut self,
        sql: &str,
    ) -> Result<Vec<[String; N]>, DbError> {
        let mut rows = Rows::new();
        let mut room = Room::of_question();
        let mut seen = 0;
        let mut take = |rows: &mut Rows| {
            let before = std::mem::replace(&mut seen, rows.bytes());
            room.take(seen.saturating_sub(before))
        };
        self.run(sql.to_owned(), &mut rows, &mut take).await?;
        let read = |row: Row<'_>| {
            let mut texts = [const { String::new() }; N];
            for (place, text) in texts.iter_mut().enumerate() {
                if !row.is_null(place) {
                    row.text(place)?.clone_into(text);
                }
            }
            Ok(texts)
        };
        rows.iter().map(read).collect()
    }

    /// Runs a statement without rows.
    pub(super) async fn run_quietly(&mut self, sql: String) -> Result<StatementEnd, DbError> {
        let mut rows = Rows::new();
        self.run(sql, &mut rows, &mut forget).await
    }

    async fn info(&mut self) -> Result<Info, DbError> {
        let answer: Result<Answer, DbError> = Box::pin(self.http.get(INFO)).await;
        let read = answer.and_then(|answer| {
            serde_json::from_slice(&answer.body).map_err(|error| {
                let message = format!("{INFO} is not what Trino answers: {error}");
                DbError::new(ErrorClass::Disconnected, message)
            })
        });
        self.is_lost |= read.is_err();
        read
    }

    /// The name of the session's schema as a string literal.
    pub(super) fn schema_literal(&self) -> String {
        let mut out = String::new();
        literal::quote(&mut out, &self.shared.options.schema.to_lowercase());
        out
    }
}

/// Discards the rows of a statement whose result is not used.
fn forget(rows: &mut Rows) -> Result<(), DbError> {
    rows.reset(rows.width());
    Ok(())
}

/// Prepares a buffer for rows of these columns, with their names if they are wanted.
fn describe(columns: &[Column], rows: &mut Rows) -> Vec<ColumnKind> {
    rows.reset(columns.len());
    rows.set_names(columns.iter().map(|column| column.name.as_str()));
    columns.iter().map(Column::kind).collect()
}

/// What the server says about itself.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Info {
    node_version: NodeVersion,
}

#[derive(Deserialize)]
struct NodeVersion {
    version: String,
}

impl Session for TrinoSession {
    async fn script(&mut self, sql: &str) -> Result<(), DbError> {
        for statement in split(sql) {
            self.run_quietly(statement.to_owned()).await?;
        }
        Ok(())
    }

    async fn prepare(&mut self, statement: &BoundStatement) -> Result<StatementId, DbError> {
        self.kept.push(CallerStatement::of(statement)?);
        Ok(StatementId(u32::try_from(self.kept.len() - 1).expect("fewer than 2^32 statements")))
    }

    async fn execute(&mut self, id: StatementId, args: &[Value<'_>]) -> Result<u64, DbError> {
        let sql = self.kept[id.index()].with(args)?;
        Ok(self.run_quietly(sql).await?.changed)
    }

    async fn query(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        rows: &mut Rows,
    ) -> Result<(), DbError> {
        let sql = self.kept[id.index()].with(args)?;
        let mut limit = |rows: &mut Rows| match rows.bytes() > ANSWER_BYTES_MAX {
            true => Err(too_large()),
            false => Ok(()),
        };
        self.run(sql, rows, &mut limit).await.map(drop)
    }

    async fn call(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        rows: &mut Rows,
    ) -> Result<(), DbError> {
        self.query(id, args, rows).await.map_err(DbError::failed_commit)
    }

    async fn stream(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        batch: &mut Rows,
        each: &mut dyn FnMut(&Rows),
    ) -> Result<(), DbError> {
        let sql = self.kept[id.index()].with(args)?;
        let mut pass_on = |batch: &mut Rows| {
            if batch.bytes() >= BATCH_BYTES {
                each(batch);
                batch.reset(batch.width());
            }
            Ok(())
        };
        self.run(sql, batch, &mut pass_on).await?;
        if !batch.is_empty() {
            each(batch);
        }
        Ok(())
    }

    /// Begins nothing: each statement commits by itself.
    async fn begin(&mut self, _access: Access) -> Result<(), DbError> {
        self.has_written = false;
        Ok(())
    }

    async fn commit(&mut self) -> Result<(), DbError> {
        self.has_written = false;
        Ok(())
    }

    async fn rollback(&mut self) -> Result<(), DbError> {
        self.abandon().await;
        if std::mem::take(&mut self.has_written) {
            let message = "what was written cannot be rolled back: in Trino each statement commits \
                           on its own";
            return Err(DbError::new(ErrorClass::Unsupported, message));
        }
        Ok(())
    }

    async fn load(&mut self, table: &TableDef, source: &mut dyn RowSource) -> Result<u64, DbError> {
        load::load(self, table, source).await
    }

    fn is_closed(&self) -> bool {
        self.is_lost
    }

    fn canceller(&self) -> Box<dyn Canceller> {
        Box::new(TrinoCanceller {
            shared: Arc::clone(&self.shared),
            running: Arc::clone(&self.running),
        })
    }

    async fn ping(&mut self) -> Result<bool, DbError> {
        self.info().await.map(|_| true)
    }

    async fn close(mut self) {
        self.abandon().await;
    }
}

impl Admin for TrinoSession {
    async fn server(&mut self) -> Result<ServerInfo, DbError> {
        let version = self.info().await?.node_version.version;
        let (same_host, cipher) = self.http.route();
        let (product, transport) = ("Trino".to_owned(), "tcp".to_owned());
        Ok(ServerInfo { product, version, transport, cipher, same_host })
    }

    async fn settings(&mut self) -> Result<Vec<(String, String)>, DbError> {
        let found = self.texts::<2>("SHOW SESSION").await?;
        Ok(found.into_iter().map(|[name, value]| (name, value)).collect())
    }

    async fn transaction_count(&mut self) -> Result<Option<u64>, DbError> {
        Ok(None)
    }

    async fn tables(&mut self) -> Result<Vec<String>, DbError> {
        let found = self.texts::<1>("SHOW TABLES").await?;
        Ok(found.into_iter().map(|[name]| name.to_lowercase()).collect())
    }

    async fn advisory_lock(&mut self, name: &str, mode: LockMode) -> Result<bool, DbError> {
        self.advisory_lock = locks::take(&self.shared.options, name, mode)?;
        Ok(self.advisory_lock.is_some())
    }
}

struct TrinoCanceller {
    shared: Arc<Shared>,
    running: Arc<Running>,
}

impl Canceller for TrinoCanceller {
    fn cancel(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        let page = self.running.with(|statement| {
            statement.is_cancelled = statement.page.is_none();
            statement.page.clone()
        });
        Box::pin(async move {
            if let Some(page) = page {
                let mut http = Http::new(Arc::clone(&self.shared));
                let _ = timeout(CANCEL_LIMIT, http.delete(&page)).await;
            }
        })
    }
}
