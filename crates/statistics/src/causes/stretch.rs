//! Finds the stretch of a run in which its throughput was notably lower than in the rest.

use std::ops::Range;

use super::SECONDS_MIN;
use crate::numbers::{mean, size, squares};

/// Smallest drop that is notable, as a share of the rest's mean.
pub const DROP_MIN: f64 = 0.1;
/// Smallest number of points in which a drop is looked for.
const POINTS_MIN: usize = 4 * SECONDS_MIN;
/// The same for a stall, which no noise explains: as many as the stretch and the rest need.
const POINTS_STALL: usize = 2 * SECONDS_MIN;
/// A stretch in which no point is above this share of the median is a stall, whatever the noise is:
/// the seconds in which it begins and ends make a short series look noisy.
const STALL: f64 = 0.2;
/// Greatest correlation of neighbours that is accepted.
const RHO_MAX: f64 = 0.95;

/// The stretch of a series that is farthest below the rest, of at least [`SECONDS_MIN`] points and
/// at most half of them; `None` if that is less than [`DROP_MIN`] below, or chance explains it.
#[must_use]
pub fn lowest(series: &[f64]) -> Option<Range<usize>> {
    let n = series.len();
    if n < POINTS_STALL || series.iter().any(|x| !x.is_finite()) {
        return None;
    }
    if let Some(found) = stall(series) {
        return Some(found);
    }
    if n < POINTS_MIN {
        return None;
    }
    let sums: Vec<f64> = std::iter::once(0.0)
        .chain(series.iter().scan(0.0, |sum, x| {
            *sum += x;
            Some(*sum)
        }))
        .collect();
    let mut best = (0.0, 0..0);
    let mut points = SECONDS_MIN;
    while points <= n / 2 {
        for from in 0..=n - points {
            let [here, rest] = means(&sums, from..from + points);
            let weight = size(points) * size(n - points) / size(n);
            let power = weight * (rest - here).max(0.0).powi(2);
            if power > best.0 {
                best = (power, from..from + points);
            }
        }
        points += (points / 8).max(1);
    }
    let (power, found) = best;
    let [here, rest] = means(&sums, found.clone());
    let is_notable = rest > 0.0 && here <= (1.0 - DROP_MIN) * rest;
    let errors = (power / noise(series, &found)).sqrt();
    (is_notable && errors >= errors_min(n)).then_some(found)
}

/// Smallest drop, in standard errors: the lowest of all stretches of a steady series of this length
/// is lower in at most 5 %, by simulation of 20 to 10,000 points with correlations of neighbours up
/// to 0.8. In short series the noise is little known; in long ones there are many stretches.
fn errors_min(points: usize) -> f64 {
    let n = size(points);
    (3.95 + 20.0 / n).max((2.0 * n.ln()).sqrt() + 0.75)
}

/// The longest stretch whose points are all at most [`STALL`] of the median, and so at most half of
/// all points.
fn stall(series: &[f64]) -> Option<Range<usize>> {
    let mut sorted = series.to_vec();
    sorted.sort_by(f64::total_cmp);
    let level = STALL * sorted[sorted.len() / 2];
    let (mut found, mut from) = (0..0, 0);
    for at in 0..=series.len() {
        if at == series.len() || series[at] > level {
            if at - from > found.len() {
                found = from..at;
            }
            from = at + 1;
        }
    }
    (level > 0.0 && found.len() >= SECONDS_MIN).then_some(found)
}

/// Means of the stretch and of the rest, from sums up to each point.
fn means(sums: &[f64], stretch: Range<usize>) -> [f64; 2] {
    let (n, points) = (sums.len() - 1, stretch.len());
    let inside = sums[stretch.end] - sums[stretch.start];
    [inside / size(points), (sums[n] - inside) / size((n - points).max(1))]
}

/// Long-run variance of the points about the two levels.
fn noise(series: &[f64], stretch: &Range<usize>) -> f64 {
    let levels = {
        let (inside, outside): (Vec<_>, Vec<_>) =
            series.iter().enumerate().partition(|(at, _)| stretch.contains(at));
        [inside, outside].map(|part| mean(&part.iter().map(|(_, x)| **x).collect::<Vec<_>>()))
    };
    let level = |at: usize| levels[usize::from(!stretch.contains(&at))];
    let rest: Vec<f64> = series.iter().enumerate().map(|(at, x)| x - level(at)).collect();
    let n = size(rest.len());
    let all = squares(&rest);
    let products: f64 = rest.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let rho = if all > 0.0 { (products / all + 3.0 / n) / (1.0 - 12.0 / n).max(0.5) } else { 0.0 };
    let rho = rho.clamp(0.0, RHO_MAX);
    // Not 0, so that a drop of an exact series is found.
    (all / (n - 4.0) * (1.0 + rho) / (1.0 - rho)).max(f64::MIN_POSITIVE)
}
