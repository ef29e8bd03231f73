//! Settings: what can be said, where it was said, and what it comes to.
//!
//! [`SETTINGS`] is the one list. From it come the flags and their help, the environment variables, the
//! keys of a job file, `--show-spec` and the reference page; the options of workloads join it by their own
//! definitions. Layers are laid over each other (flags > environment > job file > defaults) as text, each
//! value with its source; resolving reads each value once, and a bad one is reported with where it came from.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::time::Duration;

use triphammer_core::SpecError;
use triphammer_core::clock::{format_duration, parse_duration};
use triphammer_core::pace::Cycle;
use triphammer_core::session::{Capabilities, Isolation, Protocol};
use triphammer_core::small_file::{SETTINGS_BYTES_MAX, read_text};
use triphammer_core::spec::{
    DURATION_MAX, Length, Limits, RETRIES_MAX, RetryPolicy, RunSpec, THREADS_MAX, TRANSACTIONS_MAX,
};
use triphammer_core::text::steers;
use triphammer_core::workload::{Mode, OptionCommand, OptionDef};
use triphammer_drivers::target::TargetUrl;

use crate::books;
use crate::result::Setting;
use crate::suggestion::suggestion;

/// Most of what a scale counts: 100 TB of TPROC-C.
pub const SCALE_MAX: u32 = 1_000_000;
/// Most sessions of a build or check.
pub const JOBS_MAX: u32 = 1_024;

/// The commands that have settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Command {
    /// Makes schema and data.
    Build,
    /// Drives a workload.
    Run,
    /// Runs at several numbers of virtual users.
    Profile,
    /// Searches the highest rate within a limit.
    Capacity,
    /// Says whether B is faster than A.
    Compare,
    /// Shows when results changed.
    History,
    /// Verifies invariants.
    Check,
    /// Removes what a build made.
    Drop,
    /// Lists stored jobs.
    Jobs,
    /// Prints a stored job.
    Report,
    /// Serves all this, and the web interface, over HTTP.
    Serve,
}

impl Command {
    /// Its name on the command line, and of its table in a job file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Build => "build",
            Self::Run => "run",
            Self::Profile => "profile",
            Self::Capacity => "capacity",
            Self::Compare => "compare",
            Self::History => "history",
            Self::Check => "check",
            Self::Drop => "drop",
            Self::Jobs => "jobs",
            Self::Report => "report",
            Self::Serve => "serve",
        }
    }
}

/// Something that can be set.
#[derive(Clone, Copy, Debug)]
pub struct SettingDef {
    /// Flag without dashes, and job-file key; `TRIPHAMMER_` and the same in capitals is the variable.
    pub name: &'static str,
    /// Name of the value in help; `None` for a switch.
    pub value: Option<&'static str>,
    /// Help in a line, with the default at its end.
    pub help: &'static str,
    /// The commands that take it.
    pub commands: &'static [Command],
    /// One-letter flag.
    pub short: Option<char>,
    /// Whether it stands on the command line without a flag.
    pub positional: bool,
    /// Whether a job file may hold it.
    pub in_job_file: bool,
    /// Whether it may be given several times: the values are joined with commas, and a job file may
    /// hold a list.
    pub repeats: bool,
}

impl SettingDef {
    /// The environment variable.
    #[must_use]
    pub fn variable(&self) -> String {
        variable(self.name)
    }

    /// Whether a request to the server may hold it: secrets, targets, the store and the files and sockets of
    /// the host are the server's, and what it compares are runs that it makes.
    #[must_use]
    pub fn in_request(&self) -> bool {
        const OF_THE_SERVER: [&str; 10] = [
            "target",
            "other",
            "ab",
            "password-file",
            "store",
            "series",
            "junit",
            "otlp",
            "otlp-ca",
            "metrics-listen",
        ];
        const SWITCHES: [&str; 3] = ["create-database", "replace", "force"];
        (self.in_job_file && !OF_THE_SERVER.contains(&self.name)) || SWITCHES.contains(&self.name)
    }

    /// What its help says of the default; `None` where there is none.
    #[must_use]
    pub fn default_in_words(&self) -> Option<&'static str> {
        let (_, after) = self.help.split_once(" [default: ")?;
        after.strip_suffix(']')
    }

    /// Its help without the default.
    #[must_use]
    pub fn help_alone(&self) -> &'static str {
        self.help.split_once(" [default: ").map_or(self.help, |(help, _)| help)
    }
}

fn variable(name: &str) -> String {
    format!("TRIPHAMMER_{}", name.replace('-', "_").to_uppercase())
}

const fn setting(
    name: &'static str,
    value: Option<&'static str>,
    commands: &'static [Command],
    help: &'static str,
) -> SettingDef {
    let (short, positional, in_job_file, repeats) = (None, false, true, false);
    SettingDef { name, value, help, commands, short, positional, in_job_file, repeats }
}

const fn positional(definition: SettingDef) -> SettingDef {
    SettingDef { positional: true, ..definition }
}

const fn short(definition: SettingDef, letter: char) -> SettingDef {
    SettingDef { short: Some(letter), ..definition }
}

const fn repeats(definition: SettingDef) -> SettingDef {
    SettingDef { repeats: true, ..definition }
}

