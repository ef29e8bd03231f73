//! The parts of the document that other modules speak of as well: how a run ended, the program, the workload,
//! settings. They know nothing of the rest.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::Scale;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// By the clock, or all users did all they had to.
    Complete,
    /// Stopped before its time; what was in flight ended.
    Interrupted,
    /// What was in flight was abandoned.
    Aborted,
    /// It could not go on, its database was gone at its end, or its counts contradict each other.
    Failed,
}

impl Status {
    /// The word in documents, in the store and in reports.
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

/// The program that made a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// `triphammer`.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Built without optimisation: its own cost is many times what it should be.
    pub debug_build: bool,
}

impl Tool {
    /// This program.
    #[must_use]
    pub fn this() -> Self {
        Self {
            name: "triphammer".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            debug_build: cfg!(debug_assertions),
        }
    }
}

/// The workload and its data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkloadFacts {
    /// The word the command line takes: `tproc-c`.
    pub name: String,
    /// For people: `TPROC-C`.
    pub title: String,
    /// Results of two versions do not compare.
    pub version: u32,
    /// Size, in `scale_unit`.
    pub scale: Scale,
    /// `warehouses`.
    pub scale_unit: String,
    /// What the build remembers, and the run's own options: `seed`, `c_load`, `all-warehouses`.
    pub facts: BTreeMap<String, String>,
}

/// The database's own transaction counter over the timed window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerTransactions {
    /// How much it grew.
    pub count: u64,
    /// Seconds between the two readings.
    pub seconds: f64,
}

/// A setting of the run and where its value came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Setting {
    /// As flag and job file call it, without dashes.
    pub name: String,
    /// As it would be typed.
    pub value: String,
    /// `flag`, `environment`, `job file`, `default`.
    pub source: String,
}

/// A server setting that changed during the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingChange {
    /// The setting.
    pub name: String,
    /// Its value at the start; `None` where it was absent.
    pub start: Option<String>,
    /// Its value at the end; `None` where it was absent.
    pub end: Option<String>,
}

impl SettingChange {
    /// What differs between two readings of a server's settings, in the order of names. Values that
    /// may hold a secret are masked.
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
