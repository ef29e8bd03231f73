//! What the states of a run count. Each writes its own counts after each event, without a lock, so that they can be
//! added up at any time.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use triphammer_core::clock::thread_cpu_ns;
use triphammer_core::workload::ScriptTotals;
use triphammer_lua::Counts;

/// The totals of a run.
#[derive(Debug, Default)]
pub struct Totals {
    states: Mutex<States>,
    has_failed: AtomicBool,
    failure: Mutex<Option<String>>,
}

#[derive(Debug, Default)]
struct States {
    /// What those that have ended did.
    ended: ScriptTotals,
    running: Vec<Arc<Running>>,
}

/// The counts of a state that runs, which alone writes them.
#[derive(Debug, Default)]
pub struct Running {
    reads: AtomicU64,
    writes: AtomicU64,
    other: AtomicU64,
    errors: AtomicU64,
}

impl Running {
    /// Replaces the counts.
    #[inline]
    pub fn set(&self, counts: Counts) {
        self.reads.store(counts.reads, Ordering::Relaxed);
        self.writes.store(counts.writes, Ordering::Relaxed);
        self.other.store(counts.other, Ordering::Relaxed);
        self.errors.store(counts.errors, Ordering::Relaxed);
    }
}

fn add(totals: &mut ScriptTotals, counts: Counts) {
    totals.reads += counts.reads;
    totals.writes += counts.writes;
    totals.other += counts.other;
    totals.errors += counts.errors;
}

impl Totals {
    fn states(&self) -> std::sync::MutexGuard<'_, States> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The counts of a state that begins.
    pub fn begin(&self) -> Arc<Running> {
        let running = Arc::new(Running::default());
        self.states().running.push(Arc::clone(&running));
        running
    }

    /// Adds what a state did that ends, and the CPU time of its code.
    pub fn end(&self, running: &Arc<Running>, counts: Counts, cpu_ns: u64) {
        let mut states = self.states();
        states.running.retain(|other| !Arc::ptr_eq(other, running));
        add(&mut states.ended, counts);
        states.ended.cpu += Duration::from_nanos(cpu_ns);
    }

    /// Adds what a session of other code did that ends.
    pub fn add(&self, totals: ScriptTotals) {
        let mut states = self.states();
        let ended = &mut states.ended;
        ended.reads += totals.reads;
        ended.writes += totals.writes;
        ended.other += totals.other;
        ended.errors += totals.errors;
        ended.cpu += totals.cpu;
        ended.lock_held += totals.lock_held;
        ended.lock_waited += totals.lock_waited;
    }

    /// What the states have done so far; CPU time only of those that have ended.
    pub fn read(&self) -> ScriptTotals {
        let states = self.states();
        let mut totals = states.ended;
        for running in &states.running {
            let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
            let counts = Counts {
                reads: read(&running.reads),
                writes: read(&running.writes),
                other: read(&running.other),
                errors: read(&running.errors),
            };
            add(&mut totals, counts);
        }
        totals
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
