//! Statements: prepared with parameters, or run as a text, and their results.

use std::ptr;
use std::rc::Rc;

use crate::api::{
    ATTR_PARAM_BIND_TYPE, ATTR_PARAM_STATUS_PTR, ATTR_PARAMS_PROCESSED_PTR, ATTR_PARAMSET_SIZE,
    CLOSE, HANDLE_STMT, Handle, NO_DATA, PARAM_ERROR, Return, UNBIND, as_pointer, wide, worked,
};
use crate::columns::{Column, Field};
use crate::connection::{Connection, Open};
use crate::diagnostics::{Error, until_zero};
use crate::parameters::{Buffer, Param, ParamType, Unset};

/// Longest name of a column that is kept, in UTF-16 units.
const NAME_UNITS: usize = 128;

/// A statement on a connection.
pub struct Statement {
    open: Rc<Open>,
    handle: Handle,
    parameters: Vec<Buffer>,
    /// Number of sets that the driver was given.
    sets: usize,
    /// What became of each set.
    statuses: Vec<u16>,
    processed: Box<usize>,
    /// The columns of the current result, bound if that is possible.
    columns: Vec<Column>,
    /// Whether `columns` are those of the first result, and so of the next execution's.
    is_described: bool,
    /// Whether there may be a cursor to close.
    is_open: bool,
    /// Whether all columns are read as text.
    as_text: bool,
}

impl Drop for Statement {
    fn drop(&mut self) {
        // SAFETY: made by this library, and freed once; its connection is alive. Buffers are
        // dropped after that.
        unsafe { (self.open.api().free_handle)(HANDLE_STMT, self.handle) };
    }
}

impl Connection {
    /// Makes a statement to run texts with.
    ///
    /// # Errors
    /// As the driver reports.
    pub fn statement(&self) -> Result<Statement, Error> {
        let mut handle = ptr::null_mut();
        // SAFETY: connected; a place for the new handle.
        let made = unsafe {
            (self.open.api().alloc_handle)(HANDLE_STMT, self.open.handle(), &raw mut handle)
        };
        if !worked(made) {
            let (api, connection) = (self.open.api(), self.open.handle());
            return Err(Error::of(api, crate::api::HANDLE_DBC, connection, "SQLAllocHandle"));
        }
        Ok(Statement {
            open: Rc::clone(&self.open),
            handle,
            parameters: Vec::new(),
            sets: 1,
            statuses: Vec::new(),
            processed: Box::new(0),
            columns: Vec::new(),
            is_described: false,
            is_open: false,
            as_text: false,
        })
    }

    /// Prepares a statement with parameters of these types, for one set of values or more.
    ///
    /// # Errors
    /// As the driver reports.
    pub fn prepare(&self, sql: &str, types: &[ParamType], sets: usize) -> Result<Statement, Error> {
        let mut statement = self.statement()?;
        if u16::try_from(types.len()).is_err() {
            return Err(Error::new("07009", "the statement has more than 65,535 parameters"));
        }
        let text = wide(sql);
        let length = length_of(&text)?;
        let handle = statement.handle;
        let code = self.open.interruptible(handle, "SQLPrepare", || {
            // SAFETY: the statement is alive, and the text has that length.
            unsafe { (self.open.api().prepare)(handle, text.as_ptr(), length) }
        });
        statement.check(code, "SQLPrepare")?;
        statement.parameters = types.iter().map(|param| Buffer::new(*param, sets)).collect();
        // Drivers that describe a statement before its first execution go by these types.
        statement.bind_all()?;
        if sets > 1 {
            statement.expect_sets(sets)?;
        }
        Ok(statement)
    }
}

fn length_of(text: &[u16]) -> Result<i32, Error> {
    i32::try_from(text.len() - 1).map_err(|_| Error::new("HY090", "the text is too long"))
}

impl Statement {
    fn check(&self, code: Return, call: &str) -> Result<(), Error> {
        if worked(code) { Ok(()) } else { Err(self.error(call)) }
    }

    fn error(&self, call: &str) -> Error {
        Error::of(self.open.api(), HANDLE_STMT, self.handle, call)
    }

    fn set_attr(&self, attribute: i32, value: *mut std::ffi::c_void) -> Result<(), Error> {
        // SAFETY: the statement is alive; the callers pass what each attribute takes.
        let code = unsafe { (self.open.api().set_stmt_attr)(self.handle, attribute, value, 0) };
        self.check(code, "SQLSetStmtAttr")
    }

