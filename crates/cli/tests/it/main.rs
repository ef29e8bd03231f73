//! The real program, as people and scripts use it: exit codes, stdout, stderr, files.

mod bad_input;
mod postgres;
mod program;
mod reference;
mod sqlite;
mod tpc_b;
