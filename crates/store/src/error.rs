//! Errors of the job store.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use triphammer_settings::failure::Failure;

/// The job store cannot be opened, written to or read. This does not end a run: its result is in
/// memory and is printed anyway.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what each is")]
pub enum StoreError {
    #[error("no directory for the job store: set XDG_DATA_HOME or HOME, or use --store")]
    NoFolder,
    #[error("cannot use the job store {}: {source}", path.display())]
    Irregular { path: PathBuf, source: std::io::Error },
    #[error("cannot create the job store {}: {source}", path.display())]
    Create { path: PathBuf, source: std::io::Error },
    #[error(
        "the job store {} has version {found}, written by triphammer {written_by}; this triphammer \
         supports versions up to {known}: use a newer triphammer, or another file", path.display()
    )]
    Newer { path: PathBuf, found: u32, known: u32, written_by: String },
    #[error(
        "the job store {} was written by a triphammer before its first release, which this one \
         cannot read: move it away, or use another file with --store", path.display()
    )]
    Older { path: PathBuf },
    #[error("cannot write to the job store {}: the disk is full; free some space", path.display())]
    Full { path: PathBuf },
    #[error("cannot write to the job store {}: it is read-only", path.display())]
    ReadOnly { path: PathBuf },
    #[error(
        "cannot open the job store {}: it must be a file in a directory that can be written to",
        path.display()
    )]
    CannotOpen { path: PathBuf },
    #[error("the job store {} is locked by another program; try again later", path.display())]
    Busy { path: PathBuf },
    #[error(
        "the job store {} is damaged or not a job store: move it away, and a new one is created",
        path.display()
    )]
    Damaged { path: PathBuf },
    #[error(
        "{} is an SQLite file of another program, not a job store: use another file with --store",
        path.display()
    )]
    Foreign { path: PathBuf },
    #[error(
        "job {job} is not in the job store {}: it was deleted or replaced in the meantime",
        path.display()
    )]
    Gone { path: PathBuf, job: i64 },
    #[error("there is no job {job}; `triphammer jobs` lists the jobs")]
    NoJob { job: i64 },
    #[error("job {job} is still running; stop it first")]
    Running { job: i64 },
    #[error("job {job} belongs to another process")]
    NotHeld { job: i64 },
    #[error(
        "the result of job {job} has format {found}, but this triphammer supports format {known}: \
         use a newer triphammer"
    )]
    NewerResult { job: i64, found: u64, known: u32 },
    #[error("job {job} contains {what} that cannot be read: {reason}")]
    Unreadable { job: i64, what: &'static str, reason: String },
    #[error("the job store {}: {source}", path.display())]
    Sqlite { path: PathBuf, source: rusqlite::Error },
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::refuse(error.to_string())
    }
}

impl StoreError {
    /// Converts an error of SQLite.
    pub(super) fn from_sqlite(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::Full { path },
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Self::ReadOnly { path },
            Some(ErrorCode::CannotOpen) => Self::CannotOpen { path },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged { path },
            _ => Self::Sqlite { path, source },
        }
    }

    /// Whether the same call may succeed later. Data that could not be written is kept for some
    /// minutes and written with the next batch, so callers warn once and continue the run.
    #[must_use]
    pub const fn may_pass(&self) -> bool {
        matches!(self, Self::Busy { .. } | Self::Full { .. } | Self::Sqlite { .. })
    }
}
