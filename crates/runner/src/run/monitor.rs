//! Monitors the database during a run, on a separate session.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use triphammer_core::clock::Elapsed;
use triphammer_core::event::Note;
use triphammer_core::session::{Access, Admin, Database, Role, ServerInfo, Session};
use triphammer_core::workload::{AuditDef, Statements, Workload};
use triphammer_core::{Clock, DbError, ErrorClass, Rows, StatementId, clock};
use triphammer_document::doctor::Line;
use triphammer_document::parts::ServerTransactions;
use triphammer_document::result::{IN_PROCESS, SchemaFact};
use triphammer_drivers::AnySession;
use triphammer_load::Plan;
use triphammer_observe::doctor::SetupOfRun;
use triphammer_settings::files::Files;
use triphammer_settings::limited::Limited;
use triphammer_settings::worker_pool::connect;

use crate::record::{Recording, TABLE};

use crate::fingerprint;

/// Maximum wait for a monitoring query during a run.
const QUERY_TIMEOUT: Duration = Duration::from_secs(2);
/// Time between two samples of the memory of an engine in this process.
const MEMORY_EVERY: Duration = Duration::from_millis(200);
/// Maximum wait for the server's transaction counter each second: events of the run wait for it.
const LOOK: Duration = Duration::from_millis(500);
/// Pause after a failed reading of the counter, so that a server in trouble is left alone.
const LOOK_AGAIN: Duration = Duration::from_secs(5);
/// Maximum wait for the primary metric's count or an audit's sum before the run: either may read a
/// whole table.
pub(super) const COUNT_BEFORE: Duration = Duration::from_secs(60);
/// Maximum wait for the same after the run: the tables have grown, and must be counted again.
pub(super) const COUNT_AFTER: Duration = Duration::from_secs(180);

/// Maximum wait for a request to cancel what the server still does for a session that is given up.
const CANCEL_LIMIT: Duration = Duration::from_millis(500);

/// Reads the single integer returned by a statement, with a time limit.
async fn number<S: Session>(session: &mut S, id: StatementId, limit: Duration) -> Option<i64> {
    let mut rows = Rows::new();
    match tokio::time::timeout(limit, session.query(id, &[], &mut rows)).await {
        Ok(Ok(())) => rows.first("the count").ok()?.int(0).ok(),
        _ => None,
    }
}

/// Monitors the database during a run. It reconnects if its session is lost; what it cannot read is
/// missing from the result instead of delaying it.
pub(super) struct Monitor<'a> {
    plan: &'a Plan,
    limit: Duration,
    pub session: Option<Limited<AnySession>>,
    /// Server settings at the start of the run.
    pub settings_start: Vec<(String, String)>,
    count: Option<StatementId>,
    /// Last reading of the transaction counter, and its time.
    counter: Counter,
    /// Transactions of observers that the counter includes.
    pub own_transactions: Arc<AtomicU64>,
}

/// The server's transaction counter, read every second.
enum Counter {
    /// Not read yet, or the last reading failed: time of the next one.
    Unread(Elapsed),
    Read(u64, Elapsed),
    /// The database has no counter.
    Absent,
}

impl<'a> Monitor<'a> {
    pub fn new(plan: &'a Plan, limit: Duration) -> Self {
        let counter = Counter::Unread(Elapsed::default());
        Self {
            plan,
            limit,
            session: None,
            settings_start: Vec::new(),
            count: None,
            counter,
            own_transactions: Arc::default(),
        }
    }

    pub async fn ensure(&mut self) -> Result<(), DbError> {
        if self.session.as_ref().is_some_and(|session| !session.is_closed()) {
            return Ok(());
        }
        self.session = None;
        let mut session = connect(&self.plan.database, Role::Monitor, self.limit).await?;
        self.count = match &self.plan.workload.description().primary_metric.database_count {
            Some(name) if self.plan.database.capabilities().stores => {
                Some(Statements::new(&self.plan.catalogue).prepare(&mut session, name).await?)
            }
            _ => None,
        };
        self.session = Some(session);
        Ok(())
    }

