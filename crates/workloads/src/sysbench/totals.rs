//! What the states of a run counted, added up when they end.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use triphammer_core::clock::thread_cpu_ns;
use triphammer_core::workload::ScriptTotals;
use triphammer_lua::Counts;

/// The totals of a run.
#[derive(Debug, Default)]
pub struct Totals {
    cpu_ns: AtomicU64,
    reads: AtomicU64,
    writes: AtomicU64,
    other: AtomicU64,
    has_failed: AtomicBool,
    failure: Mutex<Option<String>>,
}

impl Totals {
    /// Adds what one state counted.
    pub fn add(&self, counts: Counts, cpu_ns: u64) {
        let add = |total: &AtomicU64, count| {
            total.fetch_add(count, Ordering::Relaxed);
        };
        add(&self.cpu_ns, cpu_ns);
        add(&self.reads, counts.reads);
        add(&self.writes, counts.writes);
        add(&self.other, counts.other);
    }

    /// What the states that have ended did.
    pub fn read(&self) -> ScriptTotals {
        let read = |total: &AtomicU64| total.load(Ordering::Relaxed);
        ScriptTotals {
            cpu: Duration::from_nanos(read(&self.cpu_ns)),
            reads: read(&self.reads),
            writes: read(&self.writes),
            other: read(&self.other),
        }
    }

    /// Makes the run fail; the first reason is kept.
    pub fn fail(&self, why: String) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
        self.has_failed.store(true, Ordering::Release);
    }

    /// Whether the run has failed.
    pub fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Acquire)
    }

    /// Why the run has failed.
    pub fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The CPU time that measuring takes, in nanoseconds.
pub fn measuring_ns() -> u64 {
    static MEASURED: OnceLock<u64> = OnceLock::new();
    *MEASURED.get_or_init(|| {
        let pair = |_| {
            let start = thread_cpu_ns();
            thread_cpu_ns().saturating_sub(start)
        };
        (0..32).map(pair).min().unwrap_or_default()
    })
}
