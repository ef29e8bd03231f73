//! Answers the question of a campaign again, from the recorded results of its runs: no run is made,
//! and no database is asked.

use std::collections::BTreeMap;

use triphammer_document::JobId;
use triphammer_document::parts::Status;
use triphammer_document::result::RunResult;
use triphammer_settings::failure::Failure;
use triphammer_store::{JobStatus, ReadAt, Store, StoredJob};

use super::Question;

/// The runs of a stored campaign, as its question receives them.
#[derive(Debug)]
pub struct RecordedRuns {
    job: JobId,
    /// Results and server settings of the complete runs, by step.
    runs: BTreeMap<u32, (RunResult, Vec<(String, String)>)>,
    /// Why a step failed, by its number.
    failures: BTreeMap<u32, String>,
    status: Status,
}

impl RecordedRuns {
    /// Reads what the store has of the runs besides these results, and the failures.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(crate) fn of(
        store: &Store,
        stored: &StoredJob,
        runs: Vec<RunResult>,
    ) -> Result<Self, Failure> {
        let mut of_steps = BTreeMap::new();
        for run in runs {
            let Some(job) = run.job.map(JobId) else { continue };
            let step = store.load(job)?.row.step;
            let Some(step) = step.filter(|_| run.status == Status::Complete) else { continue };
            let settings = store.stored_settings(job, ReadAt::Start)?;
            of_steps.entry(step).or_insert((run, settings));
        }
        let document = stored.document.clone().unwrap_or_default();
        let lists = [&document["failed_runs"], &document["pairs"]["failed_runs"]];
        let failures = lists.into_iter().filter_map(|list| list.as_array()).flatten();
        let failures = failures.filter_map(|failed| {
            let step = u32::try_from(failed["step"].as_u64()?).ok()?;
            Some((step, failed["reason"].as_str()?.to_owned()))
        });
        let status = match stored.row.status {
            JobStatus::Complete => Status::Complete,
            JobStatus::Failed => Status::Failed,
            _ => Status::Interrupted,
        };
        Ok(Self { job: stored.row.id, runs: of_steps, failures: failures.collect(), status })
    }
}

/// Reports the runs to a question, in its order, and returns its document.
pub(crate) fn answer<Q: Question>(mut question: Q, recorded: &RecordedRuns) -> Option<Q::Document> {
    while let Some(step) = question.next() {
        // Half of a pair says nothing.
        let is_whole = |run: &RunResult| {
            question.beside(&step).is_none_or(|beside| {
                let other = recorded.runs.get(&beside.number);
                other.is_some_and(|(other, _)| other.started_at == run.started_at)
            })
        };
        let found = recorded.runs.get(&step.number).filter(|(run, _)| is_whole(run));
        if let Some((run, settings)) = found {
            question.server_settings(settings.clone());
            question.report_result(&step, run);
        } else if let Some(reason) = recorded.failures.get(&step.number) {
            question.report_failure(&step, reason);
        } else {
            break;
        }
    }
    question.document(Some(recorded.job), recorded.status)
}