    /// Runs a query with the usual time limit; `None` if there is no answer.
    pub async fn query<T>(
        &mut self,
        ask: impl AsyncFnOnce(&mut Limited<AnySession>) -> Result<T, DbError>,
    ) -> Option<T> {
        self.within(QUERY_TIMEOUT, ask).await
    }

    async fn within<T>(
        &mut self,
        limit: Duration,
        ask: impl AsyncFnOnce(&mut Limited<AnySession>) -> Result<T, DbError>,
    ) -> Option<T> {
        let asked = tokio::time::timeout(limit, async {
            self.ensure().await?;
            ask(self.session.as_mut().expect("just ensured")).await
        });
        match asked.await {
            Ok(Ok(answer)) => Some(answer),
            Ok(Err(error)) if !error.class().loses_session() => None,
            _ => {
                self.session = None;
                None
            }
        }
    }

    /// Reads the primary metric's count. It scans a whole table, so it has a longer limit.
    pub async fn count(&mut self, limit: Duration) -> Option<i64> {
        self.ensure().await.ok()?;
        let (id, session) = (self.count?, self.session.as_mut()?);
        let number = number(session, id, limit).await;
        if number.is_none() {
            self.give_up().await;
        }
        number
    }

    /// Reads the sum of an audit.
    pub async fn sum(&mut self, audit: &AuditDef, limit: Duration) -> Option<i64> {
        self.ensure().await.ok()?;
        let session = self.session.as_mut()?;
        let mut statements = Statements::new(&self.plan.catalogue);
        let number = match statements.prepare(session, &audit.statement).await {
            Ok(id) => number(session, id, limit).await,
            Err(_) => None,
        };
        if number.is_none() {
            self.give_up().await;
        }
        number
    }

    /// Drops the session, and has the server end what it may still do for it: a query that scans a table would go on.
    pub async fn give_up(&mut self) {
        if let Some(session) = self.session.take() {
            let _ = tokio::time::timeout(CANCEL_LIMIT, session.canceller().cancel()).await;
        }
    }

    /// Reads the schema facts into `facts`; returns notes on what could not be read.
    pub async fn schema(&mut self, facts: &mut Vec<SchemaFact>) -> Vec<Note> {
        let catalogue = &self.plan.catalogue;
        let stores = self.plan.database.capabilities().stores;
        let mut notes = Vec::new();
        for (statement, what) in fingerprint::STATEMENTS {
            if !stores || !catalogue.has_statement(statement) {
                continue;
            }
            let read = self.within(fingerprint::LIMIT, async |session| {
                match fingerprint::read(catalogue, session, statement).await {
                    Err(error) if error.class().loses_session() => Err(error),
                    read => Ok(read),
                }
            });
            let reason = match read.await {
                Some(Ok(mut read)) if read.len() > fingerprint::FACTS_MAX => {
                    read.truncate(fingerprint::FACTS_MAX);
                    facts.extend(read);
                    format!("the schema has more than {} of them", fingerprint::FACTS_MAX)
                }
                Some(Ok(read)) => {
                    facts.extend(read);
                    continue;
                }
                Some(Err(error)) => error.to_string(),
                None => format!("no answer within {} s", fingerprint::LIMIT.as_secs()),
            };
            let text = format!(
                "{what} could not be read completely, so `compare` ignores them: \
                                {reason}"
            );
            notes.push(Note::new("schema", None, text));
        }
        notes
    }

    /// Examines how this host, with these files, and the database are set up; what cannot be read in
    /// time is missing.
    pub async fn setup(&mut self, files: Files, server: &ServerInfo, writes: bool) -> Vec<Line> {
        let (mut setup, dialect) =
            (SetupOfRun::begin(files, server, writes), self.plan.database.dialect());
        self.query(async |session| setup.ask(session, dialect).await).await;
        setup.end()
    }

