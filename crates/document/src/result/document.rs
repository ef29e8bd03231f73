//! The types of the result document. Times have the unit that the field's name ends with; shares
//! are from 0 to 1.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::answers::ReplayAnswers;
use triphammer_core::error::ErrorClass;
use triphammer_core::session::ServerInfo;
use triphammer_core::spec::RunSpec;
use triphammer_core::stats::Times;
use triphammer_settings::command::JobKind;
use triphammer_settings::{Setting, format};
use triphammer_statistics::compare::Better;

use super::another::AnotherRun;
use super::at_end::DeclaredFigure;
use super::audit::Audit;
use super::availability::{Availability, ViolatedIdentity};
use super::bottleneck::BottleneckVerdict;
use super::elasticity::Elasticity;
use super::first_answer::FirstAnswer;
use super::hosts::HostShare;
use super::load::{Arrivals, Efficiency, SlowTransaction};
use super::logins::Logins;
use super::nodes::{FailoverFigure, NodeFigures};
use super::observed::Observed;
use super::percentiles::PercentileIntervals;
use super::queries::QueriesResult;
use super::query_streams::QueryStreams;
use super::schema::SchemaFact;
use super::slices::Slice;
use super::state::DatabaseState;
use super::steadiness::Steadiness;
use super::time_parts::TransactionTime;
use super::verification::{Verdict, Verification};
use crate::doctor::SetupFact;
use crate::document::{Head, JobDocument, own_ending, whole_head};
use crate::ending::{Ending, Flaw};
use crate::energy::Energy;
use crate::execution_plan::ExecutionPlan;
use crate::failure_limit;
use crate::host::Host;
use crate::judgement::Judgement;
use crate::parts::{
    ClassCount, ServerTransactions, SessionCounts, SettingChange, StatementFigures, Status, Tool,
    WorkloadFacts,
};
use crate::price::{MeasuredRate, Price, PriceList};
use crate::redacted::Redacted;

/// Version of the document's format.
pub const FORMAT: u32 = 1;

