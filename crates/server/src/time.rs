//! Timestamps of the API.

use triphammer_core::clock;

/// The current time, RFC 3339, UTC, to the second.
pub(crate) fn now() -> String {
    let text = clock::wall().to_string();
    let whole = text.split('.').next().unwrap_or(&text);
    format!("{}Z", whole.replace(' ', "T"))
}
