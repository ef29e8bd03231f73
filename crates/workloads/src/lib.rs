//! The workloads. A workload defines schema, data, mix, inputs and invariants and knows no database
//! by name: its SQL is in the folders of `triphammer-dialects`, one per dialect.
//!
//! A new workload is one module, its folder `base/<name>/` there, and one line in [`mod@list`].

pub mod ch;
pub mod custom;
pub mod drill;
pub mod isolation;
mod kept_files;
pub mod kv;
pub mod list;
mod lock;
mod of_user;
pub mod python;
pub mod replay;
pub mod script;
pub mod sysbench;
pub mod tpc_b;
pub mod tproc_c;
pub mod tproc_h;

/// Size of a batch of rows of a load, in bytes: large enough that its overhead vanishes, small enough
/// to stay in a cache.
pub(crate) const BATCH_BYTES: usize = 384 * 1024;

pub use kept_files::KeptFiles;
pub use list::{AnyWorkload, DEFAULT, all, describe, describe_with, of_command, of_setting};
