//! Bulk loads: `LOAD DATA LOCAL` with the rows streamed as they are generated, or, where the server
//! forbids that, multi-row inserts.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

use triphammer_core::rows::{Cell, Row, Rows};
use triphammer_core::session::RowSource;
use triphammer_core::workload::TableDef;
use triphammer_core::{DbError, ErrorClass, Value};

use super::codec::{check_int, put_decimal, put_int};
use super::connection::Connection;
use super::error::{ErrorContext, answer};
use super::quote::quote_identifier;

/// Bytes of a load that are sent as one packet.
pub(super) const CHUNK_BYTES: usize = 128 * 1024;
/// Maximum number of placeholders of a statement, and of rows of one insert.
const PLACEHOLDERS_MAX: usize = 65_535;
const INSERT_ROWS_MAX: usize = 1_000;
/// Error numbers with which servers reject `LOAD DATA LOCAL`.
const FORBIDDEN: [&str; 3] = ["1148", "3948", "4166"];

/// Loads the rows of `source`; sets `loads_by_inserts` when the server forbids the fast way.
pub(super) async fn load(
    connection: &mut Connection,
    loads_by_inserts: &AtomicBool,
    table: &TableDef,
    source: &mut dyn RowSource,
) -> Result<u64, DbError> {
    if !loads_by_inserts.load(Ordering::Relaxed) {
        let columns = names(table);
        // Tab, backslash and line feed, whatever the SQL mode says of backslashes.
        let sql = format!(
            "LOAD DATA LOCAL INFILE 'triphammer' INTO TABLE {} CHARACTER SET utf8mb4 \
             FIELDS TERMINATED BY 0x09 ESCAPED BY 0x5c LINES TERMINATED BY 0x0a ({columns})",
            quote_identifier(&table.name)
        );
        match connection.begin_load(&sql).await {
            Ok(()) => return stream(connection, table, source).await,
            Err(error) if error.code().is_some_and(|code| FORBIDDEN.contains(&code)) => {
                loads_by_inserts.store(true, Ordering::Relaxed);
            }
            Err(error) => return Err(error),
        }
    }
    insert(connection, table, source).await
}

fn names(table: &TableDef) -> String {
    let names: Vec<_> = table.columns.iter().map(|c| quote_identifier(&c.name)).collect();
    names.join(", ")
}

fn check_whole(batch: &Rows, table: &TableDef) -> Result<(), DbError> {
    if batch.has_partial_row() {
        let message = format!("the data for `{}` ends within a row", table.name);
        return Err(DbError::new(ErrorClass::Other, message));
    }
    Ok(())
}

/// Sends the rows of a `LOAD DATA` that has begun. The protocol cannot abort one: it is ended
/// early, and the caller rolls back because of the error.
async fn stream(
    connection: &mut Connection,
    table: &TableDef,
    source: &mut dyn RowSource,
) -> Result<u64, DbError> {
    let sent = send_rows(connection, table, source).await;
    if sent.as_ref().is_err_and(|error| error.class().loses_session()) {
        return sent;
    }
    // An empty packet marks the end of the rows.
    connection.wire.reply();
    connection.wire.send().await?;
    let ended = connection.end_load().await?;
    let sent = sent?;
    // With LOCAL the server turns errors into warnings and skips rows.
    if ended.warnings > 0 || ended.touched != sent {
        let shown = connection.ask("SHOW WARNINGS LIMIT 1").await?;
        let warning = shown.first().and_then(|row| match row.as_slice() {
            [_, Some(code), Some(text)] => Some((code.parse().ok()?, text.clone())),
            _ => None,
        });
        let (code, text) = warning
            .unwrap_or_else(|| (0, format!("the server loaded {} of {sent} rows", ended.touched)));
        return Err(answer(code, &text, ErrorContext::InUse));
    }
    Ok(sent)
}

async fn send_rows(
    connection: &mut Connection,
    table: &TableDef,
    source: &mut dyn RowSource,
) -> Result<u64, DbError> {
    let mut batch = Rows::new();
    let mut sent = 0;
    let mut more = true;
    let mut chunk: &mut Vec<u8> = connection.wire.reply();
    let mut empty = chunk.len();
    while more {
        batch.reset(table.columns.len());
        more = source.fill(&mut batch);
        check_whole(&batch, table)?;
        for row in batch.iter() {
            put_line(chunk, &row, table)?;
            sent += 1;
            if chunk.len() >= CHUNK_BYTES {
                connection.wire.send().await?;
                chunk = connection.wire.reply();
                empty = chunk.len();
            }
        }
    }
    if chunk.len() > empty {
        connection.wire.send().await?;
    }
    Ok(sent)
}

