//! Detects lasting changes in a sequence of results.
//!
//! Does the level drift all along? A host that slows down by a little with every run is not one
//! that changed: a steady drift is fitted together with the shifts, and subtracted, if it explains
//! more than its cost.
//!
//! Then three questions in turn:
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
/// Minimum number of ratios to a reference that can show a change.
pub const RATIOS_MIN: usize = 8;
/// Probability that noise of the ratios to a reference is mistaken for a change, each time that the
/// history is checked.
const ALARM_OF_RATIOS: f64 = 0.1;
/// What a drift costs that makes a shift unnecessary, as a share of what a shift costs: shifts must
/// fit clearly better than it.
const IN_PLACE: f64 = 0.3;
/// Maximum number of times that a drift and the shifts beside it are fitted in turn.
const DRIFT_STEPS: usize = 4;
/// Minimum variance of a result, of scaled results: rounding errors.
const NOISE_MIN: f64 = 1e-24;
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

impl ChangePoint {
    /// The change at another level.
    fn moved(self, by: f64) -> Self {
        if by == 0.0 {
            return self;
        }
        let (before, after) = (finite(self.before + by), finite(self.after + by));
        let ratio = (before != 0.0).then(|| finite(after / before));
        Self { before, after, ratio, ..self }
    }
}

/// What a sequence of results shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SequenceFindings {
    /// By how much the level drifts from one result to the next, if a steady drift explains the
    /// results better than shifts alone; changes and shifts are then those beside it.
    pub drift: Option<f64>,
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
pub fn change_points(results: &[f64], seed: u64) -> SequenceFindings {
    let known: Vec<usize> = (0..results.len()).filter(|&i| results[i].is_finite()).collect();
    let known = &known[known.len().saturating_sub(RESULTS_MAX)..];
    let (values, scale) = scaled(&known.iter().map(|&i| results[i]).collect::<Vec<_>>());
    let (slope, places) = drift(&values);
    let values = level(&values, slope);
    let sloping = slope != 0.0;
    let shifts = tested(&values, &places, CORRELATION, sloping);
    let considerable = considerable(&values, &shifts);
    let changes = lasting(values.len(), &considerable).unwrap_or_else(|| {
        beyond_switching(&values, &shifts, &mut Random::new(seed)).into_iter().collect()
    });
    let is_change = |at| changes.iter().any(|&(change, _)| change == at);
    let unsure: Vec<Place> = considerable.into_iter().filter(|&(at, _)| !is_change(at)).collect();
    let described = |places: &[Place]| -> Vec<ChangePoint> {
        let found = all_described(&values, places, scale, known, sloping);
        // At the time of each change.
        let there = |at: usize| slope * (size(at) - middle(values.len())) * scale;
        let places = places.iter().map(|&(at, _)| there(at));
        found.into_iter().zip(places).map(|(point, drifted)| point.moved(drifted)).collect()
    };
    let drift = (slope != 0.0).then_some(slope * scale);
    SequenceFindings { drift, changes: described(&changes), shifts: described(&unsure) }
}

/// Finds the changes in ratios of results to those of a reference that was measured beside them.
/// Whatever the host does affects both, so that a shift of their ratio is a change as soon as noise
/// does not explain it: nothing drifts, and no host switches. Otherwise as [`change_points`].
#[must_use]
pub fn change_points_of_ratios(ratios: &[f64]) -> SequenceFindings {
    let known: Vec<usize> = (0..ratios.len()).filter(|&i| ratios[i].is_finite()).collect();
    let known = &known[known.len().saturating_sub(RESULTS_MAX)..];
    let (values, scale) = scaled(&known.iter().map(|&i| ratios[i]).collect::<Vec<_>>());
    if values.len() < RATIOS_MIN {
        return SequenceFindings::default();
    }
    let shifts = tested(&values, &partition(&values).1, 0.0, false);
    let (changes, unsure): (Vec<Place>, Vec<Place>) =
        shifts.into_iter().partition(|&(_, of_noise)| of_noise <= ALARM_OF_RATIOS);
    let described = |places: &[Place]| all_described(&values, places, scale, known, false);
    SequenceFindings { drift: None, changes: described(&changes), shifts: described(&unsure) }
}

/// Describes changes at these places of the scaled values; `known` has their indices. `sloping`
/// says whether a drift was subtracted.
fn all_described(
    values: &[f64],
    places: &[Place],
    scale: f64,
    known: &[usize],
    sloping: bool,
) -> Vec<ChangePoint> {
    let stretches = stretches(values, places);
    let spread = if sloping { spread(&stretches) } else { f64::INFINITY };
    let described = places.iter().zip(stretches.windows(2)).map(|(&(at, chance), sides)| {
        describe((sides[0], sides[1]), spread, scale, known[at], 1.0 - chance)
    });
    described.collect()
}

/// Sum of squares of the places in their stretches: the variance of a result over it is that of the
/// slope.
fn spread(stretches: &[&[f64]]) -> f64 {
    let of_stretch = |count: f64| count * (count * count - 1.0) / 12.0;
    stretches.iter().map(|stretch| of_stretch(size(stretch.len()))).sum()
}

