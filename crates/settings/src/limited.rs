//! A session on which every query has a time limit: for builds, checks and drops, and for queries
//! that accompany a run. Transactions of users have the engine's limits instead.
//!
//! A query that any server answers at once is limited by [`Waits::query`]. A statement over much
//! data may legitimately take hours, so its limit is [`Waits::work`]; but after every
//! [`Waits::query`], another session asks whether the server is still working on it. A server that
//! does not answer any session, or is idle without having sent a result, is abandoned then.

use std::cell::Cell;
use std::time::Duration;

use tokio::time::{Instant, timeout};
use triphammer_core::login::LoginTimes;
use triphammer_core::session::{
    Access, Admin, Canceller, ColumnSource, Isolation, LockMode, NodeStatus, Pipeline, Pipelining,
    RowEffect, RowSource, ServerInfo, ServerProcess, Session, StatementId, Waits,
};
use triphammer_core::sql::BoundStatement;
use triphammer_core::workload::TableDef;
use triphammer_core::{DbError, ErrorClass, Rows, Value};

/// Number of consecutive probes that may find the server idle: its answer may be in transit.
const IDLE_MAX: u32 = 3;
/// Time between two such probes.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// Maximum wait for a server to cancel an abandoned statement.
const CANCEL_LIMIT: Duration = Duration::from_secs(1);

/// A session with time limits.
#[derive(Debug)]
pub struct Limited<S> {
    session: S,
    waits: Waits,
}

impl<S: Session> Limited<S> {
    /// Wraps a session with time limits.
    pub fn new(session: S, waits: Waits) -> Self {
        Self { session, waits }
    }
}

/// Waits for the answer to a query that any server answers at once.
///
/// # Errors
/// The error of the query, or `Disconnected` if there is no answer in time.
pub async fn answered<T>(
    limit: Duration,
    asked: impl Future<Output = Result<T, DbError>>,
) -> Result<T, DbError> {
    timeout(limit, asked).await.unwrap_or_else(|_| {
        Err(gone(format!("no answer within {} s (--query-timeout)", limit.as_secs_f64())))
    })
}

fn gone(message: String) -> DbError {
    DbError::new(ErrorClass::Disconnected, message)
}

/// Waits for the end of a statement that may take long, as described at the top of this module.
/// `passed` counts the progress: rows loaded or streamed.
async fn finished<T>(
    waits: Waits,
    canceller: &dyn Canceller,
    passed: &Cell<u64>,
    work: impl Future<Output = Result<T, DbError>>,
) -> Result<T, DbError> {
    let mut work = std::pin::pin!(work);
    let (begun, mut idle, mut seen) = (Instant::now(), 0, 0);
    loop {
        let rest = if idle > 0 { LOOK_AGAIN.min(waits.query) } else { waits.query };
        let left = waits.work.saturating_sub(begun.elapsed());
        if let Ok(done) = timeout(rest.min(left), &mut work).await {
            return done;
        }
        if begun.elapsed() >= waits.work {
            let _ = timeout(CANCEL_LIMIT, canceller.cancel()).await;
            let limit = waits.work.as_secs_f64();
            return Err(gone(format!("not finished within {limit} s (--work-timeout)")));
        }
        if seen != passed.get() {
            (seen, idle) = (passed.get(), 0);
            continue;
        }
        let probe = answered(waits.query, canceller.is_at_work());
        let found = tokio::select! {
            biased;
            done = &mut work => return done,
            found = probe => found,
        };
        match found {
            Ok(Some(false)) => idle += 1,
            // A server that rejects the probe is alive.
            Err(error) if error.code().is_none() => {
                let limit = waits.query.as_secs_f64();
                let what = format!(
                    "no answer within {limit} s (--query-timeout), not even to another \
                             session"
                );
                return Err(gone(format!("{what}: {}", error.message())));
            }
            _ => idle = 0,
        }
        if idle == IDLE_MAX {
            let limit = waits.query.as_secs_f64();
            return Err(gone(format!(
                "no answer within {limit} s (--query-timeout), and the server is not working on it"
            )));
        }
    }
}

/// Runs a query that any server answers at once, with a time limit.
macro_rules! answered {
    ($self:ident.$call:ident($($argument:expr),*)) => {
        answered($self.waits.query, $self.session.$call($($argument),*)).await
    };
}

/// Runs a statement that may take long, as long as the server is working on it.
macro_rules! finished {
    ($self:ident.$call:ident($($argument:expr),*)) => {{
        let canceller = $self.session.canceller();
        let work = $self.session.$call($($argument),*);
        finished($self.waits, &*canceller, &Cell::new(0), work).await
    }};
}

#[deny(clippy::missing_trait_methods, reason = "what is not passed on would be lost")]
impl<S: Session> Session for Limited<S> {
    async fn script(&mut self, sql: &str) -> Result<(), DbError> {
        finished!(self.script(sql))
    }

