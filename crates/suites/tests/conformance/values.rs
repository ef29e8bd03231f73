//! Cases of values on their way to the database and back.

use std::sync::LazyLock;
use triphammer_core::session::{Access, Role, Session};
use triphammer_core::value::rescale;
use triphammer_core::workload::{TableDef, column, table};
use triphammer_core::{ColumnType, Date, ErrorClass, Row, Rows, Timestamp, Value};
use triphammer_drivers::AnySession;

use crate::bed::Bed;

const TYPES: [ColumnType; 10] = [
    ColumnType::SmallInt,
    ColumnType::Int,
    ColumnType::BigInt,
    ColumnType::Float,
    ColumnType::Decimal(2),
    ColumnType::Decimal(4),
    ColumnType::Text,
    ColumnType::Timestamp,
    ColumnType::Date,
    WIDE,
];

/// A decimal of up to 38 digits.
const WIDE: ColumnType = ColumnType::Decimal(10);

static VALUES: LazyLock<TableDef> = LazyLock::new(|| {
    table(
        "conformance_values",
        [
            column("small", ColumnType::SmallInt),
            column("middle", ColumnType::Int),
            column("big", ColumnType::BigInt),
            column("floating", ColumnType::Float),
            column("cents", ColumnType::Decimal(2)),
            column("rate", ColumnType::Decimal(4)),
            column("words", ColumnType::Text),
            column("moment", ColumnType::Timestamp),
            column("day", ColumnType::Date),
            column("wide", WIDE),
        ],
    )
});

/// Values of a type that are most likely to fail.
fn values(bed: &Bed, column: ColumnType, long: &'static str) -> Vec<Value<'static>> {
    let integers = |list: &[i64]| list.iter().copied().map(Value::Int).collect();
    match column {
        ColumnType::SmallInt => integers(&[0, -1, i64::from(i16::MIN), i64::from(i16::MAX)]),
        ColumnType::Int => integers(&[0, -1, i64::from(i32::MIN), i64::from(i32::MAX)]),
        ColumnType::BigInt => integers(&[0, -1, i64::MIN, i64::MAX]),
        ColumnType::Float => {
            [0.0, -1.5, 1e300, 1e-300, 0.1].into_iter().map(Value::Float).collect()
        }
        WIDE => {
            let largest = 10i128.pow(bed.words.wide_digits) - 1;
            [0, 1, -1, largest, -largest, largest - 10_000_000_000, largest / 1_000 * 1_000]
                .into_iter()
                .map(|units| Value::Decimal128 { units: Box::leak(Box::new(units)), scale: 10 })
                .collect()
        }
        ColumnType::Decimal(scale) => {
            let largest = 10i64.pow(bed.words.decimal_digits) - 1;
            let one = rescale(1, 0, scale).unwrap();
            [0, 1, -1, one, -one, 10 * one, 5 * one + 1, largest, -largest, 30_000_000]
                .into_iter()
                .map(|units| Value::Decimal { units, scale })
                .collect()
        }
        ColumnType::Text => [
            "",
            " ",
            "a",
            "it's \"so\" \\n \\",
            "one\ntwo\r\n\tthree",
            "näh, 日本語 🦀🦀",
            "%_;--:1 $1 ?",
            "NULL",
            "\\N",
            long,
        ]
        .into_iter()
        .map(Value::Text)
        .collect(),
        ColumnType::Timestamp => [
            "2026-01-01 00:00:00",
            "1970-01-01 00:00:00",
            "1969-12-31 23:59:59",
            "1900-02-28 12:30:00",
            "2024-02-29 23:59:59.000001",
            "1999-12-31 23:59:59.999999",
            "9999-12-30 12:00:00",
            "0001-01-01 00:00:00",
        ]
        .into_iter()
        .map(|text| Value::Timestamp(Timestamp::parse(text).unwrap()))
        .collect(),
        ColumnType::Date => [
            "2026-01-31",
            "1970-01-01",
            "1969-12-31",
            "2024-02-29",
            "1992-01-01",
            "9999-12-31",
            "0001-01-01",
        ]
        .into_iter()
        .map(|text| Value::Date(Date::parse(text).unwrap()))
        .collect(),
        ColumnType::IntList | ColumnType::Any => unreachable!("no column is one"),
    }
}

/// Rows that contain every value and, in each column, NULL.
fn all(bed: &Bed) -> Vec<Vec<Value<'static>>> {
    let long: &'static str = Box::leak("long ünd ".repeat(3000).into_boxed_str());
    let columns: Vec<_> = TYPES.iter().map(|column| values(bed, *column, long)).collect();
    let longest = columns.iter().map(Vec::len).max().unwrap();
    let mut rows: Vec<Vec<_>> = (0..longest)
        .map(|row| columns.iter().map(|values| values[row % values.len()]).collect())
        .collect();
    for null in 0..TYPES.len() {
        let mut row = rows[0].clone();
        row[null] = Value::Null;
        rows.push(row);
    }
    rows.push(vec![Value::Null; TYPES.len()]);
    rows
}

