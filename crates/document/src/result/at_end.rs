//! Figures that are computed at the end of a run and have no separate fields in the document: each is
//! declared here once, and is then available in the document, in `--require`, in the reports and on the
//! page. What a second has, too, is in [`metrics`](crate::metrics).

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_engine::RunEnd;

use super::facts::RunFacts;
use crate::unit::FigureUnit;

/// A declared figure of a run.
#[derive(Debug)]
pub struct RunMetric {
    /// Name in requirements and in the document.
    pub name: &'static str,
    /// Title in reports and on the page.
    pub title: &'static str,
    /// Unit of the values.
    pub unit: FigureUnit,
    /// Computes the value; `None` if the run did not measure it.
    pub make: fn(&RunFacts, &RunEnd) -> Option<f64>,
}

/// The declarations, in display order.
pub static AT_END: &[RunMetric] = &[
    RunMetric {
        name: "first_answer",
        title: "First answer after the pause",
        unit: FigureUnit::Us,
        make: |facts, _| Some(facts.first_answer.as_ref()?.answer_s * 1e6),
    },
    RunMetric {
        name: "client.script_cpu",
        title: "Share of the client's CPU time that the script used",
        unit: FigureUnit::Share,
        make: script_cpu,
    },
    RunMetric {
        name: "client.script_lock",
        title: "Share of the run for which the script held the interpreter's lock",
        unit: FigureUnit::Share,
        make: |facts, end| of_run(facts.script?.lock_held, facts, end),
    },
    RunMetric {
        name: "client.script_lock_wait",
        title: "Share of the run for which worker threads waited for the interpreter's lock, on average",
        unit: FigureUnit::Share,
        make: |facts, end| {
            let threads =
                u32::try_from(end.worker_cpu_ns.len()).ok().filter(|threads| *threads > 0)?;
            of_run(facts.script?.lock_waited / threads, facts, end)
        },
    },
    RunMetric {
        name: "script.reads",
        title: "Statements of the script that read",
        unit: FigureUnit::Number,
        make: |facts, _| Some(facts.script?.reads as f64),
    },
    RunMetric {
        name: "script.writes",
        title: "Statements of the script that changed rows",
        unit: FigureUnit::Number,
        make: |facts, _| Some(facts.script?.writes as f64),
    },
    RunMetric {
        name: "script.other",
        title: "Other statements of the script",
        unit: FigureUnit::Number,
        make: |facts, _| Some(facts.script?.other as f64),
    },
    RunMetric {
        name: "script.errors",
        title: "Statements of the script that failed",
        unit: FigureUnit::Number,
        make: |facts, _| Some(facts.script?.errors as f64),
    },
];

/// CPU time of scripts as a share of that of the worker threads, in the whole run.
#[expect(clippy::cast_precision_loss, reason = "a share for people")]
fn script_cpu(facts: &RunFacts, end: &RunEnd) -> Option<f64> {
    let script = facts.script?.cpu.as_nanos() as f64;
    let all: u64 = end.worker_cpu_ns.iter().sum();
    (all > 0).then(|| (script / all as f64).min(1.0))
}

/// A time as a share of the run; `None` if the script's interpreter has no lock.
fn of_run(time: Duration, facts: &RunFacts, end: &RunEnd) -> Option<f64> {
    let whole = end.ended.duration().as_secs_f64();
    let has_lock = !facts.script?.lock_held.is_zero();
    (has_lock && whole > 0.0).then(|| (time.as_secs_f64() / whole).min(1.0))
}

/// A declared figure with its value, part of the result document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeclaredFigure {
    /// Name in requirements.
    pub name: String,
    /// Title in reports and on the page.
    pub title: String,
    /// Unit of the value.
    pub unit: FigureUnit,
    /// Value in `unit`; `None` if the run did not measure it.
    pub value: Option<f64>,
}

impl DeclaredFigure {
    /// The figures of a run: those read from its seconds, and those computed at its end.
    pub(super) fn all(metrics: &[RunMetric], facts: &RunFacts, end: &RunEnd) -> Vec<Self> {
        let figure = |metric: &RunMetric| Self {
            name: metric.name.to_owned(),
            title: metric.title.to_owned(),
            unit: metric.unit,
            value: (metric.make)(facts, end).filter(|value| value.is_finite()),
        };
        facts.figures.iter().cloned().chain(metrics.iter().map(figure)).collect()
    }
}
