//! Figures of sets of queries, and when they are not available.

use triphammer_core::query_plan::{QueryDef, QueryPhase, QueryStep, QueryStream, Refresh};

use super::*;

const REFRESH: [QueryStep; 2] = [
    QueryStep::Refresh(Refresh { function: 1, set: 1 }),
    QueryStep::Refresh(Refresh { function: 2, set: 1 }),
];

fn plan(test: QueryTest, queries: &[u8], repeats: u32) -> QueryPlan {
    let query = |n: &u8| QueryStep::Query { query: usize::from(*n) - 1, args: Vec::new() };
    let steps: Vec<QueryStep> = queries.iter().map(query).collect();
    let streams = vec![QueryStream { number: Some(0), steps: [&steps[..], &REFRESH].concat() }];
    QueryPlan {
        test,
        queries: (1..=22)
            .map(|n| QueryDef { name: format!("q{n}").into(), title: "a question".into() })
            .collect(),
        is_whole: queries.len() == 22,
        streams: 1,
        phases: vec![QueryPhase { test, streams }],
        repeats,
        analyze: false,
    }
}

/// A step of this many seconds that starts at this one.
fn step(test: QueryTest, stream: Option<u32>, name: &str, start_s: f64, seconds: f64) -> StepTime {
    StepTime {
        repeat: 1,
        test,
        stream,
        position: 1,
        name: name.to_owned(),
        parameters: Vec::new(),
        start_s: Some(start_s),
        seconds: Some(seconds),
        rows: 1,
        outcome: StepOutcome::Answered,
        error: None,
        fingerprint: Some("1".to_owned()),
        usage: None,
    }
}

fn all() -> Vec<u8> {
    (1..=22).collect()
}

/// The power test with queries of 2 s and refresh functions of 1 s and 4 s.
fn power_test() -> Vec<StepTime> {
    let of = |name: &str, seconds| step(QueryTest::Power, Some(0), name, 0.0, seconds);
    let queries = (1..=22).map(|n| of(&format!("q{n}"), 2.0));
    [of("rf1", 1.0)].into_iter().chain(queries).chain([of("rf2", 4.0)]).collect()
}

/// Two streams of 22 queries within 11 s, and a refresh stream that ends last.
fn throughput_test() -> Vec<StepTime> {
    let of = |stream, name: &str, start, seconds| {
        step(QueryTest::Throughput, stream, name, start, seconds)
    };
    let mut steps = Vec::new();
    for stream in 1..=2 {
        steps.extend(
            (1..=22).map(|n| of(Some(stream), &format!("q{n}"), 50.0 + f64::from(n) * 0.5, 0.5)),
        );
    }
    steps.extend([of(None, "rf1", 50.5, 1.0), of(None, "rf2", 60.0, 10.0)]);
    steps
}

fn result(plan: &QueryPlan, steps: Vec<StepTime>) -> QueriesResult {
    QueriesResult::new(plan, Scale::from(10), None, steps)
}

fn value(result: &QueriesResult, name: &str) -> Option<f64> {
    result.figure(name).unwrap().value.map(|value| (value * 1e6).round() / 1e6)
}

fn reason(result: &QueriesResult, name: &str) -> String {
    result.figure(name).unwrap().reason.clone().unwrap_or_default()
}

#[test]
fn both_tests_give_every_figure() {
    let plan = plan(QueryTest::Both, &all(), 1);
    let found = result(&plan, [power_test(), throughput_test()].concat());
    // (2^22 · 1 · 4)^(1/24) = 2; 44 queries from 50.5 s to 70 s.
    let (power, throughput) = (18_000.0, 44.0 * 3_600.0 / 19.5 * 10.0);
    assert_eq!(value(&found, POWER), Some(power));
    assert!((value(&found, THROUGHPUT).unwrap() - throughput).abs() < 1e-3);
    let composite = value(&found, COMPOSITE).unwrap();
    assert!((composite - (power * throughput).sqrt()).abs() < 1e-3);
    assert_eq!(value(&found, GEOMEAN), Some(2_000.0));
    assert_eq!((found.primary().name.as_str(), found.is_good()), (COMPOSITE, true));
    assert_eq!(found.primary().reason, None);
}

#[test]
fn the_cpus_of_a_query_are_those_of_the_time_in_which_it_ran_alone() {
    let mut steps = power_test();
    for step in &mut steps {
        step.usage =
            Some(Usage { cpu_s: 8.0, client_cpu_s: None, read_bytes: None, written_bytes: None });
    }
    // Beside other streams, it takes longer, and what it uses is not known.
    steps.extend(throughput_test());
    let result = result(&plan(QueryTest::Both, &all(), 1), steps);
    let query = result.queries.iter().find(|query| query.name == "q1").unwrap();
    assert_eq!(query.cpus, Some(4.0), "{query:?}");
}

