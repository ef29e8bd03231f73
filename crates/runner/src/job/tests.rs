//! Jobs through the public interface, on the null driver and SQLite.

use serde_json::json;
use triphammer_document::Document;
use triphammer_document::judgement::Judgement;
use triphammer_document::parts::Status;
use triphammer_settings::command::Command;
use triphammer_settings::target::NoSecrets;
use triphammer_settings::{GivenValue, Source};

use super::*;
use crate::watch::{JobEvent, Silent};

/// Names of the events, each once in a row.
#[derive(Default)]
struct Events(Vec<&'static str>);

impl Watcher for Events {
    fn on_event(&mut self, event: JobEvent<'_>) {
        let name = match event {
            JobEvent::Resolved(_) => "resolved",
            JobEvent::Began(Some(_)) => "began",
            JobEvent::Began(None) => "began unstored",
            JobEvent::Task { .. } => "task",
            JobEvent::Advanced { .. } => "advanced",
            JobEvent::RunInfo(_) => "run info",
            JobEvent::Run(_)
            | JobEvent::Second(_)
            | JobEvent::Judged(_)
            | JobEvent::Observed(_) => "run",
            JobEvent::Sequence(_) => "sequence",
            JobEvent::Step { .. } => "step",
            JobEvent::StepResolved(_) => "step resolved",
            JobEvent::StepBegan(_) => "step began",
            JobEvent::StepEnded { .. } => "step ended",
            JobEvent::StepRejected { .. } => "step rejected",
            JobEvent::Rest(_) => "rest",
            JobEvent::Note(_) => "note",
            JobEvent::Queries(_) => "queries",
            JobEvent::Checked(_) => "checked",
            JobEvent::Warning(text) => panic!("{text}"),
        };
        if self.0.last() != Some(&name) {
            self.0.push(name);
        }
    }
}

fn settings(command: impl Into<Command>, given: &[(&str, &str)]) -> Settings {
    let mut settings = Settings::new(command);
    for (name, value) in given {
        settings.set(name, *value, Source::Flag);
    }
    settings
}

fn job(folder: &tempfile::TempDir, settings: Settings) -> Job {
    let store = Some(folder.path().join("jobs.sqlite"));
    Job::new(Order { store, ..Order::new(settings, &NoSecrets) }).unwrap()
}

#[test]
fn a_run_is_asked_for_watched_and_stored() {
    let folder = tempfile::tempdir().unwrap();
    let mut asked = settings(JobKind::Run, &[("target", "null:"), ("transactions", "5")]);
    asked.set("vus", 2_u32, Source::Flag);
    let mut events = Events::default();
    let finished = job(&folder, asked).run(&mut events).unwrap();
    assert_eq!(events.0, ["resolved", "run info", "began", "run"]);
    assert!(finished.is_good() && finished.is_stored);
    let document = finished.document.unwrap();
    let head = document.head();
    assert_eq!((head.kind, head.job), (JobKind::Run, Some(1)));
    let vus = head.settings.iter().find(|setting| setting.name == "vus").unwrap();
    assert_eq!((vus.value.as_str(), vus.source.as_str()), ("2", "command line"));
    let store = Store::open(&folder.path().join("jobs.sqlite")).unwrap();
    let stored = store.load(finished.job.unwrap()).unwrap();
    assert_eq!(stored.read_document().unwrap(), Some(document.clone()));
    assert_eq!(stored.document.unwrap(), serde_json::to_value(&document).unwrap());
}

/// The last judgement of the requirements before the end.
#[derive(Default)]
struct LastJudged(Vec<Judgement>);

impl Watcher for LastJudged {
    fn on_event(&mut self, event: JobEvent<'_>) {
        if let JobEvent::Judged(judged) = event {
            self.0 = judged.to_vec();
        }
    }
}

#[test]
fn requirements_are_judged_live_as_they_are_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let required = "nopm > 1, tpm < 5, failures == 0%, indeterminate == 0, sessions.lost == 0, \
                    new_order.p95 < 1us, payment.per_minute > 1, all.mean < 1min, retries < 1%, \
                    all.committed > 1, backlog < 5, round_trips > 1";
    let given = [("target", "null:?service=1ms"), ("rampup", "1s"), ("duration", "2s")];
    let mut asked = settings(JobKind::Run, &given);
    asked.set("require", required, Source::Flag);
    let mut last = LastJudged::default();
    let finished = job(&folder, asked).run(&mut last).unwrap();
    let Some(Document::Run(result)) = &finished.document else { panic!("{finished:?}") };
    let (only_at_end, live): (Vec<_>, Vec<_>) =
        result.requirements.iter().zip(&last.0).partition(|(end, _)| end.metric == "round_trips");
    assert_eq!((only_at_end.len(), live.len()), (1, 11), "{:?}", last.0);
    assert_eq!(only_at_end[0].1.value, None);
    for (end, live) in live {
        assert_eq!(end, live);
    }
}

