//! The settings in which the runs of one campaign may differ.

use triphammer_core::workload::{OptionCommand, OptionDef};
use triphammer_settings::command::JobKind;
use triphammer_settings::{Mark, declared};

/// Whether the runs of a campaign may differ in a setting: it is a setting of runs and of the campaign that a job
/// file, or a client of the server, may set, or an option of the workload for runs.
pub(crate) fn may_differ(
    campaign: JobKind,
    name: &str,
    options: &[OptionDef],
    of_client: bool,
) -> bool {
    let here = |kind: JobKind| {
        declared(kind, name).is_some_and(|setting| {
            let may = setting.in_job_file() && (!of_client || setting.in_request());
            may && !setting.is(Mark::Shared)
        })
    };
    let setting = here(JobKind::Run) && here(campaign);
    let is_option =
        |option: &OptionDef| option.name == name && option.command != OptionCommand::Build;
    setting || options.iter().any(is_option)
}
