//! `run` as a job, with its output files and endpoints.

use triphammer_document::result::{Restored, RunResult};
use triphammer_document::{JobId, JobType};
use triphammer_settings::failure::Failure;

use super::{FinishedJob, Job, Preview, Work};
use crate::outputs::OutputsAsked;
use crate::restore::{RestorePlan, Restorer};
use crate::run::{Resolved, validate};
use crate::state::Preparation;
use crate::watch::{JobEvent, Watch, Watcher};

/// Drives a workload once.
#[derive(Debug)]
pub struct RunJob;

impl JobType for RunJob {
    type Document = RunResult;
}

impl Work for RunJob {
    fn preview(job: &mut Job, watch: &Watch<'_>) -> Result<Preview, Failure> {
        OutputsAsked::from_settings(&mut job.settings)?;
        RestorePlan::of_one_run(&mut job.settings)?;
        let resolved = resolve(job, watch, true)?;
        let runs = vec![(job.settings.clone(), resolved.spec().clone())];
        Ok(Preview { runs, whole: None })
    }

    fn validate(job: &mut Job) -> Result<(), Failure> {
        OutputsAsked::from_settings(&mut job.settings)?;
        RestorePlan::of_one_run(&mut job.settings)?;
        validate(&mut job.settings.clone(), &job.workload, &job.targets[0])
    }

    fn run(job: &mut Job, watcher: &mut dyn Watcher) -> Result<FinishedJob, Failure> {
        let asked = OutputsAsked::from_settings(&mut job.settings)?;
        let restored = restore(job, &Watch::new(watcher))?;
        let resolved = resolve(job, &Watch::new(watcher), false)?.restored(restored);
        let info = resolved.info(&job.settings);
        let mut outputs = asked.open(&job.workload.transactions, &info)?;
        let mut store = job.open_store(&Watch::new(watcher))?;
        watcher.on_event(JobEvent::Resolved(resolved.spec()));
        watcher.on_event(JobEvent::RunInfo(&info));
        let result = {
            let mut around = outputs.around(watcher);
            let watch = Watch::new(&mut around);
            resolved.run(&job.settings, store.as_mut(), &job.handle, &watch)
        }?;
        Ok(FinishedJob {
            status: result.status,
            job: result.job.map(JobId),
            is_stored: store.is_none() || result.job.is_some(),
            document: Some(result.into()),
            reason: None,
            outputs: Some(outputs),
        })
    }
}

/// Brings the database to the state that the run is to begin from.
fn restore(job: &mut Job, watch: &Watch<'_>) -> Result<Option<Restored>, Failure> {
    let plan = RestorePlan::of_one_run(&mut job.settings)?;
    if plan.is_none() {
        return Ok(None);
    }
    let depth = Preparation::read(&mut job.settings)?.depth;
    let databases = (&*job.workload, job.targets.as_slice());
    let restorer = Restorer::begin(plan.as_ref(), databases, depth, &job.handle, watch)?;
    // What is wrong with the settings is reported before anything is changed.
    let mut tried = job.settings.clone();
    Resolved::new(&mut tried, &job.workload, &job.targets[0], watch, true)?;
    restorer.before(0, &[], watch)
}

pub(super) fn resolve(
    job: &mut Job,
    watch: &Watch<'_>,
    is_preview: bool,
) -> Result<Resolved, Failure> {
    Resolved::new(&mut job.settings, &job.workload, &job.targets[0], watch, is_preview)
}
