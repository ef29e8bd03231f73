//! `check` as a job.

use triphammer_document::JobType;
use triphammer_document::check::CheckReport;
use triphammer_settings::failure::Failure;

use super::journaled::journaled;
use super::{FinishedJob, Job, Preview, Work};
use crate::check::check;
use crate::journal::{Journal, Place, Warn};
use crate::requests;
use crate::watch::{Silent, Watch, Watcher};

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

    fn validate(job: &mut Job) -> Result<(), Failure> {
        Self::preview(job, &Watch::new(&mut Silent)).map(drop)
    }

    fn run(job: &mut Job, watcher: &mut dyn Watcher) -> Result<FinishedJob, Failure> {
        let watch = &Watch::new(watcher);
        let mut request = requests::check(&mut job.settings, &job.workload, &job.targets[0])?;
        request.cancel = job.handle.cancel().clone();
        let mut store = job.open_store(watch)?;
        let (workload, target, settings) = (&job.workload, job.target(), &job.settings);
        let begin =
            |store, warn: Warn<'_>| Journal::of_check(store, workload, target, settings, warn);
        let work = |begins: &mut dyn FnMut() -> Place| {
            let mut begins = || _ = begins();
            check(&target.database, &request, watch, &mut begins)
        };
        journaled(store.as_mut(), watch, begin, work, Journal::checked)
    }
}