    /// Prepares for several sets of values per execution.
    fn expect_sets(&mut self, sets: usize) -> Result<(), Error> {
        self.statuses = vec![0; sets];
        self.set_attr(ATTR_PARAM_BIND_TYPE, as_pointer(0))?;
        let statuses = self.statuses.as_mut_ptr().cast();
        self.set_attr(ATTR_PARAM_STATUS_PTR, statuses)?;
        let processed = (&raw mut *self.processed).cast();
        self.set_attr(ATTR_PARAMS_PROCESSED_PTR, processed)?;
        // Fails here if the driver has no arrays.
        self.set_attr(ATTR_PARAMSET_SIZE, as_pointer(sets))?;
        self.sets = sets;
        Ok(())
    }

    /// Reads all columns as text, for databases in which a column has values of any type.
    pub fn read_as_text(&mut self) {
        self.as_text = true;
    }

    /// Number of parameters of the prepared text; `None` if the driver does not know it.
    #[must_use]
    pub fn parameters(&self) -> Option<usize> {
        let mut count = 0;
        // SAFETY: the statement is alive; a place for the number.
        let code = unsafe { (self.open.api().num_params)(self.handle, &raw mut count) };
        usize::try_from(count).ok().filter(|_| worked(code))
    }

    /// Sets the value of a parameter in a set of values, both from 0.
    ///
    /// # Errors
    /// When the parameter cannot have the value.
    ///
    /// # Panics
    /// When there is no such parameter or set.
    #[inline]
    pub fn set(&mut self, set: usize, place: usize, value: Param<'_>) -> Result<(), Unset> {
        self.parameters[place].set(set, value)
    }

    /// Runs the prepared statement with the first set of values.
    ///
    /// # Errors
    /// As the driver reports.
    pub fn execute(&mut self) -> Result<(), Error> {
        self.execute_sets(1)
    }

    /// Runs the prepared statement with the first `sets` sets of values.
    ///
    /// # Errors
    /// As the driver reports, of the first set that fails.
    ///
    /// # Panics
    /// When there are fewer sets.
    pub fn execute_sets(&mut self, sets: usize) -> Result<(), Error> {
        assert!(
            sets == 1 || sets <= self.statuses.len(),
            "{sets} of only {} sets",
            self.statuses.len()
        );
        self.close();
        if sets != self.sets {
            self.set_attr(ATTR_PARAMSET_SIZE, as_pointer(sets))?;
            self.sets = sets;
        }
        self.statuses.fill(0);
        self.bind_all()?;
        let (api, handle) = (self.open.api(), self.handle);
        // SAFETY: prepared, and every parameter is bound.
        let code =
            self.open.interruptible(handle, "SQLExecute", || unsafe { (api.execute)(handle) });
        self.is_open = true;
        if code != NO_DATA {
            self.check(code, "SQLExecute")?;
        }
        if self.statuses.contains(&PARAM_ERROR) {
            return Err(self.error("SQLExecute"));
        }
        Ok(())
    }

    /// Binds the buffers that are new, or have another place than before.
    #[inline]
    fn bind_all(&mut self) -> Result<(), Error> {
        let (api, handle) = (self.open.api(), self.handle);
        for (place, buffer) in (1..).zip(&mut self.parameters) {
            // SAFETY: the statement is alive, and keeps the buffers as long as it lives.
            let code = unsafe { buffer.bind(api, handle, place) };
            if !worked(code) {
                return Err(Error::of(api, HANDLE_STMT, handle, "SQLBindParameter"));
            }
        }
        Ok(())
    }

    /// Runs a text.
    ///
    /// # Errors
    /// As the driver reports.
    pub fn direct(&mut self, sql: &str) -> Result<(), Error> {
        self.close();
        self.forget_columns();
        let text = wide(sql);
        let length = length_of(&text)?;
        let (api, handle) = (self.open.api(), self.handle);
        let code = self.open.interruptible(handle, "SQLExecDirect", || {
            // SAFETY: the statement is alive, and the text has that length.
            unsafe { (api.exec_direct)(handle, text.as_ptr(), length) }
        });
        self.is_open = true;
        if code == NO_DATA { Ok(()) } else { self.check(code, "SQLExecDirect") }
    }

    /// Lists the tables, in the columns of ODBC's catalog: catalog, schema, name, type, remarks.
    ///
    /// # Errors
    /// As the driver reports.
    pub fn tables(&mut self) -> Result<(), Error> {
        self.close();
        self.forget_columns();
        let kind = wide("TABLE");
        let none = ptr::null();
        // SAFETY: the statement is alive; absent names are null, and the type has that length.
        let code = unsafe {
            (self.open.api().tables)(self.handle, none, 0, none, 0, none, 0, kind.as_ptr(), 5)
        };
        self.is_open = true;
        self.check(code, "SQLTables")
    }

    /// Number of rows that the statement inserted, updated or deleted; `None` if it is unknown.
    #[must_use]
    pub fn rows_changed(&self) -> Option<u64> {
        let mut count = -1;
        // SAFETY: the statement is alive; a place for the number.
        let code = unsafe { (self.open.api().row_count)(self.handle, &raw mut count) };
        u64::try_from(count).ok().filter(|_| worked(code))
    }

