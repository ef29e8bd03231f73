//! Command-line arguments, generated from the runner's list of settings and the options of
//! workloads and dialects.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::OnceLock;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Command as Clap};
use triphammer_core::workload::{OptionCommand, OptionDef};
use triphammer_settings::command::{Command, JobKind};
use triphammer_settings::failure::Failure;
use triphammer_settings::suggestion::closest;
use triphammer_settings::{Mark, REPEATED, SettingDef, Settings, Source, all_options, of_command};

const AFTER_HELP: &str = "\
Every setting can also be given as an environment variable (TRIPHAMMER_ and its name in capitals, \
such as TRIPHAMMER_VUS) or in a job file (--job-file). Flags override environment variables, \
which override the job file.

Exit codes: 0 success, 1 a check or requirement failed, 2 could not run, 130 interrupted.";

/// Name of the command that writes an example.
pub const NEW: &str = "new";
/// Name of the command that takes sysbench's command line, and of its workload.
pub const SYSBENCH: &str = "sysbench";

/// Name of the argument that names a bundle.
pub const BUNDLE_FILE: &str = "file";
/// Name of the argument that names a folder of bundles.
pub const BOARD_FOLDER: &str = "folder";

/// Builds the parser for the whole command line.
pub fn command() -> Clap {
    let mut command = Clap::new("triphammer")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Database load testing and benchmarking")
        .after_help(AFTER_HELP)
        .subcommand_required(true)
        .arg_required_else_help(true);
    for which in Command::ALL {
        command = command.subcommand(subcommand(which));
    }
    let shell = Arg::new("shell").value_parser(clap::value_parser!(clap_complete::Shell));
    let folder = Arg::new("folder").value_parser(clap::value_parser!(PathBuf));
    command
        .subcommand(
            Clap::new("completions")
                .about("Print a completion script for a shell")
                .arg(shell.required(true)),
        )
        .subcommand(new())
        .subcommand(sysbench())
        // The Python package has the command; here it says so.
        .subcommand(
            Clap::new("hammerdb")
                .about("Run a script for HammerDB's command line (with the Python package)")
                .disable_help_flag(true)
                .arg(
                    Arg::new("arguments")
                        .num_args(0..)
                        .allow_hyphen_values(true)
                        .trailing_var_arg(true),
                ),
        )
        // For a run by several hosts, which starts it on each.
        .subcommand(
            Clap::new(triphammer_runner::cluster::SHARE)
                .about("Drive a share of a run, as stdin orders")
                .hide(true),
        )
        // For packages only; users read the pages with man.
        .subcommand(
            Clap::new("man")
                .about("Write the manual pages into a folder")
                .arg(folder.required(true))
                .hide(true),
        )
}

/// Declares `new`.
fn new() -> Clap {
    let folder = Arg::new("folder")
        .value_name("DIR")
        .help("folder for the files; it is created if it does not exist")
        .value_parser(clap::value_parser!(PathBuf))
        .required(true);
    let workload = Clap::new("workload")
        .about("Write an example of a workload file, which runs as it is on PostgreSQL, MariaDB and SQLite")
        .arg(folder);
    Clap::new(NEW)
        .about("Write an example to begin with")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(workload)
}

/// Declares `sysbench`: its arguments are those of sysbench.
fn sysbench() -> Clap {
    let arguments = Arg::new("arguments")
        .value_name("SCRIPT [--OPTION=VALUE …] COMMAND")
        .help(
            "sysbench 1.0's command line: a Lua script or the name of a test that comes with sysbench, \
             its options, and prepare, run, cleanup, help or another command of the script",
        )
        .action(ArgAction::Append)
        .num_args(0..)
        .trailing_var_arg(true)
        .allow_hyphen_values(true);
    Clap::new(SYSBENCH)
        .about("Run a Lua script for sysbench 1.0, with sysbench's own command line")
        .after_help(
            "Settings of `triphammer run` can be given as environment variables, such as \
             TRIPHAMMER_STORE.",
        )
        .arg(arguments)
}

