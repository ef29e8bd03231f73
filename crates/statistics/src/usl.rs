//! The Universal Scalability Law (N. J. Gunther, "Guerrilla Capacity Planning", Springer 2007, chapter 4):
//!
//! ```text
//! X(N) = λ N / (1 + σ (N - 1) + κ N (N - 1))
//! ```
//!
//! with N virtual users, throughput X, λ the throughput of one, σ the contention, κ the coherency.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{Estimate, Interval};

/// Fewest different levels that a curve is fitted to.
pub const LEVELS_MIN: usize = 3;
/// Share of linear scaling that is kept: above it nothing limits yet.
pub const EFFICIENCY_MIN: f64 = 0.8;

/// One measurement: repeats of a level are points of their own, so that levels weigh by their repeats.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Virtual users, from 1.
    pub users: u32,
    /// Throughput, in any unit, above 0.
    pub throughput: f64,
}

/// A fitted law.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// λ: throughput of one virtual user.
    pub lambda: Estimate,
    /// σ: share of the work that is done one at a time, from 0 to 1.
    pub sigma: Estimate,
    /// κ: cost of agreeing between pairs of users, from 0.
    pub kappa: Estimate,
    /// Share of the variance of throughput that the curve explains; `None` when there is none. Can be
    /// below 0, for a curve that is worse than the mean.
    pub r_squared: Option<f64>,
    /// Root mean square of the residuals, as a share of the fitted throughput.
    pub residual: f64,
    /// Each point's throughput over the fitted one, less 1; in the order of the points.
    pub residuals: Vec<f64>,
}

/// What a profile of throughput by levels says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scalability {
    /// The law with all three parameters.
    pub usl: Fit,
    /// Amdahl's law beside it: κ = 0.
    pub amdahl: Fit,
    /// Chance that κ = 0 explains the points as well; `None` without degrees of freedom.
    pub kappa_p_value: Option<f64>,
    /// Chance of levels as far from the curve if it were the law, from the scatter of the repeats; `None`
    /// without repeats or with 3 levels.
    pub misfit_p_value: Option<f64>,
    /// Where throughput is greatest.
    pub peak: Peak,
    /// Share of linear scaling kept at the judged level: X(N) / (λ N).
    pub efficiency: f64,
    /// σ (N - 1) at the judged level: time lost to contention, in units of the work itself.
    pub contention_loss: f64,
    /// κ N (N - 1) at the judged level.
    pub coherency_loss: f64,
    /// The level that the losses are judged at: the peak where it is reached, else the highest level.
    pub judged_at: f64,
    /// What limits.
    pub limit: Limit,
}

/// Where throughput is greatest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Peak {
    /// The levels pass it.
    Reached {
        /// N* = √((1 - σ) / κ), at least 1.
        users: Estimate,
        /// X(N*).
        throughput: Estimate,
    },
    /// The levels do not pass it, or not surely.
    NotReached {
        /// Highest level measured.
        highest: u32,
        /// Where the curve puts it, as a guess; `None` when it has none (κ = 0).
        predicted_users: Option<f64>,
    },
}

/// What limits throughput at the judged level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// σ: users wait for one another.
    Contention,
    /// κ: users pay for agreeing with one another.
    Coherency,
    /// Throughput still grows nearly with the users.
    NeitherYet,
}

/// Why there is no fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum UslError {
    /// Too few different levels.
    #[error("a scalability curve needs {LEVELS_MIN} different levels, there are {levels}")]
    TooFewLevels {
        /// Different levels given.
        levels: usize,
    },
    /// A throughput is NaN or infinite.
    #[error("the throughput at {users} virtual users is not a finite number")]
    NotFinite {
        /// Its level.
        users: u32,
    },
    /// A throughput is 0 or less.
    #[error("the throughput at {users} virtual users is not above 0")]
    NotPositive {
        /// Its level.
        users: u32,
    },
    /// A level of 0 users.
    #[error("a level has no virtual users")]
    NoUsers,
}

impl Fit {
    /// Throughput that the law gives for a number of virtual users.
    #[must_use]
    pub fn throughput(&self, users: f64) -> f64 {
        todo!()
    }
}

/// Fits the law to a profile.
///
/// # Errors
/// When there are fewer than [`LEVELS_MIN`] levels, or a point is not a positive finite number.
pub fn fit(points: &[Point]) -> Result<Scalability, UslError> {
    todo!()
}
