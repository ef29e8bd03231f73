//! Results, which are read by chunks of about 2,000 rows, column by column.

use std::ffi::CStr;
use std::marker::PhantomData;
use std::rc::Rc;
use std::{ptr, slice};

use crate::api::{Handle, RawResult, SUCCESS};
use crate::error::{Error, text};
use crate::open::Open;
use crate::value::{ColumnType, Value};

/// Length up to which a text lies in its entry of the vector (`duckdb_string_t`).
const INLINED: usize = 12;

/// The result of a statement.
pub struct QueryResult {
    connection: Rc<Open>,
    raw: RawResult,
}

impl Drop for QueryResult {
    fn drop(&mut self) {
        // SAFETY: filled by DuckDB, and destroyed once.
        unsafe { (self.connection.api().destroy_result)(&raw mut self.raw) };
    }
}

impl QueryResult {
    /// Runs a call that fills a result and returns a state.
    pub(crate) fn of(
        connection: &Rc<Open>,
        run: impl FnOnce(*mut RawResult) -> u32,
    ) -> Result<Self, Error> {
        let mut result = Self { connection: Rc::clone(connection), raw: RawResult::empty() };
        let state = run(&raw mut result.raw);
        if state == SUCCESS { Ok(result) } else { Err(result.error()) }
    }

    fn error(&mut self) -> Error {
        let api = self.connection.api();
        // SAFETY: a failed call leaves a result that knows its error, or an empty one.
        let number = unsafe { (api.result_error_type)(&raw mut self.raw) };
        // SAFETY: as above; the text lives as long as the result.
        let message = unsafe { text((api.result_error)(&raw mut self.raw)) };
        Error::numbered(number, message)
    }

    /// Number of rows that the statement inserted, updated or deleted.
    #[must_use]
    pub fn rows_changed(&mut self) -> u64 {
        // SAFETY: the result was filled.
        unsafe { (self.connection.api().rows_changed)(&raw mut self.raw) }
    }

    /// Number of columns.
    #[must_use]
    pub fn width(&mut self) -> usize {
        // SAFETY: the result was filled.
        let count = unsafe { (self.connection.api().column_count)(&raw mut self.raw) };
        usize::try_from(count).expect("fewer columns than memory")
    }

    /// Name of a column, from 0; empty if there is none.
    #[must_use]
    pub fn name(&mut self, column: usize) -> &str {
        // SAFETY: the result was filled; for a column that does not exist the name is null.
        let name = unsafe { (self.connection.api().column_name)(&raw mut self.raw, column as u64) };
        if name.is_null() {
            return "";
        }
        // SAFETY: a text that lives as long as the result.
        unsafe { CStr::from_ptr(name) }.to_str().unwrap_or_default()
    }

    /// The next rows; `None` after the last.
    ///
    /// # Errors
    /// When a streamed statement fails.
    pub fn fetch(&mut self) -> Result<Option<Chunk<'_>>, Error> {
        let api = self.connection.api();
        // SAFETY: the result was filled. The struct is passed by value, as the header has it, and
        // stays ours.
        let handle = unsafe { (api.fetch_chunk)(self.raw) };
        if !handle.is_null() {
            return Ok(Some(Chunk { result: self, handle }));
        }
        let error = self.error();
        if error.message.is_empty() { Ok(None) } else { Err(error) }
    }
}

/// Some rows of a result.
pub struct Chunk<'r> {
    result: &'r QueryResult,
    handle: Handle,
}

impl Drop for Chunk<'_> {
    fn drop(&mut self) {
        // SAFETY: fetched from the result, and destroyed once.
        unsafe { (self.result.connection.api().destroy_data_chunk)(&raw mut self.handle) };
    }
}

impl Chunk<'_> {
    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        // SAFETY: the chunk is alive.
        let size = unsafe { (self.result.connection.api().data_chunk_get_size)(self.handle) };
        usize::try_from(size).expect("fewer rows than memory")
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A column, from 0.
    ///
    /// # Panics
    /// When there is no such column.
    #[must_use]
    pub fn column(&self, column: usize) -> Column<'_> {
        let api = self.result.connection.api();
        // SAFETY: the chunk is alive.
        let count = unsafe { (api.data_chunk_get_column_count)(self.handle) };
        assert!((column as u64) < count, "a chunk of {count} columns has no column {column}");
        // SAFETY: the column exists; the vector lives as long as the chunk.
        let vector = unsafe { (api.data_chunk_get_vector)(self.handle, column as u64) };
        // SAFETY: the vector is alive.
        let mut logical = unsafe { (api.vector_get_column_type)(vector) };
        let kind = logical_kind(&self.result.connection, logical);
        // SAFETY: made by the call above.
        unsafe { (api.destroy_logical_type)(&raw mut logical) };
        // SAFETY: the vector is alive, and a fetched chunk's vectors are flat: one entry per row.
        let data = unsafe { (api.vector_get_data)(vector) };
        // SAFETY: as above; null if no value is NULL.
        let validity = unsafe { (api.vector_get_validity)(vector) };
        let len = if data.is_null() && kind.size() > 0 { 0 } else { self.len() };
        Column { kind, data: data.cast(), validity, len, chunk: PhantomData }
    }
}

