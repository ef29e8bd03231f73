//! When a run has measured long enough: the interval of its mean is narrow enough, and not by luck.

use serde::{Deserialize, Serialize};

/// What is asked of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// Half the 95 % interval over the mean: 0.01 is ± 1 %.
    pub relative_half_width: f64,
    /// Points after which the run ends whatever it has reached.
    pub points_max: usize,
}

/// What to do now. Points are intervals of the series, commonly seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Decision {
    /// The target is reached.
    Stop,
    /// Measure on.
    GoOn {
        /// About how many more points are needed; `None` while it is too early to say.
        more_points: Option<usize>,
    },
    /// At this noise the target is not reached within the limit.
    NotWithinLimit {
        /// About how many points the whole series would need; `None` when it drifts, so that no length
        /// would do.
        points_needed: Option<usize>,
    },
}

/// Decides from the series so far (without warm-up). May be asked after every point.
#[must_use]
pub fn decide(series: &[f64], target: Target) -> Decision {
    todo!()
}
