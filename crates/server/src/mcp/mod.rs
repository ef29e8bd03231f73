//! `triphammer mcp`: the Model Context Protocol over standard input and output, for assistants.
//!
//! The protocol itself is the crate `rmcp`. A tool is a handler of the HTTP API with other arguments
//! (`tools.rs`), so an assistant gets what the page gets. What it may do is decided here and in
//! `permit.rs`: it names targets that its owner configured, never a URL or a secret; it destroys
//! nothing without the owner's flag; and no job of it takes longer than the owner allows.

mod arguments;
mod document_part;
mod permit;
mod tools;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::stdio_pipes;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use tokio::sync::watch;

use crate::activity::Activities;
use crate::app::App;
use crate::error::ApiError;
use crate::targets::{FixedTarget, Targets};

/// Longest message of an assistant, in bytes; a longer one is dropped.
const MESSAGE_MAX: usize = 1024 * 1024;
/// Longest wait for activities to end when the assistant is gone.
const GOODBYE: Duration = Duration::from_secs(30);
/// What an assistant reads first.
const INSTRUCTIONS: &str = "Measures databases with standard workloads, and explains the results. Begin with \
    list_targets and describe. A measurement needs data: start `build`, then `run`, `profile`, `capacity` or \
    `compare`, each preceded by preview, which changes nothing; \
    name the workload in their settings. `watch` waits for the end; `report` and `explain` \
    say what was found. Every result is a numbered job in a store, also those of earlier days: list_jobs, \
    compare_jobs. Quote figures with their intervals and warnings.";

/// What the owner of an assistant allows.
#[derive(Clone, Debug)]
pub struct AssistantConfig {
    /// The job store's file.
    pub store: PathBuf,
    /// The targets that the assistant may use, by name.
    pub targets: BTreeMap<String, FixedTarget>,
    /// Longest time of a job.
    pub max_time: Duration,
    /// Whether the assistant may drop tables, and replace what is built.
    pub allow_destructive: bool,
}

/// The server of one assistant.
#[derive(Clone, Debug)]
pub struct Assistant {
    app: App,
    max_time: Duration,
    allow_destructive: bool,
}

impl Assistant {
    /// Opens the job store.
    ///
    /// # Errors
    /// When the store cannot be opened.
    pub fn open(config: AssistantConfig) -> Result<Self, ApiError> {
        let AssistantConfig { store, targets, max_time, allow_destructive } = config;
        let app = App::on(&store, Path::new(""), || Targets::of_owner(&store, targets))?;
        Ok(Self { app, max_time, allow_destructive })
    }

    /// Serves on standard input and output until the assistant closes them, or `ends` reports a signal: then activities are stopped and stored;
    /// after the second signal they are aborted.
    ///
    /// # Errors
    /// When the assistant does not speak the protocol.
    pub async fn run(self, mut ends: watch::Receiver<u32>) -> std::io::Result<()> {
        let activities = Arc::clone(self.app.activities());
        let (input, output) = stdio_pipes();
        let transport = AsyncRwTransport::new(input, output).with_max_line_length(MESSAGE_MAX);
        let served = async {
            // An assistant that ends before it begins has asked for nothing.
            match self.serve(transport).await {
                Ok(service) => service.waiting().await.map(drop).map_err(std::io::Error::other),
                Err(error) if is_closed(&error) => Ok(()),
                Err(error) => Err(std::io::Error::other(error)),
            }
        };
        let served = tokio::select! {
            served = served => served,
            _ = ends.changed() => Ok(()),
        };
        stop_all(&activities, &mut ends).await;
        served
    }
}

const fn is_closed(error: &rmcp::service::ServerInitializeError) -> bool {
    matches!(error, rmcp::service::ServerInitializeError::ConnectionClosed(_))
}

/// Stops all activities and waits for their end; aborts them at another signal, and after a while.
async fn stop_all(activities: &Arc<Activities>, ends: &mut watch::Receiver<u32>) {
    activities.close();
    for _ in 0..2 {
        let waited = tokio::task::spawn_blocking({
            let activities = Arc::clone(activities);
            move || activities.wait(GOODBYE)
        });
        let is_over = tokio::select! {
            over = waited => over.unwrap_or(true),
            changed = ends.changed(), if ends.has_changed().is_ok() => changed.is_err(),
        };
        if is_over {
            return;
        }
        activities.close();
    }
}

impl ServerHandler for Assistant {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(
                Implementation::new("triphammer", env!("CARGO_PKG_VERSION"))
                    .with_title("triphammer: load tests and benchmarks of databases"),
            )
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::all(self.allow_destructive)))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = serde_json::Value::Object(request.arguments.unwrap_or_default());
        let Some(answer) = tools::call(self, &request.name, arguments).await else {
            let message = format!("there is no tool `{}`; tools/list has all", request.name);
            return Err(ErrorData::invalid_params(message, None));
        };
        Ok(match answer {
            Ok(answer) => CallToolResult::structured(answer),
            Err(error) => CallToolResult::error(vec![ContentBlock::text(message_of(&error))]),
        }
        .into())
    }
}

/// An error in one text: what, and what next.
fn message_of(error: &ApiError) -> String {
    let field = error.field.as_ref().map(|field| format!(" ({field})")).unwrap_or_default();
    let next = error.next.as_ref().map(|next| format!("; {next}")).unwrap_or_default();
    format!("{}{field}{next}", error.message)
}
