//! Reads the facts about this host that its measurements are judged by.

use std::path::Path;

use triphammer_document::host::Host;
use triphammer_settings::files::Files;

use crate::topology::topology;

/// Reads the facts of this host.
#[must_use]
pub fn detect() -> Host {
    detect_under(Path::new("/"))
}

/// Reads the facts of a host from the files under `root`.
fn detect_under(root: &Path) -> Host {
    let read = |path: &str| std::fs::read_to_string(root.join(path)).ok();
    let line = |path: &str| read(path).map(|text| text.trim().to_owned()).filter(|t| !t.is_empty());
    let cores = std::thread::available_parallelism().ok();
    Host {
        cpu: read("proc/cpuinfo")
            .and_then(|text| cpu_model(&text))
            .or_else(|| line("sys/firmware/devicetree/base/model").map(|t| t.replace('\0', ""))),
        cores: cores.and_then(|cores| u32::try_from(cores.get()).ok()),
        memory_bytes: read("proc/meminfo").and_then(|text| memory_bytes(&text)),
        architecture: std::env::consts::ARCH.to_owned(),
        os: read("etc/os-release")
            .and_then(|text| os_name(&text))
            .unwrap_or_else(|| std::env::consts::OS.to_owned()),
        kernel: line("proc/sys/kernel/osrelease"),
        governor: line("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        topology: topology(&Files::under(root)),
    }
}

/// The field is `model name` on x86 and `cpu` on POWER; others have none.
fn cpu_model(cpuinfo: &str) -> Option<String> {
    let value = |key: &str| {
        cpuinfo.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            (name.trim() == key && !value.trim().is_empty()).then_some(value)
        })
    };
    let model = value("model name").or_else(|| value("cpu"))?;
    Some(model.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn memory_bytes(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

fn os_name(os_release: &str) -> Option<String> {
    let value = os_release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    let name = value.trim().trim_matches('"').trim();
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_linux_host_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("proc/cpuinfo", "processor\t: 0\nmodel name\t: Some  CPU @ 2.50GHz\ncpu MHz : 1\n");
        write("proc/meminfo", "MemTotal:        2048 kB\nMemFree: 1 kB\n");
        write("etc/os-release", "NAME=\"X\"\nPRETTY_NAME=\"Xonix 7\"\n");
        write("proc/sys/kernel/osrelease", "6.1.0\n");
        write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
        let host = detect_under(folder.path());
        assert_eq!(host.cpu.as_deref(), Some("Some CPU @ 2.50GHz"));
        assert_eq!(host.memory_bytes, Some(2048 * 1024));
        assert_eq!((host.os.as_str(), host.kernel.as_deref()), ("Xonix 7", Some("6.1.0")));
        assert_eq!(host.governor.as_deref(), Some("performance"));
        assert!(host.cores.is_some());
    }

    #[test]
    fn a_host_without_such_files_is_told_by_its_system() {
        let folder = tempfile::tempdir().unwrap();
        let host = detect_under(folder.path());
        assert_eq!((host.cpu, host.memory_bytes, host.kernel), (None, None, None));
        assert_eq!(host.os, std::env::consts::OS);
    }
}
