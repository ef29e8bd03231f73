//! The targets of the server.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use triphammer_core::clock::Clock;
use triphammer_core::session::Database as _;
use triphammer_drivers::target::Secret;
use triphammer_settings::command::JobKind;
use triphammer_settings::{Settings, target};
use utoipa::ToSchema;

use super::Answer;
use crate::app::{App, blocking};
use crate::error::ApiError;
use crate::extract::{Body, Path};
use crate::targets::{SavedTarget, TargetForm, Targets};

/// List of saved targets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TargetList {
    /// Entries in the order of their names.
    pub targets: Vec<SavedTarget>,
}

/// A password. It is kept in memory until the server stops and is never returned.
#[derive(Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PasswordForm {
    /// The password, write-only.
    #[schema(write_only, format = Password)]
    pub password: String,
}

/// Properties of a target's server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TargetTest {
    /// Product name of the server: `PostgreSQL`, `SQLite`.
    pub product: String,
    /// Version as reported by the server.
    pub version: String,
    /// Transport: `tcp`, `unix socket` or `in process`.
    pub transport: String,
    /// TLS version and cipher; `null` without TLS.
    pub cipher: Option<String>,
    /// Whether it runs on the host of this server and shares its CPUs; `null` if that is unknown.
    pub same_host: Option<bool>,
    /// Time to connect, in milliseconds.
    pub connect_ms: f64,
    /// Notices of the driver, such as a missing TLS encryption.
    pub notes: Vec<String>,
}

/// List of saved targets.
#[utoipa::path(get, path = "/api/v1/targets", tag = "targets",
    responses((status = 200, body = TargetList)))]
pub async fn list(State(app): State<App>) -> Answer<TargetList> {
    Ok(Json(TargetList { targets: app.targets().list() }))
}

/// Returns one saved target.
#[utoipa::path(get, path = "/api/v1/targets/{name}", tag = "targets",
    params(("name" = String, Path, description = "Target name")),
    responses((status = 200, body = SavedTarget), (status = 404, body = ApiError)))]
pub async fn get(State(app): State<App>, Path(name): Path<String>) -> Answer<SavedTarget> {
    Ok(Json(app.targets().get(&name)?))
}

/// Creates or changes a target. Secrets are not saved; a password in the URL is removed from it and
/// kept in memory.
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

/// Deletes a target. The database is not changed.
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

/// Keeps a password for a target in memory until the server stops.
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

/// Discards the password kept for a target.
#[utoipa::path(delete, path = "/api/v1/targets/{name}/password", tag = "targets",
    params(("name" = String, Path, description = "Target name")),
    responses((status = 200, body = SavedTarget), (status = 404, body = ApiError)))]
pub async fn forget_password(
    State(app): State<App>,
    Path(name): Path<String>,
) -> Answer<SavedTarget> {
    Ok(Json(app.targets().hold(&name, None)?))
}

/// Connects to a target, identifies its server, and disconnects. Errors are reported as on the
/// command line.
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
    let target = target::open(&mut settings, None, &keys)?;
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
        notes: [target.warnings, target.database.notes()].concat(),
    })
}
