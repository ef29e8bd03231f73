//! Parses values, each once and by its type; an invalid one is reported with its source.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use triphammer_core::SpecError;
use triphammer_core::clock::{format_duration, parse_duration};
use triphammer_core::spec::DURATION_MAX;
use triphammer_core::workload::{OptionCommand, OptionDef};
use triphammer_dialects::catalogues;

use super::declaration::{SettingDef, variable};
use super::layers::Settings;
use super::list::{SETTINGS, declared};
use super::source::Source;
use crate::Setting;

impl Settings {
    /// Parses a value with `parse`, or uses the value given by a program; without either, parses
    /// the default that the setting declares. The result appears in [`Settings::shown`].
    ///
    /// # Errors
    /// When `parse` rejects the value: names the setting and the source.
    ///
    /// # Panics
    /// When the setting declares no value as its default, or one that `parse` rejects.
    pub fn read<T: Clone + 'static>(
        &mut self,
        name: &str,
        parse: impl Fn(&str) -> Result<T, String>,
        show: impl FnOnce(&T) -> String,
    ) -> Result<T, SpecError> {
        let default = self.declared_default(name);
        self.read_or(name, &parse, show, || {
            parse(default).unwrap_or_else(|problem| panic!("the default of --{name}: {problem}"))
        })
    }

    /// The default that a setting declares as a value.
    fn declared_default(&self, name: &str) -> &'static str {
        // The runs of a command may read what it does not accept itself.
        let of_any = SETTINGS.iter().filter(|setting| setting.name == name);
        let default = declared(self.command, name).into_iter().chain(of_any);
        default
            .filter_map(SettingDef::default_value)
            .next()
            .unwrap_or_else(|| panic!("--{name} declares no value as its default"))
    }

    /// As [`Settings::read`], with a default that the caller computes.
    ///
    /// # Errors
    /// When `parse` rejects the value: names the setting and the source.
    pub fn read_or<T: Clone + 'static>(
        &mut self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, String>,
        show: impl FnOnce(&T) -> String,
        default: impl FnOnce() -> T,
    ) -> Result<T, SpecError> {
        let (value, source) = match self.values.get(name) {
            None => (default(), Source::Default),
            Some((given, source)) => {
                let value = given.value().map_or_else(|| parse(given.text()), Ok);
                let value = value.map_err(|problem| {
                    let from = match source {
                        Source::Command(command) => format!("as set by {}", command.name()),
                        Source::Environment => format!("from {}", variable(name)),
                        other => format!("from the {other}"),
                    };
                    SpecError::new(format!("--{name} {from}: {problem}")).about(name)
                })?;
                (value, source.clone())
            }
        };
        let shown = show(&value);
        self.show(name, shown, &source);
        Ok(value)
    }

    /// Records how a setting was resolved.
    pub fn show(&mut self, name: &str, value: String, source: &Source) {
        self.shown.retain(|setting| setting.name != name);
        let source = source.to_string();
        self.shown.push(Setting { name: name.to_owned(), value, source });
    }

    /// Source of a value.
    #[must_use]
    pub fn source(&self, name: &str) -> Source {
        self.values.get(name).map_or(Source::Default, |(_, source)| source.clone())
    }

    /// All settings read so far, with their sources.
    #[must_use]
    pub fn shown(&self) -> &[Setting] {
        &self.shown
    }

    /// Parses a value of a type with `FromStr` and `Display`, or the default that it declares.
    ///
    /// # Errors
    /// As [`Settings::read`].
    pub fn parse<T: std::str::FromStr + fmt::Display + Clone + 'static>(
        &mut self,
        name: &str,
    ) -> Result<T, SpecError>
    where
        T::Err: fmt::Display,
    {
        self.read(name, parse_type, T::to_string)
    }

    /// As [`Settings::parse`], with a default that the caller computes.
    ///
    /// # Errors
    /// As [`Settings::read`].
    pub fn parse_or<T: std::str::FromStr + fmt::Display + Clone + 'static>(
        &mut self,
        name: &str,
        default: impl FnOnce() -> T,
    ) -> Result<T, SpecError>
    where
        T::Err: fmt::Display,
    {
        self.read_or(name, parse_type, T::to_string, default)
    }

    /// Parses a number of at most `most`, or the default that it declares.
    ///
    /// # Errors
    /// As [`Settings::read`], and when it is larger.
    pub fn count<T>(&mut self, name: &str, most: T) -> Result<T, SpecError>
    where
        T: Copy + fmt::Display + TryFrom<u128> + Into<u128> + 'static,
    {
        let default = self.declared_default(name).parse::<u128>().ok();
        let default = default.and_then(|number| T::try_from(number).ok());
        self.count_or(name, most, || default.expect("the declared default is such a number"))
    }

    /// As [`Settings::count`], with a default that the caller computes.
    ///
    /// # Errors
    /// As [`Settings::read`], and when it is larger.
    pub fn count_or<T>(
        &mut self,
        name: &str,
        most: T,
        default: impl FnOnce() -> T,
    ) -> Result<T, SpecError>
    where
        T: Copy + fmt::Display + TryFrom<u128> + Into<u128> + 'static,
    {
        let parse = |text: &str| {
            let too_many = || format!("must be at most {most}, got {}", text.trim());
            let number = text.trim().parse::<u128>().map_err(|error| match error.kind() {
                std::num::IntErrorKind::PosOverflow => too_many(),
                _ => format!("invalid value `{text}`: expected a whole number"),
            })?;
            let fits = T::try_from(number).ok().filter(|_| number <= most.into());
            fits.ok_or_else(too_many)
        };
        let number = self.read_or(name, parse, T::to_string, default)?;
        if number.into() > most.into() {
            let message = format!("--{name} must be at most {most}, got {number}");
            return Err(SpecError::new(message).about(name));
        }
        Ok(number)
    }

    /// Reads a duration, or the default that it declares.
    ///
    /// # Errors
    /// As [`Settings::read`], and when it is longer than [`DURATION_MAX`].
    pub fn duration(&mut self, name: &str) -> Result<Duration, SpecError> {
        self.read(name, parse_time, |d| format_duration(*d))
    }

    /// As [`Settings::duration`], with a default that the caller computes.
    ///
    /// # Errors
    /// As [`Settings::read`], and when it is longer than [`DURATION_MAX`].
    pub fn duration_or(&mut self, name: &str, default: Duration) -> Result<Duration, SpecError> {
        self.read_or(name, parse_time, |d| format_duration(*d), || default)
    }

    /// Reads a switch.
    ///
    /// # Errors
    /// As [`Settings::read`].
    pub fn switch(&mut self, name: &str) -> Result<bool, SpecError> {
        self.read_or(name, parse_switch, bool::to_string, || false)
    }

    /// Parses an optional value.
    ///
    /// # Errors
    /// As [`Settings::read`].
    pub fn optional<T: Clone + 'static>(
        &mut self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, String>,
        show: impl FnOnce(&T) -> String,
        absent: &str,
    ) -> Result<Option<T>, SpecError> {
        let show = |value: &Option<T>| value.as_ref().map_or_else(|| absent.to_owned(), show);
        self.read_or(name, |text| parse(text).map(Some), show, || None)
    }

    /// Options of a workload for `command`, with their values.
    #[must_use]
    pub fn workload_options(
        &mut self,
        definitions: &[OptionDef],
        command: OptionCommand,
    ) -> BTreeMap<String, String> {
        self.options(
            definitions.iter().filter(|d| [command, OptionCommand::Every].contains(&d.command)),
        )
    }

    /// Options of builds in a dialect, with values in the dialect's notation. An invalid value is
    /// kept as given, for the statement catalogue to reject.
    #[must_use]
    pub fn dialect_options(&mut self, dialect: &str) -> BTreeMap<String, String> {
        let declared = catalogues::options(dialect).unwrap_or_default();
        let all = catalogues::all_options().iter().map(|(_, definition)| definition);
        let mut options =
            self.options(all.filter(|d| declared.iter().any(|option| option.name == d.name)));
        for option in &declared {
            if let Some(value) = options.get_mut(&option.name)
                && let Ok(written) = option.read(value)
            {
                *value = written;
            }
        }
        options
    }

    fn options<'a>(
        &mut self,
        definitions: impl Iterator<Item = &'a OptionDef>,
    ) -> BTreeMap<String, String> {
        let mut options = BTreeMap::new();
        for definition in definitions {
            let value = self.values.get(&*definition.name);
            let value = value.map(|(given, source)| (given.text().to_owned(), source.clone()));
            let (value, source) =
                value.unwrap_or_else(|| (definition.default.to_string(), Source::Default));
            self.show(&definition.name, value.clone(), &source);
            options.insert(definition.name.to_string(), value);
        }
        options
    }
}