/// The result of a run, as printed by `triphammer run --json` and `triphammer report JOB --format
/// json`. Durations and times have the unit that the field's name ends with; shares range from 0
/// to 1. `window` contains what ended in the timed window, `run` what happened in the whole run,
/// each by transaction type and outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "The result of a run")]
pub struct RunResult {
    /// Version of the document's format.
    #[schemars(extend("const" = FORMAT))]
    pub format: u32,
    /// Job number; `None` if it was not stored.
    pub job: Option<i64>,
    /// Kind of document, by the name of its command.
    #[schemars(with = "String", extend("const" = "run"))]
    pub kind: JobKind,
    /// The program that wrote the document.
    pub tool: Tool,
    /// Label given by the user; `None` without one.
    pub label: Option<String>,
    /// How the run ended.
    pub status: Status,
    /// Whether the run is good, and what is wrong with it.
    pub ending: Ending,
    /// Start of the run (its second 0), RFC 3339, UTC.
    #[schemars(extend("format" = "date-time"))]
    pub started_at: String,
    /// Lengths of the run and its parts.
    pub durations: Durations,
    /// The workload's primary metric over the timed window.
    pub primary_metric: PrimaryMetricFigure,
    /// Times and figures of a finite set of queries; `None` for a run of transactions. The parts of the document
    /// about transactions are empty then.
    pub queries: Option<QueriesResult>,
    /// Streams of queries that ran beside the transactions; `None` without streams.
    pub query_streams: Option<QueryStreams>,
    /// Whether the window was steady, and when the warm-up ended; `None` if seconds are not samples
    /// of the primary metric, and if the load itself changes.
    pub steadiness: Option<Steadiness>,
    /// How the database reacted to the steps of the load; `None` for a load without steps.
    #[serde(default)]
    pub elasticity: Option<Elasticity>,
    /// How much another run would differ; `None` for a run of a campaign, and for one that is not
    /// stored.
    #[serde(default)]
    pub another: Option<AnotherRun>,
    /// The primary metric in each second, if the run took place at once with another one.
    #[serde(default)]
    pub at_once: Option<SecondsAtOnce>,
    /// Audits: sums over the data compared with the changes reported by the run's transactions.
    pub audits: Vec<Audit>,
    /// Transactions completed per minute in the timed window: committed, or rolled back as the
    /// workload requires.
    pub tpm_client: f64,
    /// Transactions per minute counted by the database itself in the timed window; `None` if it has
    /// no counter.
    pub tpm_server: Option<f64>,
    /// The counter from which `tpm_server` was computed.
    pub server_transactions: Option<ServerTransactions>,
    /// Transactions per minute of all types for each of the primary metric, such as TPM : NOPM: as the
    /// database counted them if it does, else the client; `None` unless both are rates per minute.
    #[serde(default)]
    pub tpm_ratio: Option<f64>,
    /// The primary metric relative to the maximum that keying and thinking times allow; `None`
    /// without them.
    pub efficiency: Option<Efficiency>,
    /// The bottleneck of the run.
    pub bottleneck: BottleneckVerdict,
    /// What each host did, if several drove the load; otherwise empty.
    pub hosts: Vec<HostShare>,
    /// What each node of the target did; empty for a single server.
    pub nodes: Vec<NodeFigures>,
    /// Moves of the writes from one node to another, in order.
    pub failovers: Vec<FailoverFigure>,
    /// What was observed at the database beside the run; `None` with `--no-observe`, and where the
    /// database shows nothing.
    pub observed: Option<Observed>,
    /// What the run costs by its price list; `None` without `--price`.
    #[serde(default)]
    pub price: Option<Price>,
    /// Energy that was used in the timed window, or why it is not known; `None` with `--no-observe`.
    #[serde(default)]
    pub energy: Option<Energy>,
    /// Transactions that ended in the timed window.
    pub window: Figures,
    /// The timed window in slices of equal length, in order, which show drifts; the last one may be
    /// shorter, and slices in which no second ended are omitted.
    pub slices: Vec<Slice>,
    /// Transactions of the whole run, including ramp-up and drain.
    pub run: Figures,
    /// Times of the statements of scripts, in the order of the scripts; empty for other workloads.
    pub statements: Vec<StatementFigures>,
    /// What the statements of a replay answered, beside the recorded answers; `None` for other loads.
    pub replay: Option<ReplayAnswers>,
    /// Execution plans of the costliest statements of a replay, read after it; `query` is the statement.
    #[serde(default)]
    pub statement_plans: Vec<ExecutionPlan>,
    /// Arrivals of an open load; `None` for other loads.
    pub arrivals: Option<Arrivals>,
    /// Wait for a session: from when a transaction was due to the start of its first attempt, for
    /// all that ended in the timed window. `None` for a closed load.
    pub pool_wait: Option<Times>,
    /// Maximum number of arrivals, or terminals, that waited for a session at the end of a second
    /// of the timed window. `None` for a closed load.
    pub backlog_max: Option<u64>,
    /// The slowest transactions that ended in the timed window, slowest first.
    pub exemplars: Vec<SlowTransaction>,
    /// Share of failures, compared with the limit.
    pub failures: FailureShare,
    /// Requirements of the run (`--require`) and their outcomes.
    pub requirements: Vec<Judgement>,
    /// Availability of the database during the run and at its end.
    pub availability: Availability,
    /// Violated counting identities; empty unless the client has a defect.
    pub violated_identities: Vec<ViolatedIdentity>,
    /// Numbers of sessions lost and reconnected, in the whole run.
    pub sessions: SessionCounts,
    /// Logins of sessions, by phase; `None` for a run of queries, and in results of versions that did
    /// not measure them.
    #[serde(default)]
    pub logins: Option<Logins>,
    /// The first answer after a pause without connections; `None` without `--pause`.
    #[serde(default)]
    pub first_answer: Option<FirstAnswer>,
    /// CPU use of the client.
    pub client: ClientCost,
    /// Declared figures without separate fields, in display order.
    pub figures: Vec<DeclaredFigure>,
    /// Round trips of the whole run.
    pub round_trips: RoundTrips,
    /// Where the time of a transaction goes, and what it exchanges with the server; `None` of a set
    /// of queries, and if no transaction committed in the window.
    #[serde(default)]
    pub transaction_time: Option<TransactionTime>,
    /// The first error of each transaction type and error class.
    pub errors: Vec<ErrorFigure>,
    /// Warnings to read before using the figures.
    pub warnings: Vec<Warning>,
    /// Notes made during the run.
    pub notes: Vec<Remark>,
    /// Workload and its data.
    pub workload: WorkloadFacts,
    /// Spec of the run: how the workload was driven.
    pub spec: RunSpec,
    /// Every setting with its value and the source of the value.
    pub settings: Vec<Setting>,
    /// URL of the target, without secrets.
    pub target: Redacted,
    /// Product, version and transport of the database server.
    pub server: ServerInfo,
    /// Schema facts that the query planner depends on, at the start of the run; empty if unknown.
    pub schema: Vec<SchemaFact>,
    /// State of the data at the start of the run, and how it was brought about; `None` for a database
    /// that stores nothing.
    #[serde(default)]
    pub state: Option<DatabaseState>,
    /// How host and database were set up at the start of the run, as `doctor` reports it: what does
    /// not change by itself.
    pub setup: Vec<SetupFact>,
    /// Server settings that changed between the start and the end of the run.
    pub settings_changed: Vec<SettingChange>,
    /// Names of the server settings that somebody set, at the start of the run, to another value than the
    /// default of the server's version; `null` if the server does not say. MySQL's are all that were set.
    pub settings_set: Option<Vec<String>>,
    /// The host of the client.
    pub host: Host,
}

