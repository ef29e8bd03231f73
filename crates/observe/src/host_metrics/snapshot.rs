//! What a host has counted up to a moment, and the metrics between two such moments: pure
//! functions, the same for every source.

use std::collections::BTreeMap;

use triphammer_document::result::CPUS_MAX;

use super::declared::{
    AVAILABLE, CONTEXT_SWITCHES, CPU, DISK_BUSY, DISK_IO, DISK_LATENCY, DISK_OPERATIONS,
    DISK_QUEUE, FAULTS, FREQUENCY, HUGE_PAGES, HostMetric, IDLE_STATES, MEMORY, MIGRATIONS,
    NETWORK_ERRORS, NETWORK_IO, NODE_MIGRATIONS, PACKETS, PRESSURE, PROCESS_CPU, PROCESS_MEMORY,
    RUN_QUEUE, SERVER_TASKS, SWAPPING, TASKS,
};

/// Maximum number of disks and interfaces that are reported one by one.
pub(super) const EACH_MAX: usize = 64;
/// The modes of a CPU, in the order of [`CpuTimes`].
pub(super) const MODES: [&str; 8] =
    ["user", "nice", "system", "idle", "iowait", "interrupt", "softirq", "steal"];
/// Directions of disks, in the order of [`Disk`].
const DISK_DIRECTIONS: [&str; 2] = ["read", "write"];
/// Directions of networks, in the order of [`Network`].
const NETWORK_DIRECTIONS: [&str; 2] = ["receive", "transmit"];

/// Seconds of a CPU by mode, in the order of [`MODES`].
pub(super) type CpuTimes = [f64; MODES.len()];

/// Counters and states of a host at a moment. What a source does not know is missing.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Snapshot {
    /// Times of each CPU, by its number.
    pub cpus: BTreeMap<u32, CpuTimes>,
    /// Frequency of each CPU in Hz, by its number.
    pub frequencies: BTreeMap<u32, f64>,
    /// Seconds in each idle state, and of how many CPUs, by its name.
    pub idle_states: BTreeMap<String, (f64, u32)>,
    /// Tasks that run or are ready to.
    pub running: Option<f64>,
    /// Tasks that wait for a disk.
    pub blocked: Option<f64>,
    /// Switches between tasks.
    pub switches: Option<f64>,
    /// Waits for a CPU of all tasks.
    pub run_queue: Option<Waits>,
    /// Page faults that read from a disk; pages swapped in, and out; pages moved between memory nodes.
    pub paging: [Option<f64>; 4],
    /// Seconds in which tasks waited, by resource and by `some` or `full`.
    pub pressure: BTreeMap<(&'static str, &'static str), f64>,
    /// Bytes by use.
    pub memory: BTreeMap<&'static str, f64>,
    /// Bytes of memory that programs can get.
    pub available: Option<f64>,
    /// Explicit huge pages that are used and free.
    pub huge_pages: Option<[f64; 2]>,
    /// Disks by name, without partitions.
    pub disks: BTreeMap<String, Disk>,
    /// Network interfaces by name.
    pub networks: BTreeMap<String, Network>,
    /// Groups of processes by the name of their program.
    pub processes: BTreeMap<String, Processes>,
}

/// Waits of tasks for a CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Waits {
    /// Seconds of waiting.
    pub seconds: f64,
    /// Number of times that a task got a CPU.
    pub count: f64,
}

impl Waits {
    /// Adds others.
    pub fn add(&mut self, other: Self) {
        self.seconds += other.seconds;
        self.count += other.count;
    }

    /// Mean wait since a moment, in milliseconds; `None` without one.
    fn mean_ms(self, before: Self) -> Option<f64> {
        let (seconds, count) = (self.seconds - before.seconds, self.count - before.count);
        (seconds >= 0.0 && count > 0.0).then(|| seconds / count * 1000.0)
    }
}

/// Counters of a disk; pairs are for reading and writing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Disk {
    pub operations: [f64; 2],
    pub bytes: [f64; 2],
    /// Seconds, summed up over the operations.
    pub seconds: [f64; 2],
    /// Seconds with an operation.
    pub busy: f64,
    /// Seconds, weighted with the number of operations.
    pub weighted: f64,
}

/// Counters of a network interface; pairs are for receiving and transmitting.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Network {
    pub bytes: [f64; 2],
    pub packets: [f64; 2],
    pub errors: [f64; 2],
}

/// Processes of a program.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Processes {
    /// CPU seconds of each, by its id: those that end take their time with them.
    pub cpu: BTreeMap<u32, f64>,
    /// CPU seconds of each process or thread that serves sessions, and the CPU on which it was last, by its id; empty
    /// for this program.
    pub tasks: BTreeMap<u32, (f64, u32)>,
    /// Waits of these for a CPU, by their ids.
    pub waits: BTreeMap<u32, Waits>,
    /// Resident bytes.
    pub resident: f64,
}

