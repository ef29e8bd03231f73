//! The counters of this host, from `/proc` and `/sys` below a root folder.

use std::collections::BTreeMap;

use triphammer_document::result::CPUS_MAX;
use triphammer_settings::files::Files;

use super::snapshot::{CpuTimes, Disk, Network, Processes, Snapshot, Waits};

/// Ticks per second in what the kernel shows to programs: the same on all processors.
const TICKS: f64 = 100.0;
/// Bytes per sector in the kernel's counters, whatever the disk's are.
const SECTOR: f64 = 512.0;
/// Folder of the CPUs.
const CPU: &str = "sys/devices/system/cpu";
/// Maximum number of processes of a server that are read: beyond it, reading costs more than it is
/// worth.
const PROCESSES_MAX: usize = 2_000;

/// Number of CPUs whose idle states are read: there are several files per CPU and state.
const IDLE_CPUS_MAX: usize = 64;
/// Id of this process in `/proc`.
pub(crate) const THIS: &str = "self";

/// A group of processes to observe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProcessGroup {
    /// Name of the program, which is that of the values.
    pub name: String,
    /// The first process, whose children belong to it if they have its name; `self` for this one.
    pub process: String,
}

/// Reads the counters.
pub(super) fn read(files: &Files, groups: &[ProcessGroup]) -> Snapshot {
    let mut now = Snapshot::default();
    stat(&files.text("proc/stat").unwrap_or_default(), &mut now);
    now.run_queue = run_queue(&files.text("proc/schedstat").unwrap_or_default());
    now.paging = paging(&files.text("proc/vmstat").unwrap_or_default());
    power(files, &mut now);
    for resource in ["cpu", "io", "memory"] {
        let text = files.text(&format!("proc/pressure/{resource}")).unwrap_or_default();
        pressure(resource, &text, &mut now);
    }
    memory(files, &mut now);
    now.disks = disks(files);
    now.networks = networks(&files.text("proc/net/dev").unwrap_or_default());
    for group in groups {
        if let Some(found) = processes(files, group) {
            now.processes.insert(group.name.clone(), found);
        }
    }
    now
}

fn numbers(text: &str) -> Vec<f64> {
    text.split_whitespace().map_while(|word| word.parse().ok()).collect()
}

fn stat(text: &str, now: &mut Snapshot) {
    for line in text.lines() {
        let Some((name, rest)) = line.split_once(' ') else { continue };
        let ticks = numbers(rest);
        if let Some(Ok(number)) = name.strip_prefix("cpu").map(str::parse) {
            // user, nice, system, idle, iowait, irq, softirq, steal; guests are part of user.
            let [user, nice, system, idle, iowait, irq, softirq, steal, ..] = ticks[..] else {
                continue;
            };
            let times: CpuTimes = [user, nice, system, idle, iowait, irq, softirq, steal];
            now.cpus.insert(number, times.map(|ticks| ticks / TICKS));
        } else if name == "ctxt" {
            now.switches = ticks.first().copied();
        } else if name == "procs_running" {
            now.running = ticks.first().copied();
        } else if name == "procs_blocked" {
            now.blocked = ticks.first().copied();
        }
    }
}

/// Reads the waits of all tasks: `cpu0 0 0 … 5000000 20`, the last numbers are nanoseconds of waiting and a count. Many
/// kernels do not have the file.
fn run_queue(text: &str) -> Option<Waits> {
    let mut all = None;
    for line in text.lines().filter(|line| line.starts_with("cpu")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, _, _, _, _, _, _, _, waited, count, ..] = &words[..] else { continue };
        let (Ok(ns), Ok(count)) = (waited.parse::<f64>(), count.parse()) else { continue };
        all.get_or_insert_with(Waits::default).add(Waits { seconds: ns / 1e9, count });
    }
    all
}

/// Reads the counters of pages that matter.
fn paging(text: &str) -> [Option<f64>; 4] {
    ["pgmajfault", "pswpin", "pswpout", "numa_pages_migrated"].map(|wanted| {
        let lines = text.lines().filter_map(|line| line.split_once(' '));
        lines.filter(|(name, _)| *name == wanted).find_map(|(_, value)| value.trim().parse().ok())
    })
}

/// Reads frequencies and times in idle states. Many virtual machines show neither.
#[expect(clippy::cast_precision_loss, reason = "frequencies, and microseconds since the start")]
fn power(files: &Files, now: &mut Snapshot) {
    let numbers: Vec<u32> = now.cpus.keys().copied().take(CPUS_MAX).collect();
    for number in numbers {
        let folder = format!("{CPU}/cpu{number}");
        if let Some(khz) = files.number(&format!("{folder}/cpufreq/scaling_cur_freq")) {
            now.frequencies.insert(number, khz as f64 * 1e3);
        }
        if number as usize >= IDLE_CPUS_MAX {
            continue;
        }
        for state in files.numbered(&format!("{folder}/cpuidle"), "state") {
            let of = |file: &str| format!("{folder}/cpuidle/state{state}/{file}");
            let (Some(name), Some(us)) = (files.text(&of("name")), files.number(&of("time")))
            else {
                continue;
            };
            let (seconds, cpus) = now.idle_states.entry(name).or_default();
            (*seconds, *cpus) = (*seconds + us as f64 / 1e6, *cpus + 1);
        }
    }
}

