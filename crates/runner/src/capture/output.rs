//! The files that a capture writes. Nothing is overwritten, and only their owner may read them: they
//! have values of the log.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use crate::failure::Failure;

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

impl Output {
    /// Reads `-o`: a file `.toml` or `.recording`, or a folder for `workload.toml`.
    ///
    /// # Errors
    /// When a file exists already, or the folder cannot be created.
    pub fn new(given: &Path) -> Result<Self, Failure> {
        let extension = given.extension().and_then(|extension| extension.to_str());
        let is_file = matches!(extension, Some("toml" | RECORDING)) && !given.is_dir();
        let file = if is_file { given.to_owned() } else { given.join(WORKLOAD) };
        let output = Self { is_recording: is_file && extension == Some(RECORDING), file };
        for path in [&output.file, &output.samples()] {
            if path.exists() {
                return Err(Failure::refuse(format!(
                    "{} exists already, and is not overwritten: name another file or folder with -o",
                    path.display()
                )));
            }
        }
        let folder = output.file.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder {
            std::fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
        }
        Ok(output)
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

/// The failure to write a file.
pub fn failed(path: &Path, error: std::io::Error) -> Failure {
    Failure::System { doing: format!("writing {}", path.display()), error }
}

/// Writes a file at once.
///
/// # Errors
/// When it exists, or as the system reports.
pub fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let partial = Partial::create(path)?;
    let written = partial.writer().write_all(text.as_bytes());
    written.map_err(|error| failed(path, error))?;
    partial.keep()
}

/// A file that has another name until it is complete; removed otherwise.
pub struct Partial {
    path: PathBuf,
    partial: PathBuf,
    file: File,
    is_kept: bool,
}

impl Partial {
    /// Creates the file.
    ///
    /// # Errors
    /// As the system reports.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        let mut name = path.as_os_str().to_owned();
        name.push(".partial");
        let partial = PathBuf::from(name);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            options.mode(0o600);
        }
        let file = options.open(&partial).map_err(|error| failed(&partial, error))?;
        Ok(Self { path: path.to_owned(), partial, file, is_kept: false })
    }

    /// Writes to the file; flush it before [`Partial::keep`].
    pub fn writer(&self) -> BufWriter<&File> {
        BufWriter::with_capacity(1 << 16, &self.file)
    }

    /// Gives the complete file its name.
    ///
    /// # Errors
    /// As the system reports.
    pub fn keep(mut self) -> Result<(), Failure> {
        let renamed =
            self.file.sync_all().and_then(|()| std::fs::rename(&self.partial, &self.path));
        renamed.map_err(|error| failed(&self.path, error))?;
        self.is_kept = true;
        Ok(())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.is_kept {
            let _ = std::fs::remove_file(&self.partial);
        }
    }
}
