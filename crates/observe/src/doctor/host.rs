//! The checks of this host: one declaration each, and the function that reads its fact.

use std::path::PathBuf;

use triphammer_core::session::ServerProcess;
use triphammer_document::doctor::Group;
use triphammer_document::doctor::SetupVerdict::{Fine, Look, Wrong};
use triphammer_settings::files::Files;
use triphammer_settings::format::counted;

use super::check::{Check, CheckDeclaration, Reading};
use super::disk::{Mount, mount_of};
use crate::energy::rapl::{Powercap, Zone};
use crate::host_metrics::{ProcessGroup, group_of, memory_of};

const GIB: u64 = 1 << 30;
const CPU: &str = "sys/devices/system/cpu";

/// Facts about this host.
#[derive(Debug)]
pub(super) struct HostFacts {
    files: Files,
    stolen_before: Option<Stolen>,
    stolen_after: Option<Stolen>,
    server: Option<ProcessGroup>,
    powercap: Powercap,
    /// Where the database's data lies on this host; `None` if there is none, or it is unknown.
    pub data: Option<PathBuf>,
}

/// Ticks of all CPUs since the host started.
#[derive(Clone, Copy, Debug)]
struct Stolen {
    ticks: u64,
    of: u64,
}

impl HostFacts {
    /// Begins to observe the host.
    pub fn begin(files: Files) -> Self {
        let stolen_before = stolen(&files);
        let powercap = Powercap::in_root(files.clone());
        let (stolen_after, server, data) = (None, None, None);
        Self { files, stolen_before, stolen_after, server, powercap, data }
    }

    /// The same with energy counters that are elsewhere.
    pub fn with_powercap(self, powercap: Powercap) -> Self {
        Self { powercap, ..self }
    }

    /// Ends the observation.
    pub fn end(&mut self) {
        self.stolen_after = stolen(&self.files);
    }

    /// Finds the processes of a server that runs on this host.
    pub fn find_server(&mut self, process: Option<ServerProcess>) {
        self.server = process.and_then(|process| group_of(&self.files, process));
    }

    /// Whether the processes of the database's server are known.
    pub const fn knows_server(&self) -> bool {
        self.server.is_some()
    }

    /// The host's memory, in bytes.
    pub fn memory_bytes(&self) -> Option<u64> {
        self.files.memory("MemTotal")
    }

    fn mount(&self) -> Option<Mount> {
        mount_of(&self.files, self.data.as_ref()?)
    }
}

const fn check(
    name: &'static str,
    read: fn(&HostFacts) -> Option<Reading>,
    why: &'static str,
    change: &'static str,
) -> Check<HostFacts> {
    let declared = CheckDeclaration { name, group: Group::Host, why, change };
    Check { declared, read, is_momentary: false }
}

