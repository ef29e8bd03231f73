//! What the control thread may do to a session from outside its thread: see how long its attempt has
//! been going on, and cancel it.

use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::clock::Elapsed;
use crate::session::Canceller;

/// Of all sessions of the run here, by their number in the whole run.
#[derive(Clone)]
pub(super) struct Slots {
    first: u32,
    slots: Arc<[UserSlot]>,
}

impl Slots {
    /// Empty slots for sessions of these numbers.
    pub fn new(ids: Range<u32>) -> Self {
        let first = ids.start;
        Self { first, slots: ids.map(|_| UserSlot::default()).collect() }
    }

    /// Whether a session is the first of all.
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

/// What is known of one session outside its thread.
#[derive(Default)]
pub(super) struct UserSlot {
    canceller: Mutex<Option<Box<dyn Canceller>>>,
    began_ns: AtomicU64,
}

impl UserSlot {
    /// Keeps the handle of the user's new session.
    pub fn watch(&self, canceller: Box<dyn Canceller>) {
        *self.canceller.lock().expect("nobody panics with it") = Some(canceller);
    }

    /// An attempt begins.
    pub fn began(&self, at: Elapsed) {
        self.began_ns.store(at.0.max(1), Ordering::Relaxed);
    }

    /// The attempt is over.
    pub fn ended(&self) {
        self.began_ns.store(0, Ordering::Relaxed);
    }

    /// When the attempt under way began.
    pub fn began_at(&self) -> Option<Elapsed> {
        match self.began_ns.load(Ordering::Relaxed) {
            0 => None,
            ns => Some(Elapsed(ns)),
        }
    }

    /// Takes the handle away, to use it once.
    pub fn take_canceller(&self) -> Option<Box<dyn Canceller>> {
        self.canceller.lock().expect("nobody panics with it").take()
    }

    /// Cancels what the session is doing now, and keeps the handle. Sessions that block their thread
    /// cancel without waiting, so the future is done at its first poll.
    pub fn cancel_now(&self) {
        if let Some(canceller) = &*self.canceller.lock().expect("nobody panics with it") {
            let mut cancelling = canceller.cancel();
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            let _ = cancelling.as_mut().poll(&mut context);
        }
    }

    /// The session is gone.
    pub fn forget(&self) {
        self.take_canceller();
    }
}

/// The sessions of a thread.
pub(super) struct ThreadSessions {
    /// Of all sessions of the run here.
    pub slots: Slots,
    connected: Cell<u32>,
    /// Lost, and could not be reconnected so far.
    away: Cell<u32>,
}

impl ThreadSessions {
    pub const fn new(slots: Slots) -> Self {
        Self { slots, connected: Cell::new(0), away: Cell::new(0) }
    }

    /// Sessions of this thread that are connected.
    pub const fn connected(&self) -> u32 {
        self.connected.get()
    }

    /// Sessions of this thread that are lost and not back.
    pub const fn away(&self) -> u32 {
        self.away.get()
    }

    /// A session was opened.
    pub fn opened(&self) {
        self.connected.set(self.connected.get() + 1);
    }

    /// A session is gone.
    pub fn left(&self, id: u32) {
        self.slots.of(id).forget();
        self.connected.set(self.connected.get() - 1);
    }

    /// A lost session could not be reconnected at the first try.
    pub fn stays_away(&self) {
        self.away.set(self.away.get() + 1);
    }

    /// A session reconnected; `was_away` when not at the first try.
    pub fn reconnected(&self, was_away: bool) {
        self.opened();
        self.away.set(self.away.get() - u32::from(was_away));
    }
}
