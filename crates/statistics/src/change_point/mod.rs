//! Detects lasting changes in a sequence of results.
//!
//! Three questions in turn:
//!
//! 1. Where did the level shift? Optimal partitioning: the segments with the least sum of squares
//!    about their means, plus a penalty for each shift (Jackson et al., "An algorithm for optimal
//!    partitioning of data on an interval", 2005; Killick, Fearnhead and Eckley, JASA 107, 2012).
//!    It finds shifts back and forth that hide each other from a binary search. A shift counts as a
//!    change only when Student's t confirms it, as if neighbours were correlated by
//!    [`CORRELATION`], for all stretches at once (Bonferroni).
//! 2. Would a host that switches back and forth show the same? Hosts differ in speed for a while: a
//!    virtual machine moves, a neighbour comes and goes. Nothing in a shift distinguishes it from a
//!    change, so an assumption is needed: such a host switches with a probability of [`SWITCHING`]
//!    or more from run to run. Shifts are changes when it would show so few of them, so far apart,
//!    in at most `ALARM` of histories. Its switches are of about one size: shifts far smaller than
//!    the greatest, such as those of a cache that warms up, do not count as switches beside it.
//! 3. If it would: are the levels that the host switches between higher or lower after some run?
//!    The stretches between shifts are shuffled as units, so that a history is measured by its own
//!    switching.

use serde::{Deserialize, Serialize};

use crate::Interval;
use crate::distribution::{freedom, t_975, t_two_sided};
use crate::numbers::{finite, length, mean, scaled, size, squares};
use crate::random::Random;

/// Minimum number of results between two shifts of the level.
const SEGMENT_MIN: usize = 2;
/// Minimum number of results that can show a change: one, in the middle.
pub const RESULTS_MIN: usize = 14;
/// Maximum number of results that are examined: the time of the search is quadratic.
pub const RESULTS_MAX: usize = 500;
/// How much a shift must reduce the sum of squares, in variances of one result.
const PENALTY: f64 = 10.0;
/// Assumed correlation of a result with the one before it.
pub const CORRELATION: f64 = 0.2;
/// Minimum probability, from run to run, that an unstable host changes its speed.
pub const SWITCHING: f64 = 0.1;
/// Share of its switches that are detected: a stay of one or two runs often hides in the noise.
const SWITCHES_SEEN: f64 = 0.65;
/// Minimum size of a shift that counts beside the greatest one, as a share of that one.
const CONSIDERABLE: f64 = 0.1;
/// Probability that the shifts of such a host, or noise, are mistaken for a change.
const ALARM: f64 = 0.04;
/// Probability that the switching of a history is mistaken for a change beyond it.
const ALARM_BEYOND: f64 = 0.025;
/// Number of shuffled orders that a split is compared with.
const PERMUTATIONS: usize = 399;

/// A change in a sequence of results.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangePoint {
    /// Index of the first result after the change.
    pub at: usize,
    /// Mean of the results between the previous change, or the start, and this one.
    pub before: f64,
    /// Mean of the results up to the next change, or the end.
    pub after: f64,
    /// Ratio of `after` to `before`; `None` when `before` is 0.
    pub ratio: Option<f64>,
    /// 95 % interval of `after` - `before` according to Welch's t: somewhat narrow, because the
    /// location was chosen from the same results.
    pub difference: Interval,
    /// 1 - the greatest p-value of the tests that it passed, from 0.96 to 1.
    pub confidence: f64,
}

/// What a sequence of results shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// Changes in chronological order.
    pub changes: Vec<ChangePoint>,
    /// Shifts of the level that do not prove a change, in chronological order: noise or a switching
    /// host would show them as well. Those far smaller than the greatest are left out.
    pub shifts: Vec<ChangePoint>,
}

/// Location of a change, and the probability that it appears without one.
type Place = (usize, f64);

/// Finds the changes in results, in chronological order, one figure per run. Results that are not
/// finite count as missing; indices refer to `results`. The same results and seed give the same
/// changes. If there are more than [`RESULTS_MAX`], only the last ones are examined.
#[must_use]
pub fn change_points(results: &[f64], seed: u64) -> Found {
    let known: Vec<usize> = (0..results.len()).filter(|&i| results[i].is_finite()).collect();
    let known = &known[known.len().saturating_sub(RESULTS_MAX)..];
    let (values, scale) = scaled(&known.iter().map(|&i| results[i]).collect::<Vec<_>>());
    let shifts = tested(&values, &shifts(&values));
    let considerable = considerable(&values, &shifts);
    let changes = lasting(values.len(), &considerable).unwrap_or_else(|| {
        beyond_switching(&values, &shifts, &mut Random::new(seed)).into_iter().collect()
    });
    let is_change = |at| changes.iter().any(|&(change, _)| change == at);
    let unsure: Vec<Place> = considerable.into_iter().filter(|&(at, _)| !is_change(at)).collect();
    let described = |places: &[Place]| {
        let stretches = stretches(&values, places);
        let described = places.iter().zip(stretches.windows(2)).map(|(&(at, chance), sides)| {
            describe((sides[0], sides[1]), scale, known[at], 1.0 - chance)
        });
        described.collect()
    };
    Found { changes: described(&changes), shifts: described(&unsure) }
}

