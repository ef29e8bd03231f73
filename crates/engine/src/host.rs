//! Measurements of a run's host: how busy its CPUs were, which processes used them, and how long
//! ready tasks waited for one. CPU time is attributed to this process, to the server's processes if
//! they run on this host, or else to others.
//!
//! Utilisation shows which process used a CPU; only waiting shows which one needed more of it. That
//! is why the scheduler's count of the time that tasks spent ready in a run queue is read.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};

use triphammer_core::clock::{Clock, Elapsed, process_cpu_ns};
use triphammer_core::recorder::{CpuRoom, HostCpu, HostUse, ServerUse};
use triphammer_core::session::ServerProcess;

use super::procfs::{HostCpus, ProcessStatus, Procfs, TaskTime};

/// Directory in which Linux reports on processes; other systems have none, and nothing is measured
/// there.
const PROC: &str = "/proc";
/// The server's tasks are read again after this many times the duration of the last reading, so
/// that even thousands of them cost at most 1 % of one CPU.
const REST: u64 = 100;

/// Runs in progress in this process, whose CPU times cannot be separated.
static RUNS: AtomicU32 = AtomicU32::new(0);

/// Counts a run for as long as the value lives.
#[derive(Debug)]
struct RunCount;

impl RunCount {
    fn new() -> Self {
        RUNS.fetch_add(1, Ordering::Relaxed);
        Self
    }
}

