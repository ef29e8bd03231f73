//! Where the warm-up ends: MSER-5 (K. P. White, "An effective truncation heuristic for bias reduction in
//! simulation output", Simulation 69, 1997; batches of five: White, Cobb and Spratt, Winter Simulation
//! Conference 2000). The start is cut where the standard error of what remains is least.

use serde::{Deserialize, Serialize};

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
#[must_use]
pub fn warm_up(series: &[f64]) -> WarmUp {
    todo!()
}
