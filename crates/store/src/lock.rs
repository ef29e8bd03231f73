//! The lock that shows whether the process of a job is alive: a file next to the store, locked
//! while the job runs. The system releases the lock when the process ends for any reason.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use triphammer_core::small_file::open;
use triphammer_document::JobId;

use super::path::open_private;

/// A job's lock, held by this process.
#[derive(Debug)]
pub(super) struct JobLock {
    path: PathBuf,
    /// The locked file; `None` once released.
    file: Option<File>,
}

impl JobLock {
    /// Takes the lock of a new job, which other processes cannot see yet.
    pub(super) fn take(store: &Path, job: JobId) -> std::io::Result<Self> {
        let path = lock_path(store, job);
        let file = open_private(&path)?;
        match file.try_lock() {
            // On a file system without locks, jobs are never recognised as lost.
            Err(TryLockError::Error(error)) if error.kind() == std::io::ErrorKind::Unsupported => {}
            other => other?,
        }
        Ok(Self { path, file: Some(file) })
    }
}

impl Drop for JobLock {
    fn drop(&mut self) {
        // Windows does not remove open files.
        drop(self.file.take());
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Whether the process of an unfinished job is gone.
pub(super) fn is_lost(store: &Path, job: JobId) -> bool {
    match open(&lock_path(store, job)) {
        Ok(file) => file.try_lock_shared().is_ok(),
        // An unfinished job without a lock file was cut off.
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

/// Removes the lock file of a lost job.
pub(super) fn clear(store: &Path, job: JobId) {
    let _ = std::fs::remove_file(lock_path(store, job));
}

/// Path of the lock file: `jobs.sqlite-job12.lock`.
fn lock_path(store: &Path, job: JobId) -> PathBuf {
    let mut name = store.as_os_str().to_owned();
    name.push(format!("-job{}.lock", job.0));
    PathBuf::from(name)
}
