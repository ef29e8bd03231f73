//! What `datagen` reports.

use std::path::PathBuf;

use serde::Serialize;

/// What was written.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DatagenReport {
    /// `TPROC-H`.
    pub workload: String,
    /// `0.01 SF`.
    pub size: String,
    /// The folder.
    pub folder: PathBuf,
    /// Files written.
    pub files: u64,
    /// Rows in them.
    pub rows: u64,
    /// Bytes in them.
    pub bytes: u64,
    /// Seconds that it took.
    pub seconds: f64,
}
