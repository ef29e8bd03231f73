//! Bulk loads: `INSERT … SELECT` of rows that are one JSON text. Trino plans a `VALUES` with an
//! expression per field: 430 rows of lineitem per second, where these come to 20,000.

use std::fmt::Write;

use triphammer_core::error::{DbError, ErrorClass};
use triphammer_core::rows::{Cell, Row, Rows};
use triphammer_core::session::RowSource;
use triphammer_core::value::write_decimal;
use triphammer_core::workload::TableDef;

use super::literal::{self, Micros, quote_identifier};
use super::session::TrinoSession;
use super::statement::STATEMENT_MAX;

/// Bytes of rows in one statement, which leave room for the rest of it.
const ROWS_BYTES_MAX: usize = STATEMENT_MAX * 9 / 10;

/// Loads all rows of `source` into a table.
pub(super) async fn load(
    session: &mut TrinoSession,
    table: &TableDef,
    source: &mut dyn RowSource,
) -> Result<u64, DbError> {
    let insert = Insert::into(session, table).await?;
    let mut rows = Rows::new();
    let (mut pending, mut count) = (String::new(), 0);
    loop {
        rows.reset(table.columns.len());
        let more = source.fill(&mut rows);
        for row in rows.iter() {
            let before = pending.len();
            put_row(&mut pending, table, &row)?;
            if pending.len() > ROWS_BYTES_MAX && before > 0 {
                let last = pending.split_off(before);
                count += insert.run(session, &pending).await?;
                pending = last.trim_start_matches(',').to_owned();
            }
        }
        if !more {
            if !pending.is_empty() {
                count += insert.run(session, &pending).await?;
            }
            return Ok(count);
        }
    }
}

/// The text around the rows.
struct Insert {
    before: String,
    after: String,
}

impl Insert {
    /// Asks for the types of a table's columns: they are not only those that a build declares.
    async fn into(session: &mut TrinoSession, table: &TableDef) -> Result<Self, DbError> {
        let mut name = String::new();
        literal::quote(&mut name, &table.name);
        let asked = format!(
            "SELECT column_name, data_type FROM information_schema.columns \
             WHERE table_schema = {} AND table_name = {name}",
            session.schema_literal()
        );
        let found = session.texts::<2>(&asked).await?;
        let (mut names, mut fields, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for (place, column) in table.columns.iter().enumerate() {
            let known = found.iter().find(|[name, _]| name.eq_ignore_ascii_case(&column.name));
            let Some([_, column_type]) = known else {
                let message = format!("table {} has no column {}", table.name, column.name);
                return Err(DbError::new(ErrorClass::Other, message));
            };
            names.push(quote_identifier(&column.name));
            fields.push(format!("c{place} varchar"));
            // A cast to text of limited length would cut it, and an insert reports that.
            let is_text = column_type.starts_with("varchar") || column_type.starts_with("char");
            values.push(match is_text {
                true => format!("c{place}"),
                false => format!("CAST(c{place} AS {column_type})"),
            });
        }
        let (names, fields, values) = (names.join(", "), fields.join(", "), values.join(", "));
        Ok(Self {
            before: format!(
                "INSERT INTO {} ({names}) SELECT {values} FROM unnest(CAST(json_parse('[",
                quote_identifier(&table.name)
            ),
            after: format!("]') AS array(row({fields})))) AS rows"),
        })
    }

    async fn run(&self, session: &mut TrinoSession, rows: &str) -> Result<u64, DbError> {
        let sql = format!("{}{rows}{}", self.before, self.after);
        Ok(session.run_quietly(sql).await?.changed)
    }
}

/// Appends a row as a JSON list, preceded by a comma unless it is the first; quotes are doubled for
/// the string literal around it.
fn put_row(out: &mut String, table: &TableDef, row: &Row<'_>) -> Result<(), DbError> {
    out.push_str(if out.is_empty() { "[" } else { ",[" });
    for place in 0..table.columns.len() {
        if place > 0 {
            out.push(',');
        }
        let cell = row.cell(place);
        if put_field(out, row, cell).is_none() {
            let (table, column) = (&table.name, &table.columns[place].name);
            let message = format!("loading {table}.{column}: {} does not fit", row.show(place));
            return Err(DbError::new(ErrorClass::Other, message));
        }
    }
    out.push(']');
    Ok(())
}

/// Appends a field: `null`, or a string that Trino casts to the column's type.
fn put_field(out: &mut String, row: &Row<'_>, cell: Cell) -> Option<()> {
    match cell {
        Cell::Null => out.push_str("null"),
        Cell::Int(value) => write!(out, "\"{value}\"").ok()?,
        Cell::Float(value) if value.is_finite() => write!(out, "\"{value:e}\"").ok()?,
        Cell::Float(value) if value.is_nan() => out.push_str("\"NaN\""),
        Cell::Float(value) => {
            out.push_str(if value > 0.0 { "\"Infinity\"" } else { "\"-Infinity\"" });
        }
        Cell::Decimal { units, scale } => put_decimal(out, units.into(), scale)?,
        Cell::Decimal128 { place, scale } => put_decimal(out, *row.units(place), scale)?,
        Cell::Timestamp(at) => write!(out, "\"{}\"", Micros(at)).ok()?,
        Cell::Date(date) => write!(out, "\"{date}\"").ok()?,
        Cell::Text(span) => {
            let text = std::str::from_utf8(row.text_bytes(span)).ok()?;
            let json = serde_json::to_string(text).ok()?;
            for part in json.split_inclusive('\'') {
                out.push_str(part);
                if part.ends_with('\'') {
                    out.push('\'');
                }
            }
        }
        Cell::List(_) => return None,
    }
    Some(())
}

fn put_decimal(out: &mut String, units: i128, scale: u8) -> Option<()> {
    out.push('"');
    write_decimal(out, units, scale).ok()?;
    out.push('"');
    Some(())
}

#[cfg(test)]
mod tests {
    use triphammer_core::ColumnType;
    use triphammer_core::workload::{column, table};

    use super::*;

    #[test]
    fn rows_are_json_in_a_string_literal() {
        let names = ["a", "b", "c", "d", "e", "f"].map(|name| column(name, ColumnType::Text));
        let table = table("t", names);
        let mut rows = Rows::new();
        rows.reset(6);
        rows.int(i64::MIN);
        rows.decimal(-5, 2);
        rows.text("it's \"so\" \\n\n\u{1}");
        rows.null();
        rows.float(f64::NEG_INFINITY);
        rows.date(triphammer_core::Date(0));
        let mut out = String::new();
        put_row(&mut out, &table, &rows.row(0)).unwrap();
        put_row(&mut out, &table, &rows.row(0)).unwrap();
        let expected = r#"["-9223372036854775808","-0.05","it''s \"so\" \\n\n\u0001",null,"-Infinity","1970-01-01"]"#;
        assert_eq!(out, format!("{expected},{expected}"));
    }
}
