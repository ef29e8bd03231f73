//! The tools: their names and texts, and the handler of the HTTP API behind each.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use rmcp::model::{Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use triphammer_document::JobId;
use triphammer_report::{Charset, render};
use triphammer_settings::command::JobKind;
use triphammer_settings::formats::Format;

use super::{Assistant, arguments as of, document_part, permit};
use crate::activity::{Form, preview};
use crate::api::{commands, comparisons, doctor, jobs, why};
use crate::app::blocking;
use crate::error::ApiError;
use crate::extract::{Body, Params, Path};

/// Longest wait of `watch`, in seconds.
const WAIT_MAX_S: u64 = 60;
/// Time between two looks at an activity.
const LOOK: Duration = Duration::from_millis(200);
/// Number of a run's last seconds that `watch` returns.
const SECONDS_SHOWN: usize = 5;
/// Longest report that is returned, in characters.
const REPORT_MAX: usize = 60_000;
/// Jobs in a list.
const JOBS_DEFAULT: u32 = 20;
const JOBS_MAX: u32 = 50;

/// What a tool does to its surroundings.
#[derive(Clone, Copy)]
enum Effect {
    Reads,
    /// Connects to a database, and reads there.
    Connects,
    Changes,
    Destroys,
}

/// Every tool, in the order of use.
pub(super) fn all(may_destroy: bool) -> Vec<Tool> {
    use Effect::{Changes, Connects, Reads};
    vec![
        tool::<of::None>(
            "list_targets",
            Reads,
            "The databases that may be used, by name. Their owner configured them.",
        ),
        tool::<of::Describe>(
            "describe",
            Reads,
            "The commands and the workloads; with a command, its settings with defaults and meaning.",
        ),
        tool::<of::Target>(
            "doctor",
            Connects,
            "Examines the client's host, the network and the database of a target before a measurement, and says what \
             would spoil it. Changes nothing; takes up to 30 s.",
        ),
        tool::<of::Work>(
            "preview",
            Connects,
            "Resolves what `start` would do without doing it: every setting, the command line, how long it takes, and \
             warnings.",
        ),
        tool::<of::Work>(
            "start",
            if may_destroy { Effect::Destroys } else { Changes },
            "Starts a build, run, campaign, drill, test of isolation or check on a target, or queues it behind another there; returns its \
             activity. A run loads the database: begin with a short one.",
        ),
        tool::<of::Watch>(
            "watch",
            Reads,
            "The state of an activity, after waiting for its end for some seconds; the last seconds of a run; and the \
             job number in the store, for `report`.",
        ),
        tool::<of::Stop>(
            "stop",
            Changes,
            "Ends an activity early: a run is drained and stored. With `abort`, transactions in flight are abandoned.",
        ),
        tool::<of::Jobs>(
            "list_jobs",
            Reads,
            "Stored jobs, newest first, with their verdicts and figures.",
        ),
        tool::<of::Report>(
            "report",
            Reads,
            "The report of a stored job as people read it: figures with intervals, verdicts, warnings.",
        ),
        tool::<of::Document>(
            "read_document",
            Reads,
            "The result document of a stored job, or a part of it, with every figure.",
        ),
        tool::<of::Explain>(
            "explain",
            Reads,
            "Why a run, or a stretch of it, was as fast as it was: what the database's sessions waited for.",
        ),
        tool::<of::Compare>(
            "compare_jobs",
            Reads,
            "Compares stored runs, profiles or labels: faster, slower, equivalent or undecided, with the interval.",
        ),
    ]
}

fn tool<T: JsonSchema>(name: &'static str, effect: Effect, text: &'static str) -> Tool {
    let schema = schemars::schema_for!(T).to_value();
    let schema = schema.as_object().cloned().unwrap_or_default();
    let hints = ToolAnnotations::new()
        .read_only(matches!(effect, Effect::Reads | Effect::Connects))
        .destructive(matches!(effect, Effect::Destroys))
        .open_world(!matches!(effect, Effect::Reads));
    Tool::new(name, text, Arc::new(schema)).with_annotations(hints)
}

