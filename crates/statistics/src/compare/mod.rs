//! Decides whether B is faster than A, slower, equal within a margin, or not yet known.
//!
//! The figure is the ratio B over A, on a logarithmic scale: noise of throughput and of times is
//! proportional to them, and a ratio does not depend on the unit. The margin is symmetric: 2 % is
//! from 1 / 1.02 to 1.02. Student's t on logarithms of ratios: Georges, Buytaert and Eeckhout,
//! OOPSLA 2007; Welch's t: Biometrika 34, 1947; equivalence by an interval within the margin:
//! Schuirmann 1987.
//!
//! Two runs that took place at once are compared by the ratios of short blocks ([`blocks`]): what
//! disturbs the host disturbs both sides, and blocks may depend on each other.
//!
//! By simulation of 7 pairs with 2 % autocorrelated noise (the tests): A against A is called slower
//! or faster in at most 6 %, a slowdown of 5 % is found in at least 90 %.

mod carry_over;
mod looks;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::Interval;
use crate::distribution::{freedom, t_975, t_missing, t_of_all};
use crate::numbers::{finite, length, mean, size, squares};
use crate::series::{interval_of_mean, summarise};

pub use carry_over::{FirstPoint, first_points};
pub use looks::Looks;

/// Maximum number of pairs (or runs per side) that are proposed.
pub const PAIRS_MAX: u32 = 1_000;

/// Minimum number of blocks of two runs at once: fewer say too little about their own scatter.
pub const BLOCKS_MIN: usize = 10;

/// Maximum number of points of a series that are proposed: about four months of seconds.
const POINTS_MAX: f64 = 1e7;

/// Direction in which values improve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Higher values, as of throughput.
    Higher,
    /// Lower values, as of times.
    Lower,
}

/// Result of comparing B with A.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// B over A: the geometric mean ratio. 1.05 is 5 % more.
    pub ratio: f64,
    /// 95 % interval of the ratio; wider if `together` is above 1.
    pub interval: Interval,
    /// Number of comparisons, this one included, whose intervals all contain the true ratios in 95
    /// %: that of a level is one of several.
    #[serde(default = "alone")]
    pub together: usize,
    /// Difference that does not matter, as a share.
    pub margin: f64,
    /// Direction in which values improve.
    pub better: Better,
    /// Data that the interval is based on.
    pub basis: Basis,
    /// Verdict on B, given interval and margin.
    pub verdict: Verdict,
}

const fn alone() -> usize {
    1
}

/// Data that an interval is based on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Basis {
    /// Pairs of runs: paired t on the logarithms of their ratios.
    Pairs {
        /// Number of pairs compared.
        pairs: usize,
    },
    /// Runs of A and of B in no particular order: Welch's t on logarithms.
    Runs {
        /// Number of runs of A.
        a: usize,
        /// Number of runs of B.
        b: usize,
    },
    /// One run each, from their series. The interval does not include variation between runs, so it
    /// is the narrowest that can be claimed.
    Series {
        /// Number of points of A.
        a: usize,
        /// Number of points of B.
        b: usize,
    },
    /// Two runs at once, from short blocks that both have: the mean of the logarithms of their
    /// ratios, whose interval allows for dependence between blocks. It contains what differs from
    /// block to block, and not what differs between one start of a server and the next.
    Blocks {
        /// Number of blocks.
        blocks: usize,
    },
}

/// Verdict of a comparison on B, decided in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[schemars(rename = "ComparisonVerdict")]
pub enum Verdict {
    /// The whole interval is within the margin.
    Equivalent,
    /// The interval excludes 1 and the ratio is beyond the margin, on the worse side.
    Slower,
    /// The interval excludes 1 and the ratio is beyond the margin, on the better side.
    Faster,
    /// None of the others.
    Inconclusive {
        /// Additional runs that would settle it if ratio and noise stay the same; `None` if nothing reasonable
        /// would.
        more: Option<More>,
    },
}

