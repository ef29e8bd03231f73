//! The document of a profile: its levels, the fitted curve, and the findings.

mod document;
mod findings;
mod level_unit;

pub use crate::repeats::LevelRun;
pub use document::{
    Curve, FailedLevel, Level, Order, PROFILE_FORMAT, PrimaryMetricName, ProfileResult, Usl,
};
pub use findings::parameter;
pub use level_unit::{LevelUnit, TEST};
