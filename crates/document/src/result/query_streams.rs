//! The part of a result about streams of queries beside transactions: how many queries were answered in the timed
//! window, and how long each took.
//!
//! It is collected during the run, in memory that does not depend on the number of queries: a histogram per
//! query, and the first [`STEPS_MAX`] queries one by one.

use std::time::Duration;

use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::query_plan::QueryPlan;
use triphammer_statistics::compare::Better;

use super::queries::{QueryFigure, StepOutcome, StepTime};
use crate::measure::queries::geometric_mean;
use crate::parts::SessionCounts;

/// Maximum number of queries that are kept one by one.
pub const STEPS_MAX: usize = 1_000;
/// Name of the figure that says how many queries were answered.
pub const QUERIES_PER_HOUR: &str = "queries_per_hour";
/// Name of the figure that says how long they took.
pub const QUERY_GEOMEAN: &str = "query_geomean_ms";
/// Seconds per hour.
const HOUR_S: f64 = 3_600.0;
/// Milliseconds, and microseconds, per second.
const MS: f64 = 1_000.0;
const US: f64 = 1_000_000.0;
/// Longest time that is recorded exactly, in microseconds: a day.
const LONGEST_US: u64 = 24 * 3_600 * 1_000_000;
/// Significant digits of medians.
const DIGITS: u8 = 3;

/// Streams of queries that ran beside the transactions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QueryStreams {
    /// Number of streams.
    pub streams: u32,
    /// Maximum time of a query, in seconds; `None` without one.
    pub query_timeout_s: Option<f64>,
    /// Figures of all streams in the timed window.
    pub figures: Vec<QueryFigure>,
    /// Each query over all streams, in the order of their numbers; those that were to run.
    pub queries: Vec<StreamedQuery>,
    /// The first queries of the whole run, one by one in the order of their ends.
    pub steps: Vec<StepTime>,
    /// Number of further queries, of which only `queries` has the counts and times.
    pub steps_omitted: u64,
    /// Numbers of the streams' connections lost and reconnected.
    pub sessions: SessionCounts,
    /// Streams that ended without a connection.
    pub away: u32,
    /// CPU time of the streams' threads, in seconds.
    pub cpu_s: f64,
    /// What queries and transactions did alone; `None` without `--baseline`.
    pub baseline: Option<Baseline>,
}

/// What queries and transactions did alone before the timed window, each for the same time. The ratios are those of
/// single measurements: they have no interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Baseline {
    /// Time for which each ran alone, in seconds.
    pub seconds: f64,
    /// Primary metric of the transactions alone; `None` if no second of it was measured.
    pub primary_metric: Option<f64>,
    /// Queries per hour alone.
    pub queries_per_hour: Option<f64>,
    /// Geometric mean of the queries' median times alone, in milliseconds; `None` if one was not answered.
    pub query_geomean_ms: Option<f64>,
    /// Number of queries that timed out or failed alone.
    pub unanswered: u64,
    /// Primary metric in the timed window relative to that alone.
    pub primary_metric_ratio: Option<f64>,
    /// Queries per hour in the timed window relative to those alone.
    pub queries_ratio: Option<f64>,
}

/// A query over all streams.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamedQuery {
    /// Key of the query: `q7`.
    pub name: String,
    /// Title of the query.
    pub title: String,
    /// Number of answers in the timed window; the times below are of these.
    pub in_window: u64,
    /// Median time in seconds, to three digits; `None` if it was never answered in the window.
    pub median_s: Option<f64>,
    /// Mean time, in seconds.
    pub mean_s: Option<f64>,
    /// Shortest time, in seconds.
    pub min_s: Option<f64>,
    /// Longest time, in seconds.
    pub max_s: Option<f64>,
    /// Largest number of rows of an answer in the whole run.
    pub rows: u64,
    /// Number of answers in the whole run.
    pub answered: u64,
    /// Number of times that it exceeded the maximum time of a query, in the whole run.
    pub timed_out: u64,
    /// Number of times that it failed, in the whole run.
    pub failed: u64,
    /// Number of times that it was cancelled because the timed window ended.
    pub cancelled: u64,
}

impl QueryStreams {
    /// Computes the figures of a window of a length in seconds.
    #[must_use]
    pub fn new(taken: &StreamsTaken, window_s: f64) -> Self {
        let queries: Vec<StreamedQuery> = taken.queries.iter().map(TakenQuery::summary).collect();
        let figures = vec![queries_per_hour(&queries, window_s), geomean(&queries)];
        Self {
            streams: taken.streams,
            query_timeout_s: taken.query_timeout_s,
            figures,
            queries,
            steps: taken.steps.clone(),
            steps_omitted: taken.steps_omitted,
            sessions: SessionCounts { lost: taken.sessions.0, reconnected: taken.sessions.1 },
            away: taken.away,
            cpu_s: taken.cpu_s,
            baseline: None,
        }
    }

