//! Bulk loads: INSERT BULK, with the rows sent in the types of the table's columns as they are
//! generated.

use triphammer_core::rows::{Cell, Row, Rows};
use triphammer_core::session::RowSource;
use triphammer_core::value::rescale128;
use triphammer_core::workload::TableDef;
use triphammer_core::{ColumnType, Date, DbError, ErrorClass, Timestamp};

use super::code_page::{is_latin, to_windows_1252};
use super::connection::Connection;
use super::param::{put_date, put_long, put_units};
use super::quote::{quote_identifier, quote_literal};
use super::reader::put_utf16;
use super::types::{DAY_US, TypeInfo, UNLIMITED, id};
use super::wire::message_type;

/// Bytes of rows that are sent at once.
const CHUNK_BYTES: usize = 128 * 1024;
/// Length of all decimals in a load: servers do not expect shorter ones.
const DECIMAL_BYTES: u8 = 17;
/// Flags of a column that may be NULL and is written.
const COLUMN_FLAGS: u16 = 0x9;
/// First bytes of rows and of the end in the stream.
const COLUMNS: u8 = 0x81;
const ROW: u8 = 0xd1;
const DONE: [u8; 13] = [0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
/// Days from 1900-01-01 to 1970-01-01.
const DAYS_1900_TO_1970: i64 = 25_567;

/// Loads the rows of `source`.
pub(super) async fn load(
    connection: &mut Connection,
    table: &TableDef,
    source: &mut dyn RowSource,
) -> Result<u64, DbError> {
    let mut batch = Rows::new();
    let mut more = fill(&mut batch, table, source)?;
    while more && batch.is_empty() {
        more = fill(&mut batch, table, source)?;
    }
    if batch.is_empty() {
        return Ok(0);
    }
    let columns = describe(connection, table).await?;
    let hint = table_hint(connection, table).await?;
    connection.batch(&insert_text(hint, table, &columns)).await?;
    put_columns(connection.wire.command()?, table, &columns);
    let sent = send_rows(connection, table, &columns, &mut batch, more, source).await;
    if sent.as_ref().is_err_and(|error| error.class().loses_session()) {
        return sent;
    }
    // A load cannot be abandoned: it is ended early, and the caller rolls back because of the error.
    connection.wire.message().extend_from_slice(&DONE);
    connection.wire.send_packets(message_type::BULK, true).await?;
    let loaded = connection.outcome().await;
    let sent = sent?;
    let loaded = loaded?;
    if loaded != sent {
        let message = format!("the server loaded {loaded} of {sent} rows");
        return Err(DbError::new(ErrorClass::Other, message));
    }
    Ok(sent)
}

fn fill(batch: &mut Rows, table: &TableDef, source: &mut dyn RowSource) -> Result<bool, DbError> {
    batch.reset(table.columns.len());
    let more = source.fill(batch);
    if batch.has_partial_row() {
        let message = format!("the data for `{}` ends within a row", table.name);
        return Err(DbError::new(ErrorClass::Other, message));
    }
    Ok(more)
}

/// The types of the table's columns, those that may be NULL.
async fn describe(connection: &mut Connection, table: &TableDef) -> Result<Vec<TypeInfo>, DbError> {
    let names: Vec<_> = table.columns.iter().map(|c| quote_identifier(&c.name)).collect();
    let name = quote_identifier(&table.name);
    connection.batch(&format!("SELECT TOP 0 {} FROM {name}", names.join(", "))).await?;
    let columns: Vec<_> = connection.answer.columns.iter().map(|info| nullable(*info)).collect();
    if columns.len() != table.columns.len() {
        let message = "the server does not describe the table";
        return Err(DbError::new(ErrorClass::Other, message));
    }
    Ok(columns)
}

/// The option with which loads are fast: a lock on the table, which loads share if the table has no
/// order, and would wait for if it has. Memory-optimized tables have no locks.
async fn table_hint(
    connection: &mut Connection,
    table: &TableDef,
) -> Result<&'static str, DbError> {
    let name = quote_literal(&quote_identifier(&table.name));
    let sql = format!(
        "SELECT OBJECTPROPERTY(OBJECT_ID({name}), 'TableHasClustIndex'), \
         OBJECTPROPERTY(OBJECT_ID({name}), 'TableIsMemoryOptimized')"
    );
    let answer = connection.ask(&sql).await?;
    let has = |at: usize| answer.first().and_then(|row| row.get(at)?.as_deref());
    let takes_lock = has(0) == Some("0") && has(1) != Some("1");
    Ok(if takes_lock { " WITH (TABLOCK)" } else { "" })
}

