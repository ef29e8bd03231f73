//! Connections to databases.

use std::path::Path;
use std::ptr;
use std::rc::Rc;

use crate::api::{RawResult, SUCCESS};
use crate::error::{Error, c_text, text};
use crate::library::{Library, one_spelling};
use crate::open::{Interrupter, Open};
use crate::result::QueryResult;
use crate::statement::Prepared;

/// One connection. Dropping it, and all statements, results and appenders made from it, rolls an
/// open transaction back; the last connection to a file closes its database.
pub struct Connection(pub(crate) Rc<Open>);

impl Library {
    /// Opens a connection to a database file, which is created if it does not exist. All
    /// connections of this process to one file share its database.
    ///
    /// # Errors
    /// When the file is not a database, is locked by another process, or cannot be opened.
    pub fn connect(&'static self, path: &Path) -> Result<Connection, Error> {
        self.connect_with(path, &[])
    }

    /// Opens a connection to a database file with a configuration, as names and values of settings.
    ///
    /// # Errors
    /// As [`Library::connect`], and when a setting is wrong or another connection of this process
    /// has opened the file with other ones.
    pub fn connect_with(
        &'static self,
        path: &Path,
        configuration: &[(&'static str, String)],
    ) -> Result<Connection, Error> {
        let path = one_spelling(path);
        let path = path.to_str().ok_or_else(|| Error::new("the path is not valid UTF-8"))?;
        let path = c_text(path)?;
        let _alone = self.alone();
        let mut config = self.config(configuration)?;
        let mut database = ptr::null_mut();
        let mut message = ptr::null_mut();
        // SAFETY: all pointers are valid for the call, and the path ends with a zero byte.
        let state = unsafe {
            (self.api.get_or_create_from_cache)(
                self.databases.0,
                path.as_ptr(),
                &raw mut database,
                config,
                &raw mut message,
            )
        };
        // SAFETY: made above, and not used any more.
        unsafe { (self.api.destroy_config)(&raw mut config) };
        if state != SUCCESS {
            // SAFETY: null, or a text that was allocated for the caller.
            let error = Error::new(unsafe { text(message) });
            // SAFETY: as above; freeing null does nothing.
            unsafe { (self.api.free)(message.cast()) };
            return Err(error);
        }
        Ok(Connection(Rc::new(Open::new(self, database)?)))
    }
}

impl Connection {
    /// The library that the connection uses.
    #[must_use]
    pub fn library(&self) -> &'static Library {
        self.0.library
    }

    /// Runs one or more statements and drops their rows.
    ///
    /// # Errors
    /// When one fails; those before it have run.
    pub fn script(&self, sql: &str) -> Result<(), Error> {
        self.query(sql).map(|_| ())
    }

    /// Runs one or more statements and returns the result of the last.
    ///
    /// # Errors
    /// When one fails; those before it have run.
    pub fn query(&self, sql: &str) -> Result<QueryResult, Error> {
        let sql = c_text(sql)?;
        QueryResult::of(&self.0, |result: *mut RawResult| {
            // SAFETY: the connection is open, and the text ends with a zero byte.
            unsafe { (self.0.api().query)(self.0.handle, sql.as_ptr(), result) }
        })
    }

    /// Prepares a statement.
    ///
    /// # Errors
    /// When it is not valid.
    pub fn prepare(&self, sql: &str) -> Result<Prepared, Error> {
        Prepared::of(&self.0, sql)
    }

    /// A handle with which any thread can interrupt what the connection is doing.
    #[must_use]
    pub fn interrupter(&self) -> Interrupter {
        self.0.interrupter()
    }
}
