//! What the store says of runs together: B against A, and how a figure went over time. Neither leaves a job.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use triphammer_runner::command::JobKind;
use triphammer_runner::compare::{self, ComparisonResult};
use triphammer_runner::history::{self, HistoryResult, Wanted};
use triphammer_runner::settings::{Settings, Source};
use utoipa::IntoParams;

use super::Answer;
use crate::app::App;
use crate::error::ApiError;
use crate::extract::Params;

/// What to compare.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ComparisonParams {
    /// The measure: a job's number, `last`, or a label, which means all complete runs that have it.
    pub a: String,
    /// What is judged, likewise.
    pub b: String,
    /// The difference that does not matter, as `2%` or `0.02`; 2 % when absent.
    pub margin: Option<String>,
}

/// B against A, as `triphammer compare A B` judges them: runs, profiles, or labels of runs.
#[utoipa::path(get, path = "/api/v1/comparisons", tag = "comparisons", params(ComparisonParams),
    responses((status = 200, body = ref("#/components/schemas/ComparisonResult")),
        (status = 400, body = ApiError), (status = 422, body = ApiError)))]
pub async fn compare(
    State(app): State<App>,
    Params(asked): Params<ComparisonParams>,
) -> Answer<ComparisonResult> {
    let mut settings = Settings::new(JobKind::Compare);
    if let Some(margin) = &asked.margin {
        settings.set("margin", margin, Source::Request);
    }
    let margin = compare::margin(&mut settings)?;
    let made = app.store(move |store| Ok(compare::stored(store, &asked.a, &asked.b, margin)));
    Ok(Json(made.await??))
}

/// Whose history: one of them at least.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct HistoryParams {
    /// Only runs with this label.
    pub label: Option<String>,
    /// Only of this workload; else that of the newest run.
    pub workload: Option<String>,
    /// Only on targets that have this text in them.
    pub on: Option<String>,
}

/// Runs of one kind in the order of time, and when their first figure changed, as `triphammer history`.
#[utoipa::path(get, path = "/api/v1/history", tag = "comparisons", params(HistoryParams),
    responses((status = 200, body = ref("#/components/schemas/HistoryResult")),
        (status = 400, body = ApiError), (status = 422, body = ApiError)))]
pub async fn history(
    State(app): State<App>,
    Params(asked): Params<HistoryParams>,
) -> Answer<HistoryResult> {
    let wanted = Wanted { label: asked.label, workload: asked.workload, on: asked.on };
    let made = app.store(move |store| Ok(history::history(store, &wanted)));
    Ok(Json(made.await??))
}
