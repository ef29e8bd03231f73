//! How a job ended.

use super::document::Document;
use crate::failure::Failure;
use crate::outputs::Outputs;
use crate::result::Status;
use crate::store::JobId;

/// How a job ended that began.
#[derive(Debug)]
pub struct Finished {
    /// What it left; `None` where a campaign has no complete run.
    pub document: Option<Document>,
    /// Complete; interrupted or aborted; or failed when it could not go on.
    pub status: Status,
    /// Its number in the store; `None` when it is not there, or not whole.
    pub job: Option<JobId>,
    /// False when it was to be stored and is not, or not whole.
    pub is_stored: bool,
    /// Why a campaign failed.
    pub reason: Option<String>,
    /// The files and endpoints that a run filled, still open.
    pub(crate) outputs: Option<Outputs>,
}

impl Finished {
    /// A job that came to its end, with its number, and whether it is whole in the store.
    pub(super) fn stored(
        document: impl Into<Document>,
        job: Option<JobId>,
        is_stored: bool,
    ) -> Self {
        let job = job.filter(|_| is_stored);
        Self { job, is_stored, ..Self::unstored(document) }
    }

    /// A job that came to its end and leaves no trace in the store.
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

    /// Whether it did what it was to do, and what it found is good.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.status == Status::Complete && self.document.as_ref().is_some_and(Document::is_good)
    }

    /// Ends the files and endpoints that a run filled, which may take a moment: print first. Gives what is still
    /// to be told, and why a file that was asked for is not whole.
    pub fn end_outputs(&mut self) -> (Option<String>, Option<Failure>) {
        let Some(mut outputs) = self.outputs.take() else { return (None, None) };
        (outputs.finish(), outputs.torn())
    }

    /// What came out, in a line.
    #[must_use]
    pub fn outcome(&self) -> String {
        match (&self.reason, &self.document) {
            (Some(reason), _) => reason.clone(),
            (None, Some(document)) => document.outcome(),
            (None, None) => "nothing was found".to_owned(),
        }
    }
}
