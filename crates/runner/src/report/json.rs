//! The document itself.

use crate::result::RunResult;

/// The document as `--json` prints it: one JSON object, indented, without a line break at its end.
#[must_use]
pub fn json(result: &RunResult) -> String {
    serde_json::to_string_pretty(result).expect("a result holds nothing that JSON cannot")
}
