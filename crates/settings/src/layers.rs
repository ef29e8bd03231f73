//! Layers of settings as text, each value with its source: flags override the environment, which
//! overrides the job file, which overrides defaults.

use std::collections::BTreeMap;
use std::path::Path;

use triphammer_core::SpecError;
use triphammer_core::text::steers;
use triphammer_core::workload::{OptionCommand, OptionDef};

use super::declaration::{Mark, SettingDef, variable};
use super::given::GivenValue;
use super::list::SETTINGS;
use super::list::{declared, is, of_command};
use super::source::Source;
use crate::Setting;
use crate::command::{Command, JobKind};
use crate::suggestion::{closest, suggestion};

/// Maximum length of a label, in characters.
pub const LABEL_MAX: usize = 200;

/// Start of the names of the environment variables.
const PREFIX: &str = "TRIPHAMMER_";

/// Separator between the values of a repeated setting.
pub const REPEATED: &str = ", ";

/// Layers of settings, and the values read from them.
#[derive(Clone, Debug)]
pub struct Settings {
    pub(super) command: Command,
    pub(super) values: BTreeMap<String, (GivenValue, Source)>,
    pub(super) shown: Vec<Setting>,
    /// Whether they come from a client of the server, which must not name files of its host.
    of_client: bool,
    /// Whether they are those of a stored job, whose document is made again without any run.
    of_answer: bool,
}

impl Settings {
    /// Creates empty settings of a command.
    #[must_use]
    pub fn new(command: impl Into<Command>) -> Self {
        let command = command.into();
        Self {
            command,
            values: BTreeMap::new(),
            shown: Vec::new(),
            of_client: false,
            of_answer: false,
        }
    }

    /// The command that the settings are for.
    #[must_use]
    pub const fn command(&self) -> Command {
        self.command
    }

    /// Sets a value, unless a stronger layer has already set it: add the strongest layer first.
    pub fn set(&mut self, name: &str, value: impl Into<GivenValue>, source: Source) {
        let name = declared(self.command, name).map_or(name, |setting| setting.name);
        self.values.entry(name.to_owned()).or_insert_with(|| (value.into(), source));
    }

    /// Replaces a given value by what it stands for, such as a file by its contents; the source
    /// stays.
    pub fn replace(&mut self, name: &str, value: impl Into<GivenValue>) {
        if let Some((given, _)) = self.values.get_mut(name) {
            *given = value.into();
        }
    }

    /// Adds the environment: the variables of the command's settings, and of the options of workloads.
    pub fn add_environment(
        &mut self,
        options: &[&OptionDef],
        read: impl Fn(&str) -> Option<String>,
    ) {
        let names: Vec<_> = known(self.command, options).collect();
        for name in names {
            if let Some(value) = read(&variable(name)).filter(|value| !value.is_empty()) {
                self.set(name, value, Source::Environment);
            }
        }
    }

    /// Warns of variables that look like a mistyped setting of the command, given the names of all
    /// variables of the environment.
    #[must_use]
    pub fn mistyped_variables(
        &self,
        options: &[&OptionDef],
        names: impl Iterator<Item = String>,
    ) -> Vec<String> {
        let is_known = |name: &str| {
            SETTINGS.iter().any(|s| s.name == name || s.former == Some(name))
                || options.iter().any(|option| option.name == name)
        };
        let mut warnings: Vec<String> = names
            .filter_map(|given| {
                let name = given.strip_prefix(PREFIX)?.to_lowercase().replace('_', "-");
                let meant =
                    closest(&name, known(self.command, options)).filter(|_| !is_known(&name))?;
                let meant = variable(meant);
                Some(format!(
                    "the environment variable {given} has no effect; did you mean {meant}?"
                ))
            })
            .collect();
        warnings.sort();
        warnings
    }

    /// Adds the values of a request to the server. Only settings with [`SettingDef::in_request`]
    /// are accepted.
    ///
    /// # Errors
    /// When the command has no setting of a name.
    pub fn add_request(
        &mut self,
        values: &BTreeMap<String, String>,
        options: &[&OptionDef],
    ) -> Result<(), SpecError> {
        self.of_client = true;
        for (name, value) in values {
            self.add_known(name, value, options, SettingDef::in_request, Source::Request)?;
        }
        self.check_text()
    }

