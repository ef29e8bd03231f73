//! Figures of a run that have no place of their own in the document: each is declared here once, and the
//! document, `--require`, the reports and the page have it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::engine::RunEnd;

use super::facts::RunFacts;
use crate::requirement::Unit;

/// A declared figure of a run.
#[derive(Debug)]
pub struct RunMetric {
    /// Its name in requirements and in the document.
    pub name: &'static str,
    /// What reports call it.
    pub title: &'static str,
    /// Unit of the values.
    pub unit: Unit,
    /// How it is made; `None` where the run did not measure it.
    pub make: fn(&RunFacts, &RunEnd) -> Option<f64>,
}

/// The declarations, in the order in which they are shown.
pub static OF_RUN: &[RunMetric] = &[];

/// A declared figure with its value: part of the result document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeclaredFigure {
    /// Its name in requirements.
    pub name: String,
    /// What reports call it.
    pub title: String,
    /// The unit of the value.
    pub unit: Unit,
    /// The figure, in `unit`; `None` when the run did not measure it.
    pub value: Option<f64>,
}

impl DeclaredFigure {
    /// Those of a run.
    pub(super) fn all(metrics: &[RunMetric], facts: &RunFacts, end: &RunEnd) -> Vec<Self> {
        let figure = |metric: &RunMetric| Self {
            name: metric.name.to_owned(),
            title: metric.title.to_owned(),
            unit: metric.unit,
            value: (metric.make)(facts, end).filter(|value| value.is_finite()),
        };
        metrics.iter().map(figure).collect()
    }
}
