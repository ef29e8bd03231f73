//! Output files given by the user. They replace an existing file, but never a database: a path that
//! was mistaken for another would cost the data or all stored jobs.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use triphammer_core::small_file::create;
use triphammer_settings::failure::Failure;

use crate::new_file::NewFile;

/// How SQLite's files begin.
const SQLITE: &[u8] = b"SQLite format 3\0";
/// What DuckDB's files have after their checksum.
const DUCKDB: &[u8] = b"DUCK";
/// Place of that, in bytes.
const DUCKDB_AT: usize = 8;

/// An output file that is written line by line.
#[derive(Debug)]
pub struct OutputFile {
    path: PathBuf,
    file: File,
}

impl OutputFile {
    /// Creates an empty file.
    ///
    /// # Errors
    /// When it is a database, or the file cannot be created: names it.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        refuse_database(path)?;
        let file = create(path).map_err(|error| failed(path, error))?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Appends data, with a single call if possible.
    ///
    /// # Errors
    /// When the file cannot be written to.
    pub fn append(&mut self, text: &str) -> Result<(), Failure> {
        self.append_bytes(text.as_bytes())
    }

    fn append_bytes(&mut self, content: &[u8]) -> Result<(), Failure> {
        self.file.write_all(content).map_err(|error| failed(&self.path, error))
    }
}

/// An output file that is written at once. An existing file stays as it is until then, and if
/// writing fails.
#[derive(Debug)]
pub enum ReportFile {
    /// A regular file.
    Regular(NewFile),
    /// A pipe, a device, or a file in a folder that cannot be written to.
    Direct(OutputFile),
}

impl ReportFile {
    /// Opens the file, so that an unusable path is noticed before the work.
    ///
    /// # Errors
    /// When it is a database, or the file cannot be created: names it.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        refuse_database(path)?;
        // Replacing a link would leave its file as it is.
        let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let is_irregular = std::fs::metadata(&target).is_ok_and(|facts| !facts.is_file());
        if is_irregular {
            return OutputFile::create(path).map(Self::Direct);
        }
        if target.exists() {
            let writable = OpenOptions::new().write(true).open(&target);
            writable.map_err(|error| failed(path, error))?;
        }
        match NewFile::replacing(&target) {
            Err(Failure::System { .. }) => OutputFile::create(path).map(Self::Direct),
            opened => opened.map(Self::Regular),
        }
    }

    /// Writes everything.
    ///
    /// # Errors
    /// When the file cannot be written to.
    pub fn write(self, text: &str) -> Result<(), Failure> {
        self.write_bytes(text.as_bytes())
    }

    /// Writes everything, which need not be text.
    ///
    /// # Errors
    /// When the file cannot be written to.
    pub fn write_bytes(self, content: &[u8]) -> Result<(), Failure> {
        match self {
            Self::Regular(file) => {
                file.fill(content)?;
                file.keep()
            }
            Self::Direct(mut file) => file.append_bytes(content),
        }
    }
}

/// Refuses a file that is a database of SQLite, such as the job store, or of DuckDB.
fn refuse_database(path: &Path) -> Result<(), Failure> {
    if !std::fs::metadata(path).is_ok_and(|facts| facts.is_file()) {
        return Ok(());
    }
    let mut head = [0; SQLITE.len()];
    let is_read = File::open(path).is_ok_and(|mut file| file.read_exact(&mut head).is_ok());
    if is_read && (head == *SQLITE || head[DUCKDB_AT..].starts_with(DUCKDB)) {
        return Err(Failure::refuse(format!(
            "{} is a database, and is not overwritten: name another file",
            path.display()
        )));
    }
    Ok(())
}

fn failed(path: &Path, error: std::io::Error) -> Failure {
    Failure::System { doing: format!("writing to {}", path.display()), error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_replaces_a_file_when_it_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.json");
        std::fs::write(&path, "old").unwrap();
        drop(ReportFile::create(&path).unwrap());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        ReportFile::create(&path).unwrap().write("new").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_database_is_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("jobs.sqlite");
        let database = rusqlite::Connection::open(&path).unwrap();
        database.execute_batch("CREATE TABLE t (a)").unwrap();
        let before = std::fs::read(&path).unwrap();
        for error in [
            ReportFile::create(&path).unwrap_err().to_string(),
            OutputFile::create(&path).unwrap_err().to_string(),
        ] {
            assert!(error.contains("is a database, and is not overwritten"), "{error}");
        }
        assert!(std::fs::read(&path).unwrap() == before);
    }
}
