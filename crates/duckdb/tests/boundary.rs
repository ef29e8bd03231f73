//! The boundary against the real library: values of every type in both directions, errors, and
//! objects that outlive what they were made from.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends")]

use std::path::PathBuf;
use std::time::Duration;

use tempfile::TempDir;
use triphammer_duckdb::{Appender, ColumnType, Connection, ErrorKind, Library, Misfit, Value};

/// A new database file.
struct File {
    _folder: TempDir,
    path: PathBuf,
}

impl File {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.duckdb");
        Self { _folder: folder, path }
    }

    fn connect(&self) -> Connection {
        let library = Library::get()
            .unwrap_or_else(|error| panic!("{error}; for tests: tools/fetch-duckdb.py"));
        library.connect(&self.path).unwrap()
    }
}

/// A connection to a new database, which is dropped first.
fn fresh() -> (File, Connection) {
    let file = File::new();
    let connection = file.connect();
    (file, connection)
}

/// A value without its lifetime.
#[derive(Clone, Debug, PartialEq)]
enum Owned {
    Text(String),
    Other(Value<'static>),
}

fn owned(value: Value<'_>) -> Owned {
    match value {
        Value::Text(text) => Owned::Text(String::from_utf8(text.to_vec()).unwrap()),
        Value::Null => Owned::Other(Value::Null),
        Value::Int(value) => Owned::Other(Value::Int(value)),
        Value::Unsigned(value) => Owned::Other(Value::Unsigned(value)),
        Value::Float(value) => Owned::Other(Value::Float(value)),
        Value::Decimal { units, scale } => Owned::Other(Value::Decimal { units, scale }),
        Value::Date(days) => Owned::Other(Value::Date(days)),
        Value::Timestamp(micros) => Owned::Other(Value::Timestamp(micros)),
    }
}

/// All values of a result, row by row.
fn rows(mut result: triphammer_duckdb::QueryResult) -> Vec<Vec<Owned>> {
    let width = result.width();
    let mut rows = Vec::new();
    while let Some(chunk) = result.fetch().unwrap() {
        let columns: Vec<_> = (0..width).map(|column| chunk.column(column)).collect();
        for row in 0..chunk.len() {
            rows.push(columns.iter().map(|c| owned(c.value(row).unwrap())).collect());
        }
    }
    rows
}

fn one(connection: &Connection, sql: &str) -> Owned {
    rows(connection.query(sql).unwrap()).remove(0).remove(0)
}

fn int(value: i128) -> Owned {
    Owned::Other(Value::Int(value))
}

#[test]
fn results_have_every_type() {
    let (_file, connection) = fresh();
    let long = "näh, more than twelve bytes 🦀";
    let decimal = |units, scale| Owned::Other(Value::Decimal { units, scale });
    for (sql, expected) in [
        ("NULL", Owned::Other(Value::Null)),
        ("true", int(1)),
        ("(-128)::tinyint", int(-128)),
        ("(-32768)::smallint", int(-32768)),
        ("(-2147483648)::integer", int(i128::from(i32::MIN))),
        ("9223372036854775807::bigint", int(i128::from(i64::MAX))),
        ("255::utinyint", int(255)),
        ("65535::usmallint", int(65535)),
        ("4294967295::uinteger", int(i128::from(u32::MAX))),
        ("18446744073709551615::ubigint", int(i128::from(u64::MAX))),
        ("(-170141183460469231731687303715884105728)::hugeint", int(i128::MIN)),
        ("sum(7::bigint)", int(7)),
        (
            "340282366920938463463374607431768211455::uhugeint",
            Owned::Other(Value::Unsigned(u128::MAX)),
        ),
        ("1.5::float", Owned::Other(Value::Float(1.5))),
        ("(-1e300)::double", Owned::Other(Value::Float(-1e300))),
        ("(-99.99)::decimal(4, 2)", decimal(-9999, 2)),
        ("99999.9999::decimal(9, 4)", decimal(999_999_999, 4)),
        ("(-1)::decimal(18, 2)", decimal(-100, 2)),
        (
            "9999999999999999999999999999.0000000001::decimal(38, 10)",
            decimal(10_i128.pow(38) - 9_999_999_999, 10),
        ),
        ("'twelve bytes'", Owned::Text("twelve bytes".into())),
        ("''", Owned::Text(String::new())),
        (&format!("'{long}'"), Owned::Text(long.into())),
        ("date '1969-12-31'", Owned::Other(Value::Date(-1))),
        ("timestamp '1970-01-01 00:00:01.000002'", Owned::Other(Value::Timestamp(1_000_002))),
        ("'1970-01-01 00:00:01'::timestamp_s", Owned::Other(Value::Timestamp(1_000_000))),
        ("'1970-01-01 00:00:01.002'::timestamp_ms", Owned::Other(Value::Timestamp(1_002_000))),
        ("'1969-12-31 23:59:59.999999999'::timestamp_ns", Owned::Other(Value::Timestamp(-1))),
    ] {
        assert_eq!(one(&connection, &format!("SELECT {sql}")), expected, "{sql}");
    }
    let mut result = connection.query("SELECT [1, 2] AS list").unwrap();
    assert_eq!((result.width(), result.name(0)), (1, "list"));
    assert_eq!(result.name(7), "", "no such column");
    let chunk = result.fetch().unwrap().unwrap();
    assert!(matches!(chunk.column(0).kind(), ColumnType::Other(_)));
    assert_eq!(chunk.column(0).value(0), None, "a type that is not read");
}

#[test]
fn bound_values_arrive_as_they_are() {
    let (_file, connection) = fresh();
    let mut echo = connection.prepare("SELECT $2, $1").unwrap();
    assert_eq!(echo.parameters(), 2);
    echo.bind_int64(1, i64::MIN).unwrap();
    echo.bind_text(2, "it's \"so\" 🦀, and longer than twelve").unwrap();
    let text = Owned::Text("it's \"so\" 🦀, and longer than twelve".into());
    assert_eq!(rows(echo.execute().unwrap()), [[text, int(i64::MIN.into())]]);
    echo.bind_decimal(1, -(10_i128.pow(38) - 1), 38, 10).unwrap();
    echo.bind_null(2).unwrap();
    let wide = Owned::Other(Value::Decimal { units: -(10_i128.pow(38) - 1), scale: 10 });
    assert_eq!(rows(echo.execute().unwrap()), [[Owned::Other(Value::Null), wide]]);
    echo.bind_date(1, -1).unwrap();
    echo.bind_timestamp(2, -1).unwrap();
    let [moment, day] = [Value::Timestamp(-1), Value::Date(-1)].map(Owned::Other);
    assert_eq!(rows(echo.execute().unwrap()), [[moment, day]]);
    echo.bind_float(1, 0.1).unwrap();
    echo.bind_int32(2, i32::MIN).unwrap();
    let float = Owned::Other(Value::Float(0.1));
    assert_eq!(rows(echo.execute().unwrap()), [[int(i32::MIN.into()), float]]);
    echo.bind_int16(1, i16::MIN).unwrap();
    assert_eq!(rows(echo.execute().unwrap())[0][1], int(i16::MIN.into()));
    assert!(echo.bind_null(3).is_err() && echo.bind_text(0, "x").is_err(), "no such parameter");
    let mut list = connection.prepare("SELECT sum(x) FROM unnest($1) AS t(x)").unwrap();
    list.bind_ints(1, &(1..=10_000).collect::<Vec<_>>()).unwrap();
    assert_eq!(rows(list.execute().unwrap()), [[int(50_005_000)]]);
}

#[test]
fn errors_have_their_kind_and_leave_everything_usable() {
    let file = File::new();
    let connection = file.connect();
    let failed = |sql: &str| connection.query(sql).err().unwrap();
    assert_eq!(failed("SELECT * FROM nowhere").kind, ErrorKind::Other);
    assert!(failed("SELEC 1").message.contains("syntax error"));
    assert!(failed("SELECT '\0'").message.contains("zero byte"));
    assert!(connection.prepare("SELECT * FROM nowhere").err().unwrap().message.contains("nowhere"));
    connection.script("CREATE TABLE t (id integer PRIMARY KEY); INSERT INTO t VALUES (1)").unwrap();
    assert_eq!(failed("INSERT INTO t VALUES (1)").kind, ErrorKind::Constraint);
    connection.script("BEGIN; UPDATE t SET id = id").unwrap();
    let other = file.connect();
    other.script("BEGIN").unwrap();
    let conflict = other.query("UPDATE t SET id = id").err().unwrap();
    assert_eq!(conflict.kind, ErrorKind::Transaction, "{conflict}");
    let folder = file.path.parent().unwrap();
    let error = connection.library().connect(folder).err().unwrap();
    assert_eq!(error.kind, ErrorKind::Io, "{error}");
    std::fs::write(folder.join("b"), "no database at all, ".repeat(500)).unwrap();
    let error = connection.library().connect(&folder.join("b")).err().unwrap();
    assert!(error.message.contains("not a valid DuckDB database file"), "{error}");
}

#[test]
fn rows_changed_are_counted() {
    let (_file, connection) = fresh();
    connection.script("CREATE TABLE t (id integer)").unwrap();
    let insert = "INSERT INTO t SELECT * FROM range(5000)";
    assert_eq!(connection.query(insert).unwrap().rows_changed(), 5000);
    let mut delete = connection.prepare("DELETE FROM t WHERE id < $1").unwrap();
    delete.bind_int64(1, 10).unwrap();
    assert_eq!(delete.execute().unwrap().rows_changed(), 10);
    assert_eq!(delete.execute().unwrap().rows_changed(), 0);
}

#[test]
fn streamed_rows_are_those_of_the_whole_result() {
    let (_file, connection) = fresh();
    let mut long = connection.prepare("SELECT range FROM range(100000)").unwrap();
    let streamed = rows(long.stream().unwrap());
    assert_eq!((streamed.len(), &streamed[99_999][0]), (100_000, &int(99_999)));
    assert_eq!(rows(long.execute().unwrap()), streamed);
    // One that fails midway says so, however far it came.
    let cast = "SELECT CAST(CASE WHEN range < 500000 THEN range ELSE 'x' END AS integer)";
    let mut fails = connection.prepare(&format!("{cast} FROM range(600000)")).unwrap();
    let error = (|| {
        let mut result = fails.stream()?;
        while result.fetch()?.is_some() {}
        Ok::<_, triphammer_duckdb::Error>(())
    })();
    let error = error.unwrap_err();
    assert!(error.message.contains("Could not convert"), "an error of its rows: {error}");
    assert_eq!(one(&connection, "SELECT 1"), int(1));
}

#[test]
fn an_interrupt_ends_the_statement_and_no_later_one() {
    let (_file, connection) = fresh();
    let interrupter = connection.interrupter();
    interrupter.interrupt();
    assert_eq!(one(&connection, "SELECT 1"), int(1), "nothing was running");
    let (sender, receiver) = std::sync::mpsc::channel();
    let thread = std::thread::spawn({
        let interrupter = interrupter.clone();
        // As often as it takes: the statement may not have begun yet.
        move || {
            while receiver.recv_timeout(Duration::from_millis(20)).is_err() {
                interrupter.interrupt();
            }
        }
    });
    let endless =
        "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range + b.range = 1";
    let error = connection.query(endless).err().unwrap();
    sender.send(()).unwrap();
    thread.join().unwrap();
    assert_eq!(error.kind, ErrorKind::Interrupt, "{error}");
    assert_eq!(one(&connection, "SELECT 1"), int(1));
    drop(connection);
    interrupter.interrupt();
}

#[test]
fn what_is_made_from_a_connection_may_outlive_it() {
    let file = File::new();
    let connection = file.connect();
    connection.script("CREATE TABLE t (id integer)").unwrap();
    let mut statement = connection.prepare("SELECT count(*) FROM t").unwrap();
    let mut appender = Appender::new(&connection, "t", ["id"]).unwrap();
    let result = connection.query("SELECT 42").unwrap();
    drop(connection);
    assert_eq!(rows(result), [[int(42)]]);
    appender.set(0, Value::Int(7)).unwrap();
    appender.end_row().unwrap();
    appender.flush().unwrap();
    drop(appender);
    let counted = statement.execute().unwrap();
    drop(statement);
    assert_eq!(rows(counted), [[int(1)]]);
}

#[test]
fn connections_to_one_file_share_its_database() {
    let file = File::new();
    let first = file.connect();
    first.script("CREATE TABLE t (id integer); INSERT INTO t VALUES (1)").unwrap();
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let (library, path) = (first.library(), file.path.clone());
            std::thread::spawn(move || {
                for _ in 0..20 {
                    let connection = library.connect(&path).unwrap();
                    assert_eq!(one(&connection, "SELECT count(*) FROM t"), int(1));
                }
            })
        })
        .collect();
    // The last one to leave closes the file, and the next opens it again.
    drop(first);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let open = file.connect();
    let folder = file.path.parent().unwrap();
    let respelled = folder.join("..").join(folder.file_name().unwrap()).join("a.duckdb");
    let other = open.library().connect(&respelled).unwrap();
    other.script("INSERT INTO t VALUES (2)").unwrap();
    assert_eq!(one(&open, "SELECT count(*) FROM t"), int(2), "one database");
    drop(other);
    open.script("DELETE FROM t WHERE id = 2; BEGIN; DELETE FROM t").unwrap();
    drop(open);
    assert_eq!(one(&file.connect(), "SELECT count(*) FROM t"), int(1), "rolled back");
}

