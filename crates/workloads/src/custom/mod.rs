//! Users' own SQL as a mix of transactions: a TOML file that describes the workload.
//!
//! ```text
//! source                  the file and those that it names, as one value
//! reader                  a TOML document by its keys; collects every problem with its place
//! definition              the file: transactions, set-up, checks, audits
//!   parameters csv json   what parameters are drawn from
//! generator datum         draws a value into a slot
//! workload                the definition as a workload
//! start                   what runs once before a run: statements are tried, queries for parameters are read
//! runner                  runs a transaction on a session
//! ```
//!
//! SQL is parsed, prepared and timed by the code of the workload `script`.

mod by_dialect;
mod csv;
mod datum;
mod definition;
mod example;
mod generator;
mod json;
mod parameters;
mod reader;
mod runner;
mod settings;
mod source;
mod start;
#[cfg(test)]
mod tests;
mod workload;

pub use example::FILES as EXAMPLE;
pub(crate) use reader::suggestion;
pub use source::{WorkloadText, load, summary};
pub use workload::Custom;

/// Name of the workload.
pub const NAME: &str = "custom";
/// The setting that names its files.
pub(crate) const SETTING: &str = "workload-file";
