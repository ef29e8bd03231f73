//! The sessions of ours, the *lanes*, and what each of them does: so that a wait ends whose end would need the one that waits.
//!
//! A lane that waits for a transaction of another one may hold locks in the database that the other one needs: rows that a foreign
//! key refers to, gaps between keys, or whatever the keys of statements do not show. In the recording, these statements had another
//! order. Such a wait has no end but that of its limit, and so it ends early.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use super::progress::Reached;

/// Instead of the number of a lane: none.
const NO_LANE: u32 = u32::MAX;
/// Instead of what a lane waits for: nothing.
const NOTHING: u64 = u64::MAX;
/// A statement is late if it takes this much longer than in the recording, and at least [`LATE_MIN`]: then it is likely to wait for
/// a lock.
const LATE_FACTOR: u32 = 10;
const LATE_MIN: Duration = Duration::from_millis(50);
/// Most lanes that wait for each other in a row.
const CHAIN_MAX: usize = 1_000;

/// Which lane runs what, and what each does.
#[derive(Debug)]
pub struct Lanes {
    /// By lane, its transactions in their order.
    pub transactions: Vec<Arc<[u32]>>,
    /// By transaction, its lane.
    of: Box<[u32]>,
    states: Box<[Lane]>,
    start: Instant,
}

/// What a lane does.
#[derive(Debug)]
struct Lane {
    /// The transaction that it waits for, and how far that must be.
    awaited: AtomicU64,
    /// When the call that it waits for is late, in µs after the start; 0 without a call.
    late_us: AtomicU64,
}

impl Lanes {
    /// Lanes with these transactions, of so many in all.
    pub fn new(transactions: Vec<Arc<[u32]>>, count: usize) -> Self {
        let mut of = vec![NO_LANE; count];
        for (lane, transactions) in (0..).zip(&transactions) {
            for transaction in transactions.iter() {
                if let Some(place) = of.get_mut(*transaction as usize) {
                    *place = lane;
                }
            }
        }
        let state = |_: &Arc<_>| Lane { awaited: NOTHING.into(), late_us: 0.into() };
        let states = transactions.iter().map(state).collect();
        Self { transactions, of: of.into(), states, start: Instant::now() }
    }

    fn us(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// A lane calls the database until this is dropped; in the recording, the call took so many µs.
    pub fn call(&self, lane: u32, recorded_us: u64) -> Option<Call<'_>> {
        let state = self.states.get(lane as usize)?;
        let recorded = Duration::from_micros(recorded_us).saturating_mul(LATE_FACTOR);
        let limit = u64::try_from(recorded.max(LATE_MIN).as_micros()).unwrap_or(u64::MAX);
        state.late_us.store(self.us().saturating_add(limit), Ordering::Relaxed);
        Some(Call(state))
    }

    /// A lane waits for a transaction until this is dropped.
    pub fn wait(&self, lane: u32, wanted: Reached) -> Option<Awaiting<'_>> {
        let state = self.states.get(lane as usize)?;
        let both = (u64::from(wanted.transaction) << 32) | u64::from(wanted.steps);
        state.awaited.store(both, Ordering::SeqCst);
        Some(Awaiting(state))
    }

    /// Whether a lane waits for a transaction in vain: its lane, or one that it waits for, waits for the first one, or has a call
    /// that is late while the first one `holds` locks. `has_reached` says how far transactions are.
    pub fn is_vain(
        &self,
        lane: u32,
        mut wanted: Reached,
        holds: bool,
        has_reached: impl Fn(Reached) -> bool,
    ) -> bool {
        for _ in 0..CHAIN_MAX {
            let next = self.of.get(wanted.transaction as usize).copied().unwrap_or(NO_LANE);
            let Some(state) = self.states.get(next as usize) else { return false };
            // Who waits for what has happened is about to continue.
            if has_reached(wanted) {
                return false;
            }
            if next == lane {
                return true;
            }
            let both = state.awaited.load(Ordering::SeqCst);
            if both == NOTHING {
                let late_us = state.late_us.load(Ordering::Relaxed);
                return holds && late_us > 0 && late_us < self.us();
            }
            let [transaction, steps] = [both >> 32, both & u64::from(u32::MAX)]
                .map(|half| u32::try_from(half).unwrap_or(u32::MAX));
            wanted = Reached { transaction, steps };
        }
        false
    }
}

/// A call of the database.
#[derive(Debug)]
pub struct Call<'a>(&'a Lane);

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.0.late_us.store(0, Ordering::Relaxed);
    }
}

/// A wait for a transaction.
#[derive(Debug)]
pub struct Awaiting<'a>(&'a Lane);

impl Drop for Awaiting<'_> {
    fn drop(&mut self) {
        self.0.awaited.store(NOTHING, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::progress::ENDED;

    fn lanes() -> Lanes {
        Lanes::new(vec![[0, 3].into(), [1].into(), [2].into()], 4)
    }

    const fn end(transaction: u32) -> Reached {
        Reached { transaction, steps: ENDED }
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_is_in_vain_if_the_other_needs_the_locks_of_the_waiter() {
        let lanes = lanes();
        let is_vain = |holds| lanes.is_vain(0, end(1), holds, |_| false);
        assert!(!is_vain(true), "the other one does nothing yet");
        let call = lanes.call(1, 20_000).unwrap();
        tokio::time::sleep(Duration::from_millis(199)).await;
        assert!(!is_vain(true), "ten times as long is not late");
        tokio::time::sleep(Duration::from_millis(2)).await;
        assert!(is_vain(true));
        assert!(!is_vain(false), "without locks, it may last");
        drop(call);
        assert!(!is_vain(true));
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_is_in_vain_if_the_other_waits_for_the_waiter() {
        let lanes = lanes();
        let is_vain = |lane, wanted| lanes.is_vain(lane, wanted, true, |_| false);
        let _first = lanes.wait(0, end(1));
        let second = lanes.wait(1, end(2));
        assert!(!is_vain(0, end(1)));
        let _third = lanes.wait(2, end(3));
        assert!(is_vain(0, end(1)), "transaction 3 is of the lane that waits");
        let has_reached = |wanted: Reached| wanted == end(3);
        assert!(!lanes.is_vain(0, end(1), true, has_reached), "the last one is about to continue");
        drop(second);
        assert!(!is_vain(0, end(1)));
        let _call = lanes.call(1, 0);
        tokio::time::sleep(LATE_MIN + Duration::from_millis(1)).await;
        assert!(is_vain(2, end(3)), "it waits for lane 0, which waits for a late call");
    }
}
