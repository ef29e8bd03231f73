//! Builds, checks, runs and drops: start, inspect, stop.

use axum::Extension;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use triphammer_core::pace::{LoadChange, LoadNow, LoadValue};
use triphammer_document::result::StepCause;
use utoipa::ToSchema;

use super::Answer;
use super::events::stream;
use crate::activity::{Activity, ActivityDetail, Form};
use crate::app::{App, blocking};
use crate::error::ApiError;
use crate::extract::{Body, Path};
use crate::limiter::Visitor;
use crate::live::LiveSeconds;
use crate::schema::{load_value_schema, step_cause_schema};

/// Running, queued and recently ended activities.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ActivityList {
    /// Entries of the list, newest first.
    pub activities: Vec<Activity>,
}

/// Lists running, queued and recently ended activities, newest first.
#[utoipa::path(get, path = "/api/v1/activities", tag = "activities",
    responses((status = 200, body = ActivityList)))]
pub async fn list(State(app): State<App>) -> Answer<ActivityList> {
    Ok(Json(ActivityList { activities: app.activities().list() }))
}

/// Starts a build, run, check or drop, or queues it behind another on the same target. A drop needs
/// no confirmation.
#[utoipa::path(post, path = "/api/v1/activities", tag = "activities", request_body = Form,
    responses((status = 201, body = Activity), (status = 404, body = ApiError),
        (status = 409, body = ApiError), (status = 422, body = ApiError)))]
pub async fn start(
    State(app): State<App>,
    Body(form): Body<Form>,
) -> Result<(StatusCode, Json<Activity>), ApiError> {
    let activity = blocking(move || app.activities().submit(&form, app.targets())).await?;
    Ok((StatusCode::CREATED, Json(activity)))
}

/// Returns an activity with its form, its resolved spec and its result document.
#[utoipa::path(get, path = "/api/v1/activities/{id}", tag = "activities",
    params(("id" = u64, Path, description = "Activity number")),
    responses((status = 200, body = ActivityDetail), (status = 404, body = ApiError)))]
pub async fn get(State(app): State<App>, Path(id): Path<u64>) -> Answer<ActivityDetail> {
    Ok(Json(app.activities().get(id)?))
}

/// Stops an activity: removes it from the queue, drains and stores a run, or cancels a build or
/// check. The second request aborts it.
#[utoipa::path(post, path = "/api/v1/activities/{id}/stop", tag = "activities",
    params(("id" = u64, Path, description = "Activity number")),
    responses((status = 200, body = Activity), (status = 404, body = ApiError),
        (status = 409, body = ApiError)))]
pub async fn stop(State(app): State<App>, Path(id): Path<u64>) -> Answer<Activity> {
    Ok(Json(app.activities().stop(id)?))
}

/// Aborts an activity: a run abandons transactions in flight. It is stored anyway.
#[utoipa::path(post, path = "/api/v1/activities/{id}/abort", tag = "activities",
    params(("id" = u64, Path, description = "Activity number")),
    responses((status = 200, body = Activity), (status = 404, body = ApiError),
        (status = 409, body = ApiError)))]
pub async fn abort(State(app): State<App>, Path(id): Path<u64>) -> Answer<Activity> {
    Ok(Json(app.activities().abort(id)?))
}

/// A change of the load of a run: one of a rate, a number of users and a mix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadRequest {
    /// Arrivals per second of an open load, from the next whole second on; 0 for a pause.
    pub rate: Option<f64>,
    /// Users of a closed load that work from now on, up to those that the run has opened sessions
    /// for; the others wait.
    pub users: Option<u32>,
    /// Weights of the transaction types from now on: `10,10,1,1,1`, or `new_order=10,payment=10` with 0 for the
    /// others. Types that had a weight of 0 at the start cannot be added.
    pub mix: Option<String>,
}

/// A change of the load that was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LoadAnswer {
    /// When it begins, in seconds since the start of the run.
    pub at_s: f64,
    /// Arrivals per second, users, or weights, before.
    #[schema(schema_with = load_value_schema)]
    pub from: LoadValue,
    /// The same from then on.
    #[schema(schema_with = load_value_schema)]
    pub to: LoadValue,
}

