//! A request to cancel, from any thread, to the thread on which a session waits for its answer: the
//! protocol cancels on the session's own connection, which only that thread may use.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Waker};

/// Whether a session's statement is to be cancelled.
#[derive(Default)]
pub(super) struct CancelFlag {
    requested: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl CancelFlag {
    /// Requests that the current statement be cancelled, and wakes its session.
    pub(super) fn request(&self) {
        self.requested.store(true, Ordering::Release);
        let waker = self.waker.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Forgets a request, which was for an earlier statement.
    pub(super) fn clear(&self) {
        self.requested.store(false, Ordering::Release);
    }

    /// Takes the request, if there is one.
    pub(super) fn take(&self) -> bool {
        self.requested.swap(false, Ordering::AcqRel)
    }

    /// Takes the request, if there is one; otherwise the task is woken by the next one.
    pub(super) fn poll(&self, cx: &Context<'_>) -> bool {
        if self.take() {
            return true;
        }
        let mut slot = self.waker.lock().unwrap_or_else(PoisonError::into_inner);
        if !slot.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            *slot = Some(cx.waker().clone());
        }
        drop(slot);
        // It may have been made before the waker was there.
        self.take()
    }
}