/// The form of a type that may be NULL.
fn nullable(info: TypeInfo) -> TypeInfo {
    let (number, length) = match info.id {
        id::INT1 => (id::INT_N, 1),
        id::INT2 => (id::INT_N, 2),
        id::INT4 => (id::INT_N, 4),
        id::INT8 => (id::INT_N, 8),
        id::BIT => (id::BIT_N, 1),
        id::FLOAT4 => (id::FLOAT_N, 4),
        id::FLOAT8 => (id::FLOAT_N, 8),
        id::DATETIME4 => (id::DATETIME_N, 4),
        id::DATETIME => (id::DATETIME_N, 8),
        id::DECIMAL_N | id::NUMERIC_N => (id::DECIMAL_N, DECIMAL_BYTES.into()),
        _ => return info,
    };
    TypeInfo { id: number, length, ..info }
}

fn insert_text(hint: &str, table: &TableDef, columns: &[TypeInfo]) -> String {
    let one = |(column, info): (&triphammer_core::workload::Column, &TypeInfo)| {
        format!("{} {}", quote_identifier(&column.name), type_text(*info))
    };
    let columns: Vec<_> = table.columns.iter().zip(columns).map(one).collect();
    format!("INSERT BULK {} ({}){hint}", quote_identifier(&table.name), columns.join(", "))
}

/// A type in SQL.
fn type_text(info: TypeInfo) -> String {
    let sized = |name: &str, unit: u32| match info.length {
        UNLIMITED => format!("{name}(max)"),
        length => format!("{name}({})", length / unit),
    };
    match (info.id, info.length) {
        (id::INT_N, 1) => "tinyint".into(),
        (id::INT_N, 2) => "smallint".into(),
        (id::INT_N, 4) => "int".into(),
        (id::INT_N, _) => "bigint".into(),
        (id::BIT_N, _) => "bit".into(),
        (id::FLOAT_N, 4) => "real".into(),
        (id::FLOAT_N, _) => "float".into(),
        (id::DECIMAL_N, _) => format!("decimal({},{})", info.precision, info.scale),
        (id::DATETIME_N, 4) => "smalldatetime".into(),
        (id::DATETIME_N, _) => "datetime".into(),
        (id::DATETIME2, _) => format!("datetime2({})", info.scale),
        (id::DATE, _) => "date".into(),
        (id::VARCHAR, _) => sized("varchar", 1),
        (id::CHAR, _) => sized("char", 1),
        (id::NVARCHAR, _) => sized("nvarchar", 2),
        (id::NCHAR, _) => sized("nchar", 2),
        // Rejected when a value is written.
        _ => "varbinary(max)".into(),
    }
}

/// Describes the columns of the rows that follow.
fn put_columns(out: &mut Vec<u8>, table: &TableDef, columns: &[TypeInfo]) {
    let count = u16::try_from(columns.len()).expect("tables have few columns");
    out.push(COLUMNS);
    out.extend_from_slice(&count.to_le_bytes());
    for (column, info) in table.columns.iter().zip(columns) {
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&COLUMN_FLAGS.to_le_bytes());
        out.push(info.id);
        let [low, high, ..] = info.length.to_le_bytes();
        match info.id {
            id::DECIMAL_N => out.extend_from_slice(&[low, info.precision, info.scale]),
            id::DATETIME2 => out.push(info.scale),
            id::DATE => {}
            id::VARCHAR | id::CHAR | id::NVARCHAR | id::NCHAR => {
                out.extend_from_slice(&[low, high]);
                out.extend_from_slice(&info.collation);
            }
            _ => out.push(low),
        }
        let units = column.name.encode_utf16().count();
        out.push(u8::try_from(units).expect("names of columns are short"));
        put_utf16(out, &column.name);
    }
}

