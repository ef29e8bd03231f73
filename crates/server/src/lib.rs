//! `triphammer serve`: builds, checks, runs and drops over HTTP, with live events, stored jobs and
//! the web interface. It uses the runner and measures nothing itself.
//!
//! ```text
//!  api/        one module a resource: requests and responses as types, and their handlers
//!  activity/   what goes on: the queue, one thread for each activity, what it tells
//!  live/       events: the hub that shares each once serialised, and the history for who comes later
//!  guard/      who may ask: hosts, origins, token and cookie, limits, headers
//!  serve/      sockets, TLS and the end; ui.rs the embedded pages; openapi.rs the document
//! ```
//!
//! The server runs on a single-threaded tokio runtime; blocking work (the store, the runner) has
//! separate threads. Serving therefore uses very little CPU on the host where the measurements run.

mod activity;
mod api;
mod app;
mod command_line;
mod config;
mod error;
mod extract;
mod guard;
pub mod html_export;
pub mod live;
pub mod openapi;
mod schema;
mod serve;
mod targets;
mod time;
mod ui;

pub use app::App;
pub use config::{Config, LISTEN, ServerLimits};
pub use error::ApiError;
pub use guard::{TOKEN_MIN, random_token};
pub use serve::Server;
pub use targets::FixedTarget;
pub use ui::has_page;
