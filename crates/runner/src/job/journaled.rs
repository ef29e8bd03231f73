//! Work that is a job from its first change on: a build or a check.

use triphammer_document::{Document, JobDocument};
use triphammer_settings::failure::Failure;
use triphammer_store::Store;

use super::FinishedJob;
use crate::journal::{Journal, Place, Warn};
use crate::watch::{JobEvent, Watch};

/// Does `work`, which calls back when it begins. Its journal, which `begin` starts then, stores how
/// it ended: by `end` with its document, or failed.
pub(super) fn journaled<'a, D: JobDocument + Into<Document>>(
    mut store: Option<&'a mut Store>,
    watch: &Watch<'_>,
    begin: impl Fn(Option<&'a mut Store>, Warn<'_>) -> Journal<'a>,
    work: impl FnOnce(&mut dyn FnMut() -> Place) -> Result<D, Failure>,
    end: impl FnOnce(&mut Journal<'a>, &D, Warn<'_>),
) -> Result<FinishedJob, Failure> {
    let warn = &mut |text: &str| watch.warn(text);
    let mut journal = None;
    let done = work(&mut || {
        let begun = begin(store.take(), warn);
        watch.report(JobEvent::Began(begun.job));
        let place = begun.place().map(|(path, job)| (path.to_owned(), job));
        journal = Some(begun);
        place
    });
    match (done, journal) {
        (Ok(report), Some(mut journal)) => {
            end(&mut journal, &report, warn);
            Ok(FinishedJob::stored(report, journal.job, journal.is_whole()))
        }
        (Ok(_), None) => unreachable!("what is done has begun"),
        (Err(failure), journal) => {
            // A command that was rejected has done nothing, and is not a job.
            journal.into_iter().for_each(|mut journal| journal.failed(&failure, warn));
            Err(failure)
        }
    }
}