/// The checks, in the order of the report.
pub(super) const CHECKS: &[Check<HostFacts>] = &[
    check(
        "governor",
        governor,
        "A governor that lowers the frequency makes short transactions slow at low load, and \
         results of different loads incomparable.",
        "cpupower frequency-set -g performance",
    ),
    check(
        "energy_preference",
        energy_preference,
        "The processor prefers saving energy to speed, and needs time to reach its full frequency.",
        "cpupower set --epp performance",
    ),
    check(
        "turbo",
        turbo,
        "With turbo, the frequency depends on the temperature and on how many cores are busy: few \
         users look faster per core than many, and a long run slows down.",
        "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo, or echo 0 > \
         /sys/devices/system/cpu/cpufreq/boost",
    ),
    check(
        "c_states",
        c_states,
        "A core that sleeps deeply needs this time to wake up, which is added to response times at \
         low load.",
        "cpupower idle-set -D 10",
    ),
    check(
        "smt",
        smt,
        "Two threads share a core: beyond half of the logical CPUs, throughput grows little.",
        "echo off > /sys/devices/system/cpu/smt/control",
    ),
    check(
        "numa",
        numa,
        "Memory of another node is slower, and automatic balancing moves pages during the run.",
        "sysctl -w kernel.numa_balancing=0, and start the server with numactl --interleave=all",
    ),
    check(
        "transparent_huge_pages",
        transparent_huge_pages,
        "With always, the kernel assembles huge pages at any time, and processes wait for it.",
        "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
    ),
    check(
        "huge_pages",
        huge_pages,
        "Reserved huge pages that no server uses are lost memory; large buffers without them cost \
         CPU time.",
        "sysctl -w vm.nr_hugepages=N",
    )
    .momentary(),
    check(
        "swappiness",
        swappiness,
        "The kernel may swap out the server's memory to keep more files cached.",
        "sysctl -w vm.swappiness=1",
    ),
    check(
        "memory_available",
        memory_available,
        "Without free memory the kernel swaps, or kills the server or this program.",
        "stop other programs, or give the server less memory",
    )
    .momentary(),
    check(
        "clock_source",
        clock_source,
        "With a slow clock source, each time stamp costs a system call of several microseconds, in \
         the server and here.",
        "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource",
    ),
    check(
        "time_synchronization",
        time_synchronization,
        "Without it, this host's times cannot be compared with those in the server's logs.",
        "systemctl enable --now systemd-timesyncd, or install chrony",
    ),
    check(
        "open_files",
        open_files,
        "Each session needs a file descriptor: with too few, users cannot connect.",
        "ulimit -n 65536, or LimitNOFILE= of the service",
    ),
    check(
        "local_ports",
        local_ports,
        "Each TCP connection to one server needs a port, and keeps it for a minute after it closes: \
         runs that reconnect often run out of them.",
        "sysctl -w net.ipv4.ip_local_port_range='1024 65535'",
    ),
    check(
        "somaxconn",
        somaxconn,
        "When many users connect at once, connections beyond the server's queue are retried after \
         a second or more.",
        "sysctl -w net.core.somaxconn=4096, and restart the server",
    ),
    check(
        "host_load",
        host_load,
        "Other programs use the CPUs now: they take them from the run.",
        "stop them: top shows which",
    )
    .momentary(),
    check(
        "virtualization",
        virtualization,
        "In a virtual machine, other guests share CPUs and disks, and settings of the host apply \
         that cannot be seen here.",
        "measure on a dedicated machine, or compare in pairs (compare --ab)",
    ),
    check(
        "steal_time",
        steal_time,
        "The hypervisor gave this share of the CPU time to others: response times contain it.",
        "choose a dedicated instance, or repeat at another time",
    )
    .momentary(),
    check(
        "energy_counters",
        energy_counters,
        "The energy of a run is read from these counters (RAPL). Linux lets only root read them, \
         because they tell other programs what the processor computes.",
        "run as root, or chmod o+r /sys/class/powercap/intel-rapl:*/energy_uj where nobody else uses \
         the host; it lasts until the next start",
    )
    // Whoever starts a run without it misses a figure, and no other figure is worse.
    .momentary(),
];

/// The checks of the disk with the database's data, in the order of the report; for a database on
/// this host whose data lies where the server says.
pub(super) const DATA_CHECKS: &[Check<HostFacts>] = &[
    check(
        "data_file_system",
        data_file_system,
        "In memory, or without write barriers, commits do not wait for a disk. In a container's \
         own layer or over the network they wait for more than a disk.",
        "move the data to a local file system, mounted without nobarrier",
    ),
    check(
        "data_disk_scheduler",
        data_disk_scheduler,
        "bfq shares a disk fairly between programs at the cost of its speed; a rotating disk makes \
         about 100 commits per second.",
        "echo none > /sys/block/DISK/queue/scheduler",
    ),
    check(
        "data_disk_write_cache",
        data_disk_write_cache,
        "With write back, a commit flushes the disk's cache. With write through the kernel sends \
         no flush: right only if the disk has no volatile cache, or a protected one.",
        "echo 'write back' > /sys/block/DISK/queue/write_cache",
    ),
];

/// The checks of the server's processes, for a server on this host that says which they are.
pub(super) const SERVER_CHECKS: &[Check<HostFacts>] = &[check(
    "server_huge_pages",
    server_huge_pages,
    "What the server's processes in fact have in huge pages. Large buffers in pages of 4 KB cost CPU \
     time for address translation.",
    "reserve them (sysctl -w vm.nr_hugepages=N), set huge_pages or large-pages, and restart the \
     server",
)
.momentary()];

/// Values of a file of all CPUs, without repetitions.
fn of_cpus(files: &Files, file: &str) -> Vec<String> {
    let cpus = files.numbered(CPU, "cpu");
    let mut values: Vec<_> =
        cpus.iter().filter_map(|cpu| files.text(&format!("{CPU}/cpu{cpu}/{file}"))).collect();
    values.sort_unstable();
    values.dedup();
    values
}

