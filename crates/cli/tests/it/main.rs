//! The real program, as people and scripts use it: exit codes, stdout, stderr, files.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a failing test")]

mod bad_input;
mod compare;
mod drill;
mod live;
mod outputs;
mod postgres;
mod program;
mod reference;
mod sqlite;
mod tpc_b;
