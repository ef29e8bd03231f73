//! Activities: the jobs that the server runs or has queued. Each runs on a separate thread;
//! activities for a busy target wait in the queue.

mod detail;
mod form;
mod perform;
mod queue;
mod run_metrics;
mod watch;

pub use crate::activity_state::{Activity, ActivityState};
pub use detail::ActivityDetail;
pub use form::{Form, Preview, preview};
pub use queue::Activities;
