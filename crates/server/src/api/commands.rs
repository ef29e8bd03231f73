//! Commands with their settings, workloads with their options, and previews of forms.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use triphammer_core::workload::{Description, MeasureDef, OptionCommand, OptionDef};
use triphammer_runner::workloads as workloads_known;
use triphammer_settings::command::JobKind;
use triphammer_settings::{Group, Mark, SettingDef, SettingKind, of_command};
use utoipa::ToSchema;

use super::Answer;
use crate::activity::{self, Form, Preview};
use crate::app::{App, blocking};
use crate::error::ApiError;
use crate::extract::Body;

/// The commands available in forms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CommandList {
    /// The commands, in the order of use.
    pub commands: Vec<CommandInfo>,
}

/// A command and its settings. The workload's options come in addition: see `WorkloadInfo`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CommandInfo {
    /// The command of the job.
    pub command: JobKind,
    /// Settings of the command, in the order of the reference.
    pub settings: Vec<SettingInfo>,
}

/// A setting of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SettingInfo {
    /// Name in forms and on the command line.
    pub name: String,
    /// Title for people to read.
    pub title: String,
    /// Group in the form.
    pub group: Group,
    /// Kind of values that it accepts.
    pub kind: SettingKind,
    /// Help text in one line.
    pub help: String,
    /// Description of the default; `null` if there is none. A preview shows its value.
    pub default: Option<String>,
    /// The accepted words; empty if any value of the kind is accepted.
    pub choices: Vec<ChoiceInfo>,
    /// Whether it is about transactions: a run of a set of queries rejects it.
    pub of_transactions: bool,
}

/// An accepted word and its description.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ChoiceInfo {
    /// The word as sent in requests.
    pub value: String,
    /// Description in one line.
    pub meaning: String,
}

/// List of workloads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WorkloadList {
    /// The workloads; the first is the default.
    pub workloads: Vec<WorkloadInfo>,
}

/// Description of a workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WorkloadInfo {
    /// Name in forms: `tproc-c`.
    pub name: String,
    /// Title of the workload: `TPROC-C`.
    pub title: String,
    /// Version of the workload; results of different versions cannot be compared.
    pub version: u32,
    /// Unit of `scale`: `warehouses`.
    pub scale_unit: String,
    /// Name of the primary metric: `NOPM`.
    pub primary_metric: String,
    /// Description of the primary metric.
    pub primary_metric_meaning: String,
    /// Supported modes, the preferred one first.
    pub modes: Vec<String>,
    /// Whether a run times a set of queries: settings about transactions are then rejected.
    pub of_queries: bool,
    /// Whether only the command line runs it: a server would have to read files or run scripts of its host.
    #[serde(default)]
    pub only_command_line: bool,
    /// Transaction types, in the order of every series and report.
    pub transactions: Vec<TransactionInfo>,
    /// Options of `build`, in addition to the settings.
    pub build_options: Vec<SettingInfo>,
    /// Options of `run`, in addition to the settings.
    pub run_options: Vec<SettingInfo>,
}

/// A transaction type of a workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TransactionInfo {
    /// Key of the transaction type: `new_order`.
    pub name: String,
    /// Title of the transaction type: `New-Order`.
    pub title: String,
    /// Share of all transactions in the default mix, from 0 to 1.
    pub share: f64,
}

/// Lists the commands available in forms, with their settings.
#[utoipa::path(get, path = "/api/v1/commands", tag = "forms",
    responses((status = 200, body = CommandList)))]
pub async fn commands() -> Answer<CommandList> {
    let info = |command: JobKind| CommandInfo {
        command,
        settings: of_command(command.into()).filter(|s| s.in_request()).map(setting).collect(),
    };
    Ok(Json(CommandList { commands: JobKind::ALL.map(info).to_vec() }))
}

/// Lists the workloads with their options.
#[utoipa::path(get, path = "/api/v1/workloads", tag = "forms",
    responses((status = 200, body = WorkloadList)))]
pub async fn workloads() -> Answer<WorkloadList> {
    let workloads = workloads_known().iter().map(|known| workload(known)).collect();
    Ok(Json(WorkloadList { workloads }))
}

/// Resolves a form without running it: every setting, the spec of a run, and the equivalent command
/// line. An invalid value is an error with its field. The preview of a run connects to the
/// database.
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
        default: declared.default_text().map(str::to_owned),
        choices: words.map(|c| choice(&c.value, &c.meaning)).collect(),
        of_transactions: declared.is(Mark::OfTransactions),
    }
}

fn choice(value: &str, meaning: &str) -> ChoiceInfo {
    ChoiceInfo { value: value.to_owned(), meaning: meaning.to_owned() }
}

fn option(declared: &OptionDef) -> SettingInfo {
    SettingInfo {
        name: declared.name.to_string(),
        title: title(&declared.name),
        group: Group::Workload,
        kind: SettingKind::of_option(declared),
        help: declared.help.to_string(),
        default: Some(declared.default.to_string()),
        choices: declared.choices.iter().map(|(value, meaning)| choice(value, meaning)).collect(),
        of_transactions: false,
    }
}

/// Turns `all-warehouses` into `All warehouses`.
fn title(name: &str) -> String {
    let words = name.replace('-', " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn workload(workload: &Description) -> WorkloadInfo {
    let primary_metric = &workload.primary_metric;
    let options = |command: OptionCommand| {
        let of = [command, OptionCommand::Every];
        let own = workload.options.iter().filter(|option| of.contains(&option.command));
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
        of_queries: primary_metric.measure == MeasureDef::Queries,
        only_command_line: workload.is_only_local(),
        transactions: transactions.collect(),
        build_options: options(OptionCommand::Build),
        run_options: options(OptionCommand::Run),
    }
}
