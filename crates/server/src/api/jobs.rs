//! Stored jobs.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use triphammer_core::Scale;
use triphammer_core::text::steers;
use triphammer_runner::report::{Charset, Declared, FORMATS, Format};
use triphammer_runner::result::JobKind;
use triphammer_runner::settings::LABEL_MAX;
use triphammer_runner::store::{
    JobId, JobPage, JobQuery, JobRow, JobStatus, PAGE_MAX, ReadAt, Store, StoreError, StoredJob,
};
use utoipa::{IntoParams, ToSchema};

use super::Answer;
use crate::app::App;
use crate::error::ApiError;
use crate::extract::{Body, Params, Path};
use crate::schema::{host_schema, run_spec_schema, stored_document_schema};
use crate::{html_export, ui};

/// Most points of a sparkline.
const SPARKLINE_MAX: u32 = 200;

/// Which jobs to list.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct JobFilterParams {
    /// Only this command.
    #[param(inline)]
    pub kind: Option<JobKind>,
    /// Only jobs in this state.
    #[param(inline)]
    pub status: Option<JobStatus>,
    /// Only this workload.
    pub workload: Option<String>,
    /// Only the runs of this profile or capacity job; jobs that belong to no other when absent.
    pub parent: Option<i64>,
    /// A part of label, target, workload, server or number, whatever the case.
    pub search: Option<String>,
    /// Only jobs older than this one: the last of the page before.
    pub before: Option<i64>,
    /// At most so many, 1 to 200; 50 when absent.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u32>,
    /// Points of each job's sparkline, 0 to 200; 0 when absent.
    #[param(minimum = 0, maximum = 200)]
    pub sparkline: Option<u32>,
}

/// A page of jobs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobList {
    /// The newest first.
    pub jobs: Vec<JobSummary>,
    /// How many match on all pages.
    pub total: u64,
    /// `before` of the next page; `null` on the last one.
    pub next_before: Option<i64>,
}

/// A job in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobSummary {
    /// Its number.
    pub id: i64,
    /// The command.
    pub kind: JobKind,
    /// Where it is.
    pub status: JobStatus,
    /// What the user called it.
    pub label: Option<String>,
    /// The workload's name.
    pub workload: String,
    /// Results of two versions do not compare.
    pub workload_version: u32,
    /// Size, in `scale_unit`; 0 for a check.
    #[schema(value_type = f64)]
    pub scale: Scale,
    /// `warehouses`.
    pub scale_unit: String,
    /// URL of the target, without secrets.
    pub target: String,
    /// `PostgreSQL`.
    pub server_product: Option<String>,
    /// The server's version.
    pub server_version: Option<String>,
    /// Version of the program that did it.
    pub tool_version: String,
    /// Virtual users, or loaders.
    pub users: Option<u32>,
    /// Date and time, RFC 3339, UTC.
    pub started_at: String,
    /// Date and time; `null` while it runs, and for lost ones.
    pub ended_at: Option<String>,
    /// The profile or capacity job that a run belongs to.
    pub parent: Option<i64>,
    /// Its place in that job's sequence, from 0.
    pub step: Option<u32>,
    /// Runs that belong to it and came to their end.
    pub runs: u32,
    /// `NOPM`.
    pub primary_metric_name: Option<String>,
    /// The first figure.
    pub primary_metric_value: Option<f64>,
    /// Transactions completed per second, in stretches of equal length; empty without a series.
    pub sparkline: Vec<f64>,
    /// Whether a requirement of a run was not met: it is complete, and no success.
    pub requirements_failed: bool,
}

/// A job with what it left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobDetail {
    /// What lists show.
    pub job: JobSummary,
    /// How a run is driven.
    #[schema(schema_with = run_spec_schema)]
    pub spec: Option<serde_json::Value>,
    /// What the build remembers, and options.
    pub facts: BTreeMap<String, String>,
    /// The client's host.
    #[schema(schema_with = host_schema)]
    pub host: serde_json::Value,
    /// Keys of the transaction types, in the order of series.
    pub transactions: Vec<String>,
    /// First second of its series; `null` without one.
    pub first_second: Option<u64>,
    /// Last second of its series.
    pub last_second: Option<u64>,
    /// The document that it left; or why it could not be done, as text.
    #[schema(schema_with = stored_document_schema)]
    pub document: Option<serde_json::Value>,
    /// Remarks, in order.
    pub notes: Vec<JobNote>,
    /// What a check found, in order.
    pub checks: Vec<JobCheck>,
    /// The formats of its report, for downloads.
    pub formats: Vec<String>,
}

/// A remark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobNote {
    /// Seconds since the run's zero; `null` before and after it.
    pub at_s: Option<f64>,
    /// One word for programs.
    pub kind: String,
    /// A sentence for people.
    pub text: String,
}

/// A condition that was checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JobCheck {
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

