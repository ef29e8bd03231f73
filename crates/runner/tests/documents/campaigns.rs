//! Profiles and searches from known runs: their documents, published schemas, and reports.

use std::collections::BTreeSet;

use serde_json::Value;
use triphammer_core::pace::Load;
use triphammer_document::capacity::{CapacityResult, LatencyLimit, Probe, Reason};
use triphammer_document::compare::Demand;
use triphammer_document::ending::Flaw;
use triphammer_document::matrix::{Axis, FailedCell, MatrixOrder, MatrixResult, MatrixRun};
use triphammer_document::parts::Status;
use triphammer_document::profile::{FailedLevel, LevelRun, Order, ProfileResult};
use triphammer_document::result::{Bottleneck, RunResult, Steady};
use triphammer_document::{Document, JobDocument as _, JobId};
use triphammer_report::{Charset, Report as _, Style};
use triphammer_runner::campaign::Question;
use triphammer_runner::profile::sequence;
use triphammer_runner::step::PlannedRun;
use triphammer_statistics::search::Judgement;
use triphammer_statistics::{Estimate, Interval};

use crate::report::golden;
use crate::sample;
use crate::schema::{closed_whole_and_described, errors_of};

const LEVELS: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

/// A server of λ = 1000, σ = 0.02, κ = 0.0005, whose peak is at 44 users.
fn law(users: u32) -> f64 {
    let n = f64::from(users);
    1000.0 * n / (1.0 + 0.02 * (n - 1.0) + 0.0005 * n * (n - 1.0))
}

fn first() -> RunResult {
    RunResult::new(&sample::facts(), &sample::calm())
}

/// Runs of the law with 1.5 % up and down by repeat, and a little by level.
fn runs(levels: &[u32], repeats: u32, bottleneck: fn(u32) -> Bottleneck) -> Vec<LevelRun> {
    (0..)
        .zip(sequence(levels, 0..repeats, 1))
        .map(|(step, users)| {
            let repeat = step / u32::try_from(levels.len()).unwrap();
            let by_repeat = 0.015 * (f64::from((repeat + users) % 3) - 1.0);
            let off = 1.0 + by_repeat + 0.002 * (f64::from(users % 5) - 2.0);
            LevelRun {
                job: Some(i64::from(step) + 13),
                step,
                users,
                started_at: "2026-05-09T07:29:52Z".into(),
                value: law(users) * off,
                interval: Some(Interval { low: law(users) * 0.99, high: law(users) * 1.01 }),
                steady: Some(if step == 3 { Steady::Drifting } else { Steady::Steady }),
                p95_us: 2_500 * u64::from(users),
                p99_us: 4_000 * u64::from(users),
                failure_share: if users > 32 { 0.004 } else { 0.0 },
                good: true,
                requirements_kept: None,
                per_second: law(users) * off / 60.0,
                joules_per_transaction: None,
                bottleneck: bottleneck(users),
            }
        })
        .collect()
}

fn order(asked: &str, levels: &[u32], repeats: u32) -> Order {
    let steps = sequence(levels, 0..repeats, 1);
    Order { asked: asked.into(), repeats, seed: 1, steps }
}

fn whole() -> ProfileResult {
    let runs = runs(
        &LEVELS,
        3,
        |users| if users < 32 { Bottleneck::Database } else { Bottleneck::Client },
    );
    let order = order("1..128", &LEVELS, 3);
    let job = Some(JobId(12));
    ProfileResult::new(&first(), job, Status::Complete, order, runs, Vec::new(), Some(0))
}

fn part() -> ProfileResult {
    let mut runs = runs(&[1, 2], 2, |_| Bottleneck::Host);
    runs.pop();
    let refused = vec![FailedLevel {
        users: 500,
        step: 4,
        reason: "connected 97 of 500 virtual users: too many clients".into(),
    }];
    let mut first = first();
    first.label = Some("before the upgrade".into());
    let order = order("1,2,500", &[1, 2, 500], 2);
    ProfileResult::new(&first, None, Status::Interrupted, order, runs, refused, None)
}

#[test]
fn a_profile_finds_the_law_that_its_runs_were_made_from() {
    let profile = whole();
    let usl = profile.usl.as_ref().unwrap();
    assert!((usl.curve.lambda.value / 1000.0 - 1.0).abs() < 0.03, "{:?}", usl.curve);
    assert!((usl.curve.sigma.value - 0.02).abs() < 0.005, "{:?}", usl.curve);
    assert!((usl.curve.kappa.value - 0.0005).abs() < 0.0001, "{:?}", usl.curve);
    for level in &profile.levels {
        assert_eq!(level.runs.len(), 3);
        assert!(level.interval.unwrap().contains(law(level.users)), "{level:?}");
    }
    let words = profile.findings.join("\n");
    assert!(words.contains("the peak is at 4"), "{words}");
    assert!(words.contains("the client was the bottleneck from 32 virtual users on"), "{words}");
    assert!(profile.ending.good);
}

