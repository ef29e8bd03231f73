//! Whether B is faster than A, slower, the same within a margin, or not yet known.
//!
//! The figure is the ratio B over A, on a logarithmic scale: noise of throughput and of times is a share of
//! them, and a ratio does not depend on the unit.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::Interval;

/// Difference that does not matter, as a share.
pub const MARGIN: f64 = 0.02;
/// Most pairs (or runs a side) that are ever proposed.
pub const PAIRS_MAX: u32 = 1_000;

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Throughput.
    Higher,
    /// Times.
    Lower,
}

/// B against A.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// B over A: the geometric mean ratio. 1.05 is 5 % more.
    pub ratio: f64,
    /// 95 % interval of the ratio.
    pub interval: Interval,
    /// Difference that does not matter, as a share.
    pub margin: f64,
    /// Which way is better.
    pub better: Better,
    /// What the interval was made from.
    pub basis: Basis,
    /// What it says of B.
    pub verdict: Verdict,
}

/// What an interval was made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Basis {
    /// Pairs of runs: paired t on the logarithms of their ratios.
    Pairs {
        /// How many.
        pairs: usize,
    },
    /// Runs of A and of B without an order: Welch's t on logarithms.
    Runs {
        /// Of A.
        a: usize,
        /// Of B.
        b: usize,
    },
    /// One run each, from their series. What differs from run to run is not in the interval, so that it
    /// is the narrowest that may be claimed.
    Series {
        /// Points of A.
        a: usize,
        /// Points of B.
        b: usize,
    },
}

/// What a comparison says of B, decided in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Verdict {
    /// The whole interval is within the margin.
    Equivalent,
    /// The interval excludes 1 and the ratio is beyond the margin, on the worse side.
    Slower,
    /// The same on the better side.
    Faster,
    /// Neither.
    Inconclusive {
        /// What would settle it if ratio and noise stay as they are; `None` when nothing reasonable would.
        more: Option<More>,
    },
}

/// How much more to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum More {
    /// This many more pairs.
    Pairs {
        /// At least 1.
        pairs: u32,
    },
    /// This many more runs of each.
    Runs {
        /// At least 1.
        runs: u32,
    },
    /// This many more points (commonly seconds) of each series.
    Points {
        /// At least 1.
        points: usize,
    },
}

/// Why two samples cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompareError {
    /// Fewer than two pairs, or fewer than two runs of one side.
    #[error("a comparison needs two runs or more of each side")]
    TooFew,
    /// A figure is NaN, infinite, 0 or less.
    #[error("a figure is not a positive finite number")]
    NotPositive,
    /// A series is too short for an interval of its mean, see [`crate::series`].
    #[error("a run is too short to compare it alone")]
    TooShort,
    /// The margin is not a share from 0 to 1.
    #[error("a margin lies between 0 and 1")]
    Margin,
}

/// Compares runs made in pairs (a, b) that lie side by side in time, such as A B B A.
///
/// # Errors
/// With fewer than two pairs, a figure that is not positive, or a margin outside 0 to 1.
pub fn pairs(
    pairs: &[(f64, f64)],
    better: Better,
    margin: f64,
) -> Result<Comparison, CompareError> {
    todo!()
}

/// Compares runs of A with runs of B that were made apart.
///
/// # Errors
/// With fewer than two runs on a side, a figure that is not positive, or a margin outside 0 to 1.
pub fn runs(a: &[f64], b: &[f64], better: Better, margin: f64) -> Result<Comparison, CompareError> {
    todo!()
}

/// Compares one run of A with one of B from their series of one figure an interval, without warm-up.
///
/// # Errors
/// When a series is too short, its mean is not positive, or the margin is outside 0 to 1.
pub fn series(
    a: &[f64],
    b: &[f64],
    better: Better,
    margin: f64,
) -> Result<Comparison, CompareError> {
    todo!()
}
