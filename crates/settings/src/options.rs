//! The options of workloads and dialects, which are settings too.

use triphammer_core::workload::{Description, Name, OptionDef};
use triphammer_dialects::catalogues;
use triphammer_workloads::all as workloads;

/// The options of all workloads with the workload's title, and of all dialects with the dialect's
/// name.
#[must_use]
pub fn all_options() -> Vec<(Name, OptionDef)> {
    workload_options().into_iter().chain(catalogues::all_options().iter().cloned()).collect()
}

/// The options of all workloads, each with the workload's title.
#[must_use]
pub fn workload_options() -> Vec<(Name, OptionDef)> {
    let options = |workload: &Description| {
        let title = workload.title.clone();
        let options = workload.options.clone().into_iter();
        options.map(move |option| (title.clone(), option)).collect::<Vec<_>>()
    };
    workloads().iter().flat_map(|workload| options(workload)).collect()
}