#[test]
fn a_build_a_check_and_a_drop_go_the_same_way() {
    let folder = tempfile::tempdir().unwrap();
    let target = format!("sqlite:{}", folder.path().join("data.sqlite").display());
    let given = [("target", target.as_str()), ("workload", "tpc-b")];
    let done = |kind: JobKind| {
        let mut events = Events::default();
        let finished = job(&folder, settings(kind, &given)).run(&mut events).unwrap();
        assert!(finished.is_good(), "{finished:?}");
        (events.0, finished)
    };
    let (events, built) = done(JobKind::Build);
    assert_eq!(events[..2], ["began", "task"]);
    assert_eq!(built.job, Some(JobId(1)));
    assert!(built.outcome().starts_with("built: "), "{}", built.outcome());
    let (events, checked) = done(JobKind::Check);
    assert_eq!(events, ["began", "task", "advanced"]);
    assert!(checked.outcome().ends_with("conditions hold"), "{}", checked.outcome());
    let (events, dropped) = done(JobKind::Drop);
    assert_eq!((events, dropped.job), (vec!["began unstored"], None));
    let Some(Document::Drop(removal)) = &dropped.document else { panic!("{dropped:?}") };
    assert_eq!(json!(dropped.document), json!(removal.removed));
}

#[test]
fn what_is_stopped_before_it_begins_ends_as_soon_as_it_has_begun() {
    let folder = tempfile::tempdir().unwrap();
    let given = [("target", "null:"), ("rampup", "0s"), ("duration", "1h")];
    let mut run = job(&folder, settings(JobKind::Run, &given));
    run.handle().stop();
    // It is stopped while it connects, or in its first moments.
    match run.run(&mut Silent) {
        Ok(finished) => assert_eq!(finished.status, Status::Interrupted),
        Err(stopped) => assert!(stopped.is_interruption(), "{stopped}"),
    }
    let mut profile = job(&folder, settings(JobKind::Profile, &given));
    profile.handle().stop();
    let mut events = Events::default();
    let finished = profile.run(&mut events).unwrap();
    assert_eq!(events.0, ["began", "sequence"]);
    assert_eq!((finished.status, finished.document), (Status::Interrupted, None));
}

#[test]
fn to_look_does_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for kind in JobKind::ALL {
        let given = [
            ("target", "null:"),
            ("other", "null:"),
            ("limit", "all.p95 < 1s"),
            ("ab", "true"),
            ("over", "vus=1,2"),
        ];
        let taken = |name: &str| triphammer_settings::declared(kind, name).is_some();
        let given: Vec<_> = given.into_iter().filter(|(name, _)| taken(name)).collect();
        let mut job = job(&folder, settings(kind, &given));
        if kind.has_own_load() {
            let refused = job.preview(&mut Events::default()).unwrap_err().to_string();
            assert!(refused.contains("does not store data"), "{refused}");
            continue;
        }
        let preview = job.preview(&mut Events::default()).unwrap();
        let runs = match kind {
            JobKind::Compare | JobKind::Matrix => 2,
            kind if kind.drives() => 1,
            _ => 0,
        };
        assert_eq!(preview.runs.len(), runs, "{kind:?}");
    }
    assert!(!folder.path().join("jobs.sqlite").exists());
}

#[test]
fn a_campaign_decides_by_values_not_by_text() {
    let steps = [GivenValue::from(8_u32), GivenValue::from("8")];
    assert_eq!(steps[0], steps[1]);
    assert_eq!((steps[0].value::<u32>(), steps[1].value::<u32>()), (Some(8), None));
    let mut asked = settings(JobKind::Run, &[]);
    asked.set("threads", u32::MAX, Source::Request);
    let error = asked.count_or("threads", 64_u32, || 1).unwrap_err().to_string();
    assert!(error.contains("must be at most 64"), "{error}");
}

#[test]
fn what_only_looks_is_no_job() {
    for command in Command::ALL.into_iter().filter(|command| command.job().is_none()) {
        let refused = Job::new(Order::new(settings(command, &[]), &NoSecrets)).unwrap_err();
        assert!(refused.to_string().contains("does not run a job"), "{refused}");
    }
}