    /// Adds the baseline, if there is one; `rate` computes the primary metric from a count and a time in seconds, and
    /// `primary_metric` is its value in the timed window.
    #[must_use]
    pub fn with_baseline(
        self,
        taken: &StreamsTaken,
        rate: impl Fn(u64, f64) -> f64,
        primary_metric: f64,
    ) -> Self {
        let baseline = taken.baseline.as_ref().map(|alone| {
            let queries = Self::new(&alone.queries, alone.queries_s);
            let counted = (alone.counted_s > 0.0).then(|| rate(alone.counted, alone.counted_s));
            let per_hour = queries.value(QUERIES_PER_HOUR);
            Baseline {
                seconds: alone.seconds,
                primary_metric: counted,
                queries_per_hour: per_hour,
                query_geomean_ms: queries.value(QUERY_GEOMEAN),
                unanswered: queries.unanswered(),
                primary_metric_ratio: ratio(Some(primary_metric), counted),
                queries_ratio: ratio(self.value(QUERIES_PER_HOUR), per_hour),
            }
        });
        Self { baseline, ..self }
    }

    /// Whether every query was answered that was not cancelled at the end, and no stream was lost.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.away == 0 && self.unanswered() == 0
    }

    /// Number of queries that timed out or failed, alone or beside the transactions.
    #[must_use]
    pub fn unanswered(&self) -> u64 {
        let alone = self.baseline.map_or(0, |baseline| baseline.unanswered);
        alone + self.queries.iter().map(|query| query.timed_out + query.failed).sum::<u64>()
    }

    /// Number of answers in the timed window.
    #[must_use]
    pub fn in_window(&self) -> u64 {
        self.queries.iter().map(|query| query.in_window).sum()
    }

    /// Value of a figure by its name.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<f64> {
        self.figures.iter().find(|figure| figure.name == name)?.value
    }
}

/// What remains of `alone`; `None` if either is missing, or alone it was nothing.
fn ratio(beside: Option<f64>, alone: Option<f64>) -> Option<f64> {
    alone.filter(|alone| *alone > 0.0).and_then(|alone| Some(beside? / alone))
}

#[expect(clippy::cast_precision_loss, reason = "queries of a run")]
fn queries_per_hour(queries: &[StreamedQuery], window_s: f64) -> QueryFigure {
    let count: u64 = queries.iter().map(|query| query.in_window).sum();
    let value = (window_s > 0.0).then(|| count as f64 * HOUR_S / window_s);
    QueryFigure {
        name: QUERIES_PER_HOUR.to_owned(),
        title: "Queries per hour".to_owned(),
        meaning: "queries of all streams answered in the timed window, per hour".to_owned(),
        value,
        better: Better::Higher,
        reason: value.is_none().then(|| "there is no timed window".to_owned()),
    }
}

fn geomean(queries: &[StreamedQuery]) -> QueryFigure {
    let missing: Vec<String> = queries
        .iter()
        .filter(|query| query.median_s.is_none())
        .map(|query| query.name.to_uppercase())
        .collect();
    let medians: Vec<f64> = queries.iter().filter_map(|query| query.median_s).collect();
    let value = geometric_mean(&medians).filter(|_| missing.is_empty());
    let reason = format!(
        "not answered in the timed window: {}; run with a longer --duration",
        missing.join(", ")
    );
    QueryFigure {
        name: QUERY_GEOMEAN.to_owned(),
        title: "Query time".to_owned(),
        meaning: "geometric mean of the queries' median times, in milliseconds".to_owned(),
        value: value.map(|seconds| seconds * MS),
        better: Better::Lower,
        reason: value.is_none().then_some(reason),
    }
}

/// What streams did so far.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StreamsTaken {
    streams: u32,
    query_timeout_s: Option<f64>,
    queries: Vec<TakenQuery>,
    steps: Vec<StepTime>,
    steps_omitted: u64,
    /// Numbers of connections lost and reconnected.
    pub sessions: (u64, u64),
    /// Streams that ended without a connection.
    pub away: u32,
    /// CPU time of the streams' threads, in seconds.
    pub cpu_s: f64,
    /// What queries and transactions did alone.
    pub baseline: Option<Box<BaselineTaken>>,
}

/// What queries and transactions did alone.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BaselineTaken {
    /// Time for which each was to run alone, in seconds.
    pub seconds: f64,
    /// What the queries did.
    pub queries: StreamsTaken,
    /// Time for which they ran, in seconds.
    pub queries_s: f64,
    /// Transactions that the primary metric counts.
    pub counted: u64,
    /// Time in which they were counted, in seconds.
    pub counted_s: f64,
}

