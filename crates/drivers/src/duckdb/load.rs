//! Bulk loads by DuckDB's appender.

use triphammer_core::error::{DbError, ErrorClass};
use triphammer_core::rows::{Cell, Row, Rows};
use triphammer_core::session::RowSource;
use triphammer_core::workload::TableDef;
use triphammer_duckdb::{Appender, Connection, Value};

use super::errors::on_statement;

/// Appends all rows of `source` to a table.
pub(super) fn load(
    connection: &Connection,
    table: &TableDef,
    source: &mut dyn RowSource,
) -> Result<u64, DbError> {
    let names = table.columns.iter().map(|column| column.name.as_str());
    let mut appender = Appender::new(connection, &table.name, names).map_err(on_statement)?;
    let mut rows = Rows::new();
    let mut count = 0;
    loop {
        rows.reset(table.columns.len());
        let more = source.fill(&mut rows);
        for row in rows.iter() {
            append(&mut appender, table, &row)?;
        }
        count += rows.len() as u64;
        if !more {
            appender.flush().map_err(on_statement)?;
            return Ok(count);
        }
    }
}

#[inline]
fn append(appender: &mut Appender, table: &TableDef, row: &Row<'_>) -> Result<(), DbError> {
    for place in 0..table.columns.len() {
        let set = field(row, row.cell(place)).map(|value| appender.set(place, value));
        if !matches!(set, Some(Ok(()))) {
            let (column, kind) = (&table.columns[place].name, appender.kind(place));
            let value = row.show(place);
            let message = format!("loading {}.{column}: {value} does not fit {kind:?}", table.name);
            return Err(DbError::new(ErrorClass::Other, message));
        }
    }
    appender.end_row().map_err(on_statement)
}

/// A cell as DuckDB's; `None` for a list.
#[inline]
fn field<'a>(row: &Row<'a>, cell: Cell) -> Option<Value<'a>> {
    Some(match cell {
        Cell::Null => Value::Null,
        Cell::Int(value) => Value::Int(value.into()),
        Cell::Float(value) => Value::Float(value),
        Cell::Decimal { units, scale } => Value::Decimal { units: units.into(), scale },
        Cell::Decimal128 { place, scale } => Value::Decimal { units: *row.units(place), scale },
        Cell::Timestamp(at) => Value::Timestamp(at.0),
        Cell::Date(date) => Value::Date(date.0),
        Cell::Text(span) => Value::Text(row.text_bytes(span)),
        Cell::List(_) => return None,
    })
}
