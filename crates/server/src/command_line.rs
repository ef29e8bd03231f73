//! Formats a command line to copy from the given settings.

use triphammer_runner::command::JobKind;
use triphammer_runner::settings::{Mark, SettingKind, declared, is};
use triphammer_runner::workload_options;

/// Formats the command with its settings; targets come first and without their names.
pub fn of<'a>(command: JobKind, given: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let is_place = |name: &str| is(command, name, Mark::Positional);
    let (places, given): (Vec<_>, Vec<_>) = given.into_iter().partition(|(name, _)| is_place(name));
    let mut line = format!("triphammer {}", command.name());
    for (_, url) in places {
        line.push_str(&format!(" {}", quoted(url)));
    }
    for (name, value) in given {
        let is_switch = declared(command, name).is_some_and(|s| s.kind() == SettingKind::Switch)
            || workload_options().iter().any(|(_, o)| o.name == name && o.value.is_none());
        match (is_switch, value) {
            (true, "true") => line.push_str(&format!(" --{name}")),
            (true, _) => line.push_str(&format!(" --{name}={}", quoted(value))),
            (false, _) => line.push_str(&format!(" --{name} {}", quoted(value))),
        }
    }
    line
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%,=+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