/// The value of a metric with its labels, in the order of its declaration; an empty one is left
/// out.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct HostValue {
    pub metric: HostMetric,
    pub labels: Vec<String>,
    pub value: f64,
}

/// Collects values.
struct Values {
    seconds: f64,
    list: Vec<HostValue>,
}

impl Values {
    fn put(&mut self, metric: HostMetric, labels: &[&str], value: f64) {
        let labels = labels.iter().map(|label| (*label).to_owned()).collect();
        self.list.push(HostValue { metric, labels, value });
    }

    /// The growth of a counter per second; nothing if it never counted, or restarted.
    fn rate(&mut self, metric: HostMetric, labels: &[&str], [before, now]: [f64; 2]) {
        if now > 0.0 && now >= before {
            self.put(metric, labels, (now - before) / self.seconds);
        }
    }
}

/// The metrics between two moments that are `seconds` apart; without `before` only states.
pub(super) fn values(before: Option<&Snapshot>, now: &Snapshot, seconds: f64) -> Vec<HostValue> {
    let mut values = Values { seconds, list: Vec::new() };
    states(now, &mut values);
    if let Some(before) = before.filter(|_| seconds > 0.0) {
        cpus(before, now, &mut values);
        kernel(before, now, &mut values);
        for (state, (total, cpus)) in &now.idle_states {
            if let Some((then, _)) = before.idle_states.get(state) {
                // The time of a sleep is counted when it ends.
                let share = ((total - then) / seconds / f64::from(*cpus)).clamp(0.0, 1.0);
                values.put(IDLE_STATES, &[state], share);
            }
        }
        for (key, total) in &now.pressure {
            if let Some(then) = before.pressure.get(key) {
                // Pressure counts microseconds that may fall into the second before.
                let share = ((total - then) / seconds).clamp(0.0, 1.0);
                values.put(PRESSURE, &[key.0, key.1], share);
            }
        }
        for (name, disk) in now.disks.iter().take(EACH_MAX) {
            if let Some(then) = before.disks.get(name) {
                disks(name, then, disk, &mut values);
            }
        }
        for (name, network) in now.networks.iter().take(EACH_MAX) {
            if let Some(then) = before.networks.get(name) {
                networks(name, then, network, &mut values);
            }
        }
        for (name, group) in &now.processes {
            if let Some(then) = before.processes.get(name) {
                // A new process began at zero.
                let used = |(id, cpu): (&u32, &f64)| {
                    (cpu - then.cpu.get(id).copied().unwrap_or_default()).max(0.0)
                };
                let used: f64 = group.cpu.iter().map(used).sum();
                values.put(PROCESS_CPU, &[name], used / seconds);
                server_tasks(now, then, group, &mut values);
                scheduling(name, then, group, &mut values);
            }
        }
    }
    values.list
}

/// How many processes or threads of a server worked, by the CPU on which they were last.
fn server_tasks(now: &Snapshot, then: &Processes, group: &Processes, values: &mut Values) {
    if group.tasks.is_empty() {
        return;
    }
    let mut working: BTreeMap<u32, f64> = BTreeMap::new();
    for (id, (seconds, cpu)) in &group.tasks {
        if *seconds > then.tasks.get(id).map_or(0.0, |(then, _)| *then) {
            *working.entry(*cpu).or_default() += 1.0;
        }
    }
    for number in now.cpus.keys().take(CPUS_MAX) {
        let count = working.get(number).copied().unwrap_or_default();
        values.put(SERVER_TASKS, &[&number.to_string()], count);
    }
}

/// How long the tasks of a server waited for a CPU, and how many were moved to another one.
fn scheduling(name: &str, then: &Processes, group: &Processes, values: &mut Values) {
    // Those that ended take their waits with them.
    let both = group.waits.iter().filter_map(|(id, now)| Some((*now, *then.waits.get(id)?)));
    let (mut now, mut before) = (Waits::default(), Waits::default());
    for (of_now, of_before) in both {
        now.add(of_now);
        before.add(of_before);
    }
    if let Some(ms) = now.mean_ms(before) {
        values.put(RUN_QUEUE, &[name], ms);
    }
    if group.tasks.is_empty() {
        return;
    }
    let moved = group.tasks.iter().filter(|(id, (seconds, cpu))| {
        then.tasks.get(id).is_some_and(|(used, was)| seconds > used && was != cpu)
    });
    #[expect(clippy::cast_precision_loss, reason = "a number of processes")]
    let moved = moved.count() as f64;
    values.put(MIGRATIONS, &[name], moved / values.seconds);
}