/// The load of an activity, and whether it can change.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct LoadState {
    /// The load that can change.
    pub load: Option<ChangeableLoad>,
    /// Why it cannot change, otherwise.
    pub fixed: Option<String>,
}

/// The load of a run in progress, which can change.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct ChangeableLoad {
    /// What can change, besides the mix.
    #[schema(schema_with = step_cause_schema)]
    pub what: StepCause,
    /// Arrivals per second, or users at work, now.
    pub value: f64,
    /// The largest value.
    pub max: f64,
    /// Weights of the transaction types now: `new_order=10,payment=10`; `None` if they cannot change.
    pub mix: Option<String>,
}

/// Returns the load of an activity, and whether it can change.
#[utoipa::path(get, path = "/api/v1/activities/{id}/load", tag = "activities",
    params(("id" = u64, Path, description = "Activity number")),
    responses((status = 200, body = LoadState), (status = 404, body = ApiError)))]
pub async fn load(State(app): State<App>, Path(id): Path<u64>) -> Answer<LoadState> {
    let (load, fixed) = match app.activities().load_now(id) {
        Ok(LoadNow { what, value, max, mix }) => {
            (Some(ChangeableLoad { what: what.into(), value, max, mix }), None)
        }
        Err(error) if error.is_conflict() => (None, Some(error.message)),
        Err(error) => return Err(error),
    };
    Ok(Json(LoadState { load, fixed }))
}

/// Changes the load of a run during the run: the rate of an open load, the users of a closed one, or the mix.
/// The change is a note of the run, and the result has the reaction to it (`elasticity`).
#[utoipa::path(post, path = "/api/v1/activities/{id}/load", tag = "activities",
    params(("id" = u64, Path, description = "Activity number")), request_body = LoadRequest,
    responses((status = 200, body = LoadAnswer), (status = 404, body = ApiError),
        (status = 409, body = ApiError), (status = 422, body = ApiError)))]
pub async fn change_load(
    State(app): State<App>,
    Path(id): Path<u64>,
    Body(request): Body<LoadRequest>,
) -> Answer<LoadAnswer> {
    let change = match (request.rate, request.users, request.mix) {
        (Some(rate), None, None) => LoadChange::Rate(rate),
        (None, Some(users), None) => LoadChange::Users(users),
        (None, None, Some(mix)) => LoadChange::Mix(mix),
        _ => return Err(ApiError::invalid("give one of a rate, a number of users and a mix")),
    };
    let made = app.activities().change_load(id, change)?;
    Ok(Json(LoadAnswer { at_s: made.at.duration().as_secs_f64(), from: made.from, to: made.to }))
}

/// Returns the seconds of the current run, at most 600: older ones are merged. A page that has too
/// many points replaces them with these.
#[utoipa::path(get, path = "/api/v1/activities/{id}/seconds", tag = "activities",
    params(("id" = u64, Path, description = "Activity number")),
    responses((status = 200, body = LiveSeconds), (status = 404, body = ApiError)))]
pub async fn seconds(State(app): State<App>, Path(id): Path<u64>) -> Answer<LiveSeconds> {
    app.activities().get(id)?;
    Ok(Json(LiveSeconds { seconds: app.hub().seconds(id) }))
}

/// Streams the events of one activity: all stored ones, or those after `Last-Event-ID`, and then
/// new ones. See `LiveEvent`.
#[utoipa::path(get, path = "/api/v1/activities/{id}/events", tag = "events",
    params(("id" = u64, Path, description = "Activity number"),
        ("Last-Event-ID" = Option<String>, Header,
            description = "Number of the last event received")),
    responses((status = 200, content_type = "text/event-stream", body = crate::live::LiveEvent),
        (status = 404, body = ApiError), (status = 429, body = ApiError)))]
pub async fn events(
    State(app): State<App>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<u64>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    app.activities().get(id)?;
    stream(&app, &visitor, Some(id), &headers)
}