fn governor(host: &HostFacts) -> Option<Reading> {
    let governors = of_cpus(&host.files, "cpufreq/scaling_governor");
    let driver = host.files.text(&format!("{CPU}/cpu0/cpufreq/scaling_driver"));
    // Drivers with an energy preference have a governor of this name that is not slow.
    let is_active = driver.is_some_and(|name| name == "intel_pstate" || name == "amd-pstate-epp");
    let verdict = match governors.as_slice() {
        [] => return None,
        [one] if one == "performance" => Fine,
        all if all.iter().any(|one| one == "powersave") && !is_active => Wrong,
        _ => Look,
    };
    Some(Reading::of(verdict, governors.join(", ")))
}

fn energy_preference(host: &HostFacts) -> Option<Reading> {
    let preferences = of_cpus(&host.files, "cpufreq/energy_performance_preference");
    let is_fine = preferences == ["performance"];
    (!preferences.is_empty()).then(|| Reading::look_unless(is_fine, preferences.join(", ")))
}

fn turbo(host: &HostFacts) -> Option<Reading> {
    let is_on = match host.files.number(&format!("{CPU}/intel_pstate/no_turbo")) {
        Some(off) => off == 0,
        None => host.files.number(&format!("{CPU}/cpufreq/boost"))? != 0,
    };
    Some(Reading::look_unless(!is_on, if is_on { "on" } else { "off" }))
}

