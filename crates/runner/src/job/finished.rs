//! The end of a job.

use triphammer_document::parts::Status;
use triphammer_document::{Document, JobId};
use triphammer_settings::failure::Failure;

use crate::outputs::Outputs;

/// The end of a job that had started.
#[derive(Debug)]
pub struct FinishedJob {
    /// Result document; `None` if a campaign has no complete run.
    pub document: Option<Document>,
    /// Complete, interrupted, aborted, or failed because it could not continue.
    pub status: Status,
    /// Job number; `None` if the job is not, or not completely, in the store.
    pub job: Option<JobId>,
    /// False if the job could not be stored completely although it should be.
    pub is_stored: bool,
    /// Reason why a campaign failed.
    pub reason: Option<String>,
    /// The files and endpoints of a run, still open.
    pub(crate) outputs: Option<Outputs>,
}

impl FinishedJob {
    /// Creates the end of a complete job with its number, and whether it is completely stored.
    pub(crate) fn stored(
        document: impl Into<Document>,
        job: Option<JobId>,
        is_stored: bool,
    ) -> Self {
        let job = job.filter(|_| is_stored);
        Self { job, is_stored, ..Self::unstored(document) }
    }

    /// Creates the end of a complete job that is not stored.
    pub(super) fn unstored(document: impl Into<Document>) -> Self {
        let status = Status::Complete;
        Self {
            document: Some(document.into()),
            status,
            job: None,
            is_stored: true,
            reason: None,
            outputs: None,
        }
    }

    /// Whether the job succeeded and its findings are good.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.document.as_ref().is_some_and(|document| document.ending().good)
    }

    /// Closes the files and endpoints of a run. This may take a moment, so print results first.
    /// Returns a message to show, and the reason why a requested file is incomplete.
    pub fn end_outputs(&mut self) -> (Option<String>, Option<Failure>) {
        let Some(mut outputs) = self.outputs.take() else { return (None, None) };
        (outputs.finish(), outputs.torn())
    }

    /// Describes the outcome in one line.
    #[must_use]
    pub fn outcome(&self) -> String {
        match (&self.reason, &self.document) {
            (Some(reason), _) => reason.clone(),
            (None, Some(document)) => document.outcome(),
            (None, None) => "nothing was found".to_owned(),
        }
    }
}