/// Reads `some avg10=0.00 avg60=0.00 avg300=0.00 total=1000`, in microseconds.
fn pressure(resource: &'static str, text: &str, now: &mut Snapshot) {
    for stalled in ["some", "full"] {
        let line = text.lines().find(|line| line.starts_with(stalled));
        let total = line.and_then(|line| line.rsplit_once("total=")?.1.parse::<f64>().ok());
        if let Some(total) = total {
            now.pressure.insert((resource, stalled), total / 1e6);
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "bytes of memory")]
fn memory(files: &Files, now: &mut Snapshot) {
    let bytes = |name: &str| files.memory(name).map(|bytes| bytes as f64);
    now.available = bytes("MemAvailable");
    let pages = |name: &str| files.memory(name).map(|pages| pages as f64);
    now.huge_pages = huge_pages(pages("HugePages_Total"), pages("HugePages_Free"));
    let (total, free) = (bytes("MemTotal"), bytes("MemFree"));
    let (buffers, cached) = (bytes("Buffers"), bytes("Cached"));
    now.memory = uses(total, free, buffers, cached);
}

/// Memory by use, as the Collector has it: used is what is neither free nor cache.
pub(super) fn uses(
    total: Option<f64>,
    free: Option<f64>,
    buffers: Option<f64>,
    cached: Option<f64>,
) -> BTreeMap<&'static str, f64> {
    let (Some(total), Some(free)) = (total, free) else { return BTreeMap::new() };
    let (buffers, cached) = (buffers.unwrap_or_default(), cached.unwrap_or_default());
    let used = (total - free - buffers - cached).max(0.0);
    BTreeMap::from([("used", used), ("free", free), ("buffers", buffers), ("cached", cached)])
}

/// Explicit huge pages that are used and free; `None` if there are none.
pub(super) fn huge_pages(total: Option<f64>, free: Option<f64>) -> Option<[f64; 2]> {
    let (total, free) = (total.filter(|total| *total > 0.0)?, free?);
    Some([(total - free).max(0.0), free])
}

/// Whether a block device is neither a disk nor made of disks.
pub(super) fn is_no_disk(name: &str) -> bool {
    ["loop", "ram", "zram", "sr", "fd"].iter().any(|prefix| name.starts_with(prefix))
}

fn disks(files: &Files) -> BTreeMap<String, Disk> {
    let text = files.text("proc/diskstats").unwrap_or_default();
    let disks = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace().skip(2);
        let name = words.next()?;
        let counters: Vec<f64> = words.map_while(|word| word.parse().ok()).collect();
        let [reads, _, read, read_ms, writes, _, written, write_ms, _, busy_ms, weighted_ms, ..] =
            counters[..]
        else {
            return None;
        };
        let is_partition = files.exists(&format!("sys/class/block/{name}/partition"));
        let disk = Disk {
            operations: [reads, writes],
            bytes: [read * SECTOR, written * SECTOR],
            seconds: [read_ms / 1000.0, write_ms / 1000.0],
            busy: busy_ms / 1000.0,
            weighted: weighted_ms / 1000.0,
        };
        let is_used = reads + writes > 0.0;
        (is_used && !is_partition && !is_no_disk(name)).then(|| (name.to_owned(), disk))
    });
    disks.collect()
}

fn networks(text: &str) -> BTreeMap<String, Network> {
    let networks = text.lines().filter_map(|line| {
        let (name, counters) = line.split_once(':')?;
        let counters = numbers(counters);
        // Received: bytes, packets, errors, dropped and four more; then the same transmitted.
        let [bytes_in, packets_in, errors_in, dropped_in, _, _, _, _, rest @ ..] = &counters[..]
        else {
            return None;
        };
        let [bytes_out, packets_out, errors_out, dropped_out, ..] = rest else { return None };
        let network = Network {
            bytes: [*bytes_in, *bytes_out],
            packets: [*packets_in, *packets_out],
            errors: [errors_in + dropped_in, errors_out + dropped_out],
        };
        (packets_in + packets_out > 0.0).then(|| (name.trim().to_owned(), network))
    });
    networks.collect()
}

fn processes(files: &Files, group: &ProcessGroup) -> Option<Processes> {
    let mut found = Processes::default();
    let ids = ids(files, group);
    for id in &ids {
        let Some(ProcessTimes { number, seconds, cpu, .. }) = times(files, &format!("proc/{id}"))
        else {
            continue;
        };
        found.cpu.insert(number, seconds);
        found.tasks.extend(cpu.map(|cpu| (number, (seconds, cpu))));
    }
    match &ids[..] {
        _ if group.process == THIS => found.tasks.clear(),
        // Sessions are threads.
        [only] => threads(files, only, &mut found),
        all => all.iter().for_each(|id| found.waits.extend(waits(files, &format!("proc/{id}")))),
    }
    found.resident = memory_of(files, group)?.resident;
    (!found.cpu.is_empty()).then_some(found)
}

