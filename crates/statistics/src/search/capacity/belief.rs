//! Probability of every rate to be the capacity, from the runs made so far.
//!
//! The model of a run is a queue's: a share a of the limit exists without any load, and the rest
//! grows as `(1 - a) / (1 - b (rate / capacity - 1))`. With a = 0 it is exact for one exponential
//! server. Neither a nor the slope b is known beforehand: any value from 0 to 0.85, and any from
//! 0.25 to 64 on a logarithmic scale, is equally likely. Runs lie around the curve with an error
//! that is
//!
//! - individual, given by their intervals, pooled over the runs near the limit: a run that was calm
//!   by chance has a low percentile and a narrow interval at the same time, and must not outweigh
//!   the others because of that. The pooled error counts as [`ERROR_FREEDOM`] observations, so that
//!   runs that scatter more widen it. Runs near the limit that have no interval have it, too. Above
//!   the limit it grows as the percentile does, because a longer queue changes more slowly;
//! - common to all: the percentile of a run that is short for its correlation is biased, by about
//!   its variance, which more runs do not remove; and
//! - the curve's: a share of its distance from the limit, so that a distant run shows little more
//!   than its side.
//!
//! The belief is the posterior on a grid of capacities and curves, summed over the curves. The grid
//! is refined to where nearly all of it lies.

use super::{CapacityBelief, Distance, ReportedRun, chance};
use crate::numbers::size;

/// Number of cells of the grid.
const CELLS: usize = 80;
/// Cells between two points of the curve that is drawn.
const CURVE_STEP: usize = 2;
/// How often the grid is refined to where the belief lies.
const REFINED: usize = 3;
/// Belief that may lie outside the refined grid, on either side.
const OUTSIDE_GRID: f64 = 1e-4;
/// How far the first grid extends beyond the bracket, as a logarithm.
const BEYOND: f64 = 1.5;
/// How fast belief falls outside the bracket: to an eighth with every doubling.
const FALL: f64 = 3.0;
/// Number of slopes of the percentile by rate at the capacity, on a logarithmic scale.
const SLOPES: usize = 13;
const SLOPE_MIN: f64 = 0.25;
const SLOPE_MAX: f64 = 64.0;
/// Shares of the limit that exist without load.
const BASES: [f64; 4] = [0.0, 0.35, 0.65, 0.85];
/// Minimum of what is above the base, and of a rate, as shares of the limit and of the capacity.
const BASE_LEFT: f64 = 0.05;
/// Error of the curve, as a share of its distance from the limit.
const CURVE_ERROR: f64 = 0.3;
/// Standard deviation of the error that all runs have in common, in variances of one.
const COMMON: f64 = 1.0;
/// Largest distance from the limit, as a logarithm, that is distinguished: about a factor of e².
const FAR: f64 = 2.0;
/// The same as a ratio.
const FAR_RATIO: f64 = 7.389_056_098_930_65;
/// Distance from the limit at which a run's error counts half in the pooled one.
const NEAR: f64 = 0.5;
/// Minimum error of a run: histograms have three digits.
const ERROR_MIN: f64 = 0.003;
/// Number of observations that the pooled error is worth.
const ERROR_FREEDOM: f64 = 4.0;

/// The belief on its grid.
pub(super) struct Belief {
    /// Logarithm of the lowest rate, and of the ratio of neighbouring cells.
    start: f64,
    step: f64,
    /// Probability of each cell.
    cells: Vec<f64>,
    /// The most likely curve at the middle of the belief.
    likeliest: Curve,
}

/// The results of the runs, as the model uses them.
struct Runs {
    /// Rate and distance from the limit of the runs that measured it.
    measured: Vec<(f64, f64)>,
    /// Rate and probability of being below the capacity, of the runs that did not.
    sided: Vec<(f64, f64)>,
    /// Pooled variance of the distances.
    variance: f64,
    /// Logarithm of the rate above which the capacity cannot be.
    highest: f64,
    bracket: (f64, f64),
}

