//! The number of a job in the store.

use std::fmt;

use serde::{Deserialize, Serialize};
use triphammer_settings::failure::Failure;

/// Number of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JobId(pub i64);

impl JobId {
    /// Reads a number as the user gives it.
    ///
    /// # Errors
    /// When it is not a number.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        text.parse().map(Self).map_err(|_| {
            Failure::refuse(format!(
                "invalid job number `{text}`; `triphammer jobs` lists the jobs"
            ))
        })
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
