//! The files of dialects: those under `sql/`, which are embedded in release builds (debug builds
//! read the folder), and folders that users name with `--dialect-dir`.
//!
//! A user's folder has the same files as a folder of `sql/`. Its dialect is known by the name of
//! the file and the path, such as `mine in ./sql`, so that it replaces no other dialect.

use std::collections::BTreeMap;
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

/// Reads a user's folder, and returns the name of its dialect.
///
/// # Errors
/// When it cannot be read, is no dialect, or is too large.
pub(crate) fn add(
    path: &Path,
    name_of: impl Fn(&str) -> Result<String, String>,
) -> Result<String, SpecError> {
    let shown = path.display();
    let wrong = |why: String| SpecError::new(format!("--dialect-dir {shown}: {why}"));
    let mut folder = Folder::new();
    for name in ["dialect.toml", "doctor.toml", "observe.toml", "capture.toml"] {
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
    for workload in std::fs::read_dir(path).map_err(failed)? {
        let workload = workload.map_err(failed)?;
        if !workload.path().is_dir() {
            continue;
        }
        for file in std::fs::read_dir(workload.path()).map_err(failed)? {
            let file = file.map_err(failed)?.path();
            let in_folder = file.strip_prefix(path).unwrap_or(&file).to_string_lossy().into_owned();
            if file.extension().is_none_or(|extension| extension != "sql") {
                continue;
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