impl Belief {
    /// Computes the belief from the reported runs. The capacity lies about the bracket and not
    /// above `highest`.
    pub fn of(reported: &[ReportedRun], bracket: (f64, f64), highest: Option<f64>) -> Self {
        let runs = Runs::of(reported, bracket, highest);
        let (mut from, mut to) = (runs.bracket.0 - BEYOND, runs.bracket.1 + BEYOND);
        to = to.min(runs.highest.max(from + 1e-6));
        let mut belief = Self::on(&runs, from, to);
        for _ in 0..REFINED {
            let [low, high] = [OUTSIDE_GRID, 1.0 - OUTSIDE_GRID].map(|s| belief.ln_quantile(s));
            (from, to) = ((low - belief.step).max(from), (high + belief.step).min(to));
            belief = Self::on(&runs, from, to);
        }
        belief
    }

    fn on(runs: &Runs, start: f64, end: f64) -> Self {
        let step = (end - start) / size(CELLS);
        let mut cells = Vec::with_capacity(CELLS);
        for place in 0..CELLS {
            cells.push(runs.ln_likelihood(start + (size(place) + 0.5) * step));
        }
        let most = cells.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        cells.iter_mut().for_each(|cell| *cell = (*cell - most).exp());
        let sum: f64 = cells.iter().sum();
        cells.iter_mut().for_each(|cell| *cell /= sum);
        let likeliest = Curve { base: 0.0, slope: 1.0 };
        let belief = Self { start, step, cells, likeliest };
        let likeliest = runs.likeliest(belief.quantile(0.5));
        Self { likeliest, ..belief }
    }

    /// By how much a run's rate is above the capacity, both as logarithms, for its distance from
    /// the limit.
    pub fn offset(&self, distance: f64) -> f64 {
        self.likeliest.rate_at(distance).ln()
    }

    /// By how much the rate at which the queue grows without end is above the capacity, both as
    /// logarithms.
    pub fn saturation(&self) -> f64 {
        (1.0 / self.likeliest.slope).ln_1p()
    }

    /// How fast the distance grows with the logarithm of the rate, at a distance from the limit.
    pub fn slope_at(&self, distance: f64) -> f64 {
        let Curve { base, slope } = self.likeliest;
        let above = (distance.exp() - base).max(BASE_LEFT);
        above * above / (1.0 - base) * slope * self.likeliest.rate_at(distance) / distance.exp()
    }

    /// The rate below which the capacity lies with this probability.
    pub fn quantile(&self, share: f64) -> f64 {
        self.ln_quantile(share).exp()
    }

    fn ln_quantile(&self, share: f64) -> f64 {
        let mut left = share;
        for (place, cell) in self.cells.iter().enumerate() {
            if left <= *cell && *cell > 0.0 {
                return self.start + (size(place) + left / cell) * self.step;
            }
            left -= cell;
        }
        self.start + size(self.cells.len()) * self.step
    }

    /// The probability that the capacity is at least a rate, at the edges of the cells.
    pub fn curve(&self) -> Vec<CapacityBelief> {
        let edges = (0..=self.cells.len()).scan(1.0_f64, |left, place| {
            let probability = left.clamp(0.0, 1.0);
            *left -= self.cells.get(place).unwrap_or(&0.0);
            Some(CapacityBelief { rate: (self.start + size(place) * self.step).exp(), probability })
        });
        edges.step_by(CURVE_STEP).collect()
    }

    /// The probability that the capacity lies below a rate.
    pub fn below(&self, rate: f64) -> f64 {
        let at = (rate.ln() - self.start) / self.step;
        let part = |place: usize, cell: f64| cell * (at - size(place)).clamp(0.0, 1.0);
        self.cells.iter().enumerate().map(|(place, cell)| part(place, *cell)).sum()
    }
}

impl Runs {
    fn of(reported: &[ReportedRun], (low, high): (f64, f64), highest: Option<f64>) -> Self {
        let (mut measured, mut sided) = (Vec::new(), Vec::new());
        let (mut squares, mut weights) = (0.0, 0.0);
        let distances: Vec<_> = reported.iter().map(ReportedRun::distance).collect();
        let is_known = distances.iter().flatten().any(|distance| distance.error.is_some());
        for (reported, distance) in reported.iter().zip(distances) {
            match distance.filter(|distance| distance.error.is_some() || is_known) {
                Some(Distance { ln, error }) => {
                    if let Some(error) = error {
                        let weight = 1.0 / (1.0 + (ln / NEAR).powi(2));
                        squares += weight * error.powi(2);
                        weights += weight;
                    }
                    measured.push((reported.rate, ln.clamp(-FAR, FAR)));
                }
                None => sided.push((reported.rate.ln(), chance(reported.answer))),
            }
        }
        let variance = if weights > 0.0 { squares / weights } else { 0.0 };
        Self {
            measured,
            sided,
            variance: variance.clamp(ERROR_MIN.powi(2), FAR),
            highest: highest.map_or(f64::INFINITY, f64::ln),
            bracket: (low.ln(), high.ln()),
        }
    }

