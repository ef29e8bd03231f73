//! Job files: TOML with values of settings.

use std::path::Path;

use triphammer_core::SpecError;
use triphammer_core::small_file::{SETTINGS_BYTES_MAX, read_text};
use triphammer_core::workload::OptionDef;
use triphammer_drivers::target::TargetUrl;

use super::declaration::Mark;
use super::layers::{REPEATED, Settings, belongs, known};
use super::list::ON_TARGET;
use super::list::declared;
use super::source::Source;
use crate::command::Command;
use crate::failure::excerpt;
use crate::suggestion::suggestion;

impl Settings {
    /// Adds the values of a job file.
    ///
    /// # Errors
    /// When it cannot be read, is not valid TOML, or contains an invalid key or value.
    pub fn add_job_file(&mut self, path: &Path, options: &[&OptionDef]) -> Result<(), SpecError> {
        let name = path.display().to_string();
        let text = read_text(path, SETTINGS_BYTES_MAX)
            .map_err(|error| SpecError::new(format!("cannot read the job file {name}: {error}")))?;
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            let error = excerpt(&error.to_string());
            SpecError::new(format!("the job file {name} is not valid TOML: {error}"))
        })?;
        let (tables, top): (Vec<_>, Vec<_>) =
            table.into_iter().partition(|(_, value)| value.is_table());
        for (section, value) in tables {
            let Some(command) = ON_TARGET.iter().find(|c| c.name() == section) else {
                let tables: Vec<_> = ON_TARGET.iter().map(|c| format!("[{}]", c.name())).collect();
                return Err(SpecError::new(format!(
                    "{name}: unknown table [{section}]; use one of {}",
                    tables.join(", ")
                )));
            };
            for (key, value) in value.as_table().expect("partitioned") {
                let value = job_file_value(&name, command, key, value, options)?;
                if command == self.command {
                    self.set(key, value, Source::JobFile(name.clone()));
                }
            }
        }
        for (key, value) in top {
            let somewhere =
                ON_TARGET.iter().find(|command| known(*command, options).any(|known| known == key));
            let value =
                job_file_value(&name, somewhere.unwrap_or(self.command), &key, &value, options)?;
            if known(self.command, options).any(|known| known == key) {
                self.set(&key, value, Source::JobFile(name.clone()));
            }
        }
        Ok(())
    }
}

/// Checks one key of a job file and returns its value as text.
fn job_file_value(
    file: &str,
    command: Command,
    key: &str,
    value: &toml::Value,
    options: &[&OptionDef],
) -> Result<String, SpecError> {
    let refuse = |message: String| Err(SpecError::new(format!("{file}: {message}")));
    if key == "password" {
        return refuse("a job file must not contain a password; use `password-file`".into());
    }
    let setting = declared(command, key);
    let option = options.iter().find(|o| o.name == key && belongs(o, command));
    let is_option = option.is_some();
    if setting.is_some_and(|s| !s.in_job_file()) {
        return refuse(format!(
            "`{key}` is not allowed in job files; give --{key} on the command \
                               line"
        ));
    }
    if setting.is_none() && !is_option {
        let hint = suggestion(key, known(command, options));
        return refuse(format!("unknown key for `{}`: `{key}`{hint}", command.name()));
    }
    let text = match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Integer(number) => number.to_string(),
        toml::Value::Float(number) => number.to_string(),
        toml::Value::Boolean(switch) => switch.to_string(),
        toml::Value::Array(items) if items.iter().all(toml::Value::is_integer) => {
            items.iter().map(toml::Value::to_string).collect::<Vec<_>>().join(",")
        }
        toml::Value::Array(items)
            if setting.is_some_and(|s| s.is(Mark::Repeats))
                || option.is_some_and(|o| o.repeats) =>
        {
            let texts: Vec<_> = items.iter().filter_map(toml::Value::as_str).collect();
            if texts.len() < items.len() {
                return refuse(format!("`{key}` must be a list of strings"));
            }
            texts.join(REPEATED)
        }
        _ => return refuse(format!("`{key}` must be a string, a number or a list of integers")),
    };
    if setting.is_some_and(|s| s.is(Mark::Database))
        && TargetUrl::parse(&text).is_ok_and(|url| url.has_password())
    {
        return refuse(
            "the target contains a password, which is not allowed in job files; use \
             `password-file`"
                .into(),
        );
    }
    Ok(text)
}
