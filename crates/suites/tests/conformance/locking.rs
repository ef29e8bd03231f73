//! Cases of sessions that block each other.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use triphammer_core::ErrorClass;
use triphammer_core::error::DbError;
use triphammer_core::session::{Access, Admin, LockMode, Role, Session};
use triphammer_drivers::{AnySession, ConnectSettings};

use crate::bed::{Bed, eventually};
use crate::threaded::ThreadedSession;

const TABLE: &str = "CREATE TABLE t (id integer PRIMARY KEY, n integer);
    INSERT INTO t VALUES (1, 10), (2, 20);";

async fn update(session: &mut AnySession, id: u32) -> Result<(), DbError> {
    session.script(&format!("UPDATE t SET n = n + 1 WHERE id = {id}")).await
}

async fn begin_and_update(session: &mut AnySession, id: u32) -> Result<(), DbError> {
    session.begin(Access::Write).await?;
    update(session, id).await
}

pub async fn lock_timeout(bed: &Bed) {
    bed.session_after(TABLE).await;
    let limit = Duration::from_millis(700);
    let settings = ConnectSettings { lock_timeout: Some(limit), ..Default::default() };
    let database = Arc::new(bed.database_with(&settings));
    let (holder, waiter) =
        (ThreadedSession::connect(&database), ThreadedSession::connect(&database));
    holder.run(async |session| begin_and_update(session, 1).await.unwrap());
    let began = Instant::now();
    let error = waiter.run(async |session| {
        let error = begin_and_update(session, 1).await.unwrap_err();
        session.rollback().await.unwrap();
        error
    });
    let waited = began.elapsed();
    assert_eq!(error.class(), ErrorClass::LockTimeout, "{error:?}");
    // The defaults of servers are 50 s, or no limit.
    let expected = Duration::from_millis(500)..Duration::from_secs(30);
    assert!(expected.contains(&waited), "{waited:?}");
    holder.run(async |session| session.commit().await.unwrap());
    waiter.run(async |session| {
        begin_and_update(session, 1).await.unwrap();
        session.commit().await.unwrap();
    });
}

pub async fn deadlock(bed: &Bed) {
    bed.session_after(TABLE).await;
    let database = Arc::new(bed.database());
    let (first, second) =
        (ThreadedSession::connect(&database), ThreadedSession::connect(&database));
    first.run(async |session| begin_and_update(session, 1).await.unwrap());
    second.run(async |session| begin_and_update(session, 2).await.unwrap());
    let crossing = |member: &ThreadedSession, id| {
        member.start(async move |session| {
            let result = update(session, id).await;
            match &result {
                Ok(()) => session.commit().await.unwrap(),
                Err(_) => session.rollback().await.unwrap(),
            }
            result
        })
    };
    let pending = [crossing(&first, 2), crossing(&second, 1)];
    let errors: Vec<_> = pending.into_iter().filter_map(|one| one.wait().err()).collect();
    assert_eq!(errors.len(), 1, "one of the two is ended: {errors:?}");
    assert_eq!(errors[0].class(), ErrorClass::Deadlock, "{errors:?}");
    assert!(errors[0].class().is_retryable());
}

pub async fn claims(bed: &Bed) {
    // One database for all sessions: locks of the null driver do not extend beyond it.
    let database = Arc::new(bed.database());
    let take = |mode: LockMode, name: &'static str| {
        let database = Arc::clone(&database);
        async move {
            use triphammer_core::session::Database;
            let mut session = database.connect(Role::Monitor, 0).await.unwrap();
            session.advisory_lock(name, mode).await.unwrap().then_some(session)
        }
    };
    let first = take(LockMode::Shared, "tproc_c").await.expect("nobody stands against it");
    let second = take(LockMode::Shared, "tproc_c").await.expect("shared by two");
    assert!(take(LockMode::Exclusive, "tproc_c").await.is_none());
    let other = take(LockMode::Exclusive, "tpc_b").await.expect("another name");
    drop(first);
    assert!(take(LockMode::Exclusive, "tproc_c").await.is_none(), "the second still holds it");
    second.close().await;
    let exclusive = std::cell::RefCell::new(None);
    eventually("an exclusive lock when all have left", || {
        Box::pin(async {
            *exclusive.borrow_mut() = take(LockMode::Exclusive, "tproc_c").await;
            exclusive.borrow().is_some()
        })
    })
    .await;
    assert!(take(LockMode::Shared, "tproc_c").await.is_none());
    assert!(take(LockMode::Exclusive, "tpc_b").await.is_none());
    drop((exclusive.take(), other));
    eventually("a shared lock when the holder was dropped", || {
        Box::pin(async { take(LockMode::Shared, "tproc_c").await.is_some() })
    })
    .await;
}
