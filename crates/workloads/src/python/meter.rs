//! What users' code costs: its CPU time, how long it holds the interpreter's lock, and how long it waits for it. They are
//! measured in a sample of the transactions, because reading a thread's CPU time is a system call.

use std::time::Duration;

use triphammer_core::Clock;
use triphammer_core::clock::{Elapsed, thread_cpu_ns};
use triphammer_core::workload::ScriptTotals;

/// One transaction in so many is measured.
const MEASURED_EVERY: u64 = 64;
/// The first of them: later than what is done only once.
const FIRST_MEASURED: u64 = 8;

/// Measures the code of a session.
#[derive(Debug)]
pub struct Meter {
    clock: Clock,
    transactions: u64,
    sampled: u64,
    is_measured: bool,
    cpu_ns: u64,
    held_ns: u64,
    waited_ns: u64,
}

/// When the lock was asked for; with the time and the CPU time at which it was taken.
#[derive(Debug)]
pub struct Asked(Option<(Elapsed, Option<(Elapsed, u64)>)>);

impl Default for Meter {
    fn default() -> Self {
        let (cpu_ns, held_ns, waited_ns) = (0, 0, 0);
        let clock = Clock::start();
        Self { clock, transactions: 0, sampled: 0, is_measured: false, cpu_ns, held_ns, waited_ns }
    }
}

impl Meter {
    /// Notes that a transaction begins.
    pub(super) fn begin(&mut self) {
        self.is_measured = self.transactions % MEASURED_EVERY == FIRST_MEASURED;
        self.transactions += 1;
        self.sampled += u64::from(self.is_measured);
    }

    /// Notes that the lock is asked for.
    #[inline]
    #[must_use]
    pub fn ask(&self) -> Asked {
        Asked(self.is_measured.then(|| (self.clock.now(), None)))
    }

    /// Notes that the lock is taken.
    #[inline]
    pub fn take(&self, asked: &mut Asked) {
        if let Some((_, taken)) = &mut asked.0 {
            *taken = Some((self.clock.now(), thread_cpu_ns()));
        }
    }

    /// Notes that the lock is released.
    #[inline]
    pub fn release(&mut self, asked: &Asked) {
        if let Some((asked, Some((taken, cpu_ns)))) = asked.0 {
            self.cpu_ns += thread_cpu_ns().saturating_sub(cpu_ns);
            self.held_ns += self.clock.now().since(taken);
            self.waited_ns += taken.since(asked);
        }
    }

    /// The figures of all transactions, extrapolated from the sample.
    pub(super) fn totals(&self) -> ScriptTotals {
        let all = |ns: u64| {
            let total = u128::from(ns) * u128::from(self.transactions);
            let total = total.checked_div(self.sampled.into()).unwrap_or_default();
            Duration::from_nanos(u64::try_from(total).unwrap_or(u64::MAX))
        };
        ScriptTotals {
            cpu: all(self.cpu_ns),
            lock_held: all(self.held_ns),
            lock_waited: all(self.waited_ns),
            ..ScriptTotals::default()
        }
    }
}
