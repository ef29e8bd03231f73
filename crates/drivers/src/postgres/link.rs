//! The connection under a session, driven by the session's own calls. The library means its
//! connection to run as a task of its own; polled here, inside the call that waits for it, a round
//! trip wakes one task once instead of two tasks thrice, and the reason why a connection ended is kept.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use tokio_postgres::{Connection, Error as PgError};
use triphammer_core::DbError;

use super::error::{Moment, classify};
use super::tls::TlsStream;
use crate::socket::Socket;

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

/// What wakes the task of a session. The two halves of the library wake each other through it, all the
/// time and for nothing, because both are polled in the same place: while they are, it only notes that
/// it rang.
#[derive(Default)]
struct Bell {
    task: Mutex<Option<Waker>>,
    state: AtomicU8,
}

/// The halves are being polled.
const MUTED: u8 = 1;
/// Somebody rang meanwhile.
const RANG: u8 = 2;

impl Bell {
    /// Has later rings wake `task`.
    fn listen_for(&self, task: &Waker) {
        let mut known = self.task.lock().expect("nobody panics while holding a waker");
        match &mut *known {
            Some(known) => known.clone_from(task),
            None => *known = Some(task.clone()),
        }
    }

    fn mute(&self) {
        self.state.store(MUTED, Ordering::SeqCst);
    }

    /// Lets rings through again, and says whether there was one meanwhile.
    fn unmute(&self) -> bool {
        self.state.swap(0, Ordering::SeqCst) & RANG != 0
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.state.fetch_or(RANG, Ordering::SeqCst) & MUTED != 0 {
            return;
        }
        let task = self.task.lock().expect("nobody panics while holding a waker").clone();
        if let Some(task) = task {
            task.wake();
        }
    }
}

/// A connection and what is known of its end.
pub struct Link {
    bell: Arc<Bell>,
    /// The bell as wakers are handed on.
    waker: Waker,
    connection: RefCell<Option<Connection<Socket, TlsStream>>>,
    reason: RefCell<Option<DbError>>,
    lost: Cell<bool>,
}

impl Link {
    /// Takes over a connection.
    pub fn new(connection: Connection<Socket, TlsStream>) -> Self {
        let bell = Arc::new(Bell::default());
        Self {
            waker: Waker::from(bell.clone()),
            bell,
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
            self.bell.listen_for(cx.waker());
            let mut inner = Context::from_waker(&self.waker);
            self.bell.mute();
            // This sends, or takes what has come already.
            let mut outcome = call.as_mut().poll(&mut inner);
            if outcome.is_pending() {
                // What rang was the sending, which the connection sees to now.
                self.bell.mute();
                self.poll(&mut inner);
                outcome = call.as_mut().poll(&mut inner);
            }
            // More is to be done at once, but by way of the scheduler, because it may be the task's
            // budget that has ended.
            if self.bell.unmute() && outcome.is_pending() {
                cx.waker().wake_by_ref();
            }
            outcome
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
