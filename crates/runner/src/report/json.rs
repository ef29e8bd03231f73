//! The document itself.

use crate::result::RunResult;

/// The document as `--json` prints it: one JSON object, indented, without a line break at its end.
#[must_use]
pub fn json(result: &RunResult) -> String {
    pretty(result)
}

/// Any document as `--json` prints it. Nothing in it steers a terminal.
///
/// # Panics
/// When it is no plain data.
#[must_use]
pub fn pretty<T: serde::Serialize + ?Sized>(document: &T) -> String {
    let text = serde_json::to_string_pretty(document).expect("a document is plain data");
    triphammer_core::text::json(&text).into_owned()
}
