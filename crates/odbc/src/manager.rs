//! The driver manager: found, loaded once, and never unloaded.

use std::ffi::{CStr, OsStr, OsString, c_char, c_int};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::{fmt, ptr};

use crate::api::{ATTR_ODBC_VERSION, Api, HANDLE_ENV, Handle, OV_ODBC3, as_pointer, worked};

/// Environment variable that names the driver manager's file.
pub const VARIABLE: &str = "TRIPHAMMER_ODBC";

/// Name of the driver manager's file.
const FILE: &str = if cfg!(windows) {
    "odbc32.dll"
} else if cfg!(target_os = "macos") {
    "libodbc.2.dylib"
} else {
    "libodbc.so.2"
};

/// The category of a locale that says how text is encoded (`LC_CTYPE`).
const LC_CTYPE: c_int = if cfg!(target_os = "linux") { 0 } else { 2 };
/// Locales whose text is UTF-8, in the order in which they are tried.
const LOCALES: [&CStr; 3] = [c"C.UTF-8", c"en_US.UTF-8", c"UTF-8"];

unsafe extern "C" {
    /// Of the C library that every program here is linked to.
    fn setlocale(category: c_int, locale: *const c_char) -> *mut c_char;
}

/// Why there is no driver manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManagerError {
    /// The system does not find it.
    Missing(String),
    /// It is there, but cannot be used.
    Unusable(PathBuf, String),
}

impl fmt::Display for ManagerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(why) => write!(
                f,
                "there is no ODBC driver manager: install unixODBC (Debian: apt-get install \
                 unixodbc; Fedora: dnf install unixODBC; macOS: brew install unixodbc), or set \
                 {VARIABLE} to its file ({why})"
            ),
            Self::Unusable(path, why) => {
                write!(f, "cannot use the ODBC driver manager {}: {why}", path.display())
            }
        }
    }
}

impl std::error::Error for ManagerError {}

/// A loaded driver manager and its environment.
pub struct Manager {
    pub(crate) api: Api,
    path: PathBuf,
    pub(crate) environment: Environment,
}

/// `SQLHENV`.
pub(crate) struct Environment(pub(crate) Handle);

// SAFETY: ODBC requires drivers and their manager to take environments from any thread.
unsafe impl Send for Environment {}
// SAFETY: as above.
unsafe impl Sync for Environment {}

impl fmt::Debug for Manager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the ODBC driver manager {}", self.path.display())
    }
}

impl Manager {
    /// The driver manager of this process, loaded on first use: the file that `TRIPHAMMER_ODBC`
    /// names, or the one that the system finds. A failed attempt is repeated by the next call.
    ///
    /// # Errors
    /// When there is none, or it cannot be used; the message says what to install.
    pub fn get() -> Result<&'static Self, ManagerError> {
        static MANAGER: OnceLock<Manager> = OnceLock::new();
        static LOADING: Mutex<()> = Mutex::new(());
        let _one_at_a_time = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(manager) = MANAGER.get() {
            return Ok(manager);
        }
        let named = std::env::var_os(VARIABLE).filter(|value| !value.is_empty());
        let found = Self::find(named, FILE)?;
        use_utf8();
        crate::crash::install();
        Ok(MANAGER.get_or_init(|| found))
    }

    fn find(named: Option<OsString>, file: &str) -> Result<Self, ManagerError> {
        match named {
            Some(named) => {
                let path = PathBuf::from(named);
                Self::load(&path).map_err(|why| ManagerError::Unusable(path, why.text))
            }
            None => Self::load(Path::new(file)).map_err(|why| match why.is_loaded {
                true => ManagerError::Unusable(file.into(), why.text),
                false => ManagerError::Missing(why.text),
            }),
        }
    }

    /// Loads a driver manager from a file, or by its name from where the system looks. It is never
    /// unloaded: call this once.
    fn load(path: &Path) -> Result<Self, Unloaded> {
        check_files(path)?;
        let name: &OsStr = path.as_os_str();
        // SAFETY: the initialisers of a driver manager only set up its own data. Any other library
        // that a user names is theirs to trust, as are the programs that they start.
        let library = unsafe { libloading::Library::new(name) }
            .map_err(|error| Unloaded { text: reason(&error), is_loaded: false })?;
        // SAFETY: the library is a driver manager, by its name or the user's word, and is not
        // unloaded.
        let api = unsafe { Api::of(&library) }.map_err(|symbol| Unloaded {
            text: format!("it is not an ODBC driver manager: it has no function {symbol}"),
            is_loaded: true,
        })?;
        std::mem::forget(library);
        let environment = environment(&api).ok_or(Unloaded {
            text: "it cannot create an environment".to_owned(),
            is_loaded: true,
        })?;
        Ok(Self { api, path: path.to_owned(), environment })
    }

    /// Where the driver manager was loaded from.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Why a file was not loaded.
