//! Connections, and how another thread interrupts them.

use std::ffi::c_void;
use std::ptr;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::api::{
    ATTR_AUTOCOMMIT, ATTR_CONNECTION_DEAD, ATTR_LOGIN_TIMEOUT, ATTR_TXN_ISOLATION, Api, CD_TRUE,
    DRIVER_NOPROMPT, HANDLE_DBC, Handle, Return, as_pointer, wide, worked,
};
use crate::crash::inside;
use crate::diagnostics::{Error, until_zero};
use crate::manager::Manager;

/// Longest text of `SQLGetInfo` that is kept, in UTF-16 units.
const INFO_UNITS: usize = 512;

/// Facts about a connection that are texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Info {
    /// File of the driver.
    DriverName = 6,
    /// Version of the driver.
    DriverVersion = 7,
    /// The connected server or file.
    ServerName = 13,
    /// The connected database.
    DatabaseName = 16,
    /// Name of the product, such as `PostgreSQL`.
    DbmsName = 17,
    /// Version of the product.
    DbmsVersion = 18,
    /// Name of the user.
    UserName = 47,
    /// Version of the driver manager.
    ManagerVersion = 171,
}

/// Facts about a connection that are numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// The isolation level of transactions that set none, as its bit.
    DefaultIsolation = 26,
    /// What transactions can hold; 0 without transactions.
    TransactionCapable = 46,
    /// The isolation levels, as bits.
    Isolations = 72,
    /// Which columns `SQLGetData` reads, as bits.
    GetData = 81,
}

/// How a transaction ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionEnd {
    /// It takes effect.
    Commit = 0,
    /// It leaves no trace.
    Rollback = 1,
}

/// `SQLGetData` reads columns that are bound, too.
const GET_DATA_BOUND: u32 = 8;
/// `SQLGetData` reads columns before the last bound one.
const GET_DATA_ANY_COLUMN: u32 = 1;

/// A connection that no thread uses yet: it can be passed to the one that will.
pub struct OpenedConnection(Open);

// SAFETY: ODBC requires drivers to take a connection from any thread, and this one is on none.
unsafe impl Send for OpenedConnection {}

/// A connection.
pub struct Connection {
    pub(crate) open: Rc<Open>,
}

/// The handle of a connection, freed when the last statement is.
pub(crate) struct Open {
    manager: &'static Manager,
    handle: Handle,
    /// What stands for the driver in the message about its crash.
    driver: String,
    is_connected: bool,
    running: Arc<RunningStatement>,
    /// Whether a bound column that was too short can be read again as a whole.
    pub(crate) rereads: bool,
}

/// The statement whose call has not returned yet; null if there is none.
pub(crate) struct RunningStatement {
    manager: &'static Manager,
    statement: Mutex<RunningHandle>,
}

struct RunningHandle(Handle);

// SAFETY: only ever used under the lock of `RunningStatement`, and for `SQLCancel`, which ODBC allows from
// other threads.
unsafe impl Send for RunningHandle {}

impl Drop for Open {
    fn drop(&mut self) {
        let api = &self.manager.api;
        if self.is_connected {
            // SAFETY: connected, and no statement is left. A driver may refuse while a transaction
            // is open, which is then rolled back first.
            inside(&self.driver, "SQLDisconnect", || unsafe {
                if !worked((api.disconnect)(self.handle)) {
                    (api.end_tran)(HANDLE_DBC, self.handle, TransactionEnd::Rollback as i16);
                    (api.disconnect)(self.handle);
                }
            });
        }
        // SAFETY: made by this library, and freed once.
        unsafe { (api.free_handle)(HANDLE_DBC, self.handle) };
    }
}

impl RunningStatement {
    fn lock(&self) -> MutexGuard<'_, RunningHandle> {
        self.statement.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    pub(crate) fn api(&self) -> &'static Api {
        &self.manager.api
    }

    pub(crate) fn handle(&self) -> Handle {
        self.handle
    }

    /// Makes a call that takes long with a statement: an [`Interrupter`] can end it.
    #[inline]
    pub(crate) fn interruptible(
        &self,
        statement: Handle,
        name: &'static str,
        call: impl FnOnce() -> Return,
    ) -> Return {
        self.running.lock().0 = statement;
        let code = inside(&self.driver, name, call);
        // Waits while somebody interrupts it.
        self.running.lock().0 = ptr::null_mut();
        code
    }

    fn error(&self, call: &str) -> Error {
        Error::of(self.api(), HANDLE_DBC, self.handle, call)
    }

    fn check(&self, code: Return, call: &str) -> Result<(), Error> {
        if worked(code) { Ok(()) } else { Err(self.error(call)) }
    }
}

