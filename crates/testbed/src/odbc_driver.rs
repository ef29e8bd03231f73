//! An ODBC driver without a database, compiled when a test needs it: see `odbc_driver.c`.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

use crate::TestbedError;

const SOURCE: &str = include_str!("odbc_driver.c");

/// A compiled driver, with a log and a file of answers; removed when it is dropped.
pub struct OdbcDriver {
    folder: TempDir,
}

impl OdbcDriver {
    /// Compiles the driver.
    ///
    /// # Errors
    /// Without a C compiler.
    pub fn compile() -> Result<Self, TestbedError> {
        let folder = TempDir::new().map_err(TestbedError::io("creating a folder"))?;
        let driver = Self { folder };
        let source = driver.path("driver.c");
        std::fs::write(&source, SOURCE).map_err(TestbedError::io("writing the ODBC driver"))?;
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-pthread", "-o"]);
        let ended = compiler.arg(driver.library()).arg(&source).output();
        let ended = ended.map_err(TestbedError::io("running the C compiler, cc"))?;
        if !ended.status.success() {
            let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
            return Err(TestbedError::Failed(format!("compiling the ODBC driver: {stderr}")));
        }
        Ok(driver)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The driver's file.
    #[must_use]
    pub fn library(&self) -> PathBuf {
        self.path("driver.so")
    }

    /// A target that uses the driver, with these pairs in its connection string.
    #[must_use]
    pub fn target(&self, pairs: &[(&str, &str)]) -> String {
        let path = |name| self.path(name).display().to_string();
        let mut target = format!(
            "odbc:Driver={};Log={};Answers={}",
            path("driver.so"),
            path("log"),
            path("answers")
        );
        for (key, value) in pairs {
            write!(target, ";{key}={{{value}}}").expect("writing to a String cannot fail");
        }
        target
    }

    /// Sets the answers of the driver.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn answer(&self, answers: &str) -> Result<(), TestbedError> {
        let write = std::fs::write(self.path("answers"), answers);
        write.map_err(TestbedError::io("writing the answers of the ODBC driver"))
    }

    /// What the driver was asked so far, a call per line; then forgets it.
    #[must_use]
    pub fn recorded(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.path("log")).unwrap_or_default();
        // Absent if nothing was recorded.
        let _ = std::fs::remove_file(self.path("log"));
        text.lines().map(str::to_owned).collect()
    }
}