fn parse_type<T: std::str::FromStr>(text: &str) -> Result<T, String>
where
    T::Err: fmt::Display,
{
    text.trim().parse().map_err(|error: T::Err| invalid(text, &error.to_string()))
}

/// Reads a time such as `5m`.
///
/// # Errors
/// When it is no time, or longer than [`DURATION_MAX`].
pub fn parse_time(text: &str) -> Result<Duration, String> {
    match parse_duration(text)? {
        long if long > DURATION_MAX => {
            let most = format_duration(DURATION_MAX);
            Err(format!("must be at most {most}, got {}", text.trim()))
        }
        duration => Ok(duration),
    }
}

/// The message for a value that its type rejects; many types name the value themselves.
fn invalid(text: &str, error: &str) -> String {
    if error.contains(&format!("`{}`", text.trim())) {
        error.to_owned()
    } else {
        format!("invalid value `{text}`: {error}")
    }
}

fn parse_switch(text: &str) -> Result<bool, String> {
    match text.trim() {
        "true" | "yes" | "on" | "1" => Ok(true),
        "false" | "no" | "off" | "0" => Ok(false),
        _ => Err(format!("invalid value `{text}`: expected true or false")),
    }
}

/// Parses a share: `1%`, `0.5 %` or `0.01`.
pub fn parse_share(text: &str) -> Result<f64, String> {
    let wrong = || format!("invalid share `{text}`: expected a value such as 1% or 0.01");
    let share = match text.trim().strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map_err(|_| wrong())? / 100.0,
        None => text.trim().parse::<f64>().map_err(|_| wrong())?,
    };
    if (0.0..=1.0).contains(&share) { Ok(share) } else { Err(wrong()) }
}

