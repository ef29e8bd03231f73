//! What the server and the disks of this host have used up to a moment, for a query or a phase that is too short for
//! figures per second. It is read twice, outside of what is timed.

use triphammer_core::clock::process_cpu_ns;
use triphammer_core::session::ServerProcess;
use triphammer_document::usage::{Usage, UsageOf};
use triphammer_settings::files::Files;

use crate::host_metrics::{ProcessGroup, cpu_of, disk_bytes, group_of};

/// Reads what is used.
#[derive(Debug)]
pub struct HostUsage {
    files: Files,
    /// The server's processes; `None` if the database works in this process.
    server: Option<ProcessGroup>,
}

/// What was used up to a moment.
#[derive(Clone, Copy, Debug)]
pub struct Used {
    /// CPU seconds of the server, or of this process with the database.
    cpu_s: f64,
    /// CPU seconds of this process beside a server.
    client_cpu_s: Option<f64>,
    /// Bytes read from the disks, and written.
    disks: Option<[f64; 2]>,
}

impl HostUsage {
    /// Looks for a server's processes on this host; `None` if there are none, and the database does not work in this
    /// process.
    #[must_use]
    pub fn of(server: Option<ServerProcess>, is_in_process: bool) -> Option<Self> {
        Self::under(Files::of_this_host(), server, is_in_process)
    }

    fn under(files: Files, server: Option<ServerProcess>, is_in_process: bool) -> Option<Self> {
        if is_in_process {
            return Some(Self { files, server: None });
        }
        let server = group_of(&files, server?)?;
        Some(Self { files, server: Some(server) })
    }

    /// Whose CPU time it is.
    #[must_use]
    pub const fn whose(&self) -> UsageOf {
        if self.server.is_some() { UsageOf::Server } else { UsageOf::Process }
    }

    /// What was used so far; `None` if the server's processes are gone.
    #[must_use]
    pub fn now(&self) -> Option<Used> {
        #[expect(clippy::cast_precision_loss, reason = "nanoseconds of a process")]
        let own = process_cpu_ns() as f64 / 1e9;
        let (cpu_s, client_cpu_s) = match &self.server {
            Some(server) => (cpu_of(&self.files, server)?, Some(own)),
            None => (own, None),
        };
        Some(Used { cpu_s, client_cpu_s, disks: disk_bytes(&self.files) })
    }

    /// What was used since a moment; `None` if either moment is unknown, or the server was restarted meanwhile.
    #[must_use]
    pub fn since(&self, before: Option<Used>) -> Option<Usage> {
        let (before, now) = (before?, self.now()?);
        let cpu_s = now.cpu_s - before.cpu_s;
        let disks = now
            .disks
            .zip(before.disks)
            .map(|(now, before)| [now[0] - before[0], now[1] - before[1]]);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "bytes, at least 0"
        )]
        let bytes = |direction: usize| disks.map(|of| of[direction].max(0.0) as u64);
        (cpu_s >= 0.0).then(|| Usage {
            cpu_s,
            client_cpu_s: now
                .client_cpu_s
                .zip(before.client_cpu_s)
                .map(|(now, before)| now - before),
            read_bytes: bytes(0),
            written_bytes: bytes(1),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// A server with a session, whose first process has `ended` ticks of processes that ended.
    fn write(root: &Path, session: u32, ended: u32, sectors: u32) {
        let files = [
            ("proc/100/status", "Name:\tpostgres\nTgid:\t100\nPPid:\t1\n".to_owned()),
            (
                "proc/100/stat",
                format!("100 (postgres) S 1 1 1 0 -1 0 0 0 0 0 10 5 {ended} 0 20 0\n"),
            ),
            ("proc/100/task/100/children", "101".to_owned()),
            (
                "proc/101/stat",
                format!("101 (postgres) S 100 1 1 0 -1 0 0 0 0 0 {session} 0 0 0 20 0\n"),
            ),
            ("proc/101/status", "Name:\tpostgres\nTgid:\t101\nPPid:\t100\n".to_owned()),
            (
                "proc/diskstats",
                format!(
                    "8 0 sda 1 0 {sectors} 1 1 0 8 1 0 1 1\n253 0 dm-0 1 0 {sectors} 1 1 0 8 1 0 1 1\n"
                ),
            ),
            ("sys/class/block/dm-0/slaves/sda/size", "1".to_owned()),
        ];
        for (path, text) in files {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
    }

    #[test]
    fn workers_that_ended_count_and_disks_made_of_disks_do_not() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), 50, 7, 100);
        let server = ServerProcess { id: 101, names: &["postgres"] };
        let usage = HostUsage::under(Files::under(folder.path()), Some(server), false).unwrap();
        let before = usage.now();
        // A parallel worker used 200 ticks, and ended.
        write(folder.path(), 150, 207, 108);
        let used = usage.since(before).unwrap();
        assert!((used.cpu_s - 3.0).abs() < 1e-9, "{used:?}");
        assert_eq!((used.read_bytes, used.written_bytes), (Some(8 * 512), Some(0)));
        assert!(used.client_cpu_s.is_some() && usage.whose() == UsageOf::Server);
        write(folder.path(), 0, 0, 0);
        assert_eq!(usage.since(before), None, "the server was restarted");
        std::fs::remove_dir_all(folder.path().join("proc")).unwrap();
        assert_eq!(usage.since(before), None, "the server is gone");
    }

    #[test]
    fn a_server_elsewhere_has_no_usage_and_a_database_in_this_process_has_its_own() {
        assert!(HostUsage::of(None, false).is_none());
        let usage = HostUsage::of(None, true).unwrap();
        let before = usage.now();
        let used = usage.since(before).unwrap();
        assert!(
            used.cpu_s >= 0.0 && used.client_cpu_s.is_none() && usage.whose() == UsageOf::Process
        );
    }
}
