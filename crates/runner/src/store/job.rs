//! What the store holds about a job: the types that go in and come out.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use triphammer_core::Scale;
use triphammer_core::event::Phase;
use triphammer_core::recorder::RecordedInterval;
use triphammer_core::session::ServerInfo;
use triphammer_core::spec::RunSpec;
use utoipa::ToSchema;

use super::error::StoreError;
use crate::host::Host;
use crate::metrics::Values;
use crate::result::{FORMAT, JobKind, Redacted, Remark, RunResult, Status};
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
    pub scale: Scale,
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
    /// It was stopped, and what was in flight was abandoned.
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
    pub scale: Scale,
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
    pub primary_metric_name: Option<String>,
    /// The first figure.
    pub primary_metric_value: Option<f64>,
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
pub enum ReadAt {
    Start,
    End,
}

impl ReadAt {
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
#[derive(Clone, Debug)]
pub struct SeriesRow {
    /// First second, from the run's zero.
    pub first: u64,
    /// Last second.
    pub last: u64,
    /// Place of the type in [`StoredJob::transactions`].
    pub transaction: usize,
    /// The figures of [`OF_TYPE`](crate::metrics::OF_TYPE).
    pub values: Values,
}

/// A second of all threads, or the stretch from `first` to `last`.
#[derive(Clone, Debug)]
pub struct SecondRow {
    /// First second, from the run's zero.
    pub first: u64,
    /// Last second.
    pub last: u64,
    /// The phase in which it began; `None` in jobs of earlier versions.
    pub phase: Option<Phase>,
    /// The figures of [`OF_SECOND`](crate::metrics::OF_SECOND).
    pub values: Values,
}

impl SecondRow {
    /// What is kept of all threads.
    #[must_use]
    pub fn of(second: &Second) -> Self {
        let (first, last) = (second.interval.first, second.interval.last);
        Self { first, last, phase: Some(second.phase), values: Values::of_second(second) }
    }
}

impl SeriesRow {
    /// What is kept of every type.
    pub fn of(second: &Second) -> impl Iterator<Item = Self> + '_ {
        let RecordedInterval { first, last, .. } = second.interval;
        let length = length(first, last);
        second.interval.types.iter().enumerate().map(move |(transaction, seen)| Self {
            first,
            last,
            transaction,
            values: Values::of_type(seen, length),
        })
    }
}

/// How many seconds there are from the first to the last.
#[expect(clippy::cast_precision_loss, reason = "seconds of a run")]
pub(crate) const fn length(first: u64, last: u64) -> f64 {
    (last + 1 - first) as f64
}

/// The word of a phase in the store and in series.
pub(crate) const fn phase_name(phase: Phase) -> &'static str {
    phase.name()
}

/// Every phase.
pub(super) const PHASES: [Phase; 4] = Phase::ALL;
