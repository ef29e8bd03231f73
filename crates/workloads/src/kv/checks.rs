//! The conditions that `check` verifies.

use triphammer_core::DbError;
use triphammer_core::rows::Row;
use triphammer_core::workload::CheckWhen::{Always, Once, Untouched, UntouchedOnce, Whole};
use triphammer_core::workload::{CheckDef, check};

use super::schema::checksum;

/// All checks of the workload.
pub fn checks() -> Vec<CheckDef> {
    let payload =
        check("payload", "check.payload", "loaded keys: each payload has its checksum", Always);
    let payload_beyond = check(
        "payload_beyond",
        "check.payload_beyond",
        "inserted keys: each payload has its checksum",
        Whole,
    );
    vec![
        check("version", "check.version", "keys and versions are 1 or more", Once),
        payload.judged_by(has_checksum),
        payload_beyond.judged_by(has_checksum),
        check("rows", "check.rows", "all loaded keys exist", Untouched),
        check("beyond", "check.beyond", "no other keys", UntouchedOnce),
        check("new", "check.new", "all versions are 1", Untouched),
    ]
}

/// Returns the key of a row whose payload does not have its checksum.
fn has_checksum(row: &Row<'_>) -> Result<Option<String>, DbError> {
    let is_right = row.int(1)? == checksum(row.text(2)?.as_bytes());
    if is_right { Ok(None) } else { Ok(Some(format!("id={}", row.int(0)?))) }
}
