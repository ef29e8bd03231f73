//! The advisory lock of a workload in a schema: a build, a check, a drop and a run exclude each other.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use triphammer_core::session::{Admin as _, Database as _, LockMode, Role};
use triphammer_core::workload::Description;
use triphammer_drivers::{AnyDatabase, AnySession};
use triphammer_settings::failure::{Doing as _, Failure};
use triphammer_settings::limited::Limited;
use triphammer_settings::worker_pool::connect;

/// A command that begins right after another finds its lock held: a server ends a session, and
/// releases its locks, a moment after the client has left.
const LOCK_PATIENCE: Duration = Duration::from_secs(1);
/// Time between two attempts.
const LOCK_RETRY: Duration = Duration::from_millis(100);

/// Takes the advisory lock of the workload in the schema; the returned session holds it.
///
/// # Errors
/// When another session holds a conflicting lock.
pub async fn lock_workload(
    workload: &Description,
    database: &Arc<AnyDatabase>,
    role: Role,
    mode: LockMode,
    limit: Duration,
) -> Result<Limited<AnySession>, Failure> {
    let target = database.target();
    let mut session =
        connect(database, role, limit).await.doing(format_args!("connecting to {target}"))?;
    let name = workload.record_name();
    let until = Instant::now() + LOCK_PATIENCE;
    loop {
        if session.advisory_lock(name, mode).await.doing("locking the workload")? {
            return Ok(session);
        }
        if Instant::now() >= until {
            break;
        }
        tokio::time::sleep(LOCK_RETRY).await;
    }
    let what = match mode {
        LockMode::Shared => "a build, check or drop",
        LockMode::Exclusive => "a run, build, check or drop",
    };
    Err(Failure::refuse(format!(
        "{what} of {} is running at {target}; wait until it has finished",
        workload.title
    )))
}