const fn not_in_job_file(definition: SettingDef) -> SettingDef {
    SettingDef { in_job_file: false, ..definition }
}

use Command::{Build, Capacity, Check, Compare, Drop, History, Jobs, Profile, Report, Run, Serve};

/// The commands that work on a database; a job file may have a table for each.
const ON_TARGET: &[Command] = &[Build, Run, Profile, Capacity, Compare, Check, Drop];
/// The commands that drive a workload.
const DRIVE: &[Command] = &[Run, Profile, Capacity, Compare];
/// Those of them that make several runs.
const SEVERAL: &[Command] = &[Profile, Capacity, Compare];
/// Those that drive it the same way in every run.
const ALIKE: &[Command] = &[Run, Compare];

/// Everything that can be set, beside the options of workloads.
pub const SETTINGS: &[SettingDef] = &[
    positional(setting(
        "target",
        Some("TARGET"),
        &[Build, Run, Profile, Capacity, Check, Drop],
        "Database to use, as a URL: postgres://user@host/db, mysql://user@host/db, sqlite:file.db, null: [default: an SQLite file in this folder, named for the workload]",
    )),
    positional(setting(
        "target",
        Some("A"),
        &[Compare],
        "Number of a job, `last`, or a label that stands for all complete runs with it; with --ab a target, as in `run`",
    )),
    positional(setting(
        "other",
        Some("B"),
        &[Compare],
        "What is judged against A; with --ab a second target [default: with --ab the same target as A]",
    )),
    not_in_job_file(positional(setting(
        "label",
        Some("LABEL"),
        &[History],
        "Runs that have this label [default: any]",
    ))),
    short(setting("workload", Some("NAME"), ON_TARGET, "Workload [default: tproc-c]"), 'w'),
    not_in_job_file(short(
        setting(
            "workload",
            Some("NAME"),
            &[History],
            "Runs of this workload [default: that of the newest run]",
        ),
        'w',
    )),
    not_in_job_file(setting(
        "on",
        Some("TEXT"),
        &[History],
        "Runs whose target, as `jobs` lists it, has this text in it [default: any]",
    )),
    setting(
        "schema",
        Some("NAME"),
        ON_TARGET,
        "Schema in the database to work in [default: the user's own]",
    ),
    setting(
        "password-file",
        Some("FILE"),
        ON_TARGET,
        "File that holds the password on its first line",
    ),
    not_in_job_file(short(
        setting("ask-password", None, ON_TARGET, "Ask for the password at the terminal"),
        'W',
    )),
    setting(
        "connect-timeout",
        Some("TIME"),
        ON_TARGET,
        "Longest wait for a session [default: 10s]",
    ),
    setting(
        "query-timeout",
        Some("TIME"),
        ON_TARGET,
        "Longest wait for an answer to what is no user's transaction: locks, settings, counters, records. While a load, an index or a check takes longer, the server must still be at it [default: 30s]",
    ),
    setting(
        "work-timeout",
        Some("TIME"),
        ON_TARGET,
        "Longest statement of a build, check or drop, however long the server is at it [default: 24h]",
    ),
    not_in_job_file(short(
        setting("job-file", Some("FILE"), ON_TARGET, "TOML file with settings"),
        'f',
    )),
    setting(
        "scale",
        Some("N"),
        &[Build, Run, Profile, Capacity, Compare],
        "Size of the data: warehouses for TPROC-C, branches for TPC-B-like. `run` takes it only where nothing is stored (null:) or built (the embedded default) [default: 1; 10 on null:]",
    ),
    setting(
        "jobs",
        Some("N"),
        &[Build, Check],
        "Sessions that work side by side [default: min(2 x cores, scale); 1 to build where the database has one writer]",
    ),
    setting(
        "seed",
        Some("N"),
        &[Build, Run, Profile, Capacity, Compare],
        "Seed: of the data in `build`, of the inputs in `run`, of the order of runs too in `profile`. The same seed gives the same rows and the same work [default: 1]",
    ),
    not_in_job_file(setting(
        "create-database",
        None,
        &[Build],
        "Make the database first when it is not there",
    )),
    not_in_job_file(setting(
        "replace",
        None,
        &[Build],
        "Remove what an earlier build made, then build anew",
    )),
    setting(
        "vus",
        Some("N"),
        ALIKE,
        "Virtual users; sessions where the load is by rate, ramp or steps [default: 1 on SQLite, else min(10, scale)]",
    ),
    setting(
        "vus",
        Some("LEVELS"),
        &[Profile],
        "Virtual users of each level: 1,2,4,8 or 1..64 (doubling) or auto (until the knee and the decline are found) [default: auto]",
    ),
    setting(
        "vus",
        Some("N"),
        &[Capacity],
        "Virtual users that share the arrivals: more than are ever busy at once [default: 1 on SQLite, else 64]",
    ),
    setting(
        "max-vus",
        Some("N"),
        &[Profile],
        "Highest level that `--vus auto` tries [default: 64 on SQLite, else 512]",
    ),
    setting(
        "repeats",
        Some("N"),
        &[Profile],
        "Runs of each level: 2 or more show how far runs differ by themselves [default: 3]",
    ),
    setting("threads", Some("N"), DRIVE, "Worker threads [default: min(cores, sessions)]"),
    setting(
        "rampup",
        Some("TIME"),
        DRIVE,
        "Load before the timed window [default: 1m; 5s on the embedded default; 10s and 5s in `capacity`]",
    ),
    setting(
        "duration",
        Some("TIME"),
        DRIVE,
        "Timed window, the longest with --until-ci [default: 5m, 30m with --until-ci; 30s and 5m on the embedded default; 1m and 10s in `capacity`]",
    ),
    setting(
        "until-ci",
        Some("SHARE"),
        &[Run, Profile, Compare],
        "End the window as soon as the 95 % interval of the first figure is within this share of it: 1% [default: by time]",
    ),
    setting(
        "settle",
        Some("TIME"),
        SEVERAL,
        "Rest between two runs, for what the database does behind them [default: 10s; 1s on the embedded default]",
    ),
    setting(
        "limit",
        Some("LIMIT"),
        &[Capacity],
        "What must hold: a percentile of a transaction's response time, as in 'new_order.p95 < 50ms'; `all` for all types together",
    ),
    setting(
        "max-rate",
        Some("RATE"),
        &[Capacity],
        "Highest rate that is tried, in transactions a second [default: until the limit is broken]",
    ),
    setting(
        "precision",
        Some("SHARE"),
        &[Capacity],
        "Search until the capacity is known this closely [default: 5%]",
    ),
    not_in_job_file(setting(
        "ab",
        None,
        &[Compare],
        "Make the runs: pairs of A and B in turn, A B B A; A and B are targets",
    )),
    repeats(setting(
        "a",
        Some("NAME=VALUE"),
        &[Compare],
        "With --ab, settings of A's runs alone, such as vus=8, mode=statements; also by the flag again",
    )),
    repeats(setting("b", Some("NAME=VALUE"), &[Compare], "The same for B's runs")),
    setting(
        "pairs",
        Some("N"),
        &[Compare],
        "With --ab, how many pairs of runs to make [default: 7]",
    ),
    setting("margin", Some("SHARE"), &[Compare], "Difference that does not matter [default: 2%]"),
    not_in_job_file(setting(
        "fail-if-slower",
        None,
        &[Compare, History],
        "Exit code 1 when B is slower, or when the last change of a history is a slowdown",
    )),
    not_in_job_file(setting(
        "fail-if-inconclusive",
        None,
        &[Compare],
        "Exit code 1 when it is not known how B compares",
    )),
    not_in_job_file(setting(
        "resume",
        Some("JOB"),
        SEVERAL,
        "Go on with this interrupted job, or `last`; its settings are as they were",
    )),
    setting(
        "transactions",
        Some("N"),
        ALIKE,
        "Run this many transactions of each virtual user instead of a time",
    ),
    setting(
        "mode",
        Some("MODE"),
        DRIVE,
        "Where the logic runs: procedures or statements [default: procedures where workload and database have them]",
    ),
    setting(
        "protocol",
        Some("PROTOCOL"),
        DRIVE,
        "How statements travel: prepared, extended or simple [default: prepared, where the database has it]",
    ),
    setting("isolation", Some("LEVEL"), DRIVE, "Isolation level [default: the database's own]"),
    setting(
        "load",
        Some("MODEL"),
        ALIKE,
        "Load model: closed; rate:500/s, or rate:500/s,constant; ramp:100..2000/10m; steps:FILE (CSV: rate,duration); keyed (the workload's keying and thinking times) [default: closed]",
    ),
    setting(
        "late",
        Some("POLICY"),
        ALIKE,
        "What becomes of arrivals that no session was free for: issue, or skip:100ms when later than that [default: issue]",
    ),
    setting(
        "backlog",
        Some("N"),
        ALIKE,
        "Arrivals that may wait for a session; when more are due, those that waited longest are given up [default: 60 s of the highest rate]",
    ),
    setting(
        "terminals",
        Some("N"),
        ALIKE,
        "Terminals of a keyed load [default: as many as the workload has, 10 a warehouse]",
    ),
    setting(
        "sessions",
        Some("N"),
        ALIKE,
        "Sessions that the terminals of a keyed load share, or `own` for one each [default: min(64, terminals); 1 on SQLite]",
    ),
    setting(
        "login-delay",
        Some("TIME"),
        ALIKE,
        "From one terminal's log-in to the next one's; keyed loads only [default: 0s]",
    ),
    setting(
        "retries",
        Some("N"),
        DRIVE,
        "Attempts in all at a transaction that meets a deadlock or a serialization failure [default: 3]",
    ),
    setting(
        "transaction-timeout",
        Some("TIME"),
        DRIVE,
        "Cancel an attempt that takes longer; 0s for never [default: 0s]",
    ),
    setting(
        "drain-timeout",
        Some("TIME"),
        DRIVE,
        "Longest wait for transactions in flight at the end [default: 30s]",
    ),
    setting(
        "max-failures",
        Some("SHARE"),
        DRIVE,
        "Share of transactions that may fail; above it the exit code is 1 [default: 1%]",
    ),
    not_in_job_file(setting(
        "replay-exemplar",
        Some("JOB:N"),
        &[Run],
        "Run one of the slowest transactions of a stored run again, with the same input; it commits",
    )),
    repeats(setting(
        "require",
        Some("REQUIREMENT"),
        &[Run, Report],
        "Figure that the run must reach, such as `nopm >= 50000`, `new_order.p95 < 10ms` or `failures < 0.1%`; several with commas, or the flag again. When one fails the exit code is 1",
    )),
    setting(
        "label",
        Some("TEXT"),
        &[Run, Profile, Capacity, Compare, Jobs],
        "Name for the job, to find it again",
    ),
    setting(
        "series",
        Some("FILE"),
        &[Run],
        "Write every second to this file as it passes: .csv or .jsonl",
    ),
    setting("junit", Some("FILE"), &[Run, Check], "Write what passed and failed as JUnit XML"),
    setting(
        "metrics-listen",
        Some("ADDRESS"),
        &[Run],
        "Offer the run's figures to Prometheus at this address, as 127.0.0.1:9187; a port alone is on 127.0.0.1",
    ),
    setting(
        "otlp",
        Some("URL"),
        &[Run],
        "Send the run's figures to this OpenTelemetry collector every 10 s, by OTLP over HTTP with JSON: http://localhost:4318, or https:// for TLS",
    ),
    setting(
        "otlp-ca",
        Some("FILE"),
        &[Run],
        "PEM file of the authorities that an https:// collector's certificate is held against [default: those of the system]",
    ),
    setting("warehouses", Some("A-B"), &[Check], "Check only these [default: all]"),
    not_in_job_file(setting("yes", None, &[Drop], "Do it without asking")),
    not_in_job_file(setting(
        "force",
        None,
        &[Build, Drop],
        "Also touch tables that the build's record does not vouch for",
    )),
    not_in_job_file(setting(
        "json",
        None,
        &[Build, Run, Profile, Capacity, Compare, History, Check, Jobs],
        "Print one JSON document instead of text",
    )),
    not_in_job_file(setting(
        "tui",
        None,
        &[Run],
        "Show the run on the whole terminal: figures, charts and a table, live; ? there tells the keys",
    )),
    not_in_job_file(setting(
        "show-spec",
        None,
        &[Build, Run, Profile, Capacity, Compare],
        "Print every setting with its source, and do nothing",
    )),
    setting(
        "store",
        Some("FILE"),
        &[Build, Run, Profile, Capacity, Compare, History, Check, Jobs, Report, Serve],
        "Job store [default: the user's data folder]",
    ),
    not_in_job_file(setting("limit", Some("N"), &[Jobs], "How many jobs to list [default: 20]")),
    not_in_job_file(setting(
        "parent",
        Some("JOB"),
        &[Jobs],
        "List the runs of this profile, capacity or compare job [default: jobs that belong to no other]",
    )),
    not_in_job_file(setting(
        "format",
        Some("FORMAT"),
        &[Report],
        "text, json, markdown, csv, jsonl, hdr, junit or html [default: by the ending of --output, else text]",
    )),
    not_in_job_file(setting(
        "format",
        Some("FORMAT"),
        &[Compare],
        "text, markdown or json [default: text]",
    )),
    not_in_job_file(short(
        setting("output", Some("FILE"), &[Report], "Write to this file instead of the terminal"),
        'o',
    )),
    not_in_job_file(setting(
        "listen",
        Some("HOST:PORT"),
        &[Serve],
        "Address and port to listen on [default: 127.0.0.1:7400]",
    )),
    not_in_job_file(setting(
        "token-file",
        Some("FILE"),
        &[Serve],
        "File that holds the token on its first line, which clients must show [default: TRIPHAMMER_TOKEN, else one that is made and printed once]",
    )),
    not_in_job_file(setting(
        "targets",
        Some("FILE"),
        &[Serve],
        "TOML file of targets with their passwords, as docs/serve.md has it; only these use files, sockets and passwords of this host",
    )),
    not_in_job_file(setting(
        "data",
        Some("FOLDER"),
        &[Serve],
        "Folder of the SQLite files that clients may use [default: this folder]",
    )),
    not_in_job_file(setting(
        "tls-cert",
        Some("FILE"),
        &[Serve],
        "Certificate chain to serve by HTTPS with, PEM",
    )),
    not_in_job_file(setting("tls-key", Some("FILE"), &[Serve], "Key of the certificate, PEM")),
    not_in_job_file(setting(
        "host",
        Some("NAMES"),
        &[Serve],
        "Names by which browsers may call the server, with commas between, beside addresses and localhost",
    )),
    not_in_job_file(setting("open", None, &[Serve], "Open the interface in a browser")),
];

