//! What restores the database before each run of a campaign (`--restore`).

use std::time::Duration;

use triphammer_core::SpecError;
use triphammer_settings::Settings;
use triphammer_settings::handle::Handle;

use crate::shell;

/// Name of the setting.
const RESTORE: &str = "restore";
/// Longest time that it may take: that of a large backup.
const LIMIT: Duration = Duration::from_secs(24 * 3_600);
/// Start of the names of the command's variables.
const PREFIX: &str = "CELL_";

/// What happens before each run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restore {
    command: String,
}

impl Restore {
    /// Reads it from the settings; `None` if nothing happens.
    ///
    /// # Errors
    /// When it is no `cmd=COMMAND`, or is given by a client of the server.
    pub fn read(settings: &mut Settings) -> Result<Option<Self>, SpecError> {
        let parse = |text: &str| match text.trim().split_once('=') {
            Some(("cmd", command)) if !command.trim().is_empty() => {
                Ok(Self { command: command.trim().to_owned() })
            }
            _ => Err(format!("invalid hook `{text}`: expected cmd=COMMAND")),
        };
        let show = |restore: &Self| format!("cmd={}", restore.command);
        // What a job stores has no secrets.
        if settings.get(RESTORE).is_some_and(|text| text.contains("***")) {
            let message =
                "the stored command contained a secret, which is not stored: give --restore again";
            return Err(SpecError::new(message).about(RESTORE));
        }
        let restore = settings.optional(RESTORE, parse, show, "nothing")?;
        if restore.is_some() && !settings.may_name_targets() {
            let message =
                "the server does not run commands of its host for clients: use the command line";
            return Err(SpecError::new(message).about(RESTORE));
        }
        Ok(restore)
    }

    /// The command.
    pub fn command(&self) -> &str {
        &self.command
    }

    /// Runs it before a run with these settings of its own, at a target.
    ///
    /// # Errors
    /// With how the command ended and what it wrote.
    pub fn run(
        &self,
        cell: &[(String, String)],
        target: &str,
        handle: &Handle,
    ) -> Result<(), String> {
        let name = |name: &str| format!("{PREFIX}{}", name.to_uppercase().replace('-', "_"));
        let own = cell.iter().map(|(setting, value)| (name(setting), value.clone()));
        let variables: Vec<_> = own.chain([(name("target"), target.to_owned())]).collect();
        shell::run(&self.command, &variables, LIMIT, handle).map(drop)
    }
}
