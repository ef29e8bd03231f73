//! The document itself.

use triphammer_document::result::RunResult;

/// Renders a result as `--json` prints it: one indented JSON object, without a final line break.
#[must_use]
pub fn json(result: &RunResult) -> String {
    pretty(result)
}

/// Renders any document as `--json` prints it, without terminal control sequences.
///
/// # Panics
/// When it cannot be serialised, which is a defect.
#[must_use]
pub fn pretty<T: serde::Serialize + ?Sized>(document: &T) -> String {
    let text = serde_json::to_string_pretty(document).expect("a document is plain data");
    triphammer_core::text::json(&text).into_owned()
}
