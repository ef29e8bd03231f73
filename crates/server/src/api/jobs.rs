//! Stored jobs.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use triphammer_core::Scale;
use triphammer_core::text::steers;
use triphammer_document::JobId;
use triphammer_document::ending::Ending;
use triphammer_report::{Charset, render};
use triphammer_runner::plan::given_settings;
use triphammer_runner::requests::is_only_local;
use triphammer_settings::LABEL_MAX;
use triphammer_settings::command::JobKind;
use triphammer_settings::formats::{FORMATS, Format, FormatDeclaration};
use triphammer_store::{
    JobPage, JobQuery, JobRow, JobStatus, PAGE_MAX, ReadAt, Store, StoreError, StoredJob,
};
use utoipa::{IntoParams, ToSchema};

use super::{Answer, html_export};
use crate::app::App;
use crate::error::ApiError;
use crate::extract::{Body, Params, Path};
use crate::schema::{ending_schema, host_schema, run_spec_schema, stored_document_schema};
use crate::{command_line, ui};

/// Maximum points of a sparkline.
const SPARKLINE_MAX: u32 = 200;

/// Filter of the job list.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct JobFilterParams {
    /// Only jobs of this command; all when absent.
    #[param(inline)]
    pub kind: Option<JobKind>,
    /// Only jobs with this status; all when absent.
    #[param(inline)]
    pub status: Option<JobStatus>,
    /// Only jobs of this workload; all when absent.
    pub workload: Option<String>,
    /// Only the runs of this profile, capacity, compare or matrix job; when absent, jobs that are not part
    /// of another job.
    pub parent: Option<i64>,
    /// Text to find in label, target, workload, server or number, ignoring case.
    pub search: Option<String>,
    /// Only jobs older than this one, which is the last of the previous page.
    pub before: Option<i64>,
    /// Maximum number of jobs, 1 to 200; 50 when absent.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u32>,
    /// Points of each job's sparkline, 0 to 200; 0 when absent.
    #[param(minimum = 0, maximum = 200)]
    pub sparkline: Option<u32>,
}

/// A page of jobs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobList {
    /// Entries of the list, newest first.
    pub jobs: Vec<JobSummary>,
    /// Total number of matches on all pages.
    pub total: u64,
    /// `before` of the next page; `null` on the last one.
    pub next_before: Option<i64>,
}

/// A job in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobSummary {
    /// Number in the job store.
    pub id: i64,
    /// The command of the job.
    pub kind: JobKind,
    /// Current status of the job.
    pub status: JobStatus,
    /// Label given by the user; `null` without one.
    pub label: Option<String>,
    /// Name of the workload: `tproc-c`.
    pub workload: String,
    /// Version of the workload; results of different versions cannot be compared.
    pub workload_version: u32,
    /// Scale of the data, in `scale_unit`; 0 for a check.
    #[schema(value_type = f64)]
    pub scale: Scale,
    /// Unit of the scale, in the plural: `warehouses`.
    pub scale_unit: String,
    /// URL of the target, without secrets.
    pub target: String,
    /// Product name of the server: `PostgreSQL`; `null` before the first connection.
    pub server_product: Option<String>,
    /// Version reported by the server; `null` before the first connection.
    pub server_version: Option<String>,
    /// Version of the program that ran the job.
    pub tool_version: String,
    /// Number of virtual users, or of loaders in a build.
    pub users: Option<u32>,
    /// Start time, RFC 3339, UTC.
    pub started_at: String,
    /// End time, RFC 3339, UTC; `null` while it runs, and for lost jobs.
    pub ended_at: Option<String>,
    /// The profile, capacity, compare or matrix job that a run belongs to; `null` if none.
    pub parent: Option<i64>,
    /// Position in that job's sequence, from 0.
    pub step: Option<u32>,
    /// Number of its runs that are complete.
    pub runs: u32,
    /// Name of the primary metric: `NOPM`; `null` if there is none.
    pub primary_metric_name: Option<String>,
    /// Value of the primary metric; `null` if there is none.
    pub primary_metric_value: Option<f64>,
    /// Transactions completed per second, in intervals of equal length; empty without a series.
    pub sparkline: Vec<f64>,
    /// The verdict on the job; `null` while it runs, and if its document cannot be read.
    #[schema(schema_with = ending_schema)]
    pub ending: Option<Ending>,
}

