//! The script, which is read once and stored with a job.

use std::path::Path;

use triphammer_core::SpecError;
use triphammer_core::small_file::read_text;

use crate::script::{ScriptText, scripts, value};

/// Maximum size of a script, in bytes.
const BYTES_MAX: u64 = 1024 * 1024;

/// Reads the file that a value names, and returns the value that contains its text; one that already does stays.
///
/// # Errors
/// When the file cannot be read.
pub fn load(given: &str) -> Result<String, SpecError> {
    if given.trim_start().starts_with('[') {
        return Ok(given.to_owned());
    }
    let name = given.trim();
    if name.is_empty() {
        let message =
            "no script is given: name a Python file with a workload, as in --script shop.py";
        return Err(SpecError::new(message).about("script"));
    }
    let text = read_text(Path::new(split(name).0), BYTES_MAX).map_err(|error| {
        let message = format!("--script {name}: cannot read the file: {error}");
        SpecError::new(message).about("script")
    })?;
    value(&[ScriptText { name: name.to_owned(), weight: 1, text: Some(text) }])
}

/// The file of a name, and the class that may follow it.
pub fn split(name: &str) -> (&str, Option<&str>) {
    let is_class = |class: &str| {
        class.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && class.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    match name.rsplit_once(':') {
        Some((file, class)) if is_class(class) => (file, Some(class)),
        _ => (name, None),
    }
}

/// The script of a value that contains it.
///
/// # Errors
/// When the value is malformed, or has more than one script.
pub fn script(given: &str) -> Result<ScriptText, SpecError> {
    let mut found = scripts(&load(given)?)?;
    match (found.pop(), found.is_empty()) {
        (Some(script), true) if script.text.is_some() => Ok(script),
        _ => Err(SpecError::new("--script: expected one script with its text").about("script")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("shop.py");
        std::fs::write(&file, "x = 1").unwrap();
        let name = format!("{}:Shop", file.display());
        let loaded = load(&name).unwrap();
        std::fs::remove_file(&file).unwrap();
        let found = script(&loaded).unwrap();
        assert_eq!((found.name.as_str(), found.text.as_deref()), (name.as_str(), Some("x = 1")));
        for (given, message) in [
            ("", "no script is given"),
            ("nowhere.py:Shop", "--script nowhere.py:Shop: cannot read the file"),
        ] {
            let error = load(given).unwrap_err().to_string();
            assert!(error.contains(message), "{given}: {error}");
        }
    }

    #[test]
    fn a_name_may_end_with_a_class() {
        for (name, found) in [
            ("a.py", ("a.py", None)),
            ("a.py:B", ("a.py", Some("B"))),
            ("a:1.py", ("a:1.py", None)),
            ("C:/a.py:B2", ("C:/a.py", Some("B2"))),
        ] {
            assert_eq!(split(name), found);
        }
    }
}
