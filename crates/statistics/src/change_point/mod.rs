//! When a sequence of results changed: E-divisive means (Matteson and James, "A nonparametric approach for
//! multiple change point analysis of multivariate data", JASA 109, 2014), as MongoDB does for its
//! performance tests (Daly et al., ICPE 2020).
//!
//! A segment is split where its two sides are farthest apart by the energy statistic, and kept whole when
//! shuffling its results makes such a split in more than 2.5 % of orders (1 % in a segment between changes).
//! A history without changes has one chance of a false alarm, which keeps that at 2.5 %, however long it is.
//! Results whose noise is alike from run to run (a host that wanders) are not exchangeable; they alarm more.

use serde::{Deserialize, Serialize};

use crate::Interval;
use crate::distribution::{freedom, t_975};
use crate::numbers::{finite, length, mean, scaled, size, squares};
use crate::random::Random;

/// Fewest results on either side of a change.
pub const SEGMENT_MIN: usize = 3;

/// Most results that are looked at: their distances are summed in each of the permutations.
pub const RESULTS_MAX: usize = 500;
/// Shuffled orders that a split is compared with.
const PERMUTATIONS: usize = 399;
/// Chance of a false alarm in a history without changes.
const ALARM: f64 = 0.025;
/// Chance of a false alarm in a segment between changes: less, because there are several.
const ALARM_BETWEEN: f64 = 0.01;

/// A change in a sequence of results.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangePoint {
    /// Index of the first result after the change.
    pub at: usize,
    /// Mean of the results from the change before this one, or the start.
    pub before: f64,
    /// Mean of the results up to the next change, or the end.
    pub after: f64,
    /// `after` over `before`; `None` when `before` is 0.
    pub ratio: Option<f64>,
    /// 95 % interval of `after` - `before`, as Welch's t gives it: somewhat narrow, because the place was
    /// chosen from the same results.
    pub difference: Interval,
    /// 1 - the permutation test's p-value, from 0.975 to 1.
    pub confidence: f64,
}

/// Finds the changes in results in the order of time, one figure a run. Results that are not finite are
/// taken as missing; indices are those of `results`. The same results and seed give the same changes.
/// Of more than [`RESULTS_MAX`] only the last are looked at.
#[must_use]
pub fn change_points(results: &[f64], seed: u64) -> Vec<ChangePoint> {
    let known: Vec<usize> = (0..results.len()).filter(|&i| results[i].is_finite()).collect();
    let known = &known[known.len().saturating_sub(RESULTS_MAX)..];
    let (values, scale) = scaled(&known.iter().map(|&i| results[i]).collect::<Vec<_>>());
    let mut random = Random::new(seed);
    let mut splits = Vec::new();
    let whole = 0..values.len();
    let mut open = vec![whole];
    while let Some(segment) = open.pop() {
        let alarm = if segment.len() == values.len() { ALARM } else { ALARM_BETWEEN };
        if let Some((at, confidence)) = split(&values[segment.clone()], alarm, &mut random) {
            let at = segment.start + at;
            splits.push((at, confidence));
            open.push(segment.start..at);
            open.push(at..segment.end);
        }
    }
    splits.sort_by_key(|&(at, _)| at);
    let edges = splits.iter().map(|&(at, _)| at).chain([values.len()]).collect::<Vec<_>>();
    let mut start = 0;
    let described = splits.iter().enumerate().map(|(k, &(at, confidence))| {
        let sides = (&values[start..at], &values[at..edges[k + 1]]);
        start = at;
        describe(sides, scale, known[at], confidence)
    });
    described.collect()
}

/// Where a segment splits, and how surely; `None` when chance explains it.
fn split(values: &[f64], alarm: f64, random: &mut Random) -> Option<(usize, f64)> {
    if values.len() < 2 * SEGMENT_MIN {
        return None;
    }
    let (at, energy) = best_split(values);
    if energy <= 0.0 {
        return None;
    }
    let mut shuffled = values.to_vec();
    let (mut greater, allowed) = (0, length(alarm * size(PERMUTATIONS + 1)) - 1);
    for _ in 0..PERMUTATIONS {
        random.shuffle(&mut shuffled);
        // Rounding depends on the order: as good as the same counts as the same.
        if best_split(&shuffled).1 >= energy * (1.0 - 1e-9) {
            greater += 1;
            if greater > allowed {
                return None;
            }
        }
    }
    Some((at, 1.0 - size(greater + 1) / size(PERMUTATIONS + 1)))
}

/// The split with the greatest energy: with n before and m after,
///
/// ```text
/// nm / (n + m) × (2 mean |x - y| - mean |x - x'| - mean |y - y'|)
/// ```
///
/// The sums of distances follow from those of the split before by moving one value over.
fn best_split(values: &[f64]) -> (usize, f64) {
    let n = values.len();
    let to = |x: f64, others: &[f64]| others.iter().map(|y| (x - y).abs()).sum::<f64>();
    let mut within_after: f64 = (0..n).map(|i| to(values[i], &values[i + 1..])).sum();
    let (mut within_before, mut across) = (0.0, 0.0);
    let mut best = (0, 0.0);
    for at in 1..=n - SEGMENT_MIN {
        let (before, after) = (&values[..at - 1], &values[at..]);
        let (near, far) = (to(values[at - 1], before), to(values[at - 1], after));
        within_before += near;
        within_after -= far;
        across += far - near;
        if at < SEGMENT_MIN {
            continue;
        }
        let (n, m) = (size(at), size(n - at));
        let pairs = |k: f64| k * (k - 1.0) / 2.0;
        let apart = 2.0 * across / (n * m) - within_before / pairs(n) - within_after / pairs(m);
        let energy = n * m / (n + m) * apart;
        if energy > best.1 {
            best = (at, energy);
        }
    }
    best
}

/// What a change is, from the results on its two sides.
fn describe(
    (before, after): (&[f64], &[f64]),
    scale: f64,
    at: usize,
    confidence: f64,
) -> ChangePoint {
    let side = |values: &[f64]| {
        let n = size(values.len());
        (mean(values), squares(values) / (n - 1.0) / n, n - 1.0)
    };
    let ((low, of_low, free_low), (high, of_high, free_high)) = (side(before), side(after));
    let half_width =
        t_975(freedom((of_low, free_low), (of_high, free_high))) * (of_low + of_high).sqrt();
    ChangePoint {
        at,
        before: finite(low * scale),
        after: finite(high * scale),
        ratio: (low != 0.0).then(|| finite(high / low)),
        difference: Interval::around(high - low, half_width).times(scale),
        confidence,
    }
}

#[cfg(test)]
mod tests;
