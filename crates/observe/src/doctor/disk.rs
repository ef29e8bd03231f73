//! The file system and the disk under a path, from `/proc/self/mountinfo` and `/sys`.

use std::path::{Path, PathBuf};

use triphammer_settings::files::Files;

/// Maximum depth of devices on devices: encryption on a volume on an array.
const DEPTH_MAX: usize = 8;

/// A mounted file system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Mount {
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
    /// Folder of the disk's queue in `/sys`, below partitions, volumes and arrays; `None` if the
    /// file system is on no disk of this host.
    fn queue(&self, files: &Files) -> Option<String> {
        let by_number = format!("sys/dev/block/{}", self.device);
        let by_name = format!("sys/class/block/{}", self.source.rsplit('/').next()?);
        let mut folder = [by_number, by_name].into_iter().find(|folder| files.exists(folder))?;
        for _ in 0..DEPTH_MAX {
            match files.names(&format!("{folder}/slaves")).first() {
                Some(below) => folder = format!("{folder}/slaves/{below}"),
                None => break,
            }
        }
        // A partition has its disk's queue.
        let queues = [format!("{folder}/queue"), format!("{folder}/../queue")];
        queues.into_iter().find(|queue| files.exists(queue))
    }

    /// A value of the disk's queue, such as `scheduler`.
    pub fn disk(&self, files: &Files, name: &str) -> Option<String> {
        files.text(&format!("{}/{name}", self.queue(files)?))
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
