//! A form: what somebody asks for, as settings by name, which become the same settings, requests and specs
//! as those of the command line.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use triphammer_core::Database;
use triphammer_core::workload::{OptionDef, Workload};
use triphammer_runner::campaign::{self, Campaign, Question};
use triphammer_runner::capacity::{self, Capacity};
use triphammer_runner::profile::{self, Profile};
use triphammer_runner::progress::Silent;
use triphammer_runner::run::Resolved;
use triphammer_runner::settings::{Command, SETTINGS, SettingDef, Settings};
use triphammer_runner::target::{self, Target};
use triphammer_runner::{Failure, requests, with_workload, workload_options};
use utoipa::ToSchema;

use crate::command_line;
use crate::error::ApiError;
use crate::openapi::run_spec_schema;
use crate::targets::{Keys, Targets};

/// A command that the server does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FormCommand {
    /// Makes a workload's schema and data.
    Build,
    /// Drives a workload and measures.
    Run,
    /// Runs at several numbers of virtual users.
    Profile,
    /// Searches the highest rate that keeps a limit.
    Capacity,
    /// Verifies every invariant of the data.
    Check,
    /// Removes what a build made.
    Drop,
}

impl FormCommand {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Build, Self::Run, Self::Profile, Self::Capacity, Self::Check, Self::Drop];

    /// As the settings know it.
    #[must_use]
    pub const fn command(self) -> Command {
        match self {
            Self::Build => Command::Build,
            Self::Run => Command::Run,
            Self::Profile => Command::Profile,
            Self::Capacity => Command::Capacity,
            Self::Check => Command::Check,
            Self::Drop => Command::Drop,
        }
    }
}

/// What somebody asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Form {
    /// What to do.
    pub command: FormCommand,
    /// Name of a saved target; without one, the embedded default: an SQLite file in the server's folder.
    #[serde(default)]
    pub target: Option<String>,
    /// Settings and options by name, as they would be typed on the command line: `{"vus": "8"}`. The workload
    /// is one of them. What is left out has its default.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
}

/// What a form comes to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Preview {
    /// URL of the target, without secrets.
    pub url: String,
    /// The same as a command to copy. Secrets are not in it.
    pub command_line: String,
    /// Every setting, and where its value came from.
    pub settings: Vec<ResolvedSetting>,
    /// How a run would be driven, of a campaign the first; `null` for other commands.
    #[schema(schema_with = run_spec_schema)]
    pub spec: Option<serde_json::Value>,
    /// What should be known before.
    pub warnings: Vec<String>,
}

/// A setting as it was resolved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ResolvedSetting {
    /// Its name.
    pub name: String,
    /// As it would be typed.
    pub value: String,
    /// `request` or `default`.
    pub source: String,
}

/// A form that can be done: its names are known, its target is there.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The form.
    pub form: Form,
    /// The workload's name.
    pub workload: String,
    settings: Settings,
    keys: Keys,
}

impl Asked {
    /// Lays the form's settings and its target over the defaults.
    ///
    /// # Errors
    /// When a setting, the workload or the target is not known.
    pub fn new(form: &Form, targets: &Targets) -> Result<Self, ApiError> {
        let options: Vec<&OptionDef> = workload_options().into_iter().map(|(_, o)| o).collect();
        let mut settings = Settings::new(form.command.command());
        settings.add_request(&form.settings, &options)?;
        let mut keys = Keys::default();
        if let Some(name) = &form.target {
            keys = targets.say(name, &mut settings)?;
        }
        let workload = requests::workload(&mut settings)?;
        with_workload!(workload.as_str(), W => W::NAME)
            .map_err(|error| ApiError::from(error).about("workload"))?;
        requests::refuse_options_of_others(&settings, &workload)?;
        Ok(Self { form: form.clone(), workload, settings, keys })
    }

    /// Opens the target; nothing is connected yet. Gives the settings that go with it.
    ///
    /// # Errors
    /// When its URL, password file or a setting is wrong.
    pub fn open(&self) -> Result<(Settings, Target), Failure> {
        let mut settings = self.settings.clone();
        let target = target::open(&mut settings, &self.workload, &self.keys)?;
        Ok((settings, target))
    }

