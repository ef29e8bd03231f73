//! What the store holds about a job: the types that go in and come out.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use triphammer_core::event::Phase;
use triphammer_core::session::ServerInfo;
use triphammer_core::spec::RunSpec;
use triphammer_core::stats::Times;
use utoipa::ToSchema;

use super::error::StoreError;
use crate::host::Host;
use crate::result::{FORMAT, JobKind, Redacted, Remark, RunResult, ServerTransactions, Status};
use crate::second::Second;

/// Number of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JobId(pub i64);

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What is known of a job when it begins.
#[derive(Clone, Debug)]
pub struct JobHeader {
    /// The command.
    pub kind: JobKind,
    /// What the user called it.
    pub label: Option<String>,
    /// The workload's name.
    pub workload: String,
    /// The workload's version.
    pub workload_version: u32,
    /// Size.
    pub scale: u32,
    /// What `scale` counts.
    pub scale_unit: String,
    /// The target.
    pub target: Redacted,
    /// What is at the other end, when that is known already.
    pub server: Option<ServerInfo>,
    /// This program's version.
    pub tool_version: String,
    /// Virtual users, or loaders.
    pub users: Option<u32>,
    /// How the workload is driven; runs have one.
    pub spec: Option<RunSpec>,
    /// What the build remembers, and options.
    pub facts: BTreeMap<String, String>,
    /// This host.
    pub host: Host,
    /// Keys of the workload's transaction types, in their order; empty when nothing is counted.
    pub transactions: Vec<String>,
    /// The profile, capacity or compare job that a run belongs to, and its place in that one's sequence.
    pub parent: Option<(JobId, u32)>,
    /// What a profile, capacity or compare job needs to go on after an interruption.
    pub plan: Option<serde_json::Value>,
}

/// Where a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobStatus {
    /// Its process lives.
    Running,
    /// It came to its end.
    Complete,
    /// It was stopped before its time.
    Interrupted,
    /// It was stopped, and what was in flight was given up.
    Aborted,
    /// It could not go on, or what it checked does not hold.
    Failed,
    /// Its process ended without a word.
    Lost,
}

impl JobStatus {
    /// Every status.
    pub const ALL: [Self; 6] =
        [Self::Running, Self::Complete, Self::Interrupted, Self::Aborted, Self::Failed, Self::Lost];

    /// The word in the store and in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Complete => "complete",
            Self::Interrupted => "interrupted",
            Self::Aborted => "aborted",
            Self::Failed => "failed",
            Self::Lost => "lost",
        }
    }
}

impl From<Status> for JobStatus {
    fn from(status: Status) -> Self {
        match status {
            Status::Complete => Self::Complete,
            Status::Interrupted => Self::Interrupted,
            Status::Aborted => Self::Aborted,
            Status::Failed => Self::Failed,
        }
    }
}

/// Which jobs to list.
#[derive(Clone, Debug, Default)]
pub struct JobFilter {
    /// Only this command.
    pub kind: Option<JobKind>,
    /// Only this workload.
    pub workload: Option<String>,
    /// Only this label.
    pub label: Option<String>,
    /// Only the runs of this profile, capacity or compare job, in the order of their steps; without it only
    /// jobs that belong to no other.
    pub parent: Option<JobId>,
    /// At most so many, the newest.
    pub limit: Option<u32>,
}

/// A job in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobRow {
    /// Its number.
    pub id: JobId,
    /// The command.
    pub kind: JobKind,
    /// Where it is; `lost` is found out when it is read.
    pub status: JobStatus,
    /// What the user called it.
    pub label: Option<String>,
    /// The workload's name.
    pub workload: String,
    /// The workload's version.
    pub workload_version: u32,
    /// Size.
    pub scale: u32,
    /// What `scale` counts.
    pub scale_unit: String,
    /// The target.
    pub target: Redacted,
    /// `PostgreSQL`.
    pub server_product: Option<String>,
    /// The server's version.
    pub server_version: Option<String>,
    /// Version of the program that did it.
    pub tool_version: String,
    /// Virtual users, or loaders.
    pub users: Option<u32>,
    /// Number of its process, on the host where it ran.
    pub pid: u32,
    /// Date and time, RFC 3339, UTC.
    pub started_at: String,
    /// Date and time; `None` while it runs, and for lost ones.
    pub ended_at: Option<String>,
    /// `NOPM`.
    pub headline_name: Option<String>,
    /// The first figure.
    pub headline_value: Option<f64>,
    /// The profile, capacity or compare job that a run belongs to.
    #[serde(default)]
    pub parent: Option<JobId>,
    /// Its place in that job's sequence, from 0.
    #[serde(default)]
    pub step: Option<u32>,
    /// Runs that belong to it and came to their end.
    #[serde(default)]
    pub runs: u32,
}

