//! Analyses of stored runs: comparisons and histories. Neither creates a job.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use triphammer_document::compare::ComparisonResult;
use triphammer_document::history::HistoryResult;
use triphammer_runner::compare;
use triphammer_runner::history::{self, HistorySelection};
use triphammer_settings::command::JobKind;
use triphammer_settings::{Settings, Source};
use utoipa::IntoParams;

use super::Answer;
use crate::app::App;
use crate::error::ApiError;
use crate::extract::Params;

/// The jobs to compare.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ComparisonParams {
    /// Baseline: a job number, `last`, or a label (all complete runs with that label).
    pub a: String,
    /// Compared with A: a job number, `last`, or a label.
    pub b: String,
    /// Smallest difference that matters, such as `2%` or `0.02`; 2 % when absent.
    pub margin: Option<String>,
}

/// Compares B with A, as `triphammer compare A B` does: runs, profiles, or labels of runs.
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
    let made = app
        .store(move |store| Ok(compare::stored(store, [&asked.a, &asked.b], margin, [None, None])));
    Ok(Json(made.await??))
}

/// Selects the runs of a history; at least one field is required.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct HistoryParams {
    /// Only runs with this label.
    pub label: Option<String>,
    /// Only runs of this workload; the workload of the newest run when absent.
    pub workload: Option<String>,
    /// Only runs whose target contains this text.
    pub on: Option<String>,
    /// Label of the runs of a fixed build: changes are those of the ratios to them.
    pub control: Option<String>,
}

/// Returns runs in chronological order and the changes of their primary metric, as `triphammer
/// history` does.
#[utoipa::path(get, path = "/api/v1/history", tag = "comparisons", params(HistoryParams),
    responses((status = 200, body = ref("#/components/schemas/HistoryResult")),
        (status = 400, body = ApiError), (status = 422, body = ApiError)))]
pub async fn history(
    State(app): State<App>,
    Params(asked): Params<HistoryParams>,
) -> Answer<HistoryResult> {
    let HistoryParams { label, workload, on, control } = asked;
    let wanted = HistorySelection { label, workload, on, control };
    let made = app.store(move |store| Ok(history::history(store, &wanted, None)));
    Ok(Json(made.await??))
}
