//! The part of a result about a finite set of queries: the time of each, and the figures computed from them.
//!
//! A figure whose parts were not all run and answered is not available, and says why.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::Scale;
use triphammer_core::query_plan::{QueryPlan, QueryTest};
use triphammer_settings::format;
use triphammer_statistics::compare::Better;

use crate::execution_plan::ExecutionPlan;
use crate::measure::queries::{composite, geometric_mean, power, throughput};
use crate::usage::{Usage, UsageOf};

/// Number of queries of a whole set.
const WHOLE: usize = 22;
/// Milliseconds per second.
const MS: f64 = 1_000.0;
/// Name of a figure, by which requirements and lists know it.
const GEOMEAN: &str = "geomean_ms";
const GEOMEAN_OF_CHOSEN: &str = "geomean_of_chosen_ms";
const GEOMEAN_WITH_ROWS: &str = "geomean_with_rows_ms";
const POWER: &str = "power";
const THROUGHPUT: &str = "throughput";
const COMPOSITE: &str = "composite";

/// A finite set of queries with a time for each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QueriesResult {
    /// What was measured.
    pub test: QueryTest,
    /// Number of query streams that ran side by side.
    pub streams: u32,
    /// Number of times that the whole test was to run.
    pub repeats: u32,
    /// Maximum time of a query, in seconds; `None` without one.
    pub query_timeout_s: Option<f64>,
    /// Figures of the whole run: the mean of each over the repeats. The primary figure is among them.
    pub figures: Vec<QueryFigure>,
    /// The same figures of each repeat, in order.
    pub repeat_figures: Vec<Vec<QueryFigure>>,
    /// Each query over all streams and repeats, in the order of their numbers; those that were to run.
    pub queries: Vec<QuerySummary>,
    /// Every query and refresh function, in the order in which they were to run, by repeat, test and stream.
    pub steps: Vec<StepTime>,
    /// Whether equal queries had equal answers.
    pub answers: AnswerComparison,
    /// Highest memory of an engine in this process during the timed part, in bytes, as it reports
    /// it five times per second; `None` for a server.
    pub engine_memory_bytes: Option<u64>,
    /// The execution plan of each query, read once after the timed part; those that could not be
    /// read are missing.
    pub plans: Vec<ExecutionPlan>,
    /// Whose CPU time that of steps and phases is; `None` if neither the server's processes nor the database are on the
    /// host of triphammer.
    #[serde(default)]
    pub usage_of: Option<UsageOf>,
    /// What each phase used: the power test or the throughput test of a repeat.
    #[serde(default)]
    pub phases: Vec<PhaseUsage>,
}

/// What a phase of a run of queries used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseUsage {
    /// Number of the repeat, from 1.
    pub repeat: u32,
    /// The test; never `both`.
    pub test: QueryTest,
    /// Number of its streams, that of refresh functions included.
    pub streams: u32,
    /// How long it took with the opening of its sessions, in seconds.
    pub seconds: f64,
    /// What was used meanwhile.
    pub usage: Usage,
}

/// A figure of a set of queries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QueryFigure {
    /// Name of the figure: `geomean_ms`, `power`.
    pub name: String,
    /// Title of the figure: `Power@0.01`.
    pub title: String,
    /// What it is, in words.
    pub meaning: String,
    /// Its value; `None` if it is not available.
    pub value: Option<f64>,
    /// Which way is better.
    pub better: Better,
    /// Why it is not available; `None` if it is.
    pub reason: Option<String>,
}

/// A query over all streams and repeats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QuerySummary {
    /// Key of the query: `q7`.
    pub name: String,
    /// Title of the query.
    pub title: String,
    /// Number of times that it was to run.
    pub asked: u32,
    /// Number of times that it was answered; the times below are of these.
    pub answered: u32,
    /// Mean time, in seconds; `None` if it was never answered.
    pub mean_s: Option<f64>,
    /// Shortest time, in seconds.
    pub min_s: Option<f64>,
    /// Longest time, in seconds.
    pub max_s: Option<f64>,
    /// Largest number of rows of an answer.
    pub rows: u64,
    /// Mean of what was used by those that ran while no other stream did; `None` if none did.
    #[serde(default)]
    pub usage: Option<Usage>,
    /// How many CPUs these used on average; `None` if that is unknown.
    #[serde(default)]
    pub cpus: Option<f64>,
    /// Number of parallel workers in its plan: as launched with `--analyze`, and else as planned; `None` without any.
    #[serde(default)]
    pub workers: Option<u32>,
}