/// How many more results at the last level would turn these shifts, each the index of the first
/// result after it, into changes, as far as a switching host is the alternative; `None` when no
/// reasonable number would.
#[must_use]
pub fn results_missing(results: usize, shifts: &[usize]) -> Option<usize> {
    let least = RESULTS_MIN.saturating_sub(results);
    (least..RESULTS_MAX).find(|more| chance_of_switching(results + more, shifts) <= ALARM)
}

/// The results between these locations.
fn stretches<'v>(values: &'v [f64], places: &[Place]) -> Vec<&'v [f64]> {
    let mut start = 0;
    let ends = places.iter().map(|&(at, _)| at).chain([values.len()]);
    ends.map(|end| &values[std::mem::replace(&mut start, end)..end]).collect()
}

/// Returns where the level shifts, whatever the cause: the least sum of squares plus a penalty for
/// each shift.
fn shifts(values: &[f64]) -> Vec<usize> {
    let noise = noise(values);
    let values = within_neighbours(values, 3.0 * noise.sqrt());
    let penalty = PENALTY * noise.max(1e-24);
    let sums = |of: fn(f64) -> f64| -> Vec<f64> {
        let mut sum = 0.0;
        let sums = values.iter().map(|&x| {
            sum += of(x - values[0]);
            sum
        });
        [0.0].into_iter().chain(sums).collect()
    };
    let (first, second) = (sums(|x| x), sums(|x| x * x));
    let about_mean = |from: usize, to: usize| {
        let sum = first[to] - first[from];
        (second[to] - second[from] - sum * sum / size(to - from)).max(0.0)
    };
    // The best cost of all results before each index, and where its last segment starts.
    let mut best = vec![(-penalty, 0)];
    for end in 1..=values.len() {
        let starts = (0..=end.saturating_sub(SEGMENT_MIN)).filter(|&s| s == 0 || s >= SEGMENT_MIN);
        let cost = |start: usize| (best[start].0 + about_mean(start, end) + penalty, start);
        let least = starts.map(cost).min_by(|a, b| a.0.total_cmp(&b.0));
        best.push(least.unwrap_or((f64::MAX, 0)));
    }
    let mut at = best[values.len()].1;
    let mut found = Vec::new();
    while at > 0 {
        found.push(at);
        at = best[at].1;
    }
    found.reverse();
    found
}

/// The variance of one result about its level, from the differences of neighbours, without the
/// greatest fifth of them, which contain the shifts.
fn noise(values: &[f64]) -> f64 {
    /// Mean of the lower four fifths of squares of standard normal numbers.
    const KEPT: f64 = 0.437_7;
    let mut squares: Vec<f64> = values.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).collect();
    squares.sort_by(f64::total_cmp);
    mean(&squares[..length((size(squares.len()) * 0.8).ceil())]) / KEPT / 2.0
}

/// The results, none farther than `far` beyond the two before it and the two after it: one bad run
/// is not a level.
fn within_neighbours(values: &[f64], far: f64) -> Vec<f64> {
    let near = |at: usize| {
        let around = at.saturating_sub(2)..(at + 3).min(values.len());
        around.filter(move |&other| other != at).map(|other| values[other])
    };
    let pulled = |(at, &value): (usize, &f64)| {
        let low = near(at).fold(f64::INFINITY, f64::min);
        let high = near(at).fold(f64::NEG_INFINITY, f64::max);
        if low > high { value } else { value.clamp(low - far, high + far) }
    };
    values.iter().enumerate().map(pulled).collect()
}

