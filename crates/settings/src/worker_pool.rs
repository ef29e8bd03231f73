//! A pool of workers with sessions, for the chunks, keys and indexes of a build and the conditions
//! of a check. Each worker is a thread with its own runtime and session, so sessions need not be
//! `Send`; workers take the next task when they have finished the last, and all stop at the first
//! error.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use triphammer_core::session::{Canceller, Database as _, Role, Session as _};
use triphammer_core::workload::Description;
use triphammer_core::{DbError, ErrorClass};
use triphammer_drivers::{AnyDatabase, AnySession};

use crate::cancel::Cancel;
use crate::failure::{Doing, Failure};
use crate::limited::{Limited, answered};

/// Configuration of a pool.
#[derive(Debug)]
pub struct WorkerPool {
    /// Database to which the workers connect.
    pub database: Arc<AnyDatabase>,
    /// Number of workers; at most one per task is started.
    pub size: u32,
    /// Role of the sessions.
    pub role: Role,
    /// Longest wait for a session.
    pub connect_limit: Duration,
    /// Cancels the work.
    pub cancel: Cancel,
}

/// Maximum wait for a database to stop a cancelled statement; then its session is dropped.
const CANCEL_LIMIT: Duration = Duration::from_secs(5);

impl WorkerPool {
    /// Runs every task once and returns the results in the order of the tasks. `setup` prepares the
    /// state of a worker for all its tasks, on its new session.
    ///
    /// # Errors
    /// The first error, with the name of its task from `name`.
    pub fn work<T: Sync, C, R: Send>(
        &self,
        tasks: &[T],
        name: impl Fn(&T) -> String + Sync,
        setup: impl AsyncFn(&mut Limited<AnySession>) -> Result<C, DbError> + Sync,
        work: impl AsyncFn(&mut Limited<AnySession>, &mut C, &T) -> Result<R, DbError> + Sync,
    ) -> Result<Vec<R>, Failure> {
        let shared = PoolState::new(tasks.len());
        let worker = async || {
            let slot = shared.workers.fetch_add(1, Ordering::Relaxed);
            let connecting = connect_worker(&self.database, self.role, slot, self.connect_limit);
            let mut session = match connecting.await {
                Ok(session) => session,
                Err(error) => {
                    let doing = format!("connecting to {}", self.database.target());
                    return shared.fail(doing, error);
                }
            };
            let mut context = match setup(&mut session).await {
                Ok(context) => context,
                Err(error) => return shared.fail("preparing a session".into(), error),
            };
            let canceller = session.canceller();
            while !shared.has_failed() && !self.cancel.is_cancelled() {
                let index = shared.next.fetch_add(1, Ordering::Relaxed);
                let Some(task) = tasks.get(index) else { break };
                let work = work(&mut session, &mut context, task);
                match unless(&self.cancel, &*canceller, work).await {
                    Ok(result) => shared.keep(index, result),
                    Err(error) => {
                        shared.fail(name(task), error);
                        break;
                    }
                }
            }
            session.close().await;
        };
        let alone = || {
            let work = async {
                worker().await;
                Ok::<_, DbError>(())
            };
            if let Err(error) = on_this_thread(work) {
                shared.fail("starting a thread's work".into(), error);
            }
        };
        let size = (self.size as usize).clamp(1, tasks.len().max(1));
        std::thread::scope(|scope| {
            for _ in 0..size {
                let thread = std::thread::Builder::new().name("worker-pool".into());
                if let Err(error) = thread.spawn_scoped(scope, alone) {
                    let error = DbError::new(ErrorClass::Other, error.to_string());
                    shared.fail(format!("starting {size} threads (--jobs)"), error);
                    break;
                }
            }
        });
        if self.cancel.is_cancelled() {
            return Err(Failure::Cancelled);
        }
        shared.into_results()
    }
}

/// What the workers of a pool share.
struct PoolState<R> {
    /// Number of workers that have started.
    workers: AtomicU32,
    /// Index of the next task.
    next: AtomicUsize,
    stop: AtomicBool,
    results: Mutex<Vec<Option<R>>>,
    /// The first error.
    failure: Mutex<Option<Failure>>,
}

impl<R> PoolState<R> {
    fn new(tasks: usize) -> Self {
        Self {
            workers: AtomicU32::new(0),
            next: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
            results: Mutex::new((0..tasks).map(|_| None).collect()),
            failure: Mutex::new(None),
        }
    }

