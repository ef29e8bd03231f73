//! The document of a drop.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_settings::command::JobKind;

use crate::document::{Head, JobDocument, own_ending};
use crate::ending::{Ending, Flaw};
use crate::parts::Status;

/// Tables that a drop removed, as a list in JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "Vec<String>", from = "Vec<String>")]
pub struct Removal {
    /// `TPROC-C`.
    pub workload: String,
    /// The target, redacted.
    pub target: String,
    /// The tables, in the order in which they went.
    pub removed: Vec<String>,
    /// Whether the removal is good.
    pub ending: Ending,
}

impl From<Removal> for Vec<String> {
    fn from(removal: Removal) -> Self {
        removal.removed
    }
}

impl From<Vec<String>> for Removal {
    fn from(removed: Vec<String>) -> Self {
        let ending = Ending::new(Status::Complete, None);
        Self { workload: String::new(), target: String::new(), removed, ending }
    }
}

impl JobDocument for Removal {
    fn head(&self) -> Head<'_> {
        Head::of(JobKind::Drop)
    }

    own_ending!();

    /// A removal that does not fail is good.
    fn flaw(&self) -> Option<Flaw> {
        None
    }

    fn outcome(&self) -> String {
        format!("dropped {}", self.removed.join(", "))
    }
}
