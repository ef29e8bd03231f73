//! A thread's one precise timer. Tokio's timers end on whole milliseconds, rounded up: half a millisecond
//! too late on average, which would be in every response time. On Linux a timer of the kernel's own
//! wakes the thread through the epoll handle that it sleeps on anyway, about 0.05 ms late, for two
//! system calls per wake-up. Elsewhere, and in virtual time, tokio's has to do.

use tokio::time::sleep_until;

use crate::clock::{Clock, Elapsed};
#[cfg(target_os = "linux")]
use crate::timer::Timer;

/// A timer.
#[derive(Debug)]
pub(super) struct WakeTimer {
    #[cfg(target_os = "linux")]
    kernel: Option<Timer>,
}

impl WakeTimer {
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
            kernel: Timer::new().ok(),
        }
    }

    /// Sleeps until `at`. May be cancelled and called again.
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