    /// Stops all workers with an error.
    fn fail(&self, doing: String, error: DbError) {
        self.stop.store(true, Ordering::Relaxed);
        let mut first = self.failure.lock().expect("no thread panics with it");
        first.get_or_insert(Failure::Database { doing, error });
    }

    fn has_failed(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn keep(&self, index: usize, result: R) {
        self.results.lock().expect("no thread panics with it")[index] = Some(result);
    }

    /// The results in the order of the tasks, or the first error.
    fn into_results(self) -> Result<Vec<R>, Failure> {
        if let Some(failure) = self.failure.into_inner().expect("no thread panicked") {
            return Err(failure);
        }
        let results = self.results.into_inner().expect("no thread panicked");
        Ok(results.into_iter().map(|r| r.expect("no failure, so every task is done")).collect())
    }
}

/// Runs `work`; if it is cancelled, asks the database to stop.
async fn unless<R>(
    cancel: &Cancel,
    canceller: &dyn Canceller,
    work: impl Future<Output = Result<R, DbError>>,
) -> Result<R, DbError> {
    let mut work = std::pin::pin!(work);
    tokio::select! {
        biased;
        done = &mut work => return done,
        () = cancel.cancelled() => {}
    }
    let stopping = async {
        canceller.cancel().await;
        work.await
    };
    tokio::time::timeout(CANCEL_LIMIT, stopping)
        .await
        .unwrap_or_else(|_| Err(DbError::new(ErrorClass::Cancelled, "cancelled")))
}

/// Opens a session within a time limit; its queries have the database's limits.
///
/// # Errors
/// The error of the driver, or `Disconnected` after the time limit.
pub async fn connect(
    database: &AnyDatabase,
    role: Role,
    limit: Duration,
) -> Result<Limited<AnySession>, DbError> {
    connect_worker(database, role, 0, limit).await
}

/// Like [`connect`], for one of several parallel sessions.
async fn connect_worker(
    database: &AnyDatabase,
    role: Role,
    slot: u32,
    limit: Duration,
) -> Result<Limited<AnySession>, DbError> {
    let connecting = tokio::time::timeout(limit, database.connect(role, slot));
    let session = connecting.await.unwrap_or_else(|_| {
        let message = format!("no answer within {} s", limit.as_secs_f64());
        Err(DbError::new(ErrorClass::Disconnected, message))
    })?;
    Ok(Limited::new(session, database.waits()))
}

/// Identifies the server, on which the dialect depends, unless the workload cannot run there.
pub fn identify(workload: &Description, database: &AnyDatabase) -> Result<(), Failure> {
    refuse_without_transactions(workload, database)?;
    on_this_thread(answered(database.waits().query, database.identify()))
        .doing(format_args!("connecting to {}", database.target()))?;
    // Some databases are known only now.
    refuse_without_transactions(workload, database)
}

fn refuse_without_transactions(
    workload: &Description,
    database: &AnyDatabase,
) -> Result<(), Failure> {
    if workload.transactions.is_empty() || database.capabilities().transactions {
        return Ok(());
    }
    Err(Failure::refuse(format!(
        "{} needs transactions of several statements, and at {} each statement commits on its own; \
         use another database, or a workload of queries (-w tproc-h)",
        workload.title,
        database.target()
    )))
}

/// Creates the database named in the target; returns false if it exists.
pub fn create_database(database: &AnyDatabase) -> Result<bool, Failure> {
    on_this_thread(answered(database.waits().query, database.create_database()))
        .doing(format_args!("creating the database of {}", database.target()))
}

/// An error that can represent a failure of the operating system.
pub trait FromSystem {
    /// Creates the error of a failed operation.
    fn from_system(doing: &str, error: std::io::Error) -> Self;
}

impl FromSystem for Failure {
    fn from_system(doing: &str, error: std::io::Error) -> Self {
        Self::System { doing: doing.to_owned(), error }
    }
}

impl FromSystem for DbError {
    fn from_system(doing: &str, error: std::io::Error) -> Self {
        Self::new(ErrorClass::Other, format!("{doing}: {error}"))
    }
}

/// Runs a future that owns sessions to completion on the calling thread.
///
/// # Errors
/// The error of the future, or when the runtime cannot be created.
pub fn on_this_thread<T, E: FromSystem>(
    future: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    let runtime = triphammer_engine::runtime()
        .map_err(|error| E::from_system(triphammer_engine::NO_RUNTIME, error))?;
    tokio::task::LocalSet::new().block_on(&runtime, future)
}
