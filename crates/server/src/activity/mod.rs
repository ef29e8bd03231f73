//! Activities: what the server does, or is going to do. Each has a thread of its own while it goes on; those
//! for a target on which another goes on wait in line.

mod detail;
mod form;
mod perform;
mod queue;
mod run_metrics;
mod state;
mod watch;

pub use detail::ActivityDetail;
pub use form::{Form, Preview, preview};
pub use queue::Activities;
pub use state::{Activity, ActivityState};