/// A query or refresh function of a stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepTime {
    /// Number of the repeat, from 1.
    pub repeat: u32,
    /// The test that it belongs to; never `both`.
    pub test: QueryTest,
    /// Number of the stream; `None` for the stream of refresh functions.
    pub stream: Option<u32>,
    /// Position in its stream, from 1.
    pub position: u32,
    /// Key of the query, `q7`; or of the refresh function, `rf1`.
    pub name: String,
    /// Arguments of the query; the number of the set of a refresh function.
    pub parameters: Vec<String>,
    /// Seconds from the start of the run to its start; `None` if it was not started.
    pub start_s: Option<f64>,
    /// Time from its start until its last row was read, or it failed, in seconds.
    pub seconds: Option<f64>,
    /// Number of rows of the answer; rows changed by a refresh function.
    pub rows: u64,
    /// How it ended.
    pub outcome: StepOutcome,
    /// The error; `None` if it was answered.
    pub error: Option<String>,
    /// Fingerprint of the answer, whatever the order of its rows; `None` without an answer.
    pub fingerprint: Option<String>,
    /// What was used from its start to its end; `None` if another stream ran beside it, or it is unknown.
    #[serde(default)]
    pub usage: Option<Usage>,
}

/// How a query or refresh function ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepOutcome {
    /// It was answered completely.
    Answered,
    /// It exceeded the maximum time of a query and was cancelled in the database.
    TimedOut,
    /// The database reported an error, or the connection was lost.
    Failed,
    /// It was cancelled in the database because the run was stopped.
    Cancelled,
    /// It was not started, because the run was stopped or its stream had no connection.
    NotRun,
    /// A refresh function was not started, because the database cannot delete rows. That is no
    /// failure of the run: figures that need it are not available.
    Unsupported,
}

impl StepOutcome {
    /// In words, after the name of a query.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Answered => "was answered",
            Self::TimedOut => "timed out",
            Self::Failed => "failed",
            Self::Cancelled => "was cancelled",
            Self::NotRun => "was not run",
            Self::Unsupported => "is not supported",
        }
    }
}

/// Whether queries with equal parameters had equal answers on equal data, by their fingerprints.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerComparison {
    /// Number of answers that were compared with an earlier one.
    pub compared: u32,
    /// Number of answers that differ from the first one to the same query.
    pub differing: u32,
    /// The first few of them, in words.
    pub differences: Vec<String>,
}

/// Maximum number of differing answers that are described.
const DIFFERENCES_MAX: usize = 10;

impl StepTime {
    /// Whether it is a query and no refresh function.
    #[must_use]
    pub fn is_query(&self) -> bool {
        self.name.starts_with('q')
    }

    /// Formats `Q9 of stream 0`.
    #[must_use]
    pub fn place(&self) -> String {
        let name = self.name.to_uppercase();
        match self.stream {
            Some(stream) => format!("{name} of stream {stream}"),
            None => format!("{name} of the refresh stream"),
        }
    }

    /// Seconds from the start of the run to its end.
    #[must_use]
    pub fn end_s(&self) -> Option<f64> {
        Some(self.start_s? + self.seconds?)
    }

    /// Describes a step that was not answered; `None` for one that was.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        if self.outcome == StepOutcome::Answered {
            return None;
        }
        let after = self.seconds.map(|seconds| format!(" after {}", format::seconds(seconds)));
        let error = self.error.as_ref().map(|error| format!(": {error}"));
        Some(format!(
            "{} {}{}{}",
            self.place(),
            self.outcome.words(),
            after.unwrap_or_default(),
            error.unwrap_or_default()
        ))
    }
}

