//! The standard workloads and their SQL. A workload defines schema, data, mix, inputs and
//! invariants and knows no database by name: what differs between databases is in the folders under
//! `sql/`, one per dialect, each with only what differs from its parent.
//!
//! A new workload is one module, its folder `sql/base/<name>/`, and one line in [`mod@list`]. A new
//! dialect is one folder with its `dialect.toml`. They are independent of each other.

pub mod catalogues;
pub mod ch;
pub mod custom;
mod dialect_files;
pub mod doctor;
pub mod drill;
pub mod kv;
pub mod list;
pub mod observe;
mod of_user;
pub mod python;
pub mod replay;
pub mod script;
pub mod statistics;
pub mod sysbench;
pub mod tpc_b;
pub mod tproc_c;
pub mod tproc_h;
pub mod waits;

/// Size of a batch of rows of a load, in bytes: large enough that its overhead vanishes, small enough
/// to stay in a cache.
pub(crate) const BATCH_BYTES: usize = 384 * 1024;

pub use list::{AnyWorkload, DEFAULT, all, describe, describe_with, of_command, of_setting};
pub use of_user::KeptFiles;
