//! Computes the result of a run again: from the facts of the runner, the output of the engine and the
//! stored seconds, by the function that made it.

use triphammer_document::JobId;
use triphammer_document::result::{Evidence, RunResult};
use triphammer_settings::failure::Failure;
use triphammer_store::{Store, StoredJob};

use super::{Findings, compare, raw};
use crate::parts::{EVIDENCE, document_of, of_job};

/// Kind of the note that seconds are missing in the store.
const GAP: &str = "store_gap";

/// Compares the document of a run with what its raw parts give, and these with each other. Returns
/// the computed result; `None` if it cannot be computed.
pub(super) fn check(
    store: &Store,
    stored: &StoredJob,
    root: JobId,
    findings: &mut Findings,
) -> Result<Option<RunResult>, Failure> {
    let job = stored.row.id;
    let part = document_of(job, root);
    let Some(document) = stored.document.as_ref().filter(|document| document.is_object()) else {
        return Ok(None);
    };
    let facts = of_job(job, EVIDENCE[0]);
    let Some([facts_text, ended]) = store.evidence(job)? else {
        findings.differs(&facts, "the whole part", "nothing", "what the result was computed from");
        return Ok(None);
    };
    let (Ok(seconds), Ok(series)) = (store.seconds(job), store.series(job)) else {
        findings.differs(&of_job(job, "seconds.csv"), "the rows", "unreadable", "seconds");
        return Ok(None);
    };
    let evidence = match Evidence::read(&facts_text, &ended, &seconds, &series) {
        Ok(evidence) => evidence,
        Err(reason) => {
            let part = if reason.starts_with("ended") { of_job(job, EVIDENCE[1]) } else { facts };
            findings.differs(&part, "the whole part", "unreadable", &reason);
            return Ok(None);
        }
    };
    let computed = match evidence.result() {
        Ok(computed) => computed,
        Err(reason) => {
            findings.differs(&facts, "settings.require", "unreadable", &reason);
            return Ok(None);
        }
    };
    if stored.notes.iter().any(|note| note.kind == GAP) {
        findings.not_recomputed("figures of seconds that the store could not take: see the notes");
    }
    let again = serde_json::to_value(&computed).unwrap_or_default();
    let differences = compare::json(document, &again);
    findings.agrees("values of results", compare::leaves(&again) - differences.len() as u64);
    for (place, written, found) in differences {
        findings.differs(&part, &place, &written, &found);
    }
    let rows = raw::Rows { seconds: &seconds, series: &series };
    raw::run(store, stored, &evidence, &computed, rows, findings)?;
    Ok(Some(computed))
}
