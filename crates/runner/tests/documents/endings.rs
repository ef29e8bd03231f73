//! One verdict: documents, the store, lists and test suites agree on every kind of bad job.

use serde_json::{Value, json};
use triphammer_document::check::CheckReport;
use triphammer_document::drill::DrillResult;
use triphammer_document::ending::{Ending, Flaw};
use triphammer_document::isolation::IsolationResult;
use triphammer_document::parts::Status;
use triphammer_document::result::{Outage, RunResult, Verdict};
use triphammer_document::schemas::documents;
use triphammer_document::{Document, JobDocument};
use triphammer_report as report;
use triphammer_report::Report as _;
use triphammer_report::junit::Outcome;
use triphammer_settings::command::JobKind;
use triphammer_store::{JobFilter, JobHeader, Store};

use crate::sample;
use crate::schema::errors_of;

fn run(change: impl FnOnce(&mut RunResult)) -> Document {
    let mut result = RunResult::new(&sample::facts(), &sample::calm());
    result.requirements.clear();
    change(&mut result);
    result.judged().into()
}

/// A drill with these commits and with a fault.
fn drill(commits: &Value, is_read: bool, succeeded: bool) -> Document {
    let run = RunResult::new(&sample::facts(), &sample::calm());
    let run = serde_json::to_value(run).unwrap();
    let same =
        ["job", "tool", "label", "started_at", "workload", "settings", "target", "server", "host"];
    let mut document = json!({
        "format": 1, "kind": "drill", "status": "complete", "lost": [], "findings": ["a finding"],
        "commits": {
            "acknowledged": 9, "lost": 0, "lost_between_s": null, "duplicated": 0, "reordered": 0,
            "failed": 0, "undead": 0, "altered": 0, "indeterminate": 0,
            "indeterminate_committed": 0, "indeterminate_absent": 0,
        },
        "faults": [{
            "fault": "2s=exec:kill", "at_s": 2.0, "began_s": 2.0, "ended_s": 2.5,
            "succeeded": succeeded, "detail": "exit code 1",
        }],
        "service": { "without_service_s": 0.0, "outages": [], "sessions_away": 0 },
        "nodes": [], "failovers": [],
        "verification": {
            "target": run["target"], "server": run["server"], "waited_s": 0.0, "rows": 9,
            "error": if is_read { Value::Null } else { "it did not answer".into() },
        },
        "run": 4, "users": 8, "load_s": 10.0,
    });
    for name in same {
        document[name] = run[name].clone();
    }
    for (name, value) in commits.as_object().unwrap() {
        document["commits"][name] = value.clone();
    }
    judged::<DrillResult>(document).into()
}

/// A test of isolation of one level with this verdict on its only kind, and so many commits.
fn isolation(verdict: &str, committed: u64, other: &Value) -> Document {
    let run = RunResult::new(&sample::facts(), &sample::calm());
    let run = serde_json::to_value(run).unwrap();
    let mut document = json!({
        "format": 1, "kind": "isolation", "status": "complete", "control": null, "expected": null,
        "fails_if_undecided": false, "faults": [], "findings": ["a finding"], "users": 16, "load_s": 60.0,
        "levels": [{
            "level": "serializable", "promise": "serializable", "order": "real-time",
            "by_name": "serializable", "source": "https://example.org", "note": null, "run": 4,
            "transactions": 9, "committed": committed, "in_doubt_seen": 0, "in_doubt_unseen": 0,
            "operations": 20, "unchecked": null, "is_blind": false,
            "kinds": [{
                "kind": "G1a", "title": "aborted read", "verdict": verdict, "words": verdict, "promised": true,
                "promised_by_name": true, "count": u64::from(verdict == "violated"), "share": 0.1,
                "first_s": null, "control": "planted", "example": null,
            }],
            "staleness": { "reads": 9, "stale": 0, "p50_ms": null, "p99_ms": null, "max_ms": null },
            "price": {
                "tps": 1.0, "tps_interval": null, "p50_ms": null, "p95_ms": null, "p99_ms": null,
                "retries_per_commit": 0.0, "failed": 0,
            },
        }],
    });
    for name in
        ["job", "tool", "label", "started_at", "workload", "settings", "target", "server", "host"]
    {
        document[name] = run[name].clone();
    }
    for (name, value) in other.as_object().unwrap() {
        let level = &mut document["levels"][0];
        let part = if level.get(name).is_some() { level } else { &mut document };
        part[name] = value.clone();
    }
    judged::<IsolationResult>(document).into()
}