/// Longest label, in characters.
pub const LABEL_MAX: usize = 200;

/// Between the values of a setting that was given several times.
pub const REPEATED: &str = ", ";

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// A flag or the positional target.
    Flag,
    /// An environment variable.
    Environment,
    /// A job file.
    JobFile(String),
    /// The command that made the run, such as `profile`.
    Command(Command),
    /// A stored job that is replayed.
    Job(i64),
    /// A request to the server.
    Request,
    /// Nobody said anything.
    Default,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("command line"),
            Self::Environment => f.write_str("environment"),
            Self::JobFile(name) => write!(f, "job file {name}"),
            Self::Command(command) => f.write_str(command.name()),
            Self::Job(job) => write!(f, "job {job}"),
            Self::Request => f.write_str("request"),
            Self::Default => f.write_str("default"),
        }
    }
}

/// Layers laid over each other, and what was read from them.
#[derive(Clone, Debug)]
pub struct Settings {
    command: Command,
    values: BTreeMap<String, (String, Source)>,
    shown: Vec<Setting>,
    /// Whether a client of the server says them, who may name no file of its host.
    of_client: bool,
}

impl Settings {
    /// Nothing said yet.
    #[must_use]
    pub fn new(command: Command) -> Self {
        Self { command, values: BTreeMap::new(), shown: Vec::new(), of_client: false }
    }