/// Amount of further measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum More {
    /// This many more pairs.
    Pairs {
        /// Number of pairs, at least 1.
        pairs: u32,
    },
    /// This many more runs of each.
    Runs {
        /// Number of runs, at least 1.
        runs: u32,
    },
    /// This many more points (commonly seconds) of each series.
    Points {
        /// Number of points, at least 1.
        points: usize,
    },
    /// This many more blocks of two runs at once.
    Blocks {
        /// Number of blocks, at least 1.
        blocks: usize,
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
    /// A series is too short for an interval of its mean; see [`crate::series`].
    #[error("a single run is too short to be compared: use a longer run, or several")]
    TooShort,
    /// Two runs at once have too few blocks.
    #[error("two runs at once need {BLOCKS_MIN} blocks or more: use a longer --duration")]
    FewBlocks,
    /// The margin is not between 0 and 1 (exclusive).
    #[error("the margin must be between 0 and 1")]
    Margin,
}

/// Compares runs made in pairs (a, b) that are adjacent in time, with either of them first.
///
/// # Errors
/// With fewer than two pairs, a figure that is not positive, or a margin outside 0 to 1.
pub fn pairs(
    pairs: &[(f64, f64)],
    better: Better,
    margin: f64,
) -> Result<Comparison, CompareError> {
    pairs_of_several(pairs, better, margin, 1)
}

/// Like [`pairs`], as one of several comparisons that decide `together`: the intervals are so wide
/// that all hold in 95 % (Bonferroni), whatever the errors have in common.
///
/// # Errors
/// As [`pairs`].
pub fn pairs_of_several(
    pairs: &[(f64, f64)],
    better: Better,
    margin: f64,
    together: usize,
) -> Result<Comparison, CompareError> {
    let ratios: Result<Vec<f64>, _> = pairs.iter().map(|&(a, b)| Ok(ln(b)? - ln(a)?)).collect();
    let ratios = ratios?;
    if ratios.len() < 2 {
        return Err(CompareError::TooFew);
    }
    let n = size(ratios.len());
    let basis = Basis::Pairs { pairs: ratios.len() };
    let variance = squares(&ratios) / (n - 1.0);
    let error = (variance / n).sqrt();
    let difference = Difference { ln_ratio: mean(&ratios), error, freedom: n - 1.0, together };
    difference.judge(better, margin, basis, |half_width| {
        let enough = |more: &u32| {
            let n = n + f64::from(*more);
            t_of_all(n - 1.0, together) * (variance / n).sqrt() <= half_width
        };
        first(enough).map(|pairs| More::Pairs { pairs })
    })
}

/// Compares runs of A with runs of B that were made separately.
///
/// # Errors
/// With fewer than two runs on a side, a figure that is not positive, or a margin outside 0 to 1.
pub fn runs(a: &[f64], b: &[f64], better: Better, margin: f64) -> Result<Comparison, CompareError> {
    let logarithms = |runs: &[f64]| runs.iter().map(|&run| ln(run)).collect::<Result<Vec<_>, _>>();
    let (ln_a, ln_b) = (logarithms(a)?, logarithms(b)?);
    if a.len() < 2 || b.len() < 2 {
        return Err(CompareError::TooFew);
    }
    let side = |ln: &[f64]| (squares(ln) / (size(ln.len()) - 1.0), size(ln.len()));
    let ((variance_a, n_a), (variance_b, n_b)) = (side(&ln_a), side(&ln_b));
    let welch = move |more: f64| {
        let (n_a, n_b) = (n_a + more, n_b + more);
        let (of_a, of_b) = (variance_a / n_a, variance_b / n_b);
        ((of_a + of_b).sqrt(), freedom((of_a, n_a - 1.0), (of_b, n_b - 1.0)))
    };
    let (error, freedom) = welch(0.0);
    let ln_ratio = mean(&ln_b) - mean(&ln_a);
    let difference = Difference { ln_ratio, error, freedom, together: 1 };
    difference.judge(better, margin, Basis::Runs { a: a.len(), b: b.len() }, |half_width| {
        let enough = |more: &u32| {
            let (error, freedom) = welch(f64::from(*more));
            t_975(freedom) * error <= half_width
        };
        first(enough).map(|runs| More::Runs { runs })
    })
}

