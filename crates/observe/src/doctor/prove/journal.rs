//! What a setting of the host was before it was changed, in a file that outlives the program: whoever
//! starts next restores it. A restart of the host restores everything, and makes the file void.
//!
//! ```text
//! boot 5a1c…            the kernel's name for the time since the host started
//! check swappiness
//! at 2026-11-30T20:15:00Z
//! /proc/sys/vm/swappiness⇥60
//! ```

use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use triphammer_core::clock;
use triphammer_core::small_file::{SETTINGS_BYTES_MAX, read_text};
use triphammer_document::result::rfc3339;
use triphammer_settings::files::Files;

/// The file, in a folder that only root can write and that a restart of the host empties.
const PATH: &str = "run/triphammer/host-settings";
/// Maximum length of the file: a line for each state of sleep of 1,000 processors.
const BYTES_MAX: u64 = 16 * SETTINGS_BYTES_MAX;

/// The file of this process, which no other one may use meanwhile.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    /// Holds the lock.
    _file: File,
}

impl Journal {
    /// Writes what the files of a check contain.
    ///
    /// # Errors
    /// Why it cannot be written, or that another process has it.
    pub fn create(
        files: &Files,
        check: &str,
        originals: &[(PathBuf, String)],
    ) -> Result<Self, String> {
        if let Some(left) = Self::left(files) {
            return Err(format!("{}: triphammer doctor --restore-host", left.words()));
        }
        let path = files.path(PATH);
        let why = |error: io::Error| format!("{}: {error}", path.display());
        let folder = path.parent().expect("the path has a folder");
        fs::create_dir_all(folder).map_err(why)?;
        let open = File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = open.map_err(why)?;
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => {
                "another triphammer is changing a setting of this host: wait for its end".to_owned()
            }
            TryLockError::Error(error) => why(error),
        })?;
        file.set_len(0).map_err(why)?;
        let mut text = format!("boot {}\ncheck {check}\n", boot(files));
        text.push_str(&format!("at {}\n", rfc3339(clock::wall())));
        for (path, value) in originals {
            text.push_str(&format!("{}\t{value}\n", path.display()));
        }
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(why)?;
        Ok(Self { path, _file: file })
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the file: all is restored.
    pub fn remove(&self) -> io::Result<()> {
        fs::remove_file(&self.path)
    }

    /// What a process left that has ended without restoring it; `None` if there is nothing.
    pub fn left(files: &Files) -> Option<Left> {
        let path = files.path(PATH);
        let file = File::options().read(true).open(&path).ok()?;
        // Whoever changes a setting now holds the lock.
        file.try_lock().ok()?;
        let text = read_text(&path, BYTES_MAX).ok()?;
        let of = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
        if of("boot ") != Some(&boot(files)) {
            let _ = fs::remove_file(&path);
            return None;
        }
        let originals = text.lines().filter_map(|line| line.split_once('\t'));
        let originals = originals.map(|(path, value)| (PathBuf::from(path), value.to_owned()));
        let originals: Vec<_> = originals.collect();
        let folders = ["sys/.", "proc/sys/."].map(|folder| files.path(folder).canonicalize());
        let is_setting = |path: &Path| {
            let is_plain = path.canonicalize().is_ok_and(|real| real == path);
            is_plain && folders.iter().flatten().any(|folder| path.starts_with(folder))
        };
        let stranger = originals.iter().find(|(path, _)| !is_setting(path));
        let stranger = stranger.map(|(path, _)| path.clone());
        let (check, at) = (of("check ")?.to_owned(), of("at ")?.to_owned());
        Some(Left { check, at, originals, stranger, path, _file: file })
    }
}

/// What a process left.
#[derive(Debug)]
pub struct Left {
    check: String,
    at: String,
    originals: Vec<(PathBuf, String)>,
    /// A file that is none of a setting of these files.
    stranger: Option<PathBuf>,
    path: PathBuf,
    /// Holds the lock.
    _file: File,
}

impl Left {
    /// `swappiness was 60 until a triphammer that was killed changed it at …`.
    pub fn words(&self) -> String {
        let mut values: Vec<&str> =
            self.originals.iter().map(|(_, value)| value.as_str()).collect();
        values.sort_unstable();
        values.dedup();
        let (check, at) = (&self.check, &self.at);
        format!(
            "{check} was {} until a triphammer that was killed changed it at {at}",
            values.join(" and ")
        )
    }

    /// Restores it.
    ///
    /// # Errors
    /// The files that cannot be written, with the reason.
    pub fn restore(self) -> Result<(), String> {
        if let Some(path) = &self.stranger {
            let (path, journal) = (path.display(), self.path.display());
            return Err(format!(
                "{path} is not in this host's /sys or /proc/sys: give the same --sysfs, or write the \
                 values of {journal} by hand and remove it"
            ));
        }
        restore(&self.originals)?;
        fs::remove_file(&self.path).map_err(|error| format!("{}: {error}", self.path.display()))
    }
}

/// Writes to each file what it contained, unless it does.
///
/// # Errors
/// The files that cannot be written, with the reason.
pub(super) fn restore(originals: &[(PathBuf, String)]) -> Result<(), String> {
    let failed = originals.iter().filter_map(|(path, value)| write(path, value).err());
    let failed: Vec<String> = failed.collect();
    if failed.is_empty() { Ok(()) } else { Err(failed.join("; ")) }
}

/// Writes a value to a file, unless it contains that, and reads it back.
///
/// # Errors
/// Why it cannot be written, or that the kernel has another value.
pub(super) fn write(path: &Path, wanted: &str) -> Result<(), String> {
    let root = Files::under(Path::new("/"));
    let read = || value(&root, &path.to_string_lossy());
    if read().as_deref() == Some(wanted) {
        return Ok(());
    }
    let written = File::options().write(true).truncate(true).open(path);
    let written = written.and_then(|mut file| file.write_all(format!("{wanted}\n").as_bytes()));
    written.map_err(|error| format!("cannot write {wanted} to {}: {error}", path.display()))?;
    match read() {
        Some(now) if now == wanted => Ok(()),
        now => {
            let now = now.unwrap_or_else(|| "nothing".to_owned());
            Err(format!("{}: the kernel has {now} after {wanted} was written", path.display()))
        }
    }
}

/// The kernel's name for the time since the host started.
fn boot(files: &Files) -> String {
    files.text("proc/sys/kernel/random/boot_id").unwrap_or_else(|| "unknown".to_owned())
}

/// What a file of a setting contains: of a list of choices, the chosen one in brackets.
pub(super) fn value(files: &Files, path: &str) -> Option<String> {
    Some(chosen(&files.text(path)?).to_owned())
}

/// The value of a file, or the one in brackets of a file that lists all.
fn chosen(text: &str) -> &str {
    let bracketed = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    bracketed.map_or(text, |(chosen, _)| chosen)
}
