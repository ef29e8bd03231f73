//! The command line of triphammer: arguments become settings, settings go to the runner, what comes back
//! is printed. Results go to stdout, everything else to stderr.
//!
//! Exit codes: 0 done · 1 ran, but a check or threshold failed · 2 could not run · 130 interrupted.

mod args;
mod commands;
mod signals;
mod terminal;
mod tui;

use std::process::ExitCode;

use clap::error::ErrorKind;
use triphammer_runner::Failure;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Done,
    CheckFailed,
    Interrupted,
}

/// Runs the program with the process's arguments.
#[must_use]
pub fn main() -> ExitCode {
    let matches = match args::command().try_get_matches() {
        Ok(matches) => matches,
        // Help and version are no errors; without a command there is help.
        Err(error)
            if !error.use_stderr()
                || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand =>
        {
            error.exit()
        }
        Err(error) => {
            terminal::error(&Failure::refuse(args::refusal(&error)));
            return ExitCode::from(2);
        }
    };
    match commands::dispatch(&matches) {
        Ok(Exit::Done) => ExitCode::SUCCESS,
        Ok(Exit::CheckFailed) => ExitCode::from(1),
        Ok(Exit::Interrupted) => ExitCode::from(130),
        Err(failure) => {
            terminal::error(&failure);
            let interrupted = signals::interrupted() && failure.is_interruption();
            ExitCode::from(if interrupted { 130 } else { 2 })
        }
    }
}

/// What commands return.
pub(crate) type Result<T> = std::result::Result<T, Failure>;
