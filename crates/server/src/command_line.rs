//! A command line to copy, from what was said.

use triphammer_runner::settings::{SETTINGS, SettingDef};
use triphammer_runner::workload_options;

/// The command with what was said, by name; targets come first and without theirs.
pub fn of<'a>(command: &str, said: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    // A label is a place to `history` alone.
    let own = |s: &&SettingDef| s.positional && s.commands.iter().any(|c| c.name() == command);
    let is_place = |name: &str| SETTINGS.iter().filter(own).any(|s| s.name == name);
    let (places, said): (Vec<_>, Vec<_>) = said.into_iter().partition(|(name, _)| is_place(name));
    let mut line = format!("triphammer {command}");
    for (_, url) in places {
        line.push_str(&format!(" {}", quoted(url)));
    }
    for (name, value) in said {
        let is_switch = SETTINGS.iter().any(|s| s.name == name && s.value.is_none())
            || workload_options().iter().any(|(_, o)| o.name == name && o.value.is_none());
        match (is_switch, value) {
            (true, "true") => line.push_str(&format!(" --{name}")),
            (true, _) => line.push_str(&format!(" --{name}={}", quoted(value))),
            (false, _) => line.push_str(&format!(" --{name} {}", quoted(value))),
        }
    }
    line
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%,=+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
