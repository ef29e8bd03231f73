//! The outcome of a requirement, as contained in documents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::unit::FigureUnit;

/// The setting of the requirements of a run.
pub(crate) const REQUIRE: &str = "require";
/// Its value without any.
pub(crate) const NOTHING_REQUIRED: &str = "none";

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// All operators; longer ones come before their prefixes.
    pub const ALL: [Self; 6] =
        [Self::AtMost, Self::AtLeast, Self::Equal, Self::NotEqual, Self::Less, Self::Greater];

    /// Symbol in requirements: `>=`.
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

    /// Whether the comparison is true.
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

/// The outcome of a requirement, part of the result document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Judgement {
    /// The requirement as written: `new_order.p95 < 10ms`.
    pub requirement: String,
    /// Name of the metric: `new_order.p95`.
    pub metric: String,
    /// The comparison operator.
    pub operator: Operator,
    /// The limit, in `unit`.
    pub limit: f64,
    /// Unit of limit and value.
    pub unit: FigureUnit,
    /// Measured value, in `unit`; `None` if the run has none, and then the requirement fails.
    pub value: Option<f64>,
    /// `value - limit`, in `unit`.
    pub difference: Option<f64>,
    /// Whether the requirement is met.
    pub passed: bool,
}
