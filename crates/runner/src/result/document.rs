//! The document's types. Times are in the unit that the name ends with; shares are from 0 to 1.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::error::ErrorClass;
use triphammer_core::session::ServerInfo;
use triphammer_core::spec::RunSpec;
use triphammer_core::stats::Times;
use triphammer_statistics::compare::Better;

use super::audit::Audit;
use super::availability::{Availability, ViolatedIdentity};
use super::bottleneck::BottleneckVerdict;
use super::declared::DeclaredFigure;
use super::load::{Arrivals, Efficiency, SlowTransaction};
use super::parts::{ServerTransactions, Setting, SettingChange, Status, Tool, WorkloadFacts};
use super::percentiles::PercentileIntervals;
use super::redacted::Redacted;
use super::schema::SchemaFact;
use super::slices::Slice;
use super::steadiness::Steadiness;
use super::verification::{Verdict, Verification};
use crate::command::JobKind;
use crate::host::Host;
use crate::measure;
use crate::requirement::Judgement;

/// Version of the document's shape.
pub const FORMAT: u32 = 1;

/// What `triphammer run --json` and `triphammer report JOB --format json` print: what a run was and what it
/// measured. Durations and times are in the unit that a name ends with; shares are from 0 to 1. `window` has what
/// ended in the timed window, `run` what happened in the whole run, each by transaction type and outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "The result of a run")]
pub struct RunResult {
    /// Version of this shape.
    #[schemars(extend("const" = FORMAT))]
    pub format: u32,
    /// Number in the job store; `None` when it was not stored.
    pub job: Option<i64>,
    /// Tells this document from those of other commands.
    #[schemars(with = "String", extend("const" = "run"))]
    pub kind: JobKind,
    /// The program that made it.
    pub tool: Tool,
    /// What the user called the run.
    pub label: Option<String>,
    /// How it ended.
    pub status: Status,
    /// Date and time of the run's zero, RFC 3339, UTC.
    #[schemars(extend("format" = "date-time"))]
    pub started_at: String,
    /// How long it was.
    pub durations: Durations,
    /// The workload's first figure, from the timed window.
    pub primary_metric: PrimaryMetricFigure,
    /// Whether the primary metric represents the window, and until when a warm-up is seen; `None` where seconds
    /// are no samples of it.
    #[serde(default)]
    pub steadiness: Option<Steadiness>,
    /// Sums over the data that the run should have moved by what its transactions say.
    #[serde(default)]
    pub audits: Vec<Audit>,
    /// Transactions completed in the timed window, a minute: committed and rolled back by rule.
    pub tpm_client: f64,
    /// Transactions that the database itself counted in the timed window, a minute.
    pub tpm_server: Option<f64>,
    /// What `tpm_server` was made from.
    pub server_transactions: Option<ServerTransactions>,
    /// The primary metric against the most that keying and thinking times allow; `None` where there are none.
    #[serde(default)]
    pub efficiency: Option<Efficiency>,
    /// What limited the run.
    pub bottleneck: BottleneckVerdict,
    /// What ended in the timed window.
    pub window: Figures,
    /// The timed window in slices of equal length, in order, to see a drift; the last one may be shorter,
    /// and those in which no second came to its end are left out.
    #[serde(default)]
    pub slices: Vec<Slice>,
    /// What happened in the whole run, ramp-up and drain included.
    pub run: Figures,
    /// What arrived; `None` where the load is not open.
    #[serde(default)]
    pub arrivals: Option<Arrivals>,
    /// From due to the start of the first attempt, of all that ended in the timed window: the wait for
    /// a session. `None` where the load is closed.
    #[serde(default)]
    pub pool_wait: Option<Times>,
    /// Most arrivals, or terminals, that waited for a session at the end of a second of the timed window.
    /// `None` where the load is closed.
    #[serde(default)]
    pub backlog_max: Option<u64>,
    /// The slowest transactions that ended in the timed window, the slowest first.
    #[serde(default)]
    pub exemplars: Vec<SlowTransaction>,
    /// Failures against the limit.
    pub failures: FailureShare,
    /// What the run had to reach (`--require`), and whether it did.
    #[serde(default)]
    pub requirements: Vec<Judgement>,
    /// Whether the database was there while the run asked for it, and at its end.
    #[serde(default)]
    pub availability: Availability,
    /// Counting identities that do not hold; empty as long as the client counts right.
    #[serde(default)]
    pub violated_identities: Vec<ViolatedIdentity>,
    /// Sessions lost and reconnected, in the whole run.
    pub sessions: SessionCounts,
    /// What the client itself cost.
    pub client: ClientCost,
    /// Figures that have no place of their own, in the order in which reports show them.
    #[serde(default)]
    pub figures: Vec<DeclaredFigure>,
    /// Round trips of the whole run.
    pub round_trips: RoundTrips,
    /// The first error of each transaction type and class.
    pub errors: Vec<ErrorFigure>,
    /// What should be known before the figures are used.
    pub warnings: Vec<Warning>,
    /// What was remarked during the run.
    pub notes: Vec<Remark>,
    /// The workload and its data.
    pub workload: WorkloadFacts,
    /// How the workload was driven.
    pub spec: RunSpec,
    /// Every setting, and where its value came from.
    pub settings: Vec<Setting>,
    /// The target, without secrets.
    pub target: Redacted,
    /// What was at the other end.
    pub server: ServerInfo,
    /// What the planner had to work with when the run began; empty where it is not known.
    #[serde(default)]
    pub schema: Vec<SchemaFact>,
    /// Server settings that changed between the start and the end of the run.
    pub settings_changed: Vec<SettingChange>,
    /// The host that the client ran on.
    pub host: Host,
}