/// Examples of a command, one per line, for its long help and its manual page.
const fn examples(which: Command) -> &'static str {
    match which {
        Command::Job(JobKind::Build) => {
            "  triphammer build postgres://bench@db1/tpcc --create-database --scale 10\n  \
             triphammer build sqlite:bank.sqlite -w tpc-b"
        }
        Command::Job(JobKind::Run) => {
            "  triphammer run postgres://bench@db1/tpcc --vus 16 --duration 5m\n  \
             triphammer run postgres://bench@db1/tpcc --load rate:500/s --require 'all.p95 < 50ms'"
        }
        Command::Job(JobKind::Profile) => {
            "  triphammer profile postgres://bench@db1/tpcc --vus 1,2,4,8,16,32"
        }
        Command::Job(JobKind::Capacity) => {
            "  triphammer capacity postgres://bench@db1/tpcc --limit 'new_order.p95 < 20ms'"
        }
        Command::Job(JobKind::Compare) => {
            "  triphammer compare --ab postgres://bench@old/tpcc postgres://bench@new/tpcc\n  \
             triphammer compare --ab postgres://bench@db1/tpcc --a vus=8 --b vus=16\n  \
             triphammer compare before after"
        }
        Command::Job(JobKind::Matrix) => {
            "  triphammer matrix postgres://bench@db1/tpcc --over vus=8,64 --over mode=procedures,statements\n  \
             triphammer matrix 'postgres://bench@db1/tpcc{scale}' --over scale=10,1000 --over vus=8,64\n  \
             triphammer matrix --over target=postgres://bench@old/tpcc,postgres://bench@new/tpcc --over vus=1..64"
        }
        Command::Job(JobKind::Drill) => {
            "  triphammer drill postgres://bench@db1/drill --fault 'at=10s cut=5s'"
        }
        Command::Job(JobKind::Isolation) => {
            "  triphammer isolation postgres://bench@db1/test --isolation serializable\n  \
             triphammer isolation mysql://bench@db1/test --levels all\n  \
             triphammer isolation mysql://bench@db1/test --expect lost-update --duration 10s"
        }
        Command::Job(JobKind::Check) => "  triphammer check postgres://bench@db1/tpcc",
        Command::Job(JobKind::Drop) => "  triphammer drop postgres://bench@db1/tpcc",
        Command::Capture => {
            "  triphammer capture postgresql.csv -o workload.toml\n  \
             triphammer capture --listen 127.0.0.1:6432 postgres://db1/shop -o shop.recording --for 10m"
        }
        Command::Datagen => "  triphammer datagen -w tproc-h --scale 1 -o rows",
        Command::Doctor => "  triphammer doctor postgres://bench@db1/tpcc",
        Command::History => "  triphammer history -w tproc-c --label nightly",
        Command::Jobs => "  triphammer jobs --limit 50\n  triphammer jobs --parent 12 --json",
        Command::Report => "  triphammer report\n  triphammer report 12 -o report.html",
        Command::Bundle => {
            "  triphammer bundle 12 -o result.zip\n  triphammer bundle 12 --anonymous --sign ~/.ssh/id_ed25519"
        }
        Command::Board => "  triphammer board results -o site --title 'PostgreSQL on our hosts'",
        Command::Repeat => {
            "  triphammer repeat result.zip postgres://bench@db1/tpcc --create-database"
        }
        Command::Verify => {
            "  triphammer verify result.zip\n  triphammer verify result.zip --signer vendor.pub"
        }
        Command::Why => "  triphammer why\n  triphammer why 12 --at 60s..90s",
        Command::Snapshot => {
            "  triphammer snapshot postgres://bench@db1/tpcc --make clean\n  \
             triphammer snapshot postgres://bench@db1/tpcc\n  \
             triphammer snapshot postgres://bench@db1/tpcc --drop clean"
        }
        Command::Try => "  triphammer try\n  triphammer try postgres://bench@db1/postgres",
        Command::Mcp => "  triphammer mcp --targets targets.toml",
        Command::Serve => "  triphammer serve\n  triphammer serve --listen 127.0.0.1:8080",
    }
}

fn subcommand(which: Command) -> Clap {
    let mut command = Clap::new(which.name())
        .about(which.title())
        .after_help("--help shows all options, and examples.")
        .after_long_help(format!("Examples:\n{}\n\n{AFTER_HELP}", examples(which)));
    if matches!(which, Command::Verify | Command::Repeat) {
        let file = Arg::new(BUNDLE_FILE).value_name("FILE").required(true);
        let file = file.value_parser(clap::value_parser!(PathBuf));
        command = command.arg(file.help("The bundle: result.zip"));
    }
    if which == Command::Board {
        let folder = Arg::new(BOARD_FOLDER).value_name("DIR").required(true);
        let folder = folder.value_parser(clap::value_parser!(PathBuf));
        command = command.arg(folder.help("Folder with the bundles: results"));
    }
    if matches!(which, Command::Report | Command::Why | Command::Bundle) {
        command = command.arg(Arg::new("job").value_name("JOB").default_value("last").help(
            match which {
                Command::Why => "Job number, or `last` for the last run",
                Command::Bundle => {
                    "Job number, `last` for the last job, or a label: all complete runs with it"
                }
                _ => "Job number, or `last` for the last job",
            },
        ));
    }
    if which == Command::Job(JobKind::Isolation) {
        command = command.subcommand(check_history()).args_conflicts_with_subcommands(true);
    }
    for definition in of_command(which) {
        command = command.arg(argument(definition));
    }
    for (heading, definition) in all_options() {
        if !takes(which, &definition) {
            continue;
        }
        let is_there = command.get_arguments().any(|a| a.get_id() == &*definition.name);
        command = if is_there {
            command.mut_arg(&*definition.name, |arg| shared(arg, &heading, &definition))
        } else {
            command.arg(option(&definition).help_heading(heading.to_string()))
        };
    }
    command
}

