//! Declarations of checks, and the lines that they give.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Judgement of a line, from good to bad.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum SetupVerdict {
    /// As it should be.
    #[default]
    Fine,
    /// May matter: read why, and decide.
    Look,
    /// Makes figures wrong, unfair or impossible.
    Wrong,
}

impl SetupVerdict {
    /// Name in reports and documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fine => "fine",
            Self::Look => "look",
            Self::Wrong => "wrong",
        }
    }
}

/// What a check is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "SetupGroup")]
pub enum Group {
    /// The host of this program.
    Host,
    /// The way between this program and the database.
    Network,
    /// The database.
    Database,
}

impl Group {
    /// All groups, in the order of reports.
    pub const ALL: [Self; 3] = [Self::Host, Self::Network, Self::Database];
}

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    /// The judgement.
    pub verdict: SetupVerdict,
    /// The value, for people.
    pub value: String,
}

impl Reading {
    /// A value that is as it should be if `is_fine`, else one to look at.
    pub(super) fn look_unless(is_fine: bool, value: impl Into<String>) -> Self {
        Self::of(if is_fine { SetupVerdict::Fine } else { SetupVerdict::Look }, value)
    }

    pub(super) fn of(verdict: SetupVerdict, value: impl Into<String>) -> Self {
        Self { verdict, value: value.into() }
    }
}

/// What is declared about a check.
#[derive(Clone, Copy, Debug)]
pub struct Declared {
    /// Name in reports and documents.
    pub name: &'static str,
    /// What it is about.
    pub group: Group,
    /// Why it matters.
    pub why: &'static str,
    /// Command or setting that changes it.
    pub change: &'static str,
}

impl Declared {
    pub(super) fn line(&self, reading: Reading) -> Line {
        Line {
            group: self.group,
            name: self.name.to_owned(),
            value: reading.value,
            verdict: reading.verdict,
            why: self.why.to_owned(),
            change: self.change.to_owned(),
        }
    }
}

/// A check of facts `F`.
pub(super) struct Check<F> {
    pub declared: Declared,
    /// Reads its fact; `None` if that is not possible or does not apply.
    pub read: fn(&F) -> Option<Reading>,
    /// Whether the value varies from moment to moment, so that a run neither warns of it nor keeps it.
    pub is_momentary: bool,
}

impl<F> Check<F> {
    /// Marks a check whose value varies from moment to moment.
    pub const fn momentary(mut self) -> Self {
        self.is_momentary = true;
        self
    }
}

/// A line of the report: one check with its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "SetupLine")]
pub struct Line {
    /// What it is about.
    pub group: Group,
    /// Name of the check; of a database's setting, its name there.
    pub name: String,
    /// The value, for people.
    pub value: String,
    /// Judgement of the value.
    pub verdict: SetupVerdict,
    /// Why it matters.
    pub why: String,
    /// Command or setting that changes it.
    pub change: String,
}

/// A fact about the set-up of a run's host or database, as `doctor` reports it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SetupFact {
    /// What it is about.
    pub group: Group,
    /// Name of the check; of a database's setting, its name there.
    pub name: String,
    /// The value, for people.
    pub value: String,
    /// Judgement of the value.
    pub verdict: SetupVerdict,
}

impl SetupFact {
    /// The fact of a line.
    #[must_use]
    pub fn of(line: &Line) -> Self {
        let Line { group, name, value, verdict, .. } = line;
        let (name, value) = (name.clone(), value.clone());
        Self { group: *group, name, value, verdict: *verdict }
    }
}

impl Line {
    /// Why a value is wrong, in one line: `set-up: fsync is off. Without it commits do not …`.
    #[must_use]
    pub fn trouble(&self) -> String {
        let Self { name, value, why, .. } = self;
        format!("set-up: {name} is {value}. {}", why.trim_end_matches('.'))
    }
}
