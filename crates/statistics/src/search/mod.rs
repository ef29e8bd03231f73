//! What to try next. State machines without input or output: `next` says what to measure, `report_result` takes
//! what came out. All state is what was told, so that telling the same results again, in the same order,
//! leads to the same place: a search that was interrupted goes on from its stored results.

pub mod backlog;
mod capacity;
mod levels;

pub use capacity::{Answer, CapacityError, CapacityPlan, CapacitySearch, Judgement, SearchStep};
pub use levels::{Levels, LevelsPlan};
