//! The Universal Scalability Law (N. J. Gunther, "Guerrilla Capacity Planning", Springer 2007,
//! chapter 4):
//!
//! ```text
//! X(N) = λ N / (1 + σ (N - 1) + κ N (N - 1))
//! ```
//!
//! with N virtual users, throughput X, λ the throughput of one, σ the contention, κ the coherency.
//!
//! Fitted by least squares on the logarithm of throughput. Intervals are those of the delta method
//! with Student's t (Seber and Wild, "Nonlinear Regression", Wiley 1989, chapter 5), on a
//! logarithmic scale for λ and the peak; in the simulations of the tests they cover the true values
//! in 93 to 98 %.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use self::least_squares::{Matrix, Problem, Solution, Vector, inverse};
use crate::distribution::{f_tail, t_975, t_two_sided};
use crate::numbers::{finite, mean, scaled, size, squares};
use crate::{Estimate, Interval};

mod least_squares;

/// Minimum number of different levels for a curve.
pub const LEVELS_MIN: usize = 3;
/// Share of the greatest throughput from which a profile is saturated.
pub const SATURATED: f64 = 0.95;
/// Minimum decline that counts, as a share of the greatest throughput.
const DECLINE_MIN: f64 = 0.01;
/// Probability of such a decline by chance, in any of the levels above the best.
const DECLINE_CHANCE: f64 = 0.01;
/// Minimum standard deviation of repeats, as a share: repeats that are equal by chance, or because
/// of rounding, are not exact.
const SCATTER_MIN: f64 = 0.001;
/// Minimum share of linear scaling above which nothing limits yet.
pub const EFFICIENCY_MIN: f64 = 0.8;

/// One measurement: repeats of a level are separate points, so levels are weighted by their
/// repeats.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Number of virtual users, from 1.
    pub users: u32,
    /// Throughput, in any unit, above 0.
    pub throughput: f64,
}

/// A law fitted to a profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// λ: throughput of one virtual user.
    pub lambda: Estimate,
    /// σ: share of the work that is serialised, from 0 to 1.
    pub sigma: Estimate,
    /// κ: cost of coherency between pairs of users, from 0.
    pub kappa: Estimate,
    /// Share of the variance of throughput that the curve explains; `None` if there is no variance.
    /// Can be below 0, for a curve that is worse than the mean.
    pub r_squared: Option<f64>,
    /// Root mean square of the residuals of the logarithm: approximately a share of the throughput.
    pub residual: f64,
    /// Each point's throughput over the fitted one, minus 1; in the order of the points.
    pub residuals: Vec<f64>,
}

/// Result of a profile of throughput by levels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scalability {
    /// The law with all three parameters.
    pub usl: Fit,
    /// Amdahl's law for comparison: κ = 0.
    pub amdahl: Fit,
    /// Probability that κ = 0 explains the points as well; `None` without degrees of freedom.
    pub kappa_p_value: Option<f64>,
    /// Probability of levels at least this far from the curve if it were the law, given the scatter
    /// of the repeats; `None` without repeats or with 3 levels.
    pub misfit_p_value: Option<f64>,
    /// Where throughput is greatest.
    pub peak: Peak,
    /// Share of linear scaling that remains at the judged level: X(N) / (λ N).
    pub efficiency: f64,
    /// σ (N - 1) at the judged level: time lost to contention, in units of the work itself.
    pub contention_loss: f64,
    /// κ N (N - 1) at the judged level: time lost to coherency, in units of the work itself.
    pub coherency_loss: f64,
    /// The level at which the losses are judged: the peak if it is reached, else the highest level.
    pub judged_at: f64,
    /// What limits throughput at the judged level.
    pub limit: ScalabilityLimit,
}

/// Where throughput is greatest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Peak {
    /// The levels pass the peak: the curve has it below the highest level, and a higher level
    /// measured certainly less.
    Reached {
        /// Virtual users at the peak: N* = √((1 - σ) / κ), at least 1.
        users: Estimate,
        /// Throughput at the peak: X(N*).
        throughput: Estimate,
    },
    /// Throughput stopped growing and did not decline: there is no peak to find in these levels.
    Saturated {
        /// Lowest level with at least 95 % of the greatest throughput.
        users: u32,
        /// Mean throughput of the levels from there on.
        throughput: f64,
        /// Highest level measured, at least twice `users`.
        highest: u32,
    },
    /// The levels do not pass the peak, or not certainly.
    NotReached {
        /// Highest level that was measured.
        highest: u32,
        /// Where the curve places the peak, as a guess; `None` if it has none (κ = 0).
        predicted_users: Option<f64>,
    },
}