    /// Adds the arguments of a call of the library, by name.
    ///
    /// # Errors
    /// When the command has no setting of a name.
    pub fn add_call(
        &mut self,
        values: &[(String, String)],
        options: &[&OptionDef],
    ) -> Result<(), SpecError> {
        let is_open = |setting: &SettingDef| !setting.is(Mark::OfOutput);
        for (name, value) in values {
            self.add_known(name, value, options, is_open, Source::Call)?;
        }
        Ok(())
    }

    /// Sets a value, if the command has the setting and it is open to the source.
    fn add_known(
        &mut self,
        name: &str,
        value: &str,
        options: &[&OptionDef],
        is_open: impl Fn(&SettingDef) -> bool,
        source: Source,
    ) -> Result<(), SpecError> {
        let command = self.command;
        let is_open = declared(command, name).is_none_or(is_open);
        if !is_open || !known(command, options).any(|known| known == name) {
            let hint = suggestion(name, known(command, options));
            let message = format!("unknown setting for `{}`: `{name}`{hint}", command.name());
            return Err(SpecError::new(message).about(name));
        }
        self.set(name, value, source);
        Ok(())
    }

    /// Adds the weaker layers of this process: the environment, then the job file, if one is named.
    /// Returns warnings about variables.
    ///
    /// # Errors
    /// When the job file cannot be used, or a value contains control characters.
    pub fn add_process(&mut self, options: &[&OptionDef]) -> Result<Vec<String>, SpecError> {
        self.add_environment(options, |name| std::env::var(name).ok());
        let variables = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        let warnings = self.mistyped_variables(options, variables);
        if let Some(file) = self.get("job-file").map(str::to_owned) {
            self.add_job_file(Path::new(&file), options)?;
        }
        self.check_text()?;
        Ok(warnings)
    }

    /// Whether they come from a client of the server, which must not name files of its host.
    #[must_use]
    pub const fn of_client(&self) -> bool {
        self.of_client
    }

    /// Marks them as those of a stored job, whose document is made again without any run: they name no
    /// files of this host, as those of a client, but targets and commands, which nobody uses.
    pub const fn answer_only(&mut self) {
        self.of_client = true;
        self.of_answer = true;
    }

    /// Whether they may name targets and commands of this host: those of clients may not, as a job
    /// would use them.
    #[must_use]
    pub const fn may_name_targets(&self) -> bool {
        !self.of_client || self.of_answer
    }

    /// Rejects values with terminal control characters, and labels that are too long.
    ///
    /// # Errors
    /// Names the setting, but not the value.
    pub fn check_text(&self) -> Result<(), SpecError> {
        for (name, (value, source)) in &self.values {
            let value = value.text();
            let is_label = is(self.command, name, Mark::Label);
            let may = |c: char| !is_label && matches!(c, '\n' | '\t');
            if value.contains(|c| steers(c) && !may(c)) {
                let message = format!(
                    "--{name} from the {source} contains a control character or one that changes \
                     the text direction; remove it"
                );
                return Err(SpecError::new(message).about(name));
            }
            if is_label && value.chars().count() > LABEL_MAX {
                let message = format!("--{name}: must have at most {LABEL_MAX} characters");
                return Err(SpecError::new(message).about(name));
            }
        }
        Ok(())
    }

    /// Returns the settings of one run of a profile, search or comparison: these, without those
    /// that the command determines.
    #[must_use]
    pub fn of_run(&self, decided: &[(String, GivenValue)]) -> Self {
        let mut values = self.values.clone();
        for (name, value) in decided {
            values.insert(name.clone(), (value.clone(), Source::Command(self.command)));
        }
        let run = Command::Job(JobKind::Run);
        let is_of_run = |setting: &&Setting| {
            let mut known = SETTINGS.iter().filter(|known| known.name == setting.name).peekable();
            known.peek().is_none() || known.any(|known| known.commands.contains(run))
        };
        let shown = self.shown.iter().filter(is_of_run).cloned().collect();
        Self { command: run, values, shown, of_client: self.of_client, of_answer: self.of_answer }
    }

    /// Returns the settings of B's runs in a comparison: these, with the second target if there is
    /// one.
    #[must_use]
    pub fn of_other(&self) -> Self {
        let mut other = Self { shown: Vec::new(), ..self.clone() };
        if let Some(target) = other.values.remove("other") {
            other.values.insert("target".to_owned(), target);
        }
        other
    }

