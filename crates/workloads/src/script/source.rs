//! The scripts of a run: named on the command line, read once, and from then on one text that
//! contains them all, so that a stored job repeats what it ran.

use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use triphammer_core::SpecError;
use triphammer_core::small_file::read_text;

use super::builtin;

/// Maximum number of scripts of a run, as in pgbench.
pub const SCRIPTS_MAX: usize = 128;
/// Maximum size of a script, in bytes.
const BYTES_MAX: u64 = 1024 * 1024;
/// Digits of a hash that people see.
const HASH_DIGITS: usize = 12;

/// A script of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptText {
    /// Name in messages and reports: that of its file, or of the built-in script.
    pub name: String,
    /// Weight in the mix.
    #[serde(default = "one")]
    pub weight: u32,
    /// The script itself; absent for a built-in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

const fn one() -> u32 {
    1
}

/// Whether a value contains the texts of its scripts.
fn is_loaded(value: &str) -> bool {
    value.trim_start().starts_with('[')
}

/// Reads the files that a value such as `a.sql@3, select-only@1` names, and returns the value that
/// contains them; one that already does stays. `may_read` says whether files may be read.
///
/// # Errors
/// When a file cannot or may not be read, or a weight is invalid.
pub fn load(value: &str, may_read: bool) -> Result<String, SpecError> {
    if is_loaded(value) {
        return Ok(value.to_owned());
    }
    let names = value.split(',').map(str::trim).filter(|name| !name.is_empty());
    let scripts = names.map(|name| read(name, may_read)).collect::<Result<Vec<_>, _>>()?;
    self::value(&scripts)
}

/// The value that contains these scripts.
///
/// # Errors
/// Never, unless memory is exhausted.
pub fn value(scripts: &[ScriptText]) -> Result<String, SpecError> {
    serde_json::to_string(scripts).map_err(|error| SpecError::new(error.to_string()))
}

fn read(given: &str, may_read: bool) -> Result<ScriptText, SpecError> {
    let wrong = |why: String| SpecError::new(format!("--script {given}: {why}")).about("script");
    let (name, weight) = match given.rsplit_once('@') {
        None => (given, 1),
        Some((name, weight)) => {
            let is_weight = |weight: &u32| i32::try_from(*weight).is_ok();
            let weight = weight.parse().ok().filter(is_weight).ok_or_else(|| {
                wrong(format!("invalid weight `{weight}`: expected a whole number, as in a.sql@3"))
            })?;
            (name, weight)
        }
    };
    let name = name.to_owned();
    if builtin::find(&name).is_some() {
        return Ok(ScriptText { name, weight, text: None });
    }
    if !may_read {
        return Err(wrong(
            "a request cannot name a file of the server; send the scripts themselves, as in \
             [{\"name\": \"a.sql\", \"weight\": 3, \"text\": \"SELECT 1;\"}]"
                .into(),
        ));
    }
    let text = read_text(Path::new(&name), BYTES_MAX).map_err(|error| {
        let known: Vec<_> = builtin::SCRIPTS.iter().map(|(name, _)| *name).collect();
        wrong(format!("cannot read the file: {error}; built-in scripts are {}", known.join(", ")))
    })?;
    Ok(ScriptText { name, weight, text: Some(text) })
}

/// The scripts of a value that contains them.
///
/// # Errors
/// When it is malformed, has no scripts, too many, or none with a weight.
pub fn scripts(value: &str) -> Result<Vec<ScriptText>, SpecError> {
    let wrong = |why: String| SpecError::new(format!("--script: {why}")).about("script");
    if !is_loaded(value) {
        return scripts(&load(value, false)?);
    }
    let scripts: Vec<ScriptText> =
        serde_json::from_str(value).map_err(|error| wrong(error.to_string()))?;
    if scripts.is_empty() {
        return Err(wrong(
            "no script is given: name a file, as in --script a.sql@3, or a built-in script, \
             as in --script select-only"
                .into(),
        ));
    }
    if scripts.len() > SCRIPTS_MAX {
        return Err(wrong(format!("at most {SCRIPTS_MAX} scripts, got {}", scripts.len())));
    }
    if scripts.iter().all(|script| script.weight == 0) {
        return Err(wrong("at least one script needs a weight above 0".into()));
    }
    for script in &scripts {
        let is_long = |text: &String| text.len() as u64 > BYTES_MAX;
        if script.text.as_ref().is_some_and(is_long) {
            let (name, most) = (&script.name, BYTES_MAX / 1024);
            return Err(wrong(format!("{name} is longer than {most} KiB")));
        }
        if script.text.is_none() && builtin::find(&script.name).is_none() {
            return Err(wrong(format!("`{}` is not a built-in script", script.name)));
        }
    }
    Ok(scripts)
}

