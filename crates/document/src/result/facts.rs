//! Facts that the runner knows about a run, in addition to the engine's output.

use serde::{Deserialize, Serialize};
use triphammer_core::answers::ReplayAnswers;
use triphammer_core::event::Note;
use triphammer_core::pace::{Cycle, Load};
use triphammer_core::query_plan::QueryPlan;
use triphammer_core::session::{CountErrors, NodeStatus, ServerInfo};
use triphammer_core::spec::RunSpec;
use triphammer_core::workload::{
    AuditDef, Description, PrimaryMetric, ScriptTotals, StatementTimes, TransactionDef,
};
use triphammer_settings::Setting;
use triphammer_statistics::reaction::LoadSecond;

use super::at_end::DeclaredFigure;
use super::first_answer::FirstAnswer;
use super::observed::Observed;
use super::queries::QueriesResult;
use super::query_streams::StreamsTaken;
use super::schema::SchemaFact;
use super::slices::Slicer;
use super::state::DatabaseState;
use crate::doctor::Line;
use crate::energy::EnergyReadings;
use crate::execution_plan::ExecutionPlan;
use crate::host::Host;
use crate::parts::{SettingChange, Tool, WorkloadFacts};
use crate::price::PriceList;
use crate::redacted::Redacted;
use crate::schedule::Schedule;

/// Facts that the runner knows about a run; the result is computed from them and
/// [`RunEnd`](triphammer_engine::RunEnd).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunFacts {
    /// Job number; `None` if it is not stored.
    pub job: Option<i64>,
    /// Name and version of the program.
    pub tool: Tool,
    /// Label given by the user; `None` without one.
    pub label: Option<String>,
    /// Workload and its data.
    pub workload: WorkloadFacts,
    /// What the figures depend on in the description of the workload.
    pub description: MeasuredWorkload,
    /// Spec of the run: how the workload was driven.
    pub spec: RunSpec,
    /// Every setting with its value and the source of the value.
    pub settings: Vec<Setting>,
    /// Target of the run, redacted.
    pub target: Redacted,
    /// Product, version and transport of the database server.
    pub server: ServerInfo,
    /// Whether the database runs on the client's own worker threads.
    pub database_on_threads: bool,
    /// Host of the client.
    pub host: Host,
    /// Count of the primary metric, read from the database.
    pub database_count: DatabaseCount,
    /// Whether the database answered after the run.
    pub answers_at_end: bool,
    /// Audits of the workload with their sums.
    pub audits: Vec<(AuditDef, DatabaseCount)>,
    /// Transaction counter of the database.
    pub server_transactions: CounterSpan,
    /// Schema facts that the query planner depends on, at the start of the run; empty if unknown.
    pub schema: Vec<SchemaFact>,
    /// State of the data at the start of the run; `None` for a database that stores nothing.
    #[serde(default)]
    pub state: Option<DatabaseState>,
    /// The first answer after a pause; `None` without `--pause`.
    #[serde(default)]
    pub first_answer: Option<FirstAnswer>,
    /// How host and database were set up at the start of the run.
    pub setup: Vec<Line>,
    /// Server settings that changed during the run.
    pub settings_changed: Vec<SettingChange>,
    /// Server settings with another value than the default of the version; `None` if that is not known.
    pub settings_set: Option<Vec<String>>,
    /// Slices of the timed window.
    pub slicer: Slicer,
    /// Figures of metrics that are read from the run's seconds.
    pub figures: Vec<DeclaredFigure>,
    /// Number of committed transactions counted by the primary metric, per second since the start
    /// of the run. Not serialised: the stored seconds have them.
    #[serde(skip)]
    pub primary_metric_seconds: Vec<f64>,
    /// What the reaction to steps of the load is computed from, per second since the start of the run.
    /// Not serialised: the stored seconds have it.
    #[serde(skip)]
    pub load_seconds: Vec<LoadSecond>,
    /// Target half-width of the interval, relative to the mean, at which the window ends; `None` if
    /// the window has a fixed length.
    pub until_ci: Option<f64>,
    /// Periodic work of the server.
    pub schedule: Schedule,
    /// What a run of queries was to do; `None` for a run of transactions.
    pub query_plan: Option<QueryPlan>,
    /// Times of a finite set of queries; `None` for a run of transactions.
    pub queries: Option<QueriesResult>,
    /// What streams of queries did beside the transactions; `None` without streams.
    pub query_streams: Option<StreamsTaken>,
    /// The nodes of the target at the start of the run; empty for a single server.
    pub nodes: Vec<NodeFact>,
    /// What was observed beside the run; `None` if nothing was.
    pub observed: Option<Observed>,
    /// The price list; `None` without `--price`.
    #[serde(default)]
    pub price: Option<PriceList>,
    /// Readings of energy beside the run; `None` if it was not observed.
    #[serde(default)]
    pub energy: Option<EnergyReadings>,
    /// Earlier runs of the same load on the same target; `None` for a run of a campaign, and without
    /// a store.
    #[serde(default)]
    pub earlier: Option<Vec<EarlierRun>>,
    /// Times of the statements of scripts.
    pub statements: Vec<StatementTimes>,
    /// What the statements of a replay answered; `None` for other loads.
    pub replay: Option<ReplayAnswers>,
    /// Execution plans of the costliest statements of a replay.
    pub statement_plans: Vec<ExecutionPlan>,
    /// What users' own code did; `None` if the workload runs none.
    pub script: Option<ScriptTotals>,
    /// What to know about the workload before its figures are used.
    pub workload_warning: Option<String>,
    /// Notes of the runner; those of the engine are in its output.
    pub notes: Vec<Note>,
}

