//! Names of snapshots, and the marks by which the program knows its own.

use std::fmt;
use std::hash::{BuildHasher as _, Hasher as _};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use triphammer_core::clock::wall;

/// Longest name of a snapshot, in bytes: it becomes part of a database's name.
pub const NAME_MAX: usize = 24;
/// How names begin that are not a user's: of what is unfinished, and of what lasts as long as a job.
const RESERVED: [&str; 3] = [UNFINISHED, REPLACED, TEMPORARY];
const UNFINISHED: &str = "new_";
const REPLACED: &str = "old_";
const TEMPORARY: &str = "tmp_";
/// Version of the format of marks.
const FORMAT: u32 = 1;

/// The name of a snapshot: lower-case letters, digits and `_`, a letter first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SnapshotName(String);

impl SnapshotName {
    /// A name that no other snapshot has, for one that lasts as long as a job.
    #[must_use]
    pub fn temporary() -> Self {
        Self(format!("{TEMPORARY}{}", unique()))
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SnapshotName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        let begins = text.starts_with(|c: char| c.is_ascii_lowercase());
        if !begins || text.len() > NAME_MAX || !text.chars().all(is_part) {
            return Err(format!(
                "invalid name of a snapshot `{text}`: use a-z, 0-9 and _, a letter first, at most \
                 {NAME_MAX} characters"
            ));
        }
        if let Some(start) = RESERVED.iter().find(|start| text.starts_with(**start)) {
            return Err(format!(
                "names of snapshots that begin with `{start}` are the program's own"
            ));
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for SnapshotName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Eight hexadecimal digits that nobody else has drawn.
pub(crate) fn unique() -> String {
    let mut hasher = std::collections::hash_map::RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.write_i64(wall().0);
    format!("{:08x}", hasher.finish() & 0xffff_ffff)
}

/// A unique name for what is not finished yet, or no longer needed.
pub(crate) fn unfinished_name(purpose: Purpose) -> String {
    let start = match purpose {
        Purpose::Replaced => REPLACED,
        Purpose::Snapshot | Purpose::Unfinished => UNFINISHED,
    };
    format!("{start}{}", unique())
}

/// What something with a mark is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// A complete snapshot.
    Snapshot,
    /// A copy that is being made.
    Unfinished,
    /// The state before a restore, which is being dropped.
    Replaced,
}

/// What a copy is, as it is recorded with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// Version of the format: shows that this program made it.
    pub(crate) triphammer: u32,
    /// What it is.
    pub purpose: Purpose,
    /// Name of the database, or of the file, that it is a copy of.
    pub of: String,
    /// Name of the snapshot.
    pub name: SnapshotName,
    /// When it was made, UTC.
    pub made_at: String,
    /// The process whose end is the end of its use; `None` for a snapshot that stays.
    pub by: Option<Maker>,
    /// Its size, in bytes; `None` if it is not known.
    pub bytes: Option<u64>,
    /// Fingerprint of its state, as the caller computed it.
    pub fingerprint: Option<String>,
    /// The process that is restoring the database from it in place; `None` if none is.
    #[serde(default)]
    pub restoring: Option<Maker>,
}

impl Mark {
    /// A mark of a snapshot that is about to be made. A temporary one ends with this process.
    #[must_use]
    pub fn new(name: SnapshotName, is_temporary: bool, fingerprint: Option<String>) -> Self {
        Self {
            triphammer: FORMAT,
            purpose: Purpose::Snapshot,
            of: String::new(),
            name,
            made_at: wall().to_string(),
            by: is_temporary.then(Maker::this),
            bytes: None,
            fingerprint,
            restoring: None,
        }
    }

    /// The mark of what this process is working on.
    pub(crate) fn unfinished(of: &str, name: &SnapshotName, purpose: Purpose) -> Self {
        let mark = Self::new(name.clone(), true, None);
        Self { of: of.to_owned(), purpose, ..mark }
    }

    /// Reads a mark; `None` if the text is none.
    pub(crate) fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok().filter(|mark: &Self| mark.triphammer == FORMAT)
    }

    /// The mark as text.
    pub(crate) fn text(&self) -> String {
        serde_json::to_string(self).expect("a mark is plain data")
    }

