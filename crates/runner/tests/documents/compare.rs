//! Comparisons and histories of runs with known figures: findings, reports, schemas.

use serde_json::Value;
use triphammer_core::random::Rng;
use triphammer_document::JobId;
use triphammer_document::compare::{ComparisonResult, Demand, Facts, Run, Subject, seconds};
use triphammer_document::history::HistoryResult;
use triphammer_document::metrics::Values;
use triphammer_document::parts::Status;
use triphammer_document::result::{RunResult, SchemaFact, SchemaKind, Steady};
use triphammer_document::series::SeriesRow;
use triphammer_report as report;
use triphammer_report::{Charset, Report as _, Style};
use triphammer_runner::campaign::Question;
use triphammer_runner::compare::{Pairs, PairsRequest};
use triphammer_statistics::compare::{Basis, Verdict};

use crate::report::golden;
use crate::sample;
use crate::schema::{closed_whole_and_described, errors_of};

/// A run whose throughput and times are `factor` times the sample's.
fn run(job: i64, factor: f64) -> Run {
    let mut result = RunResult::new(&sample::facts(), &sample::calm());
    result.job = Some(job);
    result.started_at = format!("2026-05-09T07:{job:02}:52Z");
    result.primary_metric.value *= factor;
    result.tpm_client *= factor;
    for seen in &mut result.window.types {
        for us in [&mut seen.response.p50_us, &mut seen.response.p95_us, &mut seen.response.p99_us]
        {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::cast_precision_loss,
                reason = "milliseconds"
            )]
            let slower = (*us as f64 / factor) as u64;
            *us = slower;
        }
    }
    let server_settings = vec![
        ("data_directory".to_owned(), format!("/data/{job}")),
        ("fsync".to_owned(), "on".to_owned()),
        ("synchronous_commit".to_owned(), "on".to_owned()),
        ("work_mem".to_owned(), "4MB".to_owned()),
    ];
    Run { result, server_settings, seconds: None }
}

/// Fixed factors that vary by about 1 %.
fn scatter(number: i64) -> f64 {
    [1.004, 0.991, 1.009, 0.998, 1.001, 0.993, 1.006][usize::try_from(number).unwrap() % 7]
}

/// Runs of B with other server settings, other users, and a password where none should be.
fn other(job: i64, factor: f64) -> Run {
    let mut run = run(job, factor);
    run.server_settings[2].1 = "off".to_owned();
    run.server_settings.push(("primary_conninfo".to_owned(), "password=secret".to_owned()));
    run.result.settings[0].value = "32".to_owned();
    run.result.server.version = "16.1".to_owned();
    run
}

/// The result of seven pairs, with B `factor` times A.
fn in_pairs(factor: f64, told: u32) -> Option<ComparisonResult> {
    in_pairs_with(factor, told, Demand::default())
}

/// The same, with what is demanded of the verdict.
pub fn in_pairs_with(factor: f64, told: u32, demand: Demand) -> Option<ComparisonResult> {
    let request = PairsRequest {
        pairs: 7,
        margin: 0.02,
        cool_down_s: 10.0,
        names: [
            "postgres://bench@db1:5432/tpcc".to_owned(),
            "postgres://bench@db2/tpcc".to_owned(),
        ],
        targets: ["postgres://bench@db1:5432/tpcc", "postgres://bench@db2/tpcc"].map(str::to_owned),
        own: [Vec::new(), Vec::new()],
        levels: None,
        seed: 1,
        demand,
        at_once: None,
        proof: None,
    };
    let mut pairs = Pairs::new(request, Some("commit on or off".to_owned()));
    for number in 0..told {
        let step = pairs.next().unwrap();
        assert_eq!(step.number, number);
        let job = 20 + i64::from(number);
        let made = match step.target {
            0 => run(job, scatter(job)),
            _ => other(job, factor * scatter(job + 3)),
        };
        pairs.server_settings(made.server_settings.clone());
        pairs.report_result(&step, &made.result);
    }
    let status = if pairs.next().is_none() { Status::Complete } else { Status::Interrupted };
    pairs.result(Some(JobId(19)), status)
}