/// A control that broke the promise of its own level.
fn broken_control() -> Value {
    let found = json!([{ "kind": "G1a", "count": 2, "is_broken_promise": true }]);
    json!({ "control": { "level": "read-committed", "run": null, "transactions": 9, "found": found } })
}

/// A document from its JSON without an ending.
fn judged<D: JobDocument>(mut document: Value) -> D {
    document["ending"] = json!({ "good": true, "flaw": null, "words": "" });
    serde_json::from_value::<D>(document).unwrap().judged()
}

fn check() -> Document {
    let document = json!({
        "workload": "TPROC-C", "scale_unit": "warehouses", "target": "null:", "untouched": false,
        "checks": [{ "id": "1", "title": "w_ytd = sum", "violations": 3, "first_key": "7" }],
        "range": [1, 1],
    });
    judged::<CheckReport>(document).into()
}

fn outage() -> Outage {
    serde_json::from_value(json!({ "from_s": 8.0, "until_s": 15.0 })).unwrap()
}

/// A document of each kind of bad job, and what is wrong with it.
fn bad() -> Vec<(Document, Option<Flaw>)> {
    let lost = |n: u64| json!({ "lost": n });
    let stopped = |status| run(|result| result.status = status);
    vec![
        (
            run(|result| result.requirements = sample::troubled_result().requirements),
            Some(Flaw::RequirementsFailed),
        ),
        (run(|result| result.failures.above_limit = true), Some(Flaw::TooManyFailures)),
        (run(|result| result.window.total.completed = 0), Some(Flaw::NothingCompleted)),
        (
            run(|result| result.primary_metric.verification.verdict = Verdict::Violated),
            Some(Flaw::CountViolated),
        ),
        (run(|result| result.audits = violated_audits()), Some(Flaw::AuditViolated)),
        (stopped(Status::Interrupted), None),
        (stopped(Status::Aborted), None),
        (stopped(Status::Failed), None),
        (drill(&lost(3), true, true), Some(Flaw::CommitsLost)),
        (drill(&json!({ "undead": 1 }), true, true), Some(Flaw::CommitsWrong)),
        (drill(&json!({ "lost": null }), false, true), Some(Flaw::NotVerified)),
        (drill(&json!({ "acknowledged": 0 }), true, true), Some(Flaw::NothingProven)),
        (drill(&json!({}), true, false), Some(Flaw::FaultMissing)),
        (check(), Some(Flaw::ConditionsViolated)),
        (isolation("violated", 9, &json!({})), Some(Flaw::IsolationViolated)),
        (isolation("kept", 0, &json!({})), Some(Flaw::NothingProven)),
        (isolation("kept", 9, &json!({ "expected": "G2" })), Some(Flaw::NotAsExpected)),
        (isolation("kept", 9, &json!({ "is_blind": true })), Some(Flaw::Blind)),
        (isolation("kept", 9, &broken_control()), Some(Flaw::IsolationViolated)),
        (isolation("undecided", 9, &json!({ "fails_if_undecided": true })), Some(Flaw::Blind)),
    ]
    .into_iter()
    .chain(crate::campaigns::documents().into_iter().filter(|(_, flaw)| flaw.is_some()))
    .collect()
}

fn violated_audits() -> Vec<triphammer_document::result::Audit> {
    let read = triphammer_document::result::DatabaseCount { before: Some(5), after: Some(7) };
    let audit = triphammer_runner::describe("tpc-b").unwrap().audits[0].clone();
    let mut facts = sample::facts();
    facts.audits = vec![(audit, read)];
    let mut audits = RunResult::new(&facts, &sample::calm()).audits;
    audits[0].verdict = Verdict::Violated;
    audits
}

