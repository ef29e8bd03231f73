//! The real program, as users and scripts call it: exit codes, stdout, stderr, files.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a failing test")]

mod bad_input;
mod capacity;
mod ch;
mod compare;
mod datagen;
mod dialects;
mod doctor;
mod drill;
mod dropping;
mod duckdb;
mod faults;
mod first_use;
mod hammerdb;
mod kv;
mod live;
mod loads;
mod lost_output;
mod mysql;
mod outputs;
mod postgres;
mod profile;
mod program;
mod reference;
mod rogue;
mod scripts;
mod serve;
mod servers;
mod sqlite;
mod tpc_b;
mod tproc_h;
mod tproc_h_plans;
mod tproc_h_runs;
mod trino;
mod tui;
mod until_ci;
