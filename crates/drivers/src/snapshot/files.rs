//! Snapshots of databases that are one file: copies in a folder beside it, which share the file's
//! blocks where the file system can do that (`FICLONE`: Btrfs, XFS, bcachefs, ZFS).
//!
//! ```text
//! tpcc.sqlite
//! tpcc.sqlite.snapshots/clean/database        the copy
//! tpcc.sqlite.snapshots/clean/snapshot.json   its mark
//! tpcc.sqlite.snapshots/new_1f2e3d4c/         a copy that is being made
//! ```
//!
//! A restore copies to a file in that folder, and renames it to the database's: at every moment the
//! database is the old one or the restored one.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use triphammer_core::{DbError, ErrorClass};

use super::common::{
    Consent, Remarks, check_space, exists, missing, refuse_loss, refused, unmarked,
};
use super::mark::{Mark, Purpose, SnapshotName, unfinished_name};
use super::stop::Stop;

/// The copy in the folder of a snapshot.
const COPY: &str = "database";
/// Its mark.
const MARK: &str = "snapshot.json";
/// The mark while it is written.
const DRAFT: &str = "snapshot.json.new";
/// What is copied between two looks whether to stop, in bytes.
const COPIED_AT_ONCE: u64 = 64 << 20;
/// Maximum wait for other sessions at the file.
const PATIENCE: Duration = Duration::from_secs(5);

/// What differs between databases that are one file.
pub(crate) trait OneFile {
    /// Brings everything into the file itself, and fails if somebody else has it open.
    fn bring_together(&self, path: &Path, patience: Duration) -> Result<(), DbError>;

    /// Names of the tables, indexes, views and triggers in a file that nobody has open.
    fn objects(&self, path: &Path) -> Result<Vec<String>, DbError>;

    /// Files beside the database that may contain a part of it.
    fn beside(&self) -> &'static [&'static str];
}

/// The snapshots of a file.
pub(crate) struct FileSnapshots<'a, F> {
    pub path: &'a Path,
    pub file: F,
}

