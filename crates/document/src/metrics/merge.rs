//! Merges values of neighbouring intervals; the only place that does so.

use serde::{Deserialize, Serialize};

/// Rule for merging several seconds into one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Merge {
    /// The sum.
    Sum,
    /// The last value.
    Last,
    /// The minimum, for values that are measured now and then and are best when small, such as a
    /// round trip.
    Min,
    /// The maximum: the value of the worst second.
    Max,
    /// The mean, weighted by seconds.
    Mean,
    /// Computed from merged metrics: a weighted mean.
    Parts,
}

impl Merge {
    /// Name in the store.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Last => "last",
            Self::Min => "min",
            Self::Max => "max",
            Self::Mean => "mean",
            Self::Parts => "parts",
        }
    }

    /// Finds the rule by its name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let all = [Self::Sum, Self::Last, Self::Min, Self::Max, Self::Mean, Self::Parts];
        all.into_iter().find(|merge| merge.name() == name)
    }

    /// Merges the values of two consecutive intervals of these lengths in seconds. If one was not
    /// measured, the result is the other.
    #[must_use]
    pub fn of(self, values: [Option<f64>; 2], seconds: [f64; 2]) -> Option<f64> {
        let [Some(a), Some(b)] = values else { return values[0].or(values[1]) };
        match self {
            Self::Sum => Some(a + b),
            Self::Last => Some(b),
            Self::Min => Some(a.min(b)),
            Self::Max => Some(a.max(b)),
            Self::Mean => Some((a * seconds[0] + b * seconds[1]) / (seconds[0] + seconds[1])),
            Self::Parts => None,
        }
    }
}

/// Accumulates a value over the seconds in which it was measured.
#[derive(Clone, Copy, Debug, Default)]
struct Folded {
    value: Option<f64>,
    seconds: f64,
}

impl Folded {
    fn add(&mut self, merge: Merge, value: f64, seconds: f64) {
        self.value = merge.of([self.value, Some(value)], [self.seconds, seconds]);
        self.seconds += seconds;
    }
}

/// Minimum, mean and maximum over the seconds of an interval.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spread([Folded; 3]);

impl Spread {
    /// Adds a value that applies to a number of seconds.
    pub fn add(&mut self, value: f64, seconds: f64) {
        for (folded, merge) in self.0.iter_mut().zip([Merge::Min, Merge::Mean, Merge::Max]) {
            folded.add(merge, value, seconds);
        }
    }

    /// Minimum, mean and maximum; `None` if nothing was measured.
    #[must_use]
    pub fn values(&self) -> Option<[f64; 3]> {
        let [least, mean, most] = self.0.map(|folded| folded.value);
        Some([least?, mean?, most?])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_does_what_it_says_and_a_gap_changes_nothing() {
        let merged = |merge: Merge| merge.of([Some(2.0), Some(8.0)], [3.0, 1.0]);
        let rules = [Merge::Sum, Merge::Last, Merge::Min, Merge::Max, Merge::Mean, Merge::Parts];
        let expected = [Some(10.0), Some(8.0), Some(2.0), Some(8.0), Some(3.5), None];
        assert_eq!(rules.map(merged), expected);
        for merge in rules {
            assert_eq!(merge.of([Some(2.0), None], [3.0, 1.0]), Some(2.0));
            assert_eq!(merge.of([None, Some(8.0)], [3.0, 1.0]), Some(8.0));
            assert_eq!(Merge::named(merge.name()), Some(merge));
        }
    }

    #[test]
    fn a_spread_weighs_by_the_seconds_in_which_there_was_a_value() {
        let mut spread = Spread::default();
        assert_eq!(spread.values(), None);
        for (value, seconds) in [(4.0, 1.0), (1.0, 2.0), (9.0, 1.0)] {
            spread.add(value, seconds);
        }
        assert_eq!(spread.values(), Some([1.0, 3.75, 9.0]));
    }
}
