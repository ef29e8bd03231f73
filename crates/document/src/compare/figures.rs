//! Figures of runs, side by side.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::stats::Times;
use triphammer_statistics::compare::{self, Better, CompareError, Comparison, Verdict};

use super::answers::{MEAN_STATEMENT, mean_statement};
use super::at_once::AtOnce;
use super::run::Run;
use crate::measure::Measure;
use crate::profile::PrimaryMetricName;
use crate::result::RunResult;
use crate::unit::FigureUnit;

/// A figure of both sides, and the ratio of B to A.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// Name of the figure: `nopm`, `tpm`, `new_order.p95`.
    pub name: String,
    /// Title of the figure: `New-Order p95`.
    pub title: String,
    /// Unit: microseconds, or a number.
    pub unit: FigureUnit,
    /// Mean over A's runs, or over the seconds of its single run.
    pub a: f64,
    /// Mean over B's runs, or over the seconds of its single run.
    pub b: f64,
    /// Ratio of B to A; `None` if it cannot be computed.
    pub comparison: Option<Comparison>,
    /// Why there is no ratio; `None` if there is one.
    pub reason: Option<String>,
}

/// How the runs of A and B are related.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// Pairs of runs made one after the other.
    Pairs,
    /// The same, as one of several comparisons that decide together.
    PairsOfSeveral { together: usize },
    /// Runs made separately.
    Runs,
    /// A single run each, compared by their seconds.
    Seconds,
}

/// A figure without its values.
#[derive(Clone, Debug)]
pub(super) struct FigureName {
    pub name: String,
    pub title: String,
    pub unit: FigureUnit,
    pub better: Better,
}

impl FigureName {
    /// Creates the figure of the primary metric.
    pub fn primary_metric(metric: &PrimaryMetricName) -> Self {
        Self {
            name: metric.name.to_lowercase(),
            title: metric.name.clone(),
            unit: Measure::stored(&metric.per).unit(),
            better: metric.better,
        }
    }

    /// Mean time of the statements of a replay.
    fn statement() -> Self {
        Self {
            name: MEAN_STATEMENT.to_owned(),
            title: "mean statement time".to_owned(),
            unit: FigureUnit::Us,
            better: Better::Lower,
        }
    }

    /// Transactions of all types per minute.
    fn throughput() -> Self {
        Self {
            name: "tpm".to_owned(),
            title: "TPM".to_owned(),
            unit: FigureUnit::Number,
            better: Better::Higher,
        }
    }

    /// Creates the figure from the values of both sides.
    pub fn compare(self, a: &[f64], b: &[f64], how: How, margin: f64) -> Figure {
        let pairs = || a.iter().copied().zip(b.iter().copied()).collect::<Vec<(f64, f64)>>();
        let found = match how {
            How::Pairs => compare::pairs(&pairs(), self.better, margin),
            How::PairsOfSeveral { together } => {
                compare::pairs_of_several(&pairs(), self.better, margin, together)
            }
            How::Runs => compare::runs(a, b, self.better, margin),
            How::Seconds => compare::series(a, b, self.better, margin).map(undecided),
        };
        let Self { name, title, unit, .. } = self;
        let reason = found.as_ref().err().map(CompareError::to_string);
        Figure { name, title, unit, a: mean(a), b: mean(b), comparison: found.ok(), reason }
    }

    /// Creates the figure of two single runs of queries from their repeats. It is inconclusive, as between all single
    /// runs.
    fn of_repeats(self, means: [f64; 2], a: &[f64], b: &[f64], margin: f64) -> Figure {
        if a.len() < 2 || b.len() < 2 {
            let reason = "measured once per run: use --repeat, or several runs with a label";
            return self.alone(means[0], means[1], reason.to_owned());
        }
        let figure = self.compare(a, b, How::Runs, margin);
        let comparison = figure.comparison.map(undecided);
        Figure { a: means[0], b: means[1], comparison, ..figure }
    }

    /// Creates the figure from a single value of each side.
    pub fn alone(self, a: f64, b: f64, reason: String) -> Figure {
        let Self { name, title, unit, .. } = self;
        Figure { name, title, unit, a, b, comparison: None, reason: Some(reason) }
    }
}