/// Name of the subcommand of `isolation` that checks a history of others.
pub const CHECK_HISTORY: &str = "check";

/// Declares `isolation check FILE`.
fn check_history() -> Clap {
    Clap::new(CHECK_HISTORY)
        .about("Check a history that Jepsen, or --history, has written: list-append, as EDN")
        .arg(
            Arg::new("file")
                .value_name("FILE")
                .required(true)
                .value_parser(clap::value_parser!(PathBuf))
                .help("The file: history.edn"),
        )
}

/// Merges an option that several workloads have into one flag, with the help of each that differs.
fn shared(arg: Arg, workload: &str, definition: &OptionDef) -> Arg {
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let own = help_of(definition);
    let arg = arg.help(match help.strip_prefix(&own) {
        Some(rest) => format!("{own} (also {workload}){rest}"),
        None => format!("{help}; {workload}: {own}"),
    });
    if definition.value.is_some() { arg.value_name("VALUE") } else { arg }
}

fn takes(command: Command, definition: &OptionDef) -> bool {
    command.job().is_some_and(|kind| match definition.command {
        OptionCommand::Build => kind == JobKind::Build,
        OptionCommand::Run => kind.drives(),
        OptionCommand::Every => true,
    })
}

fn argument(definition: &SettingDef) -> Arg {
    let arg = Arg::new(definition.name).help(definition.help_and_default());
    let arg = match definition.value {
        Some(value) => arg.value_name(value).num_args(1).allow_negative_numbers(true),
        None => switch(arg),
    };
    let arg = if definition.is(Mark::Repeats) { arg.action(ArgAction::Append) } else { arg };
    if definition.is(Mark::Positional) {
        return arg;
    }
    let arg = arg.help_heading(definition.group.heading()).long(definition.name);
    let arg = arg.hide_short_help(!definition.group.is_common());
    let arg = if let Some(letter) = definition.short { arg.short(letter) } else { arg };
    if let Some(former) = definition.former { arg.alias(former) } else { arg }
}

fn option(definition: &OptionDef) -> Arg {
    let name = definition.name.to_string();
    let arg = Arg::new(name.clone()).long(name).help(help_of(definition)).hide_short_help(true);
    let arg = match &definition.value {
        Some(value) => arg.value_name(value.to_string()).num_args(1).allow_negative_numbers(true),
        None => switch(arg),
    };
    let arg = if definition.repeats { arg.action(ArgAction::Append) } else { arg };
    if let Some(letter) = definition.short { arg.short(letter) } else { arg }
}

/// Help text of an option with its default, in the style of the settings.
fn help_of(definition: &OptionDef) -> String {
    let mut letters = definition.help.chars();
    let first = letters.next().map(char::to_uppercase);
    let help: String = first.into_iter().flatten().chain(letters).collect();
    match (&definition.value, &*definition.default) {
        (None, _) | (_, "") => help,
        (Some(_), default) => format!("{help} [default: {default}]"),
    }
}

/// Names of other tools' options, and ours.
const NAMES_ELSEWHERE: [(&str, &str); 8] = [
    ("--clients", "--vus"),
    ("--users", "--vus"),
    ("--virtual-users", "--vus"),
    ("--warehouses", "--scale"),
    ("--time", "--duration"),
    ("--rate", "--load rate:N/s"),
    ("--host", "the target, a URL such as postgres://USER@HOST/DATABASE"),
    ("--database", "the target, a URL such as postgres://USER@HOST/DATABASE"),
];

/// The name of the program, as it was called.
static PROGRAM: OnceLock<String> = OnceLock::new();

/// The name of the program, as it was called.
pub fn program() -> &'static str {
    PROGRAM.get().map_or("triphammer", String::as_str)
}

/// The arguments to parse: `help --help` means `help`, which takes only names of commands.
pub fn given(mut all: Vec<OsString>) -> Vec<OsString> {
    if let Some(program) = all.first() {
        PROGRAM.get_or_init(|| program.to_string_lossy().into_owned());
    }
    if all.get(1).is_some_and(|command| command == "help") {
        all.retain(|argument| argument != "--help" && argument != "-h");
    }
    all
}