#[test]
fn what_was_not_run_or_not_answered_is_not_available_and_why() {
    let plan_of_power = plan(QueryTest::Power, &all(), 1);
    let mut steps = power_test();
    (steps[9].outcome, steps[9].fingerprint) = (StepOutcome::TimedOut, None);
    let found = result(&plan_of_power, steps);
    assert_eq!(value(&found, POWER), None);
    assert_eq!(reason(&found, POWER), "Q9 of stream 0 timed out");
    assert_eq!(reason(&found, GEOMEAN), "Q9 of stream 0 timed out");
    assert_eq!(
        reason(&found, THROUGHPUT),
        "needs --test throughput or both, and --test power was run"
    );
    assert!(!found.is_good() && found.primary().reason.is_some());

    let without: Vec<_> = power_test().into_iter().filter(StepTime::is_query).collect();
    let found = result(&plan_of_power, without);
    assert_eq!(reason(&found, POWER), "needs the refresh function RF1, which was not run");
    assert_eq!(value(&found, GEOMEAN), Some(2_000.0));

    let mut steps = power_test();
    for step in steps.iter_mut().filter(|step| !step.is_query()) {
        (step.outcome, step.seconds) = (StepOutcome::Unsupported, None);
    }
    let found = result(&plan_of_power, steps);
    assert_eq!(reason(&found, POWER), "RF1 of stream 0 is not supported");
    assert_eq!(value(&found, GEOMEAN), Some(2_000.0));
    assert!(found.is_good(), "the database cannot do it, and the run did what can be done");

    let some = plan(QueryTest::Queries, &[1, 6], 1);
    let of = |name, seconds| step(QueryTest::Queries, Some(0), name, 0.0, seconds);
    let found = result(&some, vec![of("q1", 1.0), of("q6", 4.0)]);
    assert_eq!(value(&found, GEOMEAN_OF_CHOSEN), Some(2_000.0));
    assert_eq!(found.primary().meaning, "geometric mean of the times of Q1, Q6, in milliseconds");
    assert!(reason(&found, GEOMEAN).starts_with("needs all 22 queries"));
}

#[test]
fn queries_without_rows_are_left_out_of_one_geometric_mean_only() {
    let plan = plan(QueryTest::Queries, &all(), 1);
    let seconds = |n| if n == 20 { 2f64.powi(-22) } else { 1.0 };
    let mut steps: Vec<_> = (1..=22)
        .map(|n| step(QueryTest::Queries, Some(0), &format!("q{n}"), 0.0, seconds(n)))
        .collect();
    steps[19].rows = 0;
    let found = result(&plan, steps);
    assert_eq!(
        (value(&found, GEOMEAN), value(&found, GEOMEAN_WITH_ROWS)),
        (Some(500.0), Some(1_000.0))
    );
}

#[test]
fn a_figure_of_several_repeats_is_their_mean() {
    let plan = plan(QueryTest::Power, &all(), 2);
    let again = |factor: f64| {
        power_test().into_iter().map(move |step| StepTime {
            repeat: 2,
            seconds: step.seconds.map(|seconds| seconds * factor),
            ..step
        })
    };
    let found = result(&plan, power_test().into_iter().chain(again(2.0)).collect());
    assert_eq!(value(&found, POWER), Some((18_000.0 + 9_000.0) / 2.0));
    assert_eq!(found.repeat_figures[1][2].value, Some(9_000.0));
    let mut steps: Vec<_> = power_test().into_iter().chain(again(2.0)).collect();
    steps[30].outcome = StepOutcome::Failed;
    assert!(reason(&result(&plan, steps), POWER).ends_with("failed (repeat 2)"));
    assert_eq!((found.queries[0].answered, found.queries[0].mean_s), (2, Some(3.0)));
    assert_eq!(found.queries.len(), 24);
}

#[test]
fn answers_of_equal_parameters_must_be_equal_where_the_data_is() {
    let mut plan = plan(QueryTest::Throughput, &[1], 1);
    let of = |stream, parameter: &str, fingerprint: &str| StepTime {
        parameters: vec![parameter.to_owned()],
        fingerprint: Some(fingerprint.to_owned()),
        ..step(QueryTest::Throughput, Some(stream), "q1", 0.0, 1.0)
    };
    let steps = vec![of(1, "a", "x"), of(2, "a", "y"), of(3, "b", "z"), of(4, "a", "x")];
    let counts = |found: &QueriesResult| (found.answers.compared, found.answers.differing);
    let found = result(&plan, steps.clone());
    assert_eq!(counts(&found), (0, 0), "refresh functions change the data at the same time");
    plan.phases[0].streams[0].steps.truncate(1);
    let found = result(&plan, steps);
    assert_eq!(counts(&found), (2, 1));
    assert_eq!(
        found.answers.differences,
        [
            "Q1 of stream 2 in repeat 1 had another answer (1 rows) than Q1 of stream 1 in repeat 1 (1 rows)"
        ]
    );
    assert!(!found.is_good());
}