    async fn prepare(&mut self, statement: &BoundStatement) -> Result<StatementId, DbError> {
        answered!(self.prepare(statement))
    }

    async fn execute(&mut self, id: StatementId, args: &[Value<'_>]) -> Result<u64, DbError> {
        finished!(self.execute(id, args))
    }

    async fn query(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        rows: &mut Rows,
    ) -> Result<(), DbError> {
        finished!(self.query(id, args, rows))
    }

    async fn call(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        rows: &mut Rows,
    ) -> Result<(), DbError> {
        finished!(self.call(id, args, rows))
    }

    async fn execute_autocommit(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
    ) -> Result<u64, DbError> {
        finished!(self.execute_autocommit(id, args))
    }

    async fn execute_and_commit(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        rows: Option<&mut Rows>,
    ) -> Result<u64, DbError> {
        finished!(self.execute_and_commit(id, args, rows))
    }

    async fn text(&mut self, sql: &str, commits: bool, rows: &mut Rows) -> Result<(), DbError> {
        finished!(self.text(sql, commits, rows))
    }

    async fn sources(&mut self, id: StatementId) -> Result<Vec<Option<ColumnSource>>, DbError> {
        finished!(self.sources(id))
    }

    fn effect(&self) -> RowEffect {
        self.session.effect()
    }

    async fn pipeline(&mut self, step: Pipeline) -> Result<(), DbError> {
        finished!(self.pipeline(step))
    }

    async fn pause(&mut self, wait: Duration) {
        self.session.pause(wait).await;
    }

    async fn stream(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        batch: &mut Rows,
        each: &mut dyn FnMut(&Rows),
    ) -> Result<(), DbError> {
        let canceller = self.session.canceller();
        let passed = Cell::new(0);
        let mut counted = |rows: &Rows| {
            passed.set(passed.get() + 1);
            each(rows);
        };
        let work = self.session.stream(id, args, batch, &mut counted);
        finished(self.waits, &*canceller, &passed, work).await
    }

    fn announce(&mut self, access: Access) {
        self.session.announce(access);
    }

    fn pipelining(&self) -> Pipelining {
        self.session.pipelining()
    }

    async fn begin(&mut self, access: Access) -> Result<(), DbError> {
        answered!(self.begin(access))
    }

    async fn begin_isolated(&mut self, access: Access, level: Isolation) -> Result<(), DbError> {
        answered!(self.begin_isolated(access, level))
    }

    async fn begin_at(&mut self, name: &str) -> Result<(), DbError> {
        answered!(self.begin_at(name))
    }

    async fn share_snapshot(&mut self) -> Result<Option<String>, DbError> {
        answered!(self.share_snapshot())
    }

    async fn commit(&mut self) -> Result<(), DbError> {
        finished!(self.commit())
    }

    async fn rollback(&mut self) -> Result<(), DbError> {
        finished!(self.rollback())
    }

    async fn load(&mut self, table: &TableDef, source: &mut dyn RowSource) -> Result<u64, DbError> {
        let canceller = self.session.canceller();
        let passed = Cell::new(0);
        let mut counted = |rows: &mut Rows| {
            passed.set(passed.get() + 1);
            source.fill(rows)
        };
        let work = self.session.load(table, &mut counted);
        finished(self.waits, &*canceller, &passed, work).await
    }

    fn is_closed(&self) -> bool {
        self.session.is_closed()
    }

    fn ended_idle(&mut self) -> Option<DbError> {
        self.session.ended_idle()
    }

    fn take_unconfirmed(&mut self) -> Option<String> {
        self.session.take_unconfirmed()
    }

    fn login_times(&self) -> LoginTimes {
        self.session.login_times()
    }

    fn canceller(&self) -> Box<dyn Canceller> {
        self.session.canceller()
    }

    async fn ping(&mut self) -> Result<bool, DbError> {
        answered!(self.ping())
    }

    async fn close(self) {
        self.session.close().await;
    }
}

#[deny(clippy::missing_trait_methods, reason = "what is not passed on would be lost")]
impl<S: Admin> Admin for Limited<S> {
    async fn server(&mut self) -> Result<ServerInfo, DbError> {
        answered!(self.server())
    }

    async fn settings(&mut self) -> Result<Vec<(String, String)>, DbError> {
        answered!(self.settings())
    }

    async fn settings_set(&mut self) -> Result<Option<Vec<String>>, DbError> {
        answered!(self.settings_set())
    }

    async fn transaction_count(&mut self) -> Result<Option<u64>, DbError> {
        answered!(self.transaction_count())
    }

    async fn node_status(&mut self) -> Result<NodeStatus, DbError> {
        answered!(self.node_status())
    }

    async fn server_process(&mut self) -> Result<Option<ServerProcess>, DbError> {
        answered!(self.server_process())
    }

    async fn engine_memory(&mut self) -> Result<Option<u64>, DbError> {
        answered!(self.engine_memory())
    }

