//! The files in which Linux describes itself, below a root folder: `/`, except in tests. Everything
//! is optional: containers and virtual machines hide much, and other systems have none of it.

use std::path::{Path, PathBuf};

use triphammer_core::SpecError;
use triphammer_core::small_file::read_text;

use crate::Settings;

/// Maximum number of entries of a folder that are read.
const ENTRIES_MAX: usize = 100_000;
/// Maximum size of a file, in bytes: `/proc/cpuinfo` of a thousand processors has about 2 MiB.
const TEXT_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Files below a root folder.
#[derive(Clone, Debug)]
pub struct Files {
    root: PathBuf,
    /// Folder that stands for `/sys`; `None` if it is below the root.
    sys: Option<PathBuf>,
}

impl Files {
    /// The files of this host.
    pub fn of_this_host() -> Self {
        Self::under(Path::new("/"))
    }

    /// The files of this host, with `/sys` where `--sysfs` says.
    ///
    /// # Errors
    /// When that is no folder.
    pub fn of_settings(settings: &Settings) -> Result<Self, SpecError> {
        let Some(sys) = settings.get("sysfs").map(PathBuf::from) else {
            return Ok(Self::of_this_host());
        };
        if !sys.is_dir() {
            let message = format!(
                "--sysfs {}: not a directory; name the one in which the host's /sys is",
                sys.display()
            );
            return Err(SpecError::new(message).about("sysfs"));
        }
        Ok(Self::of_this_host().with_sysfs(&sys))
    }

    /// The same files with another folder for `/sys`.
    #[must_use]
    pub fn with_sysfs(self, sys: &Path) -> Self {
        Self { sys: Some(sys.to_owned()), ..self }
    }

    /// The files below another root, as tests write them.
    pub fn under(root: &Path) -> Self {
        Self { root: root.to_owned(), sys: None }
    }

    /// Path of a file below the root.
    pub fn path(&self, path: &str) -> PathBuf {
        let path = path.trim_start_matches('/');
        match (&self.sys, path.strip_prefix("sys/")) {
            (Some(sys), Some(below)) => sys.join(below),
            _ => self.root.join(path),
        }
    }

    /// Contents of a regular file without the white space around them; `None` if empty. Users may
    /// name the root, so a pipe or a device is not read.
    pub fn text(&self, path: &str) -> Option<String> {
        let text = read_text(&self.path(path), TEXT_BYTES_MAX).ok()?;
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Contents of a file that is one number; `None` if it is not.
    pub fn number(&self, path: &str) -> Option<u64> {
        self.text(path)?.parse().ok()
    }

    /// Whether a file or folder exists.
    pub fn exists(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// Names in a folder, sorted.
    pub fn names(&self, folder: &str) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.path(folder)) else { return Vec::new() };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<_> = names.take(ENTRIES_MAX).collect();
        names.sort_unstable();
        names
    }

    /// Numbers of the entries `cpu0`, `node1` … of a folder.
    pub fn numbered(&self, folder: &str, prefix: &str) -> Vec<u32> {
        let numbers = self.names(folder).into_iter().filter_map(|name| {
            let number = name.strip_prefix(prefix)?;
            number.parse().ok()
        });
        numbers.collect()
    }

    /// A value of `/proc/meminfo`, in bytes or as a count.
    pub fn memory(&self, name: &str) -> Option<u64> {
        let text = self.text("proc/meminfo")?;
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        let mut words = value.split_whitespace();
        let number: u64 = words.next()?.parse().ok()?;
        number.checked_mul(if words.next() == Some("kB") { 1024 } else { 1 })
    }
}
