//! TPROC-C against real databases: the same inputs leave the same rows and give the same outputs in
//! both modes and on every database, the checks hold after that and find what is planted, and
//! transactions that meet do not hurt each other.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do: with a panic")]

mod checks;
mod meeting;
mod same;
mod site;