/// Each shift with the probability that noise shows it somewhere.
fn tested(values: &[f64], shifts: &[usize]) -> Vec<Place> {
    let places: Vec<Place> = shifts.iter().map(|&at| (at, 0.0)).collect();
    let stretches = stretches(values, &places);
    let freedom = size(values.len()) - size(stretches.len());
    let pooled = stretches.iter().map(|stretch| squares(stretch)).sum::<f64>() / freedom.max(1.0);
    // A mean of correlated results is worth that of fewer independent ones.
    let variance = pooled * (1.0 + CORRELATION) / (1.0 - CORRELATION);
    let looks = size(values.len()).powi(2) / 2.0;
    let chance = |(sides, &at): (&[&[f64]], &usize)| {
        let (before, after) = (sides[0], sides[1]);
        let error = (variance / size(before.len()) + variance / size(after.len())).sqrt();
        let apart = mean(after) - mean(before);
        let chance = if error > 0.0 { t_two_sided(apart / error, freedom) } else { 0.0 };
        (at, (chance * looks).min(1.0))
    };
    stretches.windows(2).zip(shifts).map(chance).collect()
}

/// The shifts that are not far smaller than the greatest.
fn considerable(values: &[f64], shifts: &[Place]) -> Vec<Place> {
    let stretches = stretches(values, shifts);
    let sizes = stretches.windows(2).map(|sides| (mean(sides[1]) - mean(sides[0])).abs());
    let sizes: Vec<f64> = sizes.collect();
    let least = CONSIDERABLE * sizes.iter().copied().fold(0.0, f64::max);
    shifts.iter().zip(sizes).filter(|&(_, size)| size >= least).map(|(&place, _)| place).collect()
}

/// The shifts as changes, if a switching host would hardly show so few of them so far apart; `None`
/// if it would.
fn lasting(results: usize, shifts: &[Place]) -> Option<Vec<Place>> {
    let edges: Vec<usize> = shifts.iter().map(|&(at, _)| at).collect();
    let chance = chance_of_switching(results, &edges);
    let sure = shifts.iter().filter(|&&(_, of_noise)| of_noise <= ALARM);
    let sure = sure.map(|&(at, of_noise)| (at, of_noise.max(chance)));
    (results >= RESULTS_MIN && chance <= ALARM).then(|| sure.collect())
}

/// The probability that a switching host shows this many shifts or fewer, at least one, with no two
/// of them nor an end closer to each other than these. There are (n - (j + 1)(m - 1) - 1 over j)
/// ways to place j shifts in n results with m or more between any two.
fn chance_of_switching(results: usize, shifts: &[usize]) -> f64 {
    let edges: Vec<usize> = [0].iter().chain(shifts).chain(&[results]).copied().collect();
    let shortest = edges.windows(2).map(|edge| edge[1] - edge[0]).min().unwrap_or(results);
    let transitions = size(results) - 1.0;
    let of_count = |count: usize| {
        let places = transitions - size((count + 1) * (shortest - 1));
        let ways = (0..count).map(|i| ((places - size(i)) / size(count - i)).ln()).sum::<f64>();
        let switches = size(count);
        let often = (SWITCHING * SWITCHES_SEEN).max(switches / transitions);
        (ways + switches * often.ln() + (transitions - switches) * (-often).ln_1p()).exp()
    };
    (1..=shifts.len()).map(of_count).sum()
}

/// A change of the levels that a history switches between; `None` when its switching explains it.
fn beyond_switching(values: &[f64], shifts: &[Place], random: &mut Random) -> Option<Place> {
    let mut stretches = stretches(values, shifts);
    let (at, apart) = farthest(&stretches);
    let (mut greater, allowed) = (0, length(ALARM_BEYOND * size(PERMUTATIONS + 1)) - 1);
    for _ in 0..PERMUTATIONS {
        random.shuffle(&mut stretches);
        // Rounding depends on the order: almost equal counts as equal.
        if farthest(&stretches).1 >= apart * (1.0 - 1e-9) {
            greater += 1;
            if greater > allowed {
                return None;
            }
        }
    }
    Some((at, size(greater + 1) / size(PERMUTATIONS + 1)))
}

/// The split with the greatest distance between the means before and after, and that distance: the
/// sum of squares that the split explains.
fn farthest(stretches: &[&[f64]]) -> Place {
    let sums: Vec<(f64, usize)> =
        stretches.iter().map(|stretch| (stretch.iter().sum(), stretch.len())).collect();
    let (all, count) = sums.iter().fold((0.0, 0), |(x, n), (sum, of)| (x + sum, n + of));
    let (mut sum, mut at, mut best) = (0.0, 0, (0, 0.0));
    for &(of, runs) in &sums[..sums.len() - 1] {
        (sum, at) = (sum + of, at + runs);
        let (before, after) = (size(at), size(count - at));
        let apart = (all - sum) / after - sum / before;
        let explained = before * after / size(count) * apart * apart;
        if explained > best.1 {
            best = (at, explained);
        }
    }
    best
}

/// Describes a change by the results on its two sides.
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