    /// Whether it is of use to nobody, because the process that made it is gone.
    #[must_use]
    pub fn is_abandoned(&self) -> bool {
        self.by.as_ref().is_some_and(Maker::is_gone)
    }
}

/// A process that makes or uses a copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Maker {
    /// Its host, by name.
    pub host: String,
    /// Its id there.
    pub process: u32,
    /// When it began, as the system counts: another process may have the id later.
    began: Option<u64>,
    /// Where its id is that of no other process; `None` if that is not known.
    #[serde(default)]
    ids: Option<String>,
}

impl Maker {
    /// This process.
    #[must_use]
    pub fn this() -> Self {
        let process = std::process::id();
        Self { host: host(), process, began: beginning(process), ids: ids() }
    }

    /// Whether the process is known to have ended: its id would be seen here, and there is no such process. Another
    /// container has other ids, and a host that was started again does not know those of before.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        let is_here = self.host == host() && self.ids.is_some() && self.ids == ids();
        is_here && !is_there(self.process, self.began)
    }
}

impl fmt::Display for Maker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} at {}", self.process, self.host)
    }
}

/// Name of this host, and where it runs in a container that of the container.
fn host() -> String {
    #[cfg(unix)]
    {
        rustix::system::uname().nodename().to_string_lossy().into_owned()
    }
    #[cfg(not(unix))]
    {
        whoami::fallible::hostname().unwrap_or_default()
    }
}

/// The start of this host and the process ids that are seen here; `None` where that is not known.
fn ids() -> Option<String> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let space = std::fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{} {}", boot.trim(), space.display()))
}

/// Whether there is a process that began then. One of another user may be hidden.
fn is_there(process: u32, began: Option<u64>) -> bool {
    match beginning(process) {
        Some(found) => Some(found) == began,
        None => exists(process),
    }
}

/// Whether a process has an id.
fn exists(process: u32) -> bool {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, test_kill_process};
        let id = i32::try_from(process).ok().and_then(Pid::from_raw);
        id.is_none_or(|id| test_kill_process(id) != Err(rustix::io::Errno::SRCH))
    }
    #[cfg(not(unix))]
    {
        let _ = process;
        true
    }
}

/// When a process began, in ticks since the host did; `None` if there is none, or it is not known.
fn beginning(process: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name, in parentheses, may contain spaces; 20 fields after it is the time.
    stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_not_the_programs_own() {
        for good in ["clean", "a", "after_10_runs"] {
            assert_eq!(good.parse::<SnapshotName>().unwrap().as_str(), good);
        }
        let long = "a".repeat(NAME_MAX + 1);
        for bad in ["", "1a", "Clean", "a-b", "a b", "a\"b", "ä", long.as_str()] {
            assert!(bad.parse::<SnapshotName>().unwrap_err().contains("a-z"), "{bad}");
        }
        for own in ["tmp_x", "new_x", "old_x"] {
            assert!(own.parse::<SnapshotName>().unwrap_err().contains("program's own"), "{own}");
        }
        assert!(SnapshotName::temporary().as_str().len() <= NAME_MAX);
        assert_ne!(SnapshotName::temporary(), SnapshotName::temporary());
    }

    #[test]
    fn marks_survive_as_text_and_nothing_else_is_one() {
        let mark = Mark::new("clean".parse().unwrap(), true, Some("a 1".to_owned()));
        assert_eq!(Mark::read(&mark.text()), Some(mark.clone()));
        assert!(!mark.is_abandoned());
        for other in ["", "backup of tpcc", "{}", r#"{"triphammer":2}"#] {
            assert_eq!(Mark::read(other), None, "{other}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_that_ended_is_gone_and_one_on_another_host_is_not() {
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let id = child.id();
        let maker = Maker { process: id, began: beginning(id), ..Maker::this() };
        assert!(!maker.is_gone());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(maker.is_gone());
        assert!(!Maker { host: "elsewhere".to_owned(), ..maker.clone() }.is_gone());
        assert!(!Maker { ids: Some("another container".to_owned()), ..maker.clone() }.is_gone());
        assert!(!Maker { ids: None, ..maker }.is_gone());
        // Another process with the same id.
        assert!(Maker { began: Some(1), ..Maker::this() }.is_gone());
    }
}