impl QueriesResult {
    /// Computes the figures from the times of all steps.
    #[must_use]
    pub fn new(
        plan: &QueryPlan,
        scale: Scale,
        timeout_s: Option<f64>,
        steps: Vec<StepTime>,
    ) -> Self {
        let repeat_figures: Vec<Vec<QueryFigure>> = (1..=plan.repeats)
            .map(|repeat| {
                let steps: Vec<&StepTime> = steps.iter().filter(|s| s.repeat == repeat).collect();
                Repeat { plan, scale, steps }.figures()
            })
            .collect();
        let figures = (0..repeat_figures[0].len())
            .map(|place| mean(repeat_figures.iter().map(|figures| &figures[place])))
            .collect();
        Self {
            test: plan.test,
            streams: plan.streams,
            repeats: plan.repeats,
            query_timeout_s: timeout_s,
            figures,
            repeat_figures,
            queries: summaries(plan, &steps),
            answers: AnswerComparison::of(plan, &steps),
            engine_memory_bytes: None,
            plans: Vec::new(),
            usage_of: None,
            phases: Vec::new(),
            steps,
        }
    }

    /// The same with the plans of its queries.
    #[must_use]
    pub fn with_plans(mut self, plans: Vec<ExecutionPlan>) -> Self {
        for query in &mut self.queries {
            let plan = plans.iter().find(|plan| plan.query == query.name);
            query.workers = plan.and_then(ExecutionPlan::workers);
        }
        self.plans = plans;
        self
    }

    /// Whether every query was answered, and equal queries equally.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.is_answered() && self.answers.differing == 0
    }

    /// Whether every query was answered; refresh functions that the database does not support do
    /// not count.
    #[must_use]
    pub fn is_answered(&self) -> bool {
        let is_fine = |step: &StepTime| {
            matches!(step.outcome, StepOutcome::Answered | StepOutcome::Unsupported)
        };
        self.steps.iter().all(is_fine)
    }

    /// The steps that were not answered.
    pub fn unanswered(&self) -> impl Iterator<Item = &StepTime> {
        self.steps.iter().filter(|step| step.outcome != StepOutcome::Answered)
    }

    /// A figure by its name.
    #[must_use]
    pub fn figure(&self, name: &str) -> Option<&QueryFigure> {
        self.figures.iter().find(|figure| figure.name == name)
    }

    /// The primary figure: that of the test.
    ///
    /// # Panics
    /// When the figures are not those of a run.
    #[must_use]
    pub fn primary(&self) -> &QueryFigure {
        let name = match self.test {
            QueryTest::Queries if self.figure(GEOMEAN_OF_CHOSEN).is_some() => GEOMEAN_OF_CHOSEN,
            QueryTest::Queries => GEOMEAN,
            QueryTest::Power => POWER,
            QueryTest::Throughput => THROUGHPUT,
            QueryTest::Both => COMPOSITE,
        };
        self.figure(name).unwrap_or(&self.figures[0])
    }

    /// The execution plan of a query, if it was read.
    #[must_use]
    pub fn plan(&self, query: &str) -> Option<&ExecutionPlan> {
        self.plans.iter().find(|plan| plan.query == query)
    }

    /// The times of a query in seconds, one per answer, in the order of the steps.
    pub fn times<'a>(&'a self, name: &'a str) -> impl Iterator<Item = f64> + 'a {
        let answered = self.steps.iter().filter(|step| step.outcome == StepOutcome::Answered);
        answered.filter(move |step| step.name == name).filter_map(|step| step.seconds)
    }
}

/// The steps of one repeat.
struct Repeat<'a> {
    plan: &'a QueryPlan,
    scale: Scale,
    steps: Vec<&'a StepTime>,
}

/// A value, or why there is none.
type Available = Result<f64, String>;

