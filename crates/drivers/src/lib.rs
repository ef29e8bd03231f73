//! The drivers: each implements one database's protocol behind the traits of `triphammer-core`, and
//! nothing more. [`AnyDatabase`] opens the one that a target names. What a driver must guarantee is
//! specified by the conformance suite in `crates/suites/tests/conformance`, which runs every case for every
//! driver.

mod advisory_lock;
mod answer;
pub mod any;
mod arguments;
pub mod connection_string;
mod database_file;
pub mod duckdb;
mod json_list;
pub mod mysql;
pub mod null;
pub mod odbc;
#[cfg(unix)]
mod polled;
pub mod postgres;
mod prepared_again;
mod redactor;
mod secret;
pub mod snapshot;
pub mod snapshots;
mod socket;
pub mod sqlite;
pub mod sqlserver;
mod stream;
pub mod target;
pub mod tls;
pub mod trino;
pub mod tunnel;
#[cfg(target_os = "linux")]
mod waited_socket;

pub use any::{AnyDatabase, AnySession, SCHEMES};
pub use target::{ConnectSettings, Secret, TargetUrl};