impl ScriptText {
    /// The script itself.
    #[must_use]
    pub fn text(&self) -> &str {
        let builtin = || builtin::find(&self.name).unwrap_or_default();
        self.text.as_deref().unwrap_or_else(builtin)
    }

    /// SHA-256 of the text, in hexadecimal digits.
    #[must_use]
    pub fn hash(&self) -> String {
        let digest = Sha256::digest(self.text().as_bytes());
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn title(&self) -> String {
        match self.weight {
            1 => self.name.clone(),
            weight => format!("{}@{weight}", self.name),
        }
    }
}

/// Names and weights of the scripts of a value, for people: `a.sql@3, select-only`. A value that
/// cannot be read is returned as it is.
#[must_use]
pub fn summary(value: &str) -> String {
    let titles = |scripts: Vec<ScriptText>| {
        scripts.iter().map(ScriptText::title).collect::<Vec<_>>().join(", ")
    };
    scripts(value).map_or_else(|_| value.to_owned(), titles)
}

/// Names and weights of scripts, each with the beginning of its SHA-256: `a.sql@3 (sha256 0123456789ab)`.
#[must_use]
pub fn hashes(scripts: &[ScriptText]) -> String {
    let title = |script: &ScriptText| {
        format!("{} (sha256 {})", script.title(), &script.hash()[..HASH_DIGITS])
    };
    scripts.iter().map(title).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_once_and_kept_in_the_value() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.sql");
        std::fs::write(&file, "SELECT 1;\n").unwrap();
        let given = format!("{}@3, select-only", file.display());
        let value = load(&given, true).unwrap();
        std::fs::remove_file(&file).unwrap();
        assert_eq!(load(&value, false).unwrap(), value);
        let scripts = scripts(&value).unwrap();
        assert_eq!(scripts.iter().map(|s| s.weight).collect::<Vec<_>>(), [3, 1]);
        assert_eq!(scripts[0].text(), "SELECT 1;\n");
        assert!(scripts[1].text().starts_with("\\set aid"));
        assert_eq!(summary(&value), given);
        assert!(hashes(&scripts).contains("a.sql@3 (sha256 b4e0497804e4"), "{value}");
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (value, may_read, message) in [
            ("", true, "no script is given"),
            ("select-only@x", true, "invalid weight `x`"),
            ("select-only@-1", true, "invalid weight `-1`"),
            ("select-only@2147483648", true, "invalid weight"),
            ("select-only@0", true, "at least one script needs a weight above 0"),
            ("nowhere.sql", true, "--script nowhere.sql: cannot read the file: "),
            ("nowhere.sql", false, "a request cannot name a file of the server"),
            ("[{\"name\": \"a\"}]", false, "`a` is not a built-in script"),
            ("[{\"nam\": 1}]", false, "unknown field"),
        ] {
            let found = load(value, may_read).and_then(|value| scripts(&value));
            let error = found.expect_err(value).to_string();
            assert!(error.contains(message), "{value}: {error}");
        }
        let many = vec!["select-only"; 129].join(", ");
        let error = scripts(&load(&many, false).unwrap()).unwrap_err().to_string();
        assert!(error.contains("at most 128 scripts, got 129"), "{error}");
        let long = ScriptText { name: "a".into(), weight: 1, text: Some("x".repeat(2_000_000)) };
        let error = scripts(&serde_json::to_string(&[long]).unwrap()).unwrap_err().to_string();
        assert!(error.contains("a is longer than 1024 KiB"), "{error}");
    }
}