/// What may be changed of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct JobChange {
    /// Its label; `null` for none.
    pub label: Option<String>,
}

/// The server's settings during a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ServerSettings {
    /// By name.
    pub settings: Vec<ServerSetting>,
}

/// A setting of the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ServerSetting {
    /// Its name.
    pub name: String,
    /// Its value at the start; `null` where it was absent.
    pub start: Option<String>,
    /// Its value at the end; `null` where it was absent or could not be read.
    pub end: Option<String>,
}

/// Which report.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ReportParams {
    /// One of the job's `formats`; `text` when absent.
    pub format: Option<String>,
    /// Whether the browser is to save it as a file.
    pub download: Option<bool>,
}

/// Stored jobs, newest first.
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
            let unmet = store.requirements_failed(row.id)?;
            Ok(JobSummary::new(row, line, unmet))
        });
        Ok((summaries.collect::<Result<Vec<_>, StoreError>>()?, total))
    });
    let (jobs, total) = found.await?;
    let is_full = jobs.len() == limit as usize;
    let next_before = jobs.last().filter(|last| is_full && last.id > 1).map(|last| last.id);
    Ok(Json(JobList { jobs, total, next_before }))
}

/// A job with what it left.
#[utoipa::path(get, path = "/api/v1/jobs/{id}", tag = "jobs",
    params(("id" = i64, Path, description = "Number of the job")),
    responses((status = 200, body = JobDetail), (status = 404, body = ApiError)))]
pub async fn get(State(app): State<App>, Path(id): Path<i64>) -> Answer<JobDetail> {
    app.store(move |store| JobDetail::of(store, store.load(JobId(id))?)).await.map(Json)
}

impl JobDetail {
    /// What a stored job left.
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
            checks: checks.collect(),
            notes: notes.collect(),
            spec: stored.spec.as_ref().and_then(|spec| serde_json::to_value(spec).ok()),
            facts: stored.facts,
            host: serde_json::to_value(&stored.host).unwrap_or_default(),
            transactions: stored.transactions,
            first_second: stretch.as_ref().map(|range| range.start),
            last_second: stretch.as_ref().map(|range| range.end - 1),
            document: stored.document,
            job: JobSummary::new(
                stored.row,
                store.sparkline(job, 60)?,
                store.requirements_failed(job)?,
            ),
        })
    }
}

/// Gives a job another label.
#[utoipa::path(patch, path = "/api/v1/jobs/{id}", tag = "jobs", request_body = JobChange,
    params(("id" = i64, Path, description = "Number of the job")),
    responses((status = 204), (status = 404, body = ApiError), (status = 422, body = ApiError)))]
pub async fn change(
    State(app): State<App>,
    Path(id): Path<i64>,
    Body(change): Body<JobChange>,
) -> Result<StatusCode, ApiError> {
    let label = change.label.filter(|label| !label.trim().is_empty());
    if label.as_ref().is_some_and(|label| label.contains(steers)) {
        let message = "the label holds a control character or one that changes the direction of text; \
                       leave it out";
        return Err(ApiError::invalid(message).about("label"));
    }
    if label.as_ref().is_some_and(|label| label.chars().count() > LABEL_MAX) {
        let message = format!("a label has at most {LABEL_MAX} characters");
        return Err(ApiError::invalid(message).about("label"));
    }
    app.store(move |store| store.relabel(JobId(id), label.as_deref())).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Removes a job with all that it measured.
#[utoipa::path(delete, path = "/api/v1/jobs/{id}", tag = "jobs",
    params(("id" = i64, Path, description = "Number of the job")),
    responses((status = 204), (status = 404, body = ApiError), (status = 409, body = ApiError)))]
pub async fn delete(State(app): State<App>, Path(id): Path<i64>) -> Result<StatusCode, ApiError> {
    app.store(move |store| store.delete(JobId(id))).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The formats that a job of a kind has; the page only in a program that holds it.
fn formats(kind: JobKind) -> Vec<String> {
    let has = |known: &&Declared| {
        known.of.contains(&kind) && (known.format != Format::Html || ui::report().is_some())
    };
    FORMATS.iter().filter(has).map(|known| known.name.to_owned()).collect()
}

/// A job's report, as `triphammer report` prints it.
#[utoipa::path(get, path = "/api/v1/jobs/{id}/report", tag = "jobs",
    params(("id" = i64, Path, description = "Number of the job"), ReportParams),
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
        Ok(format.render(store, &stored, Charset::Unicode, html_export::page))
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

/// The database server's settings at the start and the end of a run. Secrets are masked.
#[utoipa::path(get, path = "/api/v1/jobs/{id}/server-settings", tag = "jobs",
    params(("id" = i64, Path, description = "Number of the job")),
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
    /// Those of a stored run.
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
    fn new(row: JobRow, sparkline: Vec<f64>, requirements_failed: bool) -> Self {
        Self {
            requirements_failed,
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
