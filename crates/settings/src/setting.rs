//! A setting as documents show it: its name, its value and where the value came from.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// What stands for the value of a setting that the database decides.
pub const DATABASE_DEFAULT: &str = "the database's default";

/// Value of the setting `protocol` that is not given.
pub(crate) const PROTOCOL_DEFAULT: &str = "prepared if the database supports it";

/// A setting of the run with its value and the source of the value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Setting {
    /// Name on the command line and in job files, without dashes.
    pub name: String,
    /// The value as typed on the command line.
    #[serde(deserialize_with = "read_value")]
    pub value: String,
    /// Source of the value: `flag`, `environment`, `job file` or `default`.
    pub source: String,
}

/// Reads a value; the former words for defaults become those of today, so that runs of both times
/// compare as equal.
fn read_value<'de, D: Deserializer<'de>>(source: D) -> Result<String, D::Error> {
    let value = String::deserialize(source)?;
    Ok(match &*value {
        "the database's own" => DATABASE_DEFAULT.to_owned(),
        "the database's first" => PROTOCOL_DEFAULT.to_owned(),
        _ => value,
    })
}
