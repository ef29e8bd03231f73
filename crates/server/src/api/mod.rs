//! The resources below `/api/v1`. Each module has the requests, responses and handlers of one;
//! `html_export` renders a report as a page.

#![expect(unused_qualifications, reason = "what utoipa makes of a handler's parameters")]

mod about;
mod activities;
pub(crate) mod commands;
pub(crate) mod comparisons;
pub(crate) mod doctor;
mod events;
pub mod html_export;
pub(crate) mod jobs;
mod latency;
mod metrics;
mod samples;
mod series;
mod session;
mod targets;
pub(crate) mod why;

use axum::Json;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::error::ApiError;

pub(crate) use metrics::metrics;

/// Result of a handler.
type Answer<T> = Result<Json<T>, ApiError>;

/// All routes of the API, with their descriptions.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(about::about))
        .routes(routes!(session::get, session::begin, session::end))
        .routes(routes!(commands::commands))
        .routes(routes!(commands::workloads))
        .routes(routes!(commands::preview))
        .routes(routes!(doctor::doctor))
        .routes(routes!(targets::list))
        .routes(routes!(targets::get, targets::put, targets::delete))
        .routes(routes!(targets::hold_password, targets::forget_password))
        .routes(routes!(targets::test))
        .routes(routes!(activities::list, activities::start))
        .routes(routes!(activities::get))
        .routes(routes!(activities::stop))
        .routes(routes!(activities::abort))
        .routes(routes!(activities::load, activities::change_load))
        .routes(routes!(activities::seconds))
        .routes(routes!(activities::events))
        .routes(routes!(events::events))
        .routes(routes!(jobs::list))
        .routes(routes!(jobs::get, jobs::change, jobs::delete))
        .routes(routes!(jobs::report))
        .routes(routes!(jobs::server_settings))
        .routes(routes!(series::series))
        .routes(routes!(samples::samples))
        .routes(routes!(why::why))
        .routes(routes!(samples::means))
        .routes(routes!(latency::percentiles))
        .routes(routes!(latency::heatmap))
        .routes(routes!(comparisons::compare))
        .routes(routes!(comparisons::history))
}
