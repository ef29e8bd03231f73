//! The interval of a mean whose own distribution is skewed. A few rare and large values, such as
//! stalls, pull the mean to one side: it is off farther on the side on which they are, and Student's
//! t covers too little there.
//!
//! Both ends are moved by the inverse of a cubic transformation that removes the skewness (Hall,
//! JRSS B 54, 1992; Willink, Communications in Statistics 34, 2005; for batch means: Tafazzoli and
//! Wilson, IIE Transactions 43, 2011). Without skewness it is the interval of Student's t.

use super::long_run::{LongRun, batches};
use crate::Interval;
use crate::distribution::t_missing;
use crate::numbers::{mean, size};

/// Skewness of the mean below which the transformation changes nothing but rounding errors.
const NONE: f64 = 1e-6;

/// The interval of the mean of a series that is given about its mean, which misses the true one with
/// this probability.
pub(super) fn interval(centred: &[f64], mean: f64, noise: &LongRun, chance: f64) -> Interval {
    let error = (noise.variance / size(centred.len())).sqrt();
    let (sure, sixth) = (t_missing(noise.freedom, chance), of_mean(centred) / 6.0);
    Interval {
        low: mean - transformed(sure, sixth) * error,
        high: mean - transformed(-sure, sixth) * error,
    }
}

/// Skewness of the mean: that of the batches over the square root of their number. Batches keep
/// what lasts longer than a point together.
fn of_mean(centred: &[f64]) -> f64 {
    let batches = batches(centred);
    let (n, centre) = (size(batches.len()), mean(&batches));
    let moment = |power: i32| batches.iter().map(|x| (x - centre).powi(power)).sum::<f64>() / n;
    let variance = moment(2);
    if variance > 0.0 { moment(3) / variance.powf(1.5) / n.sqrt() } else { 0.0 }
}

/// The distance in standard errors, in a direction, at which a mean of this skewness (a sixth of
/// it) lies with the same probability as a normal one at `distance`.
fn transformed(distance: f64, sixth: f64) -> f64 {
    if sixth.abs() < NONE {
        return distance;
    }
    ((1.0 + 6.0 * sixth * (distance - sixth)).cbrt() - 1.0) / (2.0 * sixth)
}