impl Repeat<'_> {
    fn figures(&self) -> Vec<QueryFigure> {
        let size = self.scale;
        let power = self.power();
        let throughput = self.throughput();
        let both = match (&power, &throughput) {
            (Ok(power), Ok(throughput)) => Ok(composite(*power, *throughput)),
            (Err(reason), _) | (_, Err(reason)) => Err(reason.clone()),
        };
        let time = |name, title: &str, meaning: &str, value: Available| {
            figure(name, title, meaning, Better::Lower, value.map(|seconds| seconds * MS))
        };
        let rate = |name, title: String, meaning, value| {
            figure(name, &title, meaning, Better::Higher, value)
        };
        let mut all = vec![
            time(
                GEOMEAN,
                "Geometric mean",
                "geometric mean of the times of all 22 queries, in milliseconds",
                self.whole().and_then(|()| self.geomean(|_| true)),
            ),
            time(
                GEOMEAN_WITH_ROWS,
                "Geometric mean (rows)",
                "the same without queries whose answer has no rows, in milliseconds",
                self.whole().and_then(|()| self.geomean(|step| step.rows > 0)),
            ),
            rate(
                POWER,
                format!("Power@{size}"),
                "TPROC-H power: 3600 × SF / geometric mean of 24 times",
                power,
            ),
            rate(
                THROUGHPUT,
                format!("Throughput@{size}"),
                "TPROC-H throughput: queries per hour × SF",
                throughput,
            ),
            rate(
                COMPOSITE,
                format!("Composite@{size}"),
                "TPROC-H composite: √(power × throughput)",
                both,
            ),
        ];
        if !self.plan.is_whole {
            let names: Vec<_> = self.chosen().map(|name| name.to_uppercase()).collect();
            let meaning =
                format!("geometric mean of the times of {}, in milliseconds", names.join(", "));
            let value = self.geomean(|_| true);
            all.insert(0, time(GEOMEAN_OF_CHOSEN, "Geometric mean (chosen)", &meaning, value));
        }
        all
    }

    /// Names of the queries that were to run.
    fn chosen(&self) -> impl Iterator<Item = &str> {
        let names = self.plan.queries.iter().map(|query| &*query.name);
        names.filter(|name| self.steps.iter().any(|step| step.name == *name))
    }

    fn whole(&self) -> Result<(), String> {
        match self.plan.is_whole {
            true => Ok(()),
            false => Err(format!("needs all {WHOLE} queries, and --queries chose some")),
        }
    }

    /// The steps of a test that count, if it was run and all of them were answered.
    fn answered(
        &self,
        test: QueryTest,
        counts: impl Fn(&StepTime) -> bool,
    ) -> Result<Vec<&StepTime>, String> {
        let of_test = self.steps.iter().copied().filter(|step| step.test == test && counts(step));
        let steps: Vec<&StepTime> = of_test.collect();
        if steps.is_empty() {
            return Err(format!(
                "needs --test {test} or both, and --test {} was run",
                self.plan.test
            ));
        }
        match steps.iter().find(|step| step.outcome != StepOutcome::Answered) {
            Some(step) => Err(format!("{} {}", step.place(), step.outcome.words())),
            None => Ok(steps),
        }
    }

    /// Geometric mean of the power test's times, else of all streams'.
    fn geomean(&self, is_counted: impl Fn(&StepTime) -> bool) -> Available {
        let tests = [QueryTest::Power, QueryTest::Throughput, QueryTest::Queries];
        let was_asked = |test: &QueryTest| self.steps.iter().any(|step| step.test == *test);
        let test = tests.into_iter().find(was_asked).ok_or("no query was run")?;
        let steps = self.answered(test, |step| step.outcome != StepOutcome::Unsupported)?;
        let counted = steps.iter().filter(|step| step.is_query() && is_counted(step));
        let times: Vec<f64> = counted.filter_map(|step| step.seconds).collect();
        geometric_mean(&times).ok_or_else(|| "no query was counted".to_owned())
    }

    fn power(&self) -> Available {
        self.whole()?;
        let steps = self.answered(QueryTest::Power, |_| true)?;
        let time = |name: &str| {
            let seconds = steps.iter().find(|step| step.name == name).and_then(|s| s.seconds);
            seconds.ok_or_else(|| needs_refresh(name))
        };
        let refresh = [time("rf1")?, time("rf2")?];
        let queries = steps.iter().filter(|step| step.is_query());
        let queries: Vec<f64> = queries.filter_map(|step| step.seconds).collect();
        power(self.scale.as_f64(), &queries, refresh).ok_or_else(|| "a time is 0".to_owned())
    }

    fn throughput(&self) -> Available {
        self.whole()?;
        let steps = self.answered(QueryTest::Throughput, |_| true)?;
        if let Some(name) = ["rf1", "rf2"].into_iter().find(|n| steps.iter().all(|s| s.name != *n))
        {
            return Err(needs_refresh(name));
        }
        let count = steps.iter().filter(|step| step.is_query()).count();
        let from = steps.iter().filter_map(|step| step.start_s).fold(f64::INFINITY, f64::min);
        let until = steps.iter().filter_map(|step| step.end_s()).fold(0.0, f64::max);
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        throughput(self.scale.as_f64(), count, until - from)
            .ok_or_else(|| "the test took no time".to_owned())
    }
}

fn needs_refresh(name: &str) -> String {
    format!("needs the refresh function {}, which was not run", name.to_uppercase())
}