/// What limits throughput at the judged level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "UslLimit")]
pub enum ScalabilityLimit {
    /// σ: users wait for one another.
    Contention,
    /// κ: users pay for coherency with one another.
    Coherency,
    /// Throughput still grows almost linearly with the users.
    NeitherYet,
}

/// Why there is no fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum UslError {
    /// There are too few different levels.
    #[error("a scalability curve needs {LEVELS_MIN} different levels, got {levels}")]
    TooFewLevels {
        /// Number of different levels given.
        levels: usize,
    },
    /// A throughput is NaN or infinite.
    #[error("the throughput at {users} virtual users is not a finite number")]
    NotFinite {
        /// Level of the throughput.
        users: u32,
    },
    /// A throughput is 0 or less.
    #[error("the throughput at {users} virtual users must be above 0")]
    NotPositive {
        /// Level of the throughput.
        users: u32,
    },
    /// A level of 0 users.
    #[error("a level must have at least one virtual user")]
    NoUsers,
}

impl Fit {
    /// Throughput that the law predicts for a number of virtual users.
    #[must_use]
    pub fn throughput(&self, users: f64) -> f64 {
        let divisor = 1.0 + (self.sigma.value + self.kappa.value * users) * (users - 1.0);
        finite(self.lambda.value * users / divisor)
    }
}

/// Fits the law to a profile.
///
/// # Errors
/// When there are fewer than [`LEVELS_MIN`] levels, or a point is not a positive finite number.
pub fn fit(points: &[Point]) -> Result<Scalability, UslError> {
    let levels = levels(points)?;
    let highest = f64::from(*levels.last().expect("there are at least three levels"));
    let problem = Problem::new(points, highest);
    let (full, amdahl) = (problem.solve(true), problem.solve(false));
    let misfit = misfit(points, &levels, full.squares);
    let n = size(points.len());
    let usl = Law::new(&full, highest, misfit.noise(full.squares, n - 3.0), true);
    let beside = Law::new(&amdahl, highest, misfit.noise(amdahl.squares, n - 2.0), false);
    let measured = Measured::new(points, &levels, misfit.scatter(full.squares, n - 3.0));
    let peak = match usl.peak(highest) {
        peak if measured.declines() => peak,
        peak => measured.saturated().unwrap_or_else(|| peak.unsure(highest)),
    };
    let judged_at = match peak {
        Peak::Reached { users, .. } => users.value,
        Peak::Saturated { .. } | Peak::NotReached { .. } => highest,
    };
    let contention_loss = usl.sigma * (judged_at - 1.0);
    let coherency_loss = usl.kappa * judged_at * (judged_at - 1.0);
    let efficiency = 1.0 / (1.0 + contention_loss + coherency_loss);
    Ok(Scalability {
        kappa_p_value: (n > 3.0).then(|| {
            let gained = amdahl.squares - full.squares;
            f_tail(gained / (full.squares / (n - 3.0)), 1.0, n - 3.0)
        }),
        misfit_p_value: misfit.p_value,
        usl: usl.fit(points, &problem, &full),
        amdahl: beside.fit(points, &problem, &amdahl),
        peak,
        efficiency,
        contention_loss,
        coherency_loss,
        judged_at,
        limit: match (efficiency, contention_loss >= coherency_loss) {
            (kept, _) if kept >= EFFICIENCY_MIN => ScalabilityLimit::NeitherYet,
            (_, true) => ScalabilityLimit::Contention,
            (_, false) => ScalabilityLimit::Coherency,
        },
    })
}

/// The different levels, ascending, of points that can be fitted.
fn levels(points: &[Point]) -> Result<Vec<u32>, UslError> {
    for &Point { users, throughput } in points {
        if users == 0 {
            return Err(UslError::NoUsers);
        } else if !throughput.is_finite() {
            return Err(UslError::NotFinite { users });
        } else if throughput <= 0.0 {
            return Err(UslError::NotPositive { users });
        }
    }
    let levels: BTreeSet<u32> = points.iter().map(|point| point.users).collect();
    if levels.len() < LEVELS_MIN {
        return Err(UslError::TooFewLevels { levels: levels.len() });
    }
    Ok(levels.into_iter().collect())
}

/// Whether the levels are farther from the curve than their repeats from each other (Draper and
/// Smith, "Applied Regression Analysis", section 2.1).
struct Misfit {
    p_value: Option<f64>,
    /// If the misfit is certain: sum of squares of the repeats about their level's mean, and number
    /// of levels.
    sure: Option<(f64, f64)>,
    /// Variance of the logarithm of repeats; `None` without repeats.
    scatter: Option<Noise>,
}

