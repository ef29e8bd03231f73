//! A folder for what tests of one process share.

use std::path::Path;
use std::process::Child;

use tempfile::TempDir;

use crate::TestbedError;
use crate::guardian::attendant;

/// A folder that is removed when the process ends. Statics need one: they are never dropped.
pub struct ProcessFolder {
    folder: TempDir,
    /// Removes the folder when its standard input ends.
    _remover: Child,
}

impl ProcessFolder {
    /// Creates the folder.
    ///
    /// # Errors
    /// When the folder cannot be created or there is no shell.
    pub fn new() -> Result<Self, TestbedError> {
        let folder = TempDir::new().map_err(TestbedError::io("creating a folder"))?;
        let remover = attendant(r#"read -r word; rm -rf "$1""#)
            .arg(folder.path())
            .spawn()
            .map_err(TestbedError::io("starting sh"))?;
        Ok(Self { folder, _remover: remover })
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}
