//! The types of jobs in the store.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use triphammer_core::Scale;
use triphammer_core::event::Phase;
use triphammer_core::session::ServerInfo;
use triphammer_core::spec::RunSpec;
use triphammer_document::ending::Ending;
use triphammer_document::host::Host;
use triphammer_document::parts::Status;
use triphammer_document::redacted::Redacted;
use triphammer_document::result::{FORMAT, Remark, RunResult};
use triphammer_document::{Document, JobId};
use triphammer_settings::Settings;
use triphammer_settings::command::JobKind;
use triphammer_settings::failure::Failure;
use utoipa::ToSchema;

use super::error::StoreError;

/// Facts about a job at its start.
#[derive(Clone, Debug)]
pub struct JobHeader {
    /// Command of the job.
    pub kind: JobKind,
    /// Label given by the user; `None` without one.
    pub label: Option<String>,
    /// Name of the workload: `tproc-c`.
    pub workload: String,
    /// Version of the workload.
    pub workload_version: u32,
    /// Scale of the data, in `scale_unit`.
    pub scale: Scale,
    /// Unit of `scale`, in the plural.
    pub scale_unit: String,
    /// URL of the target, redacted.
    pub target: Redacted,
    /// The server, if it is known already.
    pub server: Option<ServerInfo>,
    /// Version of this program.
    pub tool_version: String,
    /// Number of virtual users, or of loaders in a build.
    pub users: Option<u32>,
    /// Spec of a run; `None` for other jobs.
    pub spec: Option<RunSpec>,
    /// Facts from the build record, and options.
    pub facts: BTreeMap<String, String>,
    /// Facts about this host.
    pub host: Host,
    /// Keys of the workload's transaction types, in order; empty if nothing is counted.
    pub transactions: Vec<String>,
    /// The campaign job that a run belongs to, and its position in that job's sequence.
    pub parent: Option<(JobId, u32)>,
    /// The settings that it was given, for repeating the job or resuming a campaign.
    pub plan: Option<serde_json::Value>,
}

/// Status of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobStatus {
    /// The process of the job is alive.
    Running,
    /// It ran to its end.
    Complete,
    /// It was stopped early.
    Interrupted,
    /// It was aborted; transactions in flight were abandoned.
    Aborted,
    /// It failed, or its check found violations.
    Failed,
    /// The process of the job ended without recording an end.
    Lost,
}

impl JobStatus {
    /// All statuses, in declaration order.
    pub const ALL: [Self; 6] =
        [Self::Running, Self::Complete, Self::Interrupted, Self::Aborted, Self::Failed, Self::Lost];