async fn create(bed: &Bed, session: &mut AnySession) {
    let columns: Vec<_> = VALUES
        .columns
        .iter()
        .map(|column| format!("{} {}", column.name, bed.column_type(column.column_type)))
        .collect();
    let script = format!("CREATE TABLE {} ({})", VALUES.name, columns.join(", "));
    session.script(&script).await.unwrap();
}

fn assert_equal(row: &Row<'_>, expected: &[Value<'_>]) {
    for (place, value) in expected.iter().enumerate() {
        let shown = format!("column {place}, {value:?}: {:?}", row.cell(place));
        match *value {
            Value::Null => assert!(row.is_null(place), "{shown}"),
            Value::Int(value) => assert_eq!(row.int(place).unwrap(), value, "{shown}"),
            Value::Float(value) => assert_eq!(row.float(place).unwrap(), value, "{shown}"),
            Value::Decimal { units, scale } => {
                assert_eq!(row.decimal(place, scale).unwrap(), units, "{shown}");
            }
            Value::Decimal128 { units, scale } => {
                assert_eq!(row.decimal128(place, scale).unwrap(), *units, "{shown}");
            }
            Value::Date(value) => assert_eq!(row.date(place).unwrap(), value, "{shown}"),
            Value::Text(value) => assert_eq!(row.text(place).unwrap(), value, "{shown}"),
            Value::Timestamp(value) => {
                assert_eq!(row.timestamp(place).unwrap(), value, "{shown}");
            }
            Value::Bytes(_) | Value::Ints(_) => unreachable!("no column is one"),
        }
    }
}

pub async fn types_through_arguments(bed: &Bed) {
    let mut session = bed.session(Role::User).await;
    create(bed, &mut session).await;
    let marks = ":1, :2, :3, :4, :5, :6, :7, :8, :9, :10";
    let insert = format!("INSERT INTO {} VALUES ({marks})", VALUES.name);
    let insert = bed.prepare(&mut session, &insert, &TYPES).await;
    let select = format!("SELECT * FROM {}", VALUES.name);
    let select = bed.prepare(&mut session, &select, &[]).await;
    let delete = format!("DELETE FROM {}", VALUES.name);
    let delete = bed.prepare(&mut session, &delete, &[]).await;
    let mut rows = Rows::new();
    for expected in all(bed) {
        session.execute(insert, &expected).await.unwrap();
        session.query(select, &[], &mut rows).await.unwrap();
        assert_eq!((rows.len(), rows.width()), (1, TYPES.len()));
        assert_equal(&rows.row(0), &expected);
        session.execute(delete, &[]).await.unwrap();
    }
    let day = Value::Date(Date::parse("2026-01-31").unwrap());
    for (column, typed, value) in [
        ("words", ColumnType::Text, Value::Text("it's 🦀")),
        ("cents", ColumnType::Decimal(2), Value::cents(-1999)),
        ("day", ColumnType::Date, day),
    ] {
        let insert = format!("INSERT INTO {} ({column}) VALUES (:1)", VALUES.name);
        let insert = bed.prepare(&mut session, &insert, &[typed]).await;
        session.execute(insert, &[value]).await.unwrap();
        let find = format!("SELECT count(*) FROM {} WHERE {column} = :1", VALUES.name);
        let find = bed.prepare(&mut session, &find, &[typed]).await;
        session.query(find, &[value], &mut rows).await.unwrap();
        assert_eq!(rows.row(0).int(0).unwrap(), 1, "{column} is found by its value");
    }
}

