//! Makes the document of a stored campaign again: from the settings that the job was given, and the
//! results of its runs. Nothing is connected to.

use triphammer_core::SpecError;
use triphammer_document::Document;
use triphammer_document::result::RunResult;
use triphammer_settings::failure::Failure;
use triphammer_settings::target::{Reach, Secrets};
use triphammer_settings::{Mark, Settings, Source, all_options, declared};
use triphammer_store::{Store, StoredJob};

use super::{Job, Order};
use crate::campaign::RecordedRuns;
use crate::plan::{CampaignPlan, TARGETS};

/// The document of a stored campaign, made again from these results of its runs.
///
/// # Errors
/// When its settings are not stored, are not those of such a job, or the runs give no document.
pub fn answer_again(
    store: &Store,
    stored: &StoredJob,
    runs: Vec<RunResult>,
) -> Result<Document, Failure> {
    let job = stored.row.id;
    let none = |what: &str| Failure::refuse(format!("job {job} cannot be answered again: {what}"));
    let plan = stored.plan.clone().and_then(|plan| serde_json::from_value(plan).ok());
    let plan: CampaignPlan = plan.ok_or_else(|| none("it has no stored settings"))?;
    let mut settings = Settings::new(stored.row.kind);
    // Whoever wrote the job must not name files of this host.
    settings.answer_only();
    for name in TARGETS {
        if let Some(target) = plan.target(name) {
            settings.set(name, target.as_str(), Source::Flag);
        }
    }
    if plan.target("target").is_none() {
        settings.set("target", stored.row.target.as_str(), Source::Flag);
    }
    let is_harmless = |name: &str| match declared(stored.row.kind, name) {
        Some(setting) => !setting.is(Mark::OfHost),
        None => all_options().iter().any(|(_, option)| option.name == name),
    };
    for given in plan.given.iter().filter(|given| is_harmless(&given.name)) {
        settings.set(&given.name, given.value.as_str(), given.source.clone());
    }
    settings.set("workload", stored.row.workload.as_str(), Source::Flag);
    let recorded = RecordedRuns::of(store, stored, runs)?;
    let mut job = Job::new(Order::new(settings, &NoSecrets))?;
    job.answer_again(&recorded)?.ok_or_else(|| none("its runs give no document"))
}

/// No secrets: nothing is connected to.
struct NoSecrets;

impl Secrets for NoSecrets {
    fn variable(&self, _: &str) -> Option<String> {
        None
    }

    fn prompt(&self, _: &str) -> Result<String, SpecError> {
        Ok(String::new())
    }

    fn reach(&self) -> Reach {
        Reach::Process
    }

    fn is_of_client(&self) -> bool {
        false
    }
}