/// Counters of the kernel.
fn kernel(before: &Snapshot, now: &Snapshot, values: &mut Values) {
    let switches = before.switches.zip(now.switches);
    let [faults, swapped_in, swapped_out, moved] =
        [0, 1, 2, 3].map(|of| before.paging[of].zip(now.paging[of]));
    for (metric, labels, counted) in [
        (CONTEXT_SWITCHES, &[][..], switches),
        (FAULTS, &["major"][..], faults),
        (SWAPPING, &["in"][..], swapped_in),
        (SWAPPING, &["out"][..], swapped_out),
        (NODE_MIGRATIONS, &[][..], moved),
    ] {
        if let Some((before, now)) = counted {
            values.rate(metric, labels, [before, now]);
        }
    }
    let waits = now.run_queue.zip(before.run_queue);
    if let Some(ms) = waits.and_then(|(now, before)| now.mean_ms(before)) {
        values.put(RUN_QUEUE, &[""], ms);
    }
}

fn states(now: &Snapshot, values: &mut Values) {
    for (number, frequency) in &now.frequencies {
        values.put(FREQUENCY, &[&number.to_string()], *frequency);
    }
    if !now.frequencies.is_empty() {
        #[expect(clippy::cast_precision_loss, reason = "a number of CPUs")]
        let mean = now.frequencies.values().sum::<f64>() / now.frequencies.len() as f64;
        values.put(FREQUENCY, &[""], mean);
    }
    for (state, pages) in now.huge_pages.iter().flat_map(|pages| ["used", "free"].iter().zip(pages))
    {
        values.put(HUGE_PAGES, &[state], *pages);
    }
    for (state, tasks) in [("running", now.running), ("blocked", now.blocked)] {
        if let Some(tasks) = tasks {
            values.put(TASKS, &[state], tasks);
        }
    }
    for (state, bytes) in &now.memory {
        values.put(MEMORY, &[state], *bytes);
    }
    if let Some(bytes) = now.available {
        values.put(AVAILABLE, &[], bytes);
    }
    for (name, group) in &now.processes {
        values.put(PROCESS_MEMORY, &[name], group.resident);
    }
}

/// Shares of the modes, of all CPUs together and of each. Ticks of a CPU do not sum up exactly to
/// the time that passed, so shares are of their sum.
fn cpus(before: &Snapshot, now: &Snapshot, values: &mut Values) {
    let mut all = [0.0; MODES.len()];
    let mut each = Vec::new();
    for (number, times) in &now.cpus {
        let Some(then) = before.cpus.get(number) else { continue };
        let mut passed = [0.0; MODES.len()];
        for mode in 0..MODES.len() {
            passed[mode] = (times[mode] - then[mode]).max(0.0);
            all[mode] += passed[mode];
        }
        each.push((*number, times, passed));
    }
    let sum: f64 = all.iter().sum();
    for (mode, time) in MODES.iter().zip(all).filter(|_| sum > 0.0) {
        values.put(CPU, &["", mode], time / sum);
    }
    for (number, total, passed) in each.into_iter().take(CPUS_MAX) {
        let (number, sum) = (number.to_string(), passed.iter().sum::<f64>());
        // Most CPUs never use most modes, and what is idle is what is left.
        let used = |mode: &usize| total[*mode] > 0.0 && MODES[*mode] != "idle";
        for mode in (0..MODES.len()).filter(used).filter(|_| sum > 0.0) {
            values.put(CPU, &[&number, MODES[mode]], passed[mode] / sum);
        }
    }
}

fn disks(name: &str, then: &Disk, now: &Disk, values: &mut Values) {
    for (index, direction) in DISK_DIRECTIONS.iter().enumerate() {
        let labels = [name, direction];
        let [operations, bytes, seconds] = [
            [then.operations[index], now.operations[index]],
            [then.bytes[index], now.bytes[index]],
            [then.seconds[index], now.seconds[index]],
        ];
        values.rate(DISK_OPERATIONS, &labels, operations);
        values.rate(DISK_IO, &labels, bytes);
        let [count, took] = [operations, seconds].map(|[before, now]| now - before);
        if count > 0.0 && took >= 0.0 {
            values.put(DISK_LATENCY, &labels, took / count * 1000.0);
        }
    }
    values.rate(DISK_BUSY, &[name], [then.busy, now.busy]);
    values.rate(DISK_QUEUE, &[name], [then.weighted, now.weighted]);
}

fn networks(name: &str, then: &Network, now: &Network, values: &mut Values) {
    for (index, direction) in NETWORK_DIRECTIONS.iter().enumerate() {
        let labels = [name, direction];
        values.rate(NETWORK_IO, &labels, [then.bytes[index], now.bytes[index]]);
        values.rate(PACKETS, &labels, [then.packets[index], now.packets[index]]);
        values.rate(NETWORK_ERRORS, &labels, [then.errors[index], now.errors[index]]);
    }
}
