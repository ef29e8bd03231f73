//! Parts of the document that other modules also use: status, program, workload, settings. They do
//! not depend on the rest.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::Scale;
use triphammer_core::error::ErrorClass;
use triphammer_core::workload::{StatementTimes, TransactionDef};
use triphammer_workloads::script::ScriptText;

use super::redacted::mask_secrets;

/// Numbers of sessions lost and reconnected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionCounts {
    /// Number of sessions lost.
    pub lost: u64,
    /// Number of sessions reconnected.
    pub reconnected: u64,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The time elapsed, or all users finished their transactions.
    Complete,
    /// Stopped early; transactions in flight ended.
    Interrupted,
    /// Aborted; transactions in flight were abandoned.
    Aborted,
    /// It could not continue, its database was unavailable at the end, or its counts contradict
    /// each other.
    Failed,
}

impl Status {
    /// Name in documents, in the store and in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Interrupted => "interrupted",
            Self::Aborted => "aborted",
            Self::Failed => "failed",
        }
    }
}

/// The program that wrote a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// Name of the program: `triphammer`.
    pub name: String,
    /// Version of the program.
    pub version: String,
    /// Whether the program is a debug build, which uses many times the CPU time of a release build.
    pub debug_build: bool,
}

impl Tool {
    /// Describes this program.
    #[must_use]
    pub fn this() -> Self {
        Self {
            name: "triphammer".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            debug_build: cfg!(debug_assertions),
        }
    }
}

/// Workload and its data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkloadFacts {
    /// Name on the command line: `tproc-c`.
    pub name: String,
    /// Title of the workload: `TPROC-C`.
    pub title: String,
    /// Version of the workload; results of different versions cannot be compared.
    pub version: u32,
    /// Scale of the data, in `scale_unit`.
    pub scale: Scale,
    /// Unit of the scale, in the plural: `warehouses`.
    pub scale_unit: String,
    /// Facts from the build record, and options of the run: `seed`, `c_load`, `all-warehouses`.
    pub facts: BTreeMap<String, String>,
    /// The user's scripts; empty for other workloads.
    pub scripts: Vec<ScriptFacts>,
}

/// Times of one statement of a script over the whole run, including ramp-up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatementFigures {
    /// Its transaction type: the script.
    pub transaction: String,
    /// Line of the script, from 1.
    pub line: usize,
    /// The statement, in one line.
    pub text: String,
    /// How many times it succeeded.
    pub runs: u64,
    /// How many times it failed.
    pub failures: u64,
    /// Mean time of the successful runs, in microseconds.
    pub mean_us: f64,
    /// Time of the longest of them, in microseconds.
    pub max_us: f64,
}

impl StatementFigures {
    /// Computes the figures of a statement; `names` are the transaction types.
    #[must_use]
    pub fn of(times: &StatementTimes, names: &[TransactionDef]) -> Self {
        let us = |time: std::time::Duration| time.as_secs_f64() * 1e6;
        #[expect(clippy::cast_precision_loss, reason = "the number of runs")]
        let mean_us = us(times.total) / times.runs.max(1) as f64;
        Self {
            transaction: names[times.transaction].name.to_string(),
            line: times.line,
            text: mask_secrets(&times.text),
            runs: times.runs,
            failures: times.failures,
            mean_us,
            max_us: us(times.longest),
        }
    }
}

/// A script that was run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScriptFacts {
    /// Name of its file, or of the built-in script.
    pub name: String,
    /// Weight in the mix.
    pub weight: u32,
    /// Whether it is a built-in script.
    pub builtin: bool,
    /// SHA-256 of its text, in hexadecimal digits.
    pub sha256: String,
    /// The script itself.
    pub text: String,
}

/// Fact of a run: names of the transactions that the primary metric of a workload file counts.
pub const COUNTED: &str = "primary";

/// Indexes of the transactions that the primary metric of a user's own workload counts: only the run knows them.
/// `names` are those of all its transactions.
#[must_use]
pub fn counted_of_user(facts: &BTreeMap<String, String>, names: &[String]) -> Vec<usize> {
    let counted = facts.get(COUNTED);
    let is_counted = |name: &str| counted.is_none_or(|all| all.split(", ").any(|c| c == name));
    (0..names.len()).filter(|index| is_counted(&names[*index])).collect()
}

impl ScriptFacts {
    /// Describes a script.
    #[must_use]
    pub fn of(script: &ScriptText) -> Self {
        Self {
            name: script.name.clone(),
            weight: script.weight,
            builtin: script.text.is_none(),
            sha256: script.hash(),
            text: script.text().to_owned(),
        }
    }

    /// The script to run again.
    #[must_use]
    pub fn script(&self) -> ScriptText {
        let text = (!self.builtin).then(|| self.text.clone());
        ScriptText { name: self.name.clone(), weight: self.weight, text }
    }
}

/// The database's own transaction counter over the timed window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerTransactions {
    /// Increase of the counter.
    pub count: u64,
    /// Seconds between the two readings.
    pub seconds: f64,
}

/// A server setting that changed during the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingChange {
    /// Name of the setting.
    pub name: String,
    /// Value at the start; `None` if it was absent.
    pub start: Option<String>,
    /// Value at the end; `None` if it was absent.
    pub end: Option<String>,
}

impl SettingChange {
    /// Differences between two readings of server settings, sorted by name. Values that may contain
    /// a secret are masked.
    #[must_use]
    pub fn between(start: &[(String, String)], end: &[(String, String)]) -> Vec<Self> {
        let read = |settings: &[(String, String)]| -> BTreeMap<String, String> {
            settings.iter().cloned().collect()
        };
        let (start, end) = (read(start), read(end));
        let mut names: Vec<&String> = start.keys().chain(end.keys()).collect();
        names.sort();
        names.dedup();
        let masked = |name: &str, value: Option<&String>| {
            value.map(|text| super::redacted::mask_setting(name, text))
        };
        names
            .into_iter()
            .filter(|name| start.get(*name) != end.get(*name))
            .map(|name| Self {
                name: name.clone(),
                start: masked(name, start.get(name)),
                end: masked(name, end.get(name)),
            })
            .collect()
    }
}

/// Number of occurrences of an error class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClassCount {
    /// Error class of the failures.
    pub class: ErrorClass,
    /// Number of occurrences.
    pub count: u64,
}

impl ClassCount {
    /// The classes that occurred.
    pub(super) fn occurred(counts: &[u64; ErrorClass::COUNT]) -> Vec<Self> {
        let all = ErrorClass::ALL.into_iter().zip(counts);
        let occurred = all.filter(|(_, count)| **count > 0);
        occurred.map(|(class, count)| Self { class, count: *count }).collect()
    }
}
