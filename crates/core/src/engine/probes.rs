//! What a worker thread measures of itself beside transactions: its CPU time, what it waited for a CPU,
//! and when its users shall measure the next round trip.

use std::cell::{Cell, RefCell};

use super::lag::HeartbeatReceiver;
use super::procfs::ThreadWaits;
use crate::clock::{Elapsed, thread_cpu_ns};
use crate::recorder::WorkerCpu;

/// When a round trip is measured first: after the rush in which all users begin.
const PING_FIRST: Elapsed = Elapsed(500_000_000);

/// The probes of a thread.
pub(super) struct Probes {
    /// CPU time used, and when that was read.
    seen: Cell<(u64, Elapsed)>,
    waits: ThreadWaits,
    /// CPU time used before zero.
    start_ns: Cell<u64>,
    /// When a user of this thread shall measure a round trip.
    ping_at: Cell<Elapsed>,
    /// What tells the scheduling lag; `None` where nobody measures it, and when it is being heard.
    heartbeats: RefCell<Option<HeartbeatReceiver>>,
}

impl Probes {
    pub fn new(heartbeats: Option<HeartbeatReceiver>) -> Self {
        Self {
            seen: Cell::default(),
            waits: ThreadWaits::open(),
            start_ns: Cell::new(0),
            ping_at: Cell::new(PING_FIRST),
            heartbeats: RefCell::new(heartbeats),
        }
    }

    /// The run begins.
    pub fn begin(&self) {
        self.start_ns.set(thread_cpu_ns());
        self.seen.set((thread_cpu_ns(), Elapsed(0)));
        self.waits.since_last();
    }

    /// What tells the lag, to be taken once.
    pub fn take_heartbeats(&self) -> Option<HeartbeatReceiver> {
        self.heartbeats.take()
    }

    /// CPU use since it was last asked.
    pub fn cpu(&self, thread: usize, now: Elapsed) -> WorkerCpu {
        let (cpu_before, wall_before) = self.seen.replace((thread_cpu_ns(), now));
        WorkerCpu {
            thread: u32::try_from(thread).expect("threads are counted in 32 bits"),
            cpu_ns: self.seen.get().0.saturating_sub(cpu_before),
            wall_ns: now.since(wall_before),
            wait_ns: self.waits.since_last(),
        }
    }

    /// CPU time from zero on, nanoseconds.
    pub fn cpu_ns(&self) -> u64 {
        thread_cpu_ns().saturating_sub(self.start_ns.get())
    }

    /// Whether it is time that a user of this thread measured a round trip.
    pub fn is_ping_due(&self, now: Elapsed) -> bool {
        now >= self.ping_at.get()
    }

    /// Nobody else shall measure a round trip before `at`.
    pub fn ping_again(&self, at: Elapsed) {
        self.ping_at.set(at);
    }
}
