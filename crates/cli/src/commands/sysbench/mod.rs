//! `triphammer sysbench SCRIPT [options] COMMAND`: sysbench 1.0's own command line. A run is a job like any other, stored
//! and reported; the other commands of a script, such as `prepare`, only do their work.

mod arguments;
mod hooks;
mod report;

use std::fmt::Write as _;

use clap::ArgMatches;
use triphammer_core::SpecError;
use triphammer_core::workload::OptionDef;
use triphammer_document::Document;
use triphammer_runner::job::{Job, Order};
use triphammer_runner::sysbench::ScriptCommand;
use triphammer_settings::command::{Command, JobKind};
use triphammer_settings::failure::Failure;
use triphammer_settings::target::{Reach, Secrets};
use triphammer_settings::{REPEATED, Settings, Source, all_options};

use self::arguments::Arguments;
use self::hooks::Hooks;
use self::report::Report;
use super::job::unstored;
use super::screen::Screen;
use super::{Terminal, print};
use crate::{Exit, Result, args, terminal};

/// Length of a run without a limit: what sysbench means by --time=0.
const UNLIMITED: &str = "1000h";
/// Events of a thread at most where --events limits those of all threads.
const TRANSACTIONS: &str = "1000000000000";

/// The password of the command line.
struct PasswordArgument {
    password: Option<String>,
}

impl Secrets for PasswordArgument {
    fn variable(&self, name: &str) -> Option<String> {
        match &self.password {
            Some(password) if name == "TRIPHAMMER_PASSWORD" => Some(password.clone()),
            _ => Terminal.variable(name),
        }
    }

    fn prompt(&self, question: &str) -> std::result::Result<String, SpecError> {
        Terminal.prompt(question)
    }

    fn reach(&self) -> Reach {
        Terminal.reach()
    }

    fn is_of_client(&self) -> bool {
        Terminal.is_of_client()
    }
}

/// Runs the command.
pub fn command(matches: &ArgMatches) -> Result<Exit> {
    let given = matches.get_many::<String>("arguments").into_iter().flatten();
    let arguments = Arguments::parse(given.map(String::as_str))?;
    let mut settings = settings(&arguments)?;
    let secrets = PasswordArgument { password: arguments.password().map(str::to_owned) };
    if arguments.command == "run" {
        return run(&arguments, settings, &secrets);
    }
    let command = ScriptCommand::new(&mut settings, &arguments.command)?;
    if arguments.command == "help" && command.how().is_none() {
        print(&help(&command))?;
        return Ok(Exit::Done);
    }
    if arguments.command == "help" {
        // It needs no database.
        settings.replace("target", "null:");
    }
    command.run(&mut settings, &secrets)?;
    Ok(Exit::Done)
}

/// The settings of a run that mean what the arguments mean.
fn settings(arguments: &Arguments) -> Result<Settings> {
    let mut settings = Settings::new(Command::Job(JobKind::Run));
    let mut set = |name: &str, value: String| settings.set(name, value, Source::Flag);
    set("workload", args::SYSBENCH.to_owned());
    set("script", arguments.script.clone());
    set("target", arguments.target()?);
    set("vus", arguments.number("threads")?.to_string());
    let (events, time, rate) =
        (arguments.number("events")?, arguments.number("time")?, arguments.number("rate")?);
    if events > 0 && rate == 0 {
        // The workload ends it.
        set("transactions", TRANSACTIONS.to_owned());
    } else {
        // With both limits the workload ends it, too, if its events are done first.
        set("rampup", "0s".to_owned());
        set("duration", if time == 0 { UNLIMITED.to_owned() } else { format!("{time}s") });
    }
    if rate > 0 {
        set("load", format!("rate:{rate}/s"));
    }
    if let every @ 1.. = arguments.number("report_interval")? {
        set("progress", format!("{every}s"));
    }
    if let seed @ 1.. = arguments.number("rand_seed")? {
        set("seed", seed.to_string());
    }
    set("define", arguments.definitions().join(REPEATED));
    let options = all_options();
    let options: Vec<&OptionDef> = options.iter().map(|(_, option)| option).collect();
    settings.add_environment(&options, |name| std::env::var(name).ok());
    settings.check_text()?;
    Ok(settings)
}

/// Runs the script's events as a job.
fn run(arguments: &Arguments, settings: Settings, secrets: &PasswordArgument) -> Result<Exit> {
    let mut job = Job::new(Order::new(settings, secrets))?;
    for warning in job.warnings() {
        terminal::warn(warning);
    }
    let interval = arguments.number("report_interval")?;
    let every = (interval > 0).then(|| std::time::Duration::from_secs(interval));
    let command = ScriptCommand::new(&mut job.settings().clone(), "run")?;
    let hooks = Hooks::new(command, interval, arguments.number("percentile")?)?;
    let mut report = Report::new(Screen::new(&job, false, [every, None]), hooks);
    let finished = job.run(&mut report);
    report.screen.end();
    report.hooks.end_parts();
    for remark in job.remarks() {
        terminal::warn(&remark);
    }
    let mut finished = finished?;
    let Some(Document::Run(result)) = finished.document.take() else {
        return Err(Failure::refuse("the run has no result".to_owned()));
    };
    let (trouble, torn) = finished.end_outputs();
    if !report.of_script(&result) {
        let (percentile, histogram) =
            (arguments.number("percentile")?, arguments.switch("histogram")?);
        print(&report.text(&result, percentile, histogram))?;
    }
    for warning in finished.reason.iter().chain(&trouble) {
        terminal::warn(warning);
    }
    if let Some(failure) = torn.or_else(|| (!finished.is_stored).then(unstored)) {
        return Err(failure);
    }
    let is_good = result.status == triphammer_document::parts::Status::Complete
        && result.run.total.completed > 0;
    Ok(match crate::signals::interrupted() {
        true => Exit::Interrupted,
        false if is_good => Exit::Done,
        false => Exit::CheckFailed,
    })
}

/// The options of a script.
fn help(command: &ScriptCommand) -> String {
    let mut text = format!("Options of {}:\n", command.script());
    let names = command.options().iter().map(|option| option.name.len()).max().unwrap_or_default();
    for option in command.options() {
        let name = option.name.replace('_', "-");
        let default = option.default.as_ref().map(|value| format!(" [{value}]"));
        let default = default.unwrap_or_default();
        let _ = writeln!(text, "  --{name:names$}  {}{default}", option.help);
    }
    text
}
