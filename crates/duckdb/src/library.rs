//! A loaded library, which stays loaded.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{fmt, ptr};

use crate::api::{Api, Handle, SUCCESS};
use crate::error::{Error, c_text, text};

/// Oldest supported version.
const OLDEST: (u32, u32) = (1, 5);

/// DuckDB's shared library.
pub struct Library {
    pub(crate) api: Api,
    version: String,
    path: PathBuf,
    /// DuckDB's own list of the databases that this process has open: two connections to one file
    /// share its database, which a file cannot be opened for twice.
    pub(crate) databases: Databases,
    /// Held while a database is opened or closed: DuckDB does not find a database that is being
    /// closed, and does not open its file either.
    opening: Mutex<()>,
}

/// `duckdb_instance_cache`.
pub(crate) struct Databases(pub(crate) Handle);

// SAFETY: DuckDB guards the cache by a mutex of its own.
unsafe impl Send for Databases {}
// SAFETY: as above.
unsafe impl Sync for Databases {}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DuckDB {} in {}", self.version, self.path.display())
    }
}

impl Library {
    /// Loads the library from a file, or by its name from where the system looks. It is never
    /// unloaded: call this once.
    ///
    /// # Errors
    /// When it cannot be loaded, is not DuckDB, or is too old.
    pub(crate) fn load(path: &Path) -> Result<Self, String> {
        // The system's loader would wait for a pipe.
        if path.components().count() > 1
            && std::fs::metadata(path).is_ok_and(|facts| !facts.is_file())
        {
            return Err("not a regular file".to_owned());
        }
        let name: &OsStr = path.as_os_str();
        // SAFETY: the initialisers of DuckDB's library only set up its own data. Any other library
        // that a user names is theirs to trust, as are the programs that they start.
        let library =
            unsafe { libloading::Library::new(name) }.map_err(|error| reason(&error, path))?;
        // SAFETY: the library is DuckDB's, by its name or the user's word, and is not unloaded.
        let api = unsafe { Api::of(&library) }
            .map_err(|symbol| format!("not DuckDB 1.5 or newer: it has no function {symbol}"))?;
        std::mem::forget(library);
        // SAFETY: returns a constant text.
        let version = unsafe { text((api.library_version)()) };
        let version = version.trim_start_matches('v').to_owned();
        if number(&version).is_none_or(|found| found < OLDEST) {
            return Err(format!("DuckDB {version} is too old: 1.5 or newer is needed"));
        }
        // SAFETY: takes nothing; the cache lives as long as the library.
        let databases = Databases(unsafe { (api.create_instance_cache)() });
        let (path, opening) = (path.to_owned(), Mutex::new(()));
        Ok(Self { api, version, path, databases, opening })
    }

    /// DuckDB's version, such as `1.5.5`.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Where the library was loaded from.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Waits until no other thread opens or closes a database.
    pub(crate) fn alone(&self) -> MutexGuard<'_, ()> {
        self.opening.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the library is older than a version, by major and minor number.
    #[must_use]
    pub fn is_before(&self, version: (u32, u32)) -> bool {
        number(&self.version).is_none_or(|found| found < version)
    }

    /// Settings of every database, before others: nothing is downloaded behind the user's back.
    pub(crate) fn config(&self, others: &[(&'static str, String)]) -> Result<Handle, Error> {
        let mut config = ptr::null_mut();
        // SAFETY: a place for the new object.
        if unsafe { (self.api.create_config)(&raw mut config) } != SUCCESS {
            return Err(Error::new("cannot make a configuration"));
        }
        let (name, value) = (c"autoinstall_known_extensions", c"false");
        // SAFETY: made above; both texts end with a zero byte. A library without that setting
        // installs nothing.
        unsafe { (self.api.set_config)(config, name.as_ptr(), value.as_ptr()) };
        for (name, value) in others {
            let texts = (c_text(name)?, c_text(value)?);
            // SAFETY: as above.
            let set = unsafe { (self.api.set_config)(config, texts.0.as_ptr(), texts.1.as_ptr()) };
            if set != SUCCESS {
                // SAFETY: made above, and not used any more.
                unsafe { (self.api.destroy_config)(&raw mut config) };
                let message = format!("cannot set {name} to {value}");
                return Err(Error::new(message));
            }
        }
        Ok(config)
    }
}

/// The same path for all spellings of a file's name: DuckDB's list goes by the text.
pub(crate) fn one_spelling(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let in_folder = || {
        let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
        Some(folder.join(path.file_name()?))
    };
    path.canonicalize().ok().or_else(in_folder).unwrap_or_else(|| path.to_owned())
}

/// The system loader's own words, which name what is missing or wrong.
fn reason(error: &libloading::Error, path: &Path) -> String {
    let words =
        std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string);
    let file = format!("{}: ", path.display());
    words.strip_prefix(&file).unwrap_or(&words).to_owned()
}

/// Major and minor number of a version.
fn number(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split('.');
    let mut next = || parts.next()?.parse().ok();
    Some((next()?, next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_by_their_numbers() {
        assert_eq!(number("1.5.5"), Some((1, 5)));
        assert!(number("10.0.0").unwrap() > OLDEST && number("1.10.1").unwrap() > OLDEST);
        assert!(number("1.4.3").unwrap() < OLDEST);
        assert_eq!(number("devel"), None);
    }

    #[test]
    fn what_is_no_duckdb_is_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("libduckdb.so");
        std::fs::write(&file, "no library").unwrap();
        let error = Library::load(&file).unwrap_err();
        assert_eq!(Library::load(folder.path()).unwrap_err(), "not a regular file");
        if cfg!(target_os = "linux") {
            assert_eq!(error, "file too short");
        }
        // A library of another kind, which every Linux system has.
        if cfg!(target_os = "linux") {
            let error = Library::load(Path::new("libc.so.6")).unwrap_err();
            assert!(error.contains("no function duckdb_library_version"), "{error}");
        }
    }
}
