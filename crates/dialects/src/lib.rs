//! What differs between databases, as data: the folders under `sql/`, one per dialect, each with only
//! what differs from its parent, and their readers. Not here: what a database can do by its protocol
//! (`drivers`), and what is declared once for all databases (`workloads`).
//!
//! A new dialect is one folder with its `dialect.toml`. A new database needs files and no Rust.

pub mod catalogues;
mod dialect_files;
pub mod doctor;
pub mod isolation;
pub mod observe;
pub mod state;
pub mod statistics;
pub mod waits;