const TABLE: &str = "CREATE TABLE t (b bigint, i integer, s smallint, d decimal(9, 2), \
    w decimal(38, 10), f double, v varchar, day date, moment timestamp, other varchar DEFAULT 'd')";
const COLUMNS: [&str; 9] = ["i", "b", "s", "d", "w", "f", "v", "day", "moment"];

#[test]
fn an_appender_loads_rows_of_every_type() {
    let (_file, connection) = fresh();
    connection.script(TABLE).unwrap();
    let mut appender = Appender::new(&connection, "t", COLUMNS).unwrap();
    assert_eq!(
        (appender.width(), appender.kind(3)),
        (9, ColumnType::Decimal { width: 9, scale: 2 })
    );
    // More than two chunks, with NULLs that wander through the columns.
    for row in 0..5000_i64 {
        let text = format!("row {row}, longer than twelve bytes");
        let values = [
            Value::Int(row.into()),
            Value::Int((row * 1_000_007).into()),
            Value::Int((row % 100).into()),
            Value::Decimal { units: i128::from(row) * 1000, scale: 3 },
            Value::Decimal { units: 10_i128.pow(37) + i128::from(row), scale: 10 },
            Value::Float(0.5),
            Value::Text(text.as_bytes()),
            Value::Date(-1),
            Value::Timestamp(row),
        ];
        for (column, value) in values.into_iter().enumerate() {
            let null = row % 10 == column as i64;
            appender.set(column, if null { Value::Null } else { value }).unwrap();
        }
        appender.end_row().unwrap();
    }
    appender.flush().unwrap();
    let check = "SELECT count(*), count(i), count(moment), sum(b), max(d), max(w), min(v), \
        count(DISTINCT day), min(other) FROM t";
    let sum: i128 = (0..5000).filter(|row| row % 10 != 1).map(|row| row * 1_000_007).sum();
    let expected = [
        int(5000),
        int(4500),
        int(4500),
        int(sum),
        Owned::Other(Value::Decimal { units: 499_900, scale: 2 }),
        Owned::Other(Value::Decimal { units: 10_i128.pow(37) + 4999, scale: 10 }),
        Owned::Text("row 0, longer than twelve bytes".into()),
        int(1),
        Owned::Text("d".into()),
    ];
    assert_eq!(rows(connection.query(check).unwrap()), [expected]);
}