/// The primary metric of two runs at once, by their blocks.
pub(super) fn of_blocks(metric: &PrimaryMetricName, at_once: &AtOnce, margin: f64) -> Figure {
    let FigureName { name, title, unit, better } = FigureName::primary_metric(metric);
    // Blocks are longer where a side did nothing for a while.
    #[expect(clippy::cast_precision_loss, reason = "seconds of a run")]
    let of = |read: fn(&super::Block) -> f64| {
        let weight = |block: &super::Block| block.seconds as f64;
        let weighted = at_once.blocks.iter().map(|block| weight(block) * read(block));
        let all = at_once.blocks.iter().map(weight).sum::<f64>();
        if all > 0.0 { weighted.sum::<f64>() / all } else { 0.0 }
    };
    let found = at_once.compare(better, margin);
    let reason = found.as_ref().err().map(CompareError::to_string);
    let (a, b) = (of(|block| block.a), of(|block| block.b));
    Figure { name, title, unit, a, b, comparison: found.ok(), reason }
}

/// Single runs are always inconclusive: their intervals do not include the variation between runs.
fn undecided(found: Comparison) -> Comparison {
    Comparison { verdict: Verdict::Inconclusive { more: None }, ..found }
}

/// Ending of the name of a query's time.
pub const QUERY_TIME: &str = ".time";

/// Values of a figure in a single run of queries, one per repeat or answer.
fn repeated(result: &RunResult, name: &str) -> Option<Vec<f64>> {
    let set = result.queries.as_ref()?;
    if let Some(query) = name.strip_suffix(QUERY_TIME) {
        return Some(set.times(query).map(|seconds| seconds * 1e6).collect());
    }
    let figures = set.repeat_figures.iter().flatten();
    Some(figures.filter(|figure| figure.name == name).filter_map(|figure| figure.value).collect())
}

/// All figures of these runs of A and B, the primary metric first.
pub(super) fn all(a: &[&Run], b: &[&Run], how: How, margin: f64) -> Vec<Figure> {
    let (Some(first), Some(_)) = (a.first(), b.first()) else { return Vec::new() };
    let of = |runs: &[&Run], name: &str| -> Option<Vec<f64>> {
        runs.iter().map(|run| value(&run.result, name)).collect()
    };
    let mut figures = Vec::new();
    for named in named(&first.result) {
        // A transaction type that is missing on one side cannot be compared.
        let (Some(values_a), Some(values_b)) = (of(a, &named.name), of(b, &named.name)) else {
            continue;
        };
        let seconds = |runs: &[&Run]| {
            let seconds = runs.first().and_then(|run| run.seconds.as_ref());
            seconds.and_then(|seconds| seconds.get(&named.name)).cloned()
        };
        let repeated = |runs: &[&Run]| repeated(&runs.first()?.result, &named.name);
        if let (How::Seconds, Some(times_a), Some(times_b)) = (how, repeated(a), repeated(b)) {
            figures.push(named.of_repeats([values_a[0], values_b[0]], &times_a, &times_b, margin));
            continue;
        }
        figures.push(match (how, seconds(a), seconds(b)) {
            (How::Seconds, Some(a), Some(b)) => named.compare(&a, &b, how, margin),
            (How::Seconds, ..) if is_once_per_run(&first.result, &named.name) => {
                let reason = "one value per run: compare several runs, with --ab or labels";
                named.alone(values_a[0], values_b[0], reason.to_owned())
            }
            (How::Seconds, ..) => {
                let reason = match named.unit {
                    FigureUnit::Us => {
                        "too few transactions per second to compare single runs".to_owned()
                    }
                    FigureUnit::Number | FigureUnit::Share => CompareError::TooShort.to_string(),
                };
                named.alone(values_a[0], values_b[0], reason)
            }
            _ => named.compare(&values_a, &values_b, how, margin),
        });
    }
    figures
}

/// Whether a figure is one of the streams of queries beside the transactions.
fn is_of_streams(result: &RunResult, name: &str) -> bool {
    result.query_streams.as_ref().is_some_and(|streams| streams.value(name).is_some())
}