/// Parses a share above 0 % and below 100 %.
pub fn parse_closeness(text: &str) -> Result<f64, String> {
    match parse_share(text)? {
        share if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err(format!("`{text}` must be more than 0 % and less than 100 %")),
    }
}

#[cfg(test)]
mod tests {
    use triphammer_core::session::Waits;
    use triphammer_core::spec::{RetryPolicy, TimeLimits};

    use super::*;
    use crate::command::JobKind;

    #[test]
    fn without_settings_the_engine_has_the_defaults_that_are_declared() {
        let mut settings = Settings::new(JobKind::Run);
        let time = |settings: &mut Settings, name| settings.duration(name).unwrap();
        let (limits, waits) = (TimeLimits::default(), Waits::default());
        for (name, of_engine) in [
            ("connect-timeout", limits.connect),
            ("transaction-timeout", limits.transaction),
            ("drain-timeout", limits.drain),
            ("query-timeout", waits.query),
            ("work-timeout", waits.work),
        ] {
            assert_eq!(time(&mut settings, name), of_engine, "{name}");
        }
        let attempts: u32 = settings.count("retries", u32::MAX).unwrap();
        assert_eq!(attempts, RetryPolicy::default().attempts);
        let shown = settings.shown().iter().find(|shown| shown.name == "drain-timeout").unwrap();
        assert_eq!((&*shown.value, &*shown.source), ("30s", "default"));
    }

    #[test]
    fn the_default_of_a_command_is_its_own() {
        let mut settings = Settings::new(JobKind::Drill);
        let limit = settings.duration("transaction-timeout").unwrap();
        assert_eq!(limit, Duration::from_secs(10));
    }
}