    /// Log-likelihood of the capacity with this logarithm, summed over the curves.
    fn ln_likelihood(&self, ln_capacity: f64) -> f64 {
        let outside = (self.bracket.0 - ln_capacity).max(ln_capacity - self.bracket.1).max(0.0);
        let sides = self.sided.iter().map(|&(rate, chance)| {
            if rate <= ln_capacity { chance.ln() } else { (1.0 - chance).ln() }
        });
        let known = sides.sum::<f64>() - outside * FALL;
        let capacity = ln_capacity.exp();
        let of_curves = Curve::all().map(|curve| self.of_curve(capacity, curve));
        let of_curves: Vec<f64> = of_curves.collect();
        let most = of_curves.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        known + most + of_curves.iter().map(|curve| (curve - most).exp()).sum::<f64>().ln()
    }

    /// The most likely curve for a capacity.
    fn likeliest(&self, capacity: f64) -> Curve {
        let rated = Curve::all().map(|curve| (self.of_curve(capacity, curve), curve));
        let best = rated.max_by(|a, b| a.0.total_cmp(&b.0));
        best.map_or(Curve { base: 0.0, slope: SLOPE_MIN }, |(_, curve)| curve)
    }

    /// Log-likelihood of the measurements: Student's t about the curve.
    fn of_curve(&self, capacity: f64, curve: Curve) -> f64 {
        let (mut squares, mut ln_widths, mut widths) = (0.0, 0.0, 1.0_f64);
        let (mut sum, mut weights) = (0.0, 0.0);
        for &(rate, distance) in &self.measured {
            let expected = curve.over_limit(rate / capacity);
            let own = (expected * expected).max(1.0);
            let expected = expected.ln();
            let width = own + (CURVE_ERROR * expected).powi(2) / self.variance;
            let left = distance - expected;
            squares += left * left / width;
            sum += left / width;
            weights += 1.0 / width;
            // One logarithm of a product is faster than one of each width.
            widths *= width;
            if widths > 1e200 {
                ln_widths += widths.ln();
                widths = 1.0;
            }
        }
        ln_widths += widths.ln();
        // The common error adds the same to every covariance: the Sherman-Morrison formula.
        let common = self.variance * COMMON.powi(2);
        let shared = 1.0 + common * weights;
        let squares = (squares - common * sum * sum / shared) / self.variance;
        let freedom = ERROR_FREEDOM + size(self.measured.len());
        -0.5 * (ln_widths + shared.ln()) - 0.5 * freedom * (1.0 + squares / ERROR_FREEDOM).ln()
    }
}

/// How the percentile grows with the rate.
#[derive(Clone, Copy)]
struct Curve {
    base: f64,
    slope: f64,
}

impl Curve {
    /// All curves that are thought possible.
    fn all() -> impl Iterator<Item = Self> {
        (0..SLOPES * BASES.len()).map(|place| {
            let share = size(place / BASES.len()) / size(SLOPES - 1);
            let slope = SLOPE_MIN * (SLOPE_MAX / SLOPE_MIN).powf(share);
            Self { base: BASES[place % BASES.len()], slope }
        })
    }

    /// The rate, as a share of the capacity, at a distance from the limit: the inverse of
    /// [`Curve::over_limit`].
    fn rate_at(self, distance: f64) -> f64 {
        let left = (1.0 - self.base) / (distance.exp() - self.base).max(BASE_LEFT);
        (1.0 + (1.0 - left) / self.slope).max(BASE_LEFT)
    }

    /// The percentile over the limit at a rate, as a share of the capacity; at most [`FAR`] from 1,
    /// as a logarithm.
    fn over_limit(self, rate: f64) -> f64 {
        let left = 1.0 - self.slope * (rate - 1.0);
        if left <= 0.0 {
            return FAR_RATIO;
        }
        (self.base + (1.0 - self.base) / left).clamp(1.0 / FAR_RATIO, FAR_RATIO)
    }
}
