//! Runs with other primary metrics than NOPM: a chosen one, one that is better when lower, one
//! whose seconds are not samples, and those of older documents.

use triphammer_core::pace::Load;
use triphammer_core::session::CountErrors;
use triphammer_core::workload::{Description, MeasureDef, PrimaryMetric};
use triphammer_document::compare::{ComparisonResult, Run};
use triphammer_document::history::HistoryResult;
use triphammer_document::parts::Status;
use triphammer_document::profile::{LevelRun, Order, ProfileResult};
use triphammer_document::requirement::{self, Vocabulary};
use triphammer_document::result::{
    Bottleneck, CounterSpan, MeasuredWorkload, RunFacts, RunResult, Warning,
};
use triphammer_document::unit::FigureUnit;
use triphammer_document::{Document, JobDocument as _, JobId};
use triphammer_report::{Charset, Report as _, Style};
use triphammer_runner::compare;
use triphammer_runner::history::{HistorySelection, history};
use triphammer_statistics::compare::{Better, Verdict};
use triphammer_store::Store;

use crate::sample;
use crate::schema::errors_of;

/// The declaration of a workload that counts payments per second.
fn payments() -> Description {
    let tproc_c = sample::workload();
    Description {
        primary_metric: PrimaryMetric {
            name: "PPS".into(),
            meaning: "payments committed per second".into(),
            transactions: vec![1],
            measure: MeasureDef::Rate { per_seconds: 1 },
            ..tproc_c.primary_metric.clone()
        },
        ..(*tproc_c).clone()
    }
}

/// A run with that metric, for which the database has no count.
fn of_payments() -> (RunFacts, RunResult) {
    let facts = RunFacts {
        description: MeasuredWorkload::of(&payments(), &Load::Closed),
        ..sample::facts()
    };
    let result = RunResult::new(&facts, &sample::calm());
    (facts, result)
}

/// A run whose primary metric is the geometric mean of times: lower is better.
fn of_times(factor: f64) -> RunResult {
    let mut result = RunResult::new(&sample::facts(), &sample::calm());
    let primary_metric = &mut result.primary_metric;
    (primary_metric.name, primary_metric.better) = ("GEOMEAN".to_owned(), Better::Lower);
    primary_metric.value = 2.0 * factor;
    result
}

fn texts(result: &RunResult) -> [String; 2] {
    [result.text(Charset::Unicode, Style::Plain), result.markdown().unwrap()]
}

#[test]
fn a_chosen_metric_names_the_result_its_requirements_its_steadiness_and_its_reports() {
    let (_, mut result) = of_payments();
    let primary_metric = &result.primary_metric;
    assert_eq!((primary_metric.name.as_str(), primary_metric.per.as_str()), ("PPS", "second"));
    assert_eq!((primary_metric.count, primary_metric.value), (62_100, 207.0));
    assert_eq!(primary_metric.better, Better::Higher);
    let mean = result.steadiness.as_ref().unwrap().mean;
    assert!((150.0..250.0).contains(&mean), "per second: {mean}");
    for vocabulary in [Vocabulary::of_workload(&payments()), Vocabulary::of_result(&result)] {
        let required = requirement::parse("pps >= 200, tpm > 1", &vocabulary).unwrap();
        requirement::judge(&mut result, &required);
        assert!(result.requirements.iter().all(|judged| judged.passed));
        assert_eq!(
            (result.requirements[0].value, result.requirements[0].unit),
            (Some(207.0), FigureUnit::Number)
        );
        assert!(requirement::parse("nopm >= 5", &vocabulary).is_err());
    }
    for text in texts(&result) {
        for shown in ["PPS", "payments committed per second", "TPS (client)", "TPS (server)"] {
            assert!(text.contains(shown), "{shown}: {text}");
        }
        assert!(!text.contains("TPM") && !text.contains("NOPM"), "{text}");
    }
}