/// Memory of a group of processes, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ProcessMemory {
    /// In ordinary pages, and in huge ones that the kernel made of them.
    pub resident: f64,
    /// In reserved huge pages.
    pub huge: f64,
}

/// Reads the memory of a group of processes; `None` if none is left. Sessions of one server share
/// its buffers.
pub(crate) fn memory_of(files: &Files, group: &ProcessGroup) -> Option<ProcessMemory> {
    let all: Vec<String> = ids(files, group)
        .iter()
        .filter_map(|id| files.text(&format!("proc/{id}/status")))
        .collect();
    let values = |name: &'static str| all.iter().map(move |status| kib(status, name));
    let own: f64 = values("RssAnon:").chain(values("RssFile:")).sum();
    let shared = values("RssShmem:").fold(0.0, f64::max);
    let huge = values("HugetlbPages:").fold(0.0, f64::max);
    (!all.is_empty()).then_some(ProcessMemory { resident: own + shared, huge })
}

/// Ids of a group's processes.
fn ids(files: &Files, group: &ProcessGroup) -> Vec<String> {
    let first = &group.process;
    let children = files.text(&format!("proc/{first}/task/{first}/children")).unwrap_or_default();
    let ids = std::iter::once(first.as_str()).chain(children.split_whitespace());
    ids.take(PROCESSES_MAX).map(str::to_owned).collect()
}

/// CPU seconds of a group of processes, with those that have ended; `None` if the first one is gone.
pub(crate) fn cpu_of(files: &Files, group: &ProcessGroup) -> Option<f64> {
    let first = times(files, &format!("proc/{}", group.process))?;
    let of_sessions = ids(files, group).into_iter().skip(1);
    let sessions = of_sessions.filter_map(|id| Some(times(files, &format!("proc/{id}"))?.seconds));
    Some(first.seconds + first.ended + sessions.sum::<f64>())
}

/// Bytes that all disks have read and written, without those that are made of other disks; `None` without disks.
pub(crate) fn disk_bytes(files: &Files) -> Option<[f64; 2]> {
    let mut all = disks(files);
    all.retain(|name, _| files.names(&format!("sys/class/block/{name}/slaves")).is_empty());
    let sum = |direction: usize| all.values().map(|disk| disk.bytes[direction]).sum();
    (!all.is_empty()).then(|| [sum(0), sum(1)])
}

/// Reads the threads of a process: their CPU seconds, the CPU on which each was last, and their waits.
fn threads(files: &Files, id: &str, found: &mut Processes) {
    let folder = format!("proc/{id}/task");
    found.tasks.clear();
    for thread in files.names(&folder).iter().take(PROCESSES_MAX) {
        let folder = format!("{folder}/{thread}");
        let Some(ProcessTimes { number, seconds, cpu, .. }) = times(files, &folder) else {
            continue;
        };
        found.tasks.extend(cpu.map(|cpu| (number, (seconds, cpu))));
        found.waits.extend(waits(files, &folder));
    }
}

/// Reads the waits of a process or thread for a CPU, with its id: `500 4000 2` are nanoseconds on a CPU, nanoseconds of
/// waiting for one, and how often it got one.
fn waits(files: &Files, folder: &str) -> Option<(u32, Waits)> {
    let number = folder.rsplit_once('/')?.1.parse().ok()?;
    let text = files.text(&format!("{folder}/schedstat"))?;
    let [_, waited, count] = numbers(&text)[..] else { return None };
    Some((number, Waits { seconds: waited / 1e9, count }))
}

/// What a process or thread has used.
struct ProcessTimes {
    number: u32,
    /// CPU seconds.
    seconds: f64,
    /// CPU seconds of its children that have ended.
    ended: f64,
    /// The CPU on which it was last.
    cpu: Option<u32>,
}

/// Reads the `stat` in the folder of a process or thread.
fn times(files: &Files, folder: &str) -> Option<ProcessTimes> {
    let stat = files.text(&format!("{folder}/stat"))?;
    let number = stat.split_whitespace().next()?.parse().ok()?;
    // The name may contain spaces and brackets; what follows its last bracket does not.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |place: usize| fields.get(place)?.parse::<f64>().ok();
    let cpu = fields.get(36).and_then(|field| field.parse().ok());
    let ended = (ticks(13).unwrap_or_default() + ticks(14).unwrap_or_default()) / TICKS;
    Some(ProcessTimes { number, seconds: (ticks(11)? + ticks(12)?) / TICKS, ended, cpu })
}

/// A value of `/proc/PID/status`, in bytes; 0 if it has none.
fn kib(status: &str, name: &str) -> f64 {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let value = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    value.unwrap_or_default() * 1024.0
}