    /// Reads the server's transaction counter, without the transactions of observers.
    pub async fn transaction_count(&mut self) -> Option<u64> {
        let count = self.query(async |session| session.transaction_count().await).await.flatten();
        Some(count?.saturating_sub(self.own_transactions.load(Ordering::Relaxed)))
    }

    /// Samples the memory of an engine in this process until it is dropped, and keeps the highest
    /// value.
    pub async fn sample_memory(&mut self, highest: &mut Option<u64>) -> Infallible {
        while let Some(bytes) = self.query(async |s| s.engine_memory().await).await.flatten() {
            *highest = (*highest).max(Some(bytes));
            tokio::time::sleep(MEMORY_EVERY).await;
        }
        std::future::pending().await
    }

    /// Returns the increase of the server's transaction counter since the previous reading. `None`
    /// after the first reading and without an immediate answer: a gap in a series is better than a
    /// delay.
    pub async fn server_second(&mut self, clock: &Clock) -> Option<ServerTransactions> {
        match self.counter {
            Counter::Absent => return None,
            Counter::Unread(due) if clock.now() < due => return None,
            _ => {}
        }
        let answer = self.within(LOOK, async |session| session.transaction_count().await).await;
        let now = clock.now();
        let own = self.own_transactions.load(Ordering::Relaxed);
        let counter = match answer {
            Some(Some(count)) => Counter::Read(count.saturating_sub(own), now),
            Some(None) => Counter::Absent,
            None => Counter::Unread(Elapsed::from_duration(now.duration() + LOOK_AGAIN)),
        };
        let before = std::mem::replace(&mut self.counter, counter);
        let (Counter::Read(before, then), Counter::Read(count, _)) = (before, &self.counter) else {
            return None;
        };
        // It decreases when the server restarts.
        let count = count.checked_sub(before)?;
        let seconds = now.duration().saturating_sub(then.duration()).as_secs_f64();
        Some(ServerTransactions { count, seconds })
    }

    /// Waits until the database answers again, at most for `limit`; returns whether it did.
    pub async fn wait_for_database(&mut self, limit: Duration) -> bool {
        let waited = tokio::time::timeout(limit, async {
            while !self.answers().await {
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        });
        waited.await.is_ok()
    }

    /// Whether the database answers now. Some sessions know the server without asking it, so only
    /// a round trip counts, or a new connection where there is none.
    async fn answers(&mut self) -> bool {
        let Some(server) = self.query(async |session| session.server().await).await else {
            return false;
        };
        match self.query(async |session| session.ping().await).await {
            Some(true) => true,
            Some(false) if server.transport == IN_PROCESS => true,
            // A session may be lost without its driver noticing.
            _ => {
                self.session = None;
                self.query(async |session| session.server().await).await.is_some()
            }
        }
    }

    /// Records that the data is no longer as built.
    pub async fn touch(&mut self) -> Result<(), DbError> {
        if !self.plan.database.capabilities().stores {
            return Ok(());
        }
        self.ensure().await?;
        let session = self.session.as_mut().expect("just ensured");
        let (workload, catalogue) = (self.plan.workload.description(), &self.plan.catalogue);
        // Reading needs no right to write.
        if Recording::only_read(workload, catalogue, session).await?.is_untouched() {
            let recording = Recording::prepare(workload, catalogue, session).await?;
            session.begin(Access::Write).await?;
            let now = clock::wall().to_string();
            match recording.insert(session, "first_run", &now).await {
                Ok(()) => session.commit().await?,
                // Another run started at the same time and has recorded it.
                Err(error) if error.class() == ErrorClass::Constraint => session.rollback().await?,
                Err(error) => {
                    session.rollback().await?;
                    return Err(error.context(format_args!("writing to {TABLE}")));
                }
            }
        }
        Ok(())
    }
}
