//! The document of a capacity search, its limit, and what a probe measured.

mod document;
mod limit;
mod measured;

pub use document::{CAPACITY_FORMAT, CapacityResult, FailedProbe, Probe, Reason};
pub(crate) use document::{Confirmed, within_completed};
pub use limit::{LatencyLimit, Percentile};
