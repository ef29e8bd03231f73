//! What a requirement comes to, as it stands in documents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a figure counts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// A count or a rate.
    Number,
    /// From 0 to 1.
    Share,
    /// A time in microseconds.
    Us,
}

/// A comparison.
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