/// A job with its details and result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobDetail {
    /// The fields shown in lists.
    pub job: JobSummary,
    /// The spec of a run; `null` for other jobs.
    #[schema(schema_with = run_spec_schema)]
    pub spec: Option<serde_json::Value>,
    /// Facts from the build record, and options.
    pub facts: BTreeMap<String, String>,
    /// Host of the client.
    #[schema(schema_with = host_schema)]
    pub host: serde_json::Value,
    /// Settings that a campaign was given, to start another like it, without its targets and
    /// secrets; `null` for other jobs.
    pub given: Option<BTreeMap<String, String>>,
    /// Keys of the transaction types, in the order of the series.
    pub transactions: Vec<String>,
    /// First second of the series; `null` without a series.
    pub first_second: Option<u64>,
    /// Last second of the series; `null` without a series.
    pub last_second: Option<u64>,
    /// The result document, or the reason for the failure as text.
    #[schema(schema_with = stored_document_schema)]
    pub document: Option<serde_json::Value>,
    /// Notes, in chronological order.
    pub notes: Vec<JobNote>,
    /// Conditions of a check, in order.
    pub checks: Vec<JobCheck>,
    /// Available report formats.
    pub formats: Vec<String>,
    /// The command that does the same again, without secrets.
    pub command_line: String,
    /// Whether only the command line does it again: a server would have to read files or run scripts
    /// of its host.
    pub only_command_line: bool,
}

/// A note on the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobNote {
    /// Seconds since the start of the run; `null` before and after the run.
    pub at_s: Option<f64>,
    /// Machine-readable kind, one word.
    pub kind: String,
    /// Sentence for people to read.
    pub text: String,
}

/// A checked condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JobCheck {
    /// Identifier of the condition: `3.3.2.1`.
    pub id: String,
    /// The condition: `w_ytd = Σ d_ytd`.
    pub title: String,
    /// Whether the condition holds.
    pub ok: bool,
    /// Number of violations; 0 if it holds.
    pub violations: u64,
    /// Key of the first violation; `null` if there is none.
    pub first_key: Option<String>,
}

/// Changes to a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct JobChange {
    /// The new label; `null` removes it.
    pub label: Option<String>,
}

/// The server's settings during a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ServerSettings {
    /// Entries in the order of their names.
    pub settings: Vec<ServerSetting>,
}

/// A setting of the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ServerSetting {
    /// Name of the setting.
    pub name: String,
    /// Value at the start; `null` if it was absent.
    pub start: Option<String>,
    /// Value at the end; `null` if it was absent or could not be read.
    pub end: Option<String>,
}

/// Parameters of a report.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ReportParams {
    /// One of the job's `formats`; `text` when absent.
    pub format: Option<String>,
    /// Whether to send it as a file to save.
    pub download: Option<bool>,
}

/// Lists stored jobs, newest first.
#[utoipa::path(get, path = "/api/v1/jobs", tag = "jobs", params(JobFilterParams),
    responses((status = 200, body = JobList), (status = 400, body = ApiError)))]
