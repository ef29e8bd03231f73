//! Reads what Linux reports about CPUs and processes in `/proc`. Everything is optional: other
//! systems have no such folder, a container may hide processes, and old kernels do not count
//! run-queue waits.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::path::PathBuf;

use triphammer_core::recorder::HostCpu;

/// Maximum number of processes of a server that are read: beyond it, reading costs more than it is
/// worth.
const PROCESSES_MAX: usize = 10_000;

/// A tick of the CPU times of processes: 1/100 s on every architecture.
const TICK_NS: u64 = 10_000_000;

/// The folder: `/proc`, except in tests.
#[derive(Clone, Debug)]
pub(super) struct Procfs(PathBuf);

/// CPU time of a thread, and the time it waited in a run queue while it was ready, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TaskTime {
    pub cpu_ns: u64,
    pub wait_ns: u64,
}

/// Contents of `/proc/PID/status`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ProcessStatus {
    pub name: String,
    /// Process ID; the requested ID may be that of a thread.
    pub process: u32,
    pub parent: u32,
    /// CPUs that the process may use.
    pub cpus: Vec<u32>,
}

/// Ticks of the host's CPUs: in total, and for each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HostCpus {
    pub all: HostCpu,
    pub each: BTreeMap<u32, HostCpu>,
}

impl Procfs {
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self(root.into())
    }

    fn read(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.0.join(path)).ok()
    }

    /// Ticks of the host's CPUs. Within a container this is still the whole host, which a server on
    /// the same host shares with the client.
    pub fn cpus(&self) -> Option<HostCpus> {
        parse_stat(&self.read("stat")?)
    }

    /// Time in which at least one task of the host waited for a CPU, in microseconds.
    pub fn pressure_us(&self) -> Option<u64> {
        let text = self.read("pressure/cpu")?;
        let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
        some.split_whitespace().find_map(|word| word.strip_prefix("total="))?.parse().ok()
    }

    /// Status of a process, or of the process that a thread belongs to.
    pub fn status(&self, id: &str) -> Option<ProcessStatus> {
        parse_status(&self.read(&format!("{id}/status"))?)
    }

    /// CPU time of the ended children of a process, in nanoseconds; in steps of 10 ms.
    pub fn ended_children_ns(&self, process: u32) -> Option<u64> {
        parse_ended_children(&self.read(&format!("{process}/stat"))?)
    }

    /// Niceness of this process: from -20 (highest priority) to 19.
    pub fn niceness(&self) -> Option<i32> {
        let stat = self.read("self/stat")?;
        // The name may contain spaces and brackets; what follows its last bracket does not.
        let (_, fields) = stat.rsplit_once(')')?;
        fields.split_whitespace().nth(16)?.parse().ok()
    }

    /// Running processes that `parent` started.
    pub fn children(&self, parent: u32) -> Vec<u32> {
        let listed = self.read(&format!("{parent}/task/{parent}/children"));
        let mut children: Vec<u32> = match listed {
            Some(listed) => listed.split_whitespace().filter_map(|id| id.parse().ok()).collect(),
            None => self.search_children(parent),
        };
        children.truncate(PROCESSES_MAX);
        children
    }

    /// Fallback for kernels that do not list children.
    fn search_children(&self, parent: u32) -> Vec<u32> {
        self.numbers("")
            .into_iter()
            .filter(|id| self.status(&id.to_string()).is_some_and(|found| found.parent == parent))
            .collect()
    }

    /// Ids of a process's threads.
    pub fn threads(&self, process: u32) -> Vec<u32> {
        self.numbers(&format!("{process}/task"))
    }

    fn numbers(&self, path: &str) -> Vec<u32> {
        let Ok(entries) = std::fs::read_dir(self.0.join(path)) else { return Vec::new() };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        names.filter_map(|name| name.parse().ok()).take(PROCESSES_MAX).collect()
    }

    /// CPU and waiting time of a thread.
    pub fn times(&self, thread: u32) -> Option<TaskTime> {
        parse_schedstat(&self.read(&format!("{thread}/schedstat"))?)
    }
}

/// How long the calling thread has waited for a CPU. The file stays open, so a reading costs about
/// a microsecond.
#[derive(Debug)]
pub(super) struct ThreadWaits {
    file: Option<File>,
    last: Cell<u64>,
}

impl ThreadWaits {
    pub fn open() -> Self {
        Self { file: File::open("/proc/thread-self/schedstat").ok(), last: Cell::default() }
    }

    /// Nanoseconds since the last call; `None` where the kernel does not count them.
    pub fn since_last(&self) -> Option<u64> {
        let mut file = self.file.as_ref()?;
        let mut text = String::new();
        file.rewind().ok()?;
        file.read_to_string(&mut text).ok()?;
        let now = parse_schedstat(&text)?.wait_ns;
        Some(now.saturating_sub(self.last.replace(now)))
    }
}

