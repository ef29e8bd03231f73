//! Finds the stretch of a run in which its throughput was notably lower than in the rest.
//!
//! A few seconds far from all others, as a noisy host or short stalls cause them, look like a drop
//! to anything that adds up seconds. So points are first moved to within [`FAR`] deviations of the
//! median, which a drop of several neighbours survives, and the drop must be notable after a median
//! of three, which removes single points. By simulation (the tests) a stretch is found by mistake in
//! at most 5 % of steady series with normal noise, and in at most 10 % with any other (lognormal,
//! Student's t of 2 degrees of freedom, Pareto, one second in a hundred or in thirty stalled).

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
/// Greatest expected number of runs as long as a stall, if low points only cluster as they do
/// elsewhere in the series.
const STALLS_BY_CHANCE: f64 = 0.02;
/// Number of deviations from the median at which points are cut off.
const FAR: f64 = 3.5;
/// The standard deviation of normal noise over its median absolute deviation.
const OF_MEDIAN: f64 = 1.4826;
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
    let near = near(series);
    let (power, found) = lowest_of(&sums(&near));
    if (power / noise(&near, &found)).sqrt() < errors_min(n) {
        return None;
    }
    let medians = sums(&medians_of_three(series));
    // Where it begins and ends shows in its depth, which was cut off.
    let (_, deepest) = lowest_of(&medians);
    let overlaps = deepest.start < found.end && found.start < deepest.end;
    let found = if overlaps { deepest } else { found };
    let [here, rest] = means(&medians, found.clone());
    (rest > 0.0 && here <= (1.0 - DROP_MIN) * rest).then_some(found)
}

/// The stretch that is farthest below the rest relative to its length, and its weighted square.
fn lowest_of(sums: &[f64]) -> (f64, Range<usize>) {
    let n = sums.len() - 1;
    let mut best = (0.0, 0..0);
    let mut points = SECONDS_MIN;
    while points <= n / 2 {
        for from in 0..=n - points {
            let [here, rest] = means(sums, from..from + points);
            let weight = size(points) * size(n - points) / size(n);
            let power = weight * (rest - here).max(0.0).powi(2);
            if power > best.0 {
                best = (power, from..from + points);
            }
        }
        points += (points / 8).max(1);
    }
    best
}

/// Sums up to each point, from 0.
fn sums(series: &[f64]) -> Vec<f64> {
    let running = series.iter().scan(0.0, |sum, x| {
        *sum += x;
        Some(*sum)
    });
    std::iter::once(0.0).chain(running).collect()
}

/// The points, at most [`FAR`] deviations from their median.
fn near(series: &[f64]) -> Vec<f64> {
    let centre = median(series.to_vec());
    let deviation = OF_MEDIAN * median(series.iter().map(|x| (x - centre).abs()).collect());
    let equal = deviation == 0.0;
    let deviation = if equal { (squares(series) / size(series.len())).sqrt() } else { deviation };
    let far = FAR * deviation;
    series.iter().map(|x| x.clamp(centre - far, centre + far)).collect()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The median of each point and its neighbours, of at least three points.
fn medians_of_three(series: &[f64]) -> Vec<f64> {
    let of_three = |at: usize| {
        let from = at.saturating_sub(1).min(series.len() - 3);
        median(series[from..from + 3].to_vec())
    };
    (0..series.len()).map(of_three).collect()
}

/// Smallest drop, in standard errors: the lowest of all stretches of a steady series of this length
/// is lower in at most 5 %, by simulation of 20 to 10,000 points with correlations of neighbours up
/// to 0.8. In short series the noise is little known; in long ones there are many stretches.
fn errors_min(points: usize) -> f64 {
    let n = size(points);
    (3.95 + 20.0 / n).max((2.0 * n.ln()).sqrt() + 0.75)
}

/// The longest stretch whose points are all at most [`STALL`] of the median, and so at most half of
/// all points; `None` if such points are so frequent elsewhere that chance explains it.
fn stall(series: &[f64]) -> Option<Range<usize>> {
    let level = STALL * median(series.to_vec());
    let (mut found, mut from) = (0..0, 0);
    for at in 0..=series.len() {
        if at == series.len() || series[at] > level {
            if at - from > found.len() {
                found = from..at;
            }
            from = at + 1;
        }
    }
    let is_long = level > 0.0 && found.len() >= SECONDS_MIN;
    (is_long && by_chance(series, level, &found) < STALLS_BY_CHANCE).then_some(found)
}

/// Expected number of runs of low points that are as long as the one found, from how often low
/// points occur and follow each other elsewhere.
fn by_chance(series: &[f64], level: f64, found: &Range<usize>) -> f64 {
    let is_low = |at: usize| !found.contains(&at) && series[at] <= level;
    let low = size((0..series.len()).filter(|at| is_low(*at)).count());
    let pairs = size((1..series.len()).filter(|at| is_low(*at) && is_low(*at - 1)).count());
    let follows = (pairs + 1.0) / (low + 2.0);
    let more = size(series.len()) / size(series.len() - found.len());
    low * more * follows.powf(size(found.len() - 1))
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
