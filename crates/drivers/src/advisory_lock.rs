//! Advisory locks between processes on one database file: an operating-system lock on a file beside
//! it.
//!
//! The lock ends with its holder, even if that is killed. The last holder removes the file. Another
//! process may have opened it just before and would then lock a file that no path refers to any
//! more, so after locking, each process checks that the path still refers to the same file, and
//! starts over if not. A file left behind by a killed process is harmless, and the next holder
//! removes it.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use triphammer_core::error::{DbError, ErrorClass};
use triphammer_core::session::LockMode;

/// How often acquiring a lock starts over when holders leave at the same moment.
const ATTEMPTS: u32 = 100;

/// A lock that is held.
#[derive(Debug)]
pub(crate) struct LockFile {
    file: File,
    path: PathBuf,
}

impl LockFile {
    /// Takes a lock on `name` for the database file; `None` if a conflicting one is held.
    ///
    /// # Errors
    /// If the file beside the database cannot be created or locked.
    pub(crate) fn take(
        database: &Path,
        name: &str,
        mode: LockMode,
    ) -> Result<Option<Self>, DbError> {
        Self::try_take(database, name, mode).map_err(|error| {
            let path = path(database, name);
            let message = format!(
                "locking {}: cannot use the lock file {}: {error}; its folder must be writable, so \
                 that other commands see the lock",
                database.display(),
                path.display()
            );
            DbError::new(ErrorClass::Other, message)
        })
    }

    fn try_take(database: &Path, name: &str, mode: LockMode) -> io::Result<Option<Self>> {
        let path = path(database, name);
        for _ in 0..ATTEMPTS {
            let mut options = File::options();
            let file = options.create(true).read(true).write(true).truncate(false).open(&path)?;
            let locked = match mode {
                LockMode::Shared => file.try_lock_shared(),
                LockMode::Exclusive => file.try_lock(),
            };
            match locked {
                Ok(()) if leads_to(&path, &file) => return Ok(Some(Self { file, path })),
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Ok(None)
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        let alone = self.file.unlock().is_ok() && self.file.try_lock().is_ok();
        if alone && leads_to(&self.path, &self.file) {
            // Best effort: a file left behind is harmless.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// `tpcc.db-triphammer-tproc_c`, next to the file that a link refers to.
fn path(database: &Path, name: &str) -> PathBuf {
    let database = database.canonicalize().unwrap_or_else(|_| database.to_owned());
    let safe = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = name.chars().map(safe).collect();
    let mut path = database.into_os_string();
    path.push(format!("-triphammer-{name}"));
    PathBuf::from(path)
}

#[cfg(unix)]
fn leads_to(path: &Path, file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |found: std::fs::Metadata| (found.dev(), found.ino());
    let there = std::fs::metadata(path).map(identity);
    matches!((there, file.metadata().map(identity)), (Ok(there), Ok(locked)) if there == locked)
}

#[cfg(not(unix))]
fn leads_to(path: &Path, _file: &File) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_holder_removes_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("a.db");
        let take = |advisory_lock| LockFile::take(&database, "a/b", advisory_lock).unwrap();
        let first = take(LockMode::Shared).unwrap();
        let second = take(LockMode::Shared).unwrap();
        drop(first);
        assert!(take(LockMode::Exclusive).is_none());
        assert!(path(&database, "a/b").exists());
        drop(second);
        assert!(!path(&database, "a/b").exists());
        assert!(take(LockMode::Exclusive).is_some());
    }

    #[test]
    fn never_do_two_hold_a_name_that_comes_and_goes() {
        use std::sync::atomic::{AtomicU32, Ordering};
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("a.db");
        let holders = AtomicU32::new(0);
        let take_and_leave = || {
            let mut taken = 0;
            while taken < 100 {
                let Some(advisory_lock) =
                    LockFile::take(&database, "a", LockMode::Exclusive).unwrap()
                else {
                    std::thread::yield_now();
                    continue;
                };
                assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0);
                taken += 1;
                std::thread::yield_now();
                holders.fetch_sub(1, Ordering::SeqCst);
                drop(advisory_lock);
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(take_and_leave);
            }
        });
    }
}
