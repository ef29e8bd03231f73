//! Cases of statements, scripts and calls.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use triphammer_core::session::{Access, Admin, Role, Session};
use triphammer_core::{ColumnType, ErrorClass, Rows, Value};

use crate::bed::Bed;
use crate::threaded::ThreadedSession;

const TABLE: &str = "CREATE TABLE t (id integer PRIMARY KEY, n integer)";

pub async fn statements_reused_and_interleaved(bed: &Bed) {
    let mut session = bed.session(Role::User).await;
    let int = bed.prepare(&mut session, bed.words.echo, &[ColumnType::Int]).await;
    let text = bed.prepare(&mut session, bed.words.echo, &[ColumnType::Text]).await;
    let mut ids = vec![];
    for _ in 0..50 {
        ids.push(bed.prepare(&mut session, bed.words.echo, &[ColumnType::BigInt]).await);
    }
    assert!(ids.iter().enumerate().all(|(place, id)| id.index() == place + 2));
    let mut rows = Rows::new();
    for round in 0..200 {
        session.query(int, &[Value::Int(round)], &mut rows).await.unwrap();
        assert_eq!(rows.first("int").unwrap().int(0).unwrap(), round);
        let word = format!("round {round}");
        session.query(text, &[Value::Text(&word)], &mut rows).await.unwrap();
        assert_eq!(rows.first("text").unwrap().text(0).unwrap(), word);
        let id = ids[usize::try_from(round).unwrap() % ids.len()];
        session.query(id, &[Value::Int(i64::MAX - round)], &mut rows).await.unwrap();
        assert_eq!(rows.first("big").unwrap().int(0).unwrap(), i64::MAX - round);
        assert_eq!((rows.len(), rows.width()), (1, 1));
    }
}

pub async fn execute_gives_the_row_count(bed: &Bed) {
    let mut session = bed.session_after(TABLE).await;
    let types = [ColumnType::Int, ColumnType::Int];
    let insert = bed.prepare(&mut session, "INSERT INTO t VALUES (:1, :2)", &types).await;
    for n in 0..10 {
        let args = [Value::Int(n), Value::Int(n % 3)];
        assert_eq!(session.execute(insert, &args).await.unwrap(), 1);
    }
    let update = bed.prepare(&mut session, "UPDATE t SET n = 7 WHERE n = :1", &types[..1]).await;
    for (n, expected) in [(1, 3), (1, 0), (7, 3), (99, 0)] {
        assert_eq!(session.execute(update, &[Value::Int(n)]).await.unwrap(), expected, "{n}");
    }
    let delete = bed.prepare(&mut session, "DELETE FROM t WHERE n = :1", &types[..1]).await;
    assert_eq!(session.execute(delete, &[Value::Int(0)]).await.unwrap(), 4);
}

pub async fn columns_have_names(bed: &Bed) {
    let mut session = bed.session_after(TABLE).await;
    let select = "SELECT id, n AS amount, n + 1 AS more FROM t";
    let select = bed.prepare(&mut session, select, &[]).await;
    let names = |rows: &Rows| (0..4).map(|n| rows.name(n).map(str::to_owned)).collect::<Vec<_>>();
    let expected = [Some("id"), Some("amount"), Some("more"), None].map(|n| n.map(str::to_owned));
    let mut named = Rows::with_names();
    session.query(select, &[], &mut named).await.unwrap();
    assert_eq!((names(&named), named.len()), (expected.to_vec(), 0), "without a row too");
    session.script("INSERT INTO t VALUES (1, 7)").await.unwrap();
    let mut batches = 0;
    let mut each = |rows: &Rows| {
        assert_eq!((names(rows), rows.row(0).int(2).unwrap()), (expected.to_vec(), 8));
        batches += 1;
    };
    session.stream(select, &[], &mut named, &mut each).await.unwrap();
    assert_eq!(batches, 1);
    let mut unnamed = Rows::new();
    session.query(select, &[], &mut unnamed).await.unwrap();
    assert_eq!((unnamed.len(), unnamed.name(0)), (1, None), "nobody wants them");
}

pub async fn failed_statement(bed: &Bed) {
    let mut session = bed.session_after(TABLE).await;
    let insert =
        bed.prepare(&mut session, "INSERT INTO t VALUES (:1, 0)", &[ColumnType::Int]).await;
    session.execute(insert, &[Value::Int(1)]).await.unwrap();
    session.begin(Access::Write).await.unwrap();
    session.execute(insert, &[Value::Int(2)]).await.unwrap();
    session.execute(insert, &[Value::Int(1)]).await.unwrap_err();
    session.rollback().await.unwrap();
    assert_eq!(bed.number(&mut session, "SELECT count(*) FROM t").await, 1);
    let error = session.script("SELECT x FROM nowhere").await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Other, "{error:?}");
    assert!(error.to_string().contains("nowhere"), "{error}");
    let missing = bed.statement("SELECT x FROM nowhere WHERE x = :1", &[ColumnType::Int]);
    session.prepare(&missing).await.unwrap_err();
    session.begin(Access::Write).await.unwrap();
    session.execute(insert, &[Value::Int(3)]).await.unwrap();
    session.commit().await.unwrap();
    assert_eq!(bed.number(&mut session, "SELECT count(*) FROM t").await, 2);
}

