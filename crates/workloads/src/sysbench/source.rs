//! Where scripts are found. The script itself is read once and stored with a job; the modules that it requires are read
//! from their folders when it runs.

use std::path::{Path, PathBuf};

use triphammer_core::SpecError;
use triphammer_core::small_file::read_text;

use crate::script::{ScriptText, scripts, value};

/// Folders of the tests that come with sysbench. Their licence is the GPL: they are used where they are installed.
pub const FOLDERS: [&str; 2] = ["/usr/share/sysbench", "/usr/local/share/sysbench"];
/// Maximum size of a script, in bytes.
const BYTES_MAX: u64 = 1024 * 1024;

/// Reads the file that a value names, and returns the value that contains its text; one that already does stays.
/// `may_read` says whether files may be read.
///
/// # Errors
/// When the file cannot or may not be read, or there is not exactly one.
pub fn load(given: &str, may_read: bool) -> Result<String, SpecError> {
    if given.trim_start().starts_with('[') {
        return Ok(given.to_owned());
    }
    let wrong = |why: &str| SpecError::new(format!("--script {given}: {why}")).about("script");
    let name = given.trim();
    if name.is_empty() {
        let message = "no script is given: name a file, as in --script test.lua, or a test that \
                       comes with sysbench, as in --script oltp_read_write";
        return Err(SpecError::new(message).about("script"));
    }
    if !may_read {
        return Err(wrong(
            "a request cannot name a file of the server; send the script itself, as in \
             [{\"name\": \"a.lua\", \"text\": \"function event() end\"}]",
        ));
    }
    if name.contains(',') && !Path::new(name).exists() {
        return Err(wrong("expected one script"));
    }
    let path = find(name);
    let text = read_text(&path, BYTES_MAX).map_err(|error| {
        wrong(&format!(
            "cannot read the file: {error}; the tests that come with sysbench are expected in {}",
            FOLDERS.join(" and ")
        ))
    })?;
    let name = path.display().to_string();
    value(&[ScriptText { name, weight: 1, text: Some(text) }])
}

/// The file of a script: as named, with `.lua`, or among those that come with sysbench.
fn find(name: &str) -> PathBuf {
    let with_extension = |folder: &Path| {
        let plain = folder.join(name);
        let lua = folder.join(format!("{name}.lua"));
        [plain, lua].into_iter().find(|path| path.is_file())
    };
    let mut folders =
        std::iter::once("").chain(FOLDERS.into_iter().filter(|_| !name.contains('/')));
    folders.find_map(|folder| with_extension(Path::new(folder))).unwrap_or_else(|| name.into())
}

/// The script of a value that contains it.
///
/// # Errors
/// When the value is malformed, or has more than one script.
pub fn script(given: &str) -> Result<ScriptText, SpecError> {
    let given = load(given, false)?;
    let mut found = scripts(&given)?;
    match (found.pop(), found.is_empty()) {
        (Some(script), true) if script.text.is_some() => Ok(script),
        _ => Err(SpecError::new("--script: expected one script with its text").about("script")),
    }
}

/// Folders in which the script finds modules, besides the current one.
pub fn folders(name: &str) -> Vec<PathBuf> {
    let own = Path::new(name).parent().filter(|folder| !folder.as_os_str().is_empty());
    own.map(Path::to_owned).into_iter().chain(FOLDERS.map(PathBuf::from)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.lua");
        std::fs::write(&file, "function event() end").unwrap();
        let given = folder.path().join("a").display().to_string();
        let loaded = load(&given, true).unwrap();
        std::fs::remove_file(&file).unwrap();
        let found = script(&load(&loaded, false).unwrap()).unwrap();
        assert_eq!(found.text.as_deref(), Some("function event() end"));
        assert_eq!(folders(&found.name)[0], folder.path());
        for (given, may_read, message) in [
            ("", true, "no script is given"),
            ("nowhere.lua", true, "--script nowhere.lua: cannot read the file"),
            ("a.lua, b.lua", true, "expected one script"),
            ("a.lua", false, "a request cannot name a file of the server"),
        ] {
            let error = load(given, may_read).unwrap_err().to_string();
            assert!(error.contains(message), "{given}: {error}");
        }
    }
}
