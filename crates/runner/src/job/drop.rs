//! `drop` as a job. It is not stored.

use triphammer_core::session::Database as _;
use triphammer_document::JobType;
use triphammer_document::remove::Removal;
use triphammer_settings::failure::Failure;

use super::{FinishedJob, Job, Preview, Work};
use crate::remove::drop_build;
use crate::watch::{JobEvent, Silent, Watch, Watcher};

/// Removes what a build created.
#[derive(Debug)]
pub struct DropJob;

impl JobType for DropJob {
    type Document = Removal;
}

impl Work for DropJob {
    fn preview(job: &mut Job, _: &Watch<'_>) -> Result<Preview, Failure> {
        job.settings.switch("force")?;
        Ok(Preview::default())
    }

    fn validate(job: &mut Job) -> Result<(), Failure> {
        Self::preview(job, &Watch::new(&mut Silent)).map(drop)
    }

    fn run(job: &mut Job, watcher: &mut dyn Watcher) -> Result<FinishedJob, Failure> {
        let force = job.settings.switch("force")?;
        watcher.on_event(JobEvent::Began(None));
        let target = job.target();
        let removed = drop_build(&job.workload, &target.database, force, target.connect_limit)?;
        let (workload, target) = (job.workload.title.to_string(), target.database.target());
        Ok(FinishedJob::unstored(Removal { workload, target, ..Removal::from(removed) }))
    }
}