/// The kind of a logical type, which must be alive.
pub(crate) fn logical_kind(connection: &Open, logical: Handle) -> ColumnType {
    let api = connection.api();
    // SAFETY: the type is alive.
    let number = unsafe { (api.get_type_id)(logical) };
    ColumnType::of(number, || {
        // SAFETY: the type is alive and a decimal.
        let width = unsafe { (api.decimal_width)(logical) };
        // SAFETY: as above.
        (width, unsafe { (api.decimal_scale)(logical) })
    })
}

/// One column of a chunk.
#[derive(Clone, Copy)]
pub struct Column<'c> {
    kind: ColumnType,
    data: *const u8,
    validity: *const u64,
    len: usize,
    chunk: PhantomData<&'c ()>,
}

impl<'c> Column<'c> {
    /// Type of the column.
    #[must_use]
    pub const fn kind(&self) -> ColumnType {
        self.kind
    }

    fn is_null(&self, row: usize) -> bool {
        if self.validity.is_null() {
            return false;
        }
        // SAFETY: the caller has checked the row, and the mask has a bit for each.
        let word = unsafe { *self.validity.add(row / 64) };
        word >> (row % 64) & 1 == 0
    }

    /// The bytes of an entry.
    fn bytes<const N: usize>(&self, row: usize) -> [u8; N] {
        assert!(row < self.len && self.kind.size() == N, "entry {row} of {}", self.len);
        // SAFETY: a vector has an entry of that size for each of its rows.
        unsafe { self.data.add(row * N).cast::<[u8; N]>().read() }
    }

    /// The value in a row, from 0; `None` for a type that cannot be read.
    ///
    /// # Panics
    /// When there is no such row.
    #[must_use]
    #[inline]
    pub fn value(&self, row: usize) -> Option<Value<'c>> {
        assert!(row < self.len, "a column of {} rows has no row {row}", self.len);
        if self.is_null(row) {
            return Some(Value::Null);
        }
        Some(match self.kind {
            ColumnType::Null => Value::Null,
            ColumnType::Boolean => Value::Int(i128::from(self.bytes::<1>(row)[0] != 0)),
            ColumnType::Int(_) => Value::Int(self.signed(row)),
            ColumnType::Unsigned(bits) => self.unsigned(row, bits),
            ColumnType::Float => Value::Float(f32::from_ne_bytes(self.bytes(row)).into()),
            ColumnType::Double => Value::Float(f64::from_ne_bytes(self.bytes(row))),
            ColumnType::Decimal { scale, .. } => Value::Decimal { units: self.signed(row), scale },
            ColumnType::Text => Value::Text(self.text(row)),
            ColumnType::Date => Value::Date(i32::from_ne_bytes(self.bytes(row))),
            ColumnType::Timestamp { digits } => {
                Value::Timestamp(micros(i64::from_ne_bytes(self.bytes(row)), digits))
            }
            ColumnType::Other(_) => return None,
        })
    }

    #[inline]
    fn signed(&self, row: usize) -> i128 {
        match self.kind.size() {
            1 => i8::from_ne_bytes(self.bytes(row)).into(),
            2 => i16::from_ne_bytes(self.bytes(row)).into(),
            4 => i32::from_ne_bytes(self.bytes(row)).into(),
            8 => i64::from_ne_bytes(self.bytes(row)).into(),
            _ => i128::from_ne_bytes(self.bytes(row)),
        }
    }

    fn unsigned(&self, row: usize, bits: u8) -> Value<'c> {
        Value::Int(match bits {
            8 => self.bytes::<1>(row)[0].into(),
            16 => u16::from_ne_bytes(self.bytes(row)).into(),
            32 => u32::from_ne_bytes(self.bytes(row)).into(),
            64 => u64::from_ne_bytes(self.bytes(row)).into(),
            _ => {
                let value = u128::from_ne_bytes(self.bytes(row));
                match i128::try_from(value) {
                    Ok(value) => value,
                    Err(_) => return Value::Unsigned(value),
                }
            }
        })
    }

    /// The text of an entry: a length, and up to 12 bytes or a prefix of 4 and a pointer.
    #[inline]
    fn text(&self, row: usize) -> &'c [u8] {
        const _: () = assert!(size_of::<*const u8>() == 8, "the layout on 64-bit systems");
        assert!(row < self.len && self.kind == ColumnType::Text, "entry {row} of {}", self.len);
        // SAFETY: the vector has an entry of 16 bytes for each row.
        let entry = unsafe { self.data.add(row * 16) };
        // SAFETY: an entry begins with the length.
        let len = unsafe { entry.cast::<u32>().read() } as usize;
        let start = if len <= INLINED {
            // SAFETY: the bytes follow the length.
            unsafe { entry.add(4) }
        } else {
            // SAFETY: a pointer follows length and prefix, to bytes that live as long as the chunk.
            unsafe { entry.add(8).cast::<*const u8>().read() }
        };
        // SAFETY: there are that many bytes, for as long as the chunk lives.
        unsafe { slice::from_raw_parts(start, len) }
    }
}

/// Microseconds of an instant in units of 10^-`digits` seconds.
const fn micros(value: i64, digits: u8) -> i64 {
    match digits {
        0 => value.saturating_mul(1_000_000),
        3 => value.saturating_mul(1_000),
        6 => value,
        _ => value.div_euclid(1_000),
    }
}

/// A pointer to nothing, for places that a call fills.
pub(crate) const NOTHING: Handle = ptr::null_mut();