    /// The command that these are for.
    #[must_use]
    pub const fn command(&self) -> Command {
        self.command
    }

    /// Says a value, unless a stronger layer has said one: add the strongest layer first.
    pub fn say(&mut self, name: &str, value: impl Into<String>, source: Source) {
        self.values.entry(name.to_owned()).or_insert_with(|| (value.into(), source));
    }

    /// Adds the environment: the variables of the command's settings, and of the options of workloads.
    pub fn add_environment(
        &mut self,
        options: &[&OptionDef],
        read: impl Fn(&str) -> Option<String>,
    ) {
        let names: Vec<_> = known(self.command, options).collect();
        for name in names {
            if let Some(value) = read(&variable(name)).filter(|value| !value.is_empty()) {
                self.say(name, value, Source::Environment);
            }
        }
    }

    /// Adds the values of a request to the server. What a job file may not hold is not for requests
    /// either, but for what [`SettingDef::in_request`] lets through.
    ///
    /// # Errors
    /// When the command takes no setting of a name.
    pub fn add_request(
        &mut self,
        values: &BTreeMap<String, String>,
        options: &[&OptionDef],
    ) -> Result<(), SpecError> {
        self.of_client = true;
        for (name, value) in values {
            let mut own = SETTINGS
                .iter()
                .filter(|s| s.name == *name && s.commands.contains(&self.command))
                .peekable();
            let is_open = own.peek().is_none() || own.any(SettingDef::in_request);
            let takes = |known: &str| known == name.as_str() && is_open;
            if !known(self.command, options).any(takes) {
                let hint = suggestion(name, known(self.command, options));
                let message = format!("`{}` takes no `{name}`{hint}", self.command.name());
                return Err(SpecError::new(message).about(name));
            }
            self.say(name, value.clone(), Source::Request);
        }
        self.check_text()
    }

