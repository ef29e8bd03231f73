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
    let matches = args::command().get_matches();
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