impl Drop for RunCount {
    fn drop(&mut self) {
        RUNS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Measures the host between two calls.
#[derive(Debug)]
pub(super) struct HostMeter {
    proc: Procfs,
    clock: Clock,
    last: Reading,
    server: Option<ServerMeter>,
    client: Option<ProcessStatus>,
    niceness: Option<i32>,
    _count: RunCount,
}

#[derive(Clone, Debug, Default)]
struct Reading {
    at: Elapsed,
    cpus: Option<HostCpus>,
    pressure_us: Option<u64>,
    process_cpu_ns: u64,
}

impl HostMeter {
    pub fn start() -> Self {
        Self::at(Procfs::new(PROC))
    }

    fn at(proc: Procfs) -> Self {
        let clock = Clock::start();
        let mut meter = Self {
            client: proc.status("self"),
            niceness: proc.niceness(),
            proc,
            clock,
            last: Reading::default(),
            server: None,
            _count: RunCount::new(),
        };
        meter.last = meter.read();
        meter
    }

    /// Watches the server's process, as reported by one of its sessions. Measures nothing if the id
    /// belongs to another process because the server runs in a container with its own process ids.
    pub fn watch(&mut self, server: ServerProcess) {
        self.server = ServerMeter::new(&self.proc, server);
    }

    fn read(&self) -> Reading {
        Reading {
            at: self.clock.now(),
            cpus: self.proc.cpus(),
            pressure_us: self.proc.pressure_us(),
            process_cpu_ns: process_cpu_ns(),
        }
    }

    /// Returns the measurements since the last call; `host` is zero if it cannot be read.
    pub fn since_last(&mut self) -> (HostCpu, HostUse) {
        let now = self.read();
        let before = std::mem::replace(&mut self.last, now.clone());
        let between = |later: Option<u64>, earlier: Option<u64>| later?.checked_sub(earlier?);
        let passed = passed(now.cpus.as_ref(), before.cpus.as_ref());
        let room = |of: &Option<ProcessStatus>| {
            let allowed = of.as_ref().map(|status| status.cpus.as_slice());
            passed.as_ref().zip(allowed).map(|(cpus, allowed)| room(cpus, allowed))
        };
        let server_status = self.server.as_ref().map(|server| server.status.clone());
        let used = HostUse {
            wall_ns: now.at.since(before.at),
            process_cpu_ns: now.process_cpu_ns.saturating_sub(before.process_cpu_ns),
            is_alone: RUNS.load(Ordering::Relaxed) <= 1,
            pressure_ns: between(now.pressure_us, before.pressure_us).map(|us| us * 1000),
            cpus: passed.as_ref().map_or(0, |cpus| count(cpus.each.len())),
            niceness: self.niceness.unwrap_or(0),
            client_room: room(&self.client),
            server_room: room(&server_status),
            server: self.server.as_mut().and_then(|server| server.since_last(&self.proc, now.at)),
        };
        (passed.map_or_else(HostCpu::default, |cpus| cpus.all), used)
    }
}

/// Use of all CPUs between two readings.
fn passed(now: Option<&HostCpus>, before: Option<&HostCpus>) -> Option<HostCpus> {
    let (now, before) = (now?, before?);
    let since = |now: HostCpu, before: HostCpu| HostCpu {
        busy: now.busy.saturating_sub(before.busy),
        total: now.total.saturating_sub(before.total),
    };
    let each = now.each.iter().filter_map(|(number, now)| {
        before.each.get(number).map(|before| (*number, since(*now, *before)))
    });
    Some(HostCpus { all: since(now.all, before.all), each: each.collect() })
}

/// Use of the CPUs that a process may use. The list may contain CPUs that the host does not have.
fn room(cpus: &HostCpus, allowed: &[u32]) -> CpuRoom {
    let of_them = allowed.iter().filter_map(|number| cpus.each.get(number));
    let mut room = CpuRoom::default();
    for cpu in of_them {
        room.cpus += 1;
        room.used.busy += cpu.busy;
        room.used.total += cpu.total;
    }
    room
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Reads the processes or the threads of the server.
#[derive(Debug)]
struct ServerMeter {
    /// Status of its first process.
    status: ProcessStatus,
    /// Whether each session is a process rather than a thread.
    of_processes: bool,
    last: Option<HashMap<u32, TaskTime>>,
    /// CPU time of the processes that have ended; `None` if that is unknown.
    ended_ns: Option<u64>,
    last_at: Elapsed,
    took_ns: u64,
}

impl ServerMeter {
    fn new(proc: &Procfs, server: ServerProcess) -> Option<Self> {
        let by_name = |id: u32| {
            let status = proc.status(&id.to_string())?;
            server.names.contains(&status.name.as_str()).then_some(status)
        };
        let session = proc.status(&server.id.to_string())?;
        // A thread may have its own name.
        let process = by_name(session.process)?;
        let parent = by_name(process.parent);
        let of_processes = parent.is_some();
        let status = parent.unwrap_or(process);
        let at = Elapsed::default();
        Some(Self { status, of_processes, last: None, ended_ns: None, last_at: at, took_ns: 0 })
    }

    /// Use by the tasks since the last reading; `None` at the first reading, when it is too early
    /// to read again, and when nothing can be read.
    fn since_last(&mut self, proc: &Procfs, now: Elapsed) -> Option<ServerUse> {
        let wall_ns = now.since(self.last_at);
        if self.last.is_some() && wall_ns < self.took_ns.saturating_mul(REST) {
            return None;
        }
        let clock = Clock::start();
        let tasks = self.tasks(proc);
        let ended_ns =
            self.of_processes.then(|| proc.ended_children_ns(self.status.process)).flatten();
        let ended_before = std::mem::replace(&mut self.ended_ns, ended_ns);
        self.took_ns = clock.now().0;
        self.last_at = now;
        let before = self.last.replace(tasks)?;
        let tasks = self.last.as_ref().filter(|tasks| !tasks.is_empty())?;
        let mut used = ServerUse { wall_ns, ..ServerUse::default() };
        for (task, time) in tasks {
            // A new task began at zero.
            let before = before.get(task).copied().unwrap_or_default();
            used.cpu_ns += time.cpu_ns.saturating_sub(before.cpu_ns);
            used.wait_ns += time.wait_ns.saturating_sub(before.wait_ns);
        }
        // Sessions that began and ended between two readings are only among these.
        if let (Some(ended), Some(ended_before)) = (ended_ns, ended_before) {
            let sum =
                |of: &HashMap<u32, TaskTime>| of.values().map(|time| time.cpu_ns).sum::<u64>();
            let known = ended_before + sum(&before);
            used.cpu_ns = used.cpu_ns.max((ended + sum(tasks)).saturating_sub(known));
        }
        Some(used)
    }

    fn tasks(&self, proc: &Procfs) -> HashMap<u32, TaskTime> {
        let server = self.status.process;
        let ids = match self.of_processes {
            true => [vec![server], proc.children(server)].concat(),
            false => proc.threads(server),
        };
        ids.into_iter().filter_map(|id| Some((id, proc.times(id)?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    const NAMES: &[&str] = &["postgres"];

    fn write(root: &Path, path: &str, text: &str) {
        let file = root.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn process(root: &Path, id: u32, parent: u32, name: &str, cpus: &str) {
        let status =
            format!("Name:\t{name}\nTgid:\t{id}\nPPid:\t{parent}\nCpus_allowed_list:\t{cpus}\n");
        write(root, &format!("{id}/status"), &status);
    }

    /// Two CPUs, a server pinned to the second, whose sessions are the processes 101 and 102.
    fn host(root: &Path) {
        write(root, "stat", "cpu  10 0 0 90 0 0 0 0\ncpu0 4 0 0 46\ncpu1 6 0 0 44\nctxt 1\n");
        write(root, "pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000\n");
        write(root, "self/status", "Name:\tth\nTgid:\t7\nPPid:\t1\nCpus_allowed_list:\t0-1\n");
        write(root, "self/stat", "7 (t (h) R 1 7 7 0 -1 0 9 0 0 0 0 0 0 0 39 19 1 0 9\n");
        process(root, 100, 1, "postgres", "1");
        process(root, 101, 100, "postgres", "1");
        process(root, 102, 100, "postgres", "1");
        write(root, "100/task/100/children", "101 102 ");
        write(root, "101/schedstat", "1000 50 3\n");
        write(root, "102/schedstat", "2000 60 3\n");
    }

    fn meter(root: &Path, id: u32) -> HostMeter {
        let mut meter = HostMeter::at(Procfs::new(root));
        meter.watch(ServerProcess { id, names: NAMES });
        meter
    }

    #[test]
    fn cpu_and_waits_go_to_those_who_had_them() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        host(root);
        let mut meter = meter(root, 102);
        let (_, first) = meter.since_last();
        assert_eq!(first.server, None, "there was nothing to compare with");
        write(root, "stat", "cpu  110 0 0 190 0 0 0 0\ncpu0 14 0 0 136\ncpu1 96 0 0 54\n");
        write(root, "pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=251000\n");
        write(root, "100/task/100/children", "101 103 ");
        write(root, "101/schedstat", "1500 350 4\n");
        write(root, "103/schedstat", "700 70 1\n");
        meter.server.as_mut().unwrap().took_ns = 0;
        let (host, used) = meter.since_last();
        assert_eq!(host, HostCpu { busy: 100, total: 200 });
        let server = used.server.unwrap();
        assert_eq!((server.cpu_ns, server.wait_ns), (500 + 700, 300 + 70));
        assert_eq!((used.pressure_ns, used.niceness, used.cpus), (Some(250_000_000), 19, 2));
        assert_eq!(used.client_room.map(|room| room.cpus), Some(2));
        let pinned = CpuRoom { cpus: 1, used: HostCpu { busy: 90, total: 100 } };
        assert_eq!(used.server_room, Some(pinned));
    }

    #[test]
    fn children_are_found_where_the_kernel_lists_none() {
        let folder = tempfile::tempdir().unwrap();
        host(folder.path());
        fs::remove_dir_all(folder.path().join("100/task")).unwrap();
        let mut children = Procfs::new(folder.path()).children(100);
        children.sort_unstable();
        assert_eq!(children, [101, 102]);
    }

    #[test]
    fn threads_of_one_process_are_a_server_too() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        host(root);
        process(root, 200, 1, "mariadbd", "0-1");
        let thread = "Name:\tconnection\nTgid:\t200\nPPid:\t1\nCpus_allowed_list:\t0-1\n";
        write(root, "201/status", thread);
        for (id, times) in [(200, "10 1 1"), (201, "20 2 1")] {
            write(root, &format!("200/task/{id}/comm"), "");
            write(root, &format!("{id}/schedstat"), times);
        }
        let proc = Procfs::new(root);
        let server = ServerProcess { id: 201, names: &["mysqld", "mariadbd"] };
        let mut meter = ServerMeter::new(&proc, server).unwrap();
        assert!(!meter.of_processes);
        meter.since_last(&proc, Elapsed(1));
        write(root, "201/schedstat", "520 32 9");
        meter.took_ns = 0;
        let used = meter.since_last(&proc, Elapsed(1_000_001)).unwrap();
        assert_eq!(used, ServerUse { wall_ns: 1_000_000, cpu_ns: 500, wait_ns: 30 });
    }

    #[test]
    fn a_process_of_another_name_is_not_the_server() {
        let folder = tempfile::tempdir().unwrap();
        host(folder.path());
        process(folder.path(), 55, 1, "bash", "0-1");
        for id in [55, 999] {
            assert!(meter(folder.path(), id).server.is_none(), "{id}");
        }
    }

    #[test]
    fn a_reading_that_took_long_is_not_made_again_at_once() {
        let folder = tempfile::tempdir().unwrap();
        host(folder.path());
        let proc = Procfs::new(folder.path());
        let mut meter = ServerMeter::new(&proc, ServerProcess { id: 101, names: NAMES }).unwrap();
        meter.since_last(&proc, Elapsed::at_second(1));
        meter.took_ns = 20_000_000;
        assert_eq!(meter.since_last(&proc, Elapsed::at_second(2)), None);
        let both = meter.since_last(&proc, Elapsed::at_second(3)).unwrap();
        assert_eq!(both.wall_ns, 2_000_000_000);
    }

    #[test]
    fn a_system_without_the_folder_measures_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut meter = meter(folder.path(), 101);
        let (host, used) = meter.since_last();
        assert_eq!((host, used.server, used.client_room), (HostCpu::default(), None, None));
        assert_eq!((used.pressure_ns, used.server_room, used.cpus), (None, None, 0));
    }

    #[test]
    fn the_real_folder_is_read() {
        let mut meter = HostMeter::start();
        let (all, used) = meter.since_last();
        assert_eq!(all.total > 0 || used.cpus > 0, cfg!(target_os = "linux"));
        assert_eq!(used.client_room.is_some(), cfg!(target_os = "linux"));
    }
}
