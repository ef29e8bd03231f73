//! Changes of the load of a run during the run.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::Elapsed;

/// A change that is asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum LoadChange {
    /// Arrivals per second from now on.
    Rate(f64),
    /// Number of users at work from now on; the others wait.
    Users(u32),
    /// Weights of the transaction types from now on, as [`Mix::change`](crate::mix::Mix::change) reads them.
    Mix(String),
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
}

impl LoadChanged {
    /// Describes it: `the rate changed from 500 to 2000 per second`.
    #[must_use]
    pub fn words(&self) -> String {
        let Self { from, to, .. } = self;
        match self.what {
            Changed::Rate => format!("the rate changed from {from} to {to} per second, by request"),
            Changed::Users => format!("the users changed from {from} to {to}, by request"),
            Changed::Mix => format!("the mix changed from {from} to {to}, by request"),
        }
    }
}
