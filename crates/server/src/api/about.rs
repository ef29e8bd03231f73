//! The server and its host.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Answer;
use crate::app::App;
use crate::schema::host_schema;

/// The server and its host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct About {
    /// The program's version.
    pub version: String,
    /// Built without optimisation: its own cost is many times what it should be.
    pub debug_build: bool,
    /// Another one after each start of the server.
    pub instance: String,
    /// When the server began, RFC 3339, UTC.
    pub started_at: String,
    /// The job store's file.
    pub store: String,
    /// Folder of the embedded default target, and of all SQLite files that clients may use.
    pub folder: String,
    /// The host that the server, and so every client of a run, is on.
    #[schema(schema_with = host_schema)]
    pub host: serde_json::Value,
}

/// The server and its host. How busy that is comes as `host` events.
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
