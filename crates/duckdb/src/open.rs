//! An open connection, and its interruption from other threads.

use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use crate::api::{Api, Handle, SUCCESS};
use crate::error::Error;
use crate::library::Library;

/// An open connection and its database.
pub(crate) struct Open {
    pub(crate) library: &'static Library,
    database: Handle,
    pub(crate) handle: Handle,
    live: Arc<Mutex<Live>>,
}

/// The connection for as long as it is open, and null afterwards.
struct Live(Handle);

// SAFETY: other threads use it for nothing but duckdb_interrupt, which sets an atomic flag and may
// be called from any thread; the mutex keeps the connection open during the call.
unsafe impl Send for Live {}

impl Drop for Open {
    fn drop(&mut self) {
        self.live.lock().unwrap_or_else(PoisonError::into_inner).0 = ptr::null_mut();
        let api = &self.library.api;
        let _alone = self.library.alone();
        // SAFETY: opened by `Open::new`, and everything made from it holds this object, so
        // nothing of it is in use.
        unsafe { (api.disconnect)(&raw mut self.handle) };
        // SAFETY: as above; other connections have handles of their own to the database.
        unsafe { (api.close)(&raw mut self.database) };
    }
}

impl Open {
    /// Connects to a database, which is closed with the connection. The caller keeps the library
    /// [to itself](Library::alone).
    pub(crate) fn new(library: &'static Library, mut database: Handle) -> Result<Self, Error> {
        let mut handle = ptr::null_mut();
        // SAFETY: the database is open, and there is a place for the new connection.
        if unsafe { (library.api.connect)(database, &raw mut handle) } != SUCCESS {
            // SAFETY: nothing uses the database.
            unsafe { (library.api.close)(&raw mut database) };
            return Err(Error::new("cannot connect to the database"));
        }
        let live = Arc::new(Mutex::new(Live(handle)));
        Ok(Self { library, database, handle, live })
    }

    pub(crate) fn api(&self) -> &'static Api {
        &self.library.api
    }
    pub(crate) fn interrupter(&self) -> Interrupter {
        Interrupter { library: self.library, live: Arc::clone(&self.live) }
    }
}

/// Interrupts a connection; does nothing once that is closed.
#[derive(Clone)]
pub struct Interrupter {
    library: &'static Library,
    live: Arc<Mutex<Live>>,
}

impl Interrupter {
    /// Makes the connection's current statement fail as soon as possible; affects no later one.
    pub fn interrupt(&self) {
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        if !live.0.is_null() {
            // SAFETY: the connection is open, because closing it needs the lock.
            unsafe { (self.library.api.interrupt)(live.0) };
        }
    }
}
