//! Metrics in the result of a run, as requirements name them.

use super::Metric;
use crate::result::{RunResult, TypeFigures};

/// How requirements name a metric, and its value in the result of a run.
#[derive(Clone, Copy, Debug)]
pub struct OfRun {
    /// Name in requirements: `sessions.lost`; of a metric of a transaction type, the part after the
    /// name of the type: `committed`.
    pub name: &'static str,
    /// A second name of a metric of a type for the total of all types: `tpm` for `all.per_minute`.
    pub of_all: Option<&'static str>,
    /// The part of the run that the value is about.
    pub part: Part,
    /// Source of the value.
    pub source: RunSource,
}

/// The part of a run that the value in its result is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of it, with ramp-up and drain.
    Run,
    /// The timed window.
    Window,
}

/// Source of a metric in the result of a run.
#[derive(Clone, Copy, Debug)]
pub enum RunSource {
    /// Of the run.
    Run(fn(&RunResult) -> Option<f64>),
    /// The metric itself, of the sum of the seconds of its part of the run. The document has it among
    /// its `figures`.
    SumOfSeconds,
    /// Of a transaction type, or of all types together, in the timed window.
    Type(fn(&TypeFigures) -> Option<f64>),
}

impl Metric {
    /// Names it in requirements, and reads its value in the result of a run.
    pub(super) const fn of_run(
        mut self,
        name: &'static str,
        part: Part,
        read: fn(&RunResult) -> Option<f64>,
    ) -> Self {
        self.of_run = Some(OfRun { name, of_all: None, part, source: RunSource::Run(read) });
        self
    }

    /// Names it in requirements. The document of a run has its value among its `figures`, under its
    /// title: that of the sum of its seconds.
    pub(super) const fn figure(mut self, name: &'static str, part: Part) -> Self {
        let source = RunSource::SumOfSeconds;
        self.of_run = Some(OfRun { name, of_all: None, part, source });
        self
    }

    /// Names a metric of a transaction type in requirements, and reads its value in the result.
    pub(super) const fn of_type_of_run(
        mut self,
        name: &'static str,
        read: fn(&TypeFigures) -> Option<f64>,
    ) -> Self {
        let source = RunSource::Type(read);
        self.of_run = Some(OfRun { name, of_all: None, part: Part::Window, source });
        self
    }

    /// Gives a metric of a transaction type a second name for the total of all types.
    pub(super) const fn named_of_all(mut self, name: &'static str) -> Self {
        if let Some(mut of_run) = self.of_run {
            of_run.of_all = Some(name);
            self.of_run = Some(of_run);
        }
        self
    }
}
