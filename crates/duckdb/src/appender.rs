//! Bulk loads: rows are written into vectors, column by column, and appended in chunks.

use std::ptr;
use std::rc::Rc;

use crate::api::{Handle, SUCCESS};
use crate::connection::Connection;
use crate::error::{Error, c_text, text};
use crate::open::Open;
use crate::result::{NOTHING, logical_kind};
use crate::value::{ColumnType, Value};

/// Loads rows into a table, in the connection's open transaction. Rows that were not
/// [flushed](Appender::flush) are lost when it is dropped.
pub struct Appender {
    connection: Rc<Open>,
    handle: Handle,
    chunk: Handle,
    columns: Vec<Target>,
    /// Rows that a chunk holds.
    capacity: usize,
    /// Rows that are complete in the chunk.
    len: usize,
}

/// A column that is loaded.
struct Target {
    kind: ColumnType,
    vector: Handle,
    data: *mut u8,
    /// Null until the chunk's first NULL.
    validity: *mut u64,
    /// What the units of a decimal must be below.
    limit: u128,
}

/// Bytes of a text that lie in the vector itself, after its length.
const INLINE: usize = 12;

/// A value that its column cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misfit;

impl Drop for Appender {
    fn drop(&mut self) {
        let api = self.connection.api();
        // SAFETY: made by `Appender::new`, and destroyed once; so is the chunk. Null is ignored.
        unsafe { (api.destroy_data_chunk)(&raw mut self.chunk) };
        if !self.handle.is_null() {
            // SAFETY: the appender is alive. Destroying it would append what is left.
            unsafe { (api.appender_clear)(self.handle) };
        }
        // SAFETY: as above.
        unsafe { (api.appender_destroy)(&raw mut self.handle) };
    }
}