/// What one query did so far.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct TakenQuery {
    name: String,
    title: String,
    /// Of answers in the timed window, µs.
    #[serde(with = "triphammer_core::histogram::required")]
    times: Histogram<u64>,
    sum_s: f64,
    min_s: Option<f64>,
    max_s: f64,
    rows: u64,
    answered: u64,
    timed_out: u64,
    failed: u64,
    cancelled: u64,
}

impl StreamsTaken {
    /// Creates what the streams of a plan did before they began.
    #[must_use]
    pub fn new(plan: &QueryPlan, query_timeout_s: Option<f64>) -> Self {
        let queries = plan.queries.iter().filter(|query| plan.runs(&query.name));
        Self {
            streams: plan.streams,
            query_timeout_s,
            queries: queries.map(|query| TakenQuery::new(&query.name, &query.title)).collect(),
            steps: Vec::new(),
            steps_omitted: 0,
            sessions: (0, 0),
            away: 0,
            cpu_s: 0.0,
            baseline: None,
        }
    }

    /// Number of streams.
    #[must_use]
    pub const fn streams(&self) -> u32 {
        self.streams
    }

    /// Geometric mean of the median times of the queries that were answered in the timed window so far; `None` before the
    /// first one.
    #[must_use]
    pub fn geomean(&self) -> Option<Duration> {
        let medians: Vec<f64> = self.queries.iter().filter_map(TakenQuery::median_s).collect();
        geometric_mean(&medians).map(Duration::from_secs_f64)
    }

    /// Takes a query that has ended, in the timed window or not.
    pub fn take(&mut self, step: &StepTime, is_in_window: bool) {
        if let Some(query) = self.queries.iter_mut().find(|query| query.name == step.name) {
            query.take(step, is_in_window);
        }
        if self.steps.len() < STEPS_MAX {
            self.steps.push(step.clone());
        } else {
            self.steps_omitted += 1;
        }
    }
}

impl TakenQuery {
    fn new(name: &str, title: &str) -> Self {
        Self {
            name: name.to_owned(),
            title: title.to_owned(),
            times: Histogram::new_with_bounds(1, LONGEST_US, DIGITS).expect("valid bounds"),
            sum_s: 0.0,
            min_s: None,
            max_s: 0.0,
            rows: 0,
            answered: 0,
            timed_out: 0,
            failed: 0,
            cancelled: 0,
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "microseconds of at most a day"
    )]
    fn take(&mut self, step: &StepTime, is_in_window: bool) {
        match step.outcome {
            StepOutcome::Answered => self.answered += 1,
            StepOutcome::TimedOut => self.timed_out += 1,
            StepOutcome::Failed => self.failed += 1,
            StepOutcome::Cancelled => self.cancelled += 1,
            StepOutcome::NotRun | StepOutcome::Unsupported => {}
        }
        self.rows = self.rows.max(step.rows);
        let Some(seconds) = step.seconds.filter(|_| step.outcome == StepOutcome::Answered) else {
            return;
        };
        if is_in_window {
            self.times.saturating_record((seconds * US) as u64);
            self.sum_s += seconds;
            self.min_s = Some(self.min_s.map_or(seconds, |least| least.min(seconds)));
            self.max_s = self.max_s.max(seconds);
        }
    }

    /// Median time of the answers in the timed window, in seconds.
    #[expect(clippy::cast_precision_loss, reason = "microseconds of a day")]
    fn median_s(&self) -> Option<f64> {
        (!self.times.is_empty()).then(|| self.times.value_at_quantile(0.5) as f64 / US)
    }

    #[expect(clippy::cast_precision_loss, reason = "queries of a run")]
    fn summary(&self) -> StreamedQuery {
        let in_window = self.times.len();
        let of_window = |value: f64| (in_window > 0).then_some(value);
        StreamedQuery {
            name: self.name.clone(),
            title: self.title.clone(),
            in_window,
            median_s: self.median_s(),
            mean_s: of_window(self.sum_s / in_window as f64),
            min_s: self.min_s,
            max_s: of_window(self.max_s),
            rows: self.rows,
            answered: self.answered,
            timed_out: self.timed_out,
            failed: self.failed,
            cancelled: self.cancelled,
        }
    }
}

#[cfg(test)]
mod tests {
    use triphammer_core::query_plan::{QueryDef, QueryPhase, QueryStep, QueryStream, QueryTest};

    use super::*;

    fn plan() -> QueryPlan {
        let query = |name: &str| QueryDef { name: name.into(), title: "a question".into() };
        let steps = [0, 1].map(|query| QueryStep::Query { query, args: Vec::new() }).to_vec();
        let streams = vec![QueryStream { number: Some(1), steps }];
        QueryPlan {
            test: QueryTest::Queries,
            queries: ["q1", "q2", "q3"].map(query).to_vec(),
            is_whole: false,
            streams: 1,
            phases: vec![QueryPhase { test: QueryTest::Queries, streams }],
            repeats: 1,
            analyze: false,
        }
    }

