//! What can go wrong with the job store.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// The job store cannot be opened, written or read. No reason to end a run: its result is in memory
/// and is printed all the same.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what each is")]
pub enum StoreError {
    #[error("no folder for the job store: neither XDG_DATA_HOME nor HOME is set; set one of them")]
    NoFolder,
    #[error("making the job store {}: {source}", path.display())]
    Create { path: PathBuf, source: std::io::Error },
    #[error(
        "the job store {} is of version {found}, written by triphammer {written_by}; this one \
         knows versions up to {known}: use that version, or another file", path.display()
    )]
    Newer { path: PathBuf, found: u32, known: u32, written_by: String },
    #[error("the job store {} cannot grow: its disk is full; free some space", path.display())]
    Full { path: PathBuf },
    #[error("the job store {} cannot be written: it is read only", path.display())]
    ReadOnly { path: PathBuf },
    #[error(
        "the job store {} cannot be opened: see that it is a file and its folder may be written",
        path.display()
    )]
    CannotOpen { path: PathBuf },
    #[error("the job store {} is locked by another program for too long", path.display())]
    Busy { path: PathBuf },
    #[error(
        "the job store {} is damaged or no job store: move it away, and a new one is made",
        path.display()
    )]
    Damaged { path: PathBuf },
    #[error(
        "{} is another program's SQLite file, no job store: give --store another file", path.display()
    )]
    Foreign { path: PathBuf },
    #[error("job {job} is not in the store {}: it was deleted or replaced meanwhile", path.display())]
    Gone { path: PathBuf, job: i64 },
    #[error("there is no job {job}; `triphammer jobs` lists them")]
    NoJob { job: i64 },
    #[error("job {job} still runs; stop it first")]
    Running { job: i64 },
    #[error("job {job} is not held by this process")]
    NotHeld { job: i64 },
    #[error(
        "the result of job {job} is of format {found}, this triphammer knows {known}: use a \
         newer one"
    )]
    NewerResult { job: i64, found: u64, known: u32 },
    #[error("job {job} holds {what} that cannot be read: {reason}")]
    Unreadable { job: i64, what: &'static str, reason: String },
    #[error("the job store {}: {source}", path.display())]
    Sqlite { path: PathBuf, source: rusqlite::Error },
}

impl StoreError {
    /// From what SQLite says.
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

    /// Whether the same call may work later. What could not be written is kept for some minutes and
    /// goes with the next batch; so warn once, and go on with the run.
    #[must_use]
    pub const fn may_pass(&self) -> bool {
        matches!(self, Self::Busy { .. } | Self::Full { .. } | Self::Sqlite { .. })
    }
}