/// Formats an argument error in one line: what is wrong, what was probably meant, and where to read
/// more.
pub fn refusal(error: &clap::Error, all: &[OsString]) -> String {
    let all = all.iter().skip(1).map(|argument| argument.to_string_lossy().into_owned());
    let all: Vec<String> = all.collect();
    if let Some(negative) = negative(error, &all) {
        return negative;
    }
    let text = error.render().to_string();
    let parts = text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
    let mut lines: Vec<&str> = parts.filter(|line| !line.is_empty()).collect();
    // Values that start with a dash are seldom meant.
    lines.retain(|line| !line.starts_with("For more") && !line.starts_with("tip: to pass"));
    let unknown = |name: &str| text.contains(&format!("unexpected argument '{name}'"));
    let command =
        Command::ALL.into_iter().find(|which| all.first().is_some_and(|a| a == which.name()));
    let of_pairs = command == Some(Command::Job(JobKind::Compare)) && unknown("--repeats");
    let ours = NAMES_ELSEWHERE.into_iter().find(|(theirs, _)| unknown(theirs));
    let ours = ours.map(|(_, ours)| ours).or(of_pairs.then_some("--pairs N"));
    let ours = ours.map(|ours| format!("use {ours}"));
    // What the option is called here is certain; what was probably meant would contradict it.
    let meant = if ours.is_some() { None } else { meant(error, command, &all) };
    if ours.is_some() || meant.is_some() {
        lines.truncate(1);
    }
    lines.extend(ours.as_deref());
    let lines = lines.join("; ").replace(":;", ":");
    let command: Vec<&str> =
        std::iter::once("triphammer").chain(command.map(Command::name)).collect();
    let command = command.join(" ");
    let meant = meant.unwrap_or_default();
    format!("{}; see {command} --help{meant}", lines.trim_start_matches("error: "))
}

/// The option or command that was probably meant by an unknown one: ``; did you mean `--vus`?``. clap reports only the
/// first letter of `-vus`.
fn meant(error: &clap::Error, of: Option<Command>, given: &[String]) -> Option<String> {
    let typed = |kind| match error.get(kind) {
        Some(ContextValue::String(typed)) => Some(typed.as_str()),
        _ => None,
    };
    let all = command();
    let meant = match (typed(ContextKind::InvalidArg), typed(ContextKind::InvalidSubcommand)) {
        (Some(flag), _) => {
            let options = all.find_subcommand(of?.name())?.get_arguments();
            let names: Vec<&str> = options.filter_map(Arg::get_long).collect();
            let name = match flag.strip_prefix("--") {
                Some(flag) => closest(flag, names.into_iter())?,
                None => names.into_iter().find(|name| given.contains(&format!("-{name}")))?,
            };
            format!("--{name}")
        }
        (_, Some(name)) => closest(name, all.get_subcommands().map(Clap::get_name))?.to_owned(),
        _ => return None,
    };
    Some(format!("; did you mean `{meant}`?"))
}

/// The error about a negative value of an option, which clap takes for an unknown option.
fn negative(error: &clap::Error, all: &[String]) -> Option<String> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let is_negative = |text: &str| {
        text.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let pair = all.windows(2).find(|pair| pair[0].starts_with("--") && is_negative(&pair[1]))?;
    Some(format!(
        "{} from the command line: invalid value `{}`: must not be negative",
        pair[0], pair[1]
    ))
}

/// Defines `--flag`, with `--flag=false` to override a job file or the environment.
fn switch(arg: Arg) -> Arg {
    arg.num_args(0..=1)
        .require_equals(true)
        .default_missing_value("true")
        .hide_possible_values(true)
        .action(ArgAction::Set)
        .value_name("BOOL")
        .hide_default_value(true)
}

/// The parser with the values of settings that have a list of them, for completion scripts: what is
/// given is checked where it is read, with better messages.
pub fn with_values() -> Clap {
    let with_choices = |mut command: Clap, which: Command| {
        for definition in of_command(which).filter(|definition| !definition.words().is_empty()) {
            let words = definition.words().into_iter().map(|word| word.value.to_string());
            let values = clap::builder::PossibleValuesParser::new(words);
            command = command.mut_arg(definition.name, |arg| arg.value_parser(values));
        }
        command
    };
    Command::ALL.into_iter().fold(command(), |all, which| {
        all.mut_subcommand(which.name(), |command| with_choices(command, which))
    })
}

/// Combines flags, environment and job file, in this order of precedence.
pub fn settings(which: Command, matches: &ArgMatches) -> Result<Settings, Failure> {
    let mut settings = Settings::new(which);
    let options = all_options();
    let options: Vec<&OptionDef> = options.iter().map(|(_, o)| o).collect();
    for id in matches.ids() {
        if let Ok(Some(values)) = matches.try_get_many::<String>(id.as_str()) {
            let values: Vec<&str> = values.map(String::as_str).collect();
            settings.set(id.as_str(), values.join(REPEATED), Source::Flag);
        }
    }
    for warning in settings.add_process(&options)? {
        crate::terminal::warn(&warning);
    }
    Ok(settings)
}