pub async fn list(
    State(app): State<App>,
    Params(filter): Params<JobFilterParams>,
) -> Answer<JobList> {
    let points = filter.sparkline.unwrap_or(0).min(SPARKLINE_MAX);
    let limit = filter.limit.unwrap_or(50).clamp(1, PAGE_MAX);
    let query = JobQuery {
        kind: filter.kind,
        status: filter.status,
        workload: filter.workload,
        parent: filter.parent.map(JobId),
        search: filter.search,
        before: filter.before.map(JobId),
        limit,
    };
    let found = app.store(move |store| {
        let JobPage { jobs, total } = store.page(&query)?;
        let summaries = jobs.into_iter().map(|row| {
            let line = if points > 0 { store.sparkline(row.id, points)? } else { Vec::new() };
            Ok(JobSummary::new(row, line))
        });
        Ok((summaries.collect::<Result<Vec<_>, StoreError>>()?, total))
    });
    let (jobs, total) = found.await?;
    let is_full = jobs.len() == limit as usize;
    let next_before = jobs.last().filter(|last| is_full && last.id > 1).map(|last| last.id);
    Ok(Json(JobList { jobs, total, next_before }))
}

/// A job with its details and result.
#[utoipa::path(get, path = "/api/v1/jobs/{id}", tag = "jobs",
    params(("id" = i64, Path, description = "Job number")),
    responses((status = 200, body = JobDetail), (status = 404, body = ApiError)))]
pub async fn get(State(app): State<App>, Path(id): Path<i64>) -> Answer<JobDetail> {
    app.store(move |store| JobDetail::of(store, store.load(JobId(id))?)).await.map(Json)
}

impl JobDetail {
    /// Returns the details of a stored job.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(crate) fn of(store: &Store, stored: StoredJob) -> Result<Self, StoreError> {
        let job = stored.row.id;
        let stretch = store.stretch(job)?;
        let checks = store.stored_checks(job)?.into_iter().map(|check| JobCheck {
            id: check.id,
            title: check.title,
            ok: check.ok,
            violations: check.violations,
            first_key: check.first_key,
        });
        let notes = stored.notes.iter().map(|note| JobNote {
            at_s: note.at_s,
            kind: note.kind.clone(),
            text: note.text.clone(),
        });
        Ok(Self {
            formats: formats(stored.row.kind),
            command_line: command_line::of_job(&stored),
            only_command_line: is_only_local(&stored.row.workload),
            checks: checks.collect(),
            notes: notes.collect(),
            spec: stored.spec.as_ref().and_then(|spec| serde_json::to_value(spec).ok()),
            given: stored.plan.as_ref().and_then(given_settings),
            facts: stored.facts,
            host: serde_json::to_value(&stored.host).unwrap_or_default(),
            transactions: stored.transactions,
            first_second: stretch.as_ref().map(|range| range.start),
            last_second: stretch.as_ref().map(|range| range.end - 1),
            document: stored.document,
            job: JobSummary::new(stored.row, store.sparkline(job, 60)?),
        })
    }
}

/// Changes the label of a job.
#[utoipa::path(patch, path = "/api/v1/jobs/{id}", tag = "jobs", request_body = JobChange,
    params(("id" = i64, Path, description = "Job number")),
    responses((status = 204), (status = 404, body = ApiError), (status = 422, body = ApiError)))]
pub async fn change(
    State(app): State<App>,
    Path(id): Path<i64>,
    Body(change): Body<JobChange>,
) -> Result<StatusCode, ApiError> {
    let label = change.label.filter(|label| !label.trim().is_empty());
    if label.as_ref().is_some_and(|label| label.contains(steers)) {
        let message = "the label contains a control character or one that changes the text \
                       direction; remove it";
        return Err(ApiError::invalid(message).about("label"));
    }
    if label.as_ref().is_some_and(|label| label.chars().count() > LABEL_MAX) {
        let message = format!("a label must have at most {LABEL_MAX} characters");
        return Err(ApiError::invalid(message).about("label"));
    }
    app.store(move |store| store.relabel(JobId(id), label.as_deref())).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Deletes a job with all its measurements.
#[utoipa::path(delete, path = "/api/v1/jobs/{id}", tag = "jobs",
    params(("id" = i64, Path, description = "Job number")),
    responses((status = 204), (status = 404, body = ApiError), (status = 409, body = ApiError)))]
