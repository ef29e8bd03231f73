//! The standard loads and their SQL. A workload holds schema, data, mix, inputs and invariants and
//! knows no database by name: what differs between databases lies in the folders under `sql/`, one a
//! dialect, each holding only what differs from its parent.
//!
//! A new workload is one module, its folder `sql/base/<name>/`, and one line in [`mod@list`].
//! A new dialect is one folder with its `dialect.toml`. Neither knows of the other.

pub mod catalogues;
pub mod list;
pub mod tpc_b;
pub mod tproc_c;
pub mod tproc_h;

pub use list::{AnyWorkload, all, describe};
