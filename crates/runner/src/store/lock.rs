//! The lock that says whether a job's process lives: a file beside the store, locked as long as the
//! job runs. The system releases the lock when the process ends, however that happens.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use super::job::JobId;
use super::path::open_private;

/// A job's lock, held by this process.
#[derive(Debug)]
pub(super) struct JobLock {
    path: PathBuf,
    /// `None` once released.
    file: Option<File>,
}

impl JobLock {
    /// Takes the lock of a job that nobody else knows yet.
    pub(super) fn take(store: &Path, job: JobId) -> std::io::Result<Self> {
        let path = lock_path(store, job);
        let file = open_private(&path)?;
        match file.try_lock() {
            // A file system without locks: its jobs are never recognised as lost.
            Err(TryLockError::Error(error)) if error.kind() == std::io::ErrorKind::Unsupported => {}
            other => other?,
        }
        Ok(Self { path, file: Some(file) })
    }
}

impl Drop for JobLock {
    fn drop(&mut self) {
        // Windows removes no open file.
        drop(self.file.take());
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Whether the process of a job that has not ended is gone.
pub(super) fn is_lost(store: &Path, job: JobId) -> bool {
    match File::open(lock_path(store, job)) {
        Ok(file) => file.try_lock_shared().is_ok(),
        // Without its lock file a job that has not ended can only be one that was cut off.
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

/// Removes the lock file of a lost job.
pub(super) fn clear(store: &Path, job: JobId) {
    let _ = std::fs::remove_file(lock_path(store, job));
}

/// `jobs.sqlite-job12.lock`.
fn lock_path(store: &Path, job: JobId) -> PathBuf {
    let mut name = store.as_os_str().to_owned();
    name.push(format!("-job{}.lock", job.0));
    PathBuf::from(name)
}