async fn send_rows(
    connection: &mut Connection,
    table: &TableDef,
    columns: &[TypeInfo],
    batch: &mut Rows,
    mut more: bool,
    source: &mut dyn RowSource,
) -> Result<u64, DbError> {
    let mut sent = 0;
    loop {
        for row in batch.iter() {
            let out = connection.wire.message();
            let start = out.len();
            if let Err(error) = put_row(out, &row, table, columns) {
                out.truncate(start);
                return Err(error);
            }
            sent += 1;
            if out.len() >= CHUNK_BYTES {
                connection.wire.send_packets(message_type::BULK, false).await?;
            }
        }
        if connection.wire.is_to_cancel() {
            return Err(DbError::new(ErrorClass::Cancelled, "the load was cancelled"));
        }
        if !more {
            return Ok(sent);
        }
        more = fill(batch, table, source)?;
    }
}

fn put_row(
    out: &mut Vec<u8>,
    row: &Row<'_>,
    table: &TableDef,
    columns: &[TypeInfo],
) -> Result<(), DbError> {
    out.push(ROW);
    for (place, info) in columns.iter().enumerate() {
        let column = &table.columns[place];
        put_cell(out, row, place, *info, column.column_type)
            .map_err(|error| error.context(format_args!("column `{}`", column.name)))?;
    }
    Ok(())
}

/// The error for a value that a column cannot hold.
fn misfit(row: &Row<'_>, place: usize, info: TypeInfo) -> DbError {
    let message = format!("{} does not fit {}", row.show(place), type_text(info));
    DbError::new(ErrorClass::Other, message)
}

fn put_cell(
    out: &mut Vec<u8>,
    row: &Row<'_>,
    place: usize,
    info: TypeInfo,
    declared: ColumnType,
) -> Result<(), DbError> {
    let bad = || misfit(row, place, info);
    let cell = row.cell(place);
    match info.id {
        _ if cell == Cell::Null => put_null(out, info),
        id::INT_N | id::BIT_N => put_int(out, row.int(place)?, info, declared).ok_or_else(bad)?,
        id::FLOAT_N => {
            let value = row.float(place)?;
            if info.length == 4 {
                #[expect(clippy::cast_possible_truncation, reason = "the column is a real")]
                out.extend_from_slice(&[&[4], &(value as f32).to_le_bytes()[..]].concat());
            } else {
                out.push(8);
                out.extend_from_slice(&value.to_le_bytes());
            }
        }
        id::DECIMAL_N => {
            let units = match cell {
                Cell::Int(value) => rescale128(value.into(), 0, info.scale),
                Cell::Decimal { units, scale } => rescale128(units.into(), scale, info.scale),
                Cell::Decimal128 { place, scale } => {
                    rescale128(*row.units(place), scale, info.scale)
                }
                _ => Some(row.decimal128(place, info.scale)?),
            };
            let most = 10u128.checked_pow(info.precision.into()).unwrap_or(u128::MAX);
            let units = units.filter(|units| units.unsigned_abs() < most).ok_or_else(bad)?;
            out.push(DECIMAL_BYTES);
            put_units(out, units, DECIMAL_BYTES);
        }
        id::DATE => {
            out.push(3);
            put_date(out, row.date(place)?)?;
        }
        id::DATETIME2 => put_datetime2(out, row.timestamp(place)?, info.scale).ok_or_else(bad)?,
        id::DATETIME_N if info.length == 8 => {
            put_datetime(out, row.timestamp(place)?).ok_or_else(bad)?;
        }
        id::NVARCHAR | id::NCHAR => put_wide(out, row.text(place)?, info).ok_or_else(bad)?,
        id::VARCHAR | id::CHAR => put_narrow(out, row.text(place)?, info).ok_or_else(bad)?,
        _ => {
            let message = "loads into columns of this type are not supported";
            return Err(DbError::new(ErrorClass::Unsupported, message));
        }
    }
    Ok(())
}

fn put_null(out: &mut Vec<u8>, info: TypeInfo) {
    let is_text = matches!(info.id, id::VARCHAR | id::CHAR | id::NVARCHAR | id::NCHAR);
    match info.length {
        UNLIMITED if is_text => out.extend_from_slice(&[0xff; 8]),
        _ if is_text => out.extend_from_slice(&[0xff; 2]),
        _ => out.push(0),
    }
}