    /// Whether a client of the server says them, who may name no file of its host.
    #[must_use]
    pub const fn of_client(&self) -> bool {
        self.of_client
    }

    /// Refuses values that would steer the terminals they are shown on, and labels without an end.
    ///
    /// # Errors
    /// Names the setting; the value is not shown.
    pub fn check_text(&self) -> Result<(), SpecError> {
        for (name, (value, source)) in &self.values {
            let may = |c: char| name != "label" && matches!(c, '\n' | '\t');
            if value.contains(|c| steers(c) && !may(c)) {
                let message = format!(
                    "--{name} from the {source} holds a control character or one that changes the \
                     direction of text; leave it out"
                );
                return Err(SpecError::new(message).about(name));
            }
        }
        match self.said("label").filter(|label| label.chars().count() > LABEL_MAX) {
            Some(_) => {
                let message = format!("--label: a label has at most {LABEL_MAX} characters");
                Err(SpecError::new(message).about("label"))
            }
            None => Ok(()),
        }
    }

    /// Adds a job file.
    ///
    /// # Errors
    /// When it cannot be read, is no TOML, or holds a key or value that cannot be.
    pub fn add_job_file(&mut self, path: &Path, options: &[&OptionDef]) -> Result<(), SpecError> {
        let name = path.display().to_string();
        let text = read_text(path, SETTINGS_BYTES_MAX)
            .map_err(|error| SpecError::new(format!("cannot read the job file {name}: {error}")))?;
        let table: toml::Table = text
            .parse()
            .map_err(|error| SpecError::new(format!("the job file {name} is no TOML: {error}")))?;
        let (tables, top): (Vec<_>, Vec<_>) =
            table.into_iter().partition(|(_, value)| value.is_table());
        for (section, value) in tables {
            let Some(command) = ON_TARGET.iter().copied().find(|c| c.name() == section) else {
                let tables: Vec<_> = ON_TARGET.iter().map(|c| format!("[{}]", c.name())).collect();
                return Err(SpecError::new(format!(
                    "{name}: no table [{section}]; there are {}",
                    tables.join(", ")
                )));
            };
            for (key, value) in value.as_table().expect("partitioned") {
                let value = job_file_value(&name, command, key, value, options)?;
                if command == self.command {
                    self.say(key, value, Source::JobFile(name.clone()));
                }
            }
        }
        for (key, value) in top {
            let somewhere = ON_TARGET
                .iter()
                .copied()
                .find(|command| known(*command, options).any(|known| known == key));
            let value =
                job_file_value(&name, somewhere.unwrap_or(self.command), &key, &value, options)?;
            if known(self.command, options).any(|known| known == key) {
                self.say(&key, value, Source::JobFile(name.clone()));
            }
        }
        Ok(())
    }