fn labels(b: &[f64]) -> ComparisonResult {
    let a: Vec<Run> = (1..=4).map(|job| run(job, scatter(job))).collect();
    let b: Vec<Run> = (11..).zip(b).map(|(job, factor)| run(job, *factor)).collect();
    ComparisonResult::of_runs(["“before”", "“after”"], &a, &b, 0.02)
}

/// Compares one run of each side, with seconds.
fn alone(factor: f64) -> ComparisonResult {
    let with_seconds = |job, factor: f64| {
        let mut run = run(job, factor);
        let rows: Vec<SeriesRow> = (0..400).flat_map(|second| rows(second, factor)).collect();
        let workload = sample::workload();
        let names: Vec<String> = workload.transactions.iter().map(|t| t.name.to_string()).collect();
        run.seconds = Some(seconds(&run.result, &workload.primary_metric, &names, &rows));
        run
    };
    let sides = [with_seconds(3, 1.0), with_seconds(4, factor)];
    ComparisonResult::of_runs(["job 3", "job 4"], &sides[..1], &sides[1..], 0.02)
}

/// A second's rows: types differ in how many they are, and the noise is without order.
fn rows(second: u64, factor: f64) -> Vec<SeriesRow> {
    let noise = f64::from(u32::try_from(second).unwrap().wrapping_mul(2_654_435_761) >> 28);
    let row = |transaction, committed: f64| {
        let mut values = Values::of_no_type();
        values.set("committed", Some(committed));
        if committed > 0.0 {
            values.set("p50_us", Some(2_000.0 + noise * 10.0));
            values.set("p95_us", Some(5_000.0 + noise * 20.0));
            values.set("p99_us", Some(9_000.0 + noise * 50.0));
        }
        SeriesRow { first: second, last: second, transaction, values }
    };
    let scaled = |count: f64| (count * factor).round();
    vec![
        row(0, scaled(2_000.0 + noise)),
        row(1, scaled(1_900.0)),
        row(2, 20.0),
        row(3, 5.0),
        row(4, 0.0),
    ]
}

#[test]
fn verdicts_are_those_of_the_primary_metric() {
    let verdict = |factor| in_pairs(factor, 14).unwrap().verdict;
    assert_eq!(verdict(0.95), Verdict::Slower);
    assert_eq!(verdict(1.06), Verdict::Faster);
    assert_eq!(verdict(1.0), Verdict::Equivalent);
    let unsure = labels(&[0.95, 1.02, 0.99]);
    assert!(unsure.is_inconclusive(), "{}", unsure.words);
    assert!(unsure.more_minutes.unwrap() > 5.0, "{:?}", unsure.more_minutes);
    assert!(in_pairs(0.95, 14).unwrap().is_slower());
}

#[test]
fn slower_times_are_slower_too() {
    let found = in_pairs(0.9, 14).unwrap();
    let p95 = found.figures.iter().find(|figure| figure.name == "new_order.p95").unwrap();
    assert_eq!(p95.comparison.unwrap().verdict, Verdict::Slower);
    assert!(p95.comparison.unwrap().ratio > 1.05);
    let names: Vec<&str> = found.figures.iter().take(5).map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["nopm", "tpm", "new_order.p50", "new_order.p95", "new_order.p99"]);
}

#[test]
fn what_differs_is_named_without_places_and_secrets() {
    let found = in_pairs(1.0, 14).unwrap();
    let named = |subject, name: &str| {
        let mut all = found.differences.iter();
        all.find(|d| d.subject == subject && d.name == name)
            .map(|d| (d.a.as_deref().unwrap_or("-"), d.b.as_deref().unwrap_or("-")))
    };
    assert_eq!(named(Subject::ServerSetting, "synchronous_commit"), Some(("on", "off")));
    assert_eq!(named(Subject::ServerSetting, "primary_conninfo"), Some(("-", "password=***")));
    assert_eq!(named(Subject::Setting, "vus"), Some(("16", "32")));
    assert_eq!(named(Subject::Server, "version"), Some(("15.4 (Debian 15.4-1)", "16.1")));
    assert_eq!(found.differences.len(), 4, "{:?}", found.differences);
    assert!(!serde_json::to_string(&found).unwrap().contains("secret"));
}

