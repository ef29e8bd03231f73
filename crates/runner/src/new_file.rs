//! Files that a command creates and never overwrites, those of `capture`, `datagen` and `new`, and
//! reports, which replace an older one when they are complete.
//!
//! A file has the name `NAME.partial` until it is complete. That file is locked while it is
//! written, so that a second command notices at its beginning that another one writes the same
//! file; what a killed command left is used again. The complete file gets its name only if nothing
//! has it by then.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use triphammer_settings::failure::Failure;

/// How often a file is opened if another command removes it meanwhile.
const OPENED_MAX: u32 = 10;

/// Who may read a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// Only its owner: it has values of somebody's data.
    Owner,
    /// As the system has it.
    Default,
}

/// A file that is being written; removed unless it is [kept](NewFile::keep).
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    partial: PathBuf,
    file: File,
    replaces: bool,
    is_kept: bool,
}

/// Folders that were created for files; removed at the end if they are empty.
#[derive(Debug, Default)]
pub struct NewFolders(Vec<PathBuf>);

impl NewFolders {
    /// Creates the missing folders of a path.
    ///
    /// # Errors
    /// As the system reports.
    pub fn create(folder: &Path) -> Result<Self, Failure> {
        let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
        let missing: Vec<&Path> = folder.ancestors().take_while(is_missing).collect();
        let mut created = Self::default();
        for folder in missing.into_iter().rev() {
            match std::fs::create_dir(folder) {
                Ok(()) => created.0.insert(0, folder.to_owned()),
                // Another command was faster: the folder is its own.
                Err(_) if folder.is_dir() => {}
                Err(error) => return Err(failed(folder, error)),
            }
        }
        Ok(created)
    }
}