/// Stores a document as its job does, and returns what the list has of it.
fn listed(store: &Store, document: &Document) -> triphammer_store::JobRow {
    let head = document.head();
    let job = store.begin(&JobHeader { kind: head.kind, ..sample::header() }).unwrap();
    match document {
        Document::Run(result) => {
            store.finish(job, result, &sample::facts(), &sample::calm()).unwrap();
        }
        other => {
            let json = serde_json::to_value(other).unwrap();
            store.finish_with(job, head.status, document.ending().flaw, &json).unwrap();
        }
    }
    store.jobs(&JobFilter { limit: Some(1), ..JobFilter::default() }).unwrap().remove(0)
}

#[test]
fn every_list_and_report_agrees_with_the_verdict_of_the_document() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("jobs.sqlite")).unwrap();
    for (document, flaw) in bad() {
        let ending = document.ending().clone();
        assert_eq!((ending.good, ending.flaw), (false, flaw), "{}", ending.words);
        let row = listed(&store, &document);
        let shown = row.ending.clone().unwrap();
        assert_eq!((shown.good, shown.flaw, &shown.words), (false, flaw, &ending.words));
        let text = report::jobs::text(std::slice::from_ref(&row));
        let word = flaw.map_or(row.status.name(), Flaw::short);
        assert!(text.contains(word) && !text.contains("complete"), "{text}");
        let stored = store.load(row.id).unwrap();
        assert_eq!(stored.read_document().unwrap().unwrap(), document, "{}", ending.words);
        let fails = |outcome: &Outcome| matches!(outcome, Outcome::Failed(_));
        if let Some(suite) = document.junit() {
            assert!(suite.cases.iter().any(|case| fails(&case.outcome)), "{}", ending.words);
        }
    }
}

#[test]
fn a_good_job_is_complete_everywhere_and_an_outage_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("jobs.sqlite")).unwrap();
    let good = [run(|_| ()), drill(&json!({}), true, true), isolation("kept", 9, &json!({}))];
    for document in good {
        let row = listed(&store, &document);
        assert_eq!(row.ending, Some(Ending::new(Status::Complete, None)));
        assert!(report::jobs::text(&[row]).contains("complete"));
    }
    let row = listed(&store, &run(|result| result.availability.outages = vec![outage()]));
    assert_eq!(row.ending, Some(Ending::new(Status::Complete, Some(Flaw::Outage))));
    assert!(report::jobs::text(&[row]).contains("outage"));
}

#[test]
fn stored_documents_are_valid_against_the_schema_of_their_kind() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("jobs.sqlite")).unwrap();
    let mut kinds = std::collections::BTreeSet::new();
    // One of each kind: a validator takes a while to make.
    for (document, _) in bad().into_iter().chain(crate::campaigns::documents()) {
        let kind = document.head().kind;
        let of = JobKind::ALL.into_iter().position(|known| known == kind).unwrap();
        let name = documents()[of].name.clone();
        if !kinds.insert(name.clone()) {
            continue;
        }
        let row = listed(&store, &document);
        let stored = store.load(row.id).unwrap().document.unwrap();
        assert_eq!(errors_of(&name, &stored), [""; 0], "{kind:?}");
    }
    let unseen = documents().into_iter().map(|published| published.name);
    let unseen: Vec<_> = unseen.filter(|name| !kinds.contains(name)).collect();
    assert_eq!(unseen, ["BuildReport", "Removal"], "seen: {kinds:?}");
}

#[test]
fn a_document_without_an_ending_is_rejected() {
    for (document, _) in bad() {
        let mut json = serde_json::to_value(&document).unwrap();
        json.as_object_mut().unwrap().remove("ending").unwrap();
        let error = Document::read(document.head().kind, json).unwrap_err().to_string();
        assert!(error.contains("missing field `ending`"), "{error}");
    }
}
