//! The library behind the command line and the server: builds, runs, checks and drops workloads on
//! databases, stores the results, and reports them. Workload and database are values of one type
//! each, [`AnyWorkload`](triphammer_workloads::AnyWorkload) and
//! [`AnyDatabase`](triphammer_drivers::AnyDatabase), so that the engine is compiled once.

pub mod answers;
pub mod build;
mod built;
pub mod campaign;
pub mod cancel;
pub mod capacity;
pub mod capture;
pub mod check;
pub mod choices;
pub mod cluster;
pub mod command;
pub mod compare;
pub mod datagen;
pub mod doctor;
pub mod document;
pub mod drill;
pub mod ending;
pub mod execution_plan;
pub mod failure;
mod failure_limit;
mod files;
mod fnv;
mod formats;
pub mod history;
pub mod host;
pub mod host_metrics;
pub mod job;
pub mod journal;
mod layout;
mod limited;
pub mod loader;
pub mod measure;
pub mod metrics;
pub mod new_file;
pub mod nodes;
pub mod observe;
pub mod outputs;
mod pacing;
pub mod profile;
pub mod record;
pub mod references;
pub mod remove;
pub mod replay;
pub mod report;
pub mod requests;
pub mod requirement;
pub mod resources;
pub mod result;
pub mod run;
pub mod schedule;
pub mod schemas;
pub mod second;
pub mod settings;
mod stopping_rule;
pub mod store;
pub mod suggestion;
pub mod sysbench;
pub mod target;
pub mod watch;
pub mod why;
mod worker_pool;

pub use failure::Failure;
pub use triphammer_workloads::custom::EXAMPLE as WORKLOAD_EXAMPLE;
pub use triphammer_workloads::is_of_user;
pub use triphammer_workloads::script::NAME as SCRIPTS;
pub use triphammer_workloads::{all as workloads, catalogues, describe};

use triphammer_core::workload::{Name, OptionDef};

/// The options of all workloads with the workload's title, and of all dialects with the dialect's
/// name.
#[must_use]
pub fn all_options() -> Vec<(Name, OptionDef)> {
    workload_options().into_iter().chain(catalogues::all_options().iter().cloned()).collect()
}

/// The options of all workloads, each with the workload's title.
#[must_use]
pub fn workload_options() -> Vec<(Name, OptionDef)> {
    let options = |workload: &triphammer_core::workload::Description| {
        let title = workload.title.clone();
        let options = workload.options.clone().into_iter();
        options.map(move |option| (title.clone(), option)).collect::<Vec<_>>()
    };
    workloads().iter().flat_map(|workload| options(workload)).collect()
}
