//! The kernel's own timer, about 0.05 ms late. Tokio's timers end on whole milliseconds, rounded
//! up: half a millisecond late on average. Linux only; elsewhere, and in virtual time, tokio's
//! timers are used.

use std::time::Duration;

/// Whether tokio's clock is paused, as in tests that run in virtual time: it stands still until all
/// tasks sleep.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "distinguishes virtual time from real time")]
pub fn is_virtual() -> bool {
    let (before, real) = (tokio::time::Instant::now(), std::time::Instant::now());
    while real.elapsed() < Duration::from_nanos(100) {}
    tokio::time::Instant::now() == before
}

#[cfg(target_os = "linux")]
pub use kernel::Timer;

#[cfg(target_os = "linux")]
mod kernel {
    use std::io;
    use std::os::fd::OwnedFd;
    use std::time::Duration;

    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    /// A kernel timer, timerfd_create(2). It belongs to the runtime in which it was created.
    #[derive(Debug)]
    pub struct Timer(AsyncFd<OwnedFd>);

    impl Timer {
        /// Creates a timer that is not set.
        ///
        /// # Errors
        /// When the process may not open more files.
        ///
        /// # Panics
        /// Outside of a tokio runtime.
        pub fn new() -> io::Result<Self> {
            let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
            let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
            #[expect(
                deprecated,
                reason = "its successor is unsafe for the sake of other types; an OwnedFd stays open \
                          and the same as long as it is owned"
            )]
            let timer = AsyncFd::with_interest(timer, Interest::READABLE)?;
            Ok(Self(timer))
        }

        /// Sleeps for `time`. May be cancelled and called again.
        ///
        /// # Errors
        /// When the kernel rejects the call.
        pub async fn sleep(&self, time: Duration) -> io::Result<()> {
            if time.is_zero() {
                return Ok(());
            }
            let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
            let value = Timespec {
                tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: time.subsec_nanos().into(),
            };
            let once = Itimerspec { it_interval: zero, it_value: value };
            // Also clears an expiry that was not consumed.
            timerfd_settime(self.0.get_ref(), TimerfdTimerFlags::empty(), &once)?;
            loop {
                let mut ready = self.0.readable().await?;
                let mut rings = [0; 8];
                let read = |timer: &AsyncFd<OwnedFd>| {
                    rustix::io::read(timer.get_ref(), &mut rings).map_err(io::Error::from)
                };
                if let Ok(rung) = ready.try_io(read) {
                    return rung.map(drop);
                }
            }
        }
    }
}