impl Drop for NewFolders {
    fn drop(&mut self) {
        // The deepest is first. What is not empty stays.
        for folder in &self.0 {
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// Refuses a path that has a file already.
///
/// # Errors
/// When it has.
pub fn refuse_present(path: &Path) -> Result<(), Failure> {
    // A link that leads nowhere is something, too.
    if std::fs::symlink_metadata(path).is_err() {
        return Ok(());
    }
    Err(Failure::refuse(format!(
        "{} exists already, and is not overwritten: name another file or folder",
        path.display()
    )))
}

/// Writes a file at once.
///
/// # Errors
/// As [`NewFile::create`] and [`NewFile::keep`].
pub fn write(path: &Path, text: &str, readers: Readers) -> Result<(), Failure> {
    let file = NewFile::create(path, readers)?;
    file.fill(text)?;
    file.keep()
}

/// The failure to write a file.
pub fn failed(path: &Path, error: io::Error) -> Failure {
    Failure::System { doing: format!("writing {}", path.display()), error }
}

impl NewFile {
    /// Creates the file, by its name of an incomplete one.
    ///
    /// # Errors
    /// When the file exists, when another command writes it, and as the system reports.
    pub fn create(path: &Path, readers: Readers) -> Result<Self, Failure> {
        refuse_present(path)?;
        Self::open(path, readers, false)
    }

    /// The same for a file that replaces an existing one when it is complete.
    ///
    /// # Errors
    /// When another command writes it, and as the system reports.
    pub fn replacing(path: &Path) -> Result<Self, Failure> {
        Self::open(path, Readers::Default, true)
    }

    fn open(path: &Path, readers: Readers, replaces: bool) -> Result<Self, Failure> {
        let mut name = path.as_os_str().to_owned();
        name.push(".partial");
        let partial = PathBuf::from(name);
        let file = locked(&partial, readers).map_err(|error| failed(&partial, error))?;
        let Some(file) = file else {
            return Err(Failure::refuse(format!(
                "{} is being written by another command: name another file or folder",
                path.display()
            )));
        };
        Ok(Self { path: path.to_owned(), partial, file, replaces, is_kept: false })
    }

    /// The file, empty at first.
    pub const fn file(&self) -> &File {
        &self.file
    }

    /// Writes all of the file.
    ///
    /// # Errors
    /// As the system reports.
    pub fn fill(&self, content: impl AsRef<[u8]>) -> Result<(), Failure> {
        let written = (&self.file).write_all(content.as_ref());
        written.map_err(|error| failed(&self.partial, error))
    }

    /// Writes to the file; flush it before [`NewFile::keep`].
    pub fn writer(&self) -> BufWriter<&File> {
        BufWriter::with_capacity(1 << 16, &self.file)
    }

    /// Gives the complete file its name.
    ///
    /// # Errors
    /// When a file of this name has appeared meanwhile, which stays as it is, and as the system
    /// reports.
    pub fn keep(mut self) -> Result<(), Failure> {
        let rename = |from: &Path, to: &Path| match self.replaces {
            true => std::fs::rename(from, to),
            false => rename_new(from, to),
        };
        let named = self.file.sync_all().and_then(|()| rename(&self.partial, &self.path));
        match named {
            Ok(()) => {
                self.is_kept = true;
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(Failure::refuse(format!(
                    "{} was created by another program meanwhile, and is not overwritten: run the \
                     command again with another file or folder",
                    self.path.display()
                )))
            }
            Err(error) => Err(failed(&self.path, error)),
        }
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.is_kept {
            let _ = std::fs::remove_file(&self.partial);
        }
    }
}

/// Opens and locks an incomplete file; `None` if another command has it.
fn locked(path: &Path, readers: Readers) -> io::Result<Option<File>> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        if readers == Readers::Owner {
            options.mode(0o600);
        }
        // Neither a link nor a pipe that somebody has put there.
        options.custom_flags(
            (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits().cast_signed(),
        );
    }
    for _ in 0..OPENED_MAX {
        let file = options.open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            // A file system without locks: the file is new, or it is an old one.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
        // Its last user may have removed or renamed it before it was locked.
        if is_same(&file, path) {
            file.set_len(0)?;
            return Ok(Some(file));
        }
    }
    Ok(None)
}

/// Whether the path still has this file.
#[cfg(unix)]
fn is_same(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let of = |facts: std::fs::Metadata| (facts.dev(), facts.ino());
    match (file.metadata(), std::fs::symlink_metadata(path)) {
        (Ok(open), Ok(named)) => of(open) == of(named),
        _ => false,
    }
}

/// Systems without inodes do not let an open file be removed.
#[cfg(not(unix))]
fn is_same(_: &File, path: &Path) -> bool {
    path.exists()
}

/// Renames a file, unless the new name is taken: `AlreadyExists`.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match std::fs::hard_link(from, to) {
        Ok(()) => {
            // The file has its name; a second one is no failure.
            let _ = std::fs::remove_file(from);
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // A file system without links: an empty file takes the name, and is replaced.
        Err(_) => {
            OpenOptions::new().write(true).create_new(true).open(to)?;
            std::fs::rename(from, to)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_exists_or_appears_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.toml");
        let names = || -> Vec<_> {
            let entries = std::fs::read_dir(folder.path()).unwrap();
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
        };
        let first = NewFile::create(&path, Readers::Owner).unwrap();
        let second = NewFile::create(&path, Readers::Owner).unwrap_err().to_string();
        assert!(second.contains("is being written by another command"), "{second}");
        std::fs::write(&path, "precious").unwrap();
        let error = first.keep().unwrap_err().to_string();
        assert!(error.contains("created by another program meanwhile"), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
        assert_eq!(names(), ["a.toml"]);
        let error = write(&path, "text", Readers::Owner).unwrap_err().to_string();
        assert!(error.contains("exists already, and is not overwritten"), "{error}");
        std::fs::remove_file(&path).unwrap();
        // What a killed command left is used again.
        std::fs::write(folder.path().join("a.toml.partial"), "the rest of a long text").unwrap();
        write(&path, "text", Readers::Owner).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "text");
        assert_eq!(names(), ["a.toml"]);
    }

    #[test]
    fn of_many_at_once_one_writes_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let write = |n: usize| write(&path, &n.to_string(), Readers::Default).is_ok();
        let done = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|n| scope.spawn(move || write(n))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        let winner = done.iter().position(|done| *done).unwrap();
        assert_eq!(done.iter().filter(|done| **done).count(), 1, "{done:?}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), winner.to_string());
    }

    #[test]
    fn folders_that_stay_empty_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b");
        drop(NewFolders::create(&deep).unwrap());
        assert!(!folder.path().join("a").exists());
        let folders = NewFolders::create(&deep).unwrap();
        std::fs::write(deep.join("file"), "").unwrap();
        drop(folders);
        assert!(deep.join("file").exists());
        drop(NewFolders::create(folder.path()).unwrap());
        assert!(folder.path().exists());
    }
}
