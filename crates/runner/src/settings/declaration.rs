//! What a setting is: all that is known of one stands in its declaration, so that nobody keeps a list of names.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::list::SETTINGS;
use crate::choices::Choice;
use crate::command::{Command, Commands};

/// Something that can be set.
#[derive(Clone, Copy, Debug)]
pub struct SettingDef {
    /// Flag without dashes, and job-file key; `TRIPHAMMER_` and the same in capitals is the variable.
    pub name: &'static str,
    /// Name of the value in help, which tells its [`SettingKind`] too; `None` for a switch.
    pub value: Option<&'static str>,
    /// A name that it had before, which is still taken.
    pub former: Option<&'static str>,
    /// Help in a line, without the default; `{words}` in it stands for its choices.
    help: &'static str,
    /// What holds when nothing is given, in words; `None` where there is no default.
    pub default: Option<&'static str>,
    /// The commands that take it.
    pub commands: Commands,
    /// One-letter flag.
    pub short: Option<char>,
    /// What forms call it; its name where nobody gave it one.
    pub title: &'static str,
    /// What it belongs to in a form.
    pub group: Group,
    /// The words that it takes, where its value is one of a few.
    choices: Option<fn() -> Vec<Choice>>,
    marks: &'static [Mark],
}

/// What settings of a form belong together for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// What a search, profile or comparison is to find out, and its name.
    Question,
    /// What is built, and what is driven.
    Data,
    /// Who comes, and when.
    Load,
    /// How long.
    Length,
    /// How statements travel and where the logic runs.
    Statements,
    /// What may fail, and what must be reached.
    Failures,
    /// How long the server is waited for.
    Connection,
    /// Options of the workload.
    Workload,
    /// Anything else.
    Other,
}

/// A property that few settings have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// It stands on the command line without a flag.
    Positional,
    /// It may be given several times: the values are joined with commas, and a job file may hold a list.
    Repeats,
    /// A job file may not hold it.
    NotInJobFile,
    /// It names a database, by a URL that may hold a password.
    Database,
    /// It is a name for people: one line of at most [`LABEL_MAX`](super::LABEL_MAX) characters.
    Label,
    /// The server decides it, and no request to it: secrets, targets, the store, files and sockets of the host.
    OfHost,
    /// A request to the server may hold it though a job file may not.
    InRequest,
    /// The server sets it beside a form's settings, from the form's targets.
    BesideForm,
    /// It may be given again when a campaign is resumed, and is not kept for that.
    Anew,
    /// It may be given again when a campaign is resumed, and is kept for when it is not.
    AnewOrKept,
    /// It has done its work once it is read: a resumed campaign has what came of it.
    Spent,
    /// The runs of A and B of a comparison share it.
    Shared,
    /// A comparison of stored jobs takes it.
    OfStored,
    /// A replay of a stored run does not take it over: where it ran, and what it did with its result.
    NotReplayed,
    /// An arrival's input does not depend on it.
    OfLoad,
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

impl SettingKind {
    /// By the name that the value has in help; `None` for a switch.
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
}

/// A setting with a value.
pub(super) const fn value(
    name: &'static str,
    value: &'static str,
    commands: Commands,
    help: &'static str,
) -> SettingDef {
    SettingDef { value: Some(value), ..switch(name, commands, help) }
}

/// A setting that is on or off.
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
    pub(super) const fn default(self, words: &'static str) -> Self {
        Self { default: Some(words), ..self }
    }

    /// What forms call it, and where they have it.
    pub(super) const fn titled(self, group: Group, title: &'static str) -> Self {
        Self { title, group, ..self }
    }

    /// The name that it had before.
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

    /// Whether this is its name, or was.
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.former == Some(name)
    }

    /// Whether it has a property.
    #[must_use]
    pub fn is(&self, mark: Mark) -> bool {
        self.marks.contains(&mark)
    }

    /// The environment variable.
    #[must_use]
    pub fn variable(&self) -> String {
        variable(self.name)
    }

    /// Whether a job file may hold it.
    #[must_use]
    pub fn in_job_file(&self) -> bool {
        !self.is(Mark::NotInJobFile)
    }

    /// Whether a request to the server may hold it.
    #[must_use]
    pub fn in_request(&self) -> bool {
        (self.in_job_file() && !self.is(Mark::OfHost)) || self.is(Mark::InRequest)
    }

    /// Its help in a line, without the default.
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

    /// Its help with the default at its end.
    #[must_use]
    pub fn help_and_default(&self) -> String {
        let default = self.default.map(|words| format!(" [default: {words}]"));
        format!("{}{}", self.help(), default.unwrap_or_default())
    }

    /// What its values look like.
    #[must_use]
    pub fn kind(&self) -> SettingKind {
        if self.choices.is_some() { SettingKind::Choice } else { SettingKind::of_value(self.value) }
    }

    /// The words that it takes, each with what it means; none where its value is free.
    #[must_use]
    pub fn words(&self) -> Vec<Choice> {
        self.choices.map_or_else(Vec::new, |words| words())
    }
}

pub(super) fn variable(name: &str) -> String {
    format!("TRIPHAMMER_{}", name.replace('-', "_").to_uppercase())
}

/// The settings of a command, in the order of the list.
pub fn of_command(command: Command) -> impl Iterator<Item = &'static SettingDef> {
    SETTINGS.iter().filter(move |setting| setting.commands.contains(command))
}

/// The setting of that name, or former name, that a command takes.
#[must_use]
pub fn declared(command: impl Into<Command>, name: &str) -> Option<&'static SettingDef> {
    of_command(command.into()).find(|setting| setting.is_called(name))
}

/// Whether a setting of a command has a property; options of workloads have none.
#[must_use]
pub fn is(command: impl Into<Command>, name: &str, mark: Mark) -> bool {
    declared(command, name).is_some_and(|setting| setting.is(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

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
