//! Location and access rights of the job store.

use std::ffi::OsString;
use std::fs::{DirBuilder, OpenOptions};
use std::path::{Path, PathBuf};

use triphammer_core::small_file::check_database;
use triphammer_settings::Settings;
use triphammer_settings::failure::Failure;

use super::error::StoreError;

/// Directory of the store within the user's data directory.
const FOLDER: &str = "triphammer";
/// Path of the store's file.
const FILE: &str = "jobs.sqlite";

/// Default path of the store: `$XDG_DATA_HOME/triphammer/jobs.sqlite`, or the same in the system's
/// directory for user data (`~/.local/share` on Linux).
///
/// # Errors
/// When the environment defines no directory.
pub fn default_path() -> Result<PathBuf, StoreError> {
    path_from(|name| std::env::var_os(name)).ok_or(StoreError::NoFolder)
}

fn path_from(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    // A relative path would mean a different store in every directory; the XDG standard ignores it
    // too.
    let folder = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = folder("XDG_DATA_HOME").or_else(|| {
        if cfg!(windows) {
            folder("LOCALAPPDATA")
        } else if cfg!(target_os = "macos") {
            folder("HOME").map(|home| home.join("Library/Application Support"))
        } else {
            folder("HOME").map(|home| home.join(".local/share"))
        }
    })?;
    Some(data.join(FOLDER).join(FILE))
}

/// Creates the store's file and its directories if they are missing, accessible only to the user.
pub(super) fn make_private(path: &Path) -> Result<(), StoreError> {
    let failed = |source| StoreError::Create { path: path.to_owned(), source };
    if path.exists() {
        return Ok(());
    }
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        private_folders().create(folder).map_err(failed)?;
    }
    open_private(path).map(drop).map_err(failed)
}

/// Rejects a path that exists and is no regular file, or has such a file of SQLite's beside it: SQLite
/// would wait for a pipe.
pub(super) fn check(path: &Path) -> Result<(), StoreError> {
    let failed = |source| StoreError::Irregular { path: path.to_owned(), source };
    check_database(path).map_err(failed)
}

/// Opens a file for writing, and creates it accessible only to the user if it is missing. SQLite
/// gives its auxiliary files the same rights.
pub(super) fn open_private(path: &Path) -> std::io::Result<std::fs::File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn private_folders() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// Path of the store.
pub fn store_path(settings: &Settings, store: Option<&PathBuf>) -> Result<PathBuf, Failure> {
    match (settings.get("store"), store) {
        (Some(path), _) => Ok(PathBuf::from(path)),
        (None, Some(path)) => Ok(path.clone()),
        (None, None) => default_path().map_err(Failure::from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(all(unix, not(target_os = "macos")))]
    fn the_store_is_in_the_users_data_folder() {
        let path = |xdg: &str, home: &str| {
            path_from(|name| {
                let value = if name == "HOME" { home } else { xdg };
                (!value.is_empty()).then(|| value.into())
            })
        };
        assert_eq!(path("/d", "/h"), Some("/d/triphammer/jobs.sqlite".into()));
        assert_eq!(path("", "/h"), Some("/h/.local/share/triphammer/jobs.sqlite".into()));
        assert_eq!(path("relative", "/h"), Some("/h/.local/share/triphammer/jobs.sqlite".into()));
        assert_eq!(path("", ""), None);
    }
}