    /// Reads every setting; for what runs, which looks at the database, gives the spec of the first run.
    ///
    /// # Errors
    /// When a value cannot be, or there is nothing to run.
    pub fn resolve(
        &self,
        settings: &mut Settings,
        target: &Target,
    ) -> Result<Option<serde_json::Value>, Failure> {
        with_workload!(self.workload.as_str(), W => {
            resolve::<W>(self.form.command, settings, target)
        })?
    }
}

/// What a form comes to, without doing it. A run's preview looks at what was built, so it connects.
///
/// # Errors
/// As the command itself would say, with the field.
pub fn preview(form: &Form, targets: &Targets) -> Result<Preview, ApiError> {
    let asked = Asked::new(form, targets)?;
    let (mut settings, target) = asked.open()?;
    let spec = asked.resolve(&mut settings, &target)?;
    let of_form = |name: &str| {
        let command = form.command.command();
        let known = SETTINGS.iter().find(|s| s.name == name && s.commands.contains(&command));
        name == "target" || known.is_none_or(SettingDef::in_request)
    };
    let shown = settings.shown().iter().filter(|s| of_form(&s.name)).map(|s| ResolvedSetting {
        name: s.name.clone(),
        value: s.value.clone(),
        source: s.source.clone(),
    });
    Ok(Preview {
        url: target.database.target(),
        command_line: command_line(form, &settings),
        settings: shown.collect(),
        spec,
        warnings: target.warnings,
    })
}

fn resolve<W: Workload>(
    command: FormCommand,
    settings: &mut Settings,
    target: &Target,
) -> Result<Option<serde_json::Value>, Failure> {
    match command {
        FormCommand::Build => requests::build::<W, _>(settings, target).map(|_| None),
        FormCommand::Check => requests::check(settings, target).map(|_| None),
        FormCommand::Drop => settings.switch("force").map(|_| None).map_err(Failure::from),
        FormCommand::Run => {
            let resolved = Resolved::<W, _>::new(settings, target, &Silent, true)?;
            Ok(serde_json::to_value(resolved.spec()).ok())
        }
        FormCommand::Profile => {
            let question = Profile::new::<W>(profile::Request::read(settings, target)?);
            first_spec::<W, _>(&question, settings, target)
        }
        FormCommand::Capacity => {
            let request = capacity::Request::read::<W, _>(settings, target)?;
            let question = Capacity::new::<W>(request, settings)?;
            first_spec::<W, _>(&question, settings, target)
        }
    }
}

/// How a campaign's first run would be driven; its settings join those of the campaign.
fn first_spec<W: Workload, Q: Question>(
    question: &Q,
    settings: &mut Settings,
    target: &Target,
) -> Result<Option<serde_json::Value>, Failure> {
    let settle = settings.duration("settle", campaign::settle(target.embedded))?;
    let Some(first) = question.next() else { return Ok(None) };
    let of = settings.clone();
    let campaign =
        Campaign { settings: &of, targets: std::slice::from_ref(target), settle, resumed: None };
    let (run, resolved) = campaign.resolve::<W>(&first, &Silent, true)?;
    settings.show_run(&run);
    Ok(serde_json::to_value(resolved.spec()).ok())
}

/// The command line that asks for the same.
fn command_line(form: &Form, settings: &Settings) -> String {
    let of_target = ["schema", "password-file"];
    let said = of_target
        .iter()
        .filter(|name| form.target.is_some() && !form.settings.contains_key(**name))
        .filter_map(|name| Some((*name, settings.said(name)?)))
        .chain(form.settings.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    let command = form.command.command().name();
    let mut line = command_line::of(command, settings.said("target"), said);
    if form.command == FormCommand::Drop {
        line.push_str(" --yes");
    }
    line
}

#[cfg(test)]
mod tests {
    use triphammer_runner::settings::Source;

    use super::*;

    #[test]
    fn the_command_line_can_be_copied() {
        let mut settings = Settings::new(Command::Run);
        settings.say("target", "postgres://u@h/d?x=1&y=2", Source::Request);
        let form = Form {
            command: FormCommand::Run,
            target: None,
            settings: BTreeMap::from(
                [("all-warehouses", "true"), ("label", "it's"), ("vus", "8")]
                    .map(|(name, value)| (name.to_owned(), value.to_owned())),
            ),
        };
        assert_eq!(
            command_line(&form, &settings),
            "triphammer run 'postgres://u@h/d?x=1&y=2' --all-warehouses --label 'it'\\''s' --vus 8"
        );
    }
}
