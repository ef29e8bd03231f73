//! How often statements were prepared again, because somebody changed the columns of a table: of
//! drivers whose database or library does not do that by itself.

use std::sync::atomic::{AtomicU64, Ordering};

/// The count of all sessions of a database.
#[derive(Debug, Default)]
pub(crate) struct PreparedAgain(AtomicU64);

impl PreparedAgain {
    pub(crate) fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// What a run notes; `None` if there is nothing.
    pub(crate) fn note(&self) -> Option<String> {
        let again = self.0.load(Ordering::Relaxed);
        (again > 0).then(|| {
            format!(
                "statements were prepared again {again} times, because the columns of their results \
                 had changed: somebody altered a table"
            )
        })
    }
}
