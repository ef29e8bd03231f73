//! Resumes a campaign from its stored plan: the settings that it was given, and its complete runs.

use std::collections::BTreeMap;
use std::path::Path;

use triphammer_document::JobId;
use triphammer_document::result::RunResult;
use triphammer_settings::command::JobKind;
use triphammer_settings::failure::Failure;
use triphammer_settings::{Mark, Settings, Source, is};
use triphammer_store::{JobFilter, JobStatus, Store, StoreError};

use crate::plan::CampaignPlan;
use crate::plan::TARGETS;
use crate::plan::bare;
use crate::plan::folder;

/// A job to resume.
#[derive(Clone, Debug)]
pub struct Resumed {
    /// Job number.
    pub job: JobId,
    /// The original settings, and the new ones for connecting to the target.
    pub settings: Settings,
}

/// Finds the job given by `--resume` (a number or `last`), and combines its settings with the new
/// ones.
///
/// # Errors
/// When there is no such job of this command, when it is complete or still running, or when a new
/// setting would change the job.
pub fn resume(store: &Store, now: &Settings) -> Result<Option<Resumed>, Failure> {
    let Some(name) = now.get("resume") else { return Ok(None) };
    let command = now.command();
    let Some(kind) = command.job().filter(|kind| kind.is_campaign()) else {
        let command = command.name();
        let campaigns = JobKind::ALL.into_iter().filter(|kind| kind.is_campaign());
        let campaigns = campaigns.map(JobKind::name).collect::<Vec<_>>().join(", ");
        let message =
            format!("cannot resume a `{command}`: only jobs of {campaigns} can be resumed");
        return Err(Failure::refuse(message));
    };
    let job = store.find(name, &[kind], |_| true)?;
    let stored = store.load(job).map_err(refuse)?;
    if stored.row.kind != kind {
        let [is, wanted] = [stored.row.kind, kind].map(JobKind::noun);
        return Err(Failure::refuse(format!("job {job} is a {is}, not a {wanted}")));
    }
    match stored.row.status {
        JobStatus::Complete => {
            let message = format!("job {job} is complete; `triphammer report {job}` shows it");
            return Err(Failure::refuse(message));
        }
        JobStatus::Running => return Err(refuse(StoreError::Running { job: job.0 })),
        JobStatus::Interrupted | JobStatus::Aborted | JobStatus::Failed | JobStatus::Lost => {}
    }
    let plan: CampaignPlan =
        stored.plan.and_then(|plan| serde_json::from_value(plan).ok()).ok_or_else(|| {
            Failure::refuse(format!("job {job} cannot be resumed: it has no stored plan"))
        })?;
    let settings = lay(now, &plan, job)?;
    Ok(Some(Resumed { job, settings }))
}

/// Combines the stored settings with the new ones.
fn lay(now: &Settings, plan: &CampaignPlan, job: JobId) -> Result<Settings, Failure> {
    let mut settings = Settings::new(now.command());
    for (name, value, source) in now.all_given() {
        let marked = |mark| is(now.command(), name, mark);
        if marked(Mark::OnResume) || marked(Mark::OnResumeOrStored) {
            settings.set(name, value, source.clone());
        } else if matches!(source, Source::Flag | Source::Call)
            && !plan.given.iter().any(|given| given.name == name && given.value == value)
        {
            return Err(Failure::refuse(format!(
                "--{name} cannot be changed: job {job} resumes with its original settings; omit \
                 it, or start a new job"
            )));
        }
    }
    in_the_same_place(now, plan, job)?;
    for name in TARGETS {
        if let Some(target) = plan.target(name) {
            settings.set(name, target, Source::Flag);
        }
    }
    for given in &plan.given {
        settings.set(&given.name, &given.value, given.source.clone());
    }
    Ok(settings)
}

