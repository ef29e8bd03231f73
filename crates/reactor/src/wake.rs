//! Whom to wake, and when.

use std::task::{Context, Waker};

use rustix::time::{ClockId, clock_gettime};

/// A socket's place among those of its thread.
pub type Place = u32;

/// When a thread wants to be woken.
pub struct Alarm {
    /// Time in nanoseconds of the monotonic clock.
    pub at_ns: u64,
    /// Whom to wake then.
    pub waker: Waker,
}

/// Nanoseconds of the monotonic clock.
pub fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}

/// Remembers whom to wake; returns another waker that was there.
#[inline]
pub fn register(place: &mut Option<Waker>, cx: &Context<'_>) -> Option<Waker> {
    match place {
        Some(waker) if waker.will_wake(cx.waker()) => None,
        _ => place.replace(cx.waker().clone()),
    }
}

impl Alarm {
    /// Whether its time has come.
    pub fn is_due(&self) -> bool {
        self.at_ns <= monotonic_ns()
    }
}
