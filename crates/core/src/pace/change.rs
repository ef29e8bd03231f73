//! Changes of the load of a run during the run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::Elapsed;

/// A change that is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LoadChange {
    /// Arrivals per second from now on.
    Rate(f64),
    /// Number of users at work from now on; the others wait.
    Users(u32),
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
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadNow {
    /// What can change.
    pub what: Changed,
    /// Arrivals per second, or users at work.
    pub value: f64,
    /// Its largest value.
    pub max: f64,
}

/// What a change is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Changed {
    /// Arrivals per second.
    Rate,
    /// Users at work.
    Users,
}

/// A change that was made.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadChanged {
    /// When it begins.
    pub at: Elapsed,
    /// What it is about.
    pub what: Changed,
    /// Value before.
    pub from: f64,
    /// Value from then on.
    pub to: f64,
}

impl LoadChanged {
    /// Describes it: `the rate changed from 500 to 2000 per second`.
    #[must_use]
    pub fn words(&self) -> String {
        let Self { from, to, .. } = self;
        match self.what {
            Changed::Rate => format!("the rate changed from {from} to {to} per second, by request"),
            Changed::Users => format!("the users changed from {from} to {to}, by request"),
        }
    }
}
