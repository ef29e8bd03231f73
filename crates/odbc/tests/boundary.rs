//! The boundary against a real driver manager and SQLite's driver: values in both directions, long
//! texts, arrays, errors, interruption, and objects that outlive what they were made from.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends")]

use std::time::Duration;

use tempfile::TempDir;
use triphammer_odbc::{Connection, Error, Field, Info, Manager, Param, ParamType, Statement};

const LIMIT: Duration = Duration::from_secs(10);

fn connect(string: &str) -> Result<Connection, Error> {
    let manager = Manager::get().unwrap_or_else(|error| panic!("{error}"));
    manager.connect(string, "a test", LIMIT).map(triphammer_odbc::OpenedConnection::here)
}

/// A connection to a new file.
fn fresh() -> (TempDir, Connection) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let connection = connect(&format!("Driver={{SQLite3}};Database={}", path.display())).unwrap();
    (folder, connection)
}

fn run(connection: &Connection, sql: &str) {
    let mut statement = connection.statement().unwrap();
    statement.direct(sql).unwrap();
}

/// The first row, as text.
fn row(statement: &mut Statement) -> Vec<Option<String>> {
    let width = statement.describe().unwrap();
    assert!(statement.fetch().unwrap(), "a row");
    let text = |place| match statement.field(place) {
        Field::Null => None,
        Field::Text(text) => Some(String::from_utf8(text.to_vec()).unwrap()),
        other => Some(format!("{other:?}")),
    };
    (0..width).map(text).collect()
}

#[test]
fn values_go_in_and_come_back() {
    let (_folder, connection) = fresh();
    assert_eq!(connection.info(Info::DbmsName), "SQLite");
    run(&connection, "CREATE TABLE t (a bigint, b double, c varchar(10), d varchar(10))");
    let types = [ParamType::BigInt, ParamType::Double, ParamType::Text, ParamType::Text];
    let insert = "INSERT INTO t VALUES (?, ?, ?, ?)";
    let mut insert = connection.prepare(insert, &types, 1).unwrap();
    assert_eq!(insert.parameters(), Some(4));
    for (place, value) in
        [Param::Int(i64::MIN), Param::Float(0.1), Param::Text("näh 🦀"), Param::Null]
            .into_iter()
            .enumerate()
    {
        insert.set(0, place, value).unwrap();
    }
    insert.execute().unwrap();
    assert_eq!(insert.rows_changed(), Some(1));
    let mut select = connection.statement().unwrap();
    select.read_as_text();
    select.direct("SELECT a, b, c, d FROM t").unwrap();
    let expected = [Some("-9223372036854775808"), Some("0.1"), Some("näh 🦀"), None];
    assert_eq!(row(&mut select), expected.map(|text| text.map(str::to_owned)));
    assert_eq!((select.name(0), select.name(3), select.name(4)), ("a", "d", ""));
    assert!(!select.fetch().unwrap());
}

#[test]
fn long_texts_are_read_whole() {
    let (_folder, connection) = fresh();
    run(&connection, "CREATE TABLE t (c varchar(10))");
    let mut insert = connection.prepare("INSERT INTO t VALUES (?)", &[ParamType::Text], 1).unwrap();
    let mut select = connection.prepare("SELECT c FROM t", &[], 1).unwrap();
    for length in [0, 1, 63, 64, 1023, 1024, 1025, 16_384, 100_000] {
        run(&connection, "DELETE FROM t");
        let text = "ü".repeat(length / 2) + if length % 2 == 1 { "x" } else { "" };
        insert.set(0, 0, Param::Text(&text)).unwrap();
        insert.execute().unwrap();
        select.execute().unwrap();
        assert_eq!(row(&mut select), [Some(text)], "{length} bytes");
        select.close();
    }
}

#[test]
fn arrays_of_parameters_insert_a_row_for_each_set() {
    let (_folder, connection) = fresh();
    run(&connection, "CREATE TABLE t (a integer PRIMARY KEY, c text)");
    let types = [ParamType::Int, ParamType::Text];
    // A driver may have none, and says so when the statement is prepared.
    let Ok(mut insert) = connection.prepare("INSERT INTO t VALUES (?, ?)", &types, 10) else {
        return;
    };
    for set in 0..10 {
        insert.set(set, 0, Param::Int(i64::try_from(set).unwrap())).unwrap();
        let text = "x".repeat(set * 50);
        insert.set(set, 1, Param::Text(&text)).unwrap();
    }
    insert.execute_sets(10).unwrap();
    insert.set(0, 0, Param::Int(100)).unwrap();
    insert.execute_sets(1).unwrap();
    let mut count = connection.statement().unwrap();
    count.read_as_text();
    count.direct("SELECT count(*), sum(length(c)) FROM t").unwrap();
    assert_eq!(row(&mut count), ["11", "2250"].map(|text| Some(text.to_owned())));
    // A set that fails is an error.
    for set in 0..10 {
        insert.set(set, 0, Param::Int(200 + i64::try_from(set).unwrap() % 9)).unwrap();
    }
    let error = insert.execute_sets(10).unwrap_err();
    assert_eq!(error.native, 19, "{error:?}");
}

#[test]
fn errors_have_state_number_and_message() {
    let (_folder, connection) = fresh();
    let mut statement = connection.statement().unwrap();
    let error = statement.direct("SELECT x FROM nowhere").unwrap_err();
    assert_eq!((error.state.as_str(), error.native, error.of_manager), ("HY000", 1, false));
    assert!(error.message.starts_with("no such table: nowhere"), "{error}");
    let error = connect("DSN=no-such-source").err().unwrap();
    assert_eq!((error.state.as_str(), error.of_manager), ("IM002", true), "{error:?}");
}

#[test]
fn a_statement_may_outlive_the_callers_connection() {
    let (_folder, connection) = fresh();
    let mut statement = connection.statement().unwrap();
    drop(connection);
    statement.direct("SELECT 1").unwrap();
    assert_eq!(row(&mut statement).len(), 1);
}

#[test]
fn another_thread_ends_a_statement() {
    let (_folder, connection) = fresh();
    let interrupter = connection.interrupter();
    // Nothing runs yet: nothing happens.
    interrupter.interrupt();
    let (begin, begun) = std::sync::mpsc::channel();
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let other = std::thread::spawn(move || {
        begun.recv().unwrap();
        // Until it has hit: the statement may not have begun.
        while ended
            .recv_timeout(Duration::from_millis(20))
            .is_err_and(|error| error == std::sync::mpsc::RecvTimeoutError::Timeout)
        {
            interrupter.interrupt();
        }
    });
    let mut statement = connection.statement().unwrap();
    begin.send(()).unwrap();
    let long = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n \
                WHERE x < 100000000000) SELECT count(*) FROM n";
    let mut all = || {
        statement.direct(long)?;
        statement.describe()?;
        statement.fetch()
    };
    let error = all().unwrap_err();
    end.send(()).unwrap();
    other.join().unwrap();
    assert_eq!(error.native, 9, "{error:?}");
    statement.direct("SELECT 1").unwrap();
}
