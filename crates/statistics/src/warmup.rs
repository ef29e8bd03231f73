//! Where the warm-up ends: MSER-5 (K. P. White, "An effective truncation heuristic for bias
//! reduction in simulation output", Simulation 69, 1997; batches of five: White, Cobb and Spratt,
//! Winter Simulation Conference 2000). The start is cut where the standard error of the remainder
//! is least, which is best for the mean. It does not mean that the level was reached there. After
//! an exponential warm-up under noise of 3 %, the level at the cut is still more than 1 % low in
//! about half the series, because a smaller difference cannot be detected in the few points after
//! it. [`settled`] makes a statement about the level.
//!
//! What follows a point is no yardstick for the level at that point: while a series approaches its
//! level, all of it is low. So [`settled`] fits exponential approaches of every speed up to
//! [`SLOWEST`] to what remains after the cut, and answers with the point from which none of those
//! that the noise allows is still more than 1 % away from its own asymptote. The cut itself falls
//! where noise hides what is left of the approach, so that the points after it look more level than
//! they are. Therefore the points from three quarters of the cut on must show the same.

use serde::{Deserialize, Serialize};

use crate::numbers::{length, mean, scaled, size, squares};
use crate::series::{Verdict, summarise};

/// Share of the level within which a start counts as settled.
pub const SETTLED: f64 = 0.01;
/// Slowest approach that is considered, as a share of the series after the cut: a slower one looks
/// like a straight line, and no series can exclude it.
pub const SLOWEST: f64 = 0.7;
/// Fastest approach that is considered, in points, and the factor from one to the next.
const FASTEST: f64 = 2.5;
const FASTER: f64 = 1.2;
/// The 99.9 % quantile of the normal distribution: certainty of the bound of each approach.
const SURE: f64 = 3.09;
/// An approach is possible if its sum of squares exceeds the least by at most this many variances.
const POSSIBLE: f64 = SURE * SURE;
/// Number of means that the series is reduced to for the fits.
const MEANS: usize = 200;
/// Number of points in a batch.
pub const BATCH: usize = 5;
/// Minimum number of points that are judged.
pub const POINTS_MIN: usize = 50;

/// Where the warm-up of a series ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum WarmUp {
    /// The first `points` points are warm-up; 0 if the series is level from its start.
    Ends {
        /// A multiple of [`BATCH`], at most half of the series.
        points: usize,
    },
    /// The least standard error requires cutting more than half of the points: the series did not
    /// settle.
    NotFound,
    /// Fewer than [`POINTS_MIN`] points.
    TooShort,
}

/// Finds the end of the warm-up of a series of one figure per interval, such as transactions per
/// second. Points that are not finite are ignored.
#[must_use]
pub fn warm_up(series: &[f64]) -> WarmUp {
    let (points, _) = scaled(series);
    if points.len() < POINTS_MIN {
        return WarmUp::TooShort;
    }
    let batches: Vec<f64> = points.chunks_exact(BATCH).map(mean).collect();
    let cut = least_error(&batches);
    // White's guard: a cut in the second half is based on too few batches.
    if 2 * cut > batches.len() { WarmUp::NotFound } else { WarmUp::Ends { points: cut * BATCH } }
}

/// The first point from which the level is known to be within [`SETTLED`] of the asymptote that the
/// series approaches, given where the warm-up was cut; `None` if noise or a drift hides that.
///
/// By simulation of exponential approaches from 5 to 50 % with time constants up to a third of the
/// series, noise of 1 to 6 % and a correlation of neighbours up to 0.6, at most 1 % of the answers
/// are wrong: the level at the point is more than 1 % away. The exception is an approach from 10 %
/// with a third of the series under noise of 1 % that is correlated by 0.6: 4 % of the answers are
/// wrong, and only 1 % of the series have one.
#[must_use]
pub fn settled(series: &[f64], cut: usize) -> Option<usize> {
    let (points, _) = scaled(series);
    let rest = points.get(cut..)?;
    let summary = summarise(rest);
    let error = summary.standard_error?;
    if summary.verdict != Verdict::Steady || summary.mean == 0.0 {
        return None;
    }
    let variance = error * error * size(rest.len());
    let mut settled = cut;
    for start in [cut, cut * 3 / 4] {
        settled = settled.max(start + approached(&points[start..], variance)?);
    }
    (settled < points.len()).then_some(settled)
}

