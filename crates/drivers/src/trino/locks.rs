//! Advisory locks. Trino has none, so they are files of this host's user: programs on other hosts
//! do not see them.

use sha2::{Digest, Sha256};
use triphammer_core::error::{DbError, ErrorClass};
use triphammer_core::session::LockMode;

use super::url::UrlOptions;
use crate::advisory_lock::LockFile;

/// Takes a lock on a schema; `None` if a conflicting one is held.
pub(super) fn take(
    options: &UrlOptions,
    name: &str,
    mode: LockMode,
) -> Result<Option<LockFile>, DbError> {
    let user = whoami::username().unwrap_or_default();
    let safe = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let user: String = user.chars().map(safe).collect();
    let folder = std::env::temp_dir().join(format!("triphammer-{user}"));
    std::fs::create_dir_all(&folder).map_err(|error| {
        let message = format!("creating {} for locks: {error}", folder.display());
        DbError::new(ErrorClass::Other, message)
    })?;
    let place = format!("{}/{}/{}", options.server(), options.catalog, options.schema);
    let digest = Sha256::digest(place.as_bytes());
    let digest: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    LockFile::take(&folder.join(format!("trino-{digest}")), name, mode)
}
