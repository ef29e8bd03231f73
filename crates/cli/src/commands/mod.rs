//! The commands. `job` runs all jobs; the other commands read stored jobs, or serve.

mod board;
mod bundle;
mod capture;
mod compare;
mod datagen;
mod doctor;
mod drop;
mod history;
mod isolation;
mod job;
mod jobs;
mod mcp;
mod new;
mod prove;
mod repeat;
mod screen;
mod serve;
mod snapshot;
mod sysbench;
mod trial;
mod why;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use clap_complete::Shell;
use triphammer_core::SpecError;
use triphammer_report::Charset;
use triphammer_runner::{cluster, resources};
use triphammer_settings::command::Command;
use triphammer_settings::failure::Failure;
use triphammer_settings::target::{Reach, Secrets};
use triphammer_settings::{Setting, Settings};
use triphammer_store::Store;

use crate::stdout::{self, print};
use crate::{Exit, Result, args, signals, terminal};

/// Help of `hammerdb`, whose options belong to the Python package.
const HAMMERDB_HELP: &str = "\
Run a script for HammerDB's command line, as `hammerdbcli auto SCRIPT` does

Usage: triphammer hammerdb [--convert] SCRIPT [ARGUMENT]...

Scripts are run by the Python package, which has Tcl. Install it in the source directory, which \
compiles for some minutes, and use its `triphammer hammerdb`:

  pip install ./python
";

/// What `hammerdb` answers in this program.
const NEEDS_PYTHON: &str = "scripts for HammerDB are run by the Python package, which has Tcl: install it with `pip install \
                            ./python` in the source directory, and use its `triphammer hammerdb`";

/// Answers `hammerdb`: with help if asked for it, because the flag is not parsed there.
fn hammerdb(matches: &ArgMatches) -> Result<Exit> {
    let mut arguments = matches.get_many::<String>("arguments").into_iter().flatten();
    if arguments.any(|given| given == "-h" || given == "--help") {
        print(HAMMERDB_HELP)?;
        return Ok(Exit::Done);
    }
    Err(Failure::refuse(NEEDS_PYTHON))
}

/// Runs the command named in the arguments.
pub fn dispatch(matches: &ArgMatches) -> Result<Exit> {
    let (name, matches) = matches.subcommand().expect("clap requires one");
    if name != Command::Serve.name() {
        stdout::refuse_closed()?;
    }
    match name {
        "completions" => return completions(matches),
        "man" => return manual(matches),
        cluster::SHARE => {
            resources::check_process()?;
            return cluster::share().map(|()| Exit::Done);
        }
        "hammerdb" => return hammerdb(matches),
        args::NEW => return new::command(matches),
        args::SYSBENCH => {
            resources::check_process()?;
            signals::listen();
            return sysbench::command(matches);
        }
        _ => {}
    }
    if let Some((args::CHECK_HISTORY, matches)) = matches.subcommand() {
        return isolation::check_history(matches);
    }
    let command = Command::of(name).expect("clap knows these only");
    let mut settings = args::settings(command, matches)?;
    resources::check_process()?;
    signals::listen();
    match command {
        Command::Job(kind) => job::command(kind, settings),
        Command::Board => board::command(&mut settings, folder_in(matches)),
        Command::Bundle => bundle::bundle(&mut settings, job_in(matches)),
        Command::Capture => capture::command(&mut settings),
        Command::Datagen => datagen::command(&mut settings),
        Command::Doctor => doctor::command(settings),
        Command::History => history::command(&mut settings),
        Command::Jobs => jobs::list(&mut settings),
        Command::Mcp => mcp::command(&mut settings),
        Command::Repeat => repeat::command(settings, file_in(matches)),
        Command::Report => jobs::report(&mut settings, job_in(matches)),
        Command::Serve => serve::command(&mut settings),
        Command::Snapshot => snapshot::command(&mut settings),
        Command::Try => trial::command(settings),
        Command::Verify => bundle::verify(&mut settings, file_in(matches)),
        Command::Why => why::command(&mut settings, job_in(matches)),
    }
}

/// The job that the arguments name.
fn job_in(matches: &ArgMatches) -> &str {
    matches.get_one::<String>("job").expect("clap requires it")
}

/// The bundle that the arguments name.
fn file_in(matches: &ArgMatches) -> &Path {
    matches.get_one::<PathBuf>(args::BUNDLE_FILE).expect("clap requires it")
}

/// The folder of bundles that the arguments name.
fn folder_in(matches: &ArgMatches) -> &Path {
    matches.get_one::<PathBuf>(args::BOARD_FOLDER).expect("clap requires it")
}

fn completions(matches: &ArgMatches) -> Result<Exit> {
    let shell = *matches.get_one::<Shell>("shell").expect("clap requires it");
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut args::with_values(), "triphammer", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}

/// Writes the manual pages: one of the program, and one of each command.
fn manual(matches: &ArgMatches) -> Result<Exit> {
    let folder = matches.get_one::<PathBuf>("folder").expect("clap requires it");
    std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(args::command(), folder))
        .map_err(|error| Failure::System {
            doing: format!("writing the manual pages into {}", folder.display()),
            error,
        })?;
    Ok(Exit::Done)
}

/// Secrets from the process's environment and its terminal.
struct Terminal;

impl Secrets for Terminal {
    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    }

    fn prompt(&self, question: &str) -> std::result::Result<String, SpecError> {
        if !std::io::stdin().is_terminal() {
            return Err(SpecError::new(
                "cannot ask for the password without a terminal; use --password-file or \
                 TRIPHAMMER_PASSWORD",
            ));
        }
        terminal::ask_password(question)
            .map_err(|error| SpecError::new(format!("cannot ask for the password: {error}")))
    }

    fn reach(&self) -> Reach {
        Reach::Process
    }

    fn is_of_client(&self) -> bool {
        false
    }
}

/// Opens the job store for reading.
fn stored(settings: &mut Settings) -> Result<Store> {
    Store::open_to_read(&store_path(settings)?).map_err(|error| Failure::refuse(error.to_string()))
}

/// Determines the path of the job store.
fn store_path(settings: &Settings) -> Result<PathBuf> {
    match settings.get("store") {
        Some(path) => Ok(PathBuf::from(path)),
        None => {
            triphammer_store::default_path().map_err(|error| Failure::refuse(error.to_string()))
        }
    }
}

/// Determines from the locale which characters the terminal can show.
fn charset() -> Charset {
    let locales = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .filter_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    match locales.map(|locale| locale.to_ascii_uppercase()).next() {
        Some(locale) if !locale.contains("UTF-8") && !locale.contains("UTF8") => Charset::Ascii,
        _ => Charset::Unicode,
    }
}

/// Formats every setting with its source, one per line.
fn show_spec(shown: &[Setting]) -> String {
    let width = |read: fn(&Setting) -> &str| {
        shown.iter().map(|s| read(s).chars().count()).max().unwrap_or_default()
    };
    let (name, value) = (width(|s| &s.name), width(|s| &s.value).min(48));
    let mut text = String::new();
    for s in shown {
        text.push_str(&format!("{:name$}  {:value$}  {}\n", s.name, s.value, s.source));
    }
    text
}