/// A job with what it left.
#[derive(Clone, Debug)]
pub struct StoredJob {
    /// What lists show.
    pub row: JobRow,
    /// How the workload was driven.
    pub spec: Option<RunSpec>,
    /// What the build remembers, and options.
    pub facts: BTreeMap<String, String>,
    /// The client's host.
    pub host: Host,
    /// Keys of the transaction types, in the order by which series and histograms number them.
    pub transactions: Vec<String>,
    /// The document that it left, or the reason why it could not be done, as a string; `None` while
    /// it runs, and for lost ones.
    pub document: Option<serde_json::Value>,
    /// Remarks.
    pub notes: Vec<Remark>,
    /// What a profile, capacity or compare job needs to go on.
    pub plan: Option<serde_json::Value>,
}

impl StoredJob {
    /// The result of a run; `None` when there is none, as for a run that could not begin, and when
    /// the job was no run.
    ///
    /// # Errors
    /// When a newer version wrote it, and when it cannot be read.
    pub fn result(&self) -> Result<Option<RunResult>, StoreError> {
        let job = self.row.id.0;
        let is_result =
            |document: &&serde_json::Value| self.row.kind == JobKind::Run && document.is_object();
        let Some(document) = self.document.as_ref().filter(is_result) else {
            return Ok(None);
        };
        let found = document.get("format").and_then(serde_json::Value::as_u64).unwrap_or(0);
        if found > u64::from(FORMAT) {
            return Err(StoreError::NewerResult { job, found, known: FORMAT });
        }
        RunResult::deserialize(document).map(Some).map_err(|error| StoreError::Unreadable {
            job,
            what: "a result",
            reason: error.to_string(),
        })
    }
}

/// When the server's settings were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "of a job")]
pub enum Moment {
    Start,
    End,
}

impl Moment {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::End => "end",
        }
    }
}

/// A condition that was checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckRow {
    /// `3.3.2.1`.
    pub id: String,
    /// `w_ytd = Σ d_ytd`.
    pub title: String,
    /// Whether it holds.
    pub ok: bool,
    /// How often it does not.
    pub violations: u64,
    /// Key of the first place where it does not.
    pub first_key: Option<String>,
}

/// What a transaction type did in a second, or in the stretch from `first` to `last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeriesRow {
    /// First second, from the run's zero.
    pub first: u64,
    /// Last second.
    pub last: u64,
    /// Place of the type in [`StoredJob::transactions`].
    pub transaction: usize,
    /// Ended committed.
    pub committed: u64,
    /// Ended rolled back by rule.
    pub rolled_back: u64,
    /// Ended failed.
    pub failed: u64,
    /// Ended in doubt.
    pub in_doubt: u64,
    /// Attempts after the first.
    pub retries: u64,
    /// What the type counts of itself, or sums.
    pub tally: i64,
    /// Σ response time of committed ones, in nanoseconds.
    pub response_ns: u64,
    /// Σ service time of committed ones, in nanoseconds.
    pub service_ns: u64,
    /// Median response time of committed ones, in microseconds; 0 when there are none.
    pub p50_us: u64,
    /// 95th percentile.
    pub p95_us: u64,
    /// 99th percentile.
    pub p99_us: u64,
    /// The longest.
    pub max_us: u64,
}