impl JobDocument for RunResult {
    const FORMAT: Option<u32> = Some(FORMAT);

    fn head(&self) -> Head<'_> {
        whole_head!(self)
    }

    own_ending!();

    /// A run that is not complete has no flaw besides that.
    fn flaw(&self) -> Option<Flaw> {
        let is_missed = self.requirements.iter().any(|judged| !judged.passed);
        let missed = (is_missed && self.status == Status::Complete, Flaw::RequirementsFailed);
        Flaw::worst(self.flaws().into_iter().chain([missed]))
    }

    fn ended(&self) -> Option<String> {
        let after = format::duration(self.durations.whole_s);
        Some(match self.status {
            Status::Complete => return None,
            Status::Interrupted => format!("interrupted after {after}: these are partial figures"),
            Status::Aborted => {
                match self.notes.iter().find(|note| note.kind == failure_limit::NOTE) {
                    Some(reason) => format!("aborted after {after}: {}", reason.text),
                    None => {
                        let in_flight = self.run.total.in_flight.unwrap_or(0);
                        let left = format::counted(in_flight, "transactions in flight");
                        format!(
                            "aborted after {after}, {left} abandoned: use the figures with care"
                        )
                    }
                }
            }
            Status::Failed => format!("failed after {after}: {}", self.cause().unwrap_or_default()),
        })
    }

    fn primary_metric(&self) -> Option<(String, f64)> {
        let metric = &self.primary_metric;
        (metric.unavailable.is_none() && self.has_figure())
            .then(|| (metric.name.clone(), metric.value))
    }

    fn priced_by(self, list: &PriceList) -> Option<Self> {
        Some(self.priced(list))
    }

    fn outcome(&self) -> String {
        let metric = &self.primary_metric;
        match (&metric.unavailable, &self.queries) {
            (Some(reason), _) => format!("{} is not available: {reason}", metric.name),
            (None, None) if !self.has_figure() => {
                format!("there was no timed window, so {} is unknown", metric.name)
            }
            (None, _) => format!("{} {}", format::figure(metric.value), metric.name),
        }
    }
}

impl RunResult {
    /// The flaws of the run beside its requirements, each with whether the run has it.
    fn flaws(&self) -> [(bool, Flaw); 8] {
        let queries = self.queries.as_ref();
        let streams_lack = self.query_streams.as_ref().is_some_and(|streams| !streams.is_good());
        let is_empty = queries.is_none() && self.window.total.completed == 0;
        let is_violated = |audit: &Audit| audit.verdict == Verdict::Violated;
        let all = [
            (self.hosts.iter().any(|host| host.loss.is_some()), Flaw::HostLost),
            (streams_lack || queries.is_some_and(|of| !of.is_answered()), Flaw::Unanswered),
            (queries.is_some_and(|of| of.answers.differing > 0), Flaw::AnswersDiffer),
            (self.failures.above_limit, Flaw::TooManyFailures),
            (is_empty, Flaw::NothingCompleted),
            (self.primary_metric.verification.is_violated(), Flaw::CountViolated),
            (self.audits.iter().any(is_violated), Flaw::AuditViolated),
            (!self.availability.outages.is_empty(), Flaw::Outage),
        ];
        all.map(|(has, flaw)| (has && self.status == Status::Complete, flaw))
    }

    /// Whether the run is good, apart from what was required of it.
    pub(crate) fn is_good_beside_requirements(&self) -> bool {
        Ending::new(self.status, Flaw::worst(self.flaws())).good
    }

    /// Whether the run lasted until its primary metric was measured.
    const fn has_figure(&self) -> bool {
        self.queries.is_some() || self.durations.window_s > 0.0
    }

    /// Energy of the database's host per transaction that the primary metric counts, in joules;
    /// `None` if it was not measured.
    pub(crate) fn joules_per_transaction(&self) -> Option<f64> {
        self.energy.as_ref()?.figures.as_ref()?.joules_per_transaction
    }

