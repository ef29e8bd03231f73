//! When a sequence of results changed: E-divisive means (Matteson and James, "A nonparametric approach for
//! multiple change point analysis of multivariate data", JASA 109, 2014), as MongoDB does for its
//! performance tests (Daly et al., ICPE 2020).

use serde::{Deserialize, Serialize};

use crate::Interval;

/// Fewest results on either side of a change.
pub const SEGMENT_MIN: usize = 3;

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
    /// 95 % interval of `after` - `before`, as Welch's t gives it.
    pub difference: Interval,
    /// 1 - the permutation test's p-value, from 0.95 to 1.
    pub confidence: f64,
}

/// Finds the changes in results in the order of time, one figure a run. Results that are not finite are
/// taken as missing; indices are those of `results`. The same results and seed give the same changes.
#[must_use]
pub fn change_points(results: &[f64], seed: u64) -> Vec<ChangePoint> {
    todo!()
}
