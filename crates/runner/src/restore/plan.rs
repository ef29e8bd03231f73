//! The settings of restores: `--restore`, `--restore-timeout`, `--end-sessions`.

use std::time::Duration;

use triphammer_core::SpecError;
use triphammer_drivers::snapshot::{Consent, SnapshotName};
use triphammer_settings::Settings;
use triphammer_settings::handle::Handle;

use crate::shell;

/// Name of the setting.
pub(super) const RESTORE: &str = "restore";
/// Name of the setting of its limit.
pub(super) const TIMEOUT: &str = "restore-timeout";
/// Longest time that a command may take unless it is given: that of a large backup.
const COMMAND_LIMIT: Duration = Duration::from_secs(24 * 3_600);
/// Longest time that a copy may take unless it is given.
pub(super) const COPY_LIMIT: Duration = Duration::from_secs(3_600);
/// Start of the names of a command's variables.
const PREFIX: &str = "CELL_";

/// What happens before each run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestorePlan {
    pub(super) way: Way,
    /// Longest time that it may take.
    pub(super) limit: Duration,
    pub(super) consent: Consent,
}

/// What restores a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// A command of this host's shell.
    Command(String),
    /// A snapshot: this one, or one of the state at the start of the job.
    Copy(Option<SnapshotName>),
}

impl Way {
    fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        match text.split_once('=') {
            Some(("cmd", command)) if !command.trim().is_empty() => {
                Ok(Self::Command(command.trim().to_owned()))
            }
            Some(("copy", name)) => Ok(Self::Copy(Some(name.trim().parse()?))),
            None if text == "copy" => Ok(Self::Copy(None)),
            _ => Err(format!("invalid hook `{text}`: expected copy, copy=NAME or cmd=COMMAND")),
        }
    }

    fn show(&self) -> String {
        match self {
            Self::Command(command) => format!("cmd={command}"),
            Self::Copy(None) => "copy".to_owned(),
            Self::Copy(Some(name)) => format!("copy={name}"),
        }
    }
}

impl RestorePlan {
    /// Reads it from the settings; `None` if nothing happens.
    ///
    /// # Errors
    /// When it is of no known form, or is given by a client of the server.
    pub fn read(settings: &mut Settings) -> Result<Option<Self>, SpecError> {
        // What a job stores has no secrets.
        if settings.get(RESTORE).is_some_and(|text| text.contains("***")) {
            let message =
                "the stored command contained a secret, which is not stored: give --restore again";
            return Err(SpecError::new(message).about(RESTORE));
        }
        let way = settings.optional(RESTORE, Way::parse, Way::show, "nothing")?;
        let Some(way) = way else { return Ok(None) };
        let end_sessions = settings.switch("end-sessions")?;
        let limit = match &way {
            Way::Command(_) => COMMAND_LIMIT,
            Way::Copy(_) => COPY_LIMIT,
        };
        let limit = settings.duration_or(TIMEOUT, limit)?;
        if !settings.may_name_targets() {
            let message = "the server does not restore databases or run commands of its host for clients: \
                           use the command line";
            return Err(SpecError::new(message).about(RESTORE));
        }
        Ok(Some(Self { way, limit, consent: Consent { end_sessions } }))
    }

    /// Reads it for a single run, which needs a snapshot that was there before.
    ///
    /// # Errors
    /// As [`RestorePlan::read`], and when the snapshot would only be made now.
    pub fn of_one_run(settings: &mut Settings) -> Result<Option<Self>, SpecError> {
        let plan = Self::read(settings)?;
        if plan.as_ref().is_some_and(|plan| plan.way == Way::Copy(None)) {
            let message = "--restore copy restores the state at the start of a job before each of its \
                           runs, and this is one run: make a snapshot that stays (`triphammer snapshot \
                           TARGET --make clean`), and restore from it with --restore copy=clean";
            return Err(SpecError::new(message).about(RESTORE));
        }
        Ok(plan)
    }

    /// Whether it restores from a snapshot of the state at the start, which does not outlast the job.
    pub(crate) fn ends_with_job(&self) -> bool {
        self.way == Way::Copy(None)
    }

    /// What restores, as documents show it.
    pub(crate) fn shown(&self) -> String {
        match &self.way {
            Way::Command(command) => command.clone(),
            copy => copy.show(),
        }
    }

    /// Runs the command before a run with these settings of its own, at a target.
    ///
    /// # Errors
    /// With how the command ended and what it wrote.
    pub(super) fn run_command(
        &self,
        command: &str,
        cell: &[(String, String)],
        target: &str,
        handle: &Handle,
    ) -> Result<(), String> {
        let name = |name: &str| format!("{PREFIX}{}", name.to_uppercase().replace('-', "_"));
        let own = cell.iter().map(|(setting, value)| (name(setting), value.clone()));
        let variables: Vec<_> = own.chain([(name("target"), target.to_owned())]).collect();
        shell::run(command, &variables, self.limit, handle).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_restore_is_a_copy_a_named_copy_or_a_command() {
        for good in ["copy", "copy=clean", "cmd=zfs rollback tank/a@b"] {
            assert_eq!(Way::parse(good).unwrap().show(), good);
        }
        for (bad, message) in [
            ("restore.sh", "expected copy, copy=NAME or cmd=COMMAND"),
            ("cmd=", "expected copy"),
            ("copies", "expected copy"),
            ("copy=", "invalid name of a snapshot"),
            ("copy=A b", "invalid name of a snapshot"),
            ("copy=tmp_1", "program's own"),
        ] {
            let error = Way::parse(bad).unwrap_err();
            assert!(error.contains(message), "{bad}: {error}");
        }
    }
}