/// Calls a tool; `None` if there is none with the name.
pub(super) async fn call(
    assistant: &Assistant,
    name: &str,
    arguments: Value,
) -> Option<Result<Value, ApiError>> {
    Some(match name {
        "list_targets" => read(arguments).and_then(|_: of::None| list_targets(assistant)),
        "describe" => answer(arguments, describe).await,
        "doctor" => answer(arguments, |given| examine(assistant, given)).await,
        "preview" => answer(arguments, |given| resolve(assistant, given)).await,
        "start" => answer(arguments, |given| start(assistant, given)).await,
        "watch" => answer(arguments, |given| watch(assistant, given)).await,
        "stop" => answer(arguments, |given| stop(assistant, given)).await,
        "list_jobs" => answer(arguments, |given| list_jobs(assistant, given)).await,
        "report" => answer(arguments, |given| report(assistant, given)).await,
        "read_document" => answer(arguments, |given| read_document(assistant, given)).await,
        "explain" => answer(arguments, |given| explain(assistant, given)).await,
        "compare_jobs" => answer(arguments, |given| compare(assistant, given)).await,
        _ => return None,
    })
}

async fn answer<T: DeserializeOwned, F: Future<Output = Result<Value, ApiError>>>(
    arguments: Value,
    tool: impl FnOnce(T) -> F,
) -> Result<Value, ApiError> {
    tool(read(arguments)?).await
}

fn read<T: DeserializeOwned>(arguments: Value) -> Result<T, ApiError> {
    serde_json::from_value(arguments)
        .map_err(|error| ApiError::invalid(format!("invalid arguments: {error}")))
}

fn shown(value: &impl Serialize) -> Result<Value, ApiError> {
    serde_json::to_value(value).map_err(|_| ApiError::internal())
}

fn list_targets(assistant: &Assistant) -> Result<Value, ApiError> {
    let targets = assistant.app.targets().list();
    let note = targets.is_empty().then_some(
        "no target is configured: its owner starts `triphammer mcp --targets FILE`; stored jobs can be read",
    );
    Ok(json!({ "targets": shown(&targets)?, "note": note }))
}

async fn describe(given: of::Describe) -> Result<Value, ApiError> {
    let Json(known) = commands::commands().await?;
    let Some(name) = given.command else {
        let Json(workloads) = commands::workloads().await?;
        let commands =
            JobKind::ALL.map(|kind| json!({ "name": kind.name(), "title": kind.title() }));
        return Ok(json!({ "commands": commands, "workloads": shown(&workloads.workloads)? }));
    };
    let command = permit::command(&name)?;
    shown(&known.commands.into_iter().find(|info| info.command == command))
}

async fn examine(assistant: &Assistant, given: of::Target) -> Result<Value, ApiError> {
    permit::known(assistant, &given.target)?;
    let form = doctor::DoctorForm { target: Some(given.target) };
    let Json(found) = doctor::doctor(State(assistant.app.clone()), Body(form)).await?;
    shown(&found)
}

async fn resolve(assistant: &Assistant, given: of::Work) -> Result<Value, ApiError> {
    let form = permit::form(assistant, given)?;
    let Json(found) = commands::preview(State(assistant.app.clone()), Body(form)).await?;
    shown(&found)
}

async fn start(assistant: &Assistant, given: of::Work) -> Result<Value, ApiError> {
    let form = permit::form(assistant, given)?;
    permit::refuse_destruction(assistant, &form)?;
    let (app, asked) = (assistant.app.clone(), form.clone());
    let planned = blocking(move || preview(&asked, app.targets())).await?;
    permit::refuse_long(assistant, &form, &planned)?;
    let activity = submit(assistant, form).await?;
    Ok(
        json!({ "activity": activity, "warnings": planned.warnings, "next": "watch it until its end" }),
    )
}

