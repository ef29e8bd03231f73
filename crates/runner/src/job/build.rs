//! `build` as a job.

use super::{Document, Finished, Job, Preview};
use crate::build::build;
use crate::failure::Failure;
use crate::journal::Journal;
use crate::requests;
use crate::watch::{JobEvent, Watch, Watcher};

pub(super) fn preview(job: &mut Job, _: &Watch<'_>) -> Result<Preview, Failure> {
    requests::build(&mut job.settings, &job.workload, &job.targets[0])?;
    Ok(Preview::default())
}

pub(super) fn run(job: &mut Job, watcher: &mut dyn Watcher) -> Result<Finished, Failure> {
    let watch = &Watch::new(watcher);
    let warn = &mut |text: &str| watch.warn(text);
    let mut request = requests::build(&mut job.settings, &job.workload, &job.targets[0])?;
    request.cancel = job.handle.cancel().clone();
    let mut store = job.open_store(watch)?;
    let mut journal = Journal::of_build(store.as_mut(), job.target(), &request, warn);
    watch.report(JobEvent::Began(journal.job));
    match build(&job.target().database, &request, watch) {
        Ok(report) => {
            journal.built(&report, warn);
            Ok(Finished::stored(Document::Build(report), journal.job, journal.is_whole()))
        }
        Err(failure) => {
            journal.failed(&failure, warn);
            Err(failure)
        }
    }
}