fn energy_counters(host: &HostFacts) -> Option<Reading> {
    let zones = host.powercap.zones();
    let is_readable = |zone: &Zone| zone.microjoules.is_some();
    let names = |wanted: bool| {
        let zones = zones.iter().filter(|zone| is_readable(zone) == wanted);
        zones.map(|zone| zone.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    match (names(true), names(false)) {
        (read, hidden) if read.is_empty() && hidden.is_empty() => None,
        (read, hidden) if hidden.is_empty() => Some(Reading::of(Fine, read)),
        (_, hidden) => Some(Reading::of(Look, format!("{hidden}: not readable by this user"))),
    }
}

/// Longest time to wake up that is not a problem, in microseconds.
const WAKE_UP_US: u64 = 100;

fn c_states(host: &HostFacts) -> Option<Reading> {
    let folder = format!("{CPU}/cpu0/cpuidle");
    let states = host.files.numbered(&folder, "state");
    let of = |state: &u32, file: &str| host.files.text(&format!("{folder}/state{state}/{file}"));
    let enabled = states.iter().filter(|state| of(state, "disable").as_deref() != Some("1"));
    let deepest = enabled
        .filter_map(|state| Some((of(state, "latency")?.parse::<u64>().ok()?, of(state, "name")?)))
        .max()?;
    let (latency, name) = deepest;
    Some(Reading::look_unless(latency <= WAKE_UP_US, format!("down to {name}, {latency} µs")))
}

fn smt(host: &HostFacts) -> Option<Reading> {
    let is_active = host.files.number(&format!("{CPU}/smt/active"))? != 0;
    Some(Reading::of(Fine, if is_active { "on" } else { "off" }))
}

fn numa(host: &HostFacts) -> Option<Reading> {
    let nodes = host.files.numbered("sys/devices/system/node", "node").len();
    let balances = host.files.number("proc/sys/kernel/numa_balancing").is_some_and(|on| on != 0);
    match nodes {
        0 => None,
        1 => Some(Reading::of(Fine, "1 node")),
        _ => {
            let balancing = if balances { "automatic balancing" } else { "no automatic balancing" };
            Some(Reading::look_unless(!balances, format!("{nodes} nodes, {balancing}")))
        }
    }
}

fn transparent_huge_pages(host: &HostFacts) -> Option<Reading> {
    let text = host.files.text("sys/kernel/mm/transparent_hugepage/enabled")?;
    let chosen = text.split_once('[')?.1.split_once(']')?.0;
    Some(Reading::look_unless(chosen != "always", chosen))
}

fn huge_pages(host: &HostFacts) -> Option<Reading> {
    let total = host.files.memory("HugePages_Total")?;
    let free = host.files.memory("HugePages_Free")?;
    let size = host.files.memory("Hugepagesize")?;
    if total == 0 {
        return Some(Reading::of(Fine, "none reserved"));
    }
    let gib = |pages: u64| pages.saturating_mul(size) as f64 / GIB as f64;
    let value = format!("{:.1} GiB reserved, {:.1} GiB free", gib(total), gib(free));
    Some(Reading::look_unless(free < total, value))
}

/// Memory of a server from which on huge pages matter, in bytes.
const LARGE_MEMORY: u64 = 8 * GIB;

fn server_huge_pages(host: &HostFacts) -> Option<Reading> {
    let memory = memory_of(&host.files, host.server.as_ref()?)?;
    let gib = |bytes: f64| bytes / GIB as f64;
    if memory.huge > 0.0 {
        return Some(Reading::of(Fine, format!("{:.1} GiB", gib(memory.huge))));
    }
    let value = format!("none, and {:.1} GiB in other pages", gib(memory.resident));
    Some(Reading::look_unless(memory.resident < LARGE_MEMORY as f64, value))
}

fn swappiness(host: &HostFacts) -> Option<Reading> {
    let swappiness = host.files.number("proc/sys/vm/swappiness")?;
    let swap = host.files.memory("SwapTotal")?;
    if swap == 0 {
        return Some(Reading::of(Fine, format!("{swappiness}, no swap")));
    }
    Some(Reading::look_unless(swappiness <= 10, swappiness.to_string()))
}

fn memory_available(host: &HostFacts) -> Option<Reading> {
    let total = host.files.memory("MemTotal").filter(|total| *total > 0)?;
    let available = host.files.memory("MemAvailable")?;
    let share = available as f64 / total as f64;
    let gib = |bytes: u64| bytes as f64 / GIB as f64;
    let value = format!("{:.1} of {:.1} GiB", gib(available), gib(total));
    Some(Reading::look_unless(share >= 0.1, value))
}

fn clock_source(host: &HostFacts) -> Option<Reading> {
    let folder = "sys/devices/system/clocksource/clocksource0";
    let source = host.files.text(&format!("{folder}/current_clocksource"))?;
    let verdict = match source.as_str() {
        "hpet" | "acpi_pm" | "jiffies" => Wrong,
        "xen" => Look,
        _ => Fine,
    };
    Some(Reading::of(verdict, source))
}

/// Programs that synchronize clocks, as the kernel shortens their names.
const CLOCK_PROGRAMS: [&str; 6] =
    ["chronyd", "ntpd", "openntpd", "phc2sys", "ptp4l", "systemd-timesyn"];

fn time_synchronization(host: &HostFacts) -> Option<Reading> {
    let files = &host.files;
    if files.exists("run/systemd/timesync/synchronized") {
        return Some(Reading::of(Fine, "synchronized (systemd-timesyncd)"));
    }
    let processes = files.names("proc").into_iter().filter(|name| name.parse::<u32>().is_ok());
    let mut programs = processes.filter_map(|id| files.text(&format!("proc/{id}/comm"))).peekable();
    programs.peek()?;
    match programs.find(|name| CLOCK_PROGRAMS.contains(&name.as_str())) {
        Some(name) => Some(Reading::of(Fine, format!("{name} runs"))),
        None => Some(Reading::of(Look, "no program that does this is running")),
    }
}

fn open_files(host: &HostFacts) -> Option<Reading> {
    let limits = host.files.text("proc/self/limits")?;
    let values = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    let soft = values.split_whitespace().next()?;
    let is_fine = soft == "unlimited" || soft.parse::<u64>().ok()? >= 4096;
    Some(Reading::look_unless(is_fine, soft))
}

fn local_ports(host: &HostFacts) -> Option<Reading> {
    let range = host.files.text("proc/sys/net/ipv4/ip_local_port_range")?;
    let mut ends = range.split_whitespace().map(str::parse::<u64>);
    let (first, last) = (ends.next()?.ok()?, ends.next()?.ok()?);
    let is_fine = last.saturating_add(1).saturating_sub(first) >= 16_000;
    Some(Reading::look_unless(is_fine, format!("{first} to {last}")))
}

fn somaxconn(host: &HostFacts) -> Option<Reading> {
    let number = host.files.number("proc/sys/net/core/somaxconn")?;
    Some(Reading::look_unless(number >= 512, number.to_string()))
}

fn host_load(host: &HostFacts) -> Option<Reading> {
    let text = host.files.text("proc/loadavg")?;
    let load: f64 = text.split_whitespace().next()?.parse().ok()?;
    if !(0.0..1e6).contains(&load) {
        return None;
    }
    let cores = host.files.numbered(CPU, "cpu").len();
    let cpus = counted(cores as u64, "CPUs");
    let value = format!("{load} tasks on {cpus} in the last minute");
    (cores > 0).then(|| Reading::look_unless(load <= 0.5 * cores as f64, value))
}

/// Whether this is a virtual machine; `None` if unknown: only x86 has the flag.
fn is_guest(files: &Files) -> Option<bool> {
    let text = files.text("proc/cpuinfo")?;
    let flags = text.lines().find(|line| line.starts_with("flags"))?;
    Some(flags.split_whitespace().any(|flag| flag == "hypervisor"))
}

fn virtualization(host: &HostFacts) -> Option<Reading> {
    let dmi = |file: &str| host.files.text(&format!("sys/class/dmi/id/{file}"));
    let names: Vec<_> = [dmi("sys_vendor"), dmi("product_name")].into_iter().flatten().collect();
    let is_guest = is_guest(&host.files)?;
    let value = match (is_guest, names.is_empty()) {
        (false, _) => "none".to_owned(),
        (true, true) => "virtual machine".to_owned(),
        (true, false) => format!("virtual machine ({})", names.join(", ")),
    };
    Some(Reading::look_unless(!is_guest, value))
}

/// Reads user, nice, system, idle, iowait, irq, softirq and steal ticks of all CPUs.
fn stolen(files: &Files) -> Option<Stolen> {
    let text = files.text("proc/stat")?;
    let ticks = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> =
        ticks.split_whitespace().take(8).map(str::parse).collect::<Result<_, _>>().ok()?;
    let of = ticks.iter().try_fold(0u64, |sum, ticks| sum.checked_add(*ticks))?;
    Some(Stolen { ticks: *ticks.get(7)?, of })
}

/// Fewest ticks that show the present; with fewer, the whole time since the start counts.
const TICKS_MIN: u64 = 100;

fn steal_time(host: &HostFacts) -> Option<Reading> {
    let (before, after) = (host.stolen_before?, host.stolen_after?);
    let (ticks, of) =
        (after.ticks.saturating_sub(before.ticks), after.of.saturating_sub(before.of));
    let (ticks, of, when) = if of >= TICKS_MIN {
        (ticks, of, "now")
    } else {
        (after.ticks, after.of, "since the start")
    };
    let share = if of > 0 { ticks as f64 / of as f64 } else { return None };
    let verdict = match share {
        share if share > 0.05 => Wrong,
        share if share > 0.01 => Look,
        _ => Fine,
    };
    Some(Reading::of(verdict, format!("{:.1} % {when}", share * 100.0)))
}

fn data_file_system(host: &HostFacts) -> Option<Reading> {
    let mount = host.mount()?;
    let unsafe_option = mount.options.iter().find(|o| *o == "nobarrier" || *o == "barrier=0");
    let verdict = match (mount.kind.as_str(), unsafe_option) {
        ("tmpfs" | "ramfs", _) | (_, Some(_)) => Wrong,
        (kind, _) if kind.starts_with("nfs") || kind.starts_with("fuse") => Look,
        ("overlay" | "cifs" | "9p" | "aufs", _) => Look,
        _ => Fine,
    };
    let option = unsafe_option.map(|option| format!(", {option}")).unwrap_or_default();
    Some(Reading::of(verdict, format!("{}{option} on {}", mount.kind, mount.point.display())))
}

fn data_disk_scheduler(host: &HostFacts) -> Option<Reading> {
    let mount = host.mount()?;
    let text = mount.disk(&host.files, "scheduler")?;
    let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    let chosen = chosen.map_or(text.as_str(), |(chosen, _)| chosen);
    // Virtual disks often claim to rotate.
    let rotates = mount.disk(&host.files, "rotational").as_deref() == Some("1")
        && is_guest(&host.files) != Some(true);
    let is_fine = !rotates && !matches!(chosen, "bfq" | "cfq");
    let disk = if rotates { ", rotating disk" } else { "" };
    Some(Reading::look_unless(is_fine, format!("{chosen}{disk}")))
}

fn data_disk_write_cache(host: &HostFacts) -> Option<Reading> {
    let cache = host.mount()?.disk(&host.files, "write_cache")?;
    Some(Reading::look_unless(cache == "write back", cache))
}
