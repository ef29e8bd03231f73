//! The figures of runs, side by side.

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
    /// `nopm`, `tpm`, `new_order.p95`.
    pub name: String,
    /// For people: `New-Order p95`.
    pub title: String,
    /// Microseconds, or a number.
    pub unit: Unit,
    /// Mean of A's runs, or of its seconds.
    pub a: f64,
    /// Mean of B's.
    pub b: f64,
    /// B over A; `None` where it cannot be said.
    pub comparison: Option<Comparison>,
    /// Why it cannot.
    pub reason: Option<String>,
}

/// How runs of A and B belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// As many of each, made side by side.
    Pairs,
    /// Made apart.
    Runs,
    /// One each, judged by their seconds.
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
    /// The primary metric.
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

    /// The figure from the values of both sides.
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

    /// The figure where a value of each side is all there is.
    fn alone(self, a: f64, b: f64, reason: String) -> Figure {
        let Self { name, title, unit, .. } = self;
        Figure { name, title, unit, a, b, comparison: None, reason: Some(reason) }
    }
}

/// One run of each, whatever its interval: how much runs differ is not in that, and makes every other
/// verdict a guess.
fn undecided(found: Comparison) -> Comparison {
    Comparison { verdict: Verdict::Inconclusive { more: None }, ..found }
}

/// Every figure of these runs of A and B, the primary metric first.
pub(super) fn all(a: &[&Run], b: &[&Run], how: How, margin: f64) -> Vec<Figure> {
    let (Some(first), Some(_)) = (a.first(), b.first()) else { return Vec::new() };
    let of = |runs: &[&Run], name: &str| -> Option<Vec<f64>> {
        runs.iter().map(|run| value(&run.result, name)).collect()
    };
    let mut figures = Vec::new();
    for named in named(&first.result) {
        // A type that did not occur on one side has nothing to compare.
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
                    Unit::Us => {
                        "too few transactions per second to judge it by single runs".to_owned()
                    }
                    Unit::Number | Unit::Share => CompareError::TooShort.to_string(),
                };
                named.alone(values_a[0], values_b[0], reason)
            }
            _ => named.compare(&values_a, &values_b, how, margin),
        });
    }
    figures
}

/// The figures that runs like this one have.
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

/// A figure of a result by its name; `None` where there were no transactions of the type.
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

/// 0 of nothing.
#[expect(clippy::cast_precision_loss, reason = "runs, or seconds of a run")]
pub(super) fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}
