//! The document of `why`: what the sessions of a run did or waited for, more in a stretch than in the
//! rest of its timed window, or at all. It is computed from the observations of each second.

mod document;
mod evidence;
mod observations;
mod stretch;
mod words;

pub use document::{
    Basis, Cause, CauseEvent, CauseFigures, CauseStatement, Evidence, Lock, OWN, Part, WHY_FORMAT,
    Waits, WhyResult,
};
pub use observations::{Observations, SampledSeries};
pub use stretch::{Stretch, window};
