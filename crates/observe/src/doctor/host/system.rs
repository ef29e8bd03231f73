//! The checks of the kernel and of what else runs: clocks, limits, other programs, the hypervisor.

use triphammer_document::doctor::Goal::{self, Comparable};
use triphammer_document::doctor::SetupVerdict::{Fine, Look, Wrong};
use triphammer_settings::files::Files;
use triphammer_settings::format::counted;

use super::{CPU, Check, HostFacts, KnobPlace, Reading, Stolen, check};
use crate::doctor::prove::Journal;
use crate::energy::rapl::Zone;

/// The checks, in the order of the report.
pub(super) const CHECKS: &[Check<HostFacts>] = &[
    check(
        "clock_source",
        Goal::BOTH,
        clock_source,
        "With a slow clock source, each time stamp costs a system call of several microseconds, in \
         the server and here.",
        "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource",
    )
    .costs(
        "36 ns per time stamp with tsc, 723 ns with acpi_pm (i7-860)",
        "PostgreSQL documentation, pg_test_timing",
        "https://www.postgresql.org/docs/9.6/pgtesttiming.html",
    )
    .set_in(
        "tsc",
        Some("hpet"),
        &[KnobPlace::of("sys/devices/system/clocksource/clocksource0/current_clocksource")],
    ),
    check(
        "time_synchronization",
        &[Comparable],
        time_synchronization,
        "Without it, this host's times cannot be compared with those in the server's logs.",
        "systemctl enable --now systemd-timesyncd, or install chrony",
    ),
    check(
        "open_files",
        Goal::BOTH,
        open_files,
        "Each session needs a file descriptor: with too few, users cannot connect.",
        "ulimit -n 65536, or LimitNOFILE= of the service",
    ),
    check(
        "local_ports",
        Goal::BOTH,
        local_ports,
        "Each TCP connection to one server needs a port, and keeps it for a minute after it closes: \
         runs that reconnect often run out of them.",
        "sysctl -w net.ipv4.ip_local_port_range='1024 65535'",
    ),
    check(
        "somaxconn",
        Goal::BOTH,
        somaxconn,
        "When many users connect at once, connections beyond the server's queue are retried after \
         a second or more.",
        "sysctl -w net.core.somaxconn=4096, and restart the server",
    ),
    check(
        "host_load",
        Goal::BOTH,
        host_load,
        "Other programs use the CPUs now: they take them from the run.",
        "stop them: top shows which",
    )
    .momentary(),
    check(
        "virtualization",
        &[Comparable],
        virtualization,
        "In a virtual machine, other guests share CPUs and disks, and settings of the host apply \
         that cannot be seen here.",
        "measure on a dedicated machine, or compare in pairs (compare --ab)",
    ),
    check(
        "steal_time",
        Goal::BOTH,
        steal_time,
        "The hypervisor gave this share of the CPU time to others: response times contain it.",
        "choose a dedicated instance, or repeat at another time",
    )
    .momentary(),
    check(
        "energy_counters",
        &[Comparable],
        energy_counters,
        "The energy of a run is read from these counters (RAPL). Linux lets only root read them, \
         because they tell other programs what the processor computes.",
        "run as root, or chmod o+r /sys/class/powercap/intel-rapl:*/energy_uj where nobody else uses \
         the host; it lasts until the next start",
    )
    // Whoever starts a run without it misses a figure, and no other figure is worse.
    .momentary(),
    check(
        "left_by_prove",
        Goal::BOTH,
        left_by_prove,
        "A doctor --prove was killed before it could restore this setting of the host.",
        "triphammer doctor --restore-host",
    ),
];

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
pub(super) fn is_guest(files: &Files) -> Option<bool> {
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
pub(super) fn stolen(files: &Files) -> Option<Stolen> {
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

fn left_by_prove(host: &HostFacts) -> Option<Reading> {
    if !host.files.path("proc/sys").is_dir() {
        return None;
    }
    Some(match Journal::left(&host.files) {
        Some(left) => Reading::of(Wrong, left.words()),
        None => Reading::of(Fine, "nothing"),
    })
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
