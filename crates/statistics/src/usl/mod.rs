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
use crate::distribution::{NORMAL_975, f_tail, t_975, t_two_sided};
use crate::numbers::{finite, mean, scaled, size, squares};
use crate::{Estimate, Interval};

mod least_squares;

/// Minimum number of different levels for a curve.
pub const LEVELS_MIN: usize = 3;
/// Share of the greatest throughput from which a profile is saturated.
pub const SATURATED: f64 = 0.95;
/// Minimum decline that counts, as a share of the greatest throughput.
const DECLINE_MIN: f64 = 0.01;
/// Probability of such a decline by chance, whichever level is the best.
const DECLINE_CHANCE: f64 = 0.01;
/// Probability that the best level is not among those that are reported as the best.
const BEST_CHANCE: f64 = 0.05;
/// Assumed standard deviation of runs of one level, as a share, where each level was run once: what
/// the seconds of a run show does not include how much runs vary.
pub const SINGLE_RUN: f64 = 0.03;
/// Degrees of freedom of an assumed variance.
const ASSUMED: f64 = 1e5;
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
    /// The levels pass the peak: the curve has it at the best of them, and the highest level
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
    /// The levels pass the peak, but the curve does not describe them: the levels are farther
    /// from it than runs vary, or its peak is not at the best of them.
    BestLevels {
        /// Lowest level whose throughput cannot be distinguished from the greatest.
        lowest: u32,
        /// Highest such level, below the highest measured.
        highest: u32,
        /// The level with the greatest mean throughput.
        best: u32,
        /// Its mean throughput.
        throughput: f64,
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
    fit_runs(points, &[])
}

