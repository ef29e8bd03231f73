//! Saved targets.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use triphammer_core::clock::Clock;
use triphammer_core::session::Database as _;
use triphammer_drivers::target::Secret;
use triphammer_runner::command::JobKind;
use triphammer_runner::settings::Settings;
use triphammer_runner::target;
use utoipa::ToSchema;

use super::Answer;
use crate::app::{App, blocking};
use crate::error::ApiError;
use crate::extract::{Body, Path};
use crate::targets::{SavedTarget, TargetForm, Targets};

/// The saved targets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TargetList {
    /// By name.
    pub targets: Vec<SavedTarget>,
}

/// A password. It is held in memory as long as the server lives, and never given back.
#[derive(Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PasswordForm {
    /// The password.
    #[schema(write_only, format = Password)]
    pub password: String,
}

/// What is at a target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TargetTest {
    /// `PostgreSQL`, `SQLite`.
    pub product: String,
    /// The server's version as it says it.
    pub version: String,
    /// `tcp`, `unix socket`, `in process`.
    pub transport: String,
    /// TLS version and cipher; `null` without TLS.
    pub cipher: Option<String>,
    /// Whether it runs on this server's host, and so shares its CPUs; `null` where that cannot be determined.
    pub same_host: Option<bool>,
    /// How long connecting took, in milliseconds.
    pub connect_ms: f64,
    /// What the driver has to tell, such as that TLS was not to be had.
    pub notes: Vec<String>,
}

/// The saved targets.
#[utoipa::path(get, path = "/api/v1/targets", tag = "targets",
    responses((status = 200, body = TargetList)))]
pub async fn list(State(app): State<App>) -> Answer<TargetList> {
    Ok(Json(TargetList { targets: app.targets().list() }))
}

/// One saved target.
#[utoipa::path(get, path = "/api/v1/targets/{name}", tag = "targets",
    params(("name" = String, Path, description = "Target name")),
    responses((status = 200, body = SavedTarget), (status = 404, body = ApiError)))]
pub async fn get(State(app): State<App>, Path(name): Path<String>) -> Answer<SavedTarget> {
    Ok(Json(app.targets().get(&name)?))
}

/// Saves a target, new or changed. Secrets are not saved; a password in the URL is taken out and held in
/// memory.
#[utoipa::path(put, path = "/api/v1/targets/{name}", tag = "targets", request_body = TargetForm,
    params(("name" = String, Path, description = "Target name")),
    responses((status = 200, body = SavedTarget), (status = 409, body = ApiError),
        (status = 422, body = ApiError)))]
pub async fn put(
    State(app): State<App>,
    Path(name): Path<String>,
    Body(form): Body<TargetForm>,
) -> Answer<SavedTarget> {
    blocking(move || app.targets().put(&name, form)).await.map(Json)
}

/// Forgets a target. Nothing is done to the database.
#[utoipa::path(delete, path = "/api/v1/targets/{name}", tag = "targets",
    params(("name" = String, Path, description = "Target name")),
    responses((status = 204), (status = 404, body = ApiError), (status = 409, body = ApiError)))]
pub async fn delete(
    State(app): State<App>,
    Path(name): Path<String>,
) -> Result<StatusCode, ApiError> {
    blocking(move || app.targets().delete(&name)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Holds a password for a target, in memory, as long as the server lives.
#[utoipa::path(put, path = "/api/v1/targets/{name}/password", tag = "targets",
    request_body = PasswordForm,
    params(("name" = String, Path, description = "Target name")),
    responses((status = 200, body = SavedTarget), (status = 404, body = ApiError)))]
pub async fn hold_password(
    State(app): State<App>,
    Path(name): Path<String>,
    Body(form): Body<PasswordForm>,
) -> Answer<SavedTarget> {
    Ok(Json(app.targets().hold(&name, Some(Secret::new(form.password)))?))
}

/// Forgets the password that is held for a target.
#[utoipa::path(delete, path = "/api/v1/targets/{name}/password", tag = "targets",
    params(("name" = String, Path, description = "Target name")),
    responses((status = 200, body = SavedTarget), (status = 404, body = ApiError)))]
pub async fn forget_password(
    State(app): State<App>,
    Path(name): Path<String>,
) -> Answer<SavedTarget> {
    Ok(Json(app.targets().hold(&name, None)?))
}

/// Connects to a target, asks what it is, and disconnects. What goes wrong is reported in the command line's words.
#[utoipa::path(post, path = "/api/v1/targets/{name}/test", tag = "targets",
    params(("name" = String, Path, description = "Target name")),
    responses((status = 200, body = TargetTest), (status = 404, body = ApiError),
        (status = 422, body = ApiError), (status = 502, body = ApiError)))]
pub async fn test(State(app): State<App>, Path(name): Path<String>) -> Answer<TargetTest> {
    blocking(move || try_out(app.targets(), &name)).await.map(Json)
}

fn try_out(targets: &Targets, name: &str) -> Result<TargetTest, ApiError> {
    let mut settings = Settings::new(JobKind::Check);
    let keys = targets.apply(name, &mut settings)?;
    let target = target::open(&mut settings, "", &keys)?;
    let clock = Clock::start();
    let server = target::probe(&target)?;
    let connect_ms = clock.now().duration().as_secs_f64() * 1e3;
    Ok(TargetTest {
        product: server.product,
        version: server.version,
        transport: server.transport,
        cipher: server.cipher,
        same_host: server.same_host,
        connect_ms,
        notes: target.database.notes(),
    })
}