/// A figure of the response times of a type.
struct OfTimes {
    name: &'static str,
    /// Reads it, in microseconds.
    read: fn(&Times) -> Option<f64>,
    /// Whether a second has it, too, so that single runs can be compared.
    of_second: bool,
}

/// The figures of the response times of each type.
#[expect(clippy::cast_precision_loss, reason = "microseconds of at most an hour")]
static OF_TIMES: [OfTimes; 5] = [
    OfTimes { name: "p50", read: |times| Some(times.p50_us as f64), of_second: true },
    OfTimes { name: "p95", read: |times| Some(times.p95_us as f64), of_second: true },
    OfTimes { name: "p99", read: |times| Some(times.p99_us as f64), of_second: true },
    OfTimes { name: "min", read: |times| Some(times.min_us as f64), of_second: false },
    OfTimes { name: "stdev", read: |times| times.stdev_us, of_second: false },
];

/// Whether a run has one value of a figure, and its seconds have none.
fn is_once_per_run(result: &RunResult, name: &str) -> bool {
    let is_of_run = |of: &OfTimes| !of.of_second && name.ends_with(&format!(".{}", of.name));
    is_of_streams(result, name) || OF_TIMES.iter().any(is_of_run)
}

/// The figures of runs like this one.
fn named(result: &RunResult) -> Vec<FigureName> {
    let mut all = vec![FigureName::primary_metric(&PrimaryMetricName::of(&result.primary_metric))];
    // The rate of a replay is that of the recording: what can differ is how long its statements take.
    if result.replay.is_some() {
        all.insert(0, FigureName::statement());
    }
    let queries = result.queries.iter().flat_map(|set| &set.queries);
    all.extend(queries.map(|query| FigureName {
        name: format!("{}{QUERY_TIME}", query.name),
        title: query.name.to_uppercase(),
        unit: FigureUnit::Us,
        better: Better::Lower,
    }));
    let measure = Measure::stored(&result.primary_metric.per);
    if all.iter().all(|figure| figure.name != "tpm") && measure.throughput().is_some() {
        all.push(FigureName::throughput());
    }
    let streams = result.query_streams.iter().flat_map(|streams| &streams.figures);
    all.extend(streams.map(|figure| FigureName {
        name: figure.name.clone(),
        title: figure.title.clone(),
        unit: FigureUnit::Number,
        better: figure.better,
    }));
    for seen in &result.window.types {
        for OfTimes { name, .. } in &OF_TIMES {
            all.push(FigureName {
                name: format!("{}.{name}", seen.name),
                title: format!("{} {name}", seen.title),
                unit: FigureUnit::Us,
                better: Better::Lower,
            });
        }
    }
    all
}

/// A figure of a result by its name; `None` if there were no transactions of the type.
fn value(result: &RunResult, name: &str) -> Option<f64> {
    if name == result.primary_metric.name.to_lowercase() {
        let metric = &result.primary_metric;
        return metric.unavailable.is_none().then_some(metric.value);
    }
    if let Some(query) = name.strip_suffix(QUERY_TIME) {
        let set = result.queries.as_ref()?;
        let found = set.queries.iter().find(|known| known.name == query)?;
        return found.mean_s.map(|seconds| seconds * 1e6);
    }
    if name == MEAN_STATEMENT {
        return mean_statement(result);
    }
    if name == "tpm" {
        return Some(result.tpm_client);
    }
    if let Some(value) = result.query_streams.as_ref().and_then(|streams| streams.value(name)) {
        return Some(value);
    }
    let (kind, of_times) = name.split_once('.')?;
    let seen = result.window.types.iter().find(|seen| seen.name == kind)?;
    let OfTimes { read, .. } = OF_TIMES.iter().find(|of| of.name == of_times)?;
    (seen.response.count > 0).then(|| read(&seen.response)).flatten()
}

/// The mean of values; 0 if there are none.
#[expect(clippy::cast_precision_loss, reason = "runs, or seconds of a run")]
pub(super) fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}
