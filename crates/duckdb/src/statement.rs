//! Prepared statements.

use std::rc::Rc;

use crate::api::{Handle, RawDecimal, RawResult, SUCCESS};
use crate::error::{Error, c_text, text};
use crate::open::Open;
use crate::result::{NOTHING, QueryResult};

/// DuckDB's number of the type INTEGER.
const INTEGER: u32 = 4;

/// A prepared statement with the values that are bound to it. Parameters are counted from 1.
pub struct Prepared {
    connection: Rc<Open>,
    handle: Handle,
}

impl Drop for Prepared {
    fn drop(&mut self) {
        // SAFETY: prepared below, and destroyed once.
        unsafe { (self.connection.api().destroy_prepare)(&raw mut self.handle) };
    }
}

impl Prepared {
    pub(crate) fn of(connection: &Rc<Open>, sql: &str) -> Result<Self, Error> {
        let sql = c_text(sql)?;
        let api = connection.api();
        let mut prepared = Self { connection: Rc::clone(connection), handle: NOTHING };
        let place = &raw mut prepared.handle;
        // SAFETY: the connection is open, and the text ends with a zero byte.
        let state = unsafe { (api.prepare)(connection.handle, sql.as_ptr(), place) };
        if state == SUCCESS {
            return Ok(prepared);
        }
        // SAFETY: a statement that failed knows why, until it is destroyed.
        Err(Error::new(unsafe { text((api.prepare_error)(prepared.handle)) }))
    }

    /// Number of parameters.
    #[must_use]
    pub fn parameters(&self) -> usize {
        // SAFETY: the statement is alive.
        let count = unsafe { (self.connection.api().nparams)(self.handle) };
        usize::try_from(count).expect("fewer parameters than memory")
    }

    fn bound(&self, state: u32, parameter: usize) -> Result<(), Error> {
        if state == SUCCESS {
            return Ok(());
        }
        // SAFETY: the statement is alive, and knows why binding failed.
        let why = unsafe { text((self.connection.api().prepare_error)(self.handle)) };
        Err(Error::new(format!("cannot bind parameter {parameter}: {why}")))
    }

    /// Binds NULL.
    ///
    /// # Errors
    /// When there is no such parameter; so for all values.
    pub fn bind_null(&mut self, parameter: usize) -> Result<(), Error> {
        // SAFETY: the statement is alive; a parameter that it lacks is an error.
        let state = unsafe { (self.connection.api().bind_null)(self.handle, parameter as u64) };
        self.bound(state, parameter)
    }

    /// Binds a 16-bit integer.
    ///
    /// # Errors
    /// As [`Prepared::bind_null`].
    pub fn bind_int16(&mut self, parameter: usize, value: i16) -> Result<(), Error> {
        let bind = self.connection.api().bind_int16;
        // SAFETY: as in `bind_null`.
        let state = unsafe { bind(self.handle, parameter as u64, value) };
        self.bound(state, parameter)
    }

    /// Binds a 32-bit integer.
    ///
    /// # Errors
    /// As [`Prepared::bind_null`].
    pub fn bind_int32(&mut self, parameter: usize, value: i32) -> Result<(), Error> {
        let bind = self.connection.api().bind_int32;
        // SAFETY: as in `bind_null`.
        let state = unsafe { bind(self.handle, parameter as u64, value) };
        self.bound(state, parameter)
    }

    /// Binds a 64-bit integer.
    ///
    /// # Errors
    /// As [`Prepared::bind_null`].
    pub fn bind_int64(&mut self, parameter: usize, value: i64) -> Result<(), Error> {
        let bind = self.connection.api().bind_int64;
        // SAFETY: as in `bind_null`.
        let state = unsafe { bind(self.handle, parameter as u64, value) };
        self.bound(state, parameter)
    }

    /// Binds a floating-point number.
    ///
    /// # Errors
    /// As [`Prepared::bind_null`].
    pub fn bind_float(&mut self, parameter: usize, value: f64) -> Result<(), Error> {
        let bind = self.connection.api().bind_double;
        // SAFETY: as in `bind_null`.
        let state = unsafe { bind(self.handle, parameter as u64, value) };
        self.bound(state, parameter)
    }