    /// Describes the current result, and returns the number of its columns: 0 if it has no rows.
    ///
    /// # Errors
    /// As the driver reports.
    pub fn describe(&mut self) -> Result<usize, Error> {
        if self.is_described {
            return Ok(self.columns.len());
        }
        // Those of an attempt that failed.
        self.forget_columns();
        let mut count = 0;
        let (api, handle) = (self.open.api(), self.handle);
        // SAFETY: the statement is alive; a place for the number.
        let code = unsafe { (api.num_result_cols)(handle, &raw mut count) };
        self.check(code, "SQLNumResultCols")?;
        for place in 1..=u16::try_from(count).unwrap_or(0) {
            let column = self.describe_column(place)?;
            self.columns.push(column);
        }
        if self.open.rereads {
            for (place, column) in (1..).zip(&mut self.columns) {
                // SAFETY: the statement is alive; it is unbound before the columns are dropped.
                let code = unsafe { column.bind(api, handle, place) };
                if !worked(code) {
                    return Err(Error::of(api, HANDLE_STMT, handle, "SQLBindCol"));
                }
            }
        }
        self.is_described = true;
        Ok(self.columns.len())
    }

    fn describe_column(&self, place: u16) -> Result<Column, Error> {
        let (mut name, mut name_length) = ([0u16; NAME_UNITS], 0);
        let (mut sql_type, mut size, mut digits, mut nullable) = (0, 0, 0, 0);
        #[expect(clippy::cast_possible_truncation, reason = "a small constant")]
        let room = NAME_UNITS as i16;
        // SAFETY: the statement is alive; a place for each answer, the name's of that length.
        let code = unsafe {
            (self.open.api().describe_col)(
                self.handle,
                place,
                name.as_mut_ptr(),
                room,
                &raw mut name_length,
                &raw mut sql_type,
                &raw mut size,
                &raw mut digits,
                &raw mut nullable,
            )
        };
        self.check(code, "SQLDescribeCol")?;
        Ok(Column::new(until_zero(&name), sql_type, size, self.as_text))
    }

    /// Name of a column of the described result, from 0; empty if there is none.
    #[must_use]
    pub fn name(&self, column: usize) -> &str {
        self.columns.get(column).map_or("", |column| column.name.as_str())
    }

    /// Goes to the next row of the described result; false after the last.
    ///
    /// # Errors
    /// As the driver reports.
    #[inline]
    pub fn fetch(&mut self) -> Result<bool, Error> {
        let (api, handle) = (self.open.api(), self.handle);
        // SAFETY: the statement is alive, and so are the columns that are bound to it.
        let code = self.open.interruptible(handle, "SQLFetch", || unsafe { (api.fetch)(handle) });
        if code == NO_DATA {
            return Ok(false);
        }
        self.check(code, "SQLFetch")?;
        let is_bound = self.open.rereads;
        for (place, column) in (1..).zip(&mut self.columns) {
            let code = if !is_bound {
                // SAFETY: the statement is alive and has a current row.
                unsafe { column.read(api, handle, place) }
            } else if column.is_cut() {
                // SAFETY: as above.
                unsafe { column.read_long(api, handle, place) }
            } else {
                continue;
            };
            if !worked(code) {
                return Err(Error::of(api, HANDLE_STMT, handle, "SQLGetData"));
            }
        }
        Ok(true)
    }

    /// A value of the current row, from 0.
    ///
    /// # Panics
    /// When there is no such column.
    #[must_use]
    #[inline]
    pub fn field(&self, column: usize) -> Field<'_> {
        self.columns[column].field()
    }

    /// Goes to the next result of a statement that has several; false after the last.
    ///
    /// # Errors
    /// As the driver reports: also the failure of a later part of the statement.
    pub fn next_result(&mut self) -> Result<bool, Error> {
        let (api, handle) = (self.open.api(), self.handle);
        self.forget_columns();
        // SAFETY: the statement is alive.
        let code = self
            .open
            .interruptible(handle, "SQLMoreResults", || unsafe { (api.more_results)(handle) });
        if code == NO_DATA {
            return Ok(false);
        }
        self.check(code, "SQLMoreResults").map(|()| true)
    }

    fn forget_columns(&mut self) {
        if !self.columns.is_empty() {
            // SAFETY: the statement is alive.
            unsafe { (self.open.api().free_stmt)(self.handle, UNBIND) };
            self.columns.clear();
        }
        self.is_described = false;
    }

    /// Discards what is left of the results.
    #[inline]
    pub fn close(&mut self) {
        if std::mem::take(&mut self.is_open) {
            // SAFETY: the statement is alive. Without a cursor it does nothing.
            unsafe { (self.open.api().free_stmt)(self.handle, CLOSE) };
        }
    }
}