#[test]
fn a_profile_without_enough_levels_says_why_there_is_no_curve() {
    let profile = part();
    assert!(profile.usl.is_none() && !profile.ending.good);
    let words = profile.findings.join("\n");
    assert!(words.contains("needs 3 different levels, got 2"), "{words}");
    assert!(
        words.contains(
            "500 virtual users could not be run, and higher levels were not tried: connected 97"
        ),
        "{words}"
    );
}

#[test]
fn profiles_read_as_agreed() {
    golden("profile.txt", &whole().text(Charset::Unicode, Style::Plain));
    golden("profile_ascii.txt", &whole().text(Charset::Ascii, Style::Plain));
    golden("profile_part.txt", &part().text(Charset::Unicode, Style::Plain));
    golden("profile.md", &whole().markdown().unwrap());
    golden("profile_part.md", &part().markdown().unwrap());
    for profile in [whole(), part()] {
        for line in profile.text(Charset::Unicode, Style::Plain).lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        assert!(profile.text(Charset::Ascii, Style::Plain).is_ascii());
    }
}

fn probes() -> Vec<Probe> {
    let probe = |step: u32, rate: f64, value_us: f64, reason| Probe {
        job: Some(i64::from(step) + 40),
        step,
        rate,
        completed: if reason == Some(Reason::CannotFollow) { 760.0 } else { rate },
        value_us: Some(value_us),
        interval_us: Some(Interval { low: value_us * 0.9, high: value_us * 1.1 }),
        served: (reason == Some(Reason::CannotFollow)).then_some(Estimate {
            value: 760.0,
            interval: Some(Interval { low: 755.0, high: 765.0 }),
        }),
        reason,
        failure_share: 0.0,
        missed_share: if reason == Some(Reason::CannotFollow) { 0.12 } else { 0.0 },
        primary_metric: rate * 60.0 * 0.45,
        bottleneck: if rate > 750.0 { Bottleneck::Host } else { Bottleneck::Database },
    };
    vec![
        probe(0, 100.0, 4_200.0, None),
        probe(1, 1_000.0, 900_000.0, Some(Reason::CannotFollow)),
        probe(2, 700.0, 41_000.0, None),
        probe(3, 760.0, 57_300.0, Some(Reason::TooSlow)),
        probe(4, 740.0, 48_800.0, None),
    ]
}

/// Documents of every kind of campaign, good and bad, with what is wrong with them.
pub fn documents() -> Vec<(Document, Option<Flaw>)> {
    let [found, _, _] = searches();
    let none = CapacityResult { judgement: None, ..found.clone() }.judged();
    let mut flawed = whole();
    flawed.levels[0].runs[0].good = false;
    let pairs = |factor, demand| crate::compare::in_pairs_with(factor, 14, demand).unwrap();
    let demand = Demand { not_slower: true, not_inconclusive: true };
    vec![
        (found.into(), None),
        (none.into(), Some(Flaw::NoCapacity)),
        (whole().into(), None),
        (flawed.judged().into(), Some(Flaw::RunsFailed)),
        (matrix().into(), Some(Flaw::RunsFailed)),
        (pairs(0.9, Demand::default()).into(), None),
        (pairs(0.9, demand).into(), Some(Flaw::Slower)),
    ]
}

fn limit() -> LatencyLimit {
    LatencyLimit::parse("new_order.p95 < 50ms", &sample::workload().transactions).unwrap()
}

fn searches() -> [CapacityResult; 3] {
    let mut first = first();
    first.spec.load = Load::Rate { per_second: 100.0, constant: false };
    let new = |status, probes: Vec<Probe>, judgement| {
        let job = Some(JobId(39));
        CapacityResult::new(&first, job, status, limit(), probes, Vec::new(), judgement)
    };
    let interval = Interval { low: 720.0, high: 760.0 };
    let found = Judgement::Found { rate: 740.0, interval, precise: true };
    [
        new(Status::Complete, probes(), Some(found)),
        new(Status::Interrupted, probes()[..2].to_vec(), None),
        new(Status::Complete, probes()[..1].to_vec(), Some(Judgement::AlwaysOk { highest: 100.0 })),
    ]
}

