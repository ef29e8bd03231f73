//! The file system under a path, and the arrays and disks below it, from `/proc/self/mountinfo` and
//! `/sys`.

use std::path::{Path, PathBuf};

use triphammer_settings::files::Files;
use triphammer_settings::format::{bytes, counted};

/// Maximum depth of devices on devices: encryption on a volume on an array.
const DEPTH_MAX: usize = 8;
/// Maximum number of devices below a file system.
const DEVICES_MAX: usize = 256;
/// The unit in which the kernel counts places on disks, in bytes.
const BLOCK: u64 = 512;

/// A mounted file system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mount {
    /// Folder where it is mounted.
    pub point: PathBuf,
    /// Type of the file system: `ext4`.
    pub kind: String,
    /// Options of the mount and of the file system.
    pub options: Vec<String>,
    /// `major:minor` of the device.
    device: String,
    /// The device, or what stands for it.
    source: String,
}

/// The file system that a path lies on.
pub(super) fn mount_of(files: &Files, path: &Path) -> Option<Mount> {
    let table = files.text("proc/self/mountinfo")?;
    let mounts = table.lines().filter_map(parse);
    // A later mount on the same folder covers the earlier one.
    mounts
        .filter(|mount| path.starts_with(&mount.point))
        .max_by_key(|mount| mount.point.components().count())
}

/// Reads `36 35 98:0 /root /mnt rw,noatime master:1 - ext3 /dev/sda rw,errors=continue`.
fn parse(line: &str) -> Option<Mount> {
    let (mount, system) = line.split_once(" - ")?;
    let mount: Vec<&str> = mount.split(' ').collect();
    let mut system = system.split(' ');
    let (kind, source) = (system.next()?.to_owned(), system.next()?.to_owned());
    let options = mount.get(5)?.split(',').chain(system.next().unwrap_or_default().split(','));
    Some(Mount {
        point: PathBuf::from(mount.get(4)?.replace("\\040", " ")),
        kind,
        options: options.filter(|option| !option.is_empty()).map(str::to_owned).collect(),
        device: (*mount.get(2)?).to_owned(),
        source,
    })
}

impl Mount {
    /// `ext4 on /data`.
    pub fn words(&self) -> String {
        format!("{} on {}", self.kind, self.point.display())
    }

    /// The device in `/sys`; `None` if the file system is on no device of this host.
    fn device(&self, files: &Files) -> Option<String> {
        let by_number = format!("sys/dev/block/{}", self.device);
        let by_name = format!("sys/class/block/{}", self.source.rsplit('/').next()?);
        [by_number, by_name].into_iter().find(|folder| files.exists(folder))
    }

    /// The devices of which the file system's device is made, itself first: volumes, arrays, and
    /// what they lie on.
    fn devices(&self, files: &Files) -> Vec<String> {
        let mut all: Vec<String> = self.device(files).into_iter().collect();
        let mut level = 0..all.len();
        for _ in 0..DEPTH_MAX {
            for at in level.clone() {
                let slaves = format!("{}/slaves", all[at]);
                let below = files.names(&slaves).into_iter();
                all.extend(below.map(|name| format!("{slaves}/{name}")));
                all.truncate(DEVICES_MAX);
            }
            level = level.end..all.len();
        }
        all
    }

    /// The partitions and disks at the bottom; none if the file system is on no disk of this host.
    pub fn disks(&self, files: &Files) -> Vec<Disk> {
        let devices = self.devices(files).into_iter();
        let bottom = devices.filter(|folder| files.names(&format!("{folder}/slaves")).is_empty());
        let disk = |folder: String| {
            // A partition has its disk's queue.
            let queues = [format!("{folder}/queue"), format!("{folder}/../queue")];
            let queue = queues.into_iter().find(|queue| files.exists(queue))?;
            Some(Disk { folder, queue })
        };
        bottom.filter_map(disk).collect()
    }

    /// The arrays of the kernel (md) that the file system lies on.
    pub fn arrays(&self, files: &Files) -> Vec<Array> {
        let devices = self.devices(files);
        devices.iter().filter_map(|folder| Array::read(files, &format!("{folder}/md"))).collect()
    }

    /// Length of the stripes that XFS writes, in bytes; `None` of other file systems, and if XFS
    /// knows of none. The option `sunit` counts blocks of 512 bytes.
    pub fn stripe_bytes(&self) -> Option<u64> {
        let unit = self.options.iter().find_map(|option| option.strip_prefix("sunit="))?;
        unit.parse::<u64>().ok()?.checked_mul(BLOCK).filter(|bytes| *bytes > 0)
    }
}

/// A partition or a disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Disk {
    folder: String,
    queue: String,
}

