//! Parquet files: rows gathered by column, written in row groups, compressed with Snappy.

use std::fs::File;
use std::io;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use triphammer_core::Rows;
use triphammer_core::rows::{Cell, Row};
use triphammer_core::value::{ColumnType, rescale};
use triphammer_core::workload::TableDef;

/// Rows of a group: enough for columns to compress well, few enough to be held.
const GROUP_ROWS: usize = 65_536;
/// Digits of a decimal, which is stored in 64 bits.
const DECIMAL_DIGITS: u8 = 18;

/// A file that is being written.
pub struct ParquetFile {
    writer: SerializedFileWriter<File>,
    columns: Vec<Column>,
    rows: usize,
}

impl ParquetFile {
    /// Begins to write to an empty file.
    ///
    /// # Errors
    /// When it cannot be written, or the table has a column that has no form in it.
    pub fn new(file: File, table: &TableDef) -> io::Result<Self> {
        let types = || table.columns.iter().map(|column| (&*column.name, column.column_type));
        let fields = types().map(|(name, of)| field(name, of)).collect::<io::Result<String>>()?;
        let schema = parse_message_type(&format!("message {} {{ {fields} }}", table.name));
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let schema = Arc::new(schema.map_err(failed)?);
        let writer = SerializedFileWriter::new(file, schema, properties.into()).map_err(failed)?;
        let columns = types().map(|(_, of)| Column::new(of)).collect();
        Ok(Self { writer, columns, rows: 0 })
    }

    /// Appends rows.
    ///
    /// # Errors
    /// When they cannot be written, or a value does not fit its column.
    pub fn write(&mut self, batch: &Rows) -> io::Result<()> {
        for row in batch.iter() {
            for (place, column) in self.columns.iter_mut().enumerate() {
                column.push(row, place)?;
            }
        }
        self.rows += batch.len();
        if self.rows >= GROUP_ROWS { self.end_group() } else { Ok(()) }
    }

    fn end_group(&mut self) -> io::Result<()> {
        let mut group = self.writer.next_row_group().map_err(failed)?;
        for column in &mut self.columns {
            let writer = group.next_column().map_err(failed)?;
            column.write(writer.ok_or_else(|| io::Error::other("a column is missing"))?)?;
        }
        group.close().map_err(failed)?;
        self.rows = 0;
        Ok(())
    }

    /// Ends the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn close(mut self) -> io::Result<()> {
        if self.rows > 0 {
            self.end_group()?;
        }
        self.writer.close().map_err(failed)?;
        Ok(())
    }
}

fn failed(error: ParquetError) -> io::Error {
    io::Error::other(error)
}

/// Declares a column. Any may be NULL: tables do not say which.
fn field(name: &str, of: ColumnType) -> io::Result<String> {
    let form = match of {
        ColumnType::SmallInt | ColumnType::Int => format!("INT32 {name}"),
        ColumnType::BigInt => format!("INT64 {name}"),
        ColumnType::Float => format!("DOUBLE {name}"),
        ColumnType::Decimal(scale) => format!("INT64 {name} (DECIMAL({DECIMAL_DIGITS},{scale}))"),
        ColumnType::Text => format!("BYTE_ARRAY {name} (STRING)"),
        ColumnType::Timestamp => format!("INT64 {name} (TIMESTAMP(MICROS,false))"),
        ColumnType::Date => format!("INT32 {name} (DATE)"),
        ColumnType::IntList | ColumnType::Any => return Err(without_form(name)),
    };
    Ok(format!("OPTIONAL {form}; "))
}

fn without_form(column: &str) -> io::Error {
    io::Error::other(format!("column {column} cannot be written to a Parquet file"))
}

/// Values of a column in the group that is being gathered.
struct Column {
    of: ColumnType,
    values: Values,
    /// 1 for a value, 0 for NULL.
    levels: Vec<i16>,
}

enum Values {
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Float(Vec<f64>),
    /// All texts, and where each ends.
    Text(Vec<u8>, Vec<usize>),
}

impl Column {
    fn new(of: ColumnType) -> Self {
        let values = match of {
            ColumnType::SmallInt | ColumnType::Int | ColumnType::Date => Values::Int32(Vec::new()),
            ColumnType::Float => Values::Float(Vec::new()),
            ColumnType::Text => Values::Text(Vec::new(), Vec::new()),
            _ => Values::Int64(Vec::new()),
        };
        Self { of, values, levels: Vec::new() }
    }

