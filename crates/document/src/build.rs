//! The document of a build.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::Scale;
use triphammer_settings::command::JobKind;
use triphammer_settings::format::integer;

use crate::document::{Head, JobDocument, own_ending};
use crate::ending::{Ending, Flaw};
use crate::result::Observed;
use crate::usage::{Usage, UsageOf};

/// Report of a build.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BuildReport {
    /// `built`, `resumed`, `added`, `already built`.
    pub outcome: String,
    /// Whether the build is good.
    pub ending: Ending,
    /// Title of the workload: `TPROC-C`.
    pub workload: String,
    /// Scale of the data, in `scale_unit`.
    pub scale: Scale,
    /// Unit of the scale, in the plural: `warehouses`.
    pub scale_unit: String,
    /// Random seed of the data.
    pub seed: u64,
    /// URL of the target, without secrets.
    pub target: String,
    /// Number of rows loaded by this build.
    pub rows: u64,
    /// Name and seconds of each phase, in order.
    pub phases: Vec<(String, f64)>,
    /// Number of parallel loader sessions.
    pub jobs: u32,
    /// The hosts that loaded the data, if it was spread over several.
    pub hosts: Vec<BuildHost>,
    /// What each phase used of this host; empty if neither the server nor the database is on it.
    #[serde(default)]
    pub usage: Vec<BuildPhaseUsage>,
    /// Whose CPU time that is; `None` if it is unknown.
    #[serde(default)]
    pub usage_of: Option<UsageOf>,
    /// What was observed from the first table to the last statistics; `None` with `--no-observe`.
    #[serde(default)]
    pub observed: Option<Observed>,
}

/// What a phase of a build used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BuildPhaseUsage {
    /// Name of the phase.
    pub phase: String,
    /// What was used meanwhile.
    pub usage: Usage,
}

impl JobDocument for BuildReport {
    fn head(&self) -> Head<'_> {
        Head::of(JobKind::Build)
    }

    own_ending!();

    /// A build that does not fail is good.
    fn flaw(&self) -> Option<Flaw> {
        None
    }

    fn outcome(&self) -> String {
        match self.rows {
            0 => self.outcome.clone(),
            rows => format!("{}: {} rows", self.outcome, integer(rows)),
        }
    }
}

/// A host that loaded a part of the data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BuildHost {
    /// Its name, unique in the build.
    pub host: String,
    /// Number of its parallel loader sessions.
    pub jobs: u32,
    /// Number of rows that it loaded.
    pub rows: u64,
    /// How long it loaded, in seconds.
    pub seconds: f64,
    /// CPU time of its process meanwhile, in seconds.
    pub cpu_s: f64,
}
