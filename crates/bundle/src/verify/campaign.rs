//! Computes the document of a campaign again: its question receives the results of the runs as it
//! received them, and gives the document.

use triphammer_document::result::RunResult;
use triphammer_settings::command::JobKind;
use triphammer_store::{Store, StoredJob};

use super::Findings;
use crate::parts::DOCUMENT;

/// Compares the document of a job with what its runs give; `runs` are those computed again.
pub(super) fn check(
    store: &Store,
    stored: &StoredJob,
    runs: Vec<RunResult>,
    findings: &mut Findings,
) {
    let Some(document) = stored.document.as_ref().filter(|document| document.is_object()) else {
        return;
    };
    let kind = stored.row.kind;
    if !kind.is_campaign() {
        return once(kind, stored, findings);
    }
    let workload = triphammer_runner::describe(&stored.row.workload);
    if workload.is_ok_and(|of| of.is_only_local()) {
        return findings.not_recomputed(
            "document.json: the answer of a campaign whose script only its own host may run",
        );
    }
    if let Some(reason) = not_answered_again(stored) {
        return findings.not_recomputed(&format!("document.json: the answer of {reason}"));
    }
    let again = match triphammer_runner::job::answer_again(store, stored, runs) {
        Ok(again) => again,
        Err(reason) => {
            return findings.differs(DOCUMENT, "the whole part", "a document", &reason.to_string());
        }
    };
    let again = serde_json::to_value(&again).unwrap_or_default();
    findings.documents("values of the job's document", DOCUMENT, document, &again);
}

/// Why a campaign is not answered again here; `None` if it is.
fn not_answered_again(stored: &StoredJob) -> Option<&'static str> {
    let given = stored.plan.as_ref().and_then(|plan| plan["given"].as_array());
    let is_file = |setting: &serde_json::Value| {
        let has = |name: &str, begins: &str| {
            setting["name"] == name
                && setting["value"].as_str().is_some_and(|value| value.starts_with(begins))
        };
        has("load", "steps:") || has("load", "replay:")
    };
    // Its row has one of them, which settings that name others do not accept.
    let names_targets = |setting: &serde_json::Value| {
        let value = setting["value"].as_str().unwrap_or_default();
        setting["name"] == "over" && value.split(", ").any(|axis| axis.starts_with("target="))
    };
    if given.is_some_and(|given| given.iter().any(names_targets)) {
        return Some("a matrix over targets");
    }
    given
        .is_some_and(|given| given.iter().any(is_file))
        .then_some("a campaign whose load only its own host may read")
}

/// What a job found that is no campaign is in its document only; the verdict on it is made again.
fn once(kind: JobKind, stored: &StoredJob, findings: &mut Findings) {
    findings.not_recomputed(&format!(
        "document.json: what the {} found at the database; only the verdict is made again",
        kind.noun()
    ));
    let Ok(Some(read)) = stored.read_document() else { return };
    let again = serde_json::to_value(read.judged_again()).unwrap_or_default();
    let document = stored.document.clone().unwrap_or_default();
    findings.agrees("verdicts", 1);
    findings.differences(DOCUMENT, &document, &again);
}
