//! Chooses what to measure next. State machines without input or output: `next` returns what to
//! measure, `report_result` takes the result. All state comes from the reported results, so
//! reporting the same results again, in the same order, leads to the same state: an interrupted
//! search resumes from its stored results.

pub mod backlog;
mod capacity;
mod levels;

pub use capacity::{
    Answer, CONFIRMING, CapacityBelief, CapacityError, CapacityPlan, CapacitySearch, Judgement,
    LONG, SearchStep, ServerChange,
};
pub use levels::{Levels, LevelsPlan};