    /// The settings of one run of a profile, a search or a comparison: as these, but for what that command decides.
    #[must_use]
    pub fn of_run(&self, decided: &[(String, String)]) -> Self {
        let mut values = self.values.clone();
        for (name, value) in decided {
            values.insert(name.clone(), (value.clone(), Source::Command(self.command)));
        }
        let is_of_run = |setting: &&Setting| {
            let mut known = SETTINGS.iter().filter(|known| known.name == setting.name).peekable();
            known.peek().is_none() || known.any(|known| known.commands.contains(&Run))
        };
        let shown = self.shown.iter().filter(is_of_run).cloned().collect();
        Self { command: Run, values, shown, of_client: self.of_client }
    }

    /// The settings of B where a comparison makes the runs: as these, but on the second target if there
    /// is one.
    #[must_use]
    pub fn of_other(&self) -> Self {
        let mut other = Self { shown: Vec::new(), ..self.clone() };
        if let Some(target) = other.values.remove("other") {
            other.values.insert("target".to_owned(), target);
        }
        other
    }

    /// Shows what a run of this campaign read, too, beside what it read itself.
    pub fn show_run(&mut self, run: &Self) {
        for setting in &run.shown {
            if !self.shown.iter().any(|shown| shown.name == setting.name) {
                self.shown.push(setting.clone());
            }
        }
    }

    /// Everything that was said, by name, with where it was said.
    pub fn all_said(&self) -> impl Iterator<Item = (&str, &str, &Source)> {
        self.values.iter().map(|(name, (value, source))| (name.as_str(), value.as_str(), source))
    }

    /// The text of a value that was said, without reading it as anything.
    #[must_use]
    pub fn said(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(|(value, _)| value.as_str())
    }

    /// Reads a value by `parse`, or takes the default; both appear in [`Settings::shown`].
    ///
    /// # Errors
    /// When `parse` does not understand the value: names the setting and where the value came from.
    pub fn read<T>(
        &mut self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, String>,
        show: impl FnOnce(&T) -> String,
        default: impl FnOnce() -> T,
    ) -> Result<T, SpecError> {
        let (value, source) = match self.values.get(name) {
            None => (default(), Source::Default),
            Some((text, source)) => {
                let value = parse(text).map_err(|problem| {
                    SpecError::new(format!("--{name} from the {source}: {problem}")).about(name)
                })?;
                (value, source.clone())
            }
        };
        let shown = show(&value);
        self.show(name, shown, &source);
        Ok(value)
    }

    /// Records how a setting was resolved.
    pub fn show(&mut self, name: &str, value: String, source: &Source) {
        self.shown.retain(|setting| setting.name != name);
        let source = source.to_string();
        self.shown.push(Setting { name: name.to_owned(), value, source });
    }

    /// Where a value came from.
    #[must_use]
    pub fn source(&self, name: &str) -> Source {
        self.values.get(name).map_or(Source::Default, |(_, source)| source.clone())
    }

    /// Every setting that was read, with its source.
    #[must_use]
    pub fn shown(&self) -> &[Setting] {
        &self.shown
    }

    /// Reads a value of a type that reads and writes itself.
    ///
    /// # Errors
    /// As [`Settings::read`].
    pub fn parse<T: std::str::FromStr + fmt::Display>(
        &mut self,
        name: &str,
        default: impl FnOnce() -> T,
    ) -> Result<T, SpecError>
    where
        T::Err: fmt::Display,
    {
        let parse = |text: &str| {
            text.trim().parse().map_err(|error: T::Err| format!("`{text}` cannot be read: {error}"))
        };
        self.read(name, parse, T::to_string, default)
    }

    /// Reads a number of something of which there can be `most`.
    ///
    /// # Errors
    /// As [`Settings::read`], and when it is more.
    pub fn count<T>(
        &mut self,
        name: &str,
        most: T,
        default: impl FnOnce() -> T,
    ) -> Result<T, SpecError>
    where
        T: Copy + fmt::Display + TryFrom<u128> + Into<u128>,
    {
        let parse = |text: &str| {
            let too_many = || format!("{} is too much: at most {most}", text.trim());
            let number = text.trim().parse::<u128>().map_err(|error| match error.kind() {
                std::num::IntErrorKind::PosOverflow => too_many(),
                _ => format!("`{text}` cannot be read: {error}"),
            })?;
            let fits = T::try_from(number).ok().filter(|_| number <= most.into());
            fits.ok_or_else(too_many)
        };
        self.read(name, parse, T::to_string, default)
    }

    /// Reads a duration.
    ///
    /// # Errors
    /// As [`Settings::read`], and when it is longer than [`DURATION_MAX`].
    pub fn duration(&mut self, name: &str, default: Duration) -> Result<Duration, SpecError> {
        let parse = |text: &str| match parse_duration(text)? {
            long if long > DURATION_MAX => {
                Err(format!("`{text}` is too long: at most {}", format_duration(DURATION_MAX)))
            }
            duration => Ok(duration),
        };
        self.read(name, parse, |d| format_duration(*d), || default)
    }