#[derive(Debug)]
struct Unloaded {
    text: String,
    /// Whether there is a library, which is of another kind.
    is_loaded: bool,
}

/// Rejects a driver manager or configuration of it that is not a regular file: it would be waited
/// for, or read without end.
fn check_files(path: &Path) -> Result<(), Unloaded> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let folder = variable("ODBCSYSINI").map(PathBuf::from);
    let of_system = |name| folder.as_ref().map(|folder| folder.join(name));
    let files = [
        Some(path.to_owned()).filter(|path| path.components().count() > 1),
        variable("ODBCINI").map(PathBuf::from),
        of_system("odbc.ini"),
        of_system("odbcinst.ini"),
    ];
    for file in files.into_iter().flatten() {
        if std::fs::metadata(&file).is_ok_and(|facts| !facts.is_file()) {
            let text = format!("{} is not a regular file", file.display());
            return Err(Unloaded { text, is_loaded: true });
        }
    }
    Ok(())
}

fn environment(api: &Api) -> Option<Environment> {
    let mut handle = ptr::null_mut();
    // SAFETY: a place for the new handle.
    let made = unsafe { (api.alloc_handle)(HANDLE_ENV, ptr::null_mut(), &raw mut handle) };
    if !worked(made) {
        return None;
    }
    // SAFETY: made above; the attribute takes a number.
    let set = unsafe { (api.set_env_attr)(handle, ATTR_ODBC_VERSION, as_pointer(OV_ODBC3), 0) };
    worked(set).then_some(Environment(handle))
}

/// Makes UTF-8 the encoding of text in this process, which is ASCII until then: drivers and their
/// manager convert text by it. Where no locale of the list is installed, ASCII remains.
fn use_utf8() {
    for locale in LOCALES {
        // SAFETY: the text ends with a zero byte. Rust's library does not read the locale, and
        // libraries that do are loaded after this.
        if !unsafe { setlocale(LC_CTYPE, locale.as_ptr()) }.is_null() {
            return;
        }
    }
}

/// The system loader's own words, which name what is missing or wrong.
fn reason(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_manager_names_what_to_install() {
        let error = Manager::find(None, "libodbc-of-nobody.so").unwrap_err().to_string();
        assert!(error.contains("apt-get install unixodbc"), "{error}");
        assert!(error.contains(VARIABLE) && error.contains("libodbc-of-nobody"), "{error}");
    }

    #[test]
    fn what_is_no_manager_is_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("libodbc.so");
        std::fs::write(&file, "no library").unwrap();
        let error = Manager::find(Some(file.clone().into()), FILE).unwrap_err().to_string();
        assert!(error.contains(&file.display().to_string()), "{error}");
        // A library of another kind, which every Linux system has.
        if cfg!(target_os = "linux") {
            let error = Manager::find(Some("libc.so.6".into()), FILE).unwrap_err().to_string();
            assert!(error.contains("no function SQLAllocHandle"), "{error}");
            let error = Manager::find(None, "libc.so.6").unwrap_err();
            assert!(matches!(error, ManagerError::Unusable(..)), "{error}");
        }
    }
}