/// Variance of the difference between two neighbouring stretches, in variances of a result: that of
/// their means, and that of a slope times the distance of their centres.
fn of_difference(before: &[f64], after: &[f64], spread: f64) -> f64 {
    let (before, after) = (size(before.len()), size(after.len()));
    1.0 / before + 1.0 / after + ((before + after) / 2.0).powi(2) / spread
}

/// The slope of a steady drift, and the shifts beside it: of all results without a drift, or with
/// the one that fits best together with its shifts, whichever has the least cost. A drift costs as
/// much as a shift.
fn drift(values: &[f64]) -> (f64, Vec<usize>) {
    let (level_cost, shifts) = partition(values);
    let mut best = (level_cost, 0.0, shifts.clone());
    if values.len() < RESULTS_MIN {
        return (0.0, shifts);
    }
    let of_shift = PENALTY * noise(values).max(NOISE_MIN);
    // A drift in place of shifts can look like them.
    let all = shifts.len();
    let penalty =
        |beside: &[usize]| if beside.len() < all { IN_PLACE * of_shift } else { of_shift };
    // From all results as one stretch, from the shifts found without a drift, and from each alone.
    let alone = shifts.iter().map(|&at| vec![at]).collect::<Vec<_>>();
    for start in [vec![Vec::new(), shifts], alone].concat() {
        let mut shifts = start;
        for _ in 0..DRIFT_STEPS {
            let slope = slope(values, &shifts);
            let (cost, beside) = partition(&level(values, slope));
            if cost + penalty(&beside) < best.0 {
                best = (cost + penalty(&beside), slope, beside.clone());
            }
            if beside == shifts {
                break;
            }
            shifts = beside;
        }
    }
    (best.1, best.2)
}

/// The slope common to the stretches between shifts: least squares.
fn slope(values: &[f64], shifts: &[usize]) -> f64 {
    let places: Vec<Place> = shifts.iter().map(|&at| (at, 0.0)).collect();
    let (mut products, mut squares) = (0.0, 0.0);
    for stretch in stretches(values, &places) {
        let (centre, level) = (middle(stretch.len()), mean(stretch));
        for (at, value) in stretch.iter().enumerate() {
            products += (size(at) - centre) * (value - level);
            squares += (size(at) - centre).powi(2);
        }
    }
    if squares > 0.0 { products / squares } else { 0.0 }
}

/// The results without a drift, at the level of the middle.
fn level(values: &[f64], slope: f64) -> Vec<f64> {
    let centre = middle(values.len());
    values.iter().enumerate().map(|(at, value)| value - slope * (size(at) - centre)).collect()
}

fn middle(results: usize) -> f64 {
    (size(results) - 1.0) / 2.0
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
/// each shift, and that cost.
fn partition(values: &[f64]) -> (f64, Vec<usize>) {
    let noise = noise(values);
    let values = within_neighbours(values, 3.0 * noise.sqrt());
    let penalty = PENALTY * noise.max(NOISE_MIN);
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
    (best[values.len()].0, found)
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

/// Each shift with the probability that noise shows it somewhere, if neighbours are correlated by
/// `rho`. `sloping` says whether a drift was subtracted.
fn tested(values: &[f64], shifts: &[usize], rho: f64, sloping: bool) -> Vec<Place> {
    let places: Vec<Place> = shifts.iter().map(|&at| (at, 0.0)).collect();
    let stretches = stretches(values, &places);
    let (spread, slopes) = if sloping { (spread(&stretches), 1.0) } else { (f64::INFINITY, 0.0) };
    let freedom = size(values.len()) - size(stretches.len()) - slopes;
    let pooled = stretches.iter().map(|stretch| squares(stretch)).sum::<f64>() / freedom.max(1.0);
    // A mean of correlated results is worth that of fewer independent ones.
    let variance = pooled * (1.0 + rho) / (1.0 - rho);
    let looks = size(values.len()).powi(2) / 2.0;
    let chance = |(sides, &at): (&[&[f64]], &usize)| {
        let (before, after) = (sides[0], sides[1]);
        let error = (variance * of_difference(before, after, spread)).sqrt();
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
    spread: f64,
    scale: f64,
    at: usize,
    confidence: f64,
) -> ChangePoint {
    let side = |values: &[f64]| {
        let n = size(values.len());
        (mean(values), squares(values) / (n - 1.0) / n, n - 1.0)
    };
    let ((low, of_low, free_low), (high, of_high, free_high)) = (side(before), side(after));
    let (n_before, n_after) = (size(before.len()), size(after.len()));
    let of_one = (of_low * n_before + of_high * n_after) / 2.0;
    let of_slope = of_one * ((n_before + n_after) / 2.0).powi(2) / spread;
    let half_width = t_975(freedom((of_low, free_low), (of_high, free_high)))
        * (of_low + of_high + of_slope).sqrt();
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
