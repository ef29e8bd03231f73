//! Cases of transactions, and what one sees of another.

use std::sync::Arc;

use triphammer_core::session::{Access, Isolation, Role, Session};
use triphammer_core::{ColumnType, ErrorClass, Rows, Value};
use triphammer_drivers::ConnectSettings;

use crate::bed::Bed;
use crate::threaded::ThreadedSession;

const TABLE: &str = "CREATE TABLE t (id integer PRIMARY KEY, n integer);
    INSERT INTO t VALUES (1, 10), (2, 20);";
const COUNT: &str = "SELECT count(*) FROM t";
const INSERT: &str = "INSERT INTO t VALUES (:1, :2)";
const TWO: [ColumnType; 2] = [ColumnType::Int, ColumnType::Int];

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

pub async fn last_statement_commits(bed: &Bed) {
    let mut session = bed.session_after(TABLE).await;
    let mut other = bed.session(Role::User).await;
    let insert = bed.prepare(&mut session, INSERT, &TWO).await;
    let row = |id| [Value::Int(id), Value::Int(0)];
    session.begin(Access::Write).await.unwrap();
    assert_eq!(session.execute(insert, &row(3)).await.unwrap(), 1);
    assert_eq!(bed.number(&mut other, COUNT).await, 2, "not committed yet");
    assert_eq!(session.execute_and_commit(insert, &row(4), None).await.unwrap(), 1);
    assert_eq!(bed.number(&mut other, COUNT).await, 4);
    // The only statement of its transaction.
    session.begin(Access::Write).await.unwrap();
    assert_eq!(session.execute_and_commit(insert, &row(5), None).await.unwrap(), 1);
    assert_eq!(bed.number(&mut other, COUNT).await, 5);
    // One with rows.
    let all = bed.prepare(&mut session, "SELECT id FROM t ORDER BY id", &[]).await;
    let mut rows = Rows::new();
    for access in [Access::Read, Access::Snapshot, Access::Write] {
        session.begin(access).await.unwrap();
        let count = session.execute_and_commit(all, &[], Some(&mut rows)).await.unwrap();
        let ids: Vec<_> = rows.iter().map(|row| row.int(0).unwrap()).collect();
        assert_eq!((count, ids), (5, vec![1, 2, 3, 4, 5]));
    }
    // None at all.
    session.begin(Access::Write).await.unwrap();
    session.commit().await.unwrap();
    session.begin(Access::Write).await.unwrap();
    session.rollback().await.unwrap();
    // No transaction is open.
    assert_eq!(session.execute_autocommit(insert, &row(6)).await.unwrap(), 1);
    assert_eq!(bed.number(&mut other, COUNT).await, 6);
    bed.assert_usable(&mut session).await;
}

pub async fn last_statement_that_fails(bed: &Bed) {
    let mut session = bed.session_after(TABLE).await;
    let mut other = bed.session(Role::User).await;
    let insert = bed.prepare(&mut session, INSERT, &TWO).await;
    let row = |id| [Value::Int(id), Value::Int(0)];
    for before in [false, true] {
        session.begin(Access::Write).await.unwrap();
        if before {
            session.execute(insert, &row(3)).await.unwrap();
        }
        let error = session.execute_and_commit(insert, &row(1), None).await.unwrap_err();
        assert_eq!(error.class(), ErrorClass::Constraint, "{error:?}");
        assert!(!error.is_indeterminate());
        session.rollback().await.unwrap();
        assert_eq!(bed.number(&mut other, COUNT).await, 2, "nothing was committed");
    }
    session.begin(Access::Write).await.unwrap();
    session.execute_and_commit(insert, &row(3), None).await.unwrap();
    assert_eq!(bed.number(&mut other, COUNT).await, 3);
}

pub async fn abandoned_transaction(bed: &Bed) {
    let mut other = bed.session_after(TABLE).await;
    let mut session = bed.session(Role::User).await;
    session.begin(Access::Write).await.unwrap();
    session.script("DELETE FROM t").await.unwrap();
    drop(session);
    assert_eq!(bed.number(&mut other, COUNT).await, 2);
    // Its locks are released too.
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
        // A database that cannot share snapshots reports that; callers then read with one session.
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
    let database = Arc::new(bed.database_with(&settings));
    let members = [ThreadedSession::connect(&database), ThreadedSession::connect(&database)];
    let sum = Arc::new(bed.statement("SELECT sum(n) FROM t", &[]));
    for member in &members {
        let sum = Arc::clone(&sum);
        let seen = member.run(async move |session| {
            session.begin(Access::Write).await.unwrap();
            let id = session.prepare(&sum).await.unwrap();
            let mut rows = Rows::new();
            session.query(id, &[], &mut rows).await.unwrap();
            rows.first("sum").unwrap().int(0).unwrap()
        });
        assert_eq!(seen, 30);
    }
    // At the same time, because where reads take locks one waits for the other.
    let updates = [1, 2].map(|id| format!("UPDATE t SET n = n - 30 WHERE id = {id}"));
    let pending = members.iter().zip(updates).map(|(member, update)| {
        member.start(async move |session| {
            let mut result = session.script(&update).await;
            if result.is_ok() {
                result = session.commit().await;
            }
            session.rollback().await.unwrap();
            result
        })
    });
    let pending: Vec<_> = pending.collect();
    let errors: Vec<_> = pending.into_iter().filter_map(|one| one.wait().err()).collect();
    assert_eq!(errors.len(), 1, "one of them would have broken the rule: {errors:?}");
    let class = errors[0].class();
    assert!(matches!(class, ErrorClass::Serialization | ErrorClass::Deadlock), "{errors:?}");
    assert!(class.is_retryable());
    let mut session = bed.session(Role::User).await;
    assert_eq!(bed.number(&mut session, "SELECT sum(n) FROM t").await, 0);
}
