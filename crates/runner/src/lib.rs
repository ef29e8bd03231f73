//! What the command line and the server are built on: builds, runs, checks and drops workloads on
//! databases, and stores what it finds. Workload and database are values of one type each,
//! [`AnyWorkload`](triphammer_workloads::AnyWorkload) and
//! [`AnyDatabase`](triphammer_drivers::AnyDatabase), so that the engine is compiled once.
//!
//! Not here: settings, documents, the store and observers, which are crates below; and reports, which
//! are a crate beside this one. Begin with [`job`], which turns settings into a document.

pub mod answers;
pub mod build;
mod build_observers;
pub mod build_request;
mod built;
pub mod campaign;
pub mod capacity;
pub mod capture;
pub mod check;
pub mod cluster;
pub mod compare;
pub mod datagen;
pub mod drill;
mod faults;
mod fingerprint;
pub mod history;
pub mod isolation;
pub mod job;
pub mod journal;
mod layout;
pub mod live;
pub mod loader;
pub mod matrix;
pub mod new_file;
pub mod outputs;
mod own_load;
pub mod plan;
pub mod price;
pub mod profile;
pub mod record;
pub mod references;
pub mod remove;
pub mod replay;
pub mod requests;
pub mod resources;
pub mod restore;
pub mod run;
mod shell;
mod state;
pub mod step;
pub mod sysbench;
pub mod watch;
pub mod workload_lock;

pub use triphammer_dialects::catalogues;
pub use triphammer_workloads::custom::EXAMPLE as WORKLOAD_EXAMPLE;
pub use triphammer_workloads::{all as workloads, describe};
