//! A thread's one precise timer. Tokio's timers end on whole milliseconds, rounded up: half a millisecond
//! too late in the mean, which would be in every response time. On Linux a timer of the kernel's own
//! wakes the thread through the epoll handle that it sleeps on anyway, some 0.05 ms late, for two
//! system calls a wake-up. Elsewhere, and in virtual time, tokio's has to do.

use tokio::time::sleep_until;

use crate::clock::{Clock, Elapsed};

/// A timer.
#[derive(Debug)]
pub(super) struct Alarm {
    #[cfg(target_os = "linux")]
    kernel: Option<kernel::Timer>,
}

impl Alarm {
    /// Tokio's timer, which virtual time moves.
    pub fn of_tokio() -> Self {
        Self {
            #[cfg(target_os = "linux")]
            kernel: None,
        }
    }

    /// The most precise timer that there is.
    pub fn precise() -> Self {
        Self {
            #[cfg(target_os = "linux")]
            kernel: kernel::Timer::new().ok(),
        }
    }

    /// Sleeps until `at`. May be given up and called again.
    pub async fn until(&self, clock: &Clock, at: Elapsed) {
        #[cfg(target_os = "linux")]
        if let Some(timer) = &self.kernel
            && timer.sleep(at.duration().saturating_sub(clock.now().duration())).await.is_ok()
        {
            return;
        }
        // NEVER is centuries away, and an hour early is no harm: who waits looks at the clock.
        let hour = Elapsed(clock.now().0 + 3_600_000_000_000);
        sleep_until(clock.instant(at.min(hour))).await;
    }
}

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

    /// timerfd_create(2).
    #[derive(Debug)]
    pub(super) struct Timer(AsyncFd<OwnedFd>);

    impl Timer {
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
            // Forgets a ring that nobody has heard, too.
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
