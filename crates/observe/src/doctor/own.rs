//! What the tests of `--cpu-test` and `--write-test`, and the log probe of a run, create in a
//! database, and how it is removed.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::Duration;

use tokio::time::timeout;
use triphammer_core::session::{Role, Session as _};
use triphammer_core::{DbError, ErrorClass};
use triphammer_drivers::{AnyDatabase, AnySession};
use triphammer_settings::limited::Limited;
use triphammer_settings::worker_pool::connect;

/// Beginning of the names; the check `left_by_doctor` of the dialects knows it.
const PREFIX: &str = "triphammer_doctor_";
/// Maximum time to create, fill or drop.
const LIMIT: Duration = Duration::from_secs(10);

/// Works with an object of its own: creates it, works, and drops it, whatever happened. `limit` is
/// the longest wait for a session.
///
/// # Errors
/// As the database reports, as the work; or what remains, why, and how to remove it.
pub(crate) async fn with<T>(
    (database, limit): (&AnyDatabase, Duration),
    role: Role,
    object: Object<'_>,
    work: impl AsyncFnOnce(&mut Limited<AnySession>, &str) -> Result<T, DbError>,
) -> Result<T, DbError> {
    let name = unique_name();
    let named = |sql: &str| sql.replace("{name}", &name);
    let mut session = connect(database, role, limit).await?;
    let created = match object.create {
        Some(sql) => run(&mut session, &named(sql)).await,
        None => Ok(()),
    };
    let done = match created {
        Ok(()) => work(&mut session, &name).await,
        // Nothing was created.
        Err(error) if !error.class().loses_session() => return Err(error),
        Err(error) => Err(error),
    };
    if let Some(sql) = object.drop {
        remove((database, limit), session, done.is_ok(), &named(sql)).await?;
    }
    done
}

/// Statements that create and drop an object, with `{name}` for its name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Object<'a> {
    pub create: Option<&'a str>,
    pub drop: Option<&'a str>,
}

/// A name that nothing else has.
pub(super) fn unique_name() -> String {
    // The keys of a hasher are random.
    format!("{PREFIX}{:016x}", RandomState::new().build_hasher().finish())
}

/// Runs a statement that creates, fills or drops.
pub(crate) async fn run(session: &mut Limited<AnySession>, sql: &str) -> Result<(), DbError> {
    timeout(LIMIT, session.script(sql)).await.unwrap_or_else(|_| {
        let message = format!("no answer within {} s", LIMIT.as_secs());
        Err(DbError::new(ErrorClass::Disconnected, message))
    })
}

/// Drops what was created, with another session if the first one cannot do it: it may be lost, or
/// still be cancelled.
async fn remove(
    (database, limit): (&AnyDatabase, Duration),
    mut session: Limited<AnySession>,
    is_usable: bool,
    sql: &str,
) -> Result<(), DbError> {
    if is_usable && run(&mut session, sql).await.is_ok() {
        session.close().await;
        return Ok(());
    }
    drop(session);
    let removed = async {
        let mut session = connect(database, Role::User, limit).await?;
        run(&mut session, sql).await?;
        session.close().await;
        Ok::<_, DbError>(())
    };
    removed.await.map_err(|error| {
        let message = format!("what it created remains, remove it with `{sql}`: {error}");
        DbError::new(ErrorClass::Other, message)
    })
}
