//! Facts about the server and its host.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Answer;
use crate::app::App;
use crate::schema::host_schema;

/// Facts about the server and its host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct About {
    /// Version of the program.
    pub version: String,
    /// Whether the program is a debug build, which uses many times the CPU time of a release build.
    pub debug_build: bool,
    /// Identifier of the server process; changes with each start.
    pub instance: String,
    /// Start time of the server, RFC 3339, UTC.
    pub started_at: String,
    /// The job store's file.
    pub store: String,
    /// Directory of the default SQLite file and of all SQLite files that clients may use.
    pub folder: String,
    /// The host of the server, on which all runs are driven.
    #[schema(schema_with = host_schema)]
    pub host: serde_json::Value,
}

/// Returns facts about the server and its host. The load of the host is sent as `host` events.
#[utoipa::path(get, path = "/api/v1/about", tag = "server", responses((status = 200, body = About)))]
pub async fn about(State(app): State<App>) -> Answer<About> {
    Ok(Json(About {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        debug_build: cfg!(debug_assertions),
        instance: app.hub().instance().to_owned(),
        started_at: app.started_at().to_owned(),
        store: app.store_path().display().to_string(),
        folder: std::path::absolute(app.data().join("."))
            .map(|folder| folder.display().to_string())
            .unwrap_or_default(),
        host: serde_json::to_value(app.host()).unwrap_or_default(),
    }))
}
