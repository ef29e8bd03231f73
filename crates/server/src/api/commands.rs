//! What can be asked for: commands with their settings, workloads with their options, and what a form comes to.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use triphammer_core::workload::{Description, OptionCommand};
use triphammer_runner::choices::choices;
use triphammer_runner::settings::SETTINGS;
use triphammer_runner::workloads as workloads_known;
use utoipa::ToSchema;

use super::Answer;
use crate::activity::{self, Form, FormCommand, Preview};
use crate::app::{App, blocking};
use crate::error::ApiError;
use crate::extract::Body;

/// The commands that a form can be of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CommandList {
    /// In the order in which they are used.
    pub commands: Vec<CommandInfo>,
}

/// A command and its settings. The options of the workload come beside them: see `WorkloadInfo`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CommandInfo {
    /// The command.
    pub command: FormCommand,
    /// Its settings, in the order of the reference.
    pub settings: Vec<SettingInfo>,
}

/// Something that can be set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SettingInfo {
    /// Its name, as forms and the command line have it.
    pub name: String,
    /// What values look like.
    pub kind: SettingKind,
    /// Help in a line.
    pub help: String,
    /// The default in words; `null` where there is none. A preview says what it comes to.
    pub default: Option<String>,
    /// The words that it takes; empty where its value is free.
    pub choices: Vec<ChoiceInfo>,
}

/// What the values of a setting look like. All are sent as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SettingKind {
    /// `true` or `false`.
    Switch,
    /// A whole number.
    Integer,
    /// `30s`, `5m`, `1h30m`.
    Duration,
    /// `1%` or `0.01`.
    Share,
    /// `3` or `3-8`.
    Range,
    /// One of its choices.
    Choice,
    /// Any text.
    Text,
}

/// A word and what it means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ChoiceInfo {
    /// As it is sent.
    pub value: String,
    /// What it means, in a line.
    pub meaning: String,
}

/// The workloads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WorkloadList {
    /// In the order of the program's list; the first is the default.
    pub workloads: Vec<WorkloadInfo>,
}

/// A workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WorkloadInfo {
    /// The word that forms take.
    pub name: String,
    /// For people: `TPROC-C`.
    pub title: String,
    /// Results of two versions do not compare.
    pub version: u32,
    /// What `scale` counts: `warehouses`.
    pub scale_unit: String,
    /// The first figure: `NOPM`.
    pub headline: String,
    /// What that counts.
    pub headline_meaning: String,
    /// Where its logic can run, the preferred place first.
    pub modes: Vec<String>,
    /// Its transaction types, in the order of every series and report.
    pub transactions: Vec<TransactionInfo>,
    /// Options of `build` beside the settings.
    pub build_options: Vec<SettingInfo>,
    /// Options of `run` beside the settings.
    pub run_options: Vec<SettingInfo>,
}

/// A type of transaction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TransactionInfo {
    /// Key: `new_order`.
    pub name: String,
    /// For people: `New-Order`.
    pub title: String,
    /// Of all transactions in the default mix.
    pub share: f64,
}

/// The commands that a form can be of, with everything that can be set.
#[utoipa::path(get, path = "/api/v1/commands", tag = "forms",
    responses((status = 200, body = CommandList)))]
pub async fn commands() -> Answer<CommandList> {
    let info = |command: FormCommand| CommandInfo {
        command,
        settings: SETTINGS
            .iter()
            .filter(|s| s.in_request() && s.commands.contains(&command.command()))
            .map(|s| setting(s.name, s.value, s.help_alone(), s.default_in_words()))
            .collect(),
    };
    Ok(Json(CommandList { commands: FormCommand::ALL.map(info).to_vec() }))
}

/// The workloads, with their options.
#[utoipa::path(get, path = "/api/v1/workloads", tag = "forms",
    responses((status = 200, body = WorkloadList)))]
pub async fn workloads() -> Answer<WorkloadList> {
    let workloads = workloads_known().iter().map(|known| workload(known)).collect();
    Ok(Json(WorkloadList { workloads }))
}

/// What a form comes to, without doing it: every setting, how a run would be driven, and the command line
/// that does the same. What cannot be is an error with its field. The preview of a run looks at the database.
#[utoipa::path(post, path = "/api/v1/preview", tag = "forms", request_body = Form,
    responses((status = 200, body = Preview), (status = 404, body = ApiError),
        (status = 422, body = ApiError), (status = 502, body = ApiError)))]
pub async fn preview(State(app): State<App>, Body(form): Body<Form>) -> Answer<Preview> {
    blocking(move || activity::preview(&form, app.targets())).await.map(Json)
}

fn setting(name: &str, value: Option<&str>, help: &str, default: Option<&str>) -> SettingInfo {
    let choices: Vec<ChoiceInfo> = choices(name)
        .into_iter()
        .map(|c| ChoiceInfo { value: c.value.to_string(), meaning: c.meaning.to_string() })
        .collect();
    let kind = match value {
        None => SettingKind::Switch,
        Some(_) if !choices.is_empty() => SettingKind::Choice,
        Some("N") => SettingKind::Integer,
        Some("TIME") => SettingKind::Duration,
        Some("SHARE") => SettingKind::Share,
        Some("A-B") => SettingKind::Range,
        Some(_) => SettingKind::Text,
    };
    SettingInfo {
        name: name.to_owned(),
        kind,
        help: help.to_owned(),
        default: default.map(str::to_owned),
        choices,
    }
}

fn workload(workload: &Description) -> WorkloadInfo {
    let headline = &workload.headline;
    let options = |command: OptionCommand| {
        let own = workload.options.iter().filter(|option| option.command == command);
        own.map(|o| setting(&o.name, o.value.as_deref(), &o.help, Some(&o.default))).collect()
    };
    let all: u32 = workload.transactions.iter().map(|t| t.weight).sum();
    let transactions = workload.transactions.iter().map(|t| TransactionInfo {
        name: t.name.to_string(),
        title: t.title.to_string(),
        share: f64::from(t.weight) / f64::from(all.max(1)),
    });
    WorkloadInfo {
        name: workload.name.to_string(),
        title: workload.title.to_string(),
        version: workload.version,
        scale_unit: workload.scale_unit.many.to_string(),
        headline: headline.name.to_string(),
        headline_meaning: headline.meaning.to_string(),
        modes: workload.modes.iter().map(|mode| mode.name().to_owned()).collect(),
        transactions: transactions.collect(),
        build_options: options(OptionCommand::Build),
        run_options: options(OptionCommand::Run),
    }
}
