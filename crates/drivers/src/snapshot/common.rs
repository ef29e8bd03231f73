//! What the snapshots of all databases have in common: what they may do, what they refuse, and space.

use std::collections::BTreeSet;
use std::path::Path;

use triphammer_core::{DbError, ErrorClass};

use super::mark::SnapshotName;

/// Space that has to stay free beside a copy, in bytes.
const SPARE_BYTES: u64 = 64 << 20;

/// What a restore may do to others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Consent {
    /// Whether sessions of others at the database may be ended.
    pub end_sessions: bool,
}

/// What was done, in sentences for people.
pub type Remarks = Vec<String>;

/// The error about a snapshot that does not exist.
pub(crate) fn missing(name: &SnapshotName) -> DbError {
    refused(format!(
        "there is no snapshot `{name}` of it; `triphammer snapshot TARGET` lists them, and --make \
         {name} makes one"
    ))
}

/// The error about a snapshot that exists already.
pub(crate) fn exists(name: &SnapshotName) -> DbError {
    refused(format!(
        "there is a snapshot `{name}` of it already: drop it first, or choose another name"
    ))
}

/// The error about what has a snapshot's name and no mark.
pub(crate) fn unmarked(what: &str) -> DbError {
    refused(format!(
        "{what} has the name of a snapshot, but no mark of triphammer: nothing was done to it"
    ))
}

/// Rejects a restore that would lose objects: those of the database that the snapshot lacks.
pub(crate) fn refuse_loss(
    of_database: impl IntoIterator<Item = String>,
    of_snapshot: impl IntoIterator<Item = String>,
) -> Result<(), DbError> {
    const NAMED: usize = 3;
    let copied: BTreeSet<String> = of_snapshot.into_iter().collect();
    let lost: BTreeSet<String> =
        of_database.into_iter().filter(|object| !copied.contains(object)).collect();
    if lost.is_empty() {
        return Ok(());
    }
    let named = lost.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = match lost.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Err(refused(format!(
        "the snapshot lacks what the database has: {named}{more}; nothing was restored: drop that, or make \
         a new snapshot"
    )))
}

pub(crate) fn refused(message: impl AsRef<str>) -> DbError {
    DbError::new(ErrorClass::Refused, message)
}

/// Fails if a folder's file system has no room for so many bytes; says so if that is unknown.
pub(crate) fn check_space(folder: Option<&Path>, bytes: u64) -> Result<Option<String>, DbError> {
    let Some(free) = folder.and_then(free_bytes) else {
        return Ok(Some(format!(
            "the copy takes {}; how much space the server has is not known here",
            mebibytes(bytes)
        )));
    };
    let needed = bytes.saturating_add(SPARE_BYTES);
    if free >= needed {
        return Ok(None);
    }
    let message = format!(
        "a copy takes {}, and only {} are free: free some space, or drop a snapshot",
        mebibytes(needed),
        mebibytes(free)
    );
    Err(DbError::new(ErrorClass::DiskFull, message))
}

fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes.div_ceil(1 << 20))
}

/// Bytes that this user may still write to the file system of a folder.
fn free_bytes(folder: &Path) -> Option<u64> {
    #[cfg(unix)]
    {
        let found = rustix::fs::statvfs(folder).ok()?;
        Some(found.f_bavail.saturating_mul(found.f_frsize))
    }
    #[cfg(not(unix))]
    {
        let _ = folder;
        None
    }
}
