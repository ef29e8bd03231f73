//! Result documents: results from known numbers, their schemas, their reports, and the store. One
//! test binary, because linking the databases takes longest.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do: with a panic")]

mod at_once;
mod campaigns;
mod capacity_simulation;
mod compare;
mod doctor;
mod endings;
mod measures;
mod observe;
mod python;
mod report;
mod result;
mod sample;
mod samples;
mod schema;
mod steering;
mod store;
mod time;
mod verdicts;
