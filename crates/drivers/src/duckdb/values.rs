//! Converts arguments to what DuckDB binds, and its results to rows.

use triphammer_core::error::{DbError, ErrorClass};
use triphammer_core::rows::Rows;
use triphammer_core::value::{ColumnType, Value};
use triphammer_core::value::{Date, Timestamp};
use triphammer_duckdb::{Chunk, Column, Error, Prepared, Value as Found};

/// Number of digits of a decimal whose units have 64 bits.
const DIGITS_64: u8 = 18;
/// The same for 128 bits.
const DIGITS_128: u8 = 38;

/// Why a value was not bound.
pub(super) enum Unbound {
    /// It does not fit its type.
    Misfit(String),
    /// DuckDB rejected it.
    Error(Error),
}

impl From<Error> for Unbound {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// Binds an argument of a declared type to a place, from 1.
#[inline]
pub(super) fn bind(
    statement: &mut Prepared,
    place: usize,
    value: Value<'_>,
    wanted: ColumnType,
) -> Result<(), Unbound> {
    match value {
        Value::Null => statement.bind_null(place)?,
        Value::Int(value) => bind_int(statement, place, value, wanted)?,
        Value::Float(value) => statement.bind_float(place, value)?,
        Value::Decimal { units, scale } => {
            let width = if units.unsigned_abs() < 10_u64.pow(DIGITS_64.into()) {
                DIGITS_64.max(scale)
            } else {
                DIGITS_128
            };
            statement.bind_decimal(place, units.into(), width, scale)?;
        }
        Value::Decimal128 { units, scale } => {
            statement.bind_decimal(place, *units, DIGITS_128, scale)?;
        }
        Value::Text(text) => statement.bind_text(place, text)?,
        Value::Bytes(_) => {
            let message = "this driver cannot send bytes as an argument";
            return Err(Unbound::Misfit(message.to_owned()));
        }
        Value::Timestamp(at) => statement.bind_timestamp(place, at.0)?,
        Value::Date(date) => statement.bind_date(place, date.0)?,
        Value::Ints(values) => statement.bind_ints(place, values)?,
    }
    Ok(())
}

/// Binds an integer as its declared type, so that DuckDB plans the statement once.
#[inline]
fn bind_int(
    statement: &mut Prepared,
    place: usize,
    value: i64,
    wanted: ColumnType,
) -> Result<(), Unbound> {
    let misfit = |_| Unbound::Misfit(format!("{value} does not fit {wanted:?}"));
    match wanted {
        ColumnType::SmallInt => statement.bind_int16(place, value.try_into().map_err(misfit)?)?,
        ColumnType::Int => statement.bind_int32(place, value.try_into().map_err(misfit)?)?,
        _ => statement.bind_int64(place, value)?,
    }
    Ok(())
}

/// Appends the rows of a chunk; after each, `full` may take what has been collected.
pub(super) fn append(
    chunk: &Chunk<'_>,
    width: usize,
    rows: &mut Rows,
    mut full: impl FnMut(&mut Rows),
) -> Result<(), DbError> {
    let columns: Vec<_> = (0..width).map(|column| chunk.column(column)).collect();
    for row in 0..chunk.len() {
        for (place, column) in columns.iter().enumerate() {
            append_field(column, row, place, rows)?;
        }
        full(rows);
    }
    Ok(())
}

#[inline]
fn append_field(
    column: &Column<'_>,
    row: usize,
    place: usize,
    rows: &mut Rows,
) -> Result<(), DbError> {
    match column.value(row) {
        Some(Found::Null) => rows.null(),
        Some(Found::Int(value)) => match i64::try_from(value) {
            Ok(value) => rows.int(value),
            Err(_) => rows.decimal128(value, 0),
        },
        Some(Found::Float(value)) => rows.float(value),
        Some(Found::Decimal { units, scale }) => rows.decimal128(units, scale),
        Some(Found::Text(text)) => rows.text_with(|out| out.extend_from_slice(text)),
        Some(Found::Date(days)) => rows.date(Date(days)),
        Some(Found::Timestamp(micros)) => rows.timestamp(Timestamp(micros)),
        Some(Found::Unsigned(_)) | None => {
            let message =
                format!("column {place} is a {:?}, which no workload reads", column.kind());
            return Err(DbError::new(ErrorClass::Unsupported, message));
        }
    }
    Ok(())
}
