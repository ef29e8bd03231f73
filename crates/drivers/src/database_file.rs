//! What the databases in this process have in common: a target that names one file.

use std::fmt;
use std::path::{Path, PathBuf};

use triphammer_core::error::{DbError, ErrorClass, SpecError};
use triphammer_core::session::Role;
use triphammer_core::small_file::check_database;

use crate::target::{ConnectSettings, TargetUrl};

/// Path of a database file.
#[derive(Clone, Debug)]
pub(crate) struct DatabaseFile(PathBuf);

impl DatabaseFile {
    /// The file that a target names.
    pub(crate) fn of(target: &TargetUrl, settings: &ConnectSettings) -> Result<Self, SpecError> {
        let (scheme, path) = (&target.scheme, target.path.as_str());
        if let Some(host) = target.hosts.first() {
            return Err(SpecError::new(format!(
                "a {scheme} target has no host: use {scheme}:{name}{path}, or \
                 {scheme}:///{name}{path} for a path from the root",
                name = host.name
            )));
        }
        if path.is_empty() || path.ends_with('/') {
            return Err(SpecError::new(format!(
                "a {scheme} target must name a file: {scheme}:path/to/file.db"
            )));
        }
        target.check_no_user()?;
        Ok(Self(settings.reach.database_file(path)?))
    }

    /// A file that a target names in a form of its own.
    pub(crate) fn at(path: PathBuf) -> Self {
        Self(path)
    }

    /// The path as the target has it.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// A rejection that names the file.
    pub(crate) fn refused(&self, why: impl fmt::Display) -> DbError {
        DbError::new(ErrorClass::Refused, format!("{}: {why}", self.0.display()))
    }

    fn folder(&self) -> &Path {
        match self.0.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        }
    }

    /// Detects mistakes in the path that databases report in vague words; only a loader may create
    /// the file.
    pub(crate) fn check(&self, role: Role) -> Result<(), DbError> {
        if self.0.is_dir() {
            Err(self.refused("is a folder, not a database file"))
        } else if !self.folder().is_dir() {
            Err(self.refused("its folder does not exist: create it first"))
        } else if role != Role::Loader && !self.0.exists() {
            Err(self.refused("no such file; `triphammer build` creates it"))
        } else {
            check_database(&self.0).map_err(|error| self.refused(error))
        }
    }
}

/// An opened file by its identity: a file that was deleted or replaced can still be used, but keeps
/// nothing.
#[derive(Clone, Debug)]
pub(crate) struct OpenedFile {
    path: PathBuf,
    identity: Option<(u64, u64)>,
}

impl OpenedFile {
    /// Notes the file that now has this path.
    pub(crate) fn now(path: PathBuf) -> Self {
        let identity = identity(&path);
        Self { path, identity }
    }

    /// The file's path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Fails if the path has another file now, or none.
    pub(crate) fn check(&self) -> Result<(), DbError> {
        if identity(&self.path) == self.identity {
            return Ok(());
        }
        let message = format!("{}: the file was deleted or replaced", self.path.display());
        Err(DbError::new(ErrorClass::Disconnected, message))
    }
}

/// Device and inode of a file; `None` if it does not exist, and on systems without such numbers.
fn identity(path: &Path) -> Option<(u64, u64)> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
    }
    #[cfg(not(unix))]
    {
        path.exists().then_some((0, 0))
    }
}
