//! Where the input of a transaction comes from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Origin of a transaction's input. With the seed of the run, it determines the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A virtual user or terminal.
    User {
        /// Number of the user, from 0.
        user: u32,
        /// Number of the transaction among those of the user, from 1.
        nth: u64,
    },
    /// An arrival of an open load: its number, from 0.
    Arrival(u64),
}
