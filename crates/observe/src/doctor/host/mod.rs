//! The checks of this host: one declaration each, with the goals that it serves, what it was measured
//! to be worth, and the function that reads its fact.

mod cpu;
mod data;
mod disk;
mod memory;
mod system;

use std::path::{Path, PathBuf};

use triphammer_core::session::ServerProcess;
use triphammer_document::doctor::{Goal, Group};
use triphammer_settings::files::Files;

use super::check::{Change, Check, CheckDeclaration, KnobPlace, Reading};
use crate::energy::rapl::Powercap;
use crate::host_metrics::{ProcessGroup, group_of};
use disk::{Mount, mount_of};
use system::stolen;

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

    /// The files in which the host describes itself.
    pub const fn files(&self) -> &Files {
        &self.files
    }

    /// The file system of the database's data.
    pub fn mount(&self) -> Option<Mount> {
        mount_of(&self.files, self.data.as_ref()?)
    }

    /// The file system of a path.
    pub fn mount_of(&self, path: &Path) -> Option<Mount> {
        mount_of(&self.files, path)
    }
}

const fn check(
    name: &'static str,
    goals: &'static [Goal],
    read: fn(&HostFacts) -> Option<Reading>,
    why: &'static str,
    change: &'static str,
) -> Check<HostFacts> {
    let (group, cost, change, knob) = (Group::Host, None, Change::One(change), None);
    let declared = CheckDeclaration { name, group, goals, why, cost, change, knob };
    Check { declared, read, is_momentary: false }
}

/// A check of what serves one goal at the cost of the other.
const fn opposite(
    name: &'static str,
    read: fn(&HostFacts) -> Option<Reading>,
    why: &'static str,
    speed: &'static str,
    comparable: &'static str,
) -> Check<HostFacts> {
    let (group, goals, cost, knob) = (Group::Host, Goal::BOTH, None, None);
    let change = Change::Opposite { speed, comparable };
    let declared = CheckDeclaration { name, group, goals, why, cost, change, knob };
    Check { declared, read, is_momentary: false }
}

/// The checks of any host, in the order of the report.
pub(super) fn checks() -> impl Iterator<Item = &'static Check<HostFacts>> {
    cpu::CHECKS.iter().chain(memory::CHECKS).chain(system::CHECKS)
}

/// The checks of the file system and the disks with the database's data.
pub(super) fn data_checks() -> impl Iterator<Item = &'static Check<HostFacts>> {
    data::CHECKS.iter()
}

/// The checks of the server's processes.
pub(super) fn server_checks() -> impl Iterator<Item = &'static Check<HostFacts>> {
    memory::SERVER_CHECKS.iter()
}
