//! The workloads: their SQL in every dialect, their inputs, and their transactions on real databases and in virtual time.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do: with a panic")]

mod books;
mod custom;
mod for_parsers;
mod kv;
mod replay;
mod script;
mod tpc_b;
mod tproc_c;
mod virtual_time;
