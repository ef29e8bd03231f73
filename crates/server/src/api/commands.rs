//! What can be asked for: commands with their settings, workloads with their options, and what a form comes to.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use triphammer_core::workload::{Description, OptionCommand, OptionDef};
use triphammer_runner::command::JobKind;
use triphammer_runner::settings::{Group, SettingDef, SettingKind, of_command};
use triphammer_runner::workloads as workloads_known;
use utoipa::ToSchema;

use super::Answer;
use crate::activity::{self, Form, Preview};
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
    pub command: JobKind,
    /// Its settings, in the order of the reference.
    pub settings: Vec<SettingInfo>,
}

/// Something that can be set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SettingInfo {
    /// Its name, as forms and the command line have it.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// What it belongs to in a form.
    pub group: Group,
    /// What values look like.
    pub kind: SettingKind,
    /// Help in a line.
    pub help: String,
    /// The default in words; `null` where there is none. A preview says what it comes to.
    pub default: Option<String>,
    /// The words that it takes; empty where its value is free.
    pub choices: Vec<ChoiceInfo>,
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
    pub primary_metric: String,
    /// What that counts.
    pub primary_metric_meaning: String,
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
    let info = |command: JobKind| CommandInfo {
        command,
        settings: of_command(command.into()).filter(|s| s.in_request()).map(setting).collect(),
    };
    Ok(Json(CommandList { commands: JobKind::ALL.map(info).to_vec() }))
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

fn setting(declared: &SettingDef) -> SettingInfo {
    let words = declared.words().into_iter();
    SettingInfo {
        name: declared.name.to_owned(),
        title: declared.title.to_owned(),
        group: declared.group,
        kind: declared.kind(),
        help: declared.help(),
        default: declared.default.map(str::to_owned),
        choices: words
            .map(|c| ChoiceInfo { value: c.value.to_string(), meaning: c.meaning.to_string() })
            .collect(),
    }
}

fn option(declared: &OptionDef) -> SettingInfo {
    SettingInfo {
        name: declared.name.to_string(),
        title: title(&declared.name),
        group: Group::Workload,
        kind: SettingKind::of_value(declared.value.as_deref()),
        help: declared.help.to_string(),
        default: Some(declared.default.to_string()),
        choices: Vec::new(),
    }
}

/// `all-warehouses` as people write it: `All warehouses`.
fn title(name: &str) -> String {
    let words = name.replace('-', " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn workload(workload: &Description) -> WorkloadInfo {
    let primary_metric = &workload.primary_metric;
    let options = |command: OptionCommand| {
        let own = workload.options.iter().filter(|option| option.command == command);
        own.map(option).collect()
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
        primary_metric: primary_metric.name.to_string(),
        primary_metric_meaning: primary_metric.meaning.to_string(),
        modes: workload.modes.iter().map(|mode| mode.name().to_owned()).collect(),
        transactions: transactions.collect(),
        build_options: options(OptionCommand::Build),
        run_options: options(OptionCommand::Run),
    }
}