impl<F: OneFile> FileSnapshots<'_, F> {
    /// The file itself, if the path is that of a link.
    fn database(&self) -> PathBuf {
        fs::canonicalize(self.path).unwrap_or_else(|_| self.path.to_owned())
    }

    fn folder(&self) -> PathBuf {
        let mut name = self.database().into_os_string();
        name.push(".snapshots");
        name.into()
    }

    /// The mark of a folder; `None` if it has none.
    fn mark_in(folder: &Path) -> Option<Mark> {
        Mark::read(&fs::read_to_string(folder.join(MARK)).ok()?)
    }

    fn found(&self, name: &SnapshotName) -> Result<(PathBuf, Mark), DbError> {
        let folder = self.folder().join(name.as_str());
        if !folder.is_dir() {
            return Err(missing(name));
        }
        match Self::mark_in(&folder) {
            Some(mark) if mark.purpose == Purpose::Snapshot => Ok((folder, mark)),
            _ => Err(unmarked(&folder.display().to_string())),
        }
    }

    pub async fn list(&self, _: &mut Stop<'_>) -> Result<Vec<Mark>, DbError> {
        let mut marks: Vec<Mark> = self.folders()?.into_iter().map(|(_, mark)| mark).collect();
        marks.sort_by(|a, b| a.made_at.cmp(&b.made_at));
        Ok(marks)
    }

    /// The folders with a mark.
    fn folders(&self) -> Result<Vec<(PathBuf, Mark)>, DbError> {
        let folder = self.folder();
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(system(&folder, &error)),
        };
        let folders = entries.filter_map(Result::ok).map(|entry| entry.path());
        Ok(folders.filter_map(|path| Self::mark_in(&path).map(|mark| (path, mark))).collect())
    }

    pub async fn repair(&self, _: &mut Stop<'_>) -> Result<Remarks, DbError> {
        let mut done = Remarks::new();
        for (path, mark) in self.folders()? {
            if mark.is_abandoned() {
                remove(&path)?;
                done.push(format!(
                    "removed {}, which a process that has ended left behind",
                    path.display()
                ));
            }
        }
        Ok(done)
    }

    pub async fn make(
        &self,
        mark: Mark,
        _: Consent,
        stop: &mut Stop<'_>,
    ) -> Result<(Mark, Remarks), DbError> {
        let place = self.folder().join(mark.name.as_str());
        if place.exists() {
            return Err(exists(&mark.name));
        }
        let source = self.database();
        self.file.bring_together(&source, PATIENCE)?;
        let before = state(&source)?;
        let work = self.work(&mark.name)?;
        let made = async {
            let remark = copy(&source, &work.join(COPY), stop).await?;
            if state(&source)? != before {
                return Err(refused("the file was changed while it was copied: end what uses it"));
            }
            let of = source.display().to_string();
            let mark = Mark { of, bytes: Some(before.0), ..mark };
            write_mark(&work, &mark)?;
            fs::rename(&work, &place).map_err(|error| system(&place, &error))?;
            Ok((mark, vec![remark]))
        };
        let made = made.await;
        if made.is_err() {
            // The mark shows at the next start what is left.
            let _ = remove(&work);
        }
        made
    }

    /// Makes a folder to work in, with its mark.
    fn work(&self, name: &SnapshotName) -> Result<PathBuf, DbError> {
        let work = self.folder().join(unfinished_name(Purpose::Unfinished));
        fs::create_dir_all(&work).map_err(|error| system(&work, &error))?;
        let of = self.database().display().to_string();
        write_mark(&work, &Mark::unfinished(&of, name, Purpose::Unfinished))?;
        Ok(work)
    }

    pub async fn restore(
        &self,
        name: &SnapshotName,
        _: Consent,
        stop: &mut Stop<'_>,
    ) -> Result<Remarks, DbError> {
        let (folder, _) = self.found(name)?;
        let target = self.database();
        if target.exists() {
            self.file.bring_together(&target, PATIENCE)?;
            let copied = self.file.objects(&folder.join(COPY))?;
            refuse_loss(self.file.objects(&target)?, copied)?;
        }
        let work = self.work(name)?;
        let restored = async {
            let copied = work.join(COPY);
            let remark = copy(&folder.join(COPY), &copied, stop).await?;
            if let Ok(old) = fs::metadata(&target) {
                let kept = fs::set_permissions(&copied, old.permissions());
                kept.map_err(|error| system(&copied, &error))?;
                // Somebody may have come meanwhile.
                self.file.bring_together(&target, PATIENCE)?;
            }
            self.check_beside(&target)?;
            fs::rename(&copied, &target).map_err(|error| system(&target, &error))?;
            Ok(vec![remark])
        };
        let restored = restored.await;
        let removed = remove(&work);
        restored.and_then(|remarks| removed.map(|()| remarks))
    }

    /// Fails if a part of the database is in another file, which would be read with the restored one.
    fn check_beside(&self, target: &Path) -> Result<(), DbError> {
        for end in self.file.beside() {
            let mut name = target.as_os_str().to_owned();
            name.push(end);
            let path = PathBuf::from(name);
            if fs::metadata(&path).is_ok_and(|file| file.len() > 0) {
                let path = path.display();
                return Err(refused(format!("{path} is in use: end what uses the database")));
            }
            // An empty one belongs to the old file.
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(system(&path, &error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    pub async fn drop(&self, name: &SnapshotName, _: &mut Stop<'_>) -> Result<(), DbError> {
        let (folder, _) = self.found(name)?;
        remove(&folder)?;
        // The last one leaves no folder.
        let _ = fs::remove_dir(self.folder());
        Ok(())
    }
}

/// Removes a folder with a mark, the mark last: only what this program put there.
fn remove(folder: &Path) -> Result<(), DbError> {
    for name in [COPY, DRAFT, MARK] {
        match fs::remove_file(folder.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(system(&folder.join(name), &error));
            }
            _ => {}
        }
    }
    fs::remove_dir(folder).map_err(|error| system(folder, &error))
}

fn write_mark(folder: &Path, mark: &Mark) -> Result<(), DbError> {
    let (path, draft) = (folder.join(MARK), folder.join(DRAFT));
    let written = fs::write(&draft, mark.text()).and_then(|()| fs::rename(&draft, &path));
    written.map_err(|error| system(&path, &error))
}

/// Size and time of the last change of a file.
fn state(path: &Path) -> Result<(u64, Option<std::time::SystemTime>), DbError> {
    let found = fs::metadata(path).map_err(|error| system(path, &error))?;
    Ok((found.len(), found.modified().ok()))
}

/// Copies a file, and has it written to the disk; says how it was copied.
async fn copy(from: &Path, to: &Path, stop: &mut Stop<'_>) -> Result<String, DbError> {
    let failed = |error: io::Error| system(to, &error);
    let source = File::open(from).map_err(|error| system(from, &error))?;
    let mut copied = File::options().write(true).create_new(true).open(to).map_err(failed)?;
    let bytes = source.metadata().map_err(|error| system(from, &error))?.len();
    let is_shared = share_blocks(&source, &copied);
    if !is_shared {
        check_space(to.parent(), bytes)?;
        let mut left = bytes;
        while left > 0 {
            stop.check().await?;
            let part = io::copy(&mut (&source).take(left.min(COPIED_AT_ONCE)), &mut copied);
            let part = part.map_err(failed)?;
            if part == 0 {
                return Err(refused(format!("{} became shorter meanwhile", from.display())));
            }
            left = left.saturating_sub(part);
        }
    }
    // What is written later would be written during the run.
    copied.sync_all().map_err(failed)?;
    Ok(match is_shared {
        true => "the copy shares the blocks of the file".to_owned(),
        false => "the file was copied".to_owned(),
    })
}

/// Lets a new file share the blocks of another; false where that is not possible.
fn share_blocks(from: &File, to: &File) -> bool {
    #[cfg(target_os = "linux")]
    {
        rustix::fs::ioctl_ficlone(to, from).is_ok()
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (from, to);
        false
    }
}

fn system(path: &Path, error: &io::Error) -> DbError {
    let class = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ErrorClass::DiskFull,
        _ => ErrorClass::Other,
    };
    DbError::new(class, format!("{}: {error}", path.display()))
}