    /// Reads a switch.
    ///
    /// # Errors
    /// As [`Settings::read`].
    pub fn switch(&mut self, name: &str) -> Result<bool, SpecError> {
        self.read(name, parse_switch, bool::to_string, || false)
    }

    /// Reads a value that may be absent.
    ///
    /// # Errors
    /// As [`Settings::read`].
    pub fn optional<T>(
        &mut self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, String>,
        show: impl FnOnce(&T) -> String,
        absent: &str,
    ) -> Result<Option<T>, SpecError> {
        let show = |value: &Option<T>| value.as_ref().map_or_else(|| absent.to_owned(), show);
        self.read(name, |text| parse(text).map(Some), show, || None)
    }

    /// The options of a workload that belong to `command`, each with its value.
    #[must_use]
    pub fn workload_options(
        &mut self,
        definitions: &[OptionDef],
        command: OptionCommand,
    ) -> BTreeMap<String, String> {
        self.options(definitions.iter().filter(|d| d.command == command))
    }

    /// The options of builds in a dialect, each with its value as the dialect writes it. One that cannot
    /// be stays as it was said, for the SQL book to refuse.
    #[must_use]
    pub fn dialect_options(&mut self, dialect: &str) -> BTreeMap<String, String> {
        let declared = books::options(dialect).unwrap_or_default();
        let all = books::all_options().iter().map(|(_, definition)| definition);
        let mut options =
            self.options(all.filter(|d| declared.iter().any(|option| option.name == d.name)));
        for option in &declared {
            if let Some(value) = options.get_mut(&option.name)
                && let Ok(written) = option.read(value)
            {
                *value = written;
            }
        }
        options
    }

    fn options<'a>(
        &mut self,
        definitions: impl Iterator<Item = &'a OptionDef>,
    ) -> BTreeMap<String, String> {
        let mut options = BTreeMap::new();
        for definition in definitions {
            let said = self.values.get(&*definition.name).cloned();
            let (value, source) = said.unwrap_or((definition.default.to_string(), Source::Default));
            self.show(&definition.name, value.clone(), &source);
            options.insert(definition.name.to_string(), value);
        }
        options
    }
}

fn belongs(definition: &OptionDef, command: Command) -> bool {
    match definition.command {
        OptionCommand::Build => command == Build || DRIVE.contains(&command),
        OptionCommand::Run => DRIVE.contains(&command),
    }
}

/// Names that a command takes.
fn known<'a>(command: Command, options: &'a [&OptionDef]) -> impl Iterator<Item = &'a str> + 'a {
    let own = SETTINGS.iter().filter(move |s| s.commands.contains(&command)).map(|s| s.name);
    own.chain(options.iter().filter(move |o| belongs(o, command)).map(|o| &*o.name))
}

fn parse_switch(text: &str) -> Result<bool, String> {
    match text.trim() {
        "true" | "yes" | "on" | "1" => Ok(true),
        "false" | "no" | "off" | "0" => Ok(false),
        _ => Err(format!("`{text}` is neither true nor false")),
    }
}

/// Checks one key of a job file and gives its value as text.
fn job_file_value(
    file: &str,
    command: Command,
    key: &str,
    value: &toml::Value,
    options: &[&OptionDef],
) -> Result<String, SpecError> {
    let refuse = |message: String| Err(SpecError::new(format!("{file}: {message}")));
    if key == "password" {
        return refuse("a job file holds no password; use `password-file`".into());
    }
    let setting = SETTINGS.iter().find(|s| s.name == key && s.commands.contains(&command));
    let is_option = options.iter().any(|o| o.name == key && belongs(o, command));
    if setting.is_some_and(|s| !s.in_job_file) {
        return refuse(format!("`{key}` is not for job files; give --{key} on the command line"));
    }
    if setting.is_none() && !is_option {
        let hint = suggestion(key, known(command, options));
        return refuse(format!("`{}` takes no `{key}`{hint}", command.name()));
    }
    let text = match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Integer(number) => number.to_string(),
        toml::Value::Float(number) => number.to_string(),
        toml::Value::Boolean(switch) => switch.to_string(),
        toml::Value::Array(items) if items.iter().all(toml::Value::is_integer) => {
            items.iter().map(toml::Value::to_string).collect::<Vec<_>>().join(",")
        }
        toml::Value::Array(items) if setting.is_some_and(|s| s.repeats) => {
            let texts: Vec<_> = items.iter().filter_map(toml::Value::as_str).collect();
            if texts.len() < items.len() {
                return refuse(format!("`{key}` is no list of texts"));
            }
            texts.join(REPEATED)
        }
        _ => return refuse(format!("`{key}` is no text, number or list of integers")),
    };
    if matches!(key, "target" | "other")
        && TargetUrl::parse(&text).is_ok_and(|url| url.has_password())
    {
        return refuse(
            "the target holds a password; job files hold none, use `password-file`".into(),
        );
    }
    Ok(text)
}

/// Reads a mode that the workload has.
fn parse_mode(text: &str, modes: &[Mode]) -> Result<Mode, String> {
    let mode: Mode = text.parse()?;
    if modes.contains(&mode) {
        return Ok(mode);
    }
    let known: Vec<_> = modes.iter().map(|mode| mode.name()).collect();
    Err(format!("this workload has no mode {text}, only {}", known.join(" and ")))
}