#[test]
fn searches_read_as_agreed() {
    let [found, part, always] = searches();
    golden("capacity.txt", &found.text(Charset::Unicode, Style::Plain));
    golden("capacity.md", &found.markdown().unwrap());
    assert!(part.text(Charset::Unicode, Style::Plain).contains("--resume 39"));
    assert!(always.findings[0].contains("a higher --max-rate finds it"), "{:?}", always.findings);
    for search in [found, part, always] {
        assert!(search.text(Charset::Ascii, Style::Plain).is_ascii());
        for line in search.text(Charset::Unicode, Style::Plain).lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}

#[test]
fn documents_validate_and_come_back() {
    for profile in [whole(), part()] {
        let document = serde_json::to_value(&profile).unwrap();
        assert_eq!(errors_of("ProfileResult", &document), Vec::<String>::new());
        assert_eq!(serde_json::from_value::<ProfileResult>(document).unwrap(), profile);
    }
    for search in searches() {
        let document = serde_json::to_value(&search).unwrap();
        assert_eq!(errors_of("CapacityResult", &document), Vec::<String>::new());
        assert_eq!(serde_json::from_value::<CapacityResult>(document).unwrap(), search);
    }
}

#[test]
fn schemas_are_whole_and_share_their_definitions_with_that_of_runs() {
    let read = |name: &str| -> Value { crate::schema::read(name) };
    let runs = read("RunResult");
    for name in ["ProfileResult", "CapacityResult", "MatrixResult"] {
        closed_whole_and_described(name);
        for (definition, shape) in read(name)["$defs"].as_object().unwrap() {
            if let Some(other) = runs["$defs"].get(definition) {
                assert_eq!(shape, other, "{definition} of {name}");
            }
        }
    }
    let reasons = &read("CapacityResult")["$defs"]["Reason"]["oneOf"];
    let listed: BTreeSet<&str> =
        reasons.as_array().unwrap().iter().filter_map(|reason| reason["const"].as_str()).collect();
    let words = Reason::ALL.map(|reason| serde_json::to_value(reason).unwrap());
    assert_eq!(listed, words.iter().filter_map(Value::as_str).collect());
}

/// A question that has received these runs in order continues with the rest of the same sequence.
#[test]
fn a_profile_told_its_runs_again_goes_on_where_it_stopped() {
    use triphammer_document::profile::LevelUnit;
    use triphammer_runner::profile::{ProfileRequest, ProfileSearch, RequestedLevels};
    let request = ProfileRequest {
        levels: RequestedLevels::Given(vec![1, 2, 4]),
        repeats: 3,
        seed: 5,
        highest: 64,
        unit: LevelUnit::Users,
    };
    let run = |step: &PlannedRun| {
        let mut facts = sample::facts();
        facts.spec.users = step.settings[0].1.value().unwrap();
        RunResult::new(&facts, &sample::calm())
    };
    let mut whole = ProfileSearch::new(request.clone(), &sample::workload());
    let mut asked = Vec::new();
    while let Some(step) = whole.next() {
        whole.report_result(&step, &run(&step));
        asked.push(step);
    }
    assert_eq!((asked.len(), whole.runs()), (9, Some(9)));
    let mut again = ProfileSearch::new(request, &sample::workload());
    for step in &asked[..4] {
        again.report_result(step, &run(step));
    }
    assert_eq!(again.next().as_ref(), Some(&asked[4]));
    again.report_failure(&asked[4], "too many clients");
    let users = |step: &PlannedRun| step.settings[0].1.text().to_owned();
    let left: Vec<String> = std::iter::from_fn(|| {
        let step = again.next()?;
        again.report_result(&step, &run(&step));
        Some(users(&step))
    })
    .collect();
    let refused = users(&asked[4]);
    let below = |users: &String| users.parse::<u32>().unwrap() < refused.parse().unwrap();
    let rest: Vec<String> = asked[5..].iter().map(users).filter(below).collect();
    assert_eq!(left, rest, "a level that cannot be run is not tried again, nor any above it");
}

#[test]
fn a_search_for_levels_goes_on_below_one_that_cannot_be_run() {
    use triphammer_document::profile::LevelUnit;
    use triphammer_runner::profile::{ProfileRequest, ProfileSearch, RequestedLevels};
    let request = ProfileRequest {
        levels: RequestedLevels::Auto,
        repeats: 2,
        seed: 1,
        highest: 64,
        unit: LevelUnit::Users,
    };
    let mut question = ProfileSearch::new(request, &sample::workload());
    let mut ran = Vec::new();
    while let Some(step) = question.next() {
        let users: u32 = step.settings[0].1.value().unwrap();
        if users >= 16 {
            question.report_failure(&step, "too many clients");
            continue;
        }
        let mut facts = sample::facts();
        facts.spec.users = users;
        let mut end = sample::calm();
        end.timed[0].counts.committed = u64::from(users) * 1_000;
        question.report_result(&step, &RunResult::new(&facts, &end));
        ran.push(users);
        assert!(ran.len() < 50, "{ran:?}");
    }
    assert!(
        [1, 2, 4, 8].iter().all(|level| ran.iter().filter(|run| run == &level).count() == 2),
        "{ran:?}"
    );
    let document = question.result(None, Status::Complete).unwrap();
    assert_eq!(document.failed_runs[0].users, 16);
    assert!(document.order.steps.iter().all(|users| *users > 0));
}

/// A matrix of 2 × 4 combinations, three times each: statements have four fifths of the throughput of procedures, and the
/// last run failed.
fn matrix() -> MatrixResult {
    let axis = |name: &str, values: &[&str]| Axis {
        name: name.into(),
        values: values.iter().map(|value| (*value).into()).collect(),
    };
    let axes =
        vec![axis("mode", &["procedures", "statements"]), axis("vus", &["1", "4", "16", "64"])];
    let levels = [1, 4, 16, 64];
    let steps = sequence(&(0..8).collect::<Vec<u32>>(), 0..3, 1);
    let values = |cell: u32| {
        vec![axes[0].values[cell as usize / 4].clone(), axes[1].values[cell as usize % 4].clone()]
    };
    let run = |(step, cell): (u32, &u32)| {
        let users = levels[*cell as usize % 4];
        let share = if *cell < 4 { 1.0 } else { 0.8 };
        let mut run = runs(&[users], 3, |_| Bottleneck::Database).remove(step as usize / 8);
        (run.step, run.job, run.value) = (step, Some(i64::from(step) + 13), run.value * share);
        MatrixRun { cell: *cell as usize, values: values(*cell), run, round_trip_us: None }
    };
    let mut made: Vec<MatrixRun> = (0..).zip(&steps).map(run).collect();
    let failed = made.pop().unwrap();
    let failed = vec![FailedCell {
        values: failed.values,
        step: failed.run.step,
        reason: "--restore: exit status: 1: no space left on device".into(),
    }];
    let restore = Some("dropdb tpcc && createdb -T backup tpcc".to_owned());
    let order = MatrixOrder { repeats: 3, seed: 1, steps, restore };
    let job = Some(JobId(12));
    MatrixResult::new(&first(), job, Status::Complete, axes, order, made, failed, Some(0))
}

#[test]
fn a_matrix_has_a_cell_for_each_combination_and_a_curve_for_each_mode() {
    let matrix = matrix();
    assert_eq!((matrix.cells.len(), matrix.runs()), (8, 23));
    assert_eq!(
        matrix.curves.iter().map(|curve| curve.values.join(" ")).collect::<Vec<_>>(),
        ["procedures", "statements"]
    );
    for (curve, share) in matrix.curves.iter().zip([1.0, 0.8]) {
        assert!((curve.usl.curve.lambda.value / (1000.0 * share) - 1.0).abs() < 0.05, "{curve:?}");
    }
    let words = matrix.findings.join("\n");
    assert!(words.contains("mode: statements gives 0.7"), "{words}");
    assert!(words.contains("a run with mode = "), "{words}");
    assert!(!matrix.ending.good, "a run failed");
    let best = matrix.cell(&["procedures".into(), "64".into()]).unwrap();
    assert!((matrix.warmth(best.mean) - 1.0).abs() < 1e-9);
}

#[test]
fn a_matrix_is_reported_as_text_and_markdown() {
    let matrix = matrix();
    golden("matrix.txt", &matrix.text(Charset::Unicode, Style::Plain));
    golden("matrix_ascii.txt", &matrix.text(Charset::Ascii, Style::Plain));
    golden("matrix.md", &matrix.markdown().unwrap());
    let summary = matrix.summary(Charset::Unicode, Style::Plain).unwrap();
    assert!(summary.lines().count() <= 23, "{summary}");
    let json = serde_json::to_value(&matrix).unwrap();
    assert!(errors_of("MatrixResult", &json).is_empty());
    let again: MatrixResult = serde_json::from_value(json).unwrap();
    assert_eq!(again, matrix);
}
