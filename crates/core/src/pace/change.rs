//! Changes of the load of a run during the run.

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RATE_MAX;
use crate::clock::{DurationText, Elapsed, format_duration};

/// Maximum number of changes that a run makes itself.
pub const PLANNED_MAX: usize = 100;

/// A change that is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoadChange {
    /// Arrivals per second from now on.
    Rate(f64),
    /// Number of users at work from now on; the others wait.
    Users(u32),
    /// Weights of the transaction types from now on, as [`Mix::change`](crate::mix::Mix::change) reads them.
    Mix(String),
}

impl fmt::Display for LoadChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rate(rate) => write!(f, "rate={rate}/s"),
            Self::Users(users) => write!(f, "users={users}"),
            Self::Mix(mix) => write!(f, "mix={mix}"),
        }
    }
}

/// A change that the run makes itself, at a time after the start of the timed window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedChange {
    /// Time since the start of the timed window, in whole seconds.
    #[serde(with = "DurationText")]
    pub at: Duration,
    /// What changes.
    pub change: LoadChange,
}

impl fmt::Display for PlannedChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at={} {}", format_duration(self.at), self.change)
    }
}

/// What of a load can change while a run is in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changeable {
    /// Nothing, for this reason.
    Nothing(&'static str),
    /// The rate, and the mix.
    Rate,
    /// The number of users, of which so many have sessions, and the mix.
    Users(u32),
}

impl Changeable {
    /// Rejects a change that the load cannot have. Whether the types of a mix are those of the workload,
    /// only its mix knows.
    ///
    /// # Errors
    /// Says why.
    pub fn check(self, change: &LoadChange) -> Result<(), LoadChangeError> {
        match (self, change) {
            (Self::Nothing(reason), _) => Err(LoadChangeError::state(reason)),
            (_, LoadChange::Mix(_)) => Ok(()),
            (Self::Rate, LoadChange::Users(_)) => {
                Err(LoadChangeError::state("the load of this run is open: change its rate"))
            }
            (Self::Users(_), LoadChange::Rate(_)) => {
                Err(LoadChangeError::state("the load of this run is closed: change its users"))
            }
            (Self::Users(most), LoadChange::Users(users)) if !(1..=most).contains(users) => {
                Err(LoadChangeError::Value(format!(
                    "users must be from 1 to {most}: the run has opened that many sessions"
                )))
            }
            (Self::Rate, LoadChange::Rate(rate)) if !(0.0..=RATE_MAX).contains(rate) => {
                Err(LoadChangeError::Value(format!(
                    "the rate must be from 0 to {RATE_MAX} arrivals per second, got {rate}"
                )))
            }
            (Self::Users(_), LoadChange::Users(_)) | (Self::Rate, LoadChange::Rate(_)) => Ok(()),
        }
    }
}

/// Why a load does not change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadChangeError {
    /// The value is not possible.
    #[error("{0}")]
    Value(String),
    /// This run, or this moment of it, allows no such change.
    #[error("{0}")]
    State(String),
}

impl LoadChangeError {
    /// This run, or this moment of it, allows no such change.
    pub fn state(reason: impl Into<String>) -> Self {
        Self::State(reason.into())
    }
}

/// The load of a run now, which can change.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadNow {
    /// What can change, besides the mix.
    pub what: Changed,
    /// Arrivals per second, or users at work.
    pub value: f64,
    /// Its largest value.
    pub max: f64,
    /// The weights of the transaction types, as `new_order=10,payment=10`; `None` if they cannot change.
    pub mix: Option<String>,
}

/// What a change is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Changed {
    /// Arrivals per second.
    Rate,
    /// Users at work.
    Users,
    /// Weights of the transaction types.
    Mix,
}

/// A load before or after a change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum LoadValue {
    /// Arrivals per second, or users at work.
    Number(f64),
    /// Weights of the transaction types: `new_order=10,payment=10`.
    Mix(String),
}

impl fmt::Display for LoadValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Mix(mix) => f.write_str(mix),
        }
    }
}

/// A change that was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadChanged {
    /// When it begins.
    pub at: Elapsed,
    /// What it is about.
    pub what: Changed,
    /// Value before.
    pub from: LoadValue,
    /// Value from then on.
    pub to: LoadValue,
    /// Whether the run had planned it; else it was asked for during the run.
    #[serde(default)]
    pub planned: bool,
}

impl LoadChanged {
    /// Describes it: `the rate changed from 500 to 2000 per second`.
    #[must_use]
    pub fn words(&self) -> String {
        let Self { from, to, planned, .. } = self;
        let why = if *planned { "as planned" } else { "by request" };
        match self.what {
            Changed::Rate => format!("the rate changed from {from} to {to} per second, {why}"),
            Changed::Users => format!("the users changed from {from} to {to}, {why}"),
            Changed::Mix => format!("the mix changed from {from} to {to}, {why}"),
        }
    }
}