    /// How fast it did what its primary metric counts.
    pub(crate) fn measured_rate(&self) -> MeasuredRate {
        let metric = &self.primary_metric;
        let interval = self.steadiness.as_ref().and_then(|steadiness| steadiness.interval);
        MeasuredRate::new([&metric.meaning, &metric.per], metric.count, self.durations.rated_s())
            .with_interval(metric.value, interval)
    }

    /// The same result by another price list.
    #[must_use]
    pub fn priced(mut self, list: &PriceList) -> Self {
        self.price = Some(Price::new(list, &self.measured_rate()));
        self
    }

    /// Why the run failed, human-readable; `None` if it did not.
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

/// Lengths of a run and its parts, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Durations {
    /// Actual length of the ramp-up, before the timed window.
    #[schemars(range(min = 0.0))]
    pub rampup_s: f64,
    /// Actual length of the timed window.
    #[schemars(range(min = 0.0))]
    pub window_s: f64,
    /// Requested length of the timed window; `None` if the length was a number of transactions or
    /// was determined by the interval of the mean.
    #[schemars(range(min = 0.0))]
    pub window_asked_s: Option<f64>,
    /// Time of the window in which the run worked, if it took turns with another one; rates are those
    /// of this time. `None` if it worked all the time.
    #[serde(default)]
    pub worked_s: Option<f64>,
    /// From the start of the run to the end of the last transaction.
    #[schemars(range(min = 0.0))]
    pub whole_s: f64,
}

impl Durations {
    /// The time of the window that rates refer to.
    #[must_use]
    pub fn rated_s(&self) -> f64 {
        self.worked_s.unwrap_or(self.window_s)
    }
}

/// The seconds of a run that took place at once with another one, which are compared with the same
/// seconds of that run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SecondsAtOnce {
    /// Number of transactions that the primary metric counts in each second, from the start of the run
    /// to the end of the timed window.
    pub counts: Vec<f64>,
}

/// The workload's primary metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PrimaryMetricFigure {
    /// Name of the metric: `NOPM`.
    pub name: String,
    /// `New-Orders committed per minute`.
    pub meaning: String,
    /// Value: `count` per unit of time, or computed from a set of queries; 0 if it is not available.
    pub value: f64,
    /// Why the value is not available; `None` if it is.
    pub unavailable: Option<String>,
    /// The unit of time: `second`, `minute`, `hour`; `set` for a set of queries.
    pub per: String,
    /// Direction in which values improve.
    pub better: Better,
    /// Number of committed transactions in the timed window that the metric counts; of queries answered.
    pub count: u64,
    /// Comparison with the database's own count, over the whole run.
    pub verification: Verification,
}

/// Figures of a part of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figures {
    /// Length of the part, in seconds.
    #[schemars(range(min = 0.0))]
    pub seconds: f64,
    /// Figures by transaction type, in the workload's order.
    pub types: Vec<TypeFigures>,
    /// Total of all transaction types.
    pub total: TypeFigures,
}

/// Figures of a transaction type. `ended = completed + failed + indeterminate`, and in the whole run
/// `started = ended + in_flight`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TypeFigures {
    /// Key of the transaction type: `new_order`; `all` for the total.
    pub name: String,
    /// Title of the transaction type: `New-Order`.
    pub title: String,
    /// Number of transactions started; whole run only.
    pub started: Option<u64>,
    /// Number of transactions ended, with any outcome.
    pub ended: u64,
    /// Number of transactions completed: committed, or rolled back as the workload requires.
    pub completed: u64,
    /// Transactions completed per minute.
    #[schemars(range(min = 0.0))]
    pub per_minute: f64,
    /// Share of the completed transactions of all types, from 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: f64,
    /// Number of transactions committed.
    pub committed: u64,
    /// Number of transactions rolled back as the workload requires.
    pub rolled_back: u64,
    /// Number of transactions failed.
    pub failed: u64,
    /// `failed` by error class; only classes that occurred.
    pub failed_by_class: Vec<ClassCount>,
    /// Number of transactions in doubt: the connection was lost after a commit had been sent.
    pub indeterminate: u64,
    /// Number of completed transactions whose answer could not be read.
    pub unread: u64,
    /// Number of committed transactions that no standby has confirmed, although the server was to
    /// wait for one: its warning is in the notes.
    pub unconfirmed: u64,
    /// Number of transactions in flight when the run was aborted; whole run only.
    pub in_flight: Option<u64>,
    /// Number of repeated attempts, by class of the preceding error; only classes that occurred.
    pub retries_by_class: Vec<ClassCount>,
    /// Number of transactions that needed more than one attempt, with any outcome.
    pub retried: u64,
    /// Events that the transaction type itself counts; `None` if it counts none.
    pub counter: Option<CounterFigure>,
    /// Response times of committed transactions, from when they were due to their end.
    pub response: Times,
    /// Confidence intervals of the percentiles of `response`; timed window only.
    pub response_intervals: PercentileIntervals,
    /// Service times of committed transactions, from the start of the first attempt to their end.
    /// The same as `response` for a closed load.
    pub service: Times,
    /// Response times of transactions rolled back as the workload requires.
    pub rolled_back_times: Times,
    /// Response times of transactions failed or in doubt.
    pub failed_times: Times,
    /// Number of times longer than a year (an hour in older results), which are counted as that.
    pub saturated: u64,
}

