//! The commands: each takes settings, calls the runner, and prints.

mod build;
mod campaign;
mod capacity;
mod check;
mod compare;
mod drop;
mod history;
mod jobs;
mod profile;
mod run;
mod serve;

use std::io::IsTerminal;
use std::path::PathBuf;

use clap::ArgMatches;
use clap_complete::Shell;
use triphammer_core::SpecError;
use triphammer_core::workload::Description;
use triphammer_runner::command::{Command, JobKind};
use triphammer_runner::outputs::OutputFile;
use triphammer_runner::settings::Settings;
use triphammer_runner::store::Store;
use triphammer_runner::target::{self, Secrets, Target};
use triphammer_runner::{Failure, requests, resources};

use crate::stdout::{self, print};
use crate::{Exit, Result, args, signals, terminal};

/// Runs the command that was named.
pub fn dispatch(matches: &ArgMatches) -> Result<Exit> {
    let (name, matches) = matches.subcommand().expect("clap requires one");
    if name != Command::Serve.name() {
        stdout::refuse_closed()?;
    }
    if name == "completions" {
        return completions(matches);
    }
    let command = Command::of(name).expect("clap knows these only");
    let mut settings = args::settings(command, matches)?;
    resources::check_process()?;
    if command != Command::Serve {
        signals::listen();
    }
    match command {
        Command::Job(JobKind::Build) => build::command(&mut settings),
        Command::Job(JobKind::Run) => run::command(&mut settings),
        Command::Job(JobKind::Profile) => profile::command(&mut settings),
        Command::Job(JobKind::Capacity) => capacity::command(&mut settings),
        Command::Job(JobKind::Compare) => compare::command(&mut settings),
        Command::History => history::command(&mut settings),
        Command::Job(JobKind::Check) => check::command(&mut settings),
        Command::Job(JobKind::Drop) => drop::command(&mut settings),
        Command::Jobs => jobs::list(&mut settings),
        Command::Report => {
            let job = matches.get_one::<String>("job").expect("clap requires it");
            jobs::report(&mut settings, job)
        }
        Command::Serve => serve::command(&mut settings),
    }
}

fn completions(matches: &ArgMatches) -> Result<Exit> {
    let shell = *matches.get_one::<Shell>("shell").expect("clap requires it");
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut args::command(), "triphammer", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}

/// Opens the target and passes its warnings on.
fn open(settings: &mut Settings, workload: &Description) -> Result<Target> {
    requests::refuse_options_of_others(settings, workload)?;
    let target = target::open(settings, &workload.name, &Terminal)?;
    requests::refuse_options_of_other_dialects(settings, &target)?;
    for warning in &target.warnings {
        terminal::warn(warning);
    }
    Ok(target)
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
                "no terminal to ask for the password at; use --password-file or TRIPHAMMER_PASSWORD",
            ));
        }
        terminal::ask_password(question)
            .map_err(|error| SpecError::new(format!("cannot ask for the password: {error}")))
    }
}

/// The file for JUnit XML, made before anything runs.
fn junit(settings: &mut Settings) -> Result<Option<OutputFile>> {
    let path = settings.optional(
        "junit",
        |text| Ok(PathBuf::from(text)),
        |path| path.display().to_string(),
        "none",
    )?;
    let only_look = settings.switch("show-spec")?;
    path.filter(|_| !only_look).map(|path| OutputFile::create(&path)).transpose()
}

/// The job store, or a warning: a store that cannot be opened is no reason not to measure. One that was
/// named and cannot be opened is.
fn store(settings: &mut Settings) -> Result<Option<Store>> {
    let named = settings.said("store").map(PathBuf::from);
    let is_named = named.is_some();
    match named
        .map_or_else(triphammer_runner::store::default_path, Ok)
        .and_then(|p| Store::open(&p))
    {
        Ok(store) => Ok(Some(store)),
        Err(error) if is_named => Err(Failure::refuse(error.to_string())),
        Err(error) => {
            terminal::warn(&format!("this job will not be stored: {error}"));
            Ok(None)
        }
    }
}

/// The job store to be read: for commands about stored jobs.
fn stored(settings: &mut Settings) -> Result<Store> {
    Store::open_to_read(&store_path(settings)?).map_err(|error| Failure::refuse(error.to_string()))
}

/// Where the job store is.
fn store_path(settings: &Settings) -> Result<PathBuf> {
    match settings.said("store") {
        Some(path) => Ok(PathBuf::from(path)),
        None => triphammer_runner::store::default_path()
            .map_err(|error| Failure::refuse(error.to_string())),
    }
}

/// The job that was to be stored is not, or not whole: the warning said why.
fn unstored() -> Failure {
    Failure::refuse(
        "the job is not in the job store, or not whole; what is printed is all there is",
    )
}

/// Prints every setting with its source.
fn show_spec(settings: &Settings) -> Result<()> {
    let shown = settings.shown();
    let width = |read: fn(&triphammer_runner::result::Setting) -> &str| {
        shown.iter().map(|s| read(s).chars().count()).max().unwrap_or_default()
    };
    let (name, value) = (width(|s| &s.name), width(|s| &s.value).min(48));
    let mut text = String::new();
    for s in shown {
        text.push_str(&format!("{:name$}  {:value$}  {}\n", s.name, s.value, s.source));
    }
    print(&text)
}
