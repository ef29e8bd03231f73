//! Declarations of settings: each contains everything about a setting, so there are no other lists
//! of names.

use serde::{Deserialize, Serialize};
use triphammer_core::workload::OptionDef;
use utoipa::ToSchema;

use crate::choices::Choice;
use crate::command::Commands;

/// Declaration of a setting.
#[derive(Clone, Copy, Debug)]
pub struct SettingDef {
    /// Flag without dashes, and key in job files; the environment variable is `TRIPHAMMER_` and the
    /// name in capitals.
    pub name: &'static str,
    /// Name of the value in help, which determines its [`SettingKind`]; `None` for a switch.
    pub value: Option<&'static str>,
    /// Former name, which is still accepted.
    pub former: Option<&'static str>,
    /// Help text without the default; `{words}` is replaced by its choices.
    help: &'static str,
    default: Option<DefaultDef>,
    /// Commands that accept it.
    pub commands: Commands,
    /// Short, one-letter flag; `None` if it has none.
    pub short: Option<char>,
    /// Title in forms; defaults to its name.
    pub title: &'static str,
    /// Group in forms.
    pub group: Group,
    /// Returns the accepted words; `None` if any value of the kind is accepted.
    choices: Option<fn() -> Vec<Choice>>,
    marks: &'static [Mark],
}

/// What a setting is when it is not given.
#[derive(Clone, Copy, Debug)]
enum DefaultDef {
    /// Always this value, in the notation of the setting: readers parse it.
    Value(&'static str),
    /// A value that its reader computes, because it depends on other settings, the workload or the
    /// database: words that describe it.
    Words(&'static str),
}

/// Group of settings in a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// Goal of a search, profile or comparison, and the label of a job.
    Question,
    /// The data and the workload.
    Data,
    /// The load: users and arrivals.
    Load,
    /// Lengths of the run and its parts.
    Length,
    /// How statements are sent and where the logic runs.
    Statements,
    /// Failure limits and requirements.
    Failures,
    /// What is observed beside the run.
    Observe,
    /// Connection and time limits.
    Connection,
    /// Options of the workload.
    Workload,
    /// Settings outside of forms.
    Other,
}

impl Group {
    /// Heading of the group in help.
    #[must_use]
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Question => "Purpose",
            Self::Data => "Data and workload",
            Self::Load => "Load",
            Self::Length => "Length",
            Self::Statements => "How statements run",
            Self::Failures => "Failures and requirements",
            Self::Observe => "Observe",
            Self::Connection => "Connection",
            Self::Workload => "Options of the workload",
            Self::Other => "Other",
        }
    }

    /// Whether short help has the group: what most jobs need.
    #[must_use]
    pub const fn is_common(self) -> bool {
        matches!(self, Self::Question | Self::Data | Self::Load | Self::Length)
    }
}

/// A special property of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Positional on the command line.
    Positional,
    /// Can be repeated: the values are joined with commas, and a job file may contain a list.
    Repeats,
    /// Not allowed in job files.
    NotInJobFile,
    /// Names a database by a URL, which may contain a password.
    Database,
    /// A label: one line of at most [`LABEL_MAX`](super::LABEL_MAX) characters.
    Label,
    /// Determined by the server, not by requests: secrets, targets, the store, files and sockets of
    /// the host.
    OfHost,
    /// Allowed in requests to the server although not in job files.
    InRequest,
    /// Set by the server from the targets of a form.
    BesideForm,
    /// May be given when a campaign is resumed; is not stored for that.
    OnResume,
    /// May be given when a campaign is resumed; otherwise the stored value is used.
    OnResumeOrStored,
    /// Only needed at the start of a job: a resumed campaign has the resulting settings.
    OnlyAtStart,
    /// Shared by the runs of A and B of a comparison.
    Shared,
    /// Accepted by comparisons of stored jobs.
    OfStored,
    /// Not used by the replay of a stored run: it affects where the run took place, or its outputs.
    NotReplayed,
    /// Does not affect the input of an arrival.
    OfLoad,
    /// About transactions: rejected by a run that times a set of queries.
    OfTransactions,
    /// About what a command prints, or prints instead of doing its job: no argument of the library, whose results
    /// have every form.
    OfOutput,
}

/// Kind of values of a setting. All are sent as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SettingKind {
    /// A switch: `true` or `false`.
    Switch,
    /// A whole number, 0 or more.
    Integer,
    /// A duration: `30s`, `5m`, `1h30m`.
    Duration,
    /// A share: `1%` or `0.01`.
    Share,
    /// A number or a range: `3` or `3-8`.
    Range,
    /// One of its choices.
    Choice,
    /// Free text in any format.
    Text,
}

impl SettingKind {
    /// Derives the kind from the name of the value in help; `None` for a switch.
    #[must_use]
    pub fn of_value(value: Option<&str>) -> Self {
        match value {
            None => Self::Switch,
            Some("N") => Self::Integer,
            Some("TIME") => Self::Duration,
            Some("SHARE") => Self::Share,
            Some("A-B") => Self::Range,
            Some(_) => Self::Text,
        }
    }

