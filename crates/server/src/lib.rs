//! `triphammer serve`: builds, checks, runs and drops over HTTP, with events while they go on, stored jobs
//! for looking back, and the web interface. It stands on the runner and measures nothing itself.
//!
//! ```text
//!  api/        one module a resource: requests and responses as types, and their handlers
//!  activity/   what goes on: the queue, one thread for each activity, what it tells
//!  live/       events: the hub that shares each once serialised, and the history for who comes later
//!  guard/      who may ask: hosts, origins, token and cookie, limits, headers
//!  serve/      sockets, TLS and the end; ui.rs the embedded pages; openapi.rs the document
//! ```
//!
//! The server's own thread is one tokio runtime; what blocks (the store, the runner) has threads of its
//! own, so that serving takes no more than a sliver of the host that is being measured on.

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
