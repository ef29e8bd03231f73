//! The mathematics of measurement: pure functions on slices, seeded where they need randomness, and
//! state machines without input or output. Nothing here depends on a database, a run or a clock; a
//! series is a slice of one figure per interval (usually a second), a sample is a slice of one
//! figure per run.
//!
//! | question | module |
//! |---|---|
//! | where does the warm-up end? | [`warmup`] |
//! | what is the mean of a series, how precise is it, and was it steady? | [`series`] |
//! | has the run been long enough? | [`until_ci`] |
//! | how precise is the mean of a few runs, next to similar ones? | [`groups`] |
//! | how precise is a percentile? | [`percentile`] |
//! | how much would another run differ? | [`prediction`] |
//! | how does throughput scale, and where is its peak? | [`usl`] |
//! | is B faster than A? | [`compare`] |
//! | when did results change? | [`change_point`] |
//! | what cost a stretch of a run more time per transaction than the rest? | [`causes`] |
//! | how did a system react to a step of its load? | [`reaction`] |
//! | which level, which rate to try next? | [`search`] |
//! | what are the values and the mean of a figure of many intervals? | [`samples`] |
//! | are these times exponential, are these uniform? | [`ks`] |
//!
//! All intervals are 95 % intervals. Results contain no infinity and no NaN for any finite input,
//! because they are written as JSON, which has neither. Unknown values are `None` or a separate
//! variant.

pub mod causes;
pub mod change_point;
pub mod compare;
mod distribution;
pub mod groups;
mod interval;
pub mod ks;
mod numbers;
pub mod percentile;
pub mod prediction;
mod random;
pub mod reaction;
pub mod samples;
pub mod search;
pub mod series;
pub mod until_ci;
pub mod usl;
pub mod warmup;

pub use interval::{Estimate, Interval};