fn figure(name: &str, title: &str, meaning: &str, better: Better, value: Available) -> QueryFigure {
    let (value, reason) = match value {
        Ok(value) => (Some(value), None),
        Err(reason) => (None, Some(reason)),
    };
    let (name, title, meaning) = (name.to_owned(), title.to_owned(), meaning.to_owned());
    QueryFigure { name, title, meaning, value, better, reason }
}

/// The mean of a figure over repeats; not available if it is not in one of them.
#[expect(clippy::cast_precision_loss, reason = "repeats of a run")]
fn mean<'a>(repeats: impl Iterator<Item = &'a QueryFigure> + Clone) -> QueryFigure {
    let first = repeats.clone().next().expect("a run has at least one repeat");
    let unavailable = (1..).zip(repeats.clone()).find(|(_, figure)| figure.value.is_none());
    let count = repeats.clone().count();
    let is_always = repeats.clone().all(|figure| figure.reason == first.reason);
    let reason = unavailable.and_then(|(repeat, figure)| {
        let reason = figure.reason.clone()?;
        Some(if is_always { reason } else { format!("{reason} (repeat {repeat})") })
    });
    let sum: f64 = repeats.filter_map(|figure| figure.value).sum();
    let value = reason.is_none().then(|| sum / count as f64);
    QueryFigure { value, reason, ..first.clone() }
}

#[expect(clippy::cast_precision_loss, reason = "answers of a run")]
fn summaries(plan: &QueryPlan, steps: &[StepTime]) -> Vec<QuerySummary> {
    let summary = |(name, title): (&str, &str)| -> Option<QuerySummary> {
        let asked = steps.iter().filter(|step| step.name == name);
        let rows = asked.clone().map(|step| step.rows).max()?;
        let answered = asked.clone().filter(|step| step.outcome == StepOutcome::Answered);
        let times: Vec<f64> = answered.clone().filter_map(|step| step.seconds).collect();
        let used = answered.filter_map(|step| Some((step.usage?, step.seconds?)));
        let (used, seconds): (Vec<Usage>, Vec<f64>) = used.unzip();
        let usage = Usage::mean(&used);
        let mean_s = seconds.iter().sum::<f64>() / seconds.len() as f64;
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Some(QuerySummary {
            name: name.to_owned(),
            title: title.to_owned(),
            asked: count(asked.count()),
            answered: count(times.len()),
            mean_s: (!times.is_empty()).then(|| times.iter().sum::<f64>() / times.len() as f64),
            min_s: times.iter().copied().reduce(f64::min),
            max_s: times.iter().copied().reduce(f64::max),
            rows,
            cpus: usage.filter(|_| mean_s > 0.0).map(|usage| usage.cpu_s / mean_s),
            usage,
            workers: None,
        })
    };
    let queries = plan.queries.iter().map(|query| (&*query.name, &*query.title));
    let refreshes =
        [("rf1", "refresh function 1: new sales"), ("rf2", "refresh function 2: old sales")];
    queries.chain(refreshes).filter_map(summary).collect()
}

impl AnswerComparison {
    /// Compares the answers to equal queries on equal data: refresh functions change it, so then only answers of
    /// the power test are compared, which are all given between the same two.
    fn of(plan: &QueryPlan, steps: &[StepTime]) -> Self {
        let changes = plan.refreshes();
        let mut firsts: BTreeMap<(&str, &[String]), &StepTime> = BTreeMap::new();
        let mut all = Self::default();
        let comparable = |step: &&StepTime| {
            step.fingerprint.is_some()
                && step.is_query()
                && (!changes || step.test == QueryTest::Power)
        };
        for step in steps.iter().filter(comparable) {
            let first = *firsts.entry((&step.name, &step.parameters)).or_insert(step);
            if std::ptr::eq(first, step) {
                continue;
            }
            all.compared += 1;
            if first.fingerprint == step.fingerprint {
                continue;
            }
            all.differing += 1;
            if all.differences.len() < DIFFERENCES_MAX {
                let (here, there) = (step.place(), first.place());
                all.differences.push(format!(
                    "{here} in repeat {} had another answer ({} rows) than {there} in repeat {} ({} rows)",
                    step.repeat, step.rows, first.repeat, first.rows
                ));
            }
        }
        all
    }
}

#[cfg(test)]
mod tests;
