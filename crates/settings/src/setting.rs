//! A setting as documents show it: its name, its value and where the value came from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What stands for the value of a setting that the database decides.
pub const DATABASE_DEFAULT: &str = "the database's default";

/// Where `serve` listens: the loopback interface, on a port that no well-known service uses and that
/// is below the ephemeral range.
pub const LISTEN_DEFAULT: &str = "127.0.0.1:7400";

/// Value of the setting `protocol` that is not given.
pub(crate) const PROTOCOL_DEFAULT: &str = "prepared if the database supports it";

/// A setting of the run with its value and the source of the value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Setting {
    /// Name on the command line and in job files, without dashes.
    pub name: String,
    /// The value as typed on the command line.
    pub value: String,
    /// Source of the value: `flag`, `environment`, `job file` or `default`.
    pub source: String,
}
