//! The document of a capacity search, its limit, and what a probe measured.

mod document;
mod limit;
mod measured;

pub use document::{
    CAPACITY_FORMAT, CapacityResult, Confirmed, FailedProbe, Probe, Reason, within_completed,
};
pub use limit::{LatencyLimit, Percentile};
