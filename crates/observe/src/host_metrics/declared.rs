//! The metrics of a host, declared once. Names are those of OpenTelemetry's conventions for systems
//! and processes, or of the Collector's host receiver; pressure, idle states and the latency of
//! disks have no name there.

use triphammer_document::metrics::{Merge, Unit};

use crate::cores::{self, CPU_NUMBER};

/// A metric of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostMetric {
    /// Name, by OpenTelemetry's conventions.
    pub name: &'static str,
    /// Title in reports and charts; labels follow it.
    pub title: &'static str,
    /// Meaning, for the documentation.
    pub help: &'static str,
    /// Unit of the values.
    pub unit: Unit,
    /// Rule for merging several seconds.
    pub merge: Merge,
    /// Names of the labels.
    pub labels: &'static [&'static str],
    /// Whether the page draws it unless others are chosen.
    pub first: bool,
    /// The label whose values add up to a whole, so that they are drawn on top of each other.
    pub stack: Option<Stack>,
}

/// How the series of a metric add up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stack {
    /// The label.
    pub label: &'static str,
    /// Its value that is the rest of the whole, and not drawn.
    pub rest: &'static str,
}

impl HostMetric {
    const fn first(mut self) -> Self {
        self.first = true;
        self
    }

    const fn stacked(mut self, label: &'static str, rest: &'static str) -> Self {
        self.stack = Some(Stack { label, rest });
        self
    }
}

const fn metric(
    name: &'static str,
    title: &'static str,
    help: &'static str,
    unit: Unit,
    labels: &'static [&'static str],
) -> HostMetric {
    HostMetric { name, title, help, unit, merge: Merge::Mean, labels, first: false, stack: None }
}

const DEVICE: &str = "system.device";
const DISK_DIRECTION: &str = "disk.io.direction";
const INTERFACE: &str = "network.interface.name";
const NETWORK_DIRECTION: &str = "network.io.direction";
const EXECUTABLE: &str = "process.executable.name";

pub(super) const CPU: HostMetric = metric(
    cores::UTILIZATION,
    "CPU",
    "share of a CPU's time by mode, hardware interrupts (interrupt) and software interrupts (softirq) apart; without \
     its number, of all CPUs",
    Unit::Share,
    &[CPU_NUMBER, cores::MODE],
)
.first()
.stacked(cores::MODE, "idle");
pub(super) const FREQUENCY: HostMetric = metric(
    cores::FREQUENCY,
    "CPU frequency",
    "frequency of a CPU; without its number, the mean of all CPUs",
    Unit::Hz,
    &[CPU_NUMBER],
);
pub(super) const SERVER_TASKS: HostMetric = metric(
    cores::SERVER_TASKS,
    "Server's tasks",
    "processes or threads of the server that worked, by the CPU on which they were last, on this host only",
    Unit::Average,
    &[CPU_NUMBER],
);
pub(super) const IDLE_STATES: HostMetric = metric(
    "system.linux.cpu.idle_state",
    "Idle state",
    "share of the time of all CPUs that they spent in an idle state (C-state), on this host only",
    Unit::Share,
    &["state"],
);
pub(super) const TASKS: HostMetric = metric(
    "system.process.count",
    "Tasks",
    "tasks that run or wait for a CPU, and tasks blocked by a disk",
    Unit::Average,
    &["process.state"],
);
pub(super) const CONTEXT_SWITCHES: HostMetric = metric(
    "system.linux.context_switches",
    "Context switches",
    "switches of a CPU from one task to another, on all CPUs",
    Unit::PerSecond,
    &[],
);
pub(super) const RUN_QUEUE: HostMetric = metric(
    "system.linux.run_queue.latency",
    "Wait for a CPU",
    "mean time that a task waited for a CPU each time that it got one; with the name of a program, of its processes, on \
     this host only",
    Unit::Ms,
    &[EXECUTABLE],
);
pub(super) const MIGRATIONS: HostMetric = metric(
    "process.linux.migrations",
    "Moved to another CPU",
    "working processes or threads of the server that were on another CPU than at the last reading, on this host only",
    Unit::PerSecond,
    &[EXECUTABLE],
);
pub(super) const FAULTS: HostMetric = metric(
    "system.paging.faults",
    "Major page faults",
    "page faults that had to read from a disk",
    Unit::PerSecond,
    &["system.paging.fault.type"],
);
pub(super) const SWAPPING: HostMetric = metric(
    "system.paging.operations",
    "Swapping",
    "pages read from the swap (in) and written to it (out)",
    Unit::PerSecond,
    &["system.paging.direction"],
);
pub(super) const NODE_MIGRATIONS: HostMetric = metric(
    "system.linux.numa.pages_migrated",
    "Pages moved between nodes",
    "pages that automatic balancing moved to another memory node",
    Unit::PerSecond,
    &[],
);
pub(super) const PRESSURE: HostMetric = metric(
    "system.linux.pressure",
    "Pressure",
    "share of the time in which some tasks, or all, waited for a resource",
    Unit::Share,
    &["resource", "stalled"],
);
pub(super) const MEMORY: HostMetric =
    metric("system.memory.usage", "Memory", "memory by use", Unit::Bytes, &["system.memory.state"])
        .stacked("system.memory.state", "free");
