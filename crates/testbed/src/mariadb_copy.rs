//! Copies of a database of a private MariaDB or MySQL server. Tables are imported as files, which takes a fraction of
//! the time in which a build creates them.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::TestbedError;
use crate::mariadb::MariadbServer;

impl MariadbServer {
    /// Creates a database that lasts as long as the server, and returns its name.
    ///
    /// # Errors
    /// When the server cannot create it.
    pub fn lasting_database(&self, prefix: &str) -> Result<String, TestbedError> {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let name = format!("{prefix}_lasting_{}", NEXT.fetch_add(1, Ordering::Relaxed));
        self.create_database(&name)?;
        Ok(name)
    }

    /// Creates a copy of a database that nobody changes any more, for the test of this thread, and returns its URL. It
    /// has the tables with their rows and keys, and the routines; no foreign keys.
    ///
    /// # Errors
    /// When the server or its clients cannot create it.
    pub fn copy_of(&self, database: &str) -> Result<String, TestbedError> {
        let tables = self.tables(database)?;
        let exported = self.exported(database, &tables)?;
        let url = self.fresh_database("copy")?;
        let name = url.rsplit('/').next().unwrap_or_default();
        let (mut create, mut import) = (String::new(), String::new());
        for table in &tables {
            let _ = write!(create, "CREATE TABLE `{table}` LIKE `{database}`.`{table}`;");
            let _ = write!(create, "ALTER TABLE `{table}` DISCARD TABLESPACE;");
            let _ = write!(import, "ALTER TABLE `{table}` IMPORT TABLESPACE;");
        }
        self.run(name, &create)?;
        let to = self.socket_folder().join("data").join(name);
        for entry in std::fs::read_dir(&exported).map_err(TestbedError::io("reading tables"))? {
            let from = entry.map_err(TestbedError::io("reading tables"))?.path();
            let file = from.file_name().unwrap_or_default();
            std::fs::copy(&from, to.join(file)).map_err(TestbedError::io("copying a table"))?;
        }
        self.run(name, &import)?;
        self.copy_routines(database, name)?;
        Ok(url)
    }

    fn tables(&self, database: &str) -> Result<Vec<String>, TestbedError> {
        let rows = self.run(database, "SHOW TABLES")?;
        Ok(rows.into_iter().flatten().flatten().collect())
    }

    /// The folder with the files of a database's tables, written by the first call.
    fn exported(&self, database: &str, tables: &[String]) -> Result<PathBuf, TestbedError> {
        static WRITING: Mutex<()> = Mutex::new(());
        let folder = self.socket_folder().join("exported").join(database);
        let _writing =
            WRITING.lock().map_err(|_| TestbedError::Failed("an export failed".into()))?;
        if folder.exists() {
            return Ok(folder);
        }
        // A folder that exists is complete.
        let partial = folder.with_extension("partial");
        std::fs::create_dir_all(&partial).map_err(TestbedError::io("creating a folder"))?;
        let data = self.socket_folder().join("data").join(database);
        let (data, to) = (data.display(), partial.display());
        let tables = tables.iter().map(|table| format!("`{table}`")).collect::<Vec<_>>().join(", ");
        // The files are complete until UNLOCK TABLES, and the client's own command runs before it.
        let export = format!(
            "FLUSH TABLES {tables} FOR EXPORT;\nsystem cp {data}/*.ibd {data}/*.cfg {to}\nUNLOCK TABLES;"
        );
        self.run(database, &export)?;
        std::fs::rename(&partial, &folder).map_err(TestbedError::io("renaming a folder"))?;
        Ok(folder)
    }

    fn copy_routines(&self, from: &str, to: &str) -> Result<(), TestbedError> {
        let socket = format!("--socket={}", self.socket().display());
        let dump = Command::new("mariadb-dump")
            .args(["--no-defaults", "--user=root", &socket, "--routines", "--no-data"])
            .args(["--no-create-info", "--skip-triggers", "--skip-comments", from])
            .stdin(Stdio::null())
            .output()
            .map_err(TestbedError::io("starting the program mariadb-dump"))?;
        if !dump.status.success() {
            let stderr = String::from_utf8_lossy(&dump.stderr);
            return Err(TestbedError::Failed(format!("{}: the routines of {from}", stderr.trim())));
        }
        let routines = String::from_utf8_lossy(&dump.stdout);
        self.run(to, &routines).map(drop)
    }
}