impl RunResult {
    /// Whether the run did what it was to do: came to its end, completed transactions in its
    /// window, failed no more than allowed, meets every requirement, and neither the database's count nor
    /// an audit contradicts it. False is exit code 1 (or 130 when [interrupted](Status::Interrupted)).
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.status == Status::Complete
            && !self.failures.above_limit
            && self.window.total.completed > 0
            && !self.primary_metric.verification.is_violated()
            && self.audits.iter().all(|audit| audit.verdict != Verdict::Violated)
            && self.requirements.iter().all(|judged| judged.passed)
    }

    /// Why the run failed, for people; `None` when it did not.
    #[must_use]
    pub fn cause(&self) -> Option<String> {
        if self.status != Status::Failed {
            return None;
        }
        if let Some(violated) = self.violated_identities.first() {
            return Some(format!("its counts contradict each other: {}", violated.words()));
        }
        let gone = self.availability.gone(self.spec.sessions());
        Some(gone.unwrap_or_else(|| "every virtual user had to end early".to_owned()))
    }
}

/// How long a run was, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Durations {
    /// Load without timing, as it really was.
    pub rampup_s: f64,
    /// The timed window, as it really was.
    pub window_s: f64,
    /// The timed window that was asked for; `None` when the length was a number of transactions, or
    /// whatever the interval of the mean needed.
    pub window_asked_s: Option<f64>,
    /// From zero to the end of the last transaction.
    pub whole_s: f64,
}

/// The workload's first figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PrimaryMetricFigure {
    /// `NOPM`.
    pub name: String,
    /// `New-Orders committed per minute`.
    pub meaning: String,
    /// `count` brought to the unit of time.
    pub value: f64,
    /// The unit of time: `second`, `minute`, `hour`.
    pub per: String,
    /// Which way is better. Documents of older versions do not say: they have rates only.
    #[serde(default = "measure::higher")]
    pub better: Better,
    /// Transactions committed in the timed window that the figure counts.
    pub count: u64,
    /// What the database itself says, over the whole run.
    pub verification: Verification,
}

/// What happened in a stretch of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figures {
    /// Its length, in seconds.
    pub seconds: f64,
    /// By transaction type, in the workload's order.
    pub types: Vec<TypeFigures>,
    /// All types together.
    pub total: TypeFigures,
}