pub(super) const AVAILABLE: HostMetric = metric(
    "system.linux.memory.available",
    "Memory available",
    "memory that programs can get without swapping",
    Unit::Bytes,
    &[],
);
pub(super) const HUGE_PAGES: HostMetric = metric(
    "system.memory.linux.hugepages.usage",
    "Huge pages",
    "explicit huge pages by use, on hosts that have some",
    Unit::Count,
    &["system.memory.linux.hugepages.state"],
);
pub(super) const DISK_OPERATIONS: HostMetric = metric(
    "system.disk.operations",
    "Disk operations",
    "operations of a disk",
    Unit::PerSecond,
    &[DEVICE, DISK_DIRECTION],
);
pub(super) const DISK_IO: HostMetric = metric(
    "system.disk.io",
    "Disk",
    "bytes of a disk",
    Unit::BytesPerSecond,
    &[DEVICE, DISK_DIRECTION],
)
.first();
pub(super) const DISK_LATENCY: HostMetric = metric(
    "system.disk.latency",
    "Disk latency",
    "mean time of a disk's operation, including its wait in the queue",
    Unit::Ms,
    &[DEVICE, DISK_DIRECTION],
);
pub(super) const DISK_BUSY: HostMetric = metric(
    "system.disk.io_time",
    "Disk busy",
    "share of the time in which a disk was busy",
    Unit::Share,
    &[DEVICE],
);
pub(super) const DISK_QUEUE: HostMetric = metric(
    "system.disk.weighted_io_time",
    "Disk queue",
    "mean number of operations that a disk works on or that wait for it",
    Unit::Average,
    &[DEVICE],
);
pub(super) const NETWORK_IO: HostMetric = metric(
    "system.network.io",
    "Network",
    "bytes of a network interface",
    Unit::BytesPerSecond,
    &[INTERFACE, NETWORK_DIRECTION],
);
pub(super) const PACKETS: HostMetric = metric(
    "system.network.packet.count",
    "Packets",
    "packets of a network interface",
    Unit::PerSecond,
    &[INTERFACE, NETWORK_DIRECTION],
);
pub(super) const NETWORK_ERRORS: HostMetric = metric(
    "system.network.errors",
    "Network errors",
    "errors and dropped packets of a network interface",
    Unit::PerSecond,
    &[INTERFACE, NETWORK_DIRECTION],
);
pub(super) const PROCESS_CPU: HostMetric = metric(
    "process.cpu.utilization",
    "CPUs used",
    "CPUs that the server's processes, or this program, use",
    Unit::Cores,
    &[EXECUTABLE],
);
pub(super) const PROCESS_MEMORY: HostMetric = metric(
    "process.memory.usage",
    "Resident memory",
    "resident memory of the server's processes, what they share counted once, or of this program",
    Unit::Bytes,
    &[EXECUTABLE],
);

pub(crate) const POWER: HostMetric = metric(
    "hw.power",
    "Power",
    "power of a processor package, of its memory, or of what an exporter measures",
    Unit::Watts,
    &["hw.name"],
);

/// All metrics, in the order of the documentation.
pub const HOST_METRICS: &[HostMetric] = &[
    CPU,
    FREQUENCY,
    IDLE_STATES,
    SERVER_TASKS,
    TASKS,
    CONTEXT_SWITCHES,
    RUN_QUEUE,
    MIGRATIONS,
    PRESSURE,
    MEMORY,
    AVAILABLE,
    HUGE_PAGES,
    FAULTS,
    SWAPPING,
    NODE_MIGRATIONS,
    DISK_OPERATIONS,
    DISK_IO,
    DISK_LATENCY,
    DISK_BUSY,
    DISK_QUEUE,
    NETWORK_IO,
    PACKETS,
    NETWORK_ERRORS,
    PROCESS_CPU,
    PROCESS_MEMORY,
    POWER,
];