    fn step(name: &str, seconds: f64, outcome: StepOutcome) -> StepTime {
        StepTime {
            repeat: 1,
            test: QueryTest::Queries,
            stream: Some(1),
            position: 1,
            name: name.to_owned(),
            parameters: Vec::new(),
            start_s: Some(0.0),
            seconds: Some(seconds),
            rows: 7,
            outcome,
            error: None,
            fingerprint: None,
            usage: None,
        }
    }

    fn is_near(found: Option<f64>, expected: f64) -> bool {
        found.is_some_and(|found| (found / expected - 1.0).abs() < 2e-3)
    }

    #[test]
    fn figures_are_of_answers_in_the_window() {
        let mut taken = StreamsTaken::new(&plan(), None);
        taken.take(&step("q1", 100.0, StepOutcome::Answered), false);
        assert_eq!(taken.geomean(), None);
        for seconds in [1.0, 2.0, 6.0] {
            taken.take(&step("q1", seconds, StepOutcome::Answered), true);
        }
        taken.take(&step("q2", 50.0, StepOutcome::Cancelled), true);
        assert!(is_near(taken.geomean().map(|time| time.as_secs_f64()), 2.0), "of Q1 alone");
        let partial = QueryStreams::new(&taken, 60.0);
        let geomean = &partial.figures[1];
        assert_eq!(geomean.value, None);
        let reason = geomean.reason.as_deref().unwrap();
        assert_eq!(reason, "not answered in the timed window: Q2; run with a longer --duration");
        assert!(is_near(partial.value(QUERIES_PER_HOUR), 180.0));

        taken.take(&step("q2", 8.0, StepOutcome::Answered), true);
        let whole = QueryStreams::new(&taken, 60.0);
        // The medians are 2 s and 8 s.
        assert!(is_near(whole.value(QUERY_GEOMEAN), 4_000.0), "{:?}", whole.figures);
        let first = &whole.queries[0];
        assert_eq!((whole.queries.len(), first.in_window, first.answered), (2, 3, 4));
        assert!(is_near(first.mean_s, 3.0) && is_near(first.max_s, 6.0));
        assert_eq!((whole.queries[1].cancelled, whole.is_good()), (1, true));
        assert_eq!(QueryStreams::new(&taken, 0.0).value(QUERIES_PER_HOUR), None);
    }

    #[test]
    fn a_baseline_says_what_remains_beside_each_other() {
        let mut alone = StreamsTaken::new(&plan(), None);
        let mut taken = alone.clone();
        for _ in 0..4 {
            alone.take(&step("q1", 1.0, StepOutcome::Answered), true);
        }
        alone.take(&step("q2", 1.0, StepOutcome::TimedOut), true);
        taken.take(&step("q1", 2.0, StepOutcome::Answered), true);
        let queries = alone;
        let baseline =
            BaselineTaken { seconds: 10.0, queries, queries_s: 10.0, counted: 400, counted_s: 8.0 };
        taken.baseline = Some(Box::new(baseline));
        let rate =
            |count: u64, seconds: f64| f64::from(u32::try_from(count).unwrap()) * 60.0 / seconds;
        let found = QueryStreams::new(&taken, 10.0).with_baseline(&taken, rate, 1_500.0);
        let baseline = found.baseline.unwrap();
        assert_eq!((baseline.seconds, baseline.primary_metric), (10.0, Some(3_000.0)));
        assert_eq!(baseline.primary_metric_ratio, Some(0.5));
        assert_eq!(
            (baseline.queries_per_hour, baseline.queries_ratio),
            (Some(1_440.0), Some(0.25))
        );
        assert_eq!((baseline.query_geomean_ms, baseline.unanswered), (None, 1));
        assert!(!found.is_good());
    }

    #[test]
    fn a_query_that_timed_out_or_failed_makes_it_bad_and_memory_is_limited() {
        for outcome in [StepOutcome::TimedOut, StepOutcome::Failed] {
            let mut taken = StreamsTaken::new(&plan(), Some(1.0));
            for _ in 0..STEPS_MAX {
                taken.take(&step("q1", 1.0, StepOutcome::Answered), true);
            }
            assert!(QueryStreams::new(&taken, 1.0).is_good());
            taken.take(&step("q1", 1.0, outcome), true);
            let found = QueryStreams::new(&taken, 1.0);
            assert_eq!((found.is_good(), found.unanswered()), (false, 1));
            assert_eq!((found.steps.len(), found.steps_omitted), (STEPS_MAX, 1));
        }
        let away = StreamsTaken { away: 1, ..StreamsTaken::new(&plan(), None) };
        assert!(!QueryStreams::new(&away, 1.0).is_good());
    }
}
