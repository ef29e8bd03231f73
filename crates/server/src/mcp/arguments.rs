//! The arguments of the tools. Their schemas and the texts of their fields are what an assistant sees.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

/// Of tools without arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct None {}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Describe {
    /// Describes the settings of this command; all commands and workloads when absent.
    pub(super) command: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Target {
    /// Name of a configured target, from list_targets.
    pub(super) target: String,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Work {
    /// build, run, profile, capacity, compare, drill, isolation, check or drop.
    pub(super) command: String,
    /// Name of a configured target, from list_targets.
    pub(super) target: String,
    /// Target of B in a comparison, when it is another.
    pub(super) other: Option<String>,
    /// Settings by name as text, such as {"workload": "tproc-c", "vus": "8"}: the workload that is built there, and
    /// those of `describe`.
    #[serde(default)]
    pub(super) settings: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Watch {
    /// Number of the activity, from `start`.
    pub(super) activity: u64,
    /// Seconds to wait for its end, at most 60.
    #[serde(default)]
    pub(super) wait_s: u64,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Stop {
    /// Number of the activity, from `start`.
    pub(super) activity: u64,
    /// Abandons transactions in flight instead of waiting for them.
    #[serde(default)]
    pub(super) abort: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Jobs {
    /// Text in label, target, workload, server or number.
    pub(super) search: Option<String>,
    /// Only jobs older than this one.
    pub(super) before: Option<i64>,
    /// Maximum number of jobs, 1 to 50; 20 when absent.
    pub(super) limit: Option<u32>,
    /// Only the runs of this profile, capacity search or comparison.
    pub(super) parent: Option<i64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Report {
    /// Job number.
    pub(super) job: i64,
    /// text or markdown; text when absent.
    pub(super) format: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    /// Job number.
    pub(super) job: i64,
    /// JSON pointer of a part, such as /run/types/0; the whole document when absent. Of what is too long, the names
    /// and sizes of its parts are returned.
    #[serde(default)]
    pub(super) pointer: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Explain {
    /// Number of a run.
    pub(super) job: i64,
    /// First second of a stretch; without it, the stretch that was notably slower, else the timed window.
    pub(super) from: Option<u64>,
    /// End second of the stretch, exclusive.
    pub(super) to: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Compare {
    /// Baseline: a job number, `last`, or a label.
    pub(super) a: String,
    /// Compared with A: a job number, `last`, or a label.
    pub(super) b: String,
    /// Smallest difference that matters, such as 2%.
    pub(super) margin: Option<String>,
}
