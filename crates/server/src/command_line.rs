//! A command line to copy, from what was said.

use triphammer_runner::settings::SETTINGS;
use triphammer_runner::workload_options;

/// The command with its target and what was said, by name.
pub fn of<'a>(
    command: &str,
    target: Option<&str>,
    said: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> String {
    let mut line = format!("triphammer {command}");
    if let Some(url) = target {
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
