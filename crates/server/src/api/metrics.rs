//! The metrics of the current runs, for Prometheus: those of `run --metrics-listen`, with the URL
//! of the target as a label.

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use triphammer_runner::outputs::{METRICS_TYPE, metrics_text};

use crate::app::App;

/// Returns the metrics of all current runs; nothing if there are none.
pub async fn metrics(State(app): State<App>) -> impl IntoResponse {
    let text = metrics_text(&app.activities().run_metrics().all());
    ([(header::CONTENT_TYPE, METRICS_TYPE)], text)
}
