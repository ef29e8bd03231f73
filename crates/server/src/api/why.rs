//! Why a run, or a stretch of it, was as slow as it was.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use triphammer_document::JobId;
use triphammer_document::why::{Stretch, WhyResult};
use triphammer_observe::why::explain;
use utoipa::IntoParams;

use super::Answer;
use crate::app::App;
use crate::error::ApiError;
use crate::extract::{Params, Path};

/// The stretch to explain: both ends, or none.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct WhyParams {
    /// First second, counted from the start of the run. Without `from` and `to`: the stretch whose
    /// throughput was notably lower, else the timed window.
    pub from: Option<u64>,
    /// End second, exclusive.
    pub to: Option<u64>,
}

impl WhyParams {
    fn stretch(&self) -> Result<Option<Stretch>, ApiError> {
        match (self.from, self.to) {
            (None, None) => Ok(None),
            (Some(from), Some(to)) if from < to => Ok(Some(Stretch { from, to })),
            _ => Err(ApiError::invalid("give both `from` and `to`, with `to` after `from`")),
        }
    }
}

/// Explains a run or a stretch of it by what the sessions at the database waited for, as `triphammer
/// why` does.
#[utoipa::path(get, path = "/api/v1/jobs/{id}/why", tag = "jobs",
    params(("id" = i64, Path, description = "Job number"), WhyParams),
    responses((status = 200, body = ref("#/components/schemas/WhyResult")),
        (status = 400, body = ApiError), (status = 404, body = ApiError),
        (status = 422, body = ApiError)))]
pub async fn why(
    State(app): State<App>,
    Path(id): Path<i64>,
    Params(asked): Params<WhyParams>,
) -> Answer<WhyResult> {
    let at = asked.stretch()?;
    let made = app.store(move |store| {
        store.load(JobId(id))?;
        Ok(explain(store, JobId(id), at))
    });
    Ok(Json(made.await??))
}
