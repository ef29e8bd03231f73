//! The connection under a session, driven by the session's own calls. The library means its
//! connection to run as a task of its own; polled here, inside the call that waits for it, a round
//! trip wakes one task instead of two, and the reason why a connection ended is not lost.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use tokio_postgres::{Connection, Error as PgError};
use triphammer_core::DbError;

use super::error::{Moment, classify};
use super::socket::Socket;
use super::tls::TlsStream;

/// What goes wrong in a call: in the library or in reading its answer.
pub enum Failure {
    /// The library's own.
    Library(PgError),
    /// Ours.
    Ours(DbError),
}

impl From<PgError> for Failure {
    fn from(error: PgError) -> Self {
        Self::Library(error)
    }
}

/// A connection and what is known of its end.
pub struct Link {
    connection: RefCell<Option<Connection<Socket, TlsStream>>>,
    reason: RefCell<Option<DbError>>,
    lost: Cell<bool>,
}

impl Link {
    /// Takes over a connection.
    pub fn new(connection: Connection<Socket, TlsStream>) -> Self {
        Self {
            connection: RefCell::new(Some(connection)),
            reason: RefCell::new(None),
            lost: Cell::new(false),
        }
    }

    /// Runs a call of the library to its end, doing the connection's reading and writing meanwhile.
    pub async fn drive<T>(
        &self,
        call: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, DbError> {
        let mut call = pin!(call);
        let result = poll_fn(|cx| {
            // The first poll sends, or takes what has come already; the second sees what the
            // connection has just delivered.
            if let Poll::Ready(result) = call.as_mut().poll(cx) {
                return Poll::Ready(result);
            }
            self.poll(cx);
            call.as_mut().poll(cx)
        });
        result.await.map_err(|failure| self.explain(failure))
    }

    /// Sends what can be sent at once.
    pub async fn nudge(&self) {
        poll_fn(|cx| {
            self.poll(cx);
            Poll::Ready(())
        })
        .await;
    }

    /// Waits until the connection has said goodbye.
    pub async fn finish(&self) {
        poll_fn(|cx| {
            self.poll(cx);
            if self.connection.borrow().is_none() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    /// Ends the connection because its state is not known any more.
    pub fn give_up(&self) {
        *self.connection.borrow_mut() = None;
        self.lost.set(true);
    }

    /// Whether the connection is known to be gone, after a look at what has arrived.
    pub fn is_closed(&self) -> bool {
        if !self.lost.get() {
            self.poll(&mut Context::from_waker(Waker::noop()));
        }
        self.lost.get()
    }

    /// Reads and writes what is possible now. Notices are passed over.
    fn poll(&self, cx: &mut Context<'_>) {
        let mut slot = self.connection.borrow_mut();
        let Some(connection) = slot.as_mut() else { return };
        let end = loop {
            match connection.poll_message(cx) {
                Poll::Pending => return,
                Poll::Ready(Some(Ok(_))) => {}
                Poll::Ready(Some(Err(error))) => break Some(error),
                Poll::Ready(None) => break None,
            }
        };
        // Dropping the connection ends every call that still waits for it.
        *slot = None;
        self.lost.set(true);
        *self.reason.borrow_mut() = end.map(|error| classify(&error, Moment::InUse));
    }

    #[cold]
    fn explain(&self, failure: Failure) -> DbError {
        let error = match failure {
            Failure::Ours(error) => return error,
            Failure::Library(error) if error.is_closed() => match &*self.reason.borrow() {
                Some(reason) => copy(reason),
                None => classify(&error, Moment::InUse),
            },
            Failure::Library(error) => classify(&error, Moment::InUse),
        };
        if error.class().loses_session() {
            self.lost.set(true);
        }
        error
    }
}

fn copy(error: &DbError) -> DbError {
    let copied = DbError::new(error.class(), error.message());
    match error.code() {
        Some(code) => copied.with_code(code),
        None => copied,
    }
}
