//! Computes the result of a run again: from the facts of the runner, the output of the engine and
//! the stored seconds, by the function that made it.

use serde_json::{Value, json};
use triphammer_core::spec::DURATION_MAX;
use triphammer_document::JobId;
use triphammer_document::evidence::Evidence;
use triphammer_document::result::RunResult;
use triphammer_document::series::SecondRow;
use triphammer_settings::failure::Failure;
use triphammer_store::{Store, StoredJob};

use super::{Findings, compare, raw};
use crate::parts::{EVIDENCE, Parts, document_of, of_job};

/// Most seconds of a run: its longest ramp-up and window, and the time to end.
const SECONDS_MAX: u64 = 3 * DURATION_MAX.as_secs();

/// Compares the document of a run with what its raw parts give, and these with each other. Returns
/// the computed result; `None` if it cannot be computed.
pub(super) fn check(
    parts: &Parts,
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
        let names = EVIDENCE.map(|name| of_job(job, name));
        for name in names.iter().filter(|name| !parts.0.contains_key(*name)) {
            let what = "what the result was computed from";
            findings.differs(name, "the whole part", "nothing", what);
        }
        return Ok(None);
    };
    let (Ok(seconds), Ok(series)) = (store.seconds(job), store.series(job)) else {
        findings.differs(&of_job(job, "seconds.csv"), "the rows", "unreadable", "seconds");
        return Ok(None);
    };
    if let Some(place) = broken_row(&seconds) {
        let of = seconds[place].first;
        let written = format!("{} to {}", seconds[place].first, seconds[place].last);
        let part = of_job(job, "seconds.csv");
        findings.differs(&part, &format!("the row of second {of}"), &written, "the next seconds");
        return Ok(None);
    }
    let (evidence, texts) = match Evidence::read(&facts_text, &ended, &seconds, &series) {
        Ok((evidence, [facts_again, ended_again])) => {
            (evidence, [[facts_text, facts_again], [ended, ended_again]])
        }
        Err(reason) => {
            let part = if reason.starts_with("ended") { of_job(job, EVIDENCE[1]) } else { facts };
            findings.differs(&part, "the whole part", "unreadable", &reason);
            return Ok(None);
        }
    };
    if let (Some(queries), Some(_)) = (&evidence.facts.queries, &evidence.facts.query_plan) {
        // They are computed again from the steps, so that a result does not depend on those written.
        let written: Value = serde_json::from_str(&texts[0][0]).unwrap_or_default();
        let written = json!({ "queries": written["queries"] });
        findings.documents("figures of queries", &facts, &written, &json!({ "queries": queries }));
    }
    let computed = match evidence.result() {
        Ok(computed) => computed,
        Err(reason) => {
            findings.differs(&facts, "settings.require", "unreadable", &reason);
            return Ok(None);
        }
    };
    let written = store.export_document(job)?;
    let again = serde_json::to_string(&computed).unwrap_or_default();
    if written.as_deref() == Some(&again) {
        findings.agrees("values of results", compare::leaves(document));
    } else {
        let again = serde_json::to_value(&computed).unwrap_or_default();
        findings.documents("values of results", &part, document, &again);
    }
    if let Some(written) = written {
        form(&part, &written, &again, findings);
    }
    let rows = raw::Rows { seconds: &seconds, series: &series };
    for (name, [written, found]) in EVIDENCE.iter().zip(texts) {
        form(&of_job(job, name), &written, &found, findings);
    }
    raw::run(store, stored, &evidence, &computed, rows, findings)?;
    Ok(Some(computed))
}

/// The first row that does not follow the one before it, or that ends before it begins or later than any run.
fn broken_row(seconds: &[SecondRow]) -> Option<usize> {
    let mut next = 0;
    seconds.iter().position(|row| {
        let follows = row.first == next && row.last >= row.first && row.last < SECONDS_MAX;
        next = row.last.saturating_add(1);
        !follows
    })
}

/// Whether a text has the form in which the program writes its values.
fn form(part: &str, written: &str, found: &str, findings: &mut Findings) {
    if !findings.compares_form() {
        return;
    }
    let before = findings.disagreements.iter().any(|of| of.part == part);
    match compare::text_differs(written, found) {
        None => findings.agrees("texts that are written the same way again", 1),
        // What was found value by value is named already.
        Some(_) if before => {}
        Some(place) => {
            let [a, b] = [written, found].map(|text| compare::around(text, place));
            findings.differs(part, &format!("the form of byte {place}"), &a, &b);
        }
    }
}