pub async fn types_through_load(bed: &Bed) {
    let mut session = bed.session(Role::Loader).await;
    create(bed, &mut session).await;
    let expected = all(bed);
    let mut left = expected.iter();
    let mut source = |rows: &mut Rows| {
        let Some(row) = left.next() else { return false };
        for value in row {
            match *value {
                Value::Null => rows.null(),
                Value::Int(value) => rows.int(value),
                Value::Float(value) => rows.float(value),
                Value::Decimal { units, scale } => rows.decimal(units, scale),
                Value::Decimal128 { units, scale } => rows.decimal128(*units, scale),
                Value::Date(value) => rows.date(value),
                Value::Text(value) => rows.text(value),
                Value::Timestamp(value) => rows.timestamp(value),
                Value::Bytes(_) | Value::Ints(_) => unreachable!("no column is one"),
            }
        }
        true
    };
    session.begin(Access::Write).await.unwrap();
    let count = session.load(&VALUES, &mut source).await.unwrap();
    session.commit().await.unwrap();
    assert_eq!(count, expected.len() as u64);
    let select = bed.prepare(&mut session, &format!("SELECT * FROM {}", VALUES.name), &[]).await;
    let mut rows = Rows::new();
    session.query(select, &[], &mut rows).await.unwrap();
    assert_eq!(rows.len(), expected.len());
    for (row, expected) in rows.iter().zip(&expected) {
        assert_equal(&row, expected);
    }
}

pub async fn lists_as_arguments(bed: &Bed) {
    let mut session = bed.session(Role::User).await;
    let id = bed.prepare(&mut session, bed.words.list, &[ColumnType::IntList]).await;
    let long: Vec<i32> = (0..10_000).collect();
    let mut rows = Rows::new();
    for list in [&[][..], &[7], &[1, -2, 3], &[i32::MIN, i32::MAX], &long] {
        session.query(id, &[Value::Ints(list)], &mut rows).await.unwrap();
        let row = rows.first("the list").unwrap();
        assert_eq!(row.int(0).unwrap(), list.len() as i64);
        assert_eq!(row.int(1).unwrap(), list.iter().map(|n| i64::from(*n)).sum::<i64>());
    }
}

pub async fn integer_that_does_not_fit(bed: &Bed) {
    let mut session = bed.session(Role::User).await;
    create(bed, &mut session).await;
    for (column, value) in [
        (0, i64::from(i16::MAX) + 1),
        (0, i64::from(i16::MIN) - 1),
        (1, i64::from(i32::MAX) + 1),
        (1, i64::MIN),
    ] {
        let name = &VALUES.columns[column].name;
        let insert = format!("INSERT INTO {} ({name}) VALUES (:1)", VALUES.name);
        let insert = bed.prepare(&mut session, &insert, &[TYPES[column]]).await;
        let error = session.execute(insert, &[Value::Int(value)]).await.unwrap_err();
        assert_eq!(error.class(), ErrorClass::Other, "{error:?}");
        assert!(error.to_string().contains(&value.to_string()), "{error}");
        session.execute(insert, &[Value::Int(1)]).await.unwrap();
    }
    let count = format!("SELECT count(*) FROM {}", VALUES.name);
    assert_eq!(bed.number(&mut session, &count).await, 4);
}