/// Probability below which a misfit is certain.
const MISFIT_SURE: f64 = 0.01;

fn misfit(points: &[Point], levels: &[u32], squares_of_fit: f64) -> Misfit {
    let of_level = |level: &u32| {
        let repeats = points.iter().filter(|point| point.users == *level);
        squares(&repeats.map(|point| point.throughput.ln()).collect::<Vec<_>>())
    };
    let within: f64 = levels.iter().map(of_level).sum();
    let (repeats, free) = (size(points.len() - levels.len()), size(levels.len()) - 3.0);
    let variance = within.max(repeats * SCATTER_MIN.powi(2)) / repeats;
    let scatter = (repeats >= 1.0).then_some(Noise { variance, freedom: repeats });
    if repeats < 1.0 || free < 1.0 {
        return Misfit { p_value: None, sure: None, scatter };
    }
    let between = (squares_of_fit - within).max(0.0);
    let p_value = f_tail(between / free / variance, free, repeats);
    let sure = (p_value < MISFIT_SURE).then_some((within, size(levels.len())));
    Misfit { p_value: Some(p_value), sure, scatter }
}

/// Variance of a residual and its degrees of freedom.
#[derive(Clone, Copy)]
struct Noise {
    variance: f64,
    freedom: f64,
}

impl Misfit {
    /// How runs of one level scatter: as the repeats do or, without them, as the points about the
    /// curve.
    fn scatter(&self, squares: f64, freedom: f64) -> Option<Noise> {
        let about_curve = || {
            let variance = (squares / freedom).max(SCATTER_MIN.powi(2));
            (freedom >= 1.0).then_some(Noise { variance, freedom })
        };
        self.scatter.or_else(about_curve)
    }

    /// If the curve misses the levels, repeats do not make it more certain: the levels themselves
    /// are then the noise.
    fn noise(&self, squares: f64, freedom: f64) -> Option<Noise> {
        let (squares, freedom) = match self.sure {
            Some((within, levels)) => ((squares - within).max(0.0), levels - 3.0),
            None => (squares, freedom),
        };
        (freedom >= 1.0).then(|| Noise { variance: squares / freedom, freedom })
    }
}

impl Peak {
    /// Returns the peak as not reached: a peak that only the curve shows is a guess.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "was a u32")]
    fn unsure(self, highest: f64) -> Self {
        match self {
            Self::Reached { users, .. } => {
                Self::NotReached { highest: highest as u32, predicted_users: Some(users.value) }
            }
            other => other,
        }
    }
}

/// The findings from the levels without a curve.
struct Measured {
    levels: Vec<Mean>,
    /// Index of the level with the greatest throughput, the lowest of equals.
    best: usize,
    scatter: Option<Noise>,
}

/// The repeats of a level.
struct Mean {
    users: u32,
    /// Mean logarithm of throughput.
    ln: f64,
    repeats: f64,
}

impl Measured {
    fn new(points: &[Point], levels: &[u32], scatter: Option<Noise>) -> Self {
        let mean = |&users: &u32| {
            let repeats = points.iter().filter(|point| point.users == users);
            let logarithms: Vec<f64> = repeats.map(|point| point.throughput.ln()).collect();
            Mean { users, ln: mean(&logarithms), repeats: size(logarithms.len()) }
        };
        let levels: Vec<Mean> = levels.iter().map(mean).collect();
        let better = |best: usize, place: usize| {
            if levels[place].ln > levels[best].ln { place } else { best }
        };
        let best = (0..levels.len()).fold(0, better);
        Self { levels, best, scatter }
    }

    /// Whether a level above the best has certainly less: by more than runs scatter, and by more
    /// than nothing.
    fn declines(&self) -> bool {
        let Some(Noise { variance, freedom }) = self.scatter else { return false };
        let (best, above) = (&self.levels[self.best], &self.levels[self.best + 1..]);
        above.iter().any(|level| {
            let less = best.ln - level.ln;
            let error = (variance * (1.0 / best.repeats + 1.0 / level.repeats)).sqrt();
            // Any two of the levels may look like that.
            let pairs = size(above.len() * self.levels.len());
            let chance = t_two_sided(less / error, freedom) / 2.0 * pairs;
            less >= DECLINE_MIN && chance < DECLINE_CHANCE
        })
    }