    fn push(&mut self, row: Row<'_>, place: usize) -> io::Result<()> {
        let cell = row.cell(place);
        self.levels.push(i16::from(cell != Cell::Null));
        let unfit = || io::Error::other(format!("{cell:?} does not fit its parquet column"));
        match (&mut self.values, cell, self.of) {
            (_, Cell::Null, _) => {}
            (Values::Int32(values), Cell::Int(value), _) => {
                values.push(value.try_into().map_err(|_| unfit())?);
            }
            (Values::Int32(values), Cell::Date(date), _) => values.push(date.0),
            (Values::Int64(values), Cell::Decimal { units, scale }, ColumnType::Decimal(own)) => {
                values.push(rescale(units, scale, own).ok_or_else(unfit)?);
            }
            (Values::Int64(values), Cell::Int(value), ColumnType::BigInt) => values.push(value),
            (Values::Int64(values), Cell::Timestamp(at), _) => values.push(at.0),
            (Values::Float(values), Cell::Float(value), _) => values.push(value),
            (Values::Text(bytes, ends), Cell::Text(span), _) => {
                bytes.extend_from_slice(row.text_bytes(span));
                ends.push(bytes.len());
            }
            _ => return Err(unfit()),
        }
        Ok(())
    }

    /// Writes the values and forgets them.
    fn write(&mut self, mut writer: SerializedColumnWriter<'_>) -> io::Result<()> {
        let (writer_ref, levels) = (&mut writer, &self.levels);
        match &mut self.values {
            Values::Int32(values) => put::<Int32Type>(writer_ref, values, levels)?,
            Values::Int64(values) => put::<Int64Type>(writer_ref, values, levels)?,
            Values::Float(values) => put::<DoubleType>(writer_ref, values, levels)?,
            Values::Text(bytes, ends) => {
                let all = ByteArray::from(std::mem::take(bytes));
                let starts = std::iter::once(0).chain(ends.iter().copied());
                let texts = starts.zip(&*ends).map(|(start, end)| all.slice(start, end - start));
                put::<ByteArrayType>(writer_ref, &mut texts.collect(), levels)?;
                ends.clear();
            }
        }
        self.levels.clear();
        writer.close().map_err(failed)
    }
}

fn put<T: DataType>(
    writer: &mut SerializedColumnWriter<'_>,
    values: &mut Vec<T::T>,
    levels: &[i16],
) -> io::Result<()> {
    writer.typed::<T>().write_batch(values, Some(levels), None).map_err(failed)?;
    values.clear();
    Ok(())
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::SerializedFileReader;
    use triphammer_core::value::{Date, Timestamp};
    use triphammer_core::workload::{column, table};

    use super::*;

    #[test]
    fn a_file_has_the_rows_that_were_written_with_their_types() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        let columns = [
            column("key", ColumnType::BigInt),
            column("number", ColumnType::Int),
            column("price", ColumnType::Decimal(2)),
            column("name", ColumnType::Text),
            column("day", ColumnType::Date),
            column("at", ColumnType::Timestamp),
        ];
        let mut file =
            ParquetFile::new(File::create(&path).unwrap(), &table("t", columns)).unwrap();
        let mut batch = Rows::new();
        // Three groups, with NULL in every column of the third row.
        for first in (0..150_000).step_by(10_000) {
            batch.reset(6);
            for key in first..first + 10_000 {
                if key == 2 {
                    (0..6).for_each(|_| batch.null());
                    continue;
                }
                batch.int(key);
                batch.int(-7);
                batch.decimal(5, 0);
                batch.text(&format!("name {key}"));
                batch.date(Date::parse("1995-03-11").unwrap());
                batch.timestamp(Timestamp::parse("2026-01-01 00:00:00").unwrap());
            }
            file.write(&batch).unwrap();
        }
        file.close().unwrap();
        let read = SerializedFileReader::try_from(&*path).unwrap();
        let rows: Vec<String> = read.into_iter().map(|row| row.unwrap().to_string()).collect();
        assert_eq!(rows.len(), 150_000);
        let known = "{key: 0, number: -7, price: 5.00, name: \"name 0\", day: 1995-03-11, \
            at: 2026-01-01 00:00:00.000000 +00:00}";
        assert_eq!(rows[0], known);
        let nulls = "{key: null, number: null, price: null, name: null, day: null, at: null}";
        assert_eq!(rows[2], nulls);
        assert!(rows[149_999].contains("\"name 149999\""), "{}", rows[149_999]);
    }

    #[test]
    fn a_value_that_does_not_fit_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let table = table("t", [column("number", ColumnType::Int)]);
        let mut file =
            ParquetFile::new(File::create(folder.path().join("t")).unwrap(), &table).unwrap();
        let mut batch = Rows::new();
        batch.reset(1);
        batch.int(1 << 40);
        let error = file.write(&batch).unwrap_err().to_string();
        assert!(error.contains("does not fit its parquet column"), "{error}");
    }
}
