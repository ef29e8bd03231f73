//! What a run is required to reach: `nopm >= 50000`, `new_order.p95 < 10ms`, `failures < 0.1%`. Read before
//! the run starts, so that a mistyped name costs no run; judged on the one result document, so that a
//! stored job can be judged later by other requirements.

mod metric;
mod parse;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use metric::{Metric, Unit, Vocabulary};
pub use parse::parse;

use triphammer_core::SpecError;

use crate::result::RunResult;
use crate::settings::{REPEATED, Settings};

/// A condition on one figure of a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    /// As it was written: `new_order.p95 < 10ms`.
    pub text: String,
    /// The figure.
    pub metric: Metric,
    /// How the figure is compared with the limit.
    pub operator: Operator,
    /// The limit, in the unit of the metric.
    pub limit: f64,
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the signs say it")]
pub enum Operator {
    #[serde(rename = "<")]
    Less,
    #[serde(rename = "<=")]
    AtMost,
    #[serde(rename = ">")]
    Greater,
    #[serde(rename = ">=")]
    AtLeast,
    #[serde(rename = "==")]
    Equal,
    #[serde(rename = "!=")]
    NotEqual,
}

impl Operator {
    /// Every operator; a longer sign stands before its beginning.
    pub const ALL: [Self; 6] =
        [Self::AtMost, Self::AtLeast, Self::Equal, Self::NotEqual, Self::Less, Self::Greater];

    /// As it is written.
    #[must_use]
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Greater => ">",
            Self::AtLeast => ">=",
            Self::Equal => "==",
            Self::NotEqual => "!=",
        }
    }

    /// Whether it holds.
    #[must_use]
    #[expect(clippy::float_cmp, reason = "`==` is what was asked for; counts are exact")]
    pub fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Self::Less => value < limit,
            Self::AtMost => value <= limit,
            Self::Greater => value > limit,
            Self::AtLeast => value >= limit,
            Self::Equal => value == limit,
            Self::NotEqual => value != limit,
        }
    }
}

/// A requirement after the run: part of the result document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// The requirement as it was written: `new_order.p95 < 10ms`.
    pub requirement: String,
    /// The figure's name: `new_order.p95`.
    pub metric: String,
    /// The comparison.
    pub operator: Operator,
    /// The limit, in `unit`.
    pub limit: f64,
    /// The unit of limit and value.
    pub unit: Unit,
    /// The figure, in `unit`; `None` when the run has none, and then the requirement fails.
    pub value: Option<f64>,
    /// `value - limit`, in `unit`.
    pub difference: Option<f64>,
    /// Whether the requirement holds.
    pub passed: bool,
}

/// The requirements among the settings.
///
/// # Errors
/// When one cannot be read: names the place, and the known metrics.
pub fn said(
    settings: &mut Settings,
    vocabulary: &Vocabulary,
) -> Result<Vec<Requirement>, SpecError> {
    let show = |requirements: &Vec<Requirement>| {
        let texts: Vec<_> = requirements.iter().map(|r| r.text.as_str()).collect();
        if texts.is_empty() { "none".to_owned() } else { texts.join(REPEATED) }
    };
    settings.read("require", |text| parse(text, vocabulary), show, Vec::new)
}

impl Requirement {
    /// Compares the figure of a run with the limit. What was not measured passes no requirement.
    #[must_use]
    pub fn judge(&self, result: &RunResult) -> Judgement {
        let value = self.metric.read(result);
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
