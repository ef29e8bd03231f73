//! A folder for what tests of one process share.

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::TestbedError;

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
        let remover = Command::new("sh")
            .args(["-c", r#"read -r word; rm -rf "$1""#, "remover"])
            .arg(folder.path())
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Ctrl-C at the terminal is meant for the test process; its end is what counts here.
            .process_group(0)
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
