//! What the runner knows about a run beside what the engine gives back.

use std::sync::Arc;

use triphammer_core::event::Note;
use triphammer_core::session::ServerInfo;
use triphammer_core::spec::RunSpec;
use triphammer_core::workload::{AuditDef, Description};

use super::parts::{Setting, SettingChange, Tool, WorkloadFacts};
use super::redacted::Redacted;
use super::schema::SchemaFact;
use super::slices::Slicer;
use crate::host::Host;
use crate::schedule::Schedule;

/// What the runner knows about a run; with [`RunEnd`](triphammer_core::engine::RunEnd) it makes the
/// result.
#[derive(Clone, Debug)]
pub struct RunFacts {
    /// Number in the job store; `None` when it is not stored.
    pub job: Option<i64>,
    /// The program.
    pub tool: Tool,
    /// What the user called the run.
    pub label: Option<String>,
    /// The workload and its data.
    pub workload: WorkloadFacts,
    /// What the workload declares.
    pub description: Arc<Description>,
    /// How the workload was driven.
    pub spec: RunSpec,
    /// Every setting and where its value came from.
    pub settings: Vec<Setting>,
    /// The target.
    pub target: Redacted,
    /// What was at the other end.
    pub server: ServerInfo,
    /// Whether the database works on the client's own worker threads.
    pub database_on_threads: bool,
    /// The client's host.
    pub host: Host,
    /// The primary metric's count, as the database's statement gave it.
    pub database_count: DatabaseCount,
    /// Whether the database answered when the run was over.
    pub answers_at_end: bool,
    /// The workload's audits with their sums.
    pub audits: Vec<(AuditDef, DatabaseCount)>,
    /// The database's transaction counter.
    pub server_transactions: CounterSpan,
    /// What the planner had to work with when the run began; empty where it is not known.
    pub schema: Vec<SchemaFact>,
    /// Server settings that changed during the run.
    pub settings_changed: Vec<SettingChange>,
    /// The slices of the timed window.
    pub slicer: Slicer,
    /// Transactions committed that the primary metric counts, by second from the run's zero.
    pub primary_metric_seconds: Vec<f64>,
    /// How close to the mean its interval had to be for the window to end; `None` when that did not
    /// decide.
    pub until_ci: Option<f64>,
    /// What the server does by the clock.
    pub schedule: Schedule,
    /// Remarks of the runner itself; the engine's come with its end.
    pub notes: Vec<Note>,
}

/// The primary metric's count, or an audit's sum, before the first and after the last transaction; `None`
/// where it could not be asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "told above")]
pub struct DatabaseCount {
    pub before: Option<i64>,
    pub after: Option<i64>,
}

/// A counter of the database at the start and at the end of the timed window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CounterSpan {
    /// At the start; `None` where the database keeps none or it could not be asked.
    pub start: Option<u64>,
    /// At the end.
    pub end: Option<u64>,
    /// Seconds between the two readings.
    pub seconds: f64,
    /// Seconds by which either reading may be late.
    pub late_s: f64,
}
