//! The command line of triphammer: turns arguments into settings, passes them to the runner, and
//! prints the results. Results go to stdout, everything else to stderr.
//!
//! Exit codes: 0 success · 1 a check or threshold failed · 2 could not run, or could not write the
//! requested output · 130 interrupted.

mod args;
mod commands;
mod full_screen;
mod signals;
mod stdout;
mod terminal;
mod tui;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::error::ErrorKind;
use triphammer_settings::failure::Failure;

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
    ExitCode::from(main_with(std::env::args_os().collect()))
}

/// Runs the program with these arguments, of which the first is its name; returns the exit code.
/// Installs handlers of signals, and may end the process when one is received.
#[must_use]
pub fn main_with(arguments: Vec<OsString>) -> u8 {
    let arguments = args::given(arguments);
    let matches = match args::command().try_get_matches_from(&arguments) {
        Ok(matches) => matches,
        // Help and version are not errors; without a command, the help is printed.
        Err(answer)
            if !answer.use_stderr()
                || answer.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand =>
        {
            return print_answer(&answer);
        }
        Err(error) => {
            terminal::error(&Failure::refuse(args::refusal(&error, &arguments)));
            return 2;
        }
    };
    match commands::dispatch(&matches) {
        Ok(Exit::Done) => 0,
        Ok(Exit::CheckFailed) => 1,
        Ok(Exit::Interrupted) => 130,
        Err(failure) => {
            terminal::error(&failure);
            let interrupted = signals::interrupted() && failure.is_interruption();
            if interrupted { 130 } else { 2 }
        }
    }
}

/// Prints the help, the version, or the argument error.
fn print_answer(answer: &clap::Error) -> u8 {
    let written = answer.print().and_then(|()| std::io::stdout().flush());
    match stdout::checked(written) {
        Err(failure) if !answer.use_stderr() => {
            terminal::error(&failure);
            2
        }
        _ => u8::try_from(answer.exit_code()).unwrap_or(2),
    }
}

/// Result of a command.
pub(crate) type Result<T> = std::result::Result<T, Failure>;