/// Number of points after which no approach that is possible under noise of this long-run variance
/// is more than [`SETTLED`] away from its asymptote; `None` if one of them has none above 0.
fn approached(series: &[f64], variance: f64) -> Option<usize> {
    let each = (series.len() / MEANS).max(1);
    let means: Vec<f64> = series.chunks_exact(each).map(mean).collect();
    let variance = variance / size(each);
    let fastest = FASTEST.max(size(each));
    let constants = std::iter::successors(Some(fastest), |constant| Some(constant * FASTER));
    let constants = constants.take_while(|constant| *constant <= SLOWEST * size(series.len()));
    let fits: Vec<Approach> =
        constants.map(|constant| Approach::fit(&means, size(each), constant)).collect();
    let least = fits.iter().map(|fit| fit.squares).fold(f64::INFINITY, f64::min);
    let possible = fits.iter().filter(|fit| fit.squares - least <= POSSIBLE * variance);
    let within = possible.map(|fit| fit.within(variance));
    within.collect::<Option<Vec<usize>>>()?.into_iter().max()
}

/// An exponential approach `asymptote + distance × exp(-t / constant)`, fitted by least squares.
struct Approach {
    /// Time constant, in points.
    constant: f64,
    asymptote: f64,
    /// Distance from the asymptote at the start.
    distance: f64,
    /// Variance of the distance, relative to that of the noise.
    spread: f64,
    /// Sum of squares of what remains.
    squares: f64,
}

impl Approach {
    fn fit(means: &[f64], each: f64, constant: f64) -> Self {
        let left = |at: usize| (-(size(at) + 0.5) * each / constant).exp();
        let left: Vec<f64> = (0..means.len()).map(left).collect();
        let (of_left, of_means) = (mean(&left), mean(means));
        let pairs = left.iter().zip(means);
        let product: f64 = pairs.map(|(left, mean)| (left - of_left) * (mean - of_means)).sum();
        let spread = 1.0 / squares(&left);
        let distance = product * spread;
        Self {
            constant,
            asymptote: of_means - distance * of_left,
            distance,
            spread,
            squares: squares(means) - distance * product,
        }
    }

    /// Number of points until it is surely within [`SETTLED`] of its asymptote.
    fn within(&self, variance: f64) -> Option<usize> {
        let farthest = self.distance.abs() + SURE * (variance * self.spread).sqrt();
        let times = farthest / (SETTLED * self.asymptote);
        let points = self.constant * times.max(1.0).ln();
        (self.asymptote > 0.0 && points.is_finite()).then(|| length(points.ceil()))
    }
}

