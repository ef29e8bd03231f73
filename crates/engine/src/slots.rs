//! Access of the control thread to the sessions of other threads: it sees how long an attempt has
//! been running, and can cancel it.

use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use triphammer_core::clock::Elapsed;
use triphammer_core::session::Canceller;

/// Slots of all sessions that this process runs, by their number in the whole run.
#[derive(Clone)]
pub(super) struct Slots {
    first: u32,
    slots: Arc<[UserSlot]>,
}

impl Slots {
    /// Creates empty slots for sessions with these numbers.
    pub fn new(ids: Range<u32>) -> Self {
        let first = ids.start;
        Self { first, slots: ids.map(|_| UserSlot::default()).collect() }
    }

    /// Whether a session is the first of this process.
    pub const fn is_first(&self, id: u32) -> bool {
        id == self.first
    }

    pub fn of(&self, id: u32) -> &UserSlot {
        &self.slots[(id - self.first) as usize]
    }

    pub fn iter(&self) -> impl Iterator<Item = &UserSlot> {
        self.slots.iter()
    }
}

/// Facts about a session for other threads.
#[derive(Default)]
pub(super) struct UserSlot {
    canceller: Mutex<Option<Box<dyn Canceller>>>,
    began_ns: AtomicU64,
}

impl UserSlot {
    /// Keeps the cancel handle of the user's new session.
    pub fn watch(&self, canceller: Box<dyn Canceller>) {
        *self.canceller.lock().expect("no thread panics while holding it") = Some(canceller);
    }

    /// Records that an attempt begins.
    pub fn began(&self, at: Elapsed) {
        self.began_ns.store(at.0.max(1), Ordering::Relaxed);
    }

    /// Records that the attempt is over.
    pub fn ended(&self) {
        self.began_ns.store(0, Ordering::Relaxed);
    }

    /// Start of the current attempt; `None` if there is none.
    pub fn began_at(&self) -> Option<Elapsed> {
        match self.began_ns.load(Ordering::Relaxed) {
            0 => None,
            ns => Some(Elapsed(ns)),
        }
    }

    /// Removes and returns the cancel handle, to use it once.
    pub fn take_canceller(&self) -> Option<Box<dyn Canceller>> {
        self.canceller.lock().expect("no thread panics while holding it").take()
    }

    /// Cancels what the session is doing now, and keeps the handle. Sessions that block their
    /// thread cancel without waiting, so the future completes at its first poll.
    pub fn cancel_now(&self) {
        if let Some(canceller) = &*self.canceller.lock().expect("no thread panics while holding it")
        {
            let mut cancelling = canceller.cancel();
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            let _ = cancelling.as_mut().poll(&mut context);
        }
    }

    /// Forgets a session that is gone.
    pub fn forget(&self) {
        self.take_canceller();
    }
}

/// The sessions of one worker thread.
pub(super) struct ThreadSessions {
    /// Slots of all sessions that this process runs.
    pub slots: Slots,
    connected: Cell<u32>,
    /// Sessions lost and not yet reconnected.
    away: Cell<u32>,
}

impl ThreadSessions {
    pub const fn new(slots: Slots) -> Self {
        Self { slots, connected: Cell::new(0), away: Cell::new(0) }
    }

    /// Number of connected sessions of this thread.
    pub const fn connected(&self) -> u32 {
        self.connected.get()
    }

    /// Number of sessions of this thread that are lost and not reconnected.
    pub const fn away(&self) -> u32 {
        self.away.get()
    }

    /// Records that a session was opened.
    pub fn opened(&self) {
        self.connected.set(self.connected.get() + 1);
    }

    /// Records that a session is gone.
    pub fn left(&self, id: u32) {
        self.slots.of(id).forget();
        self.connected.set(self.connected.get() - 1);
    }

    /// Records that a lost session could not be reconnected at the first attempt.
    pub fn stays_away(&self) {
        self.away.set(self.away.get() + 1);
    }

    /// Records that a session that [stayed away](Self::stays_away) is back, or moved to another
    /// node.
    pub fn returned(&self) {
        self.away.set(self.away.get() - 1);
    }
}
