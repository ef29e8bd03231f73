//! What differs from run to run, beyond what the runs' own intervals show.
//!
//! Each run near the limit implies a capacity: its rate, less what the most likely curve says about
//! its distance from the limit. How much these capacities scatter, in the order of the runs, is how
//! much the server differs from run to run. The interval from that scatter alone, Student's t with
//! the correlation of neighbours, holds whatever its cause is: a random effect per run (Hartung and
//! Knapp, Statistics in Medicine 20, 2001). Where the percentile hardly depends on the rate, a run
//! implies little and has little weight.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::belief::Belief;
use super::{Answer, Distance, Reported};
use crate::distribution::t_975;
use crate::numbers::size;
use crate::{Estimate, Interval};

/// Distance from the limit up to which a run implies a capacity, as a logarithm: a factor of 2.
const NEAR: f64 = 0.7;
/// The same for an early run that is repeated at the end.
const NEAR_ENOUGH: f64 = 1.0;
/// Minimum number of runs that show how much they scatter.
const RUNS_MIN: f64 = 4.0;
/// Greatest correlation of neighbouring runs that is accepted.
const RHO_MAX: f64 = 0.8;

/// The median of the absolute value of a standard normal variable.
const NORMAL_MEDIAN: f64 = 0.674_49;
/// The efficiency of a scale from a median: so many degrees of freedom does a run count for.
const MEDIAN_EFFICIENCY: f64 = 0.37;

/// A rate that was measured early and again at the end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerChange {
    /// The rate of both runs, in transactions per second.
    pub rate: f64,
    /// By how much the capacity changed from the first run to the last, as a share; the interval
    /// allows for how much neighbouring runs differ.
    pub change: Estimate,
}

/// The early run nearest to the limit: its rate and its place.
pub(super) fn early(reported: &[Reported]) -> Option<(f64, usize)> {
    let half = &reported[..reported.len().div_ceil(2)];
    let near = half.iter().enumerate().filter_map(|(place, run)| {
        let Distance { ln, .. } = distance(run)?;
        (ln.abs() < NEAR_ENOUGH).then_some((ln.abs(), run.rate, place))
    });
    near.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, rate, place)| (rate, place))
}

/// The 95 % interval of the capacity's logarithm from the scatter of the runs near the limit;
/// `None` if there are too few.
pub(super) fn interval(reported: &[Reported], belief: &Belief) -> Option<Interval> {
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
    Some(Interval::around(centre, half))
}

/// By how much the server changed between an early run and the last one at the same rate.
pub(super) fn change(reported: &[Reported], belief: &Belief, early: usize) -> Option<ServerChange> {
    let (first, last) = (reported.get(early)?, reported.last()?);
    // Where the target fell behind, its capacity is what it served, at most.
    let capacity = |run: &Reported| match run.answer {
        Answer::Overloaded { served } => Some(served.value.ln()),
        _ => Some(run.rate.ln() - belief.offset(distance(run)?.ln)),
    };
    let ln = capacity(last)? - capacity(first)?;
    let implied = implied(reported, belief);
    if size(implied.len()) < RUNS_MIN {
        return None;
    }
    let half = t_975(MEDIAN_EFFICIENCY * (size(implied.len()) - 1.0)) * step_error(&implied);
    if !(ln.is_finite() && half.is_finite()) {
        return None;
    }
    let interval = Interval { low: (ln - half).exp_m1(), high: (ln + half).exp_m1() };
    let change = Estimate { value: ln.exp_m1(), interval: Some(interval) };
    Some(ServerChange { rate: last.rate, change })
}

/// Standard deviation of the difference of two neighbouring runs. Neighbours do not contain a slow
/// change, and the median does not contain the one step at which the server changed at once: it is
/// the weighted median of the absolute differences (Rousseeuw & Croux, JASA 88, 1993).
fn step_error(implied: &[Implied]) -> f64 {
    let of_pair = |pair: &[Implied]| (pair[1].ln - pair[0].ln, pair[0].weight * pair[1].weight);
    let mut steps: Vec<(f64, f64)> = implied.windows(2).map(of_pair).collect();
    steps.iter_mut().for_each(|(step, _)| *step = step.abs());
    steps.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = steps.iter().map(|(_, weight)| weight).sum::<f64>() / 2.0;
    let mut below = 0.0;
    let middle = steps.iter().find(|(_, weight)| {
        below += weight;
        below >= half
    });
    middle.map_or(f64::NAN, |(step, _)| step / NORMAL_MEDIAN)
}

/// A capacity that a run implies.
struct Implied {
    /// Its logarithm.
    ln: f64,
    /// From 0, where the percentile does not depend on the rate, to 1; one half at the limit.
    weight: f64,
}

/// The capacities that the runs near the limit imply, in their order.
fn implied(reported: &[Reported], belief: &Belief) -> Vec<Implied> {
    let at_limit = belief.slope_at(0.0);
    let of = |run: &Reported| {
        let distance = distance(run)?.ln;
        let slope = belief.slope_at(distance);
        let weight = 1.0 / (1.0 + (at_limit / slope).powi(2));
        let ln = run.rate.ln() - belief.offset(distance);
        (distance.abs() <= NEAR && weight.is_finite()).then_some(Implied { ln, weight })
    };
    reported.iter().filter_map(of).collect()
}

fn distance(run: &Reported) -> Option<Distance> {
    match run.answer {
        Answer::Measured { value, limit } => Distance::of(value, limit),
        Answer::Ok { .. } | Answer::Overloaded { .. } => None,
    }
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
