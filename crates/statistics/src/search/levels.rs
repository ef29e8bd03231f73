//! Chooses which numbers of virtual users to measure for a profile.

use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Unbounded};

use serde::{Deserialize, Serialize};

use crate::numbers::whole;

/// Minimum gain of doubling, as a share.
const GAIN_MIN: f64 = 0.05;
/// Consecutive doublings without gain, after which doubling ends.
const WITHOUT_GAIN_MAX: u32 = 2;
/// Highest level, as a multiple of the best one.
const BEYOND: u32 = 4;
/// The knee is the first level with this share of the greatest throughput.
const KNEE: f64 = 0.9;
/// Neighbours closer than this ratio have nothing in between that is worth a run.
const GAP_MIN: f64 = 1.25;

/// Bounds of a search for levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelsPlan {
    /// First level, in virtual users.
    pub first: u32,
    /// Highest level that may be tried, in virtual users.
    pub highest: u32,
    /// Maximum number of levels.
    pub levels_max: usize,
}

impl Default for LevelsPlan {
    fn default() -> Self {
        Self { first: 1, highest: 1_024, levels_max: 12 }
    }
}

/// Chooses levels: doubles until throughput gains little or falls twice, continues to four times
/// the peak if the bounds allow it, then fills in around the peak and the knee.
///
/// The next level depends on the reported levels, not on their order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Levels {
    plan: LevelsPlan,
    reported: BTreeMap<u32, LevelReport>,
}

/// Repeats of a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct LevelReport {
    mean: f64,
    repeats: u32,
}

impl Levels {
    /// Creates a search without results. A `first` of 0 counts as 1, a `highest` below `first` as
    /// `first`.
    #[must_use]
    pub fn new(plan: LevelsPlan) -> Self {
        let first = plan.first.max(1);
        let plan = LevelsPlan { first, highest: plan.highest.max(first), ..plan };
        Self { plan, reported: BTreeMap::new() }
    }

    /// The level to measure next; `None` when the profile is complete. Does not change the search.
    #[must_use]
    pub fn next(&self) -> Option<u32> {
        if self.reported.len() >= self.plan.levels_max {
            return None;
        }
        self.climb().or_else(|| self.beyond()).or_else(|| self.between())
    }

    /// Takes the throughput of a level, in any unit. Repeats of a level are averaged. Values that
    /// are negative or not finite count as 0.
    pub fn report_result(&mut self, level: u32, throughput: f64) {
        let throughput = if throughput.is_finite() { throughput.max(0.0) } else { 0.0 };
        let reported = self.reported.entry(level).or_default();
        reported.repeats = reported.repeats.saturating_add(1);
        let weight = 1.0 / f64::from(reported.repeats);
        reported.mean = reported.mean * (1.0 - weight) + throughput * weight;
    }

    /// The reported levels, ascending, with their mean throughput.
    pub fn reported(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.reported.iter().map(|(level, reported)| (*level, reported.mean))
    }

    /// The next doubling, while doubling gains throughput.
    fn climb(&self) -> Option<u32> {
        let (mut best, mut without_gain) = (0.0, 0);
        let mut level = self.plan.first;
        loop {
            let Some(reported) = self.reported.get(&level) else { return Some(level) };
            without_gain =
                if reported.mean > best * (1.0 + GAIN_MIN) { 0 } else { without_gain + 1 };
            best = f64::max(best, reported.mean);
            if without_gain == WITHOUT_GAIN_MAX || level >= self.plan.highest {
                return None;
            }
            level = level.saturating_mul(2).min(self.plan.highest);
        }
    }

    /// The next doubling up to [`BEYOND`] times the peak: with these levels a curve is well
    /// determined.
    fn beyond(&self) -> Option<u32> {
        let (&last, _) = self.reported.last_key_value()?;
        let enough = self.peak()?.0.saturating_mul(BEYOND).min(self.plan.highest);
        (last < enough).then(|| last.saturating_mul(2).min(self.plan.highest))
    }

    /// The middle of the widest gap next to the peak or below the knee.
    fn between(&self) -> Option<u32> {
        let (peak, most) = self.peak()?;
        let knee = self.reported().find(|(_, throughput)| *throughput >= KNEE * most)?.0;
        let below = |level: u32| self.reported.range(..level).next_back().map(|(&l, _)| (l, level));
        let above = |level: u32| {
            self.reported.range((Excluded(level), Unbounded)).next().map(|(&l, _)| (level, l))
        };
        let gaps = [above(peak), below(peak), below(knee)].into_iter().flatten();
        let ratio = |(low, high): &(u32, u32)| f64::from(*high) / f64::from(*low);
        let wide = gaps.filter(|gap| ratio(gap) > GAP_MIN && gap.1 - gap.0 > 1);
        // Of equally wide gaps, the first.
        let (low, high) = wide.reduce(|a, b| if ratio(&b) > ratio(&a) * 1.01 { b } else { a })?;
        let middle = (f64::from(low) * f64::from(high)).sqrt().round();
        u32::try_from(whole(middle)).ok().map(|middle| middle.clamp(low + 1, high - 1))
    }

