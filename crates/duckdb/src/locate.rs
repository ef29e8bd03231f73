//! Where the library is looked for, and what to do when it is not there.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::library::Library;

/// Environment variable that names the library's file.
pub const VARIABLE: &str = "TRIPHAMMER_DUCKDB";

/// Name of the library's file.
const FILE: &str = if cfg!(windows) {
    "duckdb.dll"
} else if cfg!(target_os = "macos") {
    "libduckdb.dylib"
} else {
    "libduckdb.so"
};

/// Version of the npm package that is recommended, and checked by the tests.
const NPM_VERSION: &str = "1.5.5-r.5";

/// Why there is no library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LibraryError {
    /// It is in none of these places.
    Missing(Vec<String>),
    /// It is there, but cannot be used.
    Unusable(PathBuf, String),
}

impl fmt::Display for LibraryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(places) => write!(
                f,
                "DuckDB's library is not installed; run: {} (or set {VARIABLE} to its file; \
                 looked in {})",
                fetch_command(),
                places.join(", ")
            ),
            Self::Unusable(path, why) => {
                write!(f, "cannot use DuckDB's library {}: {why}", path.display())
            }
        }
    }
}

impl std::error::Error for LibraryError {}

/// Name of the npm package for this machine.
fn npm_package() -> String {
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    };
    let processor = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("node-bindings-{system}-{processor}")
}

/// The command that installs the library in the user's cache.
fn fetch_command() -> String {
    let package = npm_package();
    format!("npm install --prefix ~/.cache/triphammer/duckdb @duckdb/{package}@{NPM_VERSION}")
}

/// The library, loaded on first use; a failed attempt is repeated by the next call.
///
/// # Errors
/// When it is nowhere, or cannot be used.
pub(crate) fn library() -> Result<&'static Library, LibraryError> {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    static LOADING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(library) = LIBRARY.get() {
        return Ok(library);
    }
    let found = find(&Places::of_this_process())?;
    Ok(LIBRARY.get_or_init(|| found))
}

impl Library {
    /// The library of this process: by the variable `TRIPHAMMER_DUCKDB`, beside the program, where
    /// the system looks, or in the user's cache.
    ///
    /// # Errors
    /// When it is nowhere (the message has the command that fetches it), or cannot be used.
    pub fn get() -> Result<&'static Self, LibraryError> {
        library()
    }
}

/// What the search depends on.
struct Places {
    variable: Option<OsString>,
    /// The folder of the program.
    beside: Option<PathBuf>,
    /// What the system finds by its name.
    system: &'static str,
    /// DuckDB's folder in the user's cache.
    cache: Option<PathBuf>,
}

impl Places {
    fn of_this_process() -> Self {
        let program = std::env::current_exe().ok();
        let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let cache = folder("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .or_else(|| folder("HOME").map(|home| Path::new(&home).join(".cache")));
        Self {
            variable: folder(VARIABLE),
            beside: program.as_deref().and_then(Path::parent).map(Path::to_owned),
            system: FILE,
            cache: cache.map(|cache| cache.join("triphammer/duckdb")),
        }
    }
}

/// The first library that is there. One that is there and cannot be used ends the search: its user
/// wants that one.
fn find(places: &Places) -> Result<Library, LibraryError> {
    let load =
        |path: PathBuf| Library::load(&path).map_err(|why| LibraryError::Unusable(path, why));
    if let Some(file) = &places.variable {
        return load(PathBuf::from(file));
    }
    let mut looked = Vec::new();
    if let Some(file) = places.beside.as_ref().map(|folder| folder.join(FILE)) {
        if file.is_file() {
            return load(file);
        }
        looked.push(file.display().to_string());
    }
    if let Ok(library) = Library::load(Path::new(places.system)) {
        return Ok(library);
    }
    looked.push("the system's libraries".to_owned());
    if let Some(cache) = &places.cache {
        let installed = cache.join("node_modules/@duckdb").join(npm_package());
        for file in [cache.join(FILE), installed.join(FILE)] {
            if file.is_file() {
                return load(file);
            }
        }
        looked.push(cache.display().to_string());
    }
    Err(LibraryError::Missing(looked))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(folder: &Path) -> Places {
        Places {
            variable: None,
            beside: Some(folder.join("bin")),
            system: "libduckdb-of-nobody.so",
            cache: Some(folder.join("cache")),
        }
    }

    #[test]
    fn a_missing_library_names_the_command_and_the_places() {
        let folder = tempfile::tempdir().unwrap();
        let error = find(&places(folder.path())).unwrap_err().to_string();
        assert!(error.contains("run: npm install --prefix ~/.cache/triphammer/duckdb"), "{error}");
        assert!(error.contains("@1.5.5-r.5") && error.contains(VARIABLE), "{error}");
        let cache = folder.path().join("cache");
        assert!(error.contains(&cache.display().to_string()), "{error}");
    }

    #[test]
    fn the_first_place_that_has_the_file_counts() {
        let folder = tempfile::tempdir().unwrap();
        let mut places = places(folder.path());
        let in_npm = format!("cache/node_modules/@duckdb/{}/{FILE}", npm_package());
        let expect = |place: &str| {
            let file = folder.path().join(place);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, "broken").unwrap();
            match find(&places) {
                Err(LibraryError::Unusable(path, _)) => assert_eq!(path, file),
                other => panic!("{other:?}"),
            }
        };
        for place in [in_npm.as_str(), &format!("cache/{FILE}"), &format!("bin/{FILE}")] {
            expect(place);
        }
        places.variable = Some(folder.path().join("gone.so").into());
        let error = find(&places).unwrap_err();
        assert!(matches!(error, LibraryError::Unusable(path, _) if path.ends_with("gone.so")));
    }
}