/// Number of batches to cut. The last [`BATCH`] batches are never considered as a remainder,
/// because a few batches that happen to be equal would win.
fn least_error(batches: &[f64]) -> usize {
    let centre = mean(batches);
    let (mut sum, mut squares) = (0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    for (cut, batch) in batches.iter().enumerate().rev() {
        let value = batch - centre;
        sum += value;
        squares += value * value;
        let left = size(batches.len() - cut);
        // What cancels to rounding errors counts as no variance, so that a level series is not cut
        // at all.
        let about_mean = squares - sum * sum / left;
        let error = if about_mean < 1e-13 * left { 0.0 } else { about_mean / (left * left) };
        if batches.len() - cut >= BATCH && error <= best.0 {
            best = (error, cut);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// A series that grows to its level exponentially, with AR(1) noise.
    fn warming(random: &mut Random, points: usize, tau: f64, noise: f64) -> Vec<f64> {
        let noise_of = random.ar1(points, 0.3);
        let level = |t: usize| 1.0 - 0.5 * (-size(t) / tau).exp();
        noise_of.iter().enumerate().map(|(t, e)| 1_000.0 * (level(t) + noise * e)).collect()
    }

    #[test]
    fn a_warm_up_is_cut_and_little_more() {
        let mut random = Random::new(1);
        let (mut found, runs) = (0, 500);
        for _ in 0..runs {
            let series = warming(&mut random, 400, 15.0, 0.03);
            if let WarmUp::Ends { points } = warm_up(&series) {
                // At 25 points the bias is below 10 %, at 200 far below the noise.
                found += usize::from((25..=200).contains(&points));
            }
        }
        assert!(found * 100 >= runs * 95, "{found} of {runs}");
    }

    /// An approach: its distance at the start as a share of the level, and its time constant.
    type Shape = (f64, f64);

    /// Approaches of which a series of 360 points can show the asymptote.
    const SHAPES: [Shape; 9] = [
        (0.5, 5.0),
        (0.5, 15.0),
        (0.5, 30.0),
        (0.5, 60.0),
        (0.1, 15.0),
        (0.1, 60.0),
        (0.1, 120.0),
        (0.05, 30.0),
        (0.05, 120.0),
    ];

    /// Counts over simulated series.
    #[derive(Debug, Default)]
    struct Tally {
        cut: usize,
        low_at_cut: usize,
        answers: usize,
        wrong: usize,
    }

    /// Of series whose warm-up was cut: how often the level at the cut was more than 1 % low, how
    /// often there was a point from which it had settled, and how often it was more than 1 % low
    /// there.
    fn tally((share, constant): Shape, noise: f64, rho: f64, runs: usize, seed: u64) -> Tally {
        let mut random = Random::new(seed);
        let mut tally = Tally::default();
        let away = |t: usize| share * (-size(t) / constant).exp();
        let is_low = |point: usize| usize::from(away(point) > SETTLED);
        for _ in 0..runs {
            let made = random.ar1(360, rho).into_iter().enumerate();
            let series: Vec<f64> =
                made.map(|(t, e)| 1_000.0 * (1.0 - away(t) + noise * e)).collect();
            let WarmUp::Ends { points } = warm_up(&series) else { continue };
            (tally.cut, tally.low_at_cut) = (tally.cut + 1, tally.low_at_cut + is_low(points));
            if let Some(point) = settled(&series, points) {
                (tally.answers, tally.wrong) = (tally.answers + 1, tally.wrong + is_low(point));
            }
        }
        tally
    }

    /// At most 1 % of the answers are wrong, beyond chance, in every cell.
    fn answers_are_right(runs: usize, seed: u64) {
        for shape in SHAPES {
            for (noise, rho) in [(0.01, 0.3), (0.03, 0.3), (0.06, 0.3), (0.01, 0.6), (0.03, 0.6)] {
                let tally = tally(shape, noise, rho, runs, seed);
                let seen = format!("{shape:?}, {noise}, ρ {rho}: {tally:?}");
                println!("{seen}");
                // One wrong answer of a few is chance, too.
                let expected = 0.01 * size(tally.answers);
                let chance = 3.0 * expected.sqrt() + 1.0;
                assert!(size(tally.wrong) <= expected + chance, "{seen}");
            }
        }
    }

    #[test]
    fn what_has_settled_is_within_1_per_cent_of_its_asymptote() {
        answers_are_right(60, 31);
    }

    #[test]
    #[ignore = "a minute of CPU; prints the figures of docs/steadiness.md"]
    fn what_has_settled_is_within_1_per_cent_of_its_asymptote_in_many() {
        answers_are_right(2_000, crate::random::seed(31));
    }

    /// The cut is too early where noise hides the rest of a slow approach, and the points after it
    /// then look level.
    fn a_hidden_approach_has_few_answers(runs: usize, seed: u64) {
        for rho in [0.3, 0.6] {
            let tally = tally((0.1, 120.0), 0.01, rho, runs, seed);
            println!("ρ {rho}: {tally:?}");
            assert!(tally.answers * 50 <= runs, "{tally:?}");
            assert!(size(tally.wrong) <= 1.0 + 0.0006 * size(runs), "{tally:?}");
        }
    }

    #[test]
    fn an_approach_that_noise_hides_at_the_cut_is_seen_before_it() {
        a_hidden_approach_has_few_answers(5_000, 31);
    }

    #[test]
    #[ignore = "half a minute of CPU; prints the figures of docs/steadiness.md"]
    fn an_approach_that_noise_hides_at_the_cut_is_seen_before_it_in_many() {
        a_hidden_approach_has_few_answers(40_000, crate::random::seed(31));
    }

    #[test]
    fn what_has_settled_is_mostly_found_and_the_cut_claims_less() {
        for shape in [(0.5, 5.0), (0.5, 15.0)] {
            for noise in [0.01, 0.03] {
                let tally = tally(shape, noise, 0.3, 300, 31);
                assert!(tally.answers * 2 >= tally.cut, "{shape:?}, {noise}: {tally:?}");
            }
            let tally = tally(shape, 0.03, 0.3, 300, 31);
            assert!(tally.low_at_cut * 10 >= tally.cut * 4, "{shape:?}: {tally:?}");
        }
    }

    #[test]
    fn a_level_that_never_was_low_has_settled_at_once_where_there_is_no_noise() {
        assert_eq!(settled(&[1_234.5; 300], 0), Some(0));
        assert_eq!(settled(&[0.0; 300], 0), None);
        assert_eq!(settled(&[1.0; 20], 0), None);
        assert_eq!(settled(&[1.0; 20], 30), None);
        let rising: Vec<f64> = (0..300).map(|t| 1_000.0 + f64::from(t)).collect();
        assert_eq!(settled(&rising, 0), None);
    }

    #[test]
    fn a_steady_series_keeps_its_mean_and_most_of_its_points() {
        let mut random = Random::new(3);
        let (mut not_found, mut cut, mut covered, runs) = (0, 0, 0, 1_000);
        for _ in 0..runs {
            let noise = random.ar1(300, 0.3);
            let series: Vec<f64> = noise.iter().map(|e| 1_000.0 * (1.0 + 0.03 * e)).collect();
            let WarmUp::Ends { points } = warm_up(&series) else {
                not_found += 1;
                continue;
            };
            cut += points;
            let interval = summarise(&series[points..]).interval;
            covered += usize::from(interval.is_some_and(|interval| interval.contains(1_000.0)));
        }
        assert!(not_found * 100 <= runs * 4, "not found: {not_found} of {runs}");
        assert!(cut <= 15 * runs, "{cut} points of {runs} series");
        let share = size(covered) / size(runs - not_found);
        assert!((0.93..=0.97).contains(&share), "{share}");
    }

    #[test]
    fn what_keeps_warming_up_is_not_found() {
        let rising: Vec<f64> = (0..300).map(|t| 1_000.0 + f64::from(t)).collect();
        assert_eq!(warm_up(&rising), WarmUp::NotFound);
    }

    #[test]
    fn a_level_series_is_not_cut() {
        assert_eq!(warm_up(&[1_234.5; 300]), WarmUp::Ends { points: 0 });
    }

    #[test]
    fn a_short_series_is_not_judged() {
        assert_eq!(warm_up(&[1.0; 49]), WarmUp::TooShort);
    }

    #[test]
    fn the_unit_does_not_matter() {
        let mut random = Random::new(2);
        for _ in 0..100 {
            let series = warming(&mut random, 200, 10.0, 0.05);
            let minutes: Vec<f64> = series.iter().map(|x| x * 64.0).collect();
            assert_eq!(warm_up(&series), warm_up(&minutes));
        }
    }
}
