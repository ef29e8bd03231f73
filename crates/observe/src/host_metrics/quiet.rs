//! Whether this host is quiet between two runs: its background work has ended.

use triphammer_settings::files::Files;

use super::linux;
use super::snapshot::{CpuTimes, Snapshot};

/// Share of the CPUs below which a host is quiet.
const CPU_MAX: f64 = 0.05;
/// Share of the time in which a disk may work.
const DISK_MAX: f64 = 0.05;
/// Number of consecutive quiet looks that show it: a checkpoint writes with pauses.
const LOOKS: u32 = 3;

/// Looks at this host, about once per second.
#[derive(Debug)]
pub struct QuietHost {
    files: Files,
    last: Snapshot,
    looks: u32,
}

impl QuietHost {
    /// Begins to look.
    pub fn begin() -> Self {
        let files = Files::of_this_host();
        let last = linux::read(&files, &[]);
        Self { files, last, looks: 0 }
    }

    /// Looks again, so many seconds later. True if the host was quiet in the last looks; false where
    /// it does not show its CPUs.
    pub fn look(&mut self, seconds: f64) -> bool {
        let now = linux::read(&self.files, &[]);
        let is_quiet = is_quiet(&self.last, &now, seconds);
        self.looks = if is_quiet { self.looks + 1 } else { 0 };
        self.last = now;
        self.looks >= LOOKS
    }
}

fn is_quiet(before: &Snapshot, now: &Snapshot, seconds: f64) -> bool {
    let busy = |of: &Snapshot| of.cpus.values().map(busy).sum::<f64>();
    let all = |of: &Snapshot| of.cpus.values().flatten().sum::<f64>();
    let passed = all(now) - all(before);
    let cpus = (busy(now) - busy(before)) / passed;
    let disks = now.disks.iter().filter_map(|(name, disk)| {
        let then = before.disks.get(name)?;
        Some((disk.busy - then.busy) / seconds)
    });
    passed > 0.0 && cpus <= CPU_MAX && disks.fold(0.0, f64::max) <= DISK_MAX
}

/// Seconds of a CPU that are neither idle nor waiting for a disk.
fn busy(cpu: &CpuTimes) -> f64 {
    let [user, nice, system, _idle, _wait, hard, soft, steal] = cpu;
    user + nice + system + hard + soft + steal
}

#[cfg(test)]
mod tests {
    use super::super::snapshot::Disk;
    use super::*;

    fn host(busy: f64, idle: f64, disk: f64) -> Snapshot {
        let disk = Disk { busy: disk, ..Disk::default() };
        Snapshot {
            cpus: [(0, [busy, 0.0, 0.0, idle, 0.0, 0.0, 0.0, 0.0])].into(),
            disks: [("sda".to_owned(), disk)].into(),
            ..Snapshot::default()
        }
    }

    #[test]
    fn a_host_is_quiet_when_neither_cpus_nor_disks_work() {
        let before = host(10.0, 100.0, 5.0);
        assert!(is_quiet(&before, &host(10.02, 100.98, 5.01), 1.0));
        assert!(!is_quiet(&before, &host(10.2, 100.8, 5.01), 1.0), "CPU");
        assert!(!is_quiet(&before, &host(10.02, 100.98, 5.3), 1.0), "disk");
        assert!(!is_quiet(&Snapshot::default(), &Snapshot::default(), 1.0), "unknown");
    }
}
