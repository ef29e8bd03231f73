//! What differs from run to run, beyond what the runs' own intervals show.
//!
//! Each run near the limit implies a capacity: its rate, less what the most likely curve says about
//! its distance from the limit. How much these capacities scatter, in the order of the runs, is how
//! much the server differs from run to run. The interval from that scatter alone, Student's t with
//! the correlation of neighbours, holds whatever its cause is: a random effect per run (Hartung and
//! Knapp, Statistics in Medicine 20, 2001). Where the percentile hardly depends on the rate, a run
//! implies little and has little weight. A run that was overloaded implies a capacity by what the
//! target served: without these runs, those in which the server was slow would be missing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::belief::Belief;
use super::{Answer, Distance, ReportedRun};
use crate::distribution::{NORMAL_975, t_975, t_of_all};
use crate::numbers::size;
use crate::{Estimate, Interval};

/// Distance from the limit up to which a run implies a capacity, as a logarithm: a factor of 2.
const NEAR: f64 = 0.7;
/// The same for runs that show whether the server changed.
const NEAR_ENOUGH: f64 = 1.0;
/// Greatest distance of an overloaded run's rate from the capacity, as a logarithm: far above it, a
/// target may serve less than it can.
const OVERLOADED_NEAR: f64 = 0.3;
/// Weight of a run that was overloaded: the same as at the limit.
const OVERLOADED_WEIGHT: f64 = 0.5;
/// Minimum number of runs that show how much they scatter.
const RUNS_MIN: f64 = 4.0;
/// Greatest correlation of neighbouring runs that is accepted.
const RHO_MAX: f64 = 0.8;

/// Minimum number of runs near the limit on each side of a change.
const SIDE_MIN: usize = 4;

/// How a server changed during a search. An early rate is measured again at its end, so that there
/// are runs near the same rates before and after a change.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerChange {
    /// The early rate that was measured again, in transactions per second.
    pub rate: f64,
    /// By how much the capacity changed, as a share.
    pub change: Estimate,
}

/// The rate of the early run nearest to the limit.
pub(super) fn early(reported: &[ReportedRun]) -> Option<f64> {
    let half = &reported[..reported.len().div_ceil(2)];
    let near = half.iter().filter_map(|run| {
        let Distance { ln, .. } = run.distance()?;
        (ln.abs() < NEAR_ENOUGH).then_some((ln.abs(), run.rate))
    });
    near.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, rate)| rate)
}

/// The scatter of the runs near the limit.
pub(super) struct Scatter {
    /// The 95 % interval of the capacity's logarithm that follows from it.
    pub interval: Interval,
    /// Standard deviation between runs, beyond their own errors, of the logarithm of the capacity.
    pub between: f64,
}

/// The scatter of the runs near the limit; `None` if there are too few.
pub(super) fn scatter(reported: &[ReportedRun], belief: &Belief) -> Option<Scatter> {
    let implied = implied(reported, belief);
    let sum = |of: fn(&Implied) -> f64| implied.iter().map(of).sum::<f64>();
    let weights = sum(|one| one.weight);
    // The number of runs of equal weight that say as much.
    let runs = weights.powi(2) / sum(|one| one.weight.powi(2)).max(f64::MIN_POSITIVE);
    if runs < RUNS_MIN {
        return None;
    }
    let centre = sum(|one| one.weight * one.ln) / weights;
    let off: Vec<f64> = implied.iter().map(|one| one.weight.sqrt() * (one.ln - centre)).collect();
    let squares: f64 = off.iter().map(|off| off * off).sum();
    let alike = of_neighbours(&off);
    let variance = squares / (weights * (runs - 1.0)) * alike;
    let half = t_975((runs / alike - 1.0).max(2.0)) * variance.sqrt();
    let each = squares / weights * runs / (runs - 1.0);
    let own = sum(|one| one.weight * one.error.powi(2)) / weights;
    let between = (each - own).max(0.0).sqrt();
    Some(Scatter { interval: Interval::around(centre, half), between })
}

/// By how much the server changed during the search, at the place where the runs before and after
/// differ most; `None` if there are too few near the limit. Near the limit, the logarithm of the
/// response time is about linear in the rate, and a server of another speed moves that line: before
/// and after the change it has the same slope. The interval allows for the choice of the place
/// (Bonferroni).
pub(super) fn change(reported: &[ReportedRun]) -> Option<ServerChange> {
    let points: Vec<Point> = reported.iter().filter_map(Point::of).collect();
    let places = SIDE_MIN..(points.len() + 1).saturating_sub(SIDE_MIN);
    let choices = places.len();
    let lines = places.filter_map(|at| Lines::of(&points[..at], &points[at..]));
    let lines = lines.min_by(|a, b| a.residual.total_cmp(&b.residual))?;
    let freedom = size(points.len()) - 3.0;
    let half = t_of_all(freedom, choices) * lines.error(freedom);
    let share = |shift: f64| shift / lines.capacity;
    let interval = Interval { low: share(lines.shift - half), high: share(lines.shift + half) };
    let change = Estimate { value: share(lines.shift), interval: Some(interval) };
    let is_known = lines.capacity > 0.0 && interval.low.is_finite() && interval.high.is_finite();
    is_known.then_some(ServerChange { rate: reported.last()?.rate, change })
}

