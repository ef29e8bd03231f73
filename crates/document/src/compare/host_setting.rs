//! A setting of the host that differs between the sides, as `doctor --prove` changes it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a setting of the host is worth: A and B are the same load on the same database, with another
/// value of the setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostSetting {
    /// Name of the check of `doctor`.
    pub check: String,
    /// Values of A and of B, as the check names them.
    pub values: [String; 2],
    /// Standard deviation of the primary metric between the runs of A and of B, relative to its mean;
    /// `None` of a single run.
    pub spread: [Option<f64>; 2],
    /// What the setting is worth on this host, in words.
    pub words: String,
}
