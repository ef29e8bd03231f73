//! Where a capture is written. Nothing is overwritten, and only their owner may read the files:
//! they have values of the log.

use std::path::{Path, PathBuf};

use triphammer_settings::failure::Failure;

use crate::new_file::{self, NewFile, NewFolders, Readers};

/// Extension of recordings.
pub const RECORDING: &str = "recording";
/// Name of the workload file in a folder.
const WORKLOAD: &str = "workload.toml";

/// Where a capture is written.
#[derive(Debug)]
pub struct Output {
    /// The workload file or the recording.
    pub file: PathBuf,
    /// Whether it is a recording.
    pub is_recording: bool,
}

/// The workload file and its samples while the source is read: nobody else writes them meanwhile.
#[derive(Debug)]
pub struct Files<'a> {
    output: &'a Output,
    file: NewFile,
    samples: NewFile,
    // Removed after the files in it.
    _folders: NewFolders,
}

impl Output {
    /// Reads `-o`: a file `.toml` or `.recording`, or a folder for `workload.toml`.
    ///
    /// # Errors
    /// When a file exists already.
    pub fn new(given: &Path) -> Result<Self, Failure> {
        let extension = given.extension().and_then(|extension| extension.to_str());
        let is_file = matches!(extension, Some("toml" | RECORDING)) && !given.is_dir();
        let file = if is_file { given.to_owned() } else { given.join(WORKLOAD) };
        let output = Self { is_recording: is_file && extension == Some(RECORDING), file };
        new_file::refuse_present(&output.file)?;
        new_file::refuse_present(&output.samples())?;
        Ok(output)
    }

    /// Creates the folder of the files.
    ///
    /// # Errors
    /// As the system reports.
    pub fn folders(&self) -> Result<NewFolders, Failure> {
        NewFolders::create(self.file.parent().unwrap_or(Path::new("")))
    }

    /// Creates the recording.
    ///
    /// # Errors
    /// When somebody else writes it, and as the system reports.
    pub fn recording(&self) -> Result<NewFile, Failure> {
        NewFile::create(&self.file, Readers::Owner)
    }

    /// Creates the workload file and the file of its samples.
    ///
    /// # Errors
    /// When somebody else writes one of them, and as the system reports.
    pub fn files(&self) -> Result<Files<'_>, Failure> {
        let folders = self.folders()?;
        let file = NewFile::create(&self.file, Readers::Owner)?;
        let samples = NewFile::create(&self.samples(), Readers::Owner)?;
        Ok(Files { output: self, file, samples, _folders: folders })
    }

    /// Name of the file of samples, next to the workload file.
    pub fn samples_name(&self) -> String {
        let stem = self.file.file_stem().unwrap_or_default().to_string_lossy();
        format!("{stem}-values.csv")
    }

    /// The file of samples.
    pub fn samples(&self) -> PathBuf {
        self.file.with_file_name(self.samples_name())
    }
}

impl Files<'_> {
    /// Writes the workload file, and the samples if there are any; returns the paths.
    ///
    /// # Errors
    /// When one of the files has appeared meanwhile, and as the system reports; then neither is
    /// there.
    pub fn write(self, text: &str, samples: Option<&str>) -> Result<Vec<PathBuf>, Failure> {
        let path = self.output.samples();
        self.file.fill(text)?;
        let Some(samples) = samples else {
            self.file.keep()?;
            return Ok(vec![self.output.file.clone()]);
        };
        self.samples.fill(samples)?;
        self.samples.keep()?;
        if let Err(failure) = self.file.keep() {
            // It is this command's own, and means nothing alone.
            let _ = std::fs::remove_file(&path);
            return Err(failure);
        }
        Ok(vec![self.output.file.clone(), path])
    }
}
