//! The document of `doctor --host-test`: what the host's processors, memory and disk can do. The
//! figures are declared once; report, page and store iterate the declarations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is declared about a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostFigureDef {
    /// Name in documents.
    pub name: &'static str,
    /// Title in reports.
    pub title: &'static str,
    /// Unit of the value.
    pub unit: &'static str,
    /// Whether more is better; `None` of what explains the others.
    pub more_is_better: Option<bool>,
}

const fn figure(
    [name, title, unit]: [&'static str; 3],
    more_is_better: Option<bool>,
) -> HostFigureDef {
    HostFigureDef { name, title, unit, more_is_better }
}

const MORE: Option<bool> = Some(true);
const LESS: Option<bool> = Some(false);

/// The figures, in the order of reports.
pub const HOST_FIGURES: &[HostFigureDef] = &[
    figure(["cpu_one", "CPU, one thread", "M steps/s"], MORE),
    figure(["cpu_one_ghz", "  its frequency", "GHz"], None),
    figure(["cpu_all", "CPU, all threads", "M steps/s"], MORE),
    figure(["cpu_all_ghz", "  their frequency", "GHz"], None),
    figure(["memory_bandwidth", "memory, triad", "GB/s"], MORE),
    figure(["memory_latency", "memory, latency", "ns"], LESS),
    figure(["disk_write", "disk, writing in order", "MB/s"], MORE),
    figure(["disk_read", "disk, reading in order", "MB/s"], MORE),
    figure(["disk_random_read", "disk, random reads, 1", "IOPS"], MORE),
    figure(["disk_random_reads", "disk, random reads, 16", "IOPS"], MORE),
    figure(["disk_random_write", "disk, random writes, 1", "IOPS"], MORE),
    figure(["disk_sync_p50", "disk, sync, median", "ms"], LESS),
    figure(["disk_sync_p99", "disk, sync, 99 %", "ms"], LESS),
];

/// A figure that was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostFigure {
    /// Name of the figure.
    pub name: String,
    /// The value.
    pub value: f64,
    /// Unit of the value.
    pub unit: String,
}

/// Where the test of the disk wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostTestDisk {
    /// Folder of its file.
    pub folder: String,
    /// Type of the file system and its mount point.
    pub file_system: String,
    /// Length of the file, in bytes.
    pub file_bytes: u64,
    /// Whether the kernel's cache was passed by; if not, reads come from memory.
    pub direct: bool,
}

/// What the host can do, beside earlier tests and other hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostTest {
    /// Length of the test, in seconds.
    pub seconds: f64,
    /// The machine.
    pub machine: HostTestMachine,
    /// Number of threads that worked at once in the tests of all threads.
    pub threads: u32,
    /// Length of each of the three arrays of the triad, in bytes, all threads together.
    pub array_bytes: u64,
    /// Length of the processors' largest caches together, in bytes; `None` if unknown.
    pub cache_bytes: Option<u64>,
    /// Where the file was; `None` if the disk was not tested.
    pub disk: Option<HostTestDisk>,
    /// What was measured, in the order of the declarations.
    pub figures: Vec<HostFigure>,
    /// Earlier tests of the same machine in the job store, the newest first.
    pub earlier: Vec<StoredHostTest>,
    /// Tests of other machines by the authors of this program.
    pub references: Vec<HostReference>,
}

/// A machine that was tested.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostTestMachine {
    /// Name of the host.
    pub host: String,
    /// Model of the processors; `None` if unknown.
    pub cpu: Option<String>,
    /// Number of logical CPUs; `None` if unknown.
    pub cpus: Option<u32>,
}

/// An earlier test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StoredHostTest {
    /// When it was made, RFC 3339, UTC.
    #[schemars(extend("format" = "date-time"))]
    pub at: String,
    /// The machine.
    pub machine: HostTestMachine,
    /// Type of the file system and its mount point; `None` if the disk was not tested.
    pub file_system: Option<String>,
    /// What was measured.
    pub figures: Vec<HostFigure>,
}

/// A test of another machine, to compare with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostReference {
    /// The machine, its disk, and when it was tested.
    pub machine: String,
    /// What was measured.
    pub figures: Vec<HostFigure>,
}

/// The value of a figure in a list.
#[must_use]
pub fn value_of(figures: &[HostFigure], name: &str) -> Option<f64> {
    figures.iter().find(|figure| figure.name == name).map(|figure| figure.value)
}

/// Share of an earlier figure below which a figure is worse, because noise rarely explains it.
const WORSE: f64 = 0.8;

impl HostTest {
    /// Figures that are much worse than the median of earlier tests of the machine: definition, value
    /// now, and that median. Figures of the disk count only on the same file system.
    #[must_use]
    pub fn worse(&self) -> Vec<(&'static HostFigureDef, f64, f64)> {
        let file_system = self.disk.as_ref().map(|disk| disk.file_system.as_str());
        let worse = HOST_FIGURES.iter().filter_map(|def| {
            let is_of_disk = def.name.starts_with("disk_");
            let alike =
                |test: &&StoredHostTest| !is_of_disk || test.file_system.as_deref() == file_system;
            let earlier = self.earlier.iter().filter(alike);
            let values = earlier.filter_map(|test| value_of(&test.figures, def.name));
            let before = median(values.collect())?;
            let now = value_of(&self.figures, def.name)?;
            let share = if def.more_is_better? { now / before } else { before / now };
            (share < WORSE).then_some((def, now, before))
        });
        worse.collect()
    }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(values: &[(&str, f64)]) -> Vec<HostFigure> {
        let figure = |(name, value): &(&str, f64)| HostFigure {
            name: (*name).to_owned(),
            value: *value,
            unit: String::new(),
        };
        values.iter().map(figure).collect()
    }

    fn machine() -> HostTestMachine {
        HostTestMachine { host: "db1".into(), cpu: None, cpus: Some(2) }
    }

    #[test]
    fn figures_much_worse_than_the_median_of_earlier_ones_are_named() {
        let earlier = |file_system: &str, cpu, sync| StoredHostTest {
            at: "2026-11-20T07:29:52Z".into(),
            machine: machine(),
            file_system: Some(file_system.into()),
            figures: figures(&[("cpu_one", cpu), ("cpu_one_ghz", 3.0), ("disk_sync_p50", sync)]),
        };
        let test = |file_system: &str| HostTest {
            seconds: 20.0,
            machine: machine(),
            threads: 2,
            array_bytes: 1,
            cache_bytes: None,
            disk: Some(HostTestDisk {
                folder: "/data".into(),
                file_system: file_system.into(),
                file_bytes: 1,
                direct: true,
            }),
            figures: figures(&[("cpu_one", 79.0), ("cpu_one_ghz", 1.0), ("disk_sync_p50", 1.3)]),
            // One of three was disturbed.
            earlier: [(100.0, 1.0), (40.0, 1.0), (101.0, 1.1)]
                .map(|(cpu, sync)| earlier("xfs on /data", cpu, sync))
                .to_vec(),
            references: Vec::new(),
        };
        let names = |test: HostTest| -> Vec<_> {
            test.worse().into_iter().map(|(def, now, before)| (def.name, now, before)).collect()
        };
        let expected = [("cpu_one", 79.0, 100.0), ("disk_sync_p50", 1.3, 1.0)];
        assert_eq!(names(test("xfs on /data")), expected);
        assert_eq!(names(test("ext4 on /")), expected[..1], "another disk");
    }
}