#[test]
fn settings_that_somebody_set_are_told_from_defaults_of_the_versions() {
    let [set_by_a, set_by_both] = [&["work_mem", "fsync"][..], &["fsync"]];
    let side = |jobs: [i64; 2], set: &[&str], values: [(&str, &str); 3]| {
        jobs.map(|job| {
            let mut run = run(job, 1.0);
            run.server_settings = values.map(|(n, v)| (n.to_owned(), v.to_owned())).into();
            run.result.settings_set = Some(set.iter().map(|name| (*name).to_owned()).collect());
            run
        })
    };
    let a = side([1, 2], set_by_a, [("work_mem", "64kB"), ("fsync", "on"), ("io_method", "sync")]);
    let b =
        side([3, 4], set_by_both, [("work_mem", "4MB"), ("fsync", "off"), ("io_method", "worker")]);
    let found = ComparisonResult::of_runs(["a", "b"], &a, &b, 0.02);
    let found: Vec<_> = found
        .differences
        .iter()
        .map(|of| (of.subject, &*of.name, of.a.as_deref().unwrap(), of.b.as_deref().unwrap()))
        .collect();
    let expected = [
        (Subject::ServerSetting, "fsync", "on", "off"),
        (Subject::ServerSetting, "work_mem", "64kB", "4MB (default)"),
        (Subject::ServerDefault, "io_method", "sync", "worker"),
    ];
    assert_eq!(found, expected);
}

/// Settings that only one of two products has say nothing.
#[test]
fn two_products_are_both_named_and_only_settings_of_both_are_compared() {
    let found = |product: &str| {
        let a = [run(1, 1.0), run(2, 1.01)];
        let mut b = [run(3, 1.0), run(4, 1.01)];
        for run in &mut b {
            run.result.server.product = product.to_owned();
            run.server_settings.push(("innodb_flush_method".to_owned(), "O_DIRECT".to_owned()));
        }
        ComparisonResult::of_runs(["a", "b"], &a, &b, 0.02)
    };
    let has_own = |found: &ComparisonResult| {
        found.differences.iter().any(|difference| difference.name == "innodb_flush_method")
    };
    let (one, two) = (found("PostgreSQL"), found("MariaDB"));
    assert!(has_own(&one) && !has_own(&two), "{:?}", two.differences);
    let title = two.text(Charset::Unicode, Style::Plain).lines().next().unwrap().to_owned();
    assert!(title.contains("on PostgreSQL 15.4 and MariaDB 15.4 · "), "{title}");
}

#[test]
fn what_must_be_equal_and_is_not_is_warned_of() {
    let a = [run(1, 1.0), run(2, 1.01)];
    let mut b = [run(3, 1.0), run(4, 1.01)];
    for run in &mut b {
        run.result.workload.scale = 20.into();
        run.result.workload.version = 2;
        run.result.workload.facts.insert("mix".to_owned(), "1,0,0,0,0".to_owned());
    }
    b[1].result.settings[0].value = "8".to_owned();
    let found = ComparisonResult::of_runs(["a", "b"], &a, &b, 0.02);
    let kinds = |kind| found.warnings.iter().filter(|w| w.kind == kind).count();
    assert_eq!((kinds("not_equal"), kinds("mixed")), (3, 1), "{:?}", found.warnings);
}

