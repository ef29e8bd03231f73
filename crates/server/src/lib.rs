//! `triphammer serve`: builds, checks, runs and drops over HTTP, with live events, stored jobs and
//! the web interface. It uses the runner and measures nothing itself.
//!
//! ```text
//!  api/        one module per resource: requests and responses as types, and their handlers
//!  activity/   running and queued jobs: the queue, one thread per activity, its events
//!  live/       events: the hub that serialises each once, and the history for late clients
//!  guard/      access control: hosts, origins, token and cookie, limits, headers
//!  mcp/        the same for assistants, over standard input and output
//!  serve/      sockets, TLS and shutdown; ui.rs the embedded pages; openapi.rs the document
//! ```
//!
//! The server runs on a single-threaded tokio runtime; blocking work (the store, the runner) has
//! separate threads. Serving therefore uses very little CPU on the host where the measurements run.

mod activity;
mod activity_state;
mod api;
mod app;
mod command_line;
mod compress;
mod config;
mod error;
mod extract;
mod guard;
mod limiter;
pub mod live;
mod mcp;
pub mod openapi;
mod schema;
mod serve;
mod targets;
mod time;
mod ui;

pub use api::html_export;
pub use app::App;
pub use config::{Config, ServerLimits};
pub use error::ApiError;
pub use guard::{TOKEN_MIN, random_token};
pub use mcp::{Assistant, AssistantConfig};
pub use serve::Server;
pub use targets::FixedTarget;
pub use ui::has_page;