impl Appender {
    /// Begins a load of these columns of a table; all others get their defaults.
    ///
    /// # Errors
    /// When the table or a column does not exist.
    pub fn new<'n>(
        connection: &Connection,
        table: &str,
        columns: impl IntoIterator<Item = &'n str>,
    ) -> Result<Self, Error> {
        let open = &connection.0;
        let (api, table) = (open.api(), c_text(table)?);
        // SAFETY: takes nothing.
        let capacity = unsafe { (api.vector_size)() };
        let mut appender = Self {
            connection: Rc::clone(open),
            handle: NOTHING,
            chunk: NOTHING,
            columns: Vec::new(),
            capacity: usize::try_from(capacity).expect("a vector fits memory"),
            len: 0,
        };
        let place = &raw mut appender.handle;
        // SAFETY: the connection is open, and the name ends with a zero byte; null is the schema
        // that the connection uses.
        let state =
            unsafe { (api.appender_create)(open.handle, ptr::null(), table.as_ptr(), place) };
        appender.checked(state)?;
        for column in columns {
            let name = c_text(column)?;
            // SAFETY: the appender is alive, and the name ends with a zero byte.
            let state = unsafe { (api.appender_add_column)(appender.handle, name.as_ptr()) };
            appender.checked(state)?;
        }
        appender.make_chunk();
        Ok(appender)
    }

    fn checked(&self, state: u32) -> Result<(), Error> {
        if state == SUCCESS {
            return Ok(());
        }
        let api = self.connection.api();
        // SAFETY: an appender that failed knows why.
        let mut data = unsafe { (api.appender_error_data)(self.handle) };
        // SAFETY: made by the call above.
        let number = unsafe { (api.error_data_error_type)(data) };
        // SAFETY: as above; the text lives until it is destroyed.
        let error = Error::numbered(number, unsafe { text((api.error_data_message)(data)) });
        // SAFETY: made above, and destroyed once.
        unsafe { (api.destroy_error_data)(&raw mut data) };
        Err(error)
    }

    /// Makes the chunk, with the types of the table's columns, so that DuckDB casts nothing.
    fn make_chunk(&mut self) {
        let api = self.connection.api();
        // SAFETY: the appender is alive.
        let count = unsafe { (api.appender_column_count)(self.handle) };
        // SAFETY: as above, and the columns exist; the types are destroyed below.
        let make = |column| unsafe { (api.appender_column_type)(self.handle, column) };
        let mut types: Vec<Handle> = (0..count).map(make).collect();
        // SAFETY: `count` types, which are copied.
        self.chunk = unsafe { (api.create_data_chunk)(types.as_mut_ptr(), count) };
        for (column, logical) in types.iter_mut().enumerate() {
            let kind = logical_kind(&self.connection, *logical);
            // SAFETY: the chunk is alive and has the column.
            let vector = unsafe { (api.data_chunk_get_vector)(self.chunk, column as u64) };
            let data = ptr::null_mut();
            let limit = match kind {
                ColumnType::Decimal { width, .. } => 10_u128.pow(width.into()),
                _ => 0,
            };
            self.columns.push(Target { kind, vector, data, validity: ptr::null_mut(), limit });
            // SAFETY: made above, and destroyed once.
            unsafe { (api.destroy_logical_type)(logical) };
        }
        self.find_data();
    }

    /// Finds where the vectors' entries lie, which may change with each chunk.
    fn find_data(&mut self) {
        let api = self.connection.api();
        for column in &mut self.columns {
            // SAFETY: the vector lives as long as the chunk.
            column.data = unsafe { (api.vector_get_data)(column.vector) }.cast();
            column.validity = ptr::null_mut();
        }
    }

    /// Number of columns that are loaded.
    #[must_use]
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// Type of a column in the table.
    ///
    /// # Panics
    /// When there is no such column.
    #[must_use]
    pub fn kind(&self, column: usize) -> ColumnType {
        self.columns[column].kind
    }

    /// Sets a field of the current row; each must be set once before [`Appender::end_row`].
    ///
    /// # Errors
    /// When the column cannot hold the value exactly.
    ///
    /// # Panics
    /// When there is no such column.
    #[inline]
    pub fn set(&mut self, column: usize, value: Value<'_>) -> Result<(), Misfit> {
        let row = self.len;
        let target = &mut self.columns[column];
        match (value, target.kind) {
            (Value::Null, _) => {
                self.set_null(column);
                Ok(())
            }
            (Value::Int(value), ColumnType::Int(_)) => target.put_int(row, value),
            (Value::Int(value), ColumnType::Decimal { scale, .. }) => {
                target.put_decimal(row, rescale(value, 0, scale))
            }
            (Value::Decimal { units, scale: from }, ColumnType::Decimal { scale, .. }) => {
                target.put_decimal(row, rescale(units, from, scale))
            }
            (Value::Float(value), ColumnType::Double) => target.put(row, value.to_ne_bytes()),
            (Value::Date(days), ColumnType::Date) => target.put(row, days.to_ne_bytes()),
            (Value::Timestamp(micros), ColumnType::Timestamp { digits: 6 }) => {
                target.put(row, micros.to_ne_bytes())
            }
            (Value::Text(text), ColumnType::Text) => {
                std::str::from_utf8(text).map_err(|_| Misfit)?;
                if text.len() <= INLINE {
                    return target.put_short(row, text);
                }
                let assign = self.connection.api().vector_assign_string_element_len;
                let (start, len) = (text.as_ptr().cast(), text.len() as u64);
                // SAFETY: the vector is alive and has the row; there are `len` bytes, which are
                // copied.
                unsafe { assign(target.vector, row as u64, start, len) };
                Ok(())
            }
            _ => Err(Misfit),
        }
    }

    #[cold]
    fn set_null(&mut self, column: usize) {
        let api = self.connection.api();
        let target = &mut self.columns[column];
        if target.validity.is_null() {
            // SAFETY: the vector is alive; from now on it has a mask.
            unsafe { (api.vector_ensure_validity_writable)(target.vector) };
            // SAFETY: as above.
            target.validity = unsafe { (api.vector_get_validity)(target.vector) };
        }
        // SAFETY: the mask has a bit for each row of the chunk, and `len` is below its capacity.
        let word = unsafe { &mut *target.validity.add(self.len / 64) };
        *word &= !(1 << (self.len % 64));
    }

    /// Ends a row; appends the chunk when it is full.
    ///
    /// # Errors
    /// When DuckDB rejects rows.
    #[inline]
    pub fn end_row(&mut self) -> Result<(), Error> {
        self.len += 1;
        if self.len == self.capacity { self.append() } else { Ok(()) }
    }

    /// Hands all complete rows to the table.
    ///
    /// # Errors
    /// When one violates a constraint. The appender cannot be used any more then.
    pub fn flush(&mut self) -> Result<(), Error> {
        self.append()?;
        // SAFETY: the appender is alive.
        let state = unsafe { (self.connection.api().appender_flush)(self.handle) };
        self.checked(state)
    }

    fn append(&mut self) -> Result<(), Error> {
        let api = self.connection.api();
        // SAFETY: the chunk is alive and has as many rows.
        unsafe { (api.data_chunk_set_size)(self.chunk, self.len as u64) };
        // SAFETY: both are alive; the rows are copied.
        let state = unsafe { (api.append_data_chunk)(self.handle, self.chunk) };
        // SAFETY: the chunk is alive.
        unsafe { (api.data_chunk_reset)(self.chunk) };
        self.len = 0;
        self.find_data();
        self.checked(state)
    }
}

