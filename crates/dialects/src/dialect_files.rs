//! The files of dialects: those under `sql/`, which are embedded in release builds (debug builds
//! read the folder), and folders that users name with `--dialect-dir`.
//!
//! A user's folder has the same files as a folder of `sql/`. Its dialect is known by the name of
//! the file and the path, such as `mine in ./sql`, so that it replaces no other dialect.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rust_embed::RustEmbed;
use triphammer_core::SpecError;
use triphammer_core::small_file::read_text;

/// Longest file of a user's folder, in bytes.
const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// Most files of a user's folder.
const FILES_MAX: usize = 500;
/// Most folders that a process knows; it reads one again each time it is named.
const FOLDERS_MAX: usize = 100;
/// Files at the top of a dialect's folder.
const TOP_FILES: [&str; 6] =
    ["dialect.toml", "doctor.toml", "observe.toml", "capture.toml", "isolation.toml", "state.toml"];
/// Most letters in which a misspelled file differs from one of these. Other files may be for other
/// purposes.
const LETTERS_MAX: usize = 2;

#[derive(RustEmbed)]
#[folder = "sql"]
struct Files;

/// Texts of a user's folder, by their path in it.
type Folder = BTreeMap<String, String>;

/// Users' folders, by the names of their dialects.
static FOLDERS: Mutex<BTreeMap<String, Arc<Folder>>> = Mutex::new(BTreeMap::new());

fn folder_of(path: &str) -> Option<(Arc<Folder>, String)> {
    let folders = FOLDERS.lock().unwrap_or_else(PoisonError::into_inner);
    folders.iter().find_map(|(name, folder)| {
        let rest = path.strip_prefix(name.as_str())?.strip_prefix('/')?;
        Some((Arc::clone(folder), rest.to_owned()))
    })
}

/// Names of the dialects under `sql/`, sorted.
pub(crate) fn built_in() -> Vec<String> {
    let mut names: Vec<_> = Files::iter()
        .filter_map(|path| path.strip_suffix("/dialect.toml").map(str::to_owned))
        .collect();
    names.sort_unstable();
    names
}

/// The text of a file, by the dialect's name and the path in its folder.
pub(crate) fn text(path: &str) -> Option<String> {
    if let Some((folder, rest)) = folder_of(path) {
        return folder.get(&rest).cloned();
    }
    let file = Files::get(path)?;
    Some(String::from_utf8_lossy(&file.data).into_owned())
}

/// The SQL of a dialect's folders, sorted by name within each folder, with the files' names.
pub(crate) fn sql(dialect: &str, folders: &[&str]) -> Vec<(String, String)> {
    let all: Vec<String> = match folder_of(&format!("{dialect}/")) {
        Some((folder, _)) => folder.keys().map(|path| format!("{dialect}/{path}")).collect(),
        None => Files::iter().map(|path| path.to_string()).collect(),
    };
    let mut found = Vec::new();
    for folder in folders {
        let prefix = format!("{dialect}/{folder}/");
        let mut paths: Vec<_> =
            all.iter().filter(|path| path.starts_with(&prefix) && path.ends_with(".sql")).collect();
        paths.sort_unstable();
        found.extend(
            paths.into_iter().filter_map(|path| Some((format!("sql/{path}"), text(path)?))),
        );
    }
    found
}

/// Whether a dialect is that of a user's folder.
pub(crate) fn is_of_user(dialect: &str) -> bool {
    folder_of(&format!("{dialect}/")).is_some()
}

/// Names of the folders that dialects have for the SQL of workloads, sorted.
fn workload_folders() -> BTreeSet<String> {
    Files::iter().filter_map(|path| workload_folder(&path)).collect()
}

/// The folder in a dialect's folder that a file of SQL is in.
fn workload_folder(path: &str) -> Option<String> {
    let path = path.strip_suffix(".sql")?;
    path.split('/').nth(1).map(str::to_owned)
}