impl Disk {
    /// A value of the disk's queue, such as `scheduler`.
    pub fn queue(&self, files: &Files, name: &str) -> Option<String> {
        files.text(&format!("{}/{name}", self.queue))
    }

    /// The folder of its queue.
    pub fn queue_folder(&self) -> &str {
        &self.queue
    }

    /// Sizes of its sectors, and where the partition begins.
    pub fn sectors(&self, files: &Files) -> Option<Sectors> {
        let of = |name: &str| self.queue(files, name)?.parse::<u64>().ok();
        let start = files.number(&format!("{}/start", self.folder));
        let physical = of("physical_block_size").filter(|size| *size > 0)?;
        Some(Sectors {
            logical: of("logical_block_size")?,
            physical,
            // Some disks say nonsense here.
            optimal: of("optimal_io_size").filter(|size| *size > 0 && size % physical == 0),
            start: start.and_then(|blocks| blocks.checked_mul(BLOCK)),
            offset: files.number(&format!("{}/alignment_offset", self.folder)).unwrap_or(0),
        })
    }
}

/// Sizes and places on a disk, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sectors {
    /// Smallest unit that can be addressed.
    logical: u64,
    /// Smallest unit that the disk writes without reading it first.
    physical: u64,
    /// Unit that the disk or array prefers, such as a stripe; `None` if it has none.
    optimal: Option<u64>,
    /// Where the partition begins; `None` of a whole disk.
    start: Option<u64>,
    /// How far the kernel says that the device is from its natural alignment.
    offset: u64,
}

impl Sectors {
    /// Whether units of the file system are units of the disk.
    pub fn is_aligned(self) -> bool {
        let unit = self.optimal.unwrap_or(self.physical);
        self.offset == 0 && self.start.is_none_or(|start| start % unit == 0)
    }

    /// `512 B logical, 4.0 KiB physical, partition at 1.0 MiB`.
    pub fn words(self) -> String {
        let mut words =
            format!("{} logical, {} physical", bytes(self.logical), bytes(self.physical));
        if let Some(optimal) = self.optimal {
            words.push_str(&format!(", {} optimal", bytes(optimal)));
        }
        match self.start {
            Some(start) if start % self.physical == 0 => {
                words.push_str(&format!(", partition at {}", bytes(start)));
            }
            Some(start) => words.push_str(&format!(", partition at byte {start}")),
            None => words.push_str(", no partition"),
        }
        match self.is_aligned() {
            true => words,
            false => format!("{words}, not aligned"),
        }
    }
}

/// An array of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Array {
    /// `raid10`.
    level: String,
    /// Number of its disks.
    disks: u64,
    /// Length of the part of a stripe on one disk, in bytes; 0 without stripes.
    pub chunk_bytes: u64,
    /// Number of disks that are missing.
    missing: u64,
    /// What it does beside its work: `resync`; `None` if nothing.
    action: Option<String>,
}

impl Array {
    fn read(files: &Files, folder: &str) -> Option<Self> {
        let number = |name: &str| files.number(&format!("{folder}/{name}"));
        Some(Self {
            level: files.text(&format!("{folder}/level"))?,
            disks: number("raid_disks")?,
            chunk_bytes: number("chunk_size").unwrap_or(0),
            missing: number("degraded").unwrap_or(0),
            action: files.text(&format!("{folder}/sync_action")).filter(|action| action != "idle"),
        })
    }

    /// Whether a small write needs no parity.
    pub fn is_fast(&self) -> bool {
        !matches!(self.level.as_str(), "raid4" | "raid5" | "raid6")
    }

    /// Whether all disks are there, and none is filled or checked.
    pub const fn is_whole(&self) -> bool {
        self.missing == 0 && self.action.is_none()
    }

    /// `raid10 of 4 disks, chunks of 512 KiB`.
    pub fn words(&self) -> String {
        let mut words = format!("{} of {}", self.level, counted(self.disks, "disks"));
        if self.chunk_bytes > 0 {
            words.push_str(&format!(", chunks of {}", bytes(self.chunk_bytes)));
        }
        if self.missing > 0 {
            words.push_str(&format!(", {} missing", counted(self.missing, "disks")));
        }
        self.action.iter().for_each(|action| words.push_str(&format!(", {action} runs")));
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_is_read_with_its_options() {
        let line = "36 35 98:0 / /my\\040data rw,noatime master:1 - ext4 /dev/sda1 rw,nobarrier";
        let mount = parse(line).unwrap();
        assert_eq!(mount.point, Path::new("/my data"));
        assert_eq!((mount.kind.as_str(), mount.device.as_str()), ("ext4", "98:0"));
        assert_eq!(mount.options, ["rw", "noatime", "rw", "nobarrier"]);
        for line in ["", "1 2 3", "1 2 3 - ext4", "1 2 3:4 / / - "] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
