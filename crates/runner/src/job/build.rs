//! `build` as a job.

use triphammer_document::JobType;
use triphammer_document::build::BuildReport;
use triphammer_settings::failure::Failure;

use super::journaled::journaled;
use super::{FinishedJob, Job, Preview, Work};
use crate::build::build;
use crate::journal::{Journal, Place, Warn};
use crate::requests;
use crate::watch::{Silent, Watch, Watcher};

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

    fn validate(job: &mut Job) -> Result<(), Failure> {
        Self::preview(job, &Watch::new(&mut Silent)).map(drop)
    }

    fn run(job: &mut Job, watcher: &mut dyn Watcher) -> Result<FinishedJob, Failure> {
        let watch = &Watch::new(watcher);
        let mut request = requests::build(&mut job.settings, &job.workload, &job.targets[0])?;
        request.cancel = job.handle.cancel().clone();
        let mut store = job.open_store(watch)?;
        let (target, settings) = (job.target(), &job.settings);
        let begin =
            |store, warn: Warn<'_>| Journal::of_build(store, target, &request, settings, warn);
        let work =
            |begins: &mut dyn FnMut() -> Place| build(&target.database, &request, watch, begins);
        journaled(store.as_mut(), watch, begin, work, Journal::built)
    }
}