/// An event counted by the transactions themselves, over committed ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CounterFigure {
    /// Key of the counter: `districts_skipped`.
    pub name: String,
    /// Title of the counter: `districts skipped`.
    pub title: String,
    /// Number of events.
    pub count: u64,
    /// Maximum possible number of events.
    pub possible: u64,
    /// Share of `count` in `possible`, from 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: f64,
    /// Share above which the result has a warning.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub warn_above: f64,
}

/// Share of failures, compared with the limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailureShare {
    /// Share of transactions failed, in doubt, or completed with an unreadable answer, among all
    /// that ended in the timed window (in the whole run if none ended in the window).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: f64,
    /// Maximum share: `spec.max_failures`.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub limit: f64,
    /// Whether `share` is above `limit`.
    pub above_limit: bool,
}

/// CPU use of the client: of its threads over the whole run, of its process in the timed window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClientCost {
    /// CPU time of all worker threads, in seconds.
    #[schemars(range(min = 0.0))]
    pub cpu_s: f64,
    /// CPU time per completed transaction, in microseconds; 0 if none completed. Of the whole
    /// process in the timed window if `process_cpus` is known, otherwise of the worker threads in
    /// the whole run.
    #[schemars(range(min = 0.0))]
    pub cpu_us_per_transaction: f64,
    /// CPU time per completed transaction of the worker threads in the whole run, in microseconds.
    #[schemars(range(min = 0.0))]
    pub threads_cpu_us_per_transaction: f64,
    /// CPU cores used by the whole process in the timed window: worker threads, control thread, and
    /// the thread that stores and shows the seconds. `None` if no transaction completed in it, or
    /// if the process executed other runs at the same time, as a server may.
    #[schemars(range(min = 0.0))]
    pub process_cpus: Option<f64>,
    /// CPU time of the busiest worker thread relative to the length of the run: 1 means a full
    /// core.
    #[schemars(range(min = 0.0))]
    pub busiest_share: f64,
    /// CPU use of each worker thread.
    pub threads: Vec<ThreadCpu>,
}

/// CPU use of a worker thread.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadCpu {
    /// Number of the thread, from 0.
    pub thread: u32,
    /// CPU time, in seconds.
    #[schemars(range(min = 0.0))]
    pub cpu_s: f64,
    /// CPU time relative to the length of the run: 1 means a full core.
    #[schemars(range(min = 0.0))]
    pub share: f64,
}

/// Round trips to the database.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoundTrips {
    /// Number of statements and calls sent by completed transactions; without those of lost hosts.
    pub total: u64,
    /// Mean number per completed transaction, without lost hosts; 0 if none completed.
    #[schemars(range(min = 0.0))]
    pub per_transaction: f64,
}

/// The first error of a kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorFigure {
    /// Key of the transaction type.
    pub transaction: String,
    /// Class of the error.
    pub class: ErrorClass,
    /// Message of the error, without secrets.
    pub message: String,
    /// Number of attempts that ended with this kind of error, including retried ones.
    pub count: u64,
}

/// Warnings to read before using the figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// Machine-readable kind: `counter`, `failures`, `debug_build`, `window_short`.
    pub kind: String,
    /// Sentence for people to read.
    pub text: String,
    /// What to do next, as advice to the user; `None` when there is nothing to do.
    pub next: Option<String>,
}

/// A note made during a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Remark {
    /// Seconds since the start of the run; `None` before and after it.
    pub at_s: Option<f64>,
    /// Machine-readable kind, one word.
    pub kind: String,
    /// Sentence for people to read.
    pub text: String,
}