/// Reads `1%`, `0.5 %` or `0.01`.
fn parse_share(text: &str) -> Result<f64, String> {
    let wrong = || format!("`{text}` is no share; write 1% or 0.01");
    let share = match text.trim().strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map_err(|_| wrong())? / 100.0,
        None => text.trim().parse::<f64>().map_err(|_| wrong())?,
    };
    if (0.0..=1.0).contains(&share) { Ok(share) } else { Err(wrong()) }
}

/// How close to the first figure its interval must be before the window ends.
///
/// # Errors
/// When the value is no share between 0 and 1.
pub fn until_ci(settings: &mut Settings) -> Result<Option<f64>, SpecError> {
    settings.optional("until-ci", parse_closeness, |share| format!("{}%", share * 100.0), "by time")
}

/// Reads a share that is neither nothing nor all.
pub(crate) fn parse_closeness(text: &str) -> Result<f64, String> {
    match parse_share(text)? {
        share if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err(format!("`{text}` must be more than 0 % and less than 100 %")),
    }
}

/// What the defaults of a run depend on.
#[derive(Clone, Copy, Debug)]
pub struct RunDefaults<'a> {
    /// The database.
    pub capabilities: &'a Capabilities,
    /// The workload's scale as built.
    pub scale: u32,
    /// The workload's modes.
    pub modes: &'a [Mode],
    /// The workload's keying and thinking times.
    pub cycle: Option<&'a Cycle>,
    /// Whether nobody named a target.
    pub embedded: bool,
    /// Logical processors.
    pub cores: u32,
}

/// Resolves the spec of a run.
///
/// # Errors
/// When a value cannot be read or cannot be.
pub fn run_spec(settings: &mut Settings, given: RunDefaults<'_>) -> Result<RunSpec, SpecError> {
    let RunDefaults { capabilities, modes, embedded, cores, cycle, .. } = given;
    if settings.said("duration").is_some() && settings.said("transactions").is_some() {
        return Err(SpecError::new("--duration and --transactions exclude each other; give one"));
    }
    let (load, users, pacing) = crate::pacing::pacing(settings, &given)?;
    let sessions = pacing.sessions.count(users);
    let threads = settings.count("threads", THREADS_MAX, || {
        if capabilities.blocks { sessions } else { cores.min(sessions).max(1) }
    })?;
    if capabilities.blocks && threads != sessions {
        return Err(SpecError::new(
            "calls to this database block their thread, so it needs one thread a session; leave \
             --threads out",
        ));
    }
    let transactions = settings.optional(
        "transactions",
        |t| match t.parse() {
            Ok(count) if count > TRANSACTIONS_MAX => {
                Err(format!("{count} is too much: at most {TRANSACTIONS_MAX}"))
            }
            read => read.map_err(|e| format!("`{t}`: {e}")),
        },
        u64::to_string,
        "by time",
    )?;
    let seconds = |embedded_default, given_default| {
        Duration::from_secs(if embedded { embedded_default } else { given_default })
    };
    let (rampup, length) = match transactions {
        Some(_) if settings.said("until-ci").is_some() => {
            return Err(SpecError::new(
                "--transactions and --until-ci exclude each other; give one",
            ));
        }
        Some(count) => {
            if !settings.duration("rampup", Duration::ZERO)?.is_zero() {
                return Err(SpecError::new("--rampup goes by time; --transactions has none"));
            }
            (Duration::ZERO, Length::Transactions(count))
        }
        None => (
            settings.duration("rampup", seconds(5, 60))?,
            // Half an hour holds six of PostgreSQL's checkpoints: what has not settled by then has
            // no steady state to be measured.
            Length::Time(match until_ci(settings)? {
                Some(_) => settings.duration("duration", seconds(300, 1800))?,
                None => settings.duration("duration", seconds(30, 300))?,
            }),
        ),
    };
    let limits = Limits {
        connect: settings.duration("connect-timeout", Limits::default().connect)?,
        transaction: settings.duration("transaction-timeout", Limits::default().transaction)?,
        drain: settings.duration("drain-timeout", Limits::default().drain)?,
        ..Limits::default()
    };
    let attempts = settings.count("retries", RETRIES_MAX, || RetryPolicy::default().attempts)?;
    let spec = RunSpec {
        users,
        threads,
        rampup,
        length,
        mode: settings.read(
            "mode",
            |text| parse_mode(text, modes),
            |m| m.name().to_owned(),
            || Mode::default_for(modes, capabilities),
        )?,
        protocol: settings.read(
            "protocol",
            str::parse,
            |p: &Protocol| p.name().to_owned(),
            || capabilities.protocols[0],
        )?,
        isolation: settings.optional(
            "isolation",
            str::parse,
            |level: &Isolation| level.name().to_owned(),
            "the database's own",
        )?,
        load,
        pacing,
        seed: settings.parse("seed", || 1)?,
        retry: RetryPolicy { attempts, ..RetryPolicy::default() },
        limits,
        max_failures: settings.read(
            "max-failures",
            parse_share,
            |s| format!("{}%", s * 100.0),
            || 0.01,
        )?,
    };
    spec.validate(capabilities, cycle)?;
    Ok(spec)
}