    async fn tables(&mut self) -> Result<Vec<String>, DbError> {
        answered!(self.tables())
    }

    async fn relations(&mut self) -> Result<Vec<[String; 2]>, DbError> {
        answered!(self.relations())
    }

    async fn dependents(&mut self, tables: &[&str]) -> Result<Vec<String>, DbError> {
        finished!(self.dependents(tables))
    }

    async fn rehearse(&mut self, tables: &[&str], longest: Option<usize>) -> Result<(), DbError> {
        finished!(self.rehearse(tables, longest))
    }

    async fn advisory_lock(&mut self, name: &str, mode: LockMode) -> Result<bool, DbError> {
        answered!(self.advisory_lock(name, mode))
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::pin::Pin;
    use std::rc::Rc;
    use std::sync::Mutex;

    use super::*;
    use triphammer_core::session::IsAtWork;

    const WAITS: Waits = Waits { query: Duration::from_secs(30), work: Duration::from_secs(3600) };

    /// A server that returns these answers to the activity probe, and repeats the last one.
    struct Probes(Mutex<Vec<Probe>>);

    /// An answer, or a timeout.
    type Probe = Option<Result<Option<bool>, DbError>>;

    impl Canceller for Probes {
        fn cancel(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
            Box::pin(ready(()))
        }

        fn is_at_work(&self) -> IsAtWork<'_> {
            let mut probes = self.0.lock().unwrap();
            let last = match &probes[0] {
                Some(Ok(answer)) => Some(Ok(*answer)),
                Some(Err(error)) => Some(Err(match error.code() {
                    Some(code) => DbError::new(error.class(), error.message()).with_code(code),
                    None => DbError::new(error.class(), error.message()),
                })),
                None => None,
            };
            if probes.len() > 1 {
                probes.remove(0);
            }
            match last {
                Some(answer) => Box::pin(ready(answer)),
                None => Box::pin(pending()),
            }
        }
    }

    fn probes(probes: impl IntoIterator<Item = Probe>) -> Probes {
        Probes(Mutex::new(probes.into_iter().collect()))
    }

    /// How a statement of this many seconds ends, and after how many seconds.
    async fn ended(server: &Probes, takes_s: u64, passes: bool) -> (Result<(), String>, u64) {
        let begun = Instant::now();
        let passed = Rc::new(Cell::new(0));
        let rows = Rc::clone(&passed);
        let work = async move {
            for _ in 0..takes_s {
                tokio::time::sleep(Duration::from_secs(1)).await;
                rows.set(rows.get() + u64::from(passes));
            }
            Ok(())
        };
        let done = finished(WAITS, server, &passed, work).await;
        (done.map_err(|error| error.message().to_owned()), begun.elapsed().as_secs())
    }

    #[tokio::test(start_paused = true)]
    async fn a_statement_may_take_as_long_as_the_server_is_at_it_up_to_the_limit() {
        let busy = || Some(Ok(Some(true)));
        for server in [
            probes([busy()]),
            // Behind a pooler, activity is unknown.
            probes([Some(Ok(None))]),
            probes([Some(Ok(Some(false))), Some(Ok(Some(false))), busy()]),
            probes([Some(Err(DbError::new(ErrorClass::Unavailable, "full").with_code("53300")))]),
        ] {
            assert_eq!(ended(&server, 3000, false).await, (Ok(()), 3000));
        }
        let (done, after) = ended(&probes([busy()]), 5000, false).await;
        assert_eq!(
            (done.unwrap_err().as_str(), after),
            ("not finished within 3600 s (--work-timeout)", 3600)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_is_silent_or_at_nothing_is_given_up() {
        let (done, after) = ended(&probes([None]), 3000, false).await;
        assert!(done.unwrap_err().contains("not even to another session: no answer within 30 s"));
        assert_eq!(after, 60);
        let refused = Err(DbError::new(ErrorClass::Disconnected, "connection refused"));
        let (done, after) = ended(&probes([Some(refused)]), 3000, false).await;
        assert!(done.unwrap_err().contains("connection refused"));
        assert_eq!(after, 30);
        let (done, after) = ended(&probes([Some(Ok(Some(false)))]), 3000, false).await;
        assert!(done.unwrap_err().contains("the server is not working on it"));
        assert_eq!(after, 32);
        // A late answer is accepted, even during a probe.
        assert_eq!(ended(&probes([None]), 45, false).await, (Ok(()), 45));
    }

    #[tokio::test(start_paused = true)]
    async fn rows_that_pass_are_progress() {
        assert_eq!(ended(&probes([Some(Ok(Some(false)))]), 3000, true).await, (Ok(()), 3000));
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_has_its_limit() {
        let error = answered::<()>(WAITS.query, pending()).await.unwrap_err();
        assert_eq!(error.message(), "no answer within 30 s (--query-timeout)");
        assert!(error.class().loses_session());
    }
}