#[test]
fn one_run_each_decides_nothing_and_says_why() {
    let found = alone(0.9);
    assert_eq!(found.verdict, Verdict::Inconclusive { more: None });
    assert!(found.words.contains("cannot show how much runs vary"), "{}", found.words);
    assert!(!found.can_decide() && labels(&[0.9, 0.9]).can_decide());
    let primary_metric = found.figures[0].comparison.unwrap();
    assert_eq!(primary_metric.basis, Basis::Series { a: 300, b: 300 });
    assert!((primary_metric.ratio - 0.9).abs() < 0.002, "{}", primary_metric.ratio);
    assert_eq!(found.warnings[0].kind, "one_run_each");
    let has = |name: &str| {
        let mut all = found.figures.iter();
        all.find(|figure| figure.name == name).map(|figure| figure.comparison.is_some())
    };
    assert_eq!([has("payment.p99"), has("order_status.p95")], [Some(true); 2]);
    let few = [has("order_status.p99"), has("delivery.p50"), has("stock_level.p50")];
    assert_eq!(few, [Some(false); 3], "too few a second");
    assert!(alone(1.0).is_inconclusive(), "the same holds of runs that are alike");
}

#[test]
fn a_single_run_that_does_not_show_the_level_is_warned_of() {
    let told = |steady: [Steady; 2]| {
        let [a, b] = [(1, steady[0]), (2, steady[1])].map(|(job, steady)| {
            let mut run = run(job, 1.0);
            run.result.steadiness.as_mut().unwrap().verdict = steady;
            run
        });
        let found = ComparisonResult::of_runs(["a", "b"], &[a], &[b], 0.02);
        let of_windows = found.warnings.iter().filter(|w| w.kind == "within_window");
        let told = of_windows.map(|warning| warning.text.clone()).collect::<Vec<_>>();
        let text = found.text(Charset::Unicode, Style::Plain);
        assert!(told.is_empty() || text.contains("steady only within its window"), "{text}");
        told
    };
    use Steady::{Steady as Level, WithinWindow};
    assert_eq!(told([Level, Level]), [""; 0]);
    let of_b = told([Level, WithinWindow]);
    assert!(of_b.len() == 1 && of_b[0].starts_with("the run of B is steady only"), "{of_b:?}");
    assert_eq!(told([WithinWindow, WithinWindow]).len(), 2);
    let several = labels(&[1.0, 1.01]);
    assert!(several.warnings.iter().all(|w| w.kind != "within_window"), "runs of several windows");
}

/// A run on a schema of one table: whether it has its index, its rows, and the age of its statistics.
fn on_schema(job: i64, has_index: bool, rows: u64, age: &str) -> Run {
    let mut run = run(job, scatter(job));
    let fact = |kind, name: &str, value: &str| SchemaFact {
        kind,
        table: "customer".to_owned(),
        name: name.to_owned(),
        value: value.to_owned(),
    };
    run.result.schema =
        vec![fact(SchemaKind::Rows, "", &rows.to_string()), fact(SchemaKind::Statistics, "", age)];
    if has_index {
        run.result.schema.push(fact(SchemaKind::Index, "customer_i2", "btree (c_last)"));
    } else {
        run.result.schema.push(fact(SchemaKind::Table, "", "c_last text"));
    }
    run
}

#[test]
fn schemas_that_differ_are_told_and_sizes_only_where_it_matters() {
    let sides = |b: Run, b2: Run| {
        let a = [on_schema(1, true, 1_000_000, "3600"), on_schema(2, true, 1_001_000, "7200")];
        ComparisonResult::of_runs(["a", "b"], &a, &[b, b2], 0.02)
    };
    let of = |found: &ComparisonResult, subject| -> Vec<String> {
        let all = found.differences.iter().filter(|d| d.subject == subject);
        all.map(|d| format!("{}: {:?} {:?}", d.name, d.a, d.b)).collect()
    };
    let told = |found: &ComparisonResult| {
        found.warnings.iter().find(|w| w.kind == "schema").map(|w| w.text.clone())
    };
    let same = sides(on_schema(3, true, 1_200_000, "80000"), on_schema(4, true, 1_000_000, "1"));
    assert_eq!((same.differences.clone(), told(&same)), (vec![], None));

    let other = sides(on_schema(3, false, 2_000_000, "never"), on_schema(4, false, 1, "never"));
    let size = "rows of customer: Some(\"1,001,000\") Some(\"2,000,000\")";
    assert_eq!(of(&other, Subject::Size), [size]);
    assert_eq!(of(&other, Subject::Statistics).len(), 1);
    assert_eq!(of(&other, Subject::Schema).len(), 2, "the index, and the table of this test");
    let text = told(&other).unwrap();
    assert!(text.contains("index customer_i2 of customer is missing in B"), "{text}");
    assert!(text.contains("statistics of customer were never gathered in B"), "{text}");

    // Only some runs of one side have it.
    let mixed = sides(on_schema(3, true, 1, "1"), on_schema(4, false, 1, "1"));
    let text = told(&mixed).unwrap();
    assert!(text.contains("index customer_i2 of customer differs"), "{text}");

    // Older versions stored nothing about it.
    let unknown = sides(run(3, 1.0), run(4, 1.0));
    assert_eq!(told(&unknown), None);
}

