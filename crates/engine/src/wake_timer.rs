//! A thread's one precise timer. Tokio's timers end on whole milliseconds, rounded up: half a
//! millisecond late on average, which would be added to every response time. On Linux a kernel
//! timer wakes the thread through the epoll handle that it sleeps on anyway, about 0.05 ms late,
//! for two system calls per wake-up; on a ring, the wait itself ends in time. Elsewhere, and in
//! virtual time, tokio's timer is used.

use tokio::time::sleep_until;

use triphammer_core::clock::{Clock, Elapsed};
#[cfg(target_os = "linux")]
use triphammer_core::timer::Timer;

/// A timer of the kernel's or of tokio's.
#[derive(Debug)]
pub(super) struct WakeTimer {
    #[cfg(target_os = "linux")]
    kernel: Option<Timer>,
}

impl WakeTimer {
    /// Creates tokio's timer, which virtual time advances.
    pub fn of_tokio() -> Self {
        Self {
            #[cfg(target_os = "linux")]
            kernel: None,
        }
    }

    /// Creates the most precise timer available.
    pub fn precise() -> Self {
        Self {
            #[cfg(target_os = "linux")]
            kernel: if triphammer_reactor::is_here() { None } else { Timer::new().ok() },
        }
    }

    /// Sleeps until `at`. May be cancelled and called again.
    pub async fn until(&self, clock: &Clock, at: Elapsed) {
        #[cfg(target_os = "linux")]
        {
            let rest = at.duration().saturating_sub(clock.now().duration());
            let slept = match &self.kernel {
                Some(timer) => timer.sleep(rest).await.is_ok(),
                None => triphammer_reactor::sleep(rest).await,
            };
            if slept {
                return;
            }
        }
        // NEVER is centuries away, and waking an hour early does no harm: the caller checks the
        // clock.
        let hour = Elapsed(clock.now().0 + 3_600_000_000_000);
        sleep_until(clock.instant(at.min(hour))).await;
    }
}
