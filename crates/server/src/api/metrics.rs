//! The metrics of the runs that go on, for Prometheus: the ones of `run --metrics-listen`, each with the URL of
//! its target as a label.

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use triphammer_runner::outputs::{METRICS_TYPE, metrics_text};

use crate::app::App;

/// Where they are: where Prometheus looks by itself.
pub const PATH: &str = "/metrics";

/// The metrics of all runs that go on; nothing where none does.
pub async fn metrics(State(app): State<App>) -> impl IntoResponse {
    let text = metrics_text(&app.activities().run_metrics().all());
    ([(header::CONTENT_TYPE, METRICS_TYPE)], text)
}