    fn saturated(&self) -> Option<Peak> {
        let enough = self.levels[self.best].ln + SATURATED.ln();
        let from = self.levels.iter().position(|level| level.ln >= enough)?;
        let flat = &self.levels[from..];
        let (users, highest) = (flat.first()?.users, flat.last()?.users);
        if highest < users.saturating_mul(2) || flat.iter().any(|level| level.ln < enough) {
            return None;
        }
        let logarithms: Vec<f64> = flat.iter().map(|level| level.ln).collect();
        Some(Peak::Saturated { users, throughput: finite(mean(&logarithms).exp()), highest })
    }
}

/// A solution in the law's own parameters, with the basis of their errors.
struct Law {
    ln_lambda: f64,
    sigma: f64,
    kappa: f64,
    /// Variances and covariances of ln λ, σ, κ, and half the width of an interval in standard errors.
    errors: Option<(Matrix, f64)>,
}

impl Law {
    fn new(solution: &Solution, highest: f64, noise: Option<Noise>, kappa: bool) -> Self {
        let [ln_lambda, u, v] = solution.parameters;
        let units = [1.0, 1.0 / (highest - 1.0), 1.0 / (highest * (highest - 1.0))];
        let errors = noise.and_then(|noise| {
            let mut variance = inverse(solution.curvature, kappa)?;
            for (i, row) in variance.iter_mut().enumerate() {
                for (j, cell) in row.iter_mut().enumerate() {
                    *cell *= noise.variance * units[i] * units[j];
                }
            }
            Some((variance, t_975(noise.freedom)))
        });
        Self { ln_lambda, sigma: u * units[1], kappa: v * units[2], errors }
    }

    /// Half the interval of a combination of the parameters with these slopes.
    fn half_width(&self, slopes: Vector) -> Option<f64> {
        let (variance, width) = self.errors.as_ref()?;
        let cell = |i: usize, j: usize| slopes[i] * slopes[j] * variance[i][j];
        let sum: f64 = (0..9).map(|k| cell(k / 3, k % 3)).sum();
        Some(width * sum.max(0.0).sqrt())
    }

    fn estimate(&self, value: f64, slopes: Vector, most: f64) -> Estimate {
        let clip = |x: f64| x.clamp(0.0, most);
        let interval = self
            .half_width(slopes)
            .map(|half| Interval { low: clip(value - half), high: clip(value + half) });
        Estimate { value, interval }
    }

    /// Estimate of e to the power of `value`.
    fn exponential(&self, value: f64, slopes: Vector) -> Estimate {
        let interval = self.half_width(slopes).map(|half| Interval {
            low: finite((value - half).exp()),
            high: finite((value + half).exp()),
        });
        Estimate { value: finite(value.exp()), interval }
    }

    fn peak(&self, highest: f64) -> Peak {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "was a u32")]
        let not = |predicted_users| Peak::NotReached { highest: highest as u32, predicted_users };
        if self.kappa <= 0.0 {
            return not(None);
        }
        let kept = (1.0 - self.sigma).max(self.kappa); // so that N* is at least 1
        let at = (kept / self.kappa).sqrt();
        let users = self.exponential(at.ln(), [0.0, -0.5 / kept, -0.5 / self.kappa]);
        let last = users.interval.map_or(at, |interval| interval.high);
        if last > highest || at >= highest {
            return not(Some(finite(at)));
        }
        let divisor = 1.0 + (self.sigma + self.kappa * at) * (at - 1.0);
        // The slope in N is 0 at the peak, so that only the parameters move X.
        let slopes = [1.0, -(at - 1.0) / divisor, -at * (at - 1.0) / divisor];
        let throughput = self.exponential(self.ln_lambda + at.ln() - divisor.ln(), slopes);
        Peak::Reached { users, throughput }
    }

    fn fit(&self, points: &[Point], problem: &Problem, solution: &Solution) -> Fit {
        let residuals = problem.residuals(solution.parameters);
        let residuals: Vec<f64> = residuals.map(|r| finite(r.exp_m1())).collect();
        let (throughputs, _) =
            scaled(&points.iter().map(|point| point.throughput).collect::<Vec<_>>());
        let missed = throughputs.iter().zip(&residuals).map(|(x, r)| (x - x / (1.0 + r)).powi(2));
        let (missed, about_mean): (f64, f64) = (missed.sum(), squares(&throughputs));
        Fit {
            lambda: self.exponential(self.ln_lambda, [1.0, 0.0, 0.0]),
            sigma: self.estimate(self.sigma, [0.0, 1.0, 0.0], 1.0),
            kappa: self.estimate(self.kappa, [0.0, 0.0, 1.0], f64::MAX),
            r_squared: (about_mean > 0.0).then(|| finite(1.0 - missed / about_mean)),
            residual: (solution.squares / size(points.len())).sqrt(),
            residuals,
        }
    }
}

#[cfg(test)]
mod tests;
