//! A form: a request as settings by name, which is resolved exactly like the settings of the
//! command line.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use triphammer_core::workload::{Description, OptionDef};
use triphammer_runner::job::{Job, Order};
use triphammer_runner::requests;
use triphammer_runner::watch::Silent;
use triphammer_settings::command::JobKind;
use triphammer_settings::failure::Failure;
use triphammer_settings::handle::Handle;
use triphammer_settings::{Mark, Settings, Source, declared, of_command, workload_options};
use utoipa::ToSchema;

use crate::command_line;
use crate::error::ApiError;
use crate::schema::run_spec_schema;
use crate::targets::{Keys, Targets};

/// A request to start an activity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Form {
    /// The command to run.
    pub command: JobKind,
    /// Name of a saved target; when absent, the default SQLite file in the server's data directory.
    #[serde(default)]
    pub target: Option<String>,
    /// Name of the saved target for the runs of B in a comparison; when absent, the same as for A.
    #[serde(default)]
    pub other: Option<String>,
    /// Settings and options by name, with values as typed on the command line: `{"vus": "8"}`. The
    /// workload is one of them. Settings that are absent have their defaults.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
}

/// The resolved form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Preview {
    /// URL of the target, without secrets.
    pub url: String,
    /// The equivalent command line to copy, without secrets.
    pub command_line: String,
    /// Every setting with its value and the source of the value.
    pub settings: Vec<ResolvedSetting>,
    /// The spec of the run, or of the first run of a campaign; `null` for other commands.
    #[schema(schema_with = run_spec_schema)]
    pub spec: Option<serde_json::Value>,
    /// Seconds that a campaign takes with its pauses: about so many if the number of its runs is known,
    /// otherwise at most; `null` for other commands.
    pub whole_s: Option<f64>,
    /// Number of runs of a campaign; `null` if it depends on their results, and for other commands.
    pub runs: Option<u32>,
    /// Warnings to read before the start.
    pub warnings: Vec<String>,
}

/// A resolved setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ResolvedSetting {
    /// Name of the setting.
    pub name: String,
    /// The value as typed on the command line.
    pub value: String,
    /// Source of the value: `request` or `default`.
    pub source: String,
}

/// A validated form: its names are known and its targets exist.
#[derive(Clone, Debug)]
pub struct ValidForm {
    /// The form as received.
    pub form: Form,
    /// Name of the workload.
    pub workload: Arc<Description>,
    settings: Settings,
    keys: Keys,
    /// Secrets of the target of B, in a comparison.
    other: Option<(Settings, Keys)>,
}

impl ValidForm {
    /// Lays the form's settings and its targets over the defaults.
    ///
    /// # Errors
    /// When a setting, the workload or a target is unknown.
    pub fn new(form: &Form, targets: &Targets) -> Result<Self, ApiError> {
        let options = workload_options();
        let options: Vec<&OptionDef> = options.iter().map(|(_, o)| o).collect();
        let mut settings = Settings::new(form.command);
        settings.add_request(&form.settings, &options)?;
        targets.refuse_scripts(settings.get("workload"))?;
        let of_both = settings.clone();
        let mut keys = targets.no_keys();
        if let Some(name) = &form.target {
            keys = targets.apply(name, &mut settings)?;
        }
        let mut other = None;
        if form.command == JobKind::Compare {
            let mut b = (settings.clone(), keys.clone());
            if let Some(name) = &form.other {
                b.0 = of_both;
                b.1 = targets.apply(name, &mut b.0).map_err(|error| error.about("other"))?;
                settings.set("other", b.0.get("target").unwrap_or_default(), Source::Request);
            }
            other = Some(b);
        } else if form.other.is_some() {
            let message = "only a comparison has a second target";
            return Err(ApiError::invalid(message).about("other"));
        }
        let workload =
            requests::workload(&mut settings).map_err(|error| about_workload(error.into()))?;
        requests::refuse_campaign_of_queries(form.command, &workload)
            .map_err(|error| ApiError::from(error).about("workload"))?;
        requests::refuse_options_of_others(&settings, &workload)?;
        Ok(Self { form: form.clone(), workload, settings, keys, other })
    }

    /// Creates the requested job, without connecting.
    ///
    /// # Errors
    /// When a URL, password file or setting is wrong.
    pub fn job(&self, store: Option<&Path>, handle: &Handle) -> Result<Job, Failure> {
        let other_keys = self.other.as_ref().map_or(&self.keys, |(_, keys)| keys);
        Job::new(Order {
            settings: self.settings.clone(),
            other: self.other.as_ref().map(|(settings, _)| settings.clone()),
            secrets: [&self.keys, other_keys],
            store: store.map(Path::to_owned),
            handle: handle.clone(),
        })
    }
}

/// An error of the choice of the workload, unless it names another field, such as that of a script.
fn about_workload(error: ApiError) -> ApiError {
    if error.field.is_some() { error } else { error.about("workload") }
}

/// Resolves a form without running it. The preview of a run connects to the database, because it
/// depends on what was built.
///
/// # Errors
/// As the command itself reports, with the field.
pub fn preview(form: &Form, targets: &Targets) -> Result<Preview, ApiError> {
    let asked = ValidForm::new(form, targets)?;
    let mut job = asked.job(None, &Handle::default())?;
    let preview = job.preview(&mut Silent)?;
    let whole = preview.whole;
    let mut settings = job.settings().clone();
    for (run, _) in &preview.runs {
        settings.show_run(run);
    }
    let spec = preview.runs.first().and_then(|(_, spec)| serde_json::to_value(spec).ok());
    let of_form = |name: &str| {
        let known = declared(form.command, name);
        known.is_none_or(|known| known.is(Mark::Database) || known.in_request())
    };
    let shown = settings.shown().iter().filter(|s| of_form(&s.name)).map(|s| ResolvedSetting {
        name: s.name.clone(),
        value: s.value.clone(),
        source: s.source.clone(),
    });
    Ok(Preview {
        url: job.targets().into_iter().next().unwrap_or_default(),
        command_line: command_line(form, &settings),
        settings: shown.collect(),
        spec,
        whole_s: whole.and_then(|whole| whole.longest()).map(|time| time.as_secs_f64()),
        runs: whole.and_then(|whole| whole.runs),
        warnings: job.warnings().map(str::to_owned).collect(),
    })
}

/// Formats the equivalent command line.
fn command_line(form: &Form, settings: &Settings) -> String {
    let of_targets = of_command(form.command.into())
        .filter(|setting| setting.is(Mark::BesideForm))
        .map(|setting| setting.name)
        .filter(|name| !form.settings.contains_key(*name))
        .filter_map(|name| Some((name, settings.get(name)?)));
    let of_form = form.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let mut line = command_line::of(form.command, of_targets.chain(of_form));
    if form.command == JobKind::Drop {
        line.push_str(" --yes");
    }
    line
}

#[cfg(test)]
mod tests {
    use triphammer_settings::Source;

    use super::*;

    #[test]
    fn the_command_line_can_be_copied() {
        let mut settings = Settings::new(JobKind::Run);
        settings.set("target", "postgres://u@h/d?x=1&y=2", Source::Request);
        let form = Form {
            command: JobKind::Run,
            target: None,
            other: None,
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
