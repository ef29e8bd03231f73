//! Requirements of a run: `nopm >= 50000`, `new_order.p95 < 10ms`, `failures < 0.1%`. They are
//! parsed before the run starts, so that a mistyped name is reported first, and evaluated on the
//! result document, so that a stored job can be checked later against other requirements. Meanwhile
//! [`SoFar`] evaluates them on the seconds of the timed window so far.

mod metric;
mod of_node;
mod of_second;
mod parse;
mod so_far;

use std::fmt;

use triphammer_core::SpecError;
use triphammer_settings::{REPEATED, Settings};

use crate::judgement::{Judgement, NOTHING_REQUIRED, Operator, REQUIRE};
pub use metric::{Metric, Vocabulary};
pub use parse::parse;
pub use so_far::SoFar;

use crate::document::JobDocument as _;
use crate::result::RunResult;

/// A condition on one metric of a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    /// The requirement as written: `new_order.p95 < 10ms`.
    pub text: String,
    /// The metric.
    pub metric: Metric,
    /// How the value is compared with the limit.
    pub operator: Operator,
    /// The limit, in the unit of the metric.
    pub limit: f64,
}

/// Reads the requirements from the settings.
///
/// # Errors
/// When one is invalid: marks the position, and lists the known metrics.
pub fn from_settings(
    settings: &mut Settings,
    vocabulary: &Vocabulary,
) -> Result<Vec<Requirement>, SpecError> {
    read(settings, REQUIRE, vocabulary)
}

/// Reads conditions that are evaluated in every second of a run.
///
/// # Errors
/// When one is invalid, or its metric has no value per second.
pub fn of_seconds(
    settings: &mut Settings,
    name: &'static str,
    vocabulary: &Vocabulary,
) -> Result<Vec<Requirement>, SpecError> {
    let conditions = read(settings, name, vocabulary)?;
    match conditions.iter().find(|condition| !condition.metric.is_of_seconds()) {
        None => Ok(conditions),
        Some(condition) => {
            let message = format!(
                "--{name} {condition}: {} has no value per second; use the throughput, failures, \
                 retries or times of transactions, such as `all.p95 > 100ms`",
                condition.metric.name()
            );
            Err(SpecError::new(message).about(name))
        }
    }
}

fn read(
    settings: &mut Settings,
    name: &'static str,
    vocabulary: &Vocabulary,
) -> Result<Vec<Requirement>, SpecError> {
    let show = |requirements: &Vec<Requirement>| {
        let texts: Vec<_> = requirements.iter().map(|r| r.text.as_str()).collect();
        if texts.is_empty() { NOTHING_REQUIRED.to_owned() } else { texts.join(REPEATED) }
    };
    settings.read_or(name, |text| parse(text, vocabulary), show, Vec::new)
}

/// Evaluates a result; replaces earlier requirements.
pub fn judge(result: &mut RunResult, requirements: &[Requirement]) {
    result.requirements = requirements.iter().map(|required| required.judge(result)).collect();
    result.judge();
}

impl Requirement {
    /// Compares the value of a run with the limit. A value that was not measured fails.
    #[must_use]
    pub fn judge(&self, result: &RunResult) -> Judgement {
        self.judged(self.metric.read(result))
    }

    /// Compares a value with the limit.
    fn judged(&self, value: Option<f64>) -> Judgement {
        Judgement {
            requirement: self.text.clone(),
            metric: self.metric.name().to_owned(),
            operator: self.operator,
            limit: self.limit,
            unit: self.metric.unit(),
            value,
            difference: value.map(|value| value - self.limit),
            passed: value.is_some_and(|value| self.operator.holds(value, self.limit)),
        }
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
