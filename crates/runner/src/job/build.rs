//! `build` as a job.

use super::{Finished, Job, Preview, Work};
use crate::build::{BuildReport, build};
use crate::document::JobType;
use crate::failure::Failure;
use crate::journal::Journal;
use crate::requests;
use crate::watch::{JobEvent, Watch, Watcher};

/// Builds a workload's schema and data.
#[derive(Debug)]
pub struct BuildJob;

impl JobType for BuildJob {
    type Document = BuildReport;
}

impl Work for BuildJob {
    fn preview(job: &mut Job, _: &Watch<'_>) -> Result<Preview, Failure> {
        requests::build(&mut job.settings, &job.workload, &job.targets[0])?;
        Ok(Preview::default())
    }

    fn run(job: &mut Job, watcher: &mut dyn Watcher) -> Result<Finished, Failure> {
        let watch = &Watch::new(watcher);
        let warn = &mut |text: &str| watch.warn(text);
        let mut request = requests::build(&mut job.settings, &job.workload, &job.targets[0])?;
        request.cancel = job.handle.cancel().clone();
        let mut store = job.open_store(watch)?;
        let (mut journal, mut into) = (None, store.as_mut());
        let built = build(&job.target().database, &request, watch, &mut || {
            let begun = Journal::of_build(into.take(), job.target(), &request, warn);
            watch.report(JobEvent::Began(begun.job));
            journal = Some(begun);
        });
        match (built, journal) {
            (Ok(report), Some(mut journal)) => {
                journal.built(&report, warn);
                Ok(Finished::stored(report, journal.job, journal.is_whole()))
            }
            (Ok(_), None) => unreachable!("what is built has begun"),
            (Err(failure), journal) => {
                // A command that was rejected has done nothing, and is no job.
                journal.into_iter().for_each(|mut journal| journal.failed(&failure, warn));
                Err(failure)
            }
        }
    }
}
