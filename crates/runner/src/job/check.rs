//! `check` as a job.

use super::{Finished, Job, Preview, Work};
use crate::check::{CheckReport, check};
use crate::document::JobType;
use crate::failure::Failure;
use crate::journal::Journal;
use crate::requests;
use crate::watch::{JobEvent, Watch, Watcher};

/// Checks the data of a workload.
#[derive(Debug)]
pub struct CheckJob;

impl JobType for CheckJob {
    type Document = CheckReport;
}

impl Work for CheckJob {
    fn preview(job: &mut Job, _: &Watch<'_>) -> Result<Preview, Failure> {
        requests::check(&mut job.settings, &job.workload, &job.targets[0])?;
        Ok(Preview::default())
    }

    fn run(job: &mut Job, watcher: &mut dyn Watcher) -> Result<Finished, Failure> {
        let watch = &Watch::new(watcher);
        let warn = &mut |text: &str| watch.warn(text);
        let mut request = requests::check(&mut job.settings, &job.workload, &job.targets[0])?;
        request.cancel = job.handle.cancel().clone();
        let mut store = job.open_store(watch)?;
        let (mut journal, mut into) = (None, store.as_mut());
        let checked = check(&job.target().database, &request, watch, &mut || {
            let begun = Journal::of_check(into.take(), &job.workload, job.target(), warn);
            watch.report(JobEvent::Began(begun.job));
            journal = Some(begun);
        });
        match (checked, journal) {
            (Ok(report), Some(mut journal)) => {
                journal.checked(&report, warn);
                Ok(Finished::stored(report, journal.job, journal.is_whole()))
            }
            (Ok(_), None) => unreachable!("what is checked has begun"),
            (Err(failure), journal) => {
                // A command that was rejected has done nothing, and is no job.
                journal.into_iter().for_each(|mut journal| journal.failed(&failure, warn));
                Err(failure)
            }
        }
    }
}
