//! The label of a result: who submits it, and who paid for it. It is a file beside the bundle,
//! `result.toml` beside `result.zip`, and not in it: a bundle is what was measured, and stays as it
//! is; a label is what people say of it, and a review can see and correct.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use triphammer_core::small_file::{SETTINGS_BYTES_MAX, read_text};
use triphammer_settings::failure::{Failure, excerpt};

/// Longest name, in characters.
const NAME_MAX: usize = 100;
/// Longest note, in characters.
const NOTE_MAX: usize = 2_000;

/// Who submits a result.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Label {
    /// Name of the person or organisation.
    pub submitter: String,
    /// How it is related to what was measured.
    pub kind: SubmitterKind,
    /// Who paid for the measurement; `None` for nobody else.
    pub funded_by: Option<String>,
    /// Address of a page with details, `https://…`.
    pub url: Option<String>,
    /// What a reader should know.
    pub note: Option<String>,
    /// File beside the bundle with the public SSH key that must have signed it.
    pub signer: Option<String>,
}

/// How a submitter is related to what was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SubmitterKind {
    /// Sells the database, the host or a service with them.
    Vendor,
    /// Does not.
    Community,
}

impl SubmitterKind {
    /// Name on pages.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Vendor => "vendor",
            Self::Community => "community",
        }
    }
}

impl Label {
    /// Reads the label beside a bundle; `None` if there is none.
    ///
    /// # Errors
    /// When there is one that cannot be read, or that has an unusable value.
    pub(crate) fn beside(bundle: &Path) -> Result<Option<Self>, Failure> {
        let path = bundle.with_extension("toml");
        if std::fs::symlink_metadata(&path).is_err() {
            return Ok(None);
        }
        let refuse = |reason: String| Failure::refuse(format!("{}: {reason}", path.display()));
        let text =
            read_text(&path, SETTINGS_BYTES_MAX).map_err(|error| refuse(error.to_string()))?;
        let label: Self =
            toml::from_str(&text).map_err(|error| refuse(excerpt(&error.to_string())))?;
        label.check().map_err(refuse)?;
        if let Some(key) = label.key(bundle).filter(|key| !key.is_file()) {
            let reason = "the public key that must have signed the bundle";
            let key = key.display();
            return Err(refuse(format!("signer: there is no file {key}, {reason}")));
        }
        Ok(Some(label))
    }

    /// Whether a file is a label, usable or not: it names a submitter.
    pub(crate) fn is_label(path: &Path) -> bool {
        let text = read_text(path, SETTINGS_BYTES_MAX).unwrap_or_default();
        text.parse::<toml::Table>().is_ok_and(|table| table.contains_key("submitter"))
    }

    /// The file of the key that must have signed the bundle.
    pub(crate) fn key(&self, bundle: &Path) -> Option<PathBuf> {
        self.signer.as_ref().map(|name| bundle.with_file_name(name))
    }

    fn check(&self) -> Result<(), String> {
        name("submitter", &self.submitter)?;
        self.funded_by.as_ref().map_or(Ok(()), |of| name("funded-by", of))?;
        if let Some(url) = &self.url {
            let has_scheme = ["https://", "http://"].iter().any(|scheme| url.starts_with(scheme));
            let is_plain = url.chars().all(|c| c.is_ascii_graphic()) && url.len() <= NOTE_MAX;
            if !has_scheme || !is_plain {
                return Err(format!("url: `{}` must be https://…", url.escape_debug()));
            }
        }
        if self.note.as_ref().is_some_and(|note| note.chars().count() > NOTE_MAX) {
            return Err(format!("note: longer than {NOTE_MAX} characters"));
        }
        match &self.signer {
            Some(file)
                if file.is_empty() || file.starts_with('.') || file.contains(['/', '\\']) =>
            {
                let file = file.escape_debug();
                Err(format!("signer: `{file}` must be the name of a file beside the bundle"))
            }
            _ => Ok(()),
        }
    }
}

/// Whether a text can be a name: one line of a length that fits into a table.
fn name(key: &str, text: &str) -> Result<(), String> {
    let is_line = !text.trim().is_empty() && !text.chars().any(char::is_control);
    match is_line && text.chars().count() <= NAME_MAX {
        true => Ok(()),
        false => Err(format!("{key}: must be one line of at most {NAME_MAX} characters")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<Label>, String> {
        let folder = tempfile::tempdir().unwrap();
        let bundle = folder.path().join("a.zip");
        std::fs::write(bundle.with_extension("toml"), text).unwrap();
        Label::beside(&bundle).map_err(|failure| failure.to_string())
    }

    #[test]
    fn a_label_says_who_submits_and_who_paid() {
        let label = read("submitter = \"Ann\"\nkind = \"community\"\nfunded-by = \"Ex Ltd\"");
        let label = label.unwrap().unwrap();
        assert_eq!((&*label.submitter, label.kind.name()), ("Ann", "community"));
        assert_eq!(label.funded_by.as_deref(), Some("Ex Ltd"));
        assert_eq!(Label::beside(Path::new("nowhere.zip")).unwrap(), None);
    }

    #[test]
    fn unusable_labels_are_refused_with_their_key() {
        let ann = "submitter = \"Ann\"\nkind = \"community\"\n";
        for (text, reason) in [
            ("kind = \"vendor\"", "submitter"),
            ("submitter = \"x\"\nkind = \"friend\"", "friend"),
            ("submitter = \" \"\nkind = \"vendor\"", "submitter: must be one line"),
            (&format!("{ann}url = \"javascript:alert(1)\""), "url: `javascript:alert(1)`"),
            (&format!("{ann}url = \"https://x y\""), "url:"),
            (&format!("{ann}signer = \"../key.pub\""), "signer: `../key.pub`"),
            (&format!("{ann}signer = \"key.pub\""), "signer: there is no file"),
            (&format!("{ann}prize = 1"), "prize"),
            (&format!("{ann}funded-by = \"a\\nb\""), "funded-by"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(reason) && error.contains("a.toml"), "{error}");
        }
        let long = read(&format!("{ann}note = {}", "x".repeat(60_000))).unwrap_err();
        assert!(long.len() < 2_000, "{} bytes", long.len());
    }
}