/// Statements on a table that another session changes.
const ON_CHANGED: [&str; 4] = [
    "SELECT * FROM t WHERE id = :1",
    "SELECT n FROM t WHERE id = :1",
    "INSERT INTO t (id, n) VALUES (:1 + 10, 0)",
    "UPDATE t SET n = n + 1 WHERE id = :1",
];
const INSERTS: usize = 2;

/// When another session changes the columns.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Change {
    Between,
    /// After the first statement, which uses another table.
    Within,
}

/// Columns come and go while statements are prepared, and each statement goes on: at once, or when
/// its transaction is made again, as the engine does after errors of a class that is retried.
async fn columns_change(bed: &Bed, when: Change) {
    let mut session = bed.session_after(TABLE).await;
    session.script("CREATE TABLE u (id integer); INSERT INTO t VALUES (1, 0)").await.unwrap();
    let mut other = bed.session(Role::User).await;
    let before = bed.prepare(&mut session, "SELECT count(*) FROM u", &[]).await;
    let mut ids = Vec::new();
    for sql in ON_CHANGED {
        ids.push(bed.prepare(&mut session, sql, &[ColumnType::Int]).await);
    }
    let add = format!("ALTER TABLE t {} c integer", bed.words.add_column);
    let drop = "ALTER TABLE t DROP COLUMN c";
    for (round, change) in ["", &add, drop, &add, drop].into_iter().enumerate() {
        // Each statement is the first to meet a change once.
        for place in (round..round + ids.len()).map(|place| place % ids.len()) {
            let mut rows = Rows::new();
            let arg = if place == INSERTS { i64::try_from(round).unwrap() } else { 1 };
            let mut change = (place == round % ids.len()).then_some(change);
            for attempt in 1.. {
                if let Some(sql) = change.take_if(|_| when == Change::Between) {
                    other.script(sql).await.unwrap();
                }
                session.begin(Access::Write).await.unwrap();
                session.query(before, &[], &mut rows).await.unwrap();
                if let Some(sql) = change.take() {
                    other.script(sql).await.unwrap();
                }
                let args = [Value::Int(arg)];
                let wanted = (place < INSERTS).then_some(&mut rows);
                let ran = session.execute_and_commit(ids[place], &args, wanted).await;
                let Err(error) = ran else { break };
                assert!(attempt == 1 && error.class().is_retryable(), "{place}: {error:?}");
                session.rollback().await.unwrap();
            }
            // A transaction that began before the change may see what was there then.
            if place == 0 && (when == Change::Between || round % ids.len() > 0) {
                assert_eq!((rows.len(), rows.width()), (1, 2 + round % 2), "round {round}");
            }
        }
    }
    assert_eq!(bed.number(&mut session, "SELECT count(*) FROM t").await, 6);
    assert_eq!(bed.number(&mut session, "SELECT n FROM t WHERE id = 1").await, 5);
}

pub async fn columns_that_change_between_transactions(bed: &Bed) {
    columns_change(bed, Change::Between).await;
}

pub async fn columns_that_change_within_a_transaction(bed: &Bed) {
    columns_change(bed, Change::Within).await;
}

pub async fn unique_violation(bed: &Bed) {
    let mut session = bed.session_after(TABLE).await;
    let insert =
        bed.prepare(&mut session, "INSERT INTO t VALUES (:1, 0)", &[ColumnType::Int]).await;
    session.execute(insert, &[Value::Int(1)]).await.unwrap();
    let error = session.execute(insert, &[Value::Int(1)]).await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Constraint, "{error:?}");
    assert!(error.code().is_some(), "the database's own code is kept");
    bed.assert_usable(&mut session).await;
}

pub async fn script_of_several_statements(bed: &Bed) {
    let text = bed.column_type(ColumnType::Text);
    let script = format!(
        "CREATE TABLE t (words {text}); -- it's; a comment\n
        INSERT INTO t VALUES ('a;b'), ('it''s');
        /* and; another */ INSERT INTO t VALUES ('näh');"
    );
    let mut session = bed.session_after(&script).await;
    assert_eq!(bed.number(&mut session, "SELECT count(*) FROM t").await, 3);
    for empty in ["", ";", "-- nothing\n"] {
        session.script(empty).await.unwrap();
    }
    let broken = "INSERT INTO t VALUES ('a'); INSERT INTO nowhere VALUES (1);";
    session.script(broken).await.unwrap_err();
    bed.assert_usable(&mut session).await;
}