/// Parses time on a CPU, time in a run queue, and the number of time slices. A kernel that does not
/// count gives zeros.
fn parse_schedstat(text: &str) -> Option<TaskTime> {
    let mut fields = text.split_whitespace().map(str::parse::<u64>);
    let (cpu_ns, wait_ns) = (fields.next()?.ok()?, fields.next()?.ok()?);
    let runs = fields.next()?.ok()?;
    (runs > 0).then_some(TaskTime { cpu_ns, wait_ns })
}

fn parse_stat(stat: &str) -> Option<HostCpus> {
    let mut cpus = HostCpus::default();
    for line in stat.lines() {
        let Some((name, ticks)) = line.split_once(' ') else { continue };
        match name.strip_prefix("cpu") {
            Some("") => cpus.all = parse_ticks(ticks)?,
            Some(number) => {
                cpus.each.insert(number.parse().ok()?, parse_ticks(ticks)?);
            }
            None => break,
        }
    }
    (cpus.all.total > 0).then_some(cpus)
}

/// Parses user, nice, system, idle, iowait, irq, softirq and steal ticks; guest time is included in
/// user.
fn parse_ticks(ticks: &str) -> Option<HostCpu> {
    let ticks: Vec<u64> =
        ticks.split_whitespace().take(8).map(str::parse).collect::<Result<_, _>>().ok()?;
    let idle = ticks.get(3)? + ticks.get(4).copied().unwrap_or(0);
    let total: u64 = ticks.iter().sum();
    Some(HostCpu { busy: total - idle, total })
}

/// Parses the CPU time of ended children, in user and in system mode, from a process's `stat`.
fn parse_ended_children(stat: &str) -> Option<u64> {
    // The name may contain spaces and brackets; what follows its last bracket does not.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut ticks = fields.split_whitespace().skip(13).map(str::parse::<u64>);
    let (user, system) = (ticks.next()?.ok()?, ticks.next()?.ok()?);
    Some((user + system) * TICK_NS)
}

fn parse_status(text: &str) -> Option<ProcessStatus> {
    let field = |name: &str| {
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        value.map(str::trim)
    };
    Some(ProcessStatus {
        name: field("Name")?.to_owned(),
        process: field("Tgid")?.parse().ok()?,
        parent: field("PPid")?.parse().ok()?,
        cpus: parse_list(field("Cpus_allowed_list")?)?,
    })
}

/// Parses a CPU list such as `0-3,8,10-11`.
fn parse_list(text: &str) -> Option<Vec<u32>> {
    let mut cpus = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        cpus.extend(first.parse::<u32>().ok()?..=last.parse().ok()?);
    }
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_for_a_disk_is_idle_and_a_stolen_cpu_is_not() {
        let text = "cpu  100 10 50 700 40 5 15 80 33 0\ncpu0 1 2 3 4 5 6 7 8 9 10\nintr 1\n";
        let cpus = parse_stat(text).unwrap();
        assert_eq!(cpus.all, HostCpu { busy: 260, total: 1000 });
        assert_eq!(cpus.each, BTreeMap::from([(0, HostCpu { busy: 27, total: 36 })]));
        for text in ["", "cpu0 1 2 3 4", "cpu  1 2 x 4", "cpu  1 2 3"] {
            assert_eq!(parse_stat(text), None, "{text}");
        }
    }

    #[test]
    fn the_time_of_ended_children_is_read_behind_any_name() {
        let stat = "7 (post) gres) S 1 7 7 0 -1 4194560 9 8 0 0 11 12 130 20 20 0 1 0 99 0 0";
        assert_eq!(parse_ended_children(stat), Some(1_500_000_000));
        assert_eq!(parse_ended_children("7 (postgres) S 1 7"), None);
    }

    #[test]
    fn lists_of_cpus_are_read_and_nonsense_is_not() {
        assert_eq!(parse_list("0-3,8,10-11"), Some(vec![0, 1, 2, 3, 8, 10, 11]));
        assert_eq!(parse_list("5"), Some(vec![5]));
        for text in ["", "a", "1-", "1,,2"] {
            assert_eq!(parse_list(text), None, "{text}");
        }
    }

    #[test]
    fn a_kernel_that_does_not_count_waits_is_not_taken_for_one_without_waits() {
        let time = TaskTime { cpu_ns: 579_432, wait_ns: 70_114 };
        assert_eq!(parse_schedstat("579432 70114 2\n"), Some(time));
        for text in ["0 0 0\n", "", "1 2", "a b c"] {
            assert_eq!(parse_schedstat(text), None, "{text}");
        }
    }
}