/// Starts the activity and the clock that limits it.
async fn submit(assistant: &Assistant, form: Form) -> Result<Value, ApiError> {
    let app = assistant.app.clone();
    let activity = blocking(move || app.activities().submit(&form, app.targets())).await?;
    let activities = Arc::clone(assistant.app.activities());
    tokio::spawn(permit::limit(activities, activity.id, assistant.max_time));
    shown(&activity)
}

async fn watch(assistant: &Assistant, given: of::Watch) -> Result<Value, ApiError> {
    let activities = assistant.app.activities();
    let end = tokio::time::Instant::now() + Duration::from_secs(given.wait_s.min(WAIT_MAX_S));
    let activity = loop {
        let activity = activities.activity(given.activity)?;
        if activity.state.is_over() || tokio::time::Instant::now() >= end {
            break activity;
        }
        tokio::time::sleep(LOOK).await;
    };
    let mut seconds = assistant.app.hub().seconds(given.activity);
    let last = seconds.split_off(seconds.len().saturating_sub(SECONDS_SHOWN));
    Ok(json!({ "activity": shown(&activity)?, "last_seconds": shown(&last)? }))
}

async fn stop(assistant: &Assistant, given: of::Stop) -> Result<Value, ApiError> {
    let activities = assistant.app.activities();
    let stopped = match given.abort {
        true => activities.abort(given.activity)?,
        false => activities.stop(given.activity)?,
    };
    shown(&stopped)
}

async fn list_jobs(assistant: &Assistant, given: of::Jobs) -> Result<Value, ApiError> {
    let filter = jobs::JobFilterParams {
        search: given.search,
        before: given.before,
        parent: given.parent,
        limit: Some(given.limit.unwrap_or(JOBS_DEFAULT).clamp(1, JOBS_MAX)),
        ..jobs::JobFilterParams::default()
    };
    let Json(found) = jobs::list(State(assistant.app.clone()), Params(filter)).await?;
    shown(&found)
}

async fn report(assistant: &Assistant, given: of::Report) -> Result<Value, ApiError> {
    let format = match given.format.as_deref().unwrap_or("text") {
        "text" => Format::Text,
        "markdown" => Format::Markdown,
        other => {
            let message = format!("unknown format `{other}`: expected text or markdown");
            return Err(ApiError::invalid(message).about("format"));
        }
    };
    let text = assistant.app.store(move |store| {
        let stored = store.load(JobId(given.job))?;
        Ok(render(format, store, &stored, Charset::Unicode, crate::html_export::page))
    });
    let text = text.await??;
    let cut = text.char_indices().nth(REPORT_MAX).map(|(at, _)| at);
    Ok(
        json!({ "job": given.job, "report": &text[..cut.unwrap_or(text.len())], "is_cut": cut.is_some() }),
    )
}

async fn read_document(assistant: &Assistant, given: of::Document) -> Result<Value, ApiError> {
    let Json(detail) = jobs::get(State(assistant.app.clone()), Path(given.job)).await?;
    let document = detail.document.ok_or_else(|| {
        ApiError::not_found(format!("job {} has no document: it runs, or was lost", given.job))
    })?;
    document_part::part(&document, &given.pointer)
}

async fn explain(assistant: &Assistant, given: of::Explain) -> Result<Value, ApiError> {
    let stretch = why::WhyParams { from: given.from, to: given.to };
    let Json(found) =
        why::why(State(assistant.app.clone()), Path(given.job), Params(stretch)).await?;
    shown(&found)
}

async fn compare(assistant: &Assistant, given: of::Compare) -> Result<Value, ApiError> {
    let of::Compare { a, b, margin } = given;
    let asked = comparisons::ComparisonParams { a, b, margin };
    let Json(found) = comparisons::compare(State(assistant.app.clone()), Params(asked)).await?;
    shown(&found)
}