#[test]
fn one_run_against_several_is_not_known() {
    let one = [run(1, 1.0)];
    let several = [run(2, 0.5), run(3, 0.5)];
    let found = ComparisonResult::of_runs(["a", "b"], &one, &several, 0.02);
    assert!(found.is_inconclusive());
    assert!(found.words.contains("two runs"), "{}", found.words);
}

#[test]
fn pairs_that_are_missing_are_told() {
    assert_eq!(in_pairs(1.0, 1), None, "one side alone is no comparison");
    let found = in_pairs(0.9, 7).unwrap();
    let pairs = found.pairs.as_ref().unwrap();
    assert_eq!((pairs.asked, pairs.made), (7, 3));
    assert_eq!(found.a.runs.len() + found.b.runs.len(), 7);
    assert!(!found.ending.good);
    assert!(in_pairs(0.9, 14).unwrap().ending.good);
    assert_eq!(in_pairs(0.9, 2).unwrap().figures[0].comparison, None, "one pair has no interval");
}

/// Seven runs at 1 and seven at 0.9, the latter with another server version.
fn followed() -> HistoryResult {
    let made = |job| match job {
        1..=7 => run(job, scatter(job)),
        _ => other(job, 0.9 * scatter(job)),
    };
    let results: Vec<RunResult> = (1..=14).map(made).map(|run| run.result).collect();
    let mut found = HistoryResult::new(Some("nightly".to_owned()), &results).unwrap();
    for change in &mut found.changes {
        let first = i64::try_from(change.at).unwrap() + 1;
        let facts = |job| Facts::of_run(&made(job));
        change.differences = facts(first - 1).against(&facts(first));
    }
    found
}

#[test]
fn a_history_tells_when_it_changed_and_by_how_much() {
    let found = followed();
    assert_eq!(found.changes.len(), 1, "{}", found.words);
    let change = &found.changes[0];
    assert_eq!((change.at, change.job, change.slower), (7, 8, true));
    assert!(change.interval.unwrap().contains(0.9), "{:?}", change.interval);
    assert!(found.is_slower());
    let calm: Vec<RunResult> = (1..=9).map(|job| run(job, scatter(job)).result).collect();
    assert!(!HistoryResult::new(None, &calm).unwrap().is_slower());
    let few = HistoryResult::new(None, &calm[..5]).unwrap();
    assert!(few.words.contains("too few"), "{}", few.words);
}

/// Eleven runs at 1 and three at 0.9: a host that alternates between two speeds shows that too.
#[test]
fn a_shift_that_a_host_which_switches_would_show_is_told_but_no_change() {
    let made = |job| run(job, scatter(job) * if job <= 11 { 1.0 } else { 0.9 }).result;
    let results: Vec<RunResult> = (1..=14).map(made).collect();
    let found = HistoryResult::new(None, &results).unwrap();
    assert!(!found.is_slower() && found.changes.is_empty(), "{}", found.words);
    let unsure = found.warnings.iter().find(|warning| warning.kind == "unsure").unwrap();
    assert!(unsure.text.contains("slower from job 12 on, 3 runs ago: -9.9 %"), "{}", unsure.text);
    let more = unsure.next.as_ref().unwrap();
    assert!(more.contains("7 more runs at this level"), "{more}");
    let later: Vec<RunResult> = (1..=21).map(made).collect();
    assert!(HistoryResult::new(None, &later).unwrap().is_slower());
}