/// An earlier run of the same load on the same target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EarlierRun {
    /// Day of its start, UTC: `2026-05-09`.
    pub day: String,
    /// Value of the primary metric.
    pub value: f64,
}

/// What the figures of a run depend on in the description of its workload.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MeasuredWorkload {
    /// The transaction types, in the order of every array.
    pub transactions: Vec<TransactionDef>,
    /// The primary metric.
    pub primary_metric: PrimaryMetric,
    /// Largest value of the primary metric, per terminal, that keying and thinking times allow;
    /// `None` unless the load has these times.
    pub metric_max_per_terminal: Option<f64>,
}

impl MeasuredWorkload {
    /// What the figures of a run with this load depend on.
    #[must_use]
    pub fn of(description: &Description, load: &Load) -> Self {
        let cycle = description.cycle.as_ref().filter(|_| *load == Load::Keyed);
        Self {
            transactions: description.transactions.clone(),
            primary_metric: description.primary_metric.clone(),
            metric_max_per_terminal: cycle.map(Cycle::metric_max_per_terminal),
        }
    }
}

/// A node as it was at the start of the run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NodeFact {
    /// Name in rules and reports.
    pub name: String,
    /// URL of the node, without secrets.
    pub target: Redacted,
    /// The server's version, as it reports it.
    pub version: String,
    /// What it reported about itself.
    pub status: NodeStatus,
}

/// Count of the primary metric, or sum of an audit, before the first and after the last
/// transaction; `None` if it could not be queried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "told above")]
pub struct DatabaseCount {
    pub before: Option<i64>,
    pub after: Option<i64>,
}

/// A database counter at the start and at the end of the timed window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CounterSpan {
    /// Value at the start; `None` if the database has no counter or could not be queried.
    pub start: Option<u64>,
    /// Value at the end; `None` likewise.
    pub end: Option<u64>,
    /// Seconds between the two readings.
    pub seconds: f64,
    /// Maximum delay of either reading, in seconds.
    pub late_s: f64,
    /// What else is wrong with the counter.
    pub errors: CountErrors,
}
