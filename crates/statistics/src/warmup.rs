//! Where the warm-up ends: MSER-5 (K. P. White, "An effective truncation heuristic for bias reduction in
//! simulation output", Simulation 69, 1997; batches of five: White, Cobb and Spratt, Winter Simulation
//! Conference 2000). The start is cut where the standard error of what remains is least.

use serde::{Deserialize, Serialize};

use crate::numbers::{mean, scaled, size};

/// Points in a batch.
pub const BATCH: usize = 5;
/// Fewest points that are judged.
pub const POINTS_MIN: usize = 50;

/// Where the warm-up of a series ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum WarmUp {
    /// The first `points` points are warm-up; 0 when the series is level from its start.
    Ends {
        /// A multiple of [`BATCH`], at most half of the series.
        points: usize,
    },
    /// The least standard error needs more than half of the points cut: the series did not settle.
    NotFound,
    /// Fewer than [`POINTS_MIN`] points.
    TooShort,
}

/// Finds the end of the warm-up of a series of one figure an interval, such as transactions a second.
/// Points that are not finite are left out.
#[must_use]
pub fn warm_up(series: &[f64]) -> WarmUp {
    let (points, _) = scaled(series);
    if points.len() < POINTS_MIN {
        return WarmUp::TooShort;
    }
    let batches: Vec<f64> = points.chunks_exact(BATCH).map(mean).collect();
    let cut = least_error(&batches);
    // White's guard: a cut in the second half rests on too few batches.
    if 2 * cut > batches.len() { WarmUp::NotFound } else { WarmUp::Ends { points: cut * BATCH } }
}

/// How many batches to cut. The last [`BATCH`] batches are never a remainder of their own, because a few
/// batches that happen to be alike would win.
fn least_error(batches: &[f64]) -> usize {
    let centre = mean(batches);
    let (mut sum, mut squares) = (0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    for (cut, batch) in batches.iter().enumerate().rev() {
        let value = batch - centre;
        sum += value;
        squares += value * value;
        let left = size(batches.len() - cut);
        // What cancels to rounding counts as no variance, so that a level series is not cut at all.
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
            let interval = crate::series::summarise(&series[points..]).interval;
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