/// Fits the law to a profile. `own` has the 95 % interval of each point from the run itself, in
/// their order, as far as it is known: with a single run per level, it bounds what chance explains.
///
/// # Errors
/// As [`fit`].
pub fn fit_runs(points: &[Point], own: &[Option<Interval>]) -> Result<Scalability, UslError> {
    let levels = levels(points)?;
    let highest = f64::from(*levels.last().expect("there are at least three levels"));
    let problem = Problem::new(points, highest);
    let (full, amdahl) = (problem.solve(true), problem.solve(false));
    let misfit = misfit(points, &levels, full.squares);
    let n = size(points.len());
    let usl = Law::new(&full, highest, misfit.noise(full.squares, n - 3.0), true);
    let beside = Law::new(&amdahl, highest, misfit.noise(amdahl.squares, n - 2.0), false);
    let measured = LevelMeans::new(points, own, &levels, misfit.scatter(full.squares, n - 3.0));
    let residuals: Vec<f64> = problem.residuals(full.parameters).collect();
    let describes = misfit.sure.is_none() && !measured.misses(points, &residuals);
    let peak = match usl.peak(highest) {
        Peak::Reached { users, throughput }
            if measured.declines() && describes && measured.is_best(users.value) =>
        {
            Peak::Reached { users, throughput }
        }
        _ if measured.declines() => measured.best_levels(),
        peak => measured.saturated().unwrap_or_else(|| peak.unsure(highest)),
    };
    let judged_at = match peak {
        Peak::Reached { users, .. } => users.value,
        Peak::BestLevels { best, .. } => f64::from(best),
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
struct LevelMeans {
    levels: Vec<Mean>,
    /// Index of the level with the greatest throughput, the lowest of equals.
    best: usize,
    /// Degrees of freedom of the levels' variances; `None` if these are unknown.
    freedom: Option<f64>,
    /// Whether the variances are those of the runs' own intervals: one run per level.
    is_single: bool,
}

/// The repeats of a level.
struct Mean {
    users: u32,
    /// Mean logarithm of throughput.
    ln: f64,
    /// Variance of that mean.
    variance: f64,
}

impl LevelMeans {
    fn new(
        points: &[Point],
        own: &[Option<Interval>],
        levels: &[u32],
        scatter: Option<Noise>,
    ) -> Self {
        let own: Vec<Option<f64>> =
            (0..points.len()).map(|at| own.get(at).copied().flatten().and_then(of_run)).collect();
        let is_single = points.len() == levels.len() && own.iter().all(Option::is_some);
        let pooled = scatter.map_or(0.0, |noise| noise.variance);
        let mean = |&users: &u32| {
            let of_level = (0..points.len()).filter(|&at| points[at].users == users);
            let (places, logarithms): (Vec<usize>, Vec<f64>) =
                of_level.map(|at| (at, points[at].throughput.ln())).unzip();
            let repeats = size(logarithms.len());
            // Levels scatter differently: a level that scatters more has its own variance.
            let variance = match logarithms.len() {
                1 if is_single => own[places[0]].unwrap_or_default(),
                1 => pooled,
                _ => pooled.max(squares(&logarithms) / (repeats - 1.0)),
            };
            Mean { users, ln: mean(&logarithms), variance: variance / repeats }
        };
        let levels: Vec<Mean> = levels.iter().map(mean).collect();
        let better = |best: usize, place: usize| {
            if levels[place].ln > levels[best].ln { place } else { best }
        };
        let best = (0..levels.len()).fold(0, better);
        let freedom = if is_single { Some(ASSUMED) } else { scatter.map(|noise| noise.freedom) };
        Self { levels, best, freedom, is_single }
    }

    /// How much less a level has than the best, as a logarithm, and the probability of that by
    /// chance; `None` if it is unknown how much runs vary.
    fn less(&self, level: &Mean) -> Option<(f64, f64)> {
        let best = &self.levels[self.best];
        let (less, error) = (best.ln - level.ln, (best.variance + level.variance).sqrt());
        Some((less, t_two_sided(less / error, self.freedom?) / 2.0))
    }

    /// Whether the highest level has certainly less than the best: by more than runs scatter, and
    /// by more than nothing. A dip between higher levels is no decline.
    fn declines(&self) -> bool {
        let (Some(top), true) = (self.levels.last(), self.best + 1 < self.levels.len()) else {
            return false;
        };
        self.less(top).is_some_and(|(less, chance)| {
            // Any of the levels may be the best by chance.
            less >= DECLINE_MIN && chance * size(self.levels.len()) < DECLINE_CHANCE
        })
    }

    /// Indices of the lowest and the highest level that cannot be distinguished from the best
    /// (Hsu, Journal of Quality Technology 16, 1984, with Bonferroni's correction).
    fn like_the_best(&self) -> (usize, usize) {
        let others = size(self.levels.len() - 1);
        let is_like = |at: &usize| {
            *at == self.best
                || self.less(&self.levels[*at]).is_none_or(|(_, p)| p * others > BEST_CHANCE)
        };
        let first = (0..self.levels.len()).find(is_like).unwrap_or(self.best);
        let last = (0..self.levels.len()).rev().find(is_like).unwrap_or(self.best);
        (first, last)
    }

    /// Whether a number of users is among the best levels, or between them and their neighbours.
    fn is_best(&self, users: f64) -> bool {
        let (first, last) = self.like_the_best();
        let at = |place: usize| f64::from(self.levels[place].users);
        at(first.saturating_sub(1)) <= users
            && self.levels.get(last + 1).is_none_or(|above| users <= f64::from(above.users))
    }

    /// Whether single runs are farther from the curve, by their residuals, than their own intervals
    /// and the assumed scatter explain. Repeats have a test of their own.
    fn misses(&self, points: &[Point], residuals: &[f64]) -> bool {
        let free = size(self.levels.len()) - 3.0;
        if !self.is_single || free < 1.0 {
            return false;
        }
        let off = |(point, residual): (&Point, &f64)| {
            let level = self.levels.iter().find(|level| level.users == point.users);
            level.map_or(0.0, |level| residual.powi(2) / level.variance)
        };
        let squares: f64 = points.iter().zip(residuals).map(off).sum();
        f_tail(squares / free, free, ASSUMED) < MISFIT_SURE
    }

    fn best_levels(&self) -> Peak {
        let (first, last) = self.like_the_best();
        let best = &self.levels[self.best];
        Peak::BestLevels {
            lowest: self.levels[first].users,
            highest: self.levels[last].users,
            best: best.users,
            throughput: finite(best.ln.exp()),
        }
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

/// Variance of the logarithm of a single run's throughput, from its own interval and the assumed
/// scatter of runs; `None` if the interval is not one of a throughput.
fn of_run(own: Interval) -> Option<f64> {
    let error = (own.high / own.low).ln() / (2.0 * NORMAL_975);
    (own.low > 0.0 && error.is_finite()).then(|| error.powi(2) + SINGLE_RUN.powi(2))
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