#[test]
fn an_appender_rejects_what_does_not_fit() {
    let (_file, connection) = fresh();
    connection.script(TABLE).unwrap();
    let mut appender = Appender::new(&connection, "t", COLUMNS).unwrap();
    let decimal = |units, scale| Value::Decimal { units, scale };
    for (column, value) in [
        (0, Value::Int(i128::from(i32::MAX) + 1)),
        (1, Value::Int(i128::from(i64::MIN) - 1)),
        (2, Value::Int(40_000)),
        (3, decimal(1_000_000_000, 2)),
        (3, decimal(1, 3)),
        (3, Value::Int(i128::MAX)),
        (4, decimal(10_i128.pow(38), 10)),
        (4, decimal(i128::MAX, 0)),
        (6, Value::Int(1)),
        (6, Value::Text(b"\xff")),
        (7, Value::Text(b"2026-01-01")),
    ] {
        assert_eq!(appender.set(column, value), Err(Misfit), "{column}: {value:?}");
    }
    drop(appender);
    assert_eq!(one(&connection, "SELECT count(*) FROM t"), int(0));
    assert!(Appender::new(&connection, "nowhere", ["id"]).is_err());
    assert!(Appender::new(&connection, "t", ["nowhere"]).is_err());
}

#[test]
fn an_appender_that_fails_or_is_dropped_leaves_no_row() {
    let (_file, connection) = fresh();
    connection.script("CREATE TABLE t (id integer PRIMARY KEY)").unwrap();
    let mut appender = Appender::new(&connection, "t", ["id"]).unwrap();
    for id in [1, 2, 1] {
        appender.set(0, Value::Int(id)).unwrap();
        appender.end_row().unwrap();
    }
    let error = appender.flush().unwrap_err();
    assert_eq!(error.kind, ErrorKind::Constraint, "{error}");
    drop(appender);
    let mut appender = Appender::new(&connection, "t", ["id"]).unwrap();
    for id in 0..10_000 {
        appender.set(0, Value::Int(id)).unwrap();
        appender.end_row().unwrap();
    }
    drop(appender);
    assert_eq!(one(&connection, "SELECT count(*) FROM t"), int(0));
}