    /// The level with the greatest throughput, the lowest of equals; `None` if all throughput is 0.
    fn peak(&self) -> Option<(u32, f64)> {
        let best = self.reported().reduce(|a, b| if b.1 > a.1 { b } else { a })?;
        (best.1 > 0.0).then_some(best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::usl::{Peak, Point, fit};

    fn law(n: u32, sigma: f64, kappa: f64) -> f64 {
        let n = f64::from(n);
        100.0 * n / (1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0))
    }

    /// The levels tried, in order.
    fn tried(plan: LevelsPlan, throughput: impl Fn(u32) -> f64) -> Vec<u32> {
        let mut search = Levels::new(plan);
        let mut tried = Vec::new();
        while let Some(level) = search.next() {
            assert!(!tried.contains(&level), "{level} again after {tried:?}");
            assert!(level >= plan.first && level <= plan.highest.max(plan.first));
            tried.push(level);
            search.report_result(level, throughput(level));
        }
        tried
    }

    #[test]
    fn levels_double_then_go_beyond_the_peak_and_fill_in_around_it() {
        let levels = tried(LevelsPlan::default(), |n| law(n, 0.05, 0.001));
        assert_eq!(levels[..8], [1, 2, 4, 8, 16, 32, 64, 128]);
        assert_eq!(levels.len(), 12);
        assert!(levels[8..].iter().all(|level| (9..64).contains(level)), "{levels:?}");
    }

    #[test]
    fn a_profile_of_chosen_levels_shows_the_peak() {
        let mut random = Random::new(71);
        let mut near = 0;
        for _ in 0..100 {
            let mut search = Levels::new(LevelsPlan::default());
            let mut points = Vec::new();
            while let Some(users) = search.next() {
                let mut sum = 0.0;
                for _ in 0..3 {
                    let throughput = law(users, 0.05, 0.001) * (1.0 + 0.03 * random.normal());
                    points.push(Point { users, throughput });
                    sum += throughput / 3.0;
                }
                search.report_result(users, sum);
            }
            if let Peak::Reached { users, .. } = fit(&points).unwrap().peak {
                near += usize::from((users.value / 30.8 - 1.0).abs() < 0.1);
            }
        }
        assert!(near >= 95, "{near} of 100");
    }

    #[test]
    fn the_bounds_hold() {
        let plan = LevelsPlan { first: 3, highest: 50, levels_max: 100 };
        let levels = tried(plan, f64::from);
        assert_eq!(levels[..6], [3, 6, 12, 24, 48, 50]);
        assert!(levels.len() < 20);
        let plan = LevelsPlan { levels_max: 4, ..plan };
        assert_eq!(tried(plan, f64::from), [3, 6, 12, 24]);
        let one = LevelsPlan { first: 7, highest: 2, levels_max: 9 };
        assert_eq!(tried(one, f64::from), [7]);
        assert_eq!(tried(LevelsPlan { levels_max: 0, ..plan }, f64::from), [0_u32; 0]);
        let whole = LevelsPlan { first: 1, highest: u32::MAX, levels_max: 60 };
        assert!(tried(whole, f64::from).contains(&u32::MAX));
    }

    #[test]
    fn a_target_that_does_not_scale_ends_soon() {
        assert!(tried(LevelsPlan::default(), |_| 70.0).len() <= 4);
        assert_eq!(tried(LevelsPlan::default(), |_| 0.0), [1, 2]);
    }

    #[test]
    fn telling_the_same_results_again_leads_to_the_same_place() {
        let mut first = Levels::new(LevelsPlan::default());
        let mut results = Vec::new();
        for _ in 0..9 {
            let level = first.next().unwrap();
            first.report_result(level, law(level, 0.02, 0.0005));
            results.push(level);
            let mut again = Levels::new(LevelsPlan::default());
            results.iter().rev().for_each(|&n| again.report_result(n, law(n, 0.02, 0.0005)));
            assert_eq!(again.next(), first.next());
            let text = serde_json::to_string(&first).unwrap();
            assert_eq!(serde_json::from_str::<Levels>(&text).unwrap().next(), first.next());
        }
    }
}