/// Compares one run of A with one of B from their series of one figure per interval, without
/// warm-up. A drifting series is compared by its mean all the same: check its summary too.
///
/// # Errors
/// When a series is too short, its mean is not positive, or the margin is outside 0 to 1.
pub fn series(
    a: &[f64],
    b: &[f64],
    better: Better,
    margin: f64,
) -> Result<Comparison, CompareError> {
    let (a, b) = (Side::of(a)?, Side::of(b)?);
    let difference = Difference {
        ln_ratio: b.ln_mean - a.ln_mean,
        error: (a.variance + b.variance).sqrt(),
        freedom: freedom((a.variance, a.freedom), (b.variance, b.freedom)),
        together: 1,
    };
    let basis = Basis::Series { a: a.points, b: b.points };
    difference.judge(better, margin, basis, |half_width| {
        // The interval narrows with the square root of the length.
        let times = (t_975(difference.freedom) * difference.error / half_width).powi(2);
        let more = ((times - 1.0) * size(a.points.max(b.points))).ceil();
        (more <= POINTS_MAX).then(|| More::Points { points: length(more).max(1) })
    })
}

/// Compares two runs that took place at once, given the logarithm of the ratio B over A of each of
/// their blocks, in order. The interval is that of Student's t for independent blocks, or that of a
/// series with dependence between its points, whichever is wider. With looks, it is the one at the last
/// look, so wide that the intervals of all looks hold together in 95 %.
///
/// # Errors
/// With too few blocks, a ratio that is not finite, or a margin outside 0 to 1.
pub fn blocks(
    ln_ratios: &[f64],
    better: Better,
    margin: f64,
    looks: Option<Looks>,
) -> Result<Comparison, CompareError> {
    let (used, chance) = match looks {
        None => (ln_ratios.len(), 0.05),
        Some(looks) => looks.last(ln_ratios.len()).ok_or(CompareError::FewBlocks)?,
    };
    let ln_ratios = &ln_ratios[..used];
    let n = size(ln_ratios.len());
    if ln_ratios.len() < BLOCKS_MIN {
        return Err(CompareError::FewBlocks);
    }
    if ln_ratios.iter().any(|ratio| !ratio.is_finite()) {
        return Err(CompareError::NotPositive);
    }
    let ln_ratio = mean(ln_ratios);
    let half_width = t_missing(n - 1.0, chance) * (squares(ln_ratios) / (n - 1.0) / n).sqrt();
    let independent = Interval::around(ln_ratio, half_width);
    let interval = interval_of_mean(ln_ratios, chance).map_or(independent, |of_series| Interval {
        low: independent.low.min(of_series.low),
        high: independent.high.max(of_series.high),
    });
    let basis = Basis::Blocks { blocks: ln_ratios.len() };
    let spread = Spread { ln_ratio, interval, together: 1 };
    spread.judge(better, margin, basis, |target| {
        // The interval narrows with the square root of the length.
        let more = (((interval.half_width() / target).powi(2) - 1.0) * n).ceil();
        (more <= POINTS_MAX).then(|| More::Blocks { blocks: length(more).max(1) })
    })
}

/// The 95 % prediction interval of the ratio that another comparison of as many runs or pairs would
/// find: the estimate of either is off by its own error. `None` where the interval contains nothing
/// that differs from run to run.
#[must_use]
pub fn another(found: &Comparison) -> Option<Interval> {
    let is_of_runs = matches!(found.basis, Basis::Pairs { .. } | Basis::Runs { .. });
    if !is_of_runs || found.together > 1 || found.interval.low <= 0.0 {
        return None;
    }
    let half_width = (found.interval.high / found.interval.low).ln() / 2.0;
    let factor = (std::f64::consts::SQRT_2 * half_width).exp();
    let interval = Interval { low: found.ratio / factor, high: found.ratio * factor };
    interval.high.is_finite().then_some(interval)
}

