//! The command line of triphammer: turns arguments into settings, passes them to the runner, and
//! prints the results. Results go to stdout, everything else to stderr.
//!
//! Exit codes: 0 success · 1 a check or threshold failed · 2 could not run, or could not write the
//! requested output · 130 interrupted.

mod args;
mod commands;
mod signals;
mod stdout;
mod terminal;
mod tui;

use std::io::Write;
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
    let matches = match args::command().try_get_matches_from(args::given()) {
        Ok(matches) => matches,
        // Help and version are not errors; without a command, the help is printed.
        Err(answer)
            if !answer.use_stderr()
                || answer.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand =>
        {
            return told(&answer);
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

/// Prints the help, the version, or the argument error.
fn told(answer: &clap::Error) -> ExitCode {
    let written = answer.print().and_then(|()| std::io::stdout().flush());
    match stdout::checked(written) {
        Err(failure) if !answer.use_stderr() => {
            terminal::error(&failure);
            ExitCode::from(2)
        }
        _ => ExitCode::from(u8::try_from(answer.exit_code()).unwrap_or(2)),
    }
}

/// Result of a command.
pub(crate) type Result<T> = std::result::Result<T, Failure>;