#[test]
fn a_warning_about_the_servers_counter_uses_the_names_of_the_report() {
    let mut facts = of_payments().0;
    facts.server_transactions.late_s = 60.0;
    let result = RunResult::new(&facts, &sample::calm());
    let warned = result.warnings.iter().find(|w| w.kind == "server_counter_late").unwrap();
    assert!(warned.text.starts_with("TPS (server) may be off"), "{}", warned.text);
    assert!(warned.next.as_ref().unwrap().starts_with("use TPS (client)"), "{warned:?}");
}

#[test]
fn a_counter_of_the_server_that_lacks_or_adds_transactions_is_explained() {
    let (lacks, adds) = ("sessions report late", "and two for each worker");
    for (rise, kind, why) in
        [(5, "server_counter_lacks", lacks), (1 << 40, "server_counter_adds", adds)]
    {
        let mut facts = of_payments().0;
        facts.server_transactions = CounterSpan {
            start: Some(7),
            end: Some(7 + rise),
            seconds: 300.0,
            errors: CountErrors { lacks: lacks.into(), adds: adds.into() },
            ..CounterSpan::default()
        };
        let warned = |facts: &RunFacts| {
            let result = RunResult::new(facts, &sample::calm());
            let of = |w: &&Warning| {
                w.kind.starts_with("server_counter_") && w.kind != "server_counter_late"
            };
            result.warnings.iter().find(of).map(|w| (w.kind.clone(), w.text.clone()))
        };
        let (found, text) = warned(&facts).expect("a warning");
        assert_eq!(found, kind);
        assert!(text.starts_with("TPS (server) ") && text.contains(why), "{text}");
        facts.server_transactions.errors = CountErrors::default();
        assert_eq!(warned(&facts), None);
    }
}

#[test]
fn a_comparison_and_a_history_of_times_call_more_of_them_slower() {
    let runs = |factors: &[f64]| -> Vec<Run> {
        let run = |factor: &f64| Run {
            result: of_times(*factor),
            server_settings: Vec::new(),
            seconds: None,
        };
        factors.iter().map(run).collect()
    };
    let (a, b) = (runs(&[1.0, 1.01, 0.99, 1.0]), runs(&[1.5, 1.51, 1.49, 1.5]));
    let slower = ComparisonResult::of_runs(["before", "after"], &a, &b, 0.02);
    assert!(slower.is_slower(), "{}", slower.words);
    assert_eq!(slower.primary_metric.better, Better::Lower);
    let faster = ComparisonResult::of_runs(["after", "before"], &b, &a, 0.02);
    assert_eq!(faster.verdict, Verdict::Faster, "{}", faster.words);
    let scatter = [1.004, 0.991, 1.009, 0.998, 1.001, 0.993, 1.006];
    let all = |changed: f64| -> Vec<RunResult> {
        let level = |place| if place < 8 { 1.0 } else { changed };
        (0..16).map(|place| of_times(level(place) * scatter[place % 7])).collect()
    };
    let worse = HistoryResult::new(None, &all(1.3)).unwrap();
    assert!(worse.is_slower() && worse.words.contains("slower from"), "{}", worse.words);
    let better = HistoryResult::new(None, &all(0.7)).unwrap();
    assert!(!better.changes.is_empty() && !better.is_slower(), "{}", better.words);
}

#[test]
fn a_profile_of_times_has_no_curve_of_throughput_and_its_best_level_is_the_lowest() {
    let first = of_times(1.0);
    let runs: Vec<LevelRun> = (0..)
        .zip([1_u32, 2, 4, 8])
        .map(|(step, users)| {
            let mut run = of_times(f64::from(users));
            run.spec.users = users;
            LevelRun::of(step, &run, None)
        })
        .collect();
    let steps = vec![1, 2, 4, 8];
    let order = Order { asked: "1,2,4,8".into(), repeats: 1, seed: 1, steps };
    let profile =
        ProfileResult::new(&first, Some(JobId(1)), Status::Complete, order, runs, Vec::new(), None);
    assert!(profile.usl.is_none());
    let why = profile.no_curve.as_deref().unwrap();
    assert!(why.contains("GEOMEAN") && why.contains("throughput only"), "{why}");
    assert_eq!(profile.primary_metric(), Some(("GEOMEAN".to_owned(), 2.0)));
    let value = serde_json::to_value(&profile).unwrap();
    assert_eq!(errors_of("ProfileResult", &value), Vec::<String>::new());
}

