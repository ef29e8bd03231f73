//! The documents that jobs leave: the result from known numbers, its published schema, the reports
//! made from it, and the store that keeps it. One binary, because linking the databases takes
//! longest.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do: with a panic")]

mod campaigns;
mod capacity_simulation;
mod compare;
mod measures;
mod report;
mod result;
mod sample;
mod samples;
mod schema;
mod steering;
mod store;
