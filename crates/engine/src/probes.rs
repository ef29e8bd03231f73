//! Measurements of a worker thread on itself besides transactions: its CPU time, how long it waited
//! for a CPU, what its sockets sent and received, and when its users should measure the next round
//! trip.

use std::cell::{Cell, RefCell};

use triphammer_core::clock::{Elapsed, thread_cpu_ns};
use triphammer_core::recorder::WorkerCpu;
use triphammer_core::traffic::{Packets, Traffic};

use super::lag::HeartbeatReceiver;
use super::procfs::ThreadWaits;

/// Time of the first measured round trip: after the initial rush in which all users begin.
const PING_FIRST: Elapsed = Elapsed(500_000_000);

/// The probes of one worker thread.
pub(super) struct Probes {
    /// CPU time used, and when it was read.
    seen: Cell<(u64, Elapsed)>,
    waits: ThreadWaits,
    /// What the thread's sockets had sent and received.
    traffic: Cell<Traffic>,
    /// CPU time used before the run's zero, in nanoseconds.
    start_ns: Cell<u64>,
    /// Time from which a user of this thread should measure the next round trip.
    ping_at: Cell<Elapsed>,
    /// Source of the event-loop lag; `None` where it is not measured, and once it has been taken.
    heartbeats: RefCell<Option<HeartbeatReceiver>>,
}

impl Probes {
    pub fn new(heartbeats: Option<HeartbeatReceiver>) -> Self {
        Self {
            seen: Cell::default(),
            waits: ThreadWaits::open(),
            traffic: Cell::default(),
            start_ns: Cell::new(0),
            ping_at: Cell::new(PING_FIRST),
            heartbeats: RefCell::new(heartbeats),
        }
    }

    /// Begins measuring at the start of the run.
    pub fn begin(&self) {
        self.start_ns.set(thread_cpu_ns());
        self.seen.set((thread_cpu_ns(), Elapsed(0)));
        self.waits.since_last();
        self.traffic();
    }

    /// Returns the source of the event-loop lag, once.
    pub fn take_heartbeats(&self) -> Option<HeartbeatReceiver> {
        self.heartbeats.take()
    }

    /// CPU use since the last call.
    pub fn cpu(&self, thread: usize, now: Elapsed) -> WorkerCpu {
        let (cpu_before, wall_before) = self.seen.replace((thread_cpu_ns(), now));
        WorkerCpu {
            thread: u32::try_from(thread).expect("threads are counted in 32 bits"),
            cpu_ns: self.seen.get().0.saturating_sub(cpu_before),
            wall_ns: now.since(wall_before),
            wait_ns: self.waits.since_last(),
        }
    }

    /// What the thread's sockets sent and received since the last call.
    pub fn traffic(&self) -> Traffic {
        let now = Traffic { packets: packets(), ..Traffic::of_thread() };
        now.since(self.traffic.replace(now))
    }

    /// CPU time since zero, in nanoseconds.
    pub fn cpu_ns(&self) -> u64 {
        thread_cpu_ns().saturating_sub(self.start_ns.get())
    }

    /// Whether a user of this thread should measure a round trip now.
    pub fn is_ping_due(&self, now: Elapsed) -> bool {
        now >= self.ping_at.get()
    }

    /// Schedules the next measured round trip for `at`.
    pub fn ping_again(&self, at: Elapsed) {
        self.ping_at.set(at);
    }
}

/// Packets of the thread's TCP connections; `None` where they are not counted.
#[cfg(target_os = "linux")]
fn packets() -> Option<Packets> {
    triphammer_reactor::packets().map(|[sent, received]| Packets { sent, received })
}

#[cfg(not(target_os = "linux"))]
const fn packets() -> Option<Packets> {
    None
}
