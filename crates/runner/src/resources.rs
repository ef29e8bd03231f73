//! Checks that this process has the memory and open files that a run needs. This is done first,
//! because a process that runs out of them later is killed, or takes down its host.

use std::path::Path;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use triphammer_core::spec::RunSpec;
use triphammer_core::{Database as _, SpecError};
use triphammer_drivers::AnyDatabase;
use triphammer_settings::failure::Failure;

/// Minimum memory of a session with its user: buffers, statements, generators.
const SESSION_BYTES: u64 = 16 * 1024;
/// Memory of a waiting terminal.
const TERMINAL_BYTES: u64 = 512;
/// Memory of a worker thread: histograms of a second, of the window and of the run.
const THREAD_BYTES: u64 = 4 * 1024 * 1024;
/// Open files of the process besides its sessions, and those per thread.
const FILES: u64 = 32;
const FILES_OF_THREAD: u64 = 8;
/// A file that can be opened.
const EMPTY_FILE: &str = if cfg!(windows) { "NUL" } else { "/dev/null" };

/// Fails early if not even the few files that every command needs can be opened: some libraries do
/// not handle that.
///
/// # Errors
/// With the message of the system.
pub fn check_process() -> Result<(), Failure> {
    files();
    let opened: std::io::Result<Vec<_>> =
        (0..FILES).map(|_| std::fs::File::open(EMPTY_FILE)).collect();
    opened.map(drop).map_err(|error| Failure::System {
        doing: format!("opening {FILES} files, which every command may need (see `ulimit -n`)"),
        error,
    })
}

/// Rejects a run that needs more than this process can have.
///
/// # Errors
/// Describes what is needed, what is available, and what to do.
pub fn check(spec: &RunSpec, database: &AnyDatabase) -> Result<(), SpecError> {
    check_memory(spec, available_bytes(Path::new("/")))?;
    let capabilities = database.capabilities();
    if capabilities.stores && !capabilities.blocks {
        check_files(spec, files())?;
    }
    Ok(())
}

fn check_memory(spec: &RunSpec, available: Option<u64>) -> Result<(), SpecError> {
    let (users, sessions) = (u64::from(spec.users), u64::from(spec.sessions()));
    let needed = sessions * SESSION_BYTES
        + users.saturating_sub(sessions) * TERMINAL_BYTES
        + u64::from(spec.threads) * THREAD_BYTES;
    match available {
        Some(available) if needed > available => Err(SpecError::new(format!(
            "{users} users on {sessions} sessions and {} threads need at least {} MiB of memory, \
             but only {} MiB are free; use fewer",
            spec.threads,
            needed >> 20,
            available >> 20
        ))),
        _ => Ok(()),
    }
}

fn check_files(spec: &RunSpec, most: Option<u64>) -> Result<(), SpecError> {
    let needed = u64::from(spec.sessions()) + FILES + u64::from(spec.threads) * FILES_OF_THREAD;
    match most {
        Some(most) if needed > most => Err(SpecError::new(format!(
            "{} sessions need about {needed} open files, but this process may open only {most}; \
             raise the limit with `ulimit -n`, or use fewer",
            spec.sessions()
        ))),
        _ => Ok(()),
    }
}

/// Maximum number of open files, after raising the soft limit to the hard limit.
fn files() -> Option<u64> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let all = Rlimit { current: maximum, maximum };
    // `None` means no limit.
    match setrlimit(Resource::Nofile, all) {
        Ok(()) => maximum,
        Err(_) => current,
    }
}

/// Memory available to this process, considering the host, its cgroup and its own limit, in bytes.
fn available_bytes(root: &Path) -> Option<u64> {
    let read = |path: &str| std::fs::read_to_string(root.join(path)).ok();
    let of_host = read("proc/meminfo").and_then(|text| kib(&text, "MemAvailable:"));
    let number = |path: &str| read(path)?.trim().parse::<u64>().ok();
    let group = number("sys/fs/cgroup/memory.max").zip(number("sys/fs/cgroup/memory.current"));
    let of_group = group.map(|(most, used)| most.saturating_sub(used));
    let used = read("proc/self/status").and_then(|text| kib(&text, "VmSize:")).unwrap_or(0);
    let own = getrlimit(Resource::As).current.map(|most| most.saturating_sub(used));
    [of_host, of_group, own].into_iter().flatten().min()
}

/// Reads a value from a file under `/proc`, in bytes.
fn kib(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use triphammer_core::pace::Load;
    use triphammer_core::session::Protocol;
    use triphammer_core::spec::{Length, LoginPolicy, Pacing, RetryPolicy, Sessions, TimeLimits};
    use triphammer_core::workload::Mode;

    fn spec(users: u32, sessions: Sessions, threads: u32) -> RunSpec {
        RunSpec {
            users,
            threads,
            rampup: std::time::Duration::ZERO,
            length: Length::Transactions(1),
            mode: Mode::Statements,
            protocol: Protocol::Prepared,
            pipelining: triphammer_core::session::Pipelining::Off,
            io: triphammer_core::io::Io::Epoll,
            isolation: None,
            load: Load::Closed,
            pacing: Pacing { sessions, ..Pacing::default() },
            seed: 1,
            retry: RetryPolicy::default(),
            limits: TimeLimits::default(),
            logins: LoginPolicy::default(),
            max_failures: 0.0,
        }
    }

    #[test]
    fn a_run_that_does_not_fit_is_refused_with_what_it_needs() {
        let gib = 1 << 30;
        assert_eq!(check_memory(&spec(50_000, Sessions::Own, 2), Some(gib)), Ok(()));
        assert_eq!(check_memory(&spec(100_000, Sessions::Own, 2), None), Ok(()));
        let error = check_memory(&spec(100_000, Sessions::Own, 2), Some(gib)).unwrap_err();
        assert!(
            error.to_string().contains("need at least 1570 MiB of memory, but only 1024 MiB"),
            "{error}"
        );
        let pool = spec(10_000_000, Sessions::Pool(64), 1);
        assert!(check_memory(&pool, Some(4 * gib)).is_err());
        assert_eq!(check_memory(&pool, Some(6 * gib)), Ok(()));
    }

    #[test]
    fn sessions_beyond_the_files_that_may_be_open_are_refused() {
        assert_eq!(check_files(&spec(900, Sessions::Own, 2), Some(1024)), Ok(()));
        assert_eq!(check_files(&spec(900, Sessions::Own, 2), None), Ok(()));
        let error = check_files(&spec(1000, Sessions::Own, 2), Some(1024)).unwrap_err().to_string();
        assert!(error.contains("1000 sessions need about 1048 open files"), "{error}");
    }

    #[test]
    fn what_is_free_is_the_least_of_host_group_and_limit() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:    4000 kB\n");
        assert_eq!(available_bytes(folder.path()), Some(4000 * 1024));
        write("sys/fs/cgroup/memory.max", "max\n");
        write("sys/fs/cgroup/memory.current", "1000\n");
        assert_eq!(available_bytes(folder.path()), Some(4000 * 1024));
        write("sys/fs/cgroup/memory.max", "3000\n");
        assert_eq!(available_bytes(folder.path()), Some(2000));
    }
}