/// Writes a row as a line of tab-separated fields.
fn put_line(out: &mut Vec<u8>, row: &Row<'_>, table: &TableDef) -> Result<(), DbError> {
    for (at, column) in table.columns.iter().enumerate() {
        if at > 0 {
            out.push(b'\t');
        }
        match row.cell(at) {
            Cell::Null => out.extend_from_slice(b"\\N"),
            Cell::Int(value) => put_int(out, check_int(value, column.column_type)?),
            Cell::Decimal { units, scale } => put_decimal(out, units, scale),
            Cell::Text(span) => put_text(out, row.text_bytes(span)),
            // All digits, so that the same number is read back.
            Cell::Float(value) => write!(out, "{value:e}").expect("writing to memory cannot fail"),
            Cell::Decimal128 { place, scale } => {
                let text = super::codec::decimal128_text(*row.units(place), scale);
                out.extend_from_slice(text.as_bytes());
            }
            Cell::Timestamp(at) => write!(out, "{at}").expect("writing to memory cannot fail"),
            Cell::Date(date) => write!(out, "{date}").expect("writing to memory cannot fail"),
            Cell::List(_) => {
                let message = format!("a list for column `{}`", column.name);
                return Err(DbError::new(ErrorClass::Unsupported, message));
            }
        }
    }
    out.push(b'\n');
    Ok(())
}

fn put_text(out: &mut Vec<u8>, text: &[u8]) {
    let needs_escape = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\\' | 0);
    if !text.iter().any(needs_escape) {
        return out.extend_from_slice(text);
    }
    for byte in text {
        match byte {
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\\' => out.extend_from_slice(b"\\\\"),
            0 => out.extend_from_slice(b"\\0"),
            byte => out.push(*byte),
        }
    }
}

/// Loads with multi-row inserts.
async fn insert(
    connection: &mut Connection,
    table: &TableDef,
    source: &mut dyn RowSource,
) -> Result<u64, DbError> {
    let width = table.columns.len();
    let rows_max = (PLACEHOLDERS_MAX / width).min(INSERT_ROWS_MAX);
    let mut whole = None;
    let mut batch = Rows::new();
    let (mut loaded, mut more) = (0, true);
    while more {
        batch.reset(width);
        while more && batch.len() < rows_max {
            more = source.fill(&mut batch);
        }
        check_whole(&batch, table)?;
        for from in (0..batch.len()).step_by(rows_max) {
            let count = rows_max.min(batch.len() - from);
            let id = match whole {
                Some(id) if count == rows_max => id,
                _ => connection.prepare_insert(&insert_text(table, count)).await?,
            };
            let values: Vec<_> = (from..from + count)
                .flat_map(|at| (0..width).map(move |column| (at, column)))
                .map(|(at, column)| value_of(&batch.row(at), column))
                .collect::<Result<_, _>>()?;
            let types = table.columns.iter().map(|column| column.column_type).cycle();
            loaded += connection.insert(id, values.iter().zip(types)).await?.touched;
            if count == rows_max {
                whole = Some(id);
            } else {
                connection.forget(id).await?;
            }
        }
    }
    if let Some(id) = whole {
        connection.forget(id).await?;
    }
    Ok(loaded)
}

fn insert_text(table: &TableDef, count: usize) -> String {
    let row = format!("({})", vec!["?"; table.columns.len()].join(","));
    let rows = vec![row; count].join(",");
    format!("INSERT INTO {} ({}) VALUES {rows}", quote_identifier(&table.name), names(table))
}

fn value_of<'a>(row: &Row<'a>, column: usize) -> Result<Value<'a>, DbError> {
    Ok(match row.cell(column) {
        Cell::Null => Value::Null,
        Cell::Int(value) => Value::Int(value),
        Cell::Float(value) => Value::Float(value),
        Cell::Decimal { units, scale } => Value::Decimal { units, scale },
        Cell::Decimal128 { place, scale } => Value::Decimal128 { units: row.units(place), scale },
        Cell::Timestamp(at) => Value::Timestamp(at),
        Cell::Date(date) => Value::Date(date),
        Cell::Text(_) => Value::Text(row.text(column)?),
        Cell::List(_) => {
            return Err(DbError::new(
                ErrorClass::Unsupported,
                "a list cannot be stored in a column",
            ));
        }
    })
}
