//! Sessions whose transactions fail at once, one after the other, as on a server that rejects
//! everything: they are slowed down, so that neither the server nor the counts are flooded. A
//! workload in which some transactions fail is not.

use std::time::Duration;

/// Transactions of a session in a row that may fail before it is slowed down.
pub(super) const FAILURES_FREE: u32 = 10;
/// Shortest time from the start of a failed transaction to the next one; doubles with each further
/// failure in a row.
const PAUSE_FIRST: Duration = Duration::from_millis(1);
/// Longest such time.
pub(super) const PAUSE_MAX: Duration = Duration::from_secs(1);

/// The failures of a session in a row.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Failing {
    in_a_row: u32,
}

impl Failing {
    /// Records that a transaction did not fail.
    #[inline]
    pub const fn ends(&mut self) {
        self.in_a_row = 0;
    }

    /// Records that a transaction failed after `took`, and returns how long the session has to wait
    /// before the next one.
    #[cold]
    pub fn pause(&mut self, took: Duration) -> Duration {
        self.in_a_row = self.in_a_row.saturating_add(1);
        let Some(doublings) = self.in_a_row.checked_sub(FAILURES_FREE + 1) else {
            return Duration::ZERO;
        };
        let least = PAUSE_FIRST.saturating_mul(2_u32.saturating_pow(doublings)).min(PAUSE_MAX);
        least.saturating_sub(took)
    }
}

/// Text of the note about it.
pub(super) fn text() -> String {
    format!(
        "more than {FAILURES_FREE} transactions of a session in a row failed at once: such a session \
         waits before its next one, up to {} s, so the number of failures does not show how many \
         the server would reject",
        PAUSE_MAX.as_secs()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_many_failures_in_a_row_that_take_no_time_are_slowed_down() {
        let mut failing = Failing::default();
        let at_once = |failing: &mut Failing| failing.pause(Duration::ZERO);
        assert!((0..FAILURES_FREE).all(|_| at_once(&mut failing).is_zero()));
        let pauses: Vec<_> = (0..4).map(|_| at_once(&mut failing).as_millis()).collect();
        assert_eq!(pauses, [1, 2, 4, 8]);
        assert_eq!(failing.pause(Duration::from_millis(10)).as_millis(), 6);
        assert!(failing.pause(PAUSE_MAX).is_zero(), "it took long enough");
        assert_eq!((0..100).map(|_| at_once(&mut failing)).max(), Some(PAUSE_MAX));
        failing.ends();
        assert!(at_once(&mut failing).is_zero());
    }
}