/// A document whose measure has no seconds to analyse.
#[test]
fn where_steadiness_does_not_apply_nothing_is_said_about_it() {
    let mut result = RunResult::new(&sample::facts(), &sample::calm());
    assert!(texts(&result).iter().all(|text| text.contains("Steadiness")));
    result.steadiness = None;
    assert!(texts(&result).iter().all(|text| !text.contains("Steadiness")), "{result:?}");
    let value = serde_json::to_value(&result).unwrap();
    assert_eq!(errors_of("RunResult", &value), Vec::<String>::new());
    assert_eq!(serde_json::from_value::<RunResult>(value).unwrap(), result);
    assert_eq!(LevelRun::of(0, &result, None).steady, None);
    let run = || Run { result: result.clone(), server_settings: Vec::new(), seconds: None };
    let found = ComparisonResult::of_runs(["a", "b"], &[run(), run()], &[run(), run()], 0.02);
    assert_eq!(found.a.runs[0].steady, None);
    let value = serde_json::to_value(&found).unwrap();
    assert_eq!(errors_of("ComparisonResult", &value), Vec::<String>::new());
    assert_eq!(HistoryResult::new(None, &[result]).unwrap().runs[0].interval, None);
}

#[test]
fn what_a_verdict_needs_is_the_measures_to_say() {
    let with = |committed: u64| {
        let mut end = sample::calm();
        end.timed.iter_mut().for_each(|seen| *seen = sample::seen(committed, 0, 2_000));
        RunResult::new(&sample::facts(), &end).bottleneck
    };
    assert_eq!(with(5).kind, Bottleneck::Undecided);
    assert!(with(5).words.contains("25 committed transactions"), "{}", with(5).words);
    assert_ne!(with(6).cause, with(5).cause, "30 transactions are enough");
}

/// Through the store, as `compare` and `history` read it.
#[test]
fn runs_with_different_metrics_are_neither_compared_nor_followed_together() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("jobs.sqlite")).unwrap();
    let keep = |mut result: RunResult| {
        let job = store.begin(&sample::header()).unwrap();
        result.job = Some(job.0);
        store.finish(job, &result, &sample::facts(), &sample::calm()).unwrap();
        job.0.to_string()
    };
    let nopm = || RunResult::new(&sample::facts(), &sample::calm());
    let [first, other, second] = [nopm(), of_payments().1, nopm()].map(keep);
    let error =
        compare::stored(&store, [&first, &other], 0.02, [None, None]).unwrap_err().to_string();
    let why =
        "job 1 is about NOPM per minute and job 2 is about PPS per second: they cannot be compared";
    assert!(error.contains(why), "{error}");
    assert!(compare::stored(&store, [&first, &second], 0.02, [None, None]).is_ok());
    let wanted =
        HistorySelection { workload: Some("tproc-c".into()), ..HistorySelection::default() };
    let found = history(&store, &wanted, None).unwrap();
    let jobs: Vec<i64> = found.runs.iter().map(|run| run.job).collect();
    assert_eq!((jobs, found.primary_metric.name.as_str()), (vec![1, 3], "NOPM"));
    let left_out = found.warnings.iter().find(|warning| warning.kind == "left_out").unwrap();
    assert!(
        left_out.text.contains("1 run ignored: the newest run measured NOPM of TPROC-C"),
        "{}",
        left_out.text
    );
    let stored = store.load(JobId(2)).unwrap();
    assert!(matches!(stored.read_document().unwrap(), Some(Document::Run(_))));
}
