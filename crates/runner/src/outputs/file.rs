//! A file that people asked for by name.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// A file to be written; one that was there before is replaced.
#[derive(Debug)]
pub struct OutputFile {
    path: PathBuf,
    file: File,
}

impl OutputFile {
    /// Makes the file, empty.
    ///
    /// # Errors
    /// When it cannot be written: names it.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        let file = File::create(path).map_err(|error| failed(path, error))?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Writes at the end, by one call where the system takes it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn append(&mut self, text: &str) -> Result<(), Failure> {
        self.file.write_all(text.as_bytes()).map_err(|error| failed(&self.path, error))
    }

    /// Writes everything.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(mut self, text: &str) -> Result<(), Failure> {
        self.append(text)
    }
}

fn failed(path: &Path, error: std::io::Error) -> Failure {
    Failure::System { doing: format!("writing to {}", path.display()), error }
}