/// A second of all threads, or the stretch from `first` to `last`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SecondRow {
    /// First second, from the run's zero.
    pub first: u64,
    /// Last second.
    pub last: u64,
    /// CPU time of the worker threads, in nanoseconds.
    pub cpu_ns: u64,
    /// Time that passed, summed over the worker threads, in nanoseconds.
    pub wall_ns: u64,
    /// Share of a core that the busiest worker thread used.
    pub busiest_share: f64,
    /// Sessions connected at its end.
    pub connected: u32,
    /// Sessions lost in it.
    pub lost: u64,
    /// Sessions made anew in it.
    pub reconnected: u64,
    /// Scheduling lag, 99th percentile, in microseconds; `None` where it is not measured.
    pub lag_p99_us: Option<u64>,
    /// The fastest round trip measured in it, in microseconds.
    pub round_trip_us: Option<u64>,
    /// How busy the CPUs of the client's host were.
    pub host_share: Option<f64>,
    /// The phase in which it began; `None` in jobs of earlier versions.
    pub phase: Option<Phase>,
    /// The growth of the database's own transaction counter; `None` where there is none.
    pub server: Option<ServerTransactions>,
    /// Response times of committed ones of all types, in microseconds: the median; `None` where none
    /// committed.
    pub p50_us: Option<u64>,
    /// 95th percentile.
    pub p95_us: Option<u64>,
    /// 99th percentile.
    pub p99_us: Option<u64>,
    /// The longest.
    pub max_us: Option<u64>,
    /// Arrivals that fell due in it; `None`, as those below, where the load is not open.
    pub arrivals: Option<u64>,
    /// Arrivals skipped in it because they were too late.
    pub skipped: Option<u64>,
    /// Arrivals pushed out of the backlog in it.
    pub given_up: Option<u64>,
    /// Arrivals, or terminals, that waited for a session at its end; `None` where the load is closed.
    pub backlog: Option<u64>,
    /// From due to the first attempt, of all that ended in it, in microseconds: the median; `None` where
    /// the load is closed or nothing ended.
    pub wait_p50_us: Option<u64>,
    /// 99th percentile.
    pub wait_p99_us: Option<u64>,
    /// The longest.
    pub wait_max_us: Option<u64>,
}

impl SecondRow {
    /// What is kept of all threads.
    pub(crate) fn of(second: &Second) -> Self {
        let (interval, gauges) = (&second.interval, &second.interval.gauges);
        let times = Times::of(second.total.response.as_ref(), None);
        let timed = |us| (times.count > 0).then_some(us);
        let waits = Times::of(interval.pool_wait.as_ref(), None);
        let waited = |us| (waits.count > 0).then_some(us);
        Self {
            first: interval.first,
            last: interval.last,
            cpu_ns: gauges.cpu.iter().map(|cpu| cpu.cpu_ns).sum(),
            wall_ns: gauges.cpu.iter().map(|cpu| cpu.wall_ns).sum(),
            busiest_share: gauges.busiest_share(),
            connected: interval.connected,
            lost: interval.lost,
            reconnected: interval.reconnected,
            lag_p99_us: gauges.lag.as_ref().map(|lag| lag.value_at_quantile(0.99)),
            round_trip_us: gauges.round_trip.as_ref().map(|trips| trips.min()),
            host_share: gauges.host.share(),
            phase: Some(second.phase),
            server: second.server,
            p50_us: timed(times.p50_us),
            p95_us: timed(times.p95_us),
            p99_us: timed(times.p99_us),
            max_us: timed(times.max_us),
            arrivals: interval.arrived.map(|arrived| arrived.due),
            skipped: interval.arrived.map(|arrived| arrived.skipped),
            given_up: interval.arrived.map(|arrived| arrived.given_up),
            backlog: interval.backlog,
            wait_p50_us: waited(waits.p50_us),
            wait_p99_us: waited(waits.p99_us),
            wait_max_us: waited(waits.max_us),
        }
    }
}

impl SeriesRow {
    /// What is kept of every type.
    pub(crate) fn of(second: &Second) -> impl Iterator<Item = Self> + '_ {
        let interval = &second.interval;
        interval.types.iter().enumerate().map(|(transaction, seen)| {
            let counts = &seen.counts;
            let times = Times::of(seen.response.as_ref(), Some(counts.response_ns));
            Self {
                first: interval.first,
                last: interval.last,
                transaction,
                committed: counts.committed,
                rolled_back: counts.rolled_back,
                failed: counts.failures(),
                in_doubt: counts.in_doubt,
                retries: counts.retries.iter().sum(),
                tally: counts.tally,
                response_ns: counts.response_ns,
                service_ns: counts.service_ns,
                p50_us: times.p50_us,
                p95_us: times.p95_us,
                p99_us: times.p99_us,
                max_us: times.max_us,
            }
        })
    }
}

/// The word of a phase in the store and in series.
pub(crate) const fn phase_name(phase: Phase) -> &'static str {
    phase.name()
}

/// Every phase.
pub(super) const PHASES: [Phase; 4] = Phase::ALL;
