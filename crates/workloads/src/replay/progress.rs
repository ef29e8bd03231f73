//! How far the transactions of a recording are in the replay, and waits for them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

/// Longest wait for one transaction.
pub const WAIT_MAX: Duration = Duration::from_secs(10);
/// How often a wait is checked for whether it can end.
const CHECK_EVERY: Duration = Duration::from_millis(5);
/// The number of statements of a transaction that has ended, in whatever way.
pub const ENDED: u32 = u32::MAX;

/// How far a transaction is, or has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reached {
    pub transaction: u32,
    /// Number of its statements that were answered, or [`ENDED`].
    pub steps: u32,
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitEnd {
    /// With what was waited for.
    Reached,
    /// It was in vain, as its check says.
    InVain,
    /// After [`WAIT_MAX`].
    TimedOut,
}

/// How far each transaction is.
#[derive(Debug, Default)]
pub struct Progress {
    steps: Box<[AtomicU32]>,
    /// Number of those who wait: while there are none, nobody has to be told.
    waiters: AtomicU32,
    /// By transaction, those who wait for it.
    waiting: Mutex<HashMap<u32, Arc<Notify>>>,
}

impl Progress {
    /// The progress of so many transactions, of which none has begun.
    pub fn new(transactions: usize) -> Self {
        let steps = (0..transactions).map(|_| AtomicU32::new(0)).collect();
        Self { steps, ..Self::default() }
    }

    /// Whether a transaction is that far.
    pub fn has_reached(&self, Reached { transaction, steps }: Reached) -> bool {
        let found = self.steps.get(transaction as usize);
        found.is_none_or(|found| found.load(Ordering::SeqCst) >= steps)
    }

    /// Notes how far a transaction is.
    pub fn reach(&self, Reached { transaction, steps }: Reached) {
        let Some(known) = self.steps.get(transaction as usize) else { return };
        known.fetch_max(steps, Ordering::SeqCst);
        if self.waiters.load(Ordering::SeqCst) == 0 {
            return;
        }
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(notify) = waiting.get(&transaction) {
            notify.notify_waiters();
        }
    }

    /// Waits until a transaction is that far, at most [`WAIT_MAX`], and while it `is_vain` not.
    pub async fn wait(&self, wanted: Reached, is_vain: impl Fn() -> bool) -> WaitEnd {
        let _waiter = Waiter::of(&self.waiters);
        let notify = {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(waiting.entry(wanted.transaction).or_default())
        };
        let end = Instant::now() + WAIT_MAX;
        loop {
            let notified = notify.notified();
            if self.has_reached(wanted) {
                return WaitEnd::Reached;
            }
            if is_vain() {
                return WaitEnd::InVain;
            }
            let check = Instant::now() + CHECK_EVERY;
            let is_last = check >= end;
            if timeout_at(check.min(end), notified).await.is_err() && is_last {
                let is_there = self.has_reached(wanted);
                return if is_there { WaitEnd::Reached } else { WaitEnd::TimedOut };
            }
        }
    }
}

/// One who waits, until it is dropped.
struct Waiter<'a>(&'a AtomicU32);

impl<'a> Waiter<'a> {
    fn of(waiters: &'a AtomicU32) -> Self {
        waiters.fetch_add(1, Ordering::SeqCst);
        Self(waiters)
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn waits_end_with_the_transaction_or_after_a_while() {
        let progress = Arc::new(Progress::new(2));
        let at = |transaction, steps| Reached { transaction, steps };
        assert!(!progress.has_reached(at(0, 1)));
        let wait = |wanted| {
            let progress = Arc::clone(&progress);
            tokio::spawn(async move { progress.wait(wanted, || false).await })
        };
        let (second, end) = (wait(at(0, 2)), wait(at(0, ENDED)));
        tokio::time::sleep(Duration::from_secs(1)).await;
        progress.reach(at(0, 1));
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(!second.is_finished());
        progress.reach(at(0, 2));
        assert_eq!(second.await.unwrap(), WaitEnd::Reached);
        assert!(!end.is_finished());
        progress.reach(at(0, ENDED));
        assert_eq!(end.await.unwrap(), WaitEnd::Reached);
        assert_eq!(progress.wait(at(0, 3), || true).await, WaitEnd::Reached, "it has ended");
        let begun = Instant::now();
        assert_eq!(progress.wait(at(1, 1), || false).await, WaitEnd::TimedOut);
        assert_eq!(begun.elapsed(), WAIT_MAX);
        let is_vain = || begun.elapsed() > WAIT_MAX + Duration::from_secs(1);
        assert_eq!(progress.wait(at(1, 1), is_vain).await, WaitEnd::InVain);
        assert!(begun.elapsed() < WAIT_MAX + Duration::from_millis(1_010));
    }
}
