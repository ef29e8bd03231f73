//! The settings of a command as parameters of a function, for libraries in other languages: their
//! names, documentation and types come from the declarations.

use serde::Serialize;
use triphammer_core::workload::OptionDef;

use super::declaration::{Mark, SettingDef, SettingKind};
use super::layers::belongs;
use super::list::of_command;
use crate::all_options;
use crate::command::Command;

/// A parameter of a function that does what a command does.
#[derive(Clone, Debug, Serialize)]
pub struct Parameter {
    /// Name on the command line, without dashes.
    pub name: String,
    /// Name of the value in help; `None` for a switch.
    pub value: Option<String>,
    /// Kind of the value.
    pub kind: SettingKind,
    /// Accepted words; empty if any value of the kind is accepted.
    pub words: Vec<String>,
    /// Description, with the default.
    pub help: String,
    /// Whether it may be given by position.
    pub positional: bool,
    /// Whether several values may be given.
    pub repeats: bool,
}

/// The parameters of a command: its settings in their order, positional ones first, then the options of
/// workloads. Settings about the command's output are left out.
#[must_use]
pub fn parameters(command: Command) -> Vec<Parameter> {
    let is_open = |setting: &&SettingDef| !setting.is(Mark::OfOutput);
    let mut all: Vec<_> = of_command(command).filter(is_open).map(Parameter::of_setting).collect();
    all.sort_by_key(|parameter| !parameter.positional);
    for (workload, option) in all_options() {
        if !belongs(&option, command) {
            continue;
        }
        match all.iter_mut().find(|known| known.name == *option.name) {
            Some(known) => known.also(&workload, &option),
            None => all.push(Parameter::of_option(&workload, &option)),
        }
    }
    all
}

impl Parameter {
    fn of_setting(setting: &SettingDef) -> Self {
        let words = setting.words().into_iter().map(|word| word.value.to_string());
        Self {
            name: setting.name.to_owned(),
            value: setting.value.map(str::to_owned),
            kind: setting.kind(),
            // The workload may also be a file.
            words: words.filter(|_| setting.name != "workload").collect(),
            help: setting.help_and_default(),
            positional: setting.is(Mark::Positional),
            repeats: setting.is(Mark::Repeats),
        }
    }

    fn of_option(workload: &str, option: &OptionDef) -> Self {
        Self {
            name: option.name.to_string(),
            value: option.value.as_ref().map(ToString::to_string),
            kind: SettingKind::of_option(option),
            words: option.choices.iter().map(|(word, _)| (*word).to_owned()).collect(),
            help: format!("{workload}: {}", option.help),
            positional: false,
            repeats: option.repeats,
        }
    }

    /// Adds another workload's option of the same name.
    fn also(&mut self, workload: &str, option: &OptionDef) {
        self.help = match self.help.split_once(": ") {
            Some((others, help)) if help == &*option.help => {
                format!("{others}, {workload}: {help}")
            }
            _ => format!("{}; {workload}: {}", self.help, option.help),
        };
        if SettingKind::of_option(option) != self.kind {
            self.kind = SettingKind::Text;
            self.words.clear();
        }
    }
}
