//! The library that the command line, and later the server and Python, stand on: builds, runs, checks and
//! drops workloads on databases, stores what came out, and reports it. Generic over workload and database;
//! [`with_workload!`] and [`AnyDatabase`](triphammer_drivers::AnyDatabase) choose by name.

pub mod build;
pub mod campaign;
pub mod cancel;
pub mod capacity;
pub mod check;
pub mod choices;
pub mod compare;
mod crew;
mod enough;
pub mod failure;
pub mod history;
pub mod host;
pub mod journal;
mod limited;
pub mod outputs;
mod pacing;
pub mod profile;
pub mod progress;
pub mod record;
pub mod remove;
pub mod replay;
pub mod report;
pub mod requests;
pub mod requirement;
pub mod resources;
pub mod result;
pub mod run;
pub mod second;
pub mod settings;
pub mod store;
pub mod target;

pub use failure::Failure;
pub use triphammer_workloads::{books, names, with_workload};

use triphammer_core::workload::{OptionDef, Workload};

/// The options of all workloads, each with the workload's title, and those of all dialects, each with the
/// dialect's name.
#[must_use]
pub fn all_options() -> Vec<(&'static str, &'static OptionDef)> {
    let of_dialects = books::all_options().iter().map(|(dialect, option)| (*dialect, option));
    workload_options().into_iter().chain(of_dialects).collect()
}

/// The options of all workloads, each with the workload's title.
#[must_use]
pub fn workload_options() -> Vec<(&'static str, &'static OptionDef)> {
    let mut all = Vec::new();
    for name in names() {
        with_workload!(*name, W => all.extend(W::options().iter().map(|option| (W::TITLE, option))))
            .expect("a name from the list is known");
    }
    all
}
