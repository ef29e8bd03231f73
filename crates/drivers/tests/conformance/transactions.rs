//! Transactions, and what one sees of another.

use triphammer_core::ErrorClass;
use triphammer_core::session::{Access, Database, Isolation, Role, Session};
use triphammer_drivers::ConnectSettings;

use crate::bed::Bed;

const TABLE: &str = "CREATE TABLE t (id integer PRIMARY KEY, n integer);
    INSERT INTO t VALUES (1, 10), (2, 20);";
const COUNT: &str = "SELECT count(*) FROM t";

pub async fn transactions(bed: &Bed) {
    let mut session = bed.session_after(TABLE).await;
    let mut other = bed.session(Role::User).await;
    session.rollback().await.unwrap();
    session.begin(Access::Write).await.unwrap();
    session.script("INSERT INTO t VALUES (3, 0)").await.unwrap();
    assert_eq!(bed.number(&mut session, COUNT).await, 3);
    assert_eq!(bed.number(&mut other, COUNT).await, 2, "not committed yet");
    session.commit().await.unwrap();
    assert_eq!(bed.number(&mut other, COUNT).await, 3);
    session.begin(Access::Write).await.unwrap();
    session.script("DELETE FROM t").await.unwrap();
    session.rollback().await.unwrap();
    assert_eq!(bed.number(&mut other, COUNT).await, 3);
    for access in [Access::Read, Access::Snapshot, Access::Write] {
        session.begin(access).await.unwrap();
        assert_eq!(bed.number(&mut session, COUNT).await, 3);
        session.commit().await.unwrap();
        session.rollback().await.unwrap();
    }
}

pub async fn abandoned_transaction(bed: &Bed) {
    let mut other = bed.session_after(TABLE).await;
    let mut session = bed.session(Role::User).await;
    session.begin(Access::Write).await.unwrap();
    session.script("DELETE FROM t").await.unwrap();
    drop(session);
    assert_eq!(bed.number(&mut other, COUNT).await, 2);
    // Its locks go too.
    other.begin(Access::Write).await.unwrap();
    other.script("UPDATE t SET n = 0").await.unwrap();
    other.commit().await.unwrap();
}

pub async fn read_only_access(bed: &Bed) {
    let mut session = bed.session_after(TABLE).await;
    for access in [Access::Read, Access::Snapshot] {
        session.begin(access).await.unwrap();
        let error = session.script("DELETE FROM t").await.unwrap_err();
        assert_eq!(error.class(), ErrorClass::ReadOnly, "{error:?}");
        session.rollback().await.unwrap();
    }
    assert_eq!(bed.number(&mut session, COUNT).await, 2);
}

pub async fn snapshot(bed: &Bed) {
    let mut writer = bed.session_after(TABLE).await;
    let mut reader = bed.session(Role::Monitor).await;
    reader.begin(Access::Snapshot).await.unwrap();
    assert_eq!(bed.number(&mut reader, COUNT).await, 2);
    for id in [3, 4] {
        writer.begin(Access::Write).await.unwrap();
        writer.script(&format!("INSERT INTO t VALUES ({id}, 0)")).await.unwrap();
        writer.commit().await.unwrap();
        assert_eq!(bed.number(&mut reader, COUNT).await, 2, "still the same instant");
    }
    reader.commit().await.unwrap();
    assert_eq!(bed.number(&mut reader, COUNT).await, 4);
}

pub async fn shared_snapshot(bed: &Bed) {
    let mut writer = bed.session_after(TABLE).await;
    let mut first = bed.session(Role::Monitor).await;
    first.begin(Access::Snapshot).await.unwrap();
    let Some(name) = first.share_snapshot().await.unwrap() else {
        // A database that cannot share says so; whoever asks reads with one session then.
        return first.rollback().await.unwrap();
    };
    writer.script("DELETE FROM t").await.unwrap();
    let mut second = bed.session(Role::Monitor).await;
    second.begin_at(&name).await.unwrap();
    for session in [&mut first, &mut second] {
        assert_eq!(bed.number(session, COUNT).await, 2);
        session.rollback().await.unwrap();
        assert_eq!(bed.number(session, COUNT).await, 0);
    }
}

pub async fn write_skew(bed: &Bed) {
    let settings =
        ConnectSettings { isolation: Some(Isolation::Serializable), ..Default::default() };
    bed.session_after(TABLE).await;
    let database = bed.database_with(&settings);
    let mut sessions =
        [database.connect(Role::User).await.unwrap(), database.connect(Role::User).await.unwrap()];
    for session in &mut sessions {
        session.begin(Access::Write).await.unwrap();
        assert_eq!(bed.number(session, "SELECT sum(n) FROM t").await, 30);
    }
    let mut results = Vec::new();
    for (id, session) in (1..).zip(&mut sessions) {
        let update = format!("UPDATE t SET n = n - 30 WHERE id = {id}");
        let mut result = session.script(&update).await;
        if result.is_ok() {
            result = session.commit().await;
        }
        session.rollback().await.unwrap();
        results.push(result);
    }
    let errors: Vec<_> = results.into_iter().filter_map(Result::err).collect();
    assert_eq!(errors.len(), 1, "one of them would have broken the rule: {errors:?}");
    assert_eq!(errors[0].class(), ErrorClass::Serialization, "{errors:?}");
    assert!(errors[0].class().is_retryable());
    assert_eq!(bed.number(&mut sessions[0], "SELECT sum(n) FROM t").await, 0);
}