impl Target {
    /// Writes an entry.
    #[inline]
    fn put<const N: usize>(&mut self, row: usize, bytes: [u8; N]) -> Result<(), Misfit> {
        assert_eq!(self.kind.size(), N, "the size of an entry");
        // SAFETY: the vector has an entry of that size for each row below its capacity, which
        // `end_row` never exceeds.
        unsafe { self.data.add(row * N).cast::<[u8; N]>().write(bytes) };
        Ok(())
    }

    /// Writes an integer of the column's size.
    #[inline]
    fn put_int(&mut self, row: usize, value: i128) -> Result<(), Misfit> {
        match self.kind.size() {
            1 => self.put(row, i8::try_from(value).map_err(|_| Misfit)?.to_ne_bytes()),
            2 => self.put(row, i16::try_from(value).map_err(|_| Misfit)?.to_ne_bytes()),
            4 => self.put(row, i32::try_from(value).map_err(|_| Misfit)?.to_ne_bytes()),
            8 => self.put(row, i64::try_from(value).map_err(|_| Misfit)?.to_ne_bytes()),
            _ => self.put(row, value.to_ne_bytes()),
        }
    }

    /// Writes a text of at most [`INLINE`] bytes as `duckdb_string_t` has it: its length, and the text
    /// with zeros.
    #[inline]
    fn put_short(&mut self, row: usize, text: &[u8]) -> Result<(), Misfit> {
        let mut entry = [0; 4 + INLINE];
        entry[..4].copy_from_slice(&u32::try_from(text.len()).map_err(|_| Misfit)?.to_ne_bytes());
        entry[4..4 + text.len()].copy_from_slice(text);
        self.put(row, entry)
    }

    /// Writes the units of a decimal.
    #[inline]
    fn put_decimal(&mut self, row: usize, units: Option<i128>) -> Result<(), Misfit> {
        let units = units.ok_or(Misfit)?;
        if units.unsigned_abs() >= self.limit {
            return Err(Misfit);
        }
        self.put_int(row, units)
    }
}

/// Converts a decimal to another scale; `None` if digits would be lost.
#[inline]
fn rescale(units: i128, from: u8, to: u8) -> Option<i128> {
    if from == to {
        return Some(units);
    }
    let power = 10_i128.checked_pow(u32::from(from.abs_diff(to)))?;
    if to > from { units.checked_mul(power) } else { (units % power == 0).then_some(units / power) }
}