pub async fn delete(State(app): State<App>, Path(id): Path<i64>) -> Result<StatusCode, ApiError> {
    app.store(move |store| store.delete(JobId(id))).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The report formats of a kind of job; HTML only if the program was built with its web interface.
fn formats(kind: JobKind) -> Vec<String> {
    let has = |known: &&FormatDeclaration| {
        (known.of)(kind) && (known.format != Format::Html || ui::report().is_some())
    };
    FORMATS.iter().filter(has).map(|known| known.name.to_owned()).collect()
}

/// Returns the report of a job, as `triphammer report` prints it.
#[utoipa::path(get, path = "/api/v1/jobs/{id}/report", tag = "jobs",
    params(("id" = i64, Path, description = "Job number"), ReportParams),
    responses((status = 200, body = String, content_type = "text/plain"),
        (status = 404, body = ApiError), (status = 422, body = ApiError)))]
pub async fn report(
    State(app): State<App>,
    Path(id): Path<i64>,
    Params(params): Params<ReportParams>,
) -> Result<Response, ApiError> {
    let asked = params.format.as_deref().unwrap_or("text");
    let format: Format =
        asked.parse().map_err(|message: String| ApiError::invalid(message).about("format"))?;
    let text = app.store(move |store| {
        let stored = store.load(JobId(id))?;
        Ok(render(format, store, &stored, Charset::Unicode, html_export::page))
    });
    let mut response = text.await??.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(format.declared().media_type));
    if params.download == Some(true) {
        let ending = format.ending();
        let file = format!("attachment; filename=\"triphammer-job-{id}.{ending}\"");
        let file = HeaderValue::from_str(&file).expect("a number and a word");
        headers.insert(header::CONTENT_DISPOSITION, file);
    }
    Ok(response)
}

/// Returns the settings of the database server at the start and the end of a run. Secrets are
/// masked.
#[utoipa::path(get, path = "/api/v1/jobs/{id}/server-settings", tag = "jobs",
    params(("id" = i64, Path, description = "Job number")),
    responses((status = 200, body = ServerSettings), (status = 404, body = ApiError)))]
pub async fn server_settings(
    State(app): State<App>,
    Path(id): Path<i64>,
) -> Answer<ServerSettings> {
    app.store(move |store| {
        store.load(JobId(id))?;
        ServerSettings::of(store, JobId(id))
    })
    .await
    .map(Json)
}

impl ServerSettings {
    /// Reads the data of a stored run.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(crate) fn of(store: &Store, job: JobId) -> Result<Self, StoreError> {
        let mut all: BTreeMap<String, (Option<String>, Option<String>)> = BTreeMap::new();
        for (name, value) in store.stored_settings(job, ReadAt::Start)? {
            all.entry(name).or_default().0 = Some(value);
        }
        for (name, value) in store.stored_settings(job, ReadAt::End)? {
            all.entry(name).or_default().1 = Some(value);
        }
        let settings =
            all.into_iter().map(|(name, (start, end))| ServerSetting { name, start, end });
        Ok(Self { settings: settings.collect() })
    }
}

impl JobSummary {
    fn new(row: JobRow, sparkline: Vec<f64>) -> Self {
        Self {
            ending: row.ending,
            id: row.id.0,
            kind: row.kind,
            status: row.status,
            label: row.label,
            workload: row.workload,
            workload_version: row.workload_version,
            scale: row.scale,
            scale_unit: row.scale_unit,
            target: row.target.as_str().to_owned(),
            server_product: row.server_product,
            server_version: row.server_version,
            tool_version: row.tool_version,
            users: row.users,
            started_at: row.started_at,
            ended_at: row.ended_at,
            parent: row.parent.map(|job| job.0),
            step: row.step,
            runs: row.runs,
            primary_metric_name: row.primary_metric_name,
            primary_metric_value: row.primary_metric_value,
            sparkline,
        }
    }
}