impl Manager {
    /// Connects by a connection string, such as `DSN=…` or `Driver={…};Server=…`. Blocks its
    /// thread, for at most about `limit` if the driver keeps to that. If the driver crashes, it is
    /// called `driver`.
    ///
    /// # Errors
    /// As the driver manager or the driver reports.
    pub fn connect(
        &'static self,
        string: &str,
        driver: &str,
        limit: Duration,
    ) -> Result<OpenedConnection, Error> {
        let mut handle = ptr::null_mut();
        // SAFETY: the environment lives as long as the process; a place for the new handle.
        let made =
            unsafe { (self.api.alloc_handle)(HANDLE_DBC, self.environment.0, &raw mut handle) };
        if !worked(made) {
            return Err(Error::new("HY001", "the driver manager cannot create a connection"));
        }
        let running = RunningStatement {
            manager: self,
            statement: Mutex::new(RunningHandle(ptr::null_mut())),
        };
        let running = Arc::new(running);
        let mut open = Open {
            manager: self,
            handle,
            driver: driver.to_owned(),
            is_connected: false,
            running,
            rereads: false,
        };
        let seconds = usize::try_from(limit.as_secs().max(1)).unwrap_or(usize::MAX);
        // SAFETY: the attribute takes a number. A driver may not have it.
        unsafe { (self.api.set_connect_attr)(handle, ATTR_LOGIN_TIMEOUT, as_pointer(seconds), 0) };
        let text = wide(string);
        let length = i16::try_from(text.len() - 1)
            .map_err(|_| Error::new("HY090", "the connection string is longer than 32,767"))?;
        let mut completed = [0u16; 1024];
        let mut completed_length = 0;
        // SAFETY: both texts have the lengths that are passed; without a window nothing is asked.
        let code = inside(driver, "SQLDriverConnect", || unsafe {
            (self.api.driver_connect)(
                handle,
                ptr::null_mut(),
                text.as_ptr(),
                length,
                completed.as_mut_ptr(),
                1024,
                &raw mut completed_length,
                DRIVER_NOPROMPT,
            )
        });
        open.check(code, "SQLDriverConnect")?;
        open.is_connected = true;
        let can = open.number(Number::GetData);
        open.rereads =
            can & (GET_DATA_BOUND | GET_DATA_ANY_COLUMN) == GET_DATA_BOUND | GET_DATA_ANY_COLUMN;
        Ok(OpenedConnection(open))
    }
}

impl Open {
    fn number(&self, which: Number) -> u32 {
        // A driver writes 16 or 32 bits.
        let mut bytes = [0u8; 8];
        let mut length = 0;
        // SAFETY: the buffer has room for any number.
        let code = unsafe {
            (self.api().get_info)(
                self.handle,
                which as u16,
                bytes.as_mut_ptr().cast(),
                4,
                &raw mut length,
            )
        };
        if worked(code) { u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) } else { 0 }
    }
}

impl OpenedConnection {
    /// Uses the connection on this thread.
    #[must_use]
    pub fn here(self) -> Connection {
        Connection { open: Rc::new(self.0) }
    }
}

impl Connection {
    /// A fact about the connection; empty if the driver does not know it.
    #[must_use]
    pub fn info(&self, which: Info) -> String {
        let mut text = [0u16; INFO_UNITS];
        let mut length = 0;
        #[expect(clippy::cast_possible_truncation, reason = "a small constant")]
        let bytes = (INFO_UNITS * 2) as i16;
        // SAFETY: the buffer has the length that is passed, in bytes.
        let code = unsafe {
            (self.open.api().get_info)(
                self.open.handle,
                which as u16,
                text.as_mut_ptr().cast(),
                bytes,
                &raw mut length,
            )
        };
        if worked(code) { until_zero(&text).trim().to_owned() } else { String::new() }
    }

    /// A fact about the connection; 0 if the driver does not know it.
    #[must_use]
    pub fn number(&self, which: Number) -> u32 {
        self.open.number(which)
    }

    /// Where the driver manager was loaded from.
    #[must_use]
    pub fn manager(&self) -> &'static Manager {
        self.open.manager
    }

    /// Sets whether each statement is a transaction of its own, as it is at first.
    ///
    /// # Errors
    /// As the driver reports.
    pub fn set_autocommit(&self, is_on: bool) -> Result<(), Error> {
        self.set(ATTR_AUTOCOMMIT, usize::from(is_on))
    }

    /// Sets the isolation level of the transactions that follow, as ODBC's bit for it.
    ///
    /// # Errors
    /// As the driver reports.
    pub fn set_isolation(&self, bit: u32) -> Result<(), Error> {
        self.set(ATTR_TXN_ISOLATION, bit as usize)
    }

    fn set(&self, attribute: i32, value: usize) -> Result<(), Error> {
        // SAFETY: connected; these attributes take numbers.
        let code = unsafe {
            (self.open.api().set_connect_attr)(self.open.handle, attribute, as_pointer(value), 0)
        };
        self.open.check(code, "SQLSetConnectAttr")
    }

    /// Ends the open transaction.
    ///
    /// # Errors
    /// As the driver reports.
    pub fn end(&self, how: TransactionEnd) -> Result<(), Error> {
        // SAFETY: connected.
        let code = inside(&self.open.driver, "SQLEndTran", || unsafe {
            (self.open.api().end_tran)(HANDLE_DBC, self.open.handle, how as i16)
        });
        self.open.check(code, "SQLEndTran")
    }

    /// Whether the driver knows that the connection is lost.
    #[must_use]
    pub fn is_dead(&self) -> bool {
        let mut value: usize = 0;
        // SAFETY: connected; the attribute is a number, for which there is room.
        let code = unsafe {
            (self.open.api().get_connect_attr)(
                self.open.handle,
                ATTR_CONNECTION_DEAD,
                (&raw mut value).cast::<c_void>(),
                0,
                ptr::null_mut(),
            )
        };
        #[expect(clippy::cast_possible_truncation, reason = "an attribute of 32 bits")]
        let value = value as u32;
        worked(code) && value == CD_TRUE
    }

    /// What other threads use to interrupt the connection's statements.
    #[must_use]
    pub fn interrupter(&self) -> Interrupter {
        Interrupter(Arc::clone(&self.open.running))
    }
}

/// Interrupts what a connection is doing, from any thread.
pub struct Interrupter(Arc<RunningStatement>);

impl Interrupter {
    /// Asks the driver to end the statement that is running, if one is.
    pub fn interrupt(&self) {
        let running = self.0.lock();
        if !running.0.is_null() {
            // SAFETY: the statement is alive: its thread waits for the lock before it returns from
            // the call, and frees statements only after that.
            unsafe { (self.0.manager.api.cancel)(running.0) };
        }
    }
}
