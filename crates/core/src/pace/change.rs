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
