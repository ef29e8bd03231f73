//! The files of a workload: read once, and from then on one text that contains them all, so that a stored job repeats
//! what it ran.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use toml::de::{DeTable, DeValue};
use triphammer_core::SpecError;
use triphammer_core::small_file::read_text;

use super::settings::FILE;
use crate::script::ScriptText;

/// Largest size of the workload file and of each file that it names, in bytes.
const BYTES_MAX: u64 = 1024 * 1024;
/// Largest number of files that it names.
const FILES_MAX: usize = 32;

/// A workload file, and the files that it names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkloadText {
    /// Name of the file in messages and reports.
    pub name: String,
    /// The file.
    pub text: String,
    /// The files that it names, by the names that it uses.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
}

fn wrong(why: impl std::fmt::Display) -> SpecError {
    SpecError::new(format!("--{}: {why}", FILE.name)).about(&FILE.name)
}

/// Whether a value contains the texts of its files.
fn is_loaded(value: &str) -> bool {
    value.trim_start().starts_with('{')
}

/// Reads the file that a value names, and those that the file names, and returns the value that contains them; one
/// that already does stays. `may_read` says whether files may be read.
///
/// # Errors
/// When a file cannot or may not be read.
pub fn load(value: &str, may_read: bool) -> Result<String, SpecError> {
    if is_loaded(value) || value.is_empty() {
        return Ok(value.to_owned());
    }
    if !may_read {
        return Err(wrong(format!(
            "{value}: a request cannot name a file of the server; send the file itself, as in \
             {{\"name\": \"bank.toml\", \"text\": \"…\"}}"
        )));
    }
    let text = read_text(Path::new(value), BYTES_MAX)
        .map_err(|error| wrong(format!("cannot read {value}: {error}")))?;
    let folder = Path::new(value).parent().unwrap_or_else(|| Path::new(""));
    let mut files = BTreeMap::new();
    for name in named(&text) {
        if files.contains_key(&name) {
            continue;
        }
        if files.len() == FILES_MAX {
            return Err(wrong(format!("{value} names more than {FILES_MAX} files")));
        }
        let text = read_text(&folder.join(&name), BYTES_MAX)
            .map_err(|error| wrong(format!("cannot read {name}, which {value} names: {error}")))?;
        files.insert(name, text);
    }
    WorkloadText { name: value.to_owned(), text, files }.value()
}

/// The files that a workload file names: the texts of its keys `file`. A file with errors may name others; they are
/// reported when it is parsed.
fn named(text: &str) -> Vec<String> {
    let Ok(document) = DeTable::parse(text) else { return Vec::new() };
    let mut found = Vec::new();
    let mut left = vec![document.get_ref()];
    while let Some(table) = left.pop() {
        for (key, value) in table.iter() {
            match value.get_ref() {
                DeValue::String(name) if key.get_ref() == "file" => found.push(name.to_string()),
                DeValue::Table(table) => left.push(table),
                DeValue::Array(list) => {
                    left.extend(list.iter().filter_map(|item| item.get_ref().as_table()));
                }
                _ => {}
            }
        }
    }
    found
}

impl WorkloadText {
    /// Reads a value that [`load`] returned.
    ///
    /// # Errors
    /// When it is malformed, or no file is given.
    pub fn parse(value: &str) -> Result<Self, SpecError> {
        if value.trim().is_empty() {
            return Err(wrong(
                "no workload file is given: name one, as in --workload-file bank.toml; \
                 `triphammer new workload DIR` writes an example",
            ));
        }
        if !is_loaded(value) {
            return Self::parse(&load(value, false)?);
        }
        let read: Self = serde_json::from_str(value).map_err(wrong)?;
        let texts = std::iter::once((&read.name, &read.text)).chain(&read.files);
        for (name, text) in texts {
            if text.len() as u64 > BYTES_MAX {
                return Err(wrong(format!("{name} is longer than {} KiB", BYTES_MAX / 1024)));
            }
        }
        if read.files.len() > FILES_MAX {
            return Err(wrong(format!("{} names more than {FILES_MAX} files", read.name)));
        }
        Ok(read)
    }

    /// The value that contains the files.
    ///
    /// # Errors
    /// Never, unless memory is exhausted.
    pub fn value(&self) -> Result<String, SpecError> {
        serde_json::to_string(self).map_err(wrong)
    }

    /// All files, the workload file first, as results keep them.
    #[must_use]
    pub fn texts(&self) -> Vec<ScriptText> {
        let text = |(name, text): (&String, &String)| ScriptText {
            name: name.clone(),
            weight: 1,
            text: Some(text.clone()),
        };
        std::iter::once((&self.name, &self.text)).chain(&self.files).map(text).collect()
    }

    /// The workload of the files that a result kept.
    #[must_use]
    pub fn of_texts(texts: Vec<ScriptText>) -> Self {
        let mut texts = texts.into_iter().map(|file| (file.name, file.text.unwrap_or_default()));
        let (name, text) = texts.next().unwrap_or_default();
        Self { name, text, files: texts.collect() }
    }
}

/// Name of the workload file of a value, for people. A value that cannot be read is returned as it is.
#[must_use]
pub fn summary(value: &str) -> String {
    WorkloadText::parse(value).map_or_else(|_| value.to_owned(), |workload| workload.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_that_it_names_are_read_once_and_kept_in_the_value() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("w.toml");
        std::fs::write(&file, "[setup]\nsql = { file = \"a.sql\" }\n[[x]]\nfile = \"b.csv\"\n")
            .unwrap();
        let given = file.display().to_string();
        let error = load(&given, true).unwrap_err().to_string();
        assert!(
            error.contains("cannot read b.csv, which")
                || error.contains("cannot read a.sql, which"),
            "{error}"
        );
        std::fs::write(folder.path().join("a.sql"), "A").unwrap();
        std::fs::write(folder.path().join("b.csv"), "B").unwrap();
        let value = load(&given, true).unwrap();
        drop(folder);
        assert_eq!(load(&value, false).unwrap(), value);
        let read = WorkloadText::parse(&value).unwrap();
        assert_eq!(read.files.values().collect::<Vec<_>>(), ["A", "B"]);
        assert_eq!(WorkloadText::of_texts(read.texts()), read);
        assert_eq!(summary(&value), given);
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        for (value, may_read, message) in [
            ("", true, "no workload file is given"),
            ("nowhere.toml", true, "cannot read nowhere.toml: "),
            ("nowhere.toml", false, "a request cannot name a file of the server"),
            ("{\"nam\": 1}", false, "unknown field `nam`"),
        ] {
            let found = load(value, may_read).and_then(|value| WorkloadText::parse(&value));
            let error = found.expect_err(value).to_string();
            assert!(error.contains(message), "{value}: {error}");
        }
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("long.toml");
        std::fs::write(&file, format!("name = \"{}\"", "x".repeat(10_000_000))).unwrap();
        let error = load(&file.display().to_string(), true).unwrap_err().to_string();
        assert!(error.contains("longer than 1024 KiB"), "{error}");
    }
}