/// Simulates histories, through the document that `history` prints.
#[test]
fn hosts_that_switch_and_runs_that_are_alike_are_seldom_taken_for_changes() {
    let mut random = Rng::of(7, &[]);
    let mut unit =
        move || f64::from(u32::try_from(random.below(1 << 30)).unwrap()) / f64::from(1 << 30);
    let mut normal = move || {
        let (radius, angle) = ((-2.0 * (1.0 - unit()).ln()).sqrt(), unit() * std::f64::consts::TAU);
        (radius * angle.cos(), unit())
    };
    let sample = run(1, 1.0).result;
    let mut alarms = |next: &mut dyn FnMut(f64, f64) -> f64, changed: f64| {
        let mut alarms = 0;
        for _ in 0..150 {
            let results: Vec<RunResult> = (0..30)
                .map(|place| {
                    let (noise, chance) = normal();
                    let mut result = sample.clone();
                    let level = if place < 15 { 1.0 } else { changed };
                    result.primary_metric.value *= level * next(noise, chance);
                    result
                })
                .collect();
            alarms += i32::from(!HistoryResult::new(None, &results).unwrap().changes.is_empty());
        }
        alarms
    };
    let (mut slow, mut before) = (false, 0.0);
    let mut sticky = |noise: f64, chance: f64| {
        slow ^= chance < 0.1;
        (if slow { 0.95 } else { 1.0 }) * (1.0 + 0.01 * noise)
    };
    let mut alike = |noise: f64, _| {
        before = 0.2 * before + 0.96_f64.sqrt() * noise;
        1.0 + 0.02 * before
    };
    let alarms_of = [alarms(&mut sticky, 1.0), alarms(&mut alike, 1.0)];
    assert!(alarms_of.iter().all(|alarms| *alarms <= 7), "{alarms_of:?} of 150");
    let found = alarms(&mut |noise, _| 1.0 + 0.01 * noise, 0.95);
    assert!(found >= 135, "found {found} of 150");
}

#[test]
fn reports_read_as_agreed() {
    let pairs = in_pairs(0.95, 14).unwrap();
    golden("compare_pairs.txt", &pairs.text(Charset::Unicode, Style::Plain));
    golden("compare_pairs.md", &pairs.markdown().unwrap());
    golden("compare_jobs.txt", &alone(1.01).text(Charset::Unicode, Style::Plain));
    golden("compare_labels.txt", &labels(&[0.95, 1.02, 0.99]).text(Charset::Ascii, Style::Plain));
    golden("history.txt", &report::history(&followed(), Charset::Unicode));
    assert!(report::history(&followed(), Charset::Ascii).is_ascii());
}

#[test]
fn documents_validate_and_schemas_are_whole() {
    let comparisons = [
        in_pairs(0.95, 14).unwrap(),
        in_pairs(1.0, 3).unwrap(),
        alone(1.0),
        labels(&[0.95, 1.02, 0.99]),
    ];
    for found in comparisons {
        let value = serde_json::to_value(&found).unwrap();
        assert_eq!(errors_of("ComparisonResult", &value), Vec::<String>::new());
        let back: ComparisonResult = serde_json::from_value(value).unwrap();
        assert_eq!(back, found);
    }
    let value = serde_json::to_value(followed()).unwrap();
    assert_eq!(errors_of("HistoryResult", &value), Vec::<String>::new());
    let mut spoilt = serde_json::to_value(in_pairs(1.0, 14).unwrap()).unwrap();
    spoilt["verdict"]["kind"] = Value::from("better");
    assert_ne!(errors_of("ComparisonResult", &spoilt), Vec::<String>::new());
    closed_whole_and_described("ComparisonResult");
    closed_whole_and_described("HistoryResult");
}
