//! What users' code costs: how long it holds the interpreter's lock, how long it waits for it, and its CPU time. The CPU
//! time is measured in a sample of the transactions, because reading that of a thread is a system call.

use std::time::Duration;

use triphammer_core::Clock;
use triphammer_core::clock::{Elapsed, thread_cpu_ns};
use triphammer_core::workload::ScriptTotals;

use crate::sysbench::totals::measuring_ns;

/// One transaction in so many has its CPU time measured.
const MEASURED_EVERY: u64 = 64;
/// The first of them: later than what is done only once.
const FIRST_MEASURED: u64 = 8;

/// Measures the code of a session.
#[derive(Debug)]
pub struct Meter {
    clock: Clock,
    transactions: u64,
    sampled: u64,
    is_sampled: bool,
    cpu_ns: u64,
    held_ns: u64,
    waited_ns: u64,
}

/// When the lock was asked for.
#[derive(Clone, Copy, Debug)]
pub struct LockRequest(Elapsed);

/// When the lock was asked for and taken, and the CPU time of the thread then.
#[derive(Clone, Copy, Debug)]
pub struct LockHold {
    asked: Elapsed,
    taken: Elapsed,
    cpu_ns: Option<u64>,
}

impl Default for Meter {
    fn default() -> Self {
        let (cpu_ns, held_ns, waited_ns) = (0, 0, 0);
        let clock = Clock::start();
        Self { clock, transactions: 0, sampled: 0, is_sampled: false, cpu_ns, held_ns, waited_ns }
    }
}

impl Meter {
    /// Notes that a transaction begins. What is before the first one is not measured.
    pub(super) fn begin(&mut self) {
        self.is_sampled = self.transactions % MEASURED_EVERY == FIRST_MEASURED;
        self.transactions += 1;
        self.sampled += u64::from(self.is_sampled);
    }

    /// Notes that the lock is asked for.
    #[inline]
    #[must_use]
    pub fn ask(&self) -> LockRequest {
        LockRequest(self.clock.now())
    }

    /// Notes that the lock is taken.
    #[inline]
    #[must_use]
    pub fn take(&self, LockRequest(asked): LockRequest) -> LockHold {
        LockHold { asked, taken: self.clock.now(), cpu_ns: self.is_sampled.then(thread_cpu_ns) }
    }

    /// Notes that the lock is about to be released.
    #[inline]
    pub fn release(&mut self, held: LockHold) {
        if self.transactions == 0 {
            return;
        }
        if let Some(cpu_ns) = held.cpu_ns {
            let took = thread_cpu_ns().saturating_sub(cpu_ns);
            self.cpu_ns += took.saturating_sub(measuring_ns());
        }
        self.held_ns += self.clock.now().since(held.taken);
        self.waited_ns += held.taken.since(held.asked);
    }

    /// The figures of all transactions; the CPU time is extrapolated from the sample.
    pub(super) fn totals(&self) -> ScriptTotals {
        let cpu_ns = u128::from(self.cpu_ns) * u128::from(self.transactions);
        let cpu_ns = cpu_ns.checked_div(self.sampled.into()).unwrap_or_default();
        ScriptTotals {
            cpu: Duration::from_nanos(u64::try_from(cpu_ns).unwrap_or(u64::MAX)),
            lock_held: Duration::from_nanos(self.held_ns),
            lock_waited: Duration::from_nanos(self.waited_ns),
            ..ScriptTotals::default()
        }
    }
}