pub async fn call_commits_by_itself(bed: &Bed) {
    let mut session = bed.session_after(TABLE).await;
    let insert =
        bed.prepare(&mut session, "INSERT INTO t VALUES (:1, 0)", &[ColumnType::Int]).await;
    let mut rows = Rows::new();
    session.call(insert, &[Value::Int(1)], &mut rows).await.unwrap();
    let mut other = bed.session(Role::User).await;
    assert_eq!(bed.number(&mut other, "SELECT count(*) FROM t").await, 1);
    let error = session.call(insert, &[Value::Int(1)], &mut rows).await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Constraint, "{error:?}");
    assert!(!error.is_indeterminate(), "the database has answered");
    assert_eq!(session.execute_autocommit(insert, &[Value::Int(2)]).await.unwrap(), 1);
    assert_eq!(bed.number(&mut other, "SELECT count(*) FROM t").await, 2);
    let error = session.execute_autocommit(insert, &[Value::Int(2)]).await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Constraint, "{error:?}");
    assert!(!error.is_indeterminate(), "the database has answered");
    bed.assert_usable(&mut session).await;
}

pub async fn procedure_with_results(bed: &Bed) {
    let mut session = bed.session(Role::User).await;
    session.script(bed.words.procedure).await.unwrap();
    let id = bed.prepare(&mut session, bed.words.procedure_call, &[ColumnType::Int]).await;
    let mut rows = Rows::new();
    for n in [7, 8] {
        session.call(id, &[Value::Int(n)], &mut rows).await.unwrap();
        assert_eq!((rows.len(), rows.width()), (1, 3), "what came before is read and gone");
        let row = rows.row(0);
        assert_eq!(row.int(0).unwrap(), 2 * n);
        assert_eq!(row.text(1).unwrap(), "it's");
        let list = row.list(2).unwrap();
        assert_eq!((list.len(), list.int(0).unwrap(), list.int(2).unwrap()), (3, 1, 3));
        assert!(list.is_null(1));
        bed.assert_usable(&mut session).await;
    }
}

pub async fn a_ping_leaves_no_trace(bed: &Bed) {
    let mut session = bed.session(Role::User).await;
    let measures = session.ping().await.unwrap();
    let in_process = session.server().await.unwrap().transport == "in process";
    assert_eq!(measures, !in_process, "where there is a way, it has a time");
    session.begin(Access::Write).await.unwrap();
    session.ping().await.unwrap();
    session.commit().await.unwrap();
    assert_eq!(session.ping().await.unwrap(), measures);
}

pub async fn tables(bed: &Bed) {
    let mut session = bed.session(Role::User).await;
    assert_eq!(session.tables().await.unwrap(), Vec::<String>::new());
    session
        .script("CREATE TABLE Second (a integer); CREATE TABLE first (a integer)")
        .await
        .unwrap();
    let mut tables = session.tables().await.unwrap();
    tables.sort();
    assert_eq!(tables, ["first", "second"]);
}

pub async fn large_results_are_streamed(bed: &Bed) {
    let mut session = bed.session(Role::User).await;
    let id = bed.prepare(&mut session, bed.words.series, &[]).await;
    let (mut count, mut sum, mut largest) = (0, 0, 0);
    let mut each = |rows: &Rows| {
        assert!(!rows.is_empty());
        count += rows.len();
        sum += rows.iter().map(|row| row.int(0).unwrap()).sum::<i64>();
        largest = largest.max(rows.bytes());
    };
    let mut batch = Rows::new();
    session.stream(id, &[], &mut batch, &mut each).await.unwrap();
    assert_eq!((count, sum), (1_000_000, 500_000_500_000));
    assert!(largest <= 2 * 1024 * 1024, "a batch of {largest} bytes");
    bed.assert_usable(&mut session).await;
}

pub async fn cancel(bed: &Bed) {
    let database = Arc::new(bed.slow_database());
    let member = ThreadedSession::connect(&database);
    let long = bed.statement(bed.words.long, &[]);
    let (id, canceller) = member
        .run(async move |session| (session.prepare(&long).await.unwrap(), session.canceller()));
    // Where it is unknown whether the statement has begun, it is assumed after a while.
    let began = Instant::now();
    let has_begun = async || match canceller.is_at_work().await.unwrap() {
        Some(is_at_work) => is_at_work,
        None => began.elapsed() > Duration::from_millis(500),
    };
    let pending = member.start(async move |session| {
        let result = session.query(id, &[], &mut Rows::new()).await;
        // Nothing may be left over that would affect a later statement.
        (result, session.rollback().await)
    });
    while !has_begun().await {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    canceller.cancel().await;
    let (result, rollback) = pending.wait();
    let error = result.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Cancelled, "{error:?}");
    rollback.unwrap();
    let echo = bed.statement(bed.words.echo, &[ColumnType::Int]);
    let echoed = member.run(async move |session| {
        let id = session.prepare(&echo).await.unwrap();
        let mut rows = Rows::new();
        session.query(id, &[Value::Int(5)], &mut rows).await.unwrap();
        rows.first("echo").unwrap().int(0).unwrap()
    });
    assert_eq!(echoed, 5);
}