/// Writes an integer, if it fits both the column and what the workload declares.
fn put_int(out: &mut Vec<u8>, value: i64, info: TypeInfo, declared: ColumnType) -> Option<()> {
    let fits = match (info.length, declared) {
        (1, _) => u8::try_from(value).is_ok(),
        (2, _) | (_, ColumnType::SmallInt) => i16::try_from(value).is_ok(),
        (4, _) | (_, ColumnType::Int) => i32::try_from(value).is_ok(),
        _ => true,
    };
    let bytes = u8::try_from(info.length).ok().filter(|bytes| fits && *bytes <= 8)?;
    out.push(bytes);
    out.extend_from_slice(&value.to_le_bytes()[..bytes.into()]);
    Some(())
}

fn put_datetime2(out: &mut Vec<u8>, at: Timestamp, scale: u8) -> Option<()> {
    let micros = at.0.rem_euclid(DAY_US);
    let ticks = match scale {
        7 => micros * 10,
        scale => {
            let unit = 10i64.pow(6 - u32::from(scale));
            (micros % unit == 0).then_some(micros / unit)?
        }
    };
    let bytes = match scale {
        0..=2 => 3,
        3..=4 => 4,
        _ => 5,
    };
    out.push(bytes + 3);
    out.extend_from_slice(&ticks.to_le_bytes()[..bytes.into()]);
    put_date(out, Date::of(at)?).ok()
}

/// Writes a `datetime`, which has three hundredths of a second.
fn put_datetime(out: &mut Vec<u8>, at: Timestamp) -> Option<()> {
    let day = i32::try_from(at.0.div_euclid(DAY_US) + DAYS_1900_TO_1970).ok()?;
    let ticks = u32::try_from((at.0.rem_euclid(DAY_US) * 3 + 5000) / 10_000).ok()?;
    out.push(8);
    out.extend_from_slice(&day.to_le_bytes());
    out.extend_from_slice(&ticks.to_le_bytes());
    Some(())
}

/// Writes text in UTF-16. A text of fixed length is filled with blanks here: Babelfish stores what
/// it receives, and cannot return a shorter one.
fn put_wide(out: &mut Vec<u8>, text: &str, info: TypeInfo) -> Option<()> {
    if info.length == UNLIMITED {
        put_long(out, |out| put_utf16(out, text));
        return Some(());
    }
    let at = out.len();
    out.extend_from_slice(&[0, 0]);
    put_utf16(out, text);
    let missing = (info.length as usize).checked_sub(out.len() - at - 2)?;
    if info.id == id::NCHAR {
        out.extend(std::iter::repeat_n(*b" \0", missing / 2).flatten());
    }
    let length = u16::try_from(out.len() - at - 2).ok()?;
    out[at..at + 2].copy_from_slice(&length.to_le_bytes());
    Some(())
}

/// Like [`put_wide`], in the code page of the column.
fn put_narrow(out: &mut Vec<u8>, text: &str, info: TypeInfo) -> Option<()> {
    let coded;
    let bytes = if text.is_ascii() || info.is_utf8() {
        text.as_bytes()
    } else {
        coded = to_windows_1252(text).filter(|_| is_latin(info))?;
        &coded
    };
    if info.length == UNLIMITED {
        put_long(out, |out| out.extend_from_slice(bytes));
        return Some(());
    }
    let missing = (info.length as usize).checked_sub(bytes.len())?;
    let blanks = if info.id == id::CHAR { missing } else { 0 };
    let length = u16::try_from(bytes.len() + blanks).ok()?;
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(bytes);
    out.extend(std::iter::repeat_n(b' ', blanks));
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_fixed_length_are_filled_and_longer_ones_rejected() {
        let of = |id, length| TypeInfo { length, ..TypeInfo::of(id) };
        let mut out = Vec::new();
        put_narrow(&mut out, "ab", of(id::CHAR, 4)).unwrap();
        put_narrow(&mut out, "ab", of(id::VARCHAR, 4)).unwrap();
        assert_eq!(out, b"\x04\0ab  \x02\0ab");
        out.clear();
        put_wide(&mut out, "a", of(id::NCHAR, 4)).unwrap();
        assert_eq!(out, b"\x04\0a\0 \0");
        assert_eq!(put_narrow(&mut out, "abcde", of(id::CHAR, 4)), None);
        assert_eq!(put_wide(&mut out, "abc", of(id::NVARCHAR, 4)), None);
    }
}