/// What a transaction type did. `ended = completed + failed + indeterminate`, and in the whole run
/// `started = ended + in_flight`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TypeFigures {
    /// Key: `new_order`; `all` in a total.
    pub name: String,
    /// For people: `New-Order`.
    pub title: String,
    /// Transactions started; whole run only.
    pub started: Option<u64>,
    /// Ended, whatever the outcome.
    pub ended: u64,
    /// Committed or rolled back by rule.
    pub completed: u64,
    /// Completed, a minute.
    pub per_minute: f64,
    /// Of all types' completed ones.
    pub share: f64,
    /// Ended committed.
    pub committed: u64,
    /// Ended rolled back by the workload's rule.
    pub rolled_back: u64,
    /// Ended failed.
    pub failed: u64,
    /// `failed` by class; only classes that occurred.
    pub failed_by_class: Vec<ClassCount>,
    /// Ended in doubt: the connection was lost when a commit had been sent.
    pub indeterminate: u64,
    /// Of the completed ones, those whose answer could not be read.
    #[serde(default)]
    pub unread: u64,
    /// Not ended when the run was aborted; whole run only.
    pub in_flight: Option<u64>,
    /// Attempts after the first, by the class of the error before; only classes that occurred.
    pub retries_by_class: Vec<ClassCount>,
    /// Transactions that needed more than one attempt, whatever their outcome.
    pub retried: u64,
    /// What the type counts of itself.
    pub counter: Option<CounterFigure>,
    /// From due to finish, of committed ones.
    pub response: Times,
    /// How sure the percentiles of `response` are; timed window only.
    #[serde(default)]
    pub response_intervals: PercentileIntervals,
    /// From the start of the first attempt to finish, of committed ones. The same as `response`
    /// where the load is closed.
    pub service: Times,
    /// Response times of those rolled back by rule.
    pub rolled_back_times: Times,
    /// Response times of those failed or in doubt.
    pub failed_times: Times,
    /// Times longer than a year, or than an hour in older results, which count as that.
    pub saturated: u64,
}

/// How often an error class occurred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClassCount {
    /// The class.
    pub class: ErrorClass,
    /// How often.
    pub count: u64,
}

/// Something that a transaction counts of itself, over committed ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CounterFigure {
    /// Key: `districts_skipped`.
    pub name: String,
    /// For people: `districts skipped`.
    pub title: String,
    /// How many.
    pub count: u64,
    /// Of how many that there could have been.
    pub possible: u64,
    /// `count` of `possible`.
    pub share: f64,
    /// The share above which the result warns.
    pub warn_above: f64,
}

/// Failures against the limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailureShare {
    /// Failed, in doubt, or completed with an answer that could not be read, of all that ended in the
    /// timed window; of the whole run when nothing ended in the window.
    pub share: f64,
    /// The limit: `spec.max_failures`.
    pub limit: f64,
    /// Whether `share` is above `limit`.
    pub above_limit: bool,
}

/// Sessions lost and reconnected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionCounts {
    /// Sessions lost.
    pub lost: u64,
    /// Sessions reconnected.
    pub reconnected: u64,
}

/// What the client itself cost: its threads over the whole run, its process in the timed window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClientCost {
    /// CPU time of all worker threads, in seconds.
    pub cpu_s: f64,
    /// CPU time for a completed transaction, in microseconds; 0 when none completed. Of the whole
    /// process in the timed window, where `process_cpus` is known; else of the worker threads in the
    /// whole run.
    pub cpu_us_per_transaction: f64,
    /// The same of the worker threads in the whole run.
    #[serde(default)]
    pub threads_cpu_us_per_transaction: f64,
    /// CPUs that the whole process used in the timed window: the worker threads, the control thread,
    /// and the one that stores and shows the seconds. `None` when nothing completed in it, and when
    /// other runs were under way in this process, as in a server.
    #[serde(default)]
    pub process_cpus: Option<f64>,
    /// CPU time of the busiest worker thread, of the run's length: 1 is a whole core.
    pub busiest_share: f64,
    /// By worker thread.
    pub threads: Vec<ThreadCpu>,
}

/// What a worker thread cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadCpu {
    /// The thread, from 0.
    pub thread: u32,
    /// CPU time, in seconds.
    pub cpu_s: f64,
    /// CPU time, of the run's length: 1 is a whole core.
    pub share: f64,
}

/// Round trips.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoundTrips {
    /// Statements and calls sent by completed transactions.
    pub total: u64,
    /// For a completed transaction; 0 when none completed.
    pub per_transaction: f64,
}

/// The first error of its kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorFigure {
    /// Transaction type: its key.
    pub transaction: String,
    /// Its class.
    pub class: ErrorClass,
    /// In words, without secrets.
    pub message: String,
    /// Attempts that ended with it, retried ones included.
    pub count: u64,
}

/// What should be known before the figures are used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// One word for programs: `counter`, `failures`, `debug_build`, `window_short`.
    pub kind: String,
    /// A sentence for people.
    pub text: String,
    /// What to do next.
    pub next: Option<String>,
}

/// A remark made during a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Remark {
    /// Seconds since the run's zero; `None` before and after it.
    pub at_s: Option<f64>,
    /// One word for programs.
    pub kind: String,
    /// A sentence for people.
    pub text: String,
}
