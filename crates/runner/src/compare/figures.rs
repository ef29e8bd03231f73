//! Figures of runs, side by side.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_statistics::compare::{self, Better, CompareError, Comparison, Verdict};

use super::run::Run;
use crate::measure::Measure;
use crate::profile::PrimaryMetricName;
use crate::requirement::Unit;
use crate::result::RunResult;

/// A figure of both sides, and the ratio of B to A.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// Name of the figure: `nopm`, `tpm`, `new_order.p95`.
    pub name: String,
    /// Title of the figure: `New-Order p95`.
    pub title: String,
    /// Unit: microseconds, or a number.
    pub unit: Unit,
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
    /// Runs made separately.
    Runs,
    /// A single run each, compared by their seconds.
    Seconds,
}

/// A figure without its values.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub name: String,
    pub title: String,
    pub unit: Unit,
    pub better: Better,
}

impl Named {
    /// Creates the figure of the primary metric.
    pub fn primary_metric(metric: &PrimaryMetricName) -> Self {
        Self {
            name: metric.name.to_lowercase(),
            title: metric.name.clone(),
            unit: Measure::stored(&metric.per).unit(),
            better: metric.better,
        }
    }

    /// Transactions of all types per minute.
    fn throughput() -> Self {
        Self {
            name: "tpm".to_owned(),
            title: "TPM".to_owned(),
            unit: Unit::Number,
            better: Better::Higher,
        }
    }

    /// Creates the figure from the values of both sides.
    pub fn compare(self, a: &[f64], b: &[f64], how: How, margin: f64) -> Figure {
        let found = match how {
            How::Pairs => {
                let pairs: Vec<(f64, f64)> = a.iter().copied().zip(b.iter().copied()).collect();
                compare::pairs(&pairs, self.better, margin)
            }
            How::Runs => compare::runs(a, b, self.better, margin),
            How::Seconds => compare::series(a, b, self.better, margin).map(undecided),
        };
        let Self { name, title, unit, .. } = self;
        let reason = found.as_ref().err().map(CompareError::to_string);
        Figure { name, title, unit, a: mean(a), b: mean(b), comparison: found.ok(), reason }
    }

    /// Creates the figure from a single value of each side.
    fn alone(self, a: f64, b: f64, reason: String) -> Figure {
        let Self { name, title, unit, .. } = self;
        Figure { name, title, unit, a, b, comparison: None, reason: Some(reason) }
    }
}

/// Single runs are always inconclusive: their intervals do not include the variation between runs.
fn undecided(found: Comparison) -> Comparison {
    Comparison { verdict: Verdict::Inconclusive { more: None }, ..found }
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
        figures.push(match (how, seconds(a), seconds(b)) {
            (How::Seconds, Some(a), Some(b)) => named.compare(&a, &b, how, margin),
            (How::Seconds, ..) => {
                let reason = match named.unit {
                    Unit::Us => "too few transactions per second to compare single runs".to_owned(),
                    Unit::Number | Unit::Share => CompareError::TooShort.to_string(),
                };
                named.alone(values_a[0], values_b[0], reason)
            }
            _ => named.compare(&values_a, &values_b, how, margin),
        });
    }
    figures
}

/// The figures of runs like this one.
fn named(result: &RunResult) -> Vec<Named> {
    let mut all = vec![Named::primary_metric(&PrimaryMetricName::of(&result.primary_metric))];
    let measure = Measure::stored(&result.primary_metric.per);
    if all[0].name != "tpm" && measure.throughput().is_some() {
        all.push(Named::throughput());
    }
    for seen in &result.window.types {
        for percentile in ["p50", "p95", "p99"] {
            all.push(Named {
                name: format!("{}.{percentile}", seen.name),
                title: format!("{} {percentile}", seen.title),
                unit: Unit::Us,
                better: Better::Lower,
            });
        }
    }
    all
}

/// A figure of a result by its name; `None` if there were no transactions of the type.
#[expect(clippy::cast_precision_loss, reason = "microseconds of at most an hour")]
fn value(result: &RunResult, name: &str) -> Option<f64> {
    if name == result.primary_metric.name.to_lowercase() {
        return Some(result.primary_metric.value);
    }
    if name == "tpm" {
        return Some(result.tpm_client);
    }
    let (kind, percentile) = name.split_once('.')?;
    let seen = result.window.types.iter().find(|seen| seen.name == kind)?;
    let times = &seen.response;
    let us = match percentile {
        "p50" => times.p50_us,
        "p95" => times.p95_us,
        _ => times.p99_us,
    };
    (times.count > 0).then_some(us as f64)
}

/// The mean of values; 0 if there are none.
#[expect(clippy::cast_precision_loss, reason = "runs, or seconds of a run")]
pub(super) fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}
