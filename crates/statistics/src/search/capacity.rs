//! The highest rate of an open load at which a percentile stays under a limit: probabilistic bisection
//! (Horstein 1963; Waeber, Frazier and Henderson, "Bisection search with noisy responses", SIAM J. Control
//! Optim. 51, 2013).

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{Estimate, Interval};

/// Bounds of a search for capacity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CapacityPlan {
    /// First rate, in transactions a second, above 0.
    pub first: f64,
    /// Lowest rate that may be tried: when it is not ok, nothing is.
    pub lowest: f64,
    /// Highest rate that may be tried.
    pub highest: f64,
    /// The search ends when half the interval over the rate is this or less: 0.05 is ± 5 %.
    pub precision: f64,
    /// Most runs that are made.
    pub runs_max: usize,
}

/// What a run at a rate showed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Answer {
    /// Under the limit or not, and nothing more.
    Ok {
        /// Under the limit.
        ok: bool,
    },
    /// The percentile, its interval where there is one, and the limit, all in one unit.
    Measured {
        /// What was measured.
        value: Estimate,
        /// What it must not exceed.
        limit: f64,
    },
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Step {
    /// Run at this rate.
    Run {
        /// Transactions a second.
        rate: f64,
    },
    /// The search has ended.
    Done(Judgement),
}

/// What a search found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum Judgement {
    /// The capacity.
    Found {
        /// Highest rate that is ok, transactions a second.
        rate: f64,
        /// 95 % interval of it.
        interval: Interval,
        /// The precision was reached; otherwise the runs were used up.
        precise: bool,
    },
    /// Even the lowest rate is not ok.
    NeverOk {
        /// The lowest rate.
        lowest: f64,
    },
    /// Even the highest rate is ok.
    AlwaysOk {
        /// The highest rate.
        highest: f64,
    },
}

/// Why a search cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CapacityError {
    /// Not 0 < lowest ≤ first ≤ highest, all finite.
    #[error("rates must be above 0, with the lowest, the first and the highest in this order")]
    Rates,
    /// The precision is not between 0 and 1.
    #[error("the precision lies between 0 and 1")]
    Precision,
}

/// The search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Capacity {
    plan: CapacityPlan,
}

impl Capacity {
    /// A search with nothing told.
    ///
    /// # Errors
    /// When the plan's rates are not in order or its precision is not between 0 and 1.
    pub fn new(plan: CapacityPlan) -> Result<Self, CapacityError> {
        todo!()
    }

    /// What to do next. Asking does not change it.
    #[must_use]
    pub fn next(&self) -> Step {
        todo!()
    }

    /// Takes what a run at a rate showed. The rate need not be the one that was asked for.
    pub fn tell(&mut self, rate: f64, answer: Answer) {
        todo!()
    }
}
