//! Answers the question of a stored campaign again, from the results of its runs: no run is made,
//! and no database is asked. The settings are those that the job was given.

use std::collections::BTreeMap;

use triphammer_core::SpecError;
use triphammer_document::parts::Status;
use triphammer_document::result::RunResult;
use triphammer_document::{Document, JobId};
use triphammer_settings::failure::Failure;
use triphammer_settings::target::{Reach, Secrets};
use triphammer_settings::{Mark, Settings, Source, all_options, declared};
use triphammer_store::{JobStatus, ReadAt, Store, StoredJob};

use super::Question;
use crate::job::{Job, Order};
use crate::plan::{CampaignPlan, TARGETS};

/// The runs of a stored campaign, as its question receives them.
#[derive(Debug)]
pub struct RecordedRuns {
    job: JobId,
    /// Results and server settings of the complete runs, by step.
    runs: BTreeMap<u32, (RunResult, Vec<(String, String)>)>,
    /// Why a step failed, by its number.
    failures: BTreeMap<u32, String>,
    status: Status,
}

/// The document of a stored campaign, made again from these results of its runs.
///
/// # Errors
/// When its settings are not stored, are not those of such a job, or the runs give no document.
pub fn replay(
    store: &Store,
    stored: &StoredJob,
    runs: Vec<RunResult>,
) -> Result<Document, Failure> {
    let job = stored.row.id;
    let none = |what: &str| Failure::refuse(format!("job {job} cannot be answered again: {what}"));
    let plan = stored.plan.clone().and_then(|plan| serde_json::from_value(plan).ok());
    let plan: CampaignPlan = plan.ok_or_else(|| none("it has no stored settings"))?;
    let mut settings = Settings::new(stored.row.kind);
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

impl RecordedRuns {
    fn of(store: &Store, stored: &StoredJob, runs: Vec<RunResult>) -> Result<Self, Failure> {
        let mut of_steps = BTreeMap::new();
        for run in runs {
            let Some(job) = run.job.map(JobId) else { continue };
            let step = store.load(job)?.row.step;
            let Some(step) = step.filter(|_| run.status == Status::Complete) else { continue };
            let settings = store.stored_settings(job, ReadAt::Start)?;
            of_steps.entry(step).or_insert((run, settings));
        }
        let document = stored.document.clone().unwrap_or_default();
        let lists = [&document["failed_runs"], &document["pairs"]["failed_runs"]];
        let failures = lists.into_iter().filter_map(|list| list.as_array()).flatten();
        let failures = failures.filter_map(|failed| {
            let step = u32::try_from(failed["step"].as_u64()?).ok()?;
            Some((step, failed["reason"].as_str()?.to_owned()))
        });
        let status = match stored.row.status {
            JobStatus::Complete => Status::Complete,
            JobStatus::Failed => Status::Failed,
            _ => Status::Interrupted,
        };
        Ok(Self { job: stored.row.id, runs: of_steps, failures: failures.collect(), status })
    }
}

/// Reports the runs to a question, in its order, and returns its document.
pub(crate) fn answer<Q: Question>(mut question: Q, recorded: &RecordedRuns) -> Option<Q::Document> {
    while let Some(step) = question.next() {
        if let Some((run, settings)) = recorded.runs.get(&step.number) {
            question.server_settings(settings.clone());
            question.report_result(&step, run);
        } else if let Some(reason) = recorded.failures.get(&step.number) {
            question.report_failure(&step, reason);
        } else {
            break;
        }
    }
    question.document(Some(recorded.job), recorded.status)
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
