//! The manifest of a bundle: what is in it, with hashes, and what it shows.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use triphammer_document::bundle::ShownNames;
use triphammer_settings::command::JobKind;

/// Version of the format of bundles.
pub const FORMAT: u32 = 1;
/// Name of the manifest.
pub(crate) const MANIFEST: &str = "manifest.json";
/// Name of its signature.
pub(crate) const SIGNATURE: &str = "manifest.json.sig";

/// What is in a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Version of the format of the bundle.
    pub format: u32,
    /// The program that wrote it: `triphammer 0.1.0`.
    pub written_by: String,
    /// Kind of the job.
    pub kind: JobKind,
    /// Number of the job in the store that it came from.
    pub job: i64,
    /// Names that the bundle shows.
    pub names: ShownNames,
    /// The parts except the manifest and its signature, in the order of their names.
    pub parts: Vec<PartEntry>,
}

/// A part in the manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartEntry {
    /// Name in the archive.
    pub name: String,
    /// Length in bytes.
    pub bytes: u64,
    /// SHA-256 of the content, in hexadecimal digits.
    pub sha256: String,
}

impl PartEntry {
    fn of(name: &str, content: &[u8]) -> Self {
        let digest = Sha256::digest(content);
        let sha256 = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        Self { name: name.to_owned(), bytes: content.len() as u64, sha256 }
    }
}

/// What this program calls itself in manifests.
#[must_use]
pub fn this_program() -> String {
    format!("triphammer {}", env!("CARGO_PKG_VERSION"))
}

/// Whether a text is the name of a version of this program, such as `triphammer 0.1.0`.
fn is_program(text: &str) -> bool {
    let is_of_version = |c: char| c.is_ascii_alphanumeric() || ".-+".contains(c);
    let version = text.strip_prefix("triphammer ");
    version.is_some_and(|of| (1..=40).contains(&of.len()) && of.chars().all(is_of_version))
}

impl Manifest {
    /// Describes a bundle with these parts.
    pub(crate) fn of(
        (kind, job): (JobKind, i64),
        names: ShownNames,
        parts: Vec<PartEntry>,
    ) -> Self {
        Self { format: FORMAT, written_by: this_program(), kind, job, names, parts }
    }

    /// The entries of parts, in the order of their names.
    pub(crate) fn entries(parts: &BTreeMap<String, Vec<u8>>) -> Vec<PartEntry> {
        let described = parts.iter().filter(|(name, _)| ![MANIFEST, SIGNATURE].contains(&&***name));
        described.map(|(name, content)| PartEntry::of(name, content)).collect()
    }

    /// The text of the manifest, which is what is signed.
    pub(crate) fn text(&self) -> String {
        serde_json::to_string_pretty(self).expect("a manifest is plain data") + "\n"
    }

    /// Reads a manifest.
    ///
    /// # Errors
    /// The reason why it cannot be read: among them that another version wrote it.
    pub(crate) fn read(text: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Version {
            format: u32,
        }
        let invalid = |error: serde_json::Error| format!("{MANIFEST} cannot be read: {error}");
        let Version { format } = serde_json::from_slice(text).map_err(invalid)?;
        if format != FORMAT {
            return Err(format!(
                "{MANIFEST} has format {format}, and this triphammer reads format {FORMAT}: use the \
                 version that wrote it"
            ));
        }
        let manifest: Self = serde_json::from_slice(text).map_err(invalid)?;
        match is_program(&manifest.written_by) {
            true => Ok(manifest),
            false => Err(format!("{MANIFEST}: `written_by` is not `triphammer` with a version")),
        }
    }
}