/// A run near the limit.
#[derive(Clone, Copy)]
struct Point {
    rate: f64,
    /// Logarithm of the response time over the limit.
    ln: f64,
}

impl Point {
    fn of(run: &ReportedRun) -> Option<Self> {
        let ln = run.distance()?.ln;
        (ln.abs() <= NEAR_ENOUGH).then_some(Self { rate: run.rate, ln })
    }
}

/// Two parallel lines, through the points before and after a change.
struct Lines {
    /// Sum of the squared residuals.
    residual: f64,
    /// Variance of the shift, in units of the residuals' variance.
    spread: f64,
    /// Rate at which the first line reaches the limit.
    capacity: f64,
    /// By how much the second line reaches it at a higher rate.
    shift: f64,
}

impl Lines {
    /// `None` where rates do not differ, or response times do not grow with them.
    fn of(before: &[Point], after: &[Point]) -> Option<Self> {
        let sides = [before, after];
        let means = |of: fn(&Point) -> f64| {
            sides.map(|side| side.iter().map(of).sum::<f64>() / size(side.len()))
        };
        let (rates, lns) = (means(|point| point.rate), means(|point| point.ln));
        let [mut xx, mut xy, mut yy] = [0.0; 3];
        for (at, side) in sides.into_iter().enumerate() {
            for Point { rate, ln } in side {
                let (x, y) = (rate - rates[at], ln - lns[at]);
                xx += x * x;
                xy += x * y;
                yy += y * y;
            }
        }
        let slope = xy / xx;
        let at_limit = |at: usize| rates[at] - lns[at] / slope;
        let capacity = at_limit(0);
        let of_means = sides.map(|side| 1.0 / size(side.len())).iter().sum::<f64>();
        let spread = (of_means + (rates[1] - rates[0]).powi(2) / xx) / slope.powi(2);
        let shift = at_limit(1) - capacity;
        (slope > 0.0).then_some(Self { residual: yy - slope * xy, spread, capacity, shift })
    }

    /// Standard error of the shift.
    fn error(&self, freedom: f64) -> f64 {
        (self.residual / freedom * self.spread).sqrt()
    }
}

/// A capacity that a run implies.
struct Implied {
    /// Its logarithm.
    ln: f64,
    /// From 0, where the percentile does not depend on the rate, to 1; one half at the limit.
    weight: f64,
    /// The run's own standard error of the logarithm; 0 where it is not known.
    error: f64,
}

/// The capacities that the runs near the limit imply, in their order.
fn implied(reported: &[ReportedRun], belief: &Belief) -> Vec<Implied> {
    let (at_limit, middle) = (belief.slope_at(0.0), belief.quantile(0.5));
    let of = |run: &ReportedRun| {
        if let Answer::Overloaded { served } = run.answer {
            let ln = served.value.ln() - belief.saturation();
            let is_near = (run.rate / middle).ln() <= OVERLOADED_NEAR;
            let half = served.interval.map_or(0.0, |interval| interval.half_width());
            let error = half / NORMAL_975 / served.value;
            let implied = Implied { ln, weight: OVERLOADED_WEIGHT, error };
            return (is_near && ln.is_finite()).then_some(implied);
        }
        let Distance { ln: distance, error } = run.distance()?;
        let slope = belief.slope_at(distance);
        let error = error.unwrap_or(0.0) / slope;
        let weight = 1.0 / (1.0 + (at_limit / slope).powi(2));
        let ln = run.rate.ln() - belief.offset(distance);
        (distance.abs() <= NEAR && weight.is_finite()).then_some(Implied { ln, weight, error })
    };
    reported.iter().filter_map(of).collect()
}

/// The factor by which the correlation of neighbouring distances from the mean increases its
/// variance, if it decays
/// exponentially. The correlation is corrected for its bias in short series (Kendall, Biometrika
/// 41, 1954).
fn of_neighbours(values: &[f64]) -> f64 {
    let n = size(values.len());
    let products = values.windows(2).map(|pair| pair[0] * pair[1]);
    let squares: f64 = values.iter().map(|value| value * value).sum();
    let rho = products.sum::<f64>() / squares.max(f64::MIN_POSITIVE);
    let rho = (rho + (1.0 + 4.0 * rho) / n).clamp(0.0, RHO_MAX);
    (1.0 + rho) / (1.0 - rho)
}