/// Rejects a file at the top of a folder that seems to be meant for the dialect, but is not read.
fn reject_stray(name: &str, folders: &str) -> Result<(), String> {
    if name.ends_with(".sql") && !name.starts_with('.') {
        return Err(format!("{name} must be in the folder of its workload: one of {folders}"));
    }
    let resembled =
        TOP_FILES.into_iter().find(|known| strsim::levenshtein(name, known) <= LETTERS_MAX);
    match resembled {
        Some(known) if known != name => Err(format!("{name} is not read: {known} would be")),
        _ => Ok(()),
    }
}

/// Reads a user's folder, and returns the name of its dialect.
///
/// # Errors
/// When it cannot be read, is no dialect, is too large, or has files that would be ignored.
pub(crate) fn add(
    path: &Path,
    name_of: impl Fn(&str) -> Result<String, String>,
) -> Result<String, SpecError> {
    let shown = path.display();
    let wrong = |why: String| SpecError::new(format!("--dialect-dir {shown}: {why}"));
    let mut folder = Folder::new();
    for name in TOP_FILES {
        let file = path.join(name);
        if file.exists() {
            let text = read_text(&file, FILE_BYTES_MAX);
            let text = text.map_err(|error| wrong(format!("reading {name}: {error}")))?;
            folder.insert(name.to_owned(), text);
        }
    }
    let Some(dialect) = folder.get("dialect.toml") else {
        return Err(wrong(
            "there is no dialect.toml: name a folder such as docs/examples/sqlite-odbc".to_owned(),
        ));
    };
    let name = name_of(dialect).map_err(|error| wrong(format!("dialect.toml: {error}")))?;
    let failed = |error: std::io::Error| wrong(error.to_string());
    let known = workload_folders();
    let shown_known = known.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    for workload in std::fs::read_dir(path).map_err(failed)? {
        let workload = workload.map_err(failed)?;
        let workload_name = workload.file_name().to_string_lossy().into_owned();
        if !workload.path().is_dir() {
            reject_stray(&workload_name, &shown_known).map_err(wrong)?;
            continue;
        }
        for file in std::fs::read_dir(workload.path()).map_err(failed)? {
            let file = file.map_err(failed)?.path();
            let in_folder = file.strip_prefix(path).unwrap_or(&file).to_string_lossy().into_owned();
            if file.extension().is_none_or(|extension| extension != "sql") {
                continue;
            }
            if !known.contains(&workload_name) {
                let why = format!("{in_folder}: no workload has such a folder: use {shown_known}");
                return Err(wrong(why));
            }
            if folder.len() >= FILES_MAX {
                return Err(wrong(format!("has more than {FILES_MAX} files")));
            }
            let text = read_text(&file, FILE_BYTES_MAX);
            let text = text.map_err(|error| wrong(format!("reading {in_folder}: {error}")))?;
            folder.insert(in_folder, text);
        }
    }
    let name = format!("{name} in {shown}");
    let mut folders = FOLDERS.lock().unwrap_or_else(PoisonError::into_inner);
    if folders.len() >= FOLDERS_MAX && !folders.contains_key(&name) {
        return Err(wrong(format!("this process has read {FOLDERS_MAX} others; restart it")));
    }
    folders.insert(name.clone(), Arc::new(folder));
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(file: &str) -> Result<String, String> {
        let folder = tempfile::tempdir().unwrap();
        for name in ["dialect.toml", file] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        add(folder.path(), |_| Ok("mine".to_owned())).map_err(|error| error.to_string())
    }

    #[test]
    fn files_that_would_be_ignored_are_rejected() {
        for (file, expected) in [
            ("tprocc/schema.sql", "use _build, _command, ch,"),
            ("schema.sql", "one of _build, _command, ch,"),
            ("doctr.toml", "doctor.toml would be"),
            ("observer.toml", "observe.toml would be"),
        ] {
            let message = added(file).unwrap_err();
            assert!(message.contains(file) && message.contains(expected), "{message}");
        }
        for file in ["tproc-c/schema.sql", "tproc-c/notes.txt", "README.md", "load.toml", "a/b.py"]
        {
            added(file).unwrap();
        }
    }
}