/// Rejects a different target, and a relative file name in a different working directory.
fn in_the_same_place(now: &Settings, plan: &CampaignPlan, job: JobId) -> Result<(), Failure> {
    for name in TARGETS {
        let planned = plan.target(name);
        if let Some(given) = now.get(name).map(bare)
            && planned != Some(&given)
        {
            let was = planned.map_or("the default SQLite file", String::as_str);
            return Err(Failure::refuse(format!("job {job} belongs to {was}, not to {given}")));
        }
        let relative = match planned.map(|url| url.strip_prefix("sqlite:")) {
            None => name == "target",
            Some(file) => file.is_some_and(|file| Path::new(file).is_relative()),
        };
        if relative && plan.folder != folder() {
            let folder = &plan.folder;
            return Err(Failure::refuse(format!(
                "job {job} belongs to a file in {folder}: run the command in that directory"
            )));
        }
    }
    Ok(())
}

/// The complete runs of a job, by step.
pub(super) fn complete_runs(
    store: &Store,
    job: JobId,
) -> Result<BTreeMap<u32, RunResult>, Failure> {
    let children = JobFilter { parent: Some(job), ..JobFilter::default() };
    let mut runs = BTreeMap::new();
    for row in store.jobs(&children).map_err(refuse)? {
        let (JobStatus::Complete, Some(step)) = (row.status, row.step) else { continue };
        if let Some(result) = store.load(row.id).and_then(|run| run.result()).map_err(refuse)? {
            runs.entry(step).or_insert(result);
        }
    }
    Ok(runs)
}

fn refuse(error: StoreError) -> Failure {
    Failure::refuse(error.to_string())
}

#[cfg(test)]
mod tests {

    use super::*;

    fn given(sources: &[Source]) -> Settings {
        let mut settings = Settings::new(JobKind::Profile);
        settings.set("target", "postgres://u:s3cret@h/d", Source::Request);
        for (name, source) in ["vus", "repeats", "rampup", "duration"].into_iter().zip(sources) {
            settings.set(name, "2", source.clone());
        }
        settings
    }

    /// The settings of a resumed job by name, each with its source.
    fn resumed(plan: &serde_json::Value) -> Vec<(String, Source)> {
        let plan: CampaignPlan = serde_json::from_value(plan.clone()).unwrap();
        let mut now = Settings::new(JobKind::Profile);
        now.set("resume", "1", Source::Flag);
        let settings = lay(&now, &plan, JobId(1)).unwrap();
        let all = settings.all_given().filter(|(name, ..)| !["target", "resume"].contains(name));
        all.map(|(name, _, source)| (name.to_owned(), source.clone())).collect()
    }

    #[test]
    fn a_job_goes_on_with_its_settings_from_where_they_came() {
        let file = Source::JobFile("job file request".into());
        let sources = [Source::Request, Source::Flag, Source::Environment, file];
        let plan = serde_json::to_value(CampaignPlan::of(&given(&sources))).unwrap();
        assert!(!plan.to_string().contains("s3cret"), "{plan}");
        let given: Vec<_> = crate::plan::given_settings(&plan).unwrap().into_keys().collect();
        assert_eq!(
            given,
            ["duration", "rampup", "repeats", "vus"],
            "and the target is not among them"
        );
        let names = ["vus", "repeats", "rampup", "duration"].map(str::to_owned);
        let mut expected: Vec<_> = names.into_iter().zip(sources).collect();
        expected.sort();
        assert_eq!(resumed(&plan), expected);
    }

    #[test]
    fn only_campaigns_go_on() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("jobs.sqlite")).unwrap();
        for kind in JobKind::ALL {
            let mut now = Settings::new(kind);
            now.set("resume", "last", Source::Flag);
            let refused = resume(&store, &now).unwrap_err().to_string();
            let expected = match kind.is_campaign() {
                true => format!("no {} is stored yet", kind.noun()),
                false => format!("cannot resume a `{}`: only", kind.name()),
            };
            assert!(refused.starts_with(&expected), "{refused}");
        }
    }
}