/// One run's mean, on a logarithmic scale.
struct Side {
    points: usize,
    ln_mean: f64,
    /// Variance of `ln_mean`, by the delta method.
    variance: f64,
    freedom: f64,
}

impl Side {
    fn of(series: &[f64]) -> Result<Self, CompareError> {
        let summary = summarise(series);
        let ln_mean = if summary.points == 0 { 0.0 } else { ln(summary.mean)? };
        let (Some(error), Some(freedom)) = (summary.standard_error, summary.degrees_of_freedom)
        else {
            return Err(CompareError::TooShort);
        };
        let variance = (error / summary.mean).powi(2);
        Ok(Self { points: summary.points, ln_mean, variance, freedom })
    }
}

/// A ratio on a logarithmic scale and its standard error.
#[derive(Clone, Copy)]
struct Difference {
    ln_ratio: f64,
    error: f64,
    freedom: f64,
    /// Number of comparisons that decide together.
    together: usize,
}

impl Difference {
    /// Judges a difference; `more` computes what would bring the interval to a given half-width
    /// above 0.
    fn judge(
        self,
        better: Better,
        margin: f64,
        basis: Basis,
        more: impl Fn(f64) -> Option<More>,
    ) -> Result<Comparison, CompareError> {
        let half_width = t_of_all(self.freedom, self.together) * self.error;
        let interval = Interval::around(self.ln_ratio, half_width);
        let Self { ln_ratio, together, .. } = self;
        Spread { ln_ratio, interval, together }.judge(better, margin, basis, more)
    }
}

/// A ratio and its interval on a logarithmic scale.
#[derive(Clone, Copy)]
struct Spread {
    ln_ratio: f64,
    interval: Interval,
    /// Number of comparisons that decide together.
    together: usize,
}

impl Spread {
    /// Judges a ratio; `more` computes what would bring the interval to a given half-width above 0.
    /// The one rule for verdicts.
    fn judge(
        self,
        better: Better,
        margin: f64,
        basis: Basis,
        more: impl Fn(f64) -> Option<More>,
    ) -> Result<Comparison, CompareError> {
        if !(margin > 0.0 && margin < 1.0) {
            return Err(CompareError::Margin);
        }
        let (ln_margin, away) = (margin.ln_1p(), self.ln_ratio.abs());
        let Interval { low, high } = self.interval;
        let verdict = if low >= -ln_margin && high <= ln_margin {
            Verdict::Equivalent
        } else if (low > 0.0 || high < 0.0) && away > ln_margin {
            let more = self.ln_ratio > 0.0;
            if more == (better == Better::Higher) { Verdict::Faster } else { Verdict::Slower }
        } else if away > ln_margin {
            Verdict::Inconclusive { more: more(away) }
        } else {
            Verdict::Inconclusive { more: more(ln_margin - away) }
        };
        let ratio = |ln: f64| finite(ln.exp());
        Ok(Comparison {
            ratio: ratio(self.ln_ratio),
            interval: Interval { low: ratio(low), high: ratio(high) },
            together: self.together,
            margin,
            better,
            basis,
            verdict,
        })
    }
}

fn ln(figure: f64) -> Result<f64, CompareError> {
    if figure.is_finite() && figure > 0.0 {
        Ok(figure.ln())
    } else {
        Err(CompareError::NotPositive)
    }
}

/// The smallest number from 1 for which `enough` holds, by bisection; it must hold for all greater
/// ones.
fn first(enough: impl Fn(&u32) -> bool) -> Option<u32> {
    if !enough(&PAIRS_MAX) {
        return None;
    }
    let (mut short, mut reached) = (0, PAIRS_MAX);
    while reached - short > 1 {
        let middle = short.midpoint(reached);
        *(if enough(&middle) { &mut reached } else { &mut short }) = middle;
    }
    Some(reached)
}

#[cfg(test)]
mod tests;
