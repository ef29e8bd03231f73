//! An output file given by the user.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use triphammer_core::small_file::create;
use triphammer_settings::failure::Failure;

/// An output file; an existing file is replaced.
#[derive(Debug)]
pub struct OutputFile {
    path: PathBuf,
    file: File,
}

impl OutputFile {
    /// Creates an empty file.
    ///
    /// # Errors
    /// When the file cannot be created: names it.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        let file = create(path).map_err(|error| failed(path, error))?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Appends data, with a single call if possible.
    ///
    /// # Errors
    /// When the file cannot be written to.
    pub fn append(&mut self, text: &str) -> Result<(), Failure> {
        self.file.write_all(text.as_bytes()).map_err(|error| failed(&self.path, error))
    }

    /// Writes everything.
    ///
    /// # Errors
    /// When the file cannot be written to.
    pub fn write(mut self, text: &str) -> Result<(), Failure> {
        self.append(text)
    }
}

fn failed(path: &Path, error: std::io::Error) -> Failure {
    Failure::System { doing: format!("writing to {}", path.display()), error }
}