    /// Binds `units` × 10^-`scale`, as a decimal of `width` digits.
    ///
    /// # Errors
    /// As [`Prepared::bind_null`].
    pub fn bind_decimal(
        &mut self,
        parameter: usize,
        units: i128,
        width: u8,
        scale: u8,
    ) -> Result<(), Error> {
        let value = RawDecimal { width, scale, value: units.into() };
        let bind = self.connection.api().bind_decimal;
        // SAFETY: as in `bind_null`.
        let state = unsafe { bind(self.handle, parameter as u64, value) };
        self.bound(state, parameter)
    }

    /// Binds text, which is copied.
    ///
    /// # Errors
    /// As [`Prepared::bind_null`].
    pub fn bind_text(&mut self, parameter: usize, value: &str) -> Result<(), Error> {
        let bind = self.connection.api().bind_varchar_length;
        let (start, len) = (value.as_ptr().cast(), value.len() as u64);
        // SAFETY: as in `bind_null`; there are `len` bytes at `start`.
        let state = unsafe { bind(self.handle, parameter as u64, start, len) };
        self.bound(state, parameter)
    }

    /// Binds a date: days since 1970-01-01.
    ///
    /// # Errors
    /// As [`Prepared::bind_null`].
    pub fn bind_date(&mut self, parameter: usize, days: i32) -> Result<(), Error> {
        let bind = self.connection.api().bind_date;
        // SAFETY: as in `bind_null`.
        let state = unsafe { bind(self.handle, parameter as u64, days) };
        self.bound(state, parameter)
    }

    /// Binds an instant: microseconds since 1970-01-01.
    ///
    /// # Errors
    /// As [`Prepared::bind_null`].
    pub fn bind_timestamp(&mut self, parameter: usize, micros: i64) -> Result<(), Error> {
        let bind = self.connection.api().bind_timestamp;
        // SAFETY: as in `bind_null`.
        let state = unsafe { bind(self.handle, parameter as u64, micros) };
        self.bound(state, parameter)
    }

    /// Binds a list of 32-bit integers.
    ///
    /// # Errors
    /// As [`Prepared::bind_null`].
    pub fn bind_ints(&mut self, parameter: usize, values: &[i32]) -> Result<(), Error> {
        let api = self.connection.api();
        // SAFETY: makes a type and values, which are destroyed below.
        let mut element = unsafe { (api.create_logical_type)(INTEGER) };
        // SAFETY: as above.
        let make = |value: &i32| unsafe { (api.create_int32)(*value) };
        let mut elements: Vec<_> = values.iter().map(make).collect();
        let (start, len) = (elements.as_mut_ptr(), elements.len() as u64);
        // SAFETY: `len` values of that type, which are copied.
        let mut list = unsafe { (api.create_list_value)(element, start, len) };
        // SAFETY: as in `bind_null`; the list is copied.
        let state = unsafe { (api.bind_value)(self.handle, parameter as u64, list) };
        for value in elements.iter_mut().chain([&mut list]) {
            // SAFETY: made above, and destroyed once.
            unsafe { (api.destroy_value)(value) };
        }
        // SAFETY: made above, and destroyed once.
        unsafe { (api.destroy_logical_type)(&raw mut element) };
        self.bound(state, parameter)
    }

    /// Runs the statement and keeps its whole result in DuckDB's memory.
    ///
    /// # Errors
    /// When it fails.
    pub fn execute(&mut self) -> Result<QueryResult, Error> {
        QueryResult::of(&self.connection, |result: *mut RawResult| {
            // SAFETY: the statement is alive.
            unsafe { (self.connection.api().execute_prepared)(self.handle, result) }
        })
    }

    /// Runs the statement while its rows are read. The connection must not be used for anything
    /// else until they are: the result would fail.
    ///
    /// # Errors
    /// When it fails; later failures come with the rows.
    pub fn stream(&mut self) -> Result<QueryResult, Error> {
        let api = self.connection.api();
        let mut pending = NOTHING;
        // SAFETY: the statement is alive, and there is a place for the pending result.
        let state = unsafe { (api.pending_prepared_streaming)(self.handle, &raw mut pending) };
        let result = if state == SUCCESS {
            QueryResult::of(&self.connection, |result: *mut RawResult| {
                // SAFETY: the pending result is alive.
                unsafe { (api.execute_pending)(pending, result) }
            })
        } else {
            // SAFETY: a pending result that failed knows why, until it is destroyed.
            Err(Error::new(unsafe { text((api.pending_error)(pending)) }))
        };
        // SAFETY: made above, and destroyed once, whatever happened.
        unsafe { (api.destroy_pending)(&raw mut pending) };
        result
    }
}
