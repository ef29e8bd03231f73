//! Times of day as the interface tells them.

use triphammer_core::clock;

/// The date and time now, RFC 3339, UTC, to the second.
pub(crate) fn now() -> String {
    let text = clock::wall().to_string();
    let whole = text.split('.').next().unwrap_or(&text);
    format!("{}Z", whole.replace(' ', "T"))
}
