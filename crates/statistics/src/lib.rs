//! The mathematics of measurement: pure functions on slices, seeded where they need chance, and state
//! machines without input or output. Nothing here knows a database, a run or a clock; a series is a
//! slice of one figure an interval (commonly a second), a sample is a slice of one figure a run.
//!
//! | question | module |
//! |---|---|
//! | where does the warm-up end? | [`warmup`] |
//! | what is the mean of a series, how sure is it, and was it steady? | [`series`] |
//! | has the run been long enough? | [`until_ci`] |
//! | how sure is the mean of a few runs, beside others like it? | [`groups`] |
//! | how sure is a percentile? | [`percentile`] |
//! | how does throughput scale, and where is its peak? | [`usl`] |
//! | is B faster than A? | [`compare`] |
//! | when did results change? | [`change_point`] |
//! | which level, which rate to try next? | [`search`] |
//! | are these times exponential, are these uniform? | [`ks`] |
//!
//! All intervals are of 95 %. Results hold no infinity and no NaN whatever finite input they are made
//! from: they go to JSON, which knows neither. What cannot be said is `None` or its own variant.

pub mod change_point;
pub mod compare;
mod distribution;
pub mod groups;
mod interval;
pub mod ks;
mod numbers;
pub mod percentile;
mod random;
pub mod search;
pub mod series;
pub mod until_ci;
pub mod usl;
pub mod warmup;

pub use interval::{Estimate, Interval};