    /// Returns the settings of the database that a drill reads back, with that as the target and
    /// without faults; `None` if it is the target itself.
    #[must_use]
    pub fn of_verification(&self) -> Option<Self> {
        let mut values = self.values.clone();
        let target = values.remove("verify")?;
        values.insert("target".to_owned(), target);
        values.remove("fault");
        Some(Self { values, shown: Vec::new(), ..self.clone() })
    }

    /// Adds the settings read by a run of this campaign to those shown.
    pub fn show_run(&mut self, run: &Self) {
        for setting in &run.shown {
            if !self.shown.iter().any(|shown| shown.name == setting.name) {
                self.shown.push(setting.clone());
            }
        }
    }

    /// All given values by name, with their sources.
    pub fn all_given(&self) -> impl Iterator<Item = (&str, &str, &Source)> {
        self.values.iter().map(|(name, (value, source))| (name.as_str(), value.text(), source))
    }

    /// Text of a given value, unparsed.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(|(value, _)| value.text())
    }
}

/// Whether a command accepts an option of a workload: a run may build the default SQLite file.
pub(super) fn belongs(definition: &OptionDef, command: Command) -> bool {
    let drives = command.job().is_some_and(JobKind::drives);
    if definition.command == OptionCommand::Every {
        return command.job().is_some();
    }
    drives || (definition.command == OptionCommand::Build && command.job() == Some(JobKind::Build))
}

/// Names that a command accepts, including former ones.
pub(super) fn known<'a>(
    command: Command,
    options: &'a [&OptionDef],
) -> impl Iterator<Item = &'a str> + 'a {
    let own = of_command(command).flat_map(|s| [Some(s.name), s.former]).flatten();
    own.chain(options.iter().filter(move |o| belongs(o, command)).map(|o| &*o.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_taken_by_the_name_that_it_had_before() {
        let mut flag = Settings::new(JobKind::Profile);
        flag.set("settle", "3s", Source::Flag);
        flag.set("cool-down", "4s", Source::Default);
        assert_eq!((flag.get("cool-down"), flag.get("settle")), (Some("3s"), None));
        let mut environment = Settings::new(JobKind::Profile);
        let read = |name: &str| (name == "TRIPHAMMER_SETTLE").then(|| "5s".to_owned());
        environment.add_environment(&[], read);
        assert_eq!(environment.get("cool-down"), Some("5s"));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("job.toml");
        std::fs::write(&path, "[profile]\nsettle = \"6s\"\n").unwrap();
        let mut file = Settings::new(JobKind::Profile);
        file.add_job_file(&path, &[]).unwrap();
        assert_eq!(file.get("cool-down"), Some("6s"));
    }

    #[test]
    fn a_variable_that_looks_like_a_mistyped_setting_is_reported() {
        let run = Settings::new(JobKind::Run);
        let warnings = |name: &str| run.mistyped_variables(&[], [name.to_owned()].into_iter());
        let [warning] = warnings("TRIPHAMMER_DURATOIN").try_into().unwrap();
        assert!(warning.contains("DURATOIN has no effect; did you mean TRIPHAMMER_DURATION?"));
        // Known to this command, to another one, to no command, and of another program.
        for name in ["TRIPHAMMER_VUS", "TRIPHAMMER_PAIRS", "TRIPHAMMER_PASSWORD", "DURATOIN"] {
            assert_eq!(warnings(name), [""; 0], "{name}");
        }
    }

    #[test]
    fn a_call_accepts_the_settings_of_the_command_except_those_of_its_output() {
        let mut run = Settings::new(JobKind::Run);
        let call = |name: &str, value: &str| [(name.to_owned(), value.to_owned())];
        run.add_call(&call("vus", "4"), &[]).unwrap();
        assert_eq!((run.get("vus"), run.source("vus")), (Some("4"), Source::Call));
        let refused = |name: &str| {
            Settings::new(JobKind::Run).add_call(&call(name, "true"), &[]).unwrap_err().to_string()
        };
        let mistyped = "unknown setting for `run`: `duraton`; did you mean `duration`?";
        assert_eq!(refused("duraton"), mistyped);
        for name in ["tui", "json", "show-spec", "pairs"] {
            assert!(refused(name).starts_with("unknown setting for `run`"), "{name}");
        }
    }
}
