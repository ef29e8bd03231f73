//! `run` as a job, with the files and endpoints that it fills beside its result.

use super::{Document, Finished, Job, Preview};
use crate::failure::Failure;
use crate::outputs::OutputsAsked;
use crate::run::Resolved;
use crate::store::JobId;
use crate::watch::{JobEvent, Watch, Watcher};

pub(super) fn preview(job: &mut Job, watch: &Watch<'_>) -> Result<Preview, Failure> {
    OutputsAsked::from_settings(&mut job.settings)?;
    let resolved = resolve(job, watch, true)?;
    Ok(Preview { runs: vec![(job.settings.clone(), resolved.spec().clone())] })
}

pub(super) fn resolve(
    job: &mut Job,
    watch: &Watch<'_>,
    is_preview: bool,
) -> Result<Resolved, Failure> {
    Resolved::new(&mut job.settings, &job.workload, &job.targets[0], watch, is_preview)
}

pub(super) fn run(job: &mut Job, watcher: &mut dyn Watcher) -> Result<Finished, Failure> {
    let asked = OutputsAsked::from_settings(&mut job.settings)?;
    let resolved = resolve(job, &Watch::new(watcher), false)?;
    let info = resolved.info(&job.settings);
    let mut outputs = asked.open(&job.workload.transactions, &info)?;
    let mut store = job.open_store(&Watch::new(watcher))?;
    watcher.hear(JobEvent::Resolved(resolved.spec()));
    watcher.hear(JobEvent::RunInfo(&info));
    let result = {
        let mut around = outputs.around(watcher);
        let watch = Watch::new(&mut around);
        resolved.run(&job.settings, store.as_mut(), &job.handle, &watch)
    }?;
    Ok(Finished {
        status: result.status,
        job: result.job.map(JobId),
        is_stored: store.is_none() || result.job.is_some(),
        document: Some(Document::Run(Box::new(result))),
        reason: None,
        outputs: Some(outputs),
    })
}