    /// Kind of the values of a workload's option.
    #[must_use]
    pub fn of_option(option: &OptionDef) -> Self {
        match option.choices {
            [] => Self::of_value(option.value.as_deref()),
            _ => Self::Choice,
        }
    }
}

/// Declares a setting with a value.
pub(super) const fn value(
    name: &'static str,
    value: &'static str,
    commands: Commands,
    help: &'static str,
) -> SettingDef {
    SettingDef { value: Some(value), ..switch(name, commands, help) }
}

/// Declares a switch.
pub(super) const fn switch(
    name: &'static str,
    commands: Commands,
    help: &'static str,
) -> SettingDef {
    let (value, former, default, short, choices) = (None, None, None, None, None);
    let (title, group, marks) = (name, Group::Other, &[]);
    SettingDef { name, value, former, help, default, commands, short, title, group, choices, marks }
}

impl SettingDef {
    /// Sets a default that is always the same, in the notation of the setting.
    pub(super) const fn default(self, value: &'static str) -> Self {
        Self { default: Some(DefaultDef::Value(value)), ..self }
    }

    /// Describes a default that the reader of the setting computes.
    pub(super) const fn default_words(self, words: &'static str) -> Self {
        Self { default: Some(DefaultDef::Words(words)), ..self }
    }

    /// Sets group and title in forms.
    pub(super) const fn titled(self, group: Group, title: &'static str) -> Self {
        Self { title, group, ..self }
    }

    /// Sets a former name, which is still accepted.
    pub(super) const fn formerly(self, former: &'static str) -> Self {
        Self { former: Some(former), ..self }
    }

    pub(super) const fn short(self, letter: char) -> Self {
        Self { short: Some(letter), ..self }
    }

    pub(super) const fn choices(self, words: fn() -> Vec<Choice>) -> Self {
        Self { choices: Some(words), ..self }
    }

    pub(super) const fn marked(self, marks: &'static [Mark]) -> Self {
        Self { marks, ..self }
    }

    /// Whether this is the setting's name or former name.
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.former == Some(name)
    }

    /// Whether the setting has this property.
    #[must_use]
    pub fn is(&self, mark: Mark) -> bool {
        self.marks.contains(&mark)
    }

    /// Name of the environment variable.
    #[must_use]
    pub fn variable(&self) -> String {
        variable(self.name)
    }

    /// Whether job files may contain the setting.
    #[must_use]
    pub fn in_job_file(&self) -> bool {
        !self.is(Mark::NotInJobFile)
    }

    /// Whether requests to the server may contain the setting.
    #[must_use]
    pub fn in_request(&self) -> bool {
        (self.in_job_file() && !self.is(Mark::OfHost)) || self.is(Mark::InRequest)
    }

    /// Help text without the default.
    #[must_use]
    pub fn help(&self) -> String {
        let words: Vec<String> = self.words().iter().map(|word| word.value.to_string()).collect();
        match words.split_last() {
            Some((last, [])) => self.help.replace("{words}", last),
            Some((last, others)) => {
                self.help.replace("{words}", &format!("{} or {last}", others.join(", ")))
            }
            None => self.help.to_owned(),
        }
    }

    /// The default, or words that describe it; `None` if there is none.
    #[must_use]
    pub fn default_text(&self) -> Option<&'static str> {
        let (DefaultDef::Value(text) | DefaultDef::Words(text)) = self.default?;
        Some(text)
    }

    /// The default, if it is always the same value.
    pub(super) fn default_value(&self) -> Option<&'static str> {
        match self.default? {
            DefaultDef::Value(value) => Some(value),
            DefaultDef::Words(_) => None,
        }
    }

    /// Help text with the default at the end.
    #[must_use]
    pub fn help_and_default(&self) -> String {
        let default = self.default_text().map(|words| format!(" [default: {words}]"));
        format!("{}{}", self.help(), default.unwrap_or_default())
    }

    /// Kind of the values.
    #[must_use]
    pub fn kind(&self) -> SettingKind {
        if self.choices.is_some() { SettingKind::Choice } else { SettingKind::of_value(self.value) }
    }

    /// The accepted words with descriptions; empty if any value of the kind is accepted.
    #[must_use]
    pub fn words(&self) -> Vec<Choice> {
        self.choices.map_or_else(Vec::new, |words| words())
    }
}

pub(super) fn variable(name: &str) -> String {
    format!("TRIPHAMMER_{}", name.replace('-', "_").to_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SETTINGS;
    use crate::command::Command;

    #[test]
    fn every_setting_of_a_form_has_a_title_and_a_group() {
        let of_form = |s: &&SettingDef| s.in_request() && !s.is(Mark::BesideForm);
        let of_form = SETTINGS.iter().filter(of_form).filter(|s| {
            s.commands.iter().any(|command| matches!(command, Command::Job(_))) && s.name != "json"
        });
        for setting in of_form {
            assert!(setting.group != Group::Other, "{} has no group", setting.name);
            assert_ne!(setting.title, setting.name);
        }
    }
}