    /// Name in the store and in reports.
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

/// Filter of the job list.
#[derive(Clone, Debug, Default)]
pub struct JobFilter {
    /// Only jobs of this command; all when absent.
    pub kind: Option<JobKind>,
    /// Only jobs of this workload; all when absent.
    pub workload: Option<String>,
    /// Only jobs with this label; all when absent.
    pub label: Option<String>,
    /// Only the runs of this campaign job, in their order; when absent, only jobs that are not part
    /// of another job.
    pub parent: Option<JobId>,
    /// Maximum number of jobs, newest first.
    pub limit: Option<u32>,
}

impl JobFilter {
    /// Reads the settings of `jobs`.
    ///
    /// # Errors
    /// When a value is invalid.
    pub fn from_settings(settings: &mut Settings) -> Result<Self, Failure> {
        let limit = settings.count("limit", u32::MAX)?;
        if limit == 0 {
            return Err(Failure::refuse("--limit must be 1 or more"));
        }
        let label = settings.get("label").map(str::to_owned);
        let parent = settings.get("parent").map(JobId::parse).transpose()?;
        Ok(Self { label, parent, limit: Some(limit), ..Self::default() })
    }
}

/// A job in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobRow {
    /// Number in the job store.
    pub id: JobId,
    /// Command of the job.
    pub kind: JobKind,
    /// Status; `lost` is determined when reading.
    pub status: JobStatus,
    /// Label given by the user; `None` without one.
    pub label: Option<String>,
    /// Name of the workload: `tproc-c`.
    pub workload: String,
    /// Version of the workload.
    pub workload_version: u32,
    /// Scale of the data, in `scale_unit`.
    pub scale: Scale,
    /// Unit of `scale`, in the plural.
    pub scale_unit: String,
    /// URL of the target, redacted.
    pub target: Redacted,
    /// Product name of the server: `PostgreSQL`; `None` if unknown.
    pub server_product: Option<String>,
    /// Version reported by the server; `None` if unknown.
    pub server_version: Option<String>,
    /// Version of the program that ran the job.
    pub tool_version: String,
    /// Number of virtual users, or of loaders in a build.
    pub users: Option<u32>,
    /// Process ID, on the host where it ran.
    pub pid: u32,
    /// Start time, RFC 3339, UTC.
    pub started_at: String,
    /// End time, RFC 3339, UTC; `None` while it runs, and for lost jobs.
    pub ended_at: Option<String>,
    /// Name of the primary metric: `NOPM`; `None` if there is none.
    pub primary_metric_name: Option<String>,
    /// Value of the primary metric; `None` if there is none.
    pub primary_metric_value: Option<f64>,
    /// The campaign job that a run belongs to; `None` if none.
    pub parent: Option<JobId>,
    /// Position in that job's sequence, from 0.
    pub step: Option<u32>,
    /// Number of its runs that are complete.
    pub runs: u32,
    /// The verdict on it; `None` while it runs, and if its document cannot be read.
    pub ending: Option<Ending>,
}

/// A job with its details and result.
#[derive(Clone, Debug)]
pub struct StoredJob {
    /// The fields shown in lists.
    pub row: JobRow,
    /// Spec of the run: load model, users and times.
    pub spec: Option<RunSpec>,
    /// Facts from the build record, and options.
    pub facts: BTreeMap<String, String>,
    /// Host of the client.
    pub host: Host,
    /// Keys of the transaction types, in the order used by series and histograms.
    pub transactions: Vec<String>,
    /// The result document, or the reason for the failure as a string; `None` while the job runs,
    /// and for lost jobs.
    pub document: Option<serde_json::Value>,
    /// Notes on the job, in chronological order.
    pub notes: Vec<Remark>,
    /// The settings that it was given, for repeating the job or resuming a campaign; `None` for the
    /// runs of another job.
    pub plan: Option<serde_json::Value>,
}

impl StoredJob {
    /// The result of a run; `None` if there is none, such as for a run that could not start, or if
    /// the job is not a run.
    ///
    /// # Errors
    /// When a newer version wrote it, or it cannot be read.
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
        let read = RunResult::deserialize(document);
        read.map(Some).map_err(|error| StoreError::Unreadable {
            job,
            what: "a result",
            reason: error.to_string(),
        })
    }

    /// Reads the document of the job; `None` if it has none, or only the reason of a failure.
    ///
    /// # Errors
    /// When a newer version wrote it, or the document of a run cannot be read.
    pub fn read_document(&self) -> Result<Option<Document>, StoreError> {
        if self.row.kind == JobKind::Run {
            return Ok(self.result()?.map(Document::from));
        }
        let json = self.document.clone().unwrap_or_default();
        Ok(Document::read(self.row.kind, json).ok())
    }
}

/// When the server settings were read.
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

/// A checked condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckRow {
    /// Identifier of the condition: `3.3.2.1`.
    pub id: String,
    /// The condition: `w_ytd = Σ d_ytd`.
    pub title: String,
    /// Whether the condition holds.
    pub ok: bool,
    /// Number of violations; 0 if it holds.
    pub violations: u64,
    /// Key of the first violation; `None` if there is none.
    pub first_key: Option<String>,
}

/// All phases, in chronological order.
pub(super) const PHASES: [Phase; 4] = Phase::ALL;
