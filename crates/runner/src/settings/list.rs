//! The one list of settings, in the order of the reference page. A new setting is one declaration here and
//! the line that reads it.

use super::declaration::Mark::{
    Anew, AnewOrKept, BesideForm, Database, InRequest, Label, NotInJobFile, NotReplayed, OfHost,
    OfLoad, OfStored, Positional, Repeats, Shared, Spent,
};
use super::declaration::{Group, SettingDef, switch, value};
use crate::choices;
use crate::command::{Command, JobKind};

const BUILD: Command = Command::Job(JobKind::Build);
const RUN: Command = Command::Job(JobKind::Run);
const PROFILE: Command = Command::Job(JobKind::Profile);
const CAPACITY: Command = Command::Job(JobKind::Capacity);
const COMPARE: Command = Command::Job(JobKind::Compare);
const CHECK: Command = Command::Job(JobKind::Check);
const DROP: Command = Command::Job(JobKind::Drop);
const DATAGEN: Command = Command::Datagen;
const HISTORY: Command = Command::History;
const JOBS: Command = Command::Jobs;
const REPORT: Command = Command::Report;
const SERVE: Command = Command::Serve;

/// The commands that work on a database; a job file may have a table for each.
pub(super) const ON_TARGET: &[Command] = &[BUILD, RUN, PROFILE, CAPACITY, COMPARE, CHECK, DROP];
/// The commands that drive a workload.
const DRIVE: &[Command] = &[RUN, PROFILE, CAPACITY, COMPARE];
/// Those of them that make several runs.
const SEVERAL: &[Command] = &[PROFILE, CAPACITY, COMPARE];
/// Those that drive it the same way in every run.
const ALIKE: &[Command] = &[RUN, COMPARE];

/// Everything that can be set, beside the options of workloads.
pub const SETTINGS: &[SettingDef] = &[
    value(
        "target",
        "TARGET",
        &[BUILD, RUN, PROFILE, CAPACITY, CHECK, DROP],
        "Database to use, as a URL: postgres://user@host/db, mysql://user@host/db, \
         sqlite:file.db, null:",
    )
    .default("an SQLite file in this folder, named for the workload")
    .marked(&[Positional, Database, OfHost, Anew, NotReplayed, BesideForm]),
    value(
        "target",
        "A",
        &[COMPARE],
        "Number of a job, `last`, or a label, which means all complete runs with it; \
         with --ab a target, as in `run`",
    )
    .marked(&[Positional, Database, OfHost, Anew, Shared, OfStored, BesideForm]),
    value("other", "B", &[COMPARE], "What is judged against A; with --ab a second target")
        .default("with --ab the same target as A")
        .marked(&[Positional, Database, OfHost, Anew, OfStored, BesideForm]),
    value("label", "LABEL", &[HISTORY], "Runs that have this label").default("any").marked(&[
        Positional,
        NotInJobFile,
        Label,
    ]),
    value("workload", "NAME", ON_TARGET, "Workload")
        .titled(Group::Data, "Workload")
        .short('w')
        .default("tproc-c")
        .choices(choices::workloads)
        .marked(&[Shared]),
    value("workload", "NAME", &[DATAGEN], "Workload whose data is written")
        .short('w')
        .default("tproc-c")
        .choices(choices::workloads)
        .marked(&[NotInJobFile]),
    value("workload", "NAME", &[HISTORY], "Runs of this workload")
        .short('w')
        .default("that of the newest run")
        .choices(choices::workloads)
        .marked(&[NotInJobFile]),
    value("on", "TEXT", &[HISTORY], "Runs whose target, as `jobs` lists it, has this text in it")
        .default("any")
        .marked(&[NotInJobFile]),
    value("schema", "NAME", ON_TARGET, "Schema in the database to work in")
        .default("the user's own")
        .marked(&[BesideForm]),
    value("password-file", "FILE", ON_TARGET, "File that holds the password on its first line")
        .marked(&[OfHost, Anew, NotReplayed, BesideForm]),
    switch("ask-password", ON_TARGET, "Ask for the password at the terminal").short('W').marked(&[
        NotInJobFile,
        Anew,
        NotReplayed,
    ]),
    value("connect-timeout", "TIME", ON_TARGET, "Longest wait for a session")
        .titled(Group::Connection, "Longest wait for a session")
        .default("10s")
        .marked(&[AnewOrKept]),
    value(
        "query-timeout",
        "TIME",
        ON_TARGET,
        "Longest wait for an answer to what is no user's transaction: locks, settings, \
         counters, records. While a load, an index or a check takes longer, the server must \
         still be at it",
    )
    .titled(Group::Connection, "Longest wait for an answer")
    .default("30s"),
    value(
        "work-timeout",
        "TIME",
        ON_TARGET,
        "Longest statement of a build, check or drop, however long the server is at it",
    )
    .titled(Group::Connection, "Longest statement of the work")
    .default("24h"),
    value("job-file", "FILE", ON_TARGET, "TOML file with settings").short('f').marked(&[
        NotInJobFile,
        Spent,
        NotReplayed,
    ]),
    value(
        "scale",
        "N",
        &[BUILD, RUN, PROFILE, CAPACITY, COMPARE, DATAGEN],
        "Size of the data: warehouses for TPROC-C, branches for TPC-B-like, scale factor (SF), \
         such as 0.01, for TPROC-H. `run` takes it only where nothing is stored (null:) or \
         built (the embedded default)",
    )
    .titled(Group::Data, "Size of the data")
    .default("1; 10 on null:"),
    value("jobs", "N", &[DATAGEN], "Threads that write side by side")
        .default("min(cores, parts)")
        .marked(&[NotInJobFile]),
    value("jobs", "N", &[BUILD, CHECK], "Sessions that work side by side")
        .titled(Group::Data, "Loaders side by side")
        .default("min(2 x cores, scale); 1 to build where the database has one writer"),
    value(
        "seed",
        "N",
        &[BUILD, RUN, PROFILE, CAPACITY, COMPARE, DATAGEN],
        "Seed: of the data in `build` and `datagen`, of the inputs in `run`, of the order of runs too in \
         `profile`. The same seed gives the same rows and the same work",
    )
    .titled(Group::Data, "Seed")
    .default("1"),
    switch("create-database", &[BUILD], "Make the database first when it is not there")
        .titled(Group::Data, "Create the database first")
        .marked(&[NotInJobFile, InRequest]),
    switch("replace", &[BUILD], "Remove what an earlier build made, then build")
        .titled(Group::Data, "Replace an earlier build")
        .marked(&[NotInJobFile, InRequest]),
    value("vus", "N", ALIKE, "Virtual users; sessions where the load is by rate, ramp or steps")
        .titled(Group::Load, "Virtual users")
        .default("1 on SQLite, else min(10, scale)")
        .marked(&[OfLoad]),
    value(
        "vus",
        "LEVELS",
        &[PROFILE],
        "Virtual users of each level: 1,2,4,8 or 1..64 (doubling) or auto (until the knee \
         and the decline are found)",
    )
    .titled(Group::Load, "Virtual users")
    .default("auto")
    .marked(&[OfLoad]),
    value(
        "vus",
        "N",
        &[CAPACITY],
        "Virtual users that share the arrivals: more than are ever busy at once",
    )
    .titled(Group::Load, "Virtual users")
    .default("1 on SQLite, else 64")
    .marked(&[OfLoad]),
    value("max-vus", "N", &[PROFILE], "Highest level that `--vus auto` tries")
        .titled(Group::Load, "Most virtual users")
        .default("64 on SQLite, else 512"),
    value(
        "repeats",
        "N",
        &[PROFILE],
        "Runs of each level: 2 or more show how far runs differ by themselves",
    )
    .titled(Group::Question, "Runs of each level")
    .default("3"),
    value("threads", "N", DRIVE, "Worker threads")
        .titled(Group::Statements, "Worker threads")
        .default("min(cores, sessions)"),
    value("rampup", "TIME", DRIVE, "Load before the timed window")
        .titled(Group::Length, "Ramp-up")
        .default("1m; 5s on the embedded default; 10s and 5s in `capacity`"),
    value("duration", "TIME", DRIVE, "Timed window, the longest with --until-ci")
        .titled(Group::Length, "Timed window")
        .default(
            "5m, 30m with --until-ci; 30s and 5m on the embedded default; 1m and 10s in \
         `capacity`",
        ),
    value(
        "until-ci",
        "SHARE",
        &[RUN, PROFILE, COMPARE],
        "End the window as soon as the 95 % interval of the first figure is within this \
         share of it: 1%",
    )
    .titled(Group::Length, "End when this precise")
    .default("by time"),
    value(
        "cool-down",
        "TIME",
        SEVERAL,
        "Rest between two runs, for what the database does behind them",
    )
    .titled(Group::Length, "Rest between runs")
    .default("10s; 1s on the embedded default"),
    value(
        "limit",
        "LIMIT",
        &[CAPACITY],
        "What must hold: a percentile of a transaction's response time, as in \
         'new_order.p95 < 50ms'; `all` for all types together",
    )
    .titled(Group::Question, "Limit to keep"),
    value(
        "max-rate",
        "RATE",
        &[CAPACITY],
        "Highest rate that is tried, in transactions per second",
    )
    .titled(Group::Question, "Highest rate")
    .default("until the limit is broken"),
    value("precision", "SHARE", &[CAPACITY], "Search until the capacity is known this closely")
        .titled(Group::Question, "Precision")
        .default("5%"),
    switch(
        "ab",
        &[COMPARE],
        "Make the runs: pairs of A and B in turn, A B B A; A and B are targets",
    )
    .marked(&[NotInJobFile, BesideForm]),
    value(
        "a",
        "NAME=VALUE",
        &[COMPARE],
        "With --ab, settings of A's runs alone, such as vus=8, mode=statements; also by the \
         flag again",
    )
    .titled(Group::Question, "Settings of A only")
    .marked(&[Repeats]),
    value("b", "NAME=VALUE", &[COMPARE], "The same for B's runs")
        .titled(Group::Question, "Settings of B only")
        .marked(&[Repeats]),
    value("pairs", "N", &[COMPARE], "With --ab, how many pairs of runs to make")
        .titled(Group::Question, "Pairs of runs")
        .default("7"),
    value("margin", "SHARE", &[COMPARE], "Difference that does not matter")
        .titled(Group::Question, "Difference that does not matter")
        .default("2%")
        .marked(&[OfStored]),
    switch(
        "fail-if-slower",
        &[COMPARE, HISTORY],
        "Exit code 1 when B is slower, or when the last change of a history is a slowdown",
    )
    .marked(&[NotInJobFile, AnewOrKept, OfStored]),
    switch("fail-if-inconclusive", &[COMPARE], "Exit code 1 when it is not known how B compares")
        .marked(&[NotInJobFile, AnewOrKept, OfStored]),
    value(
        "resume",
        "JOB",
        SEVERAL,
        "Go on with this interrupted job, or `last`; its settings are as they were",
    )
    .marked(&[NotInJobFile, Anew]),
    value(
        "transactions",
        "N",
        ALIKE,
        "Run this many transactions of each virtual user instead of a time",
    )
    .titled(Group::Length, "Transactions per user"),
    value("mode", "MODE", DRIVE, "Where the logic runs: procedures or statements")
        .titled(Group::Statements, "Where the logic runs")
        .default("procedures where workload and database have them")
        .choices(choices::modes),
    value("protocol", "PROTOCOL", DRIVE, "How statements travel: prepared, extended or simple")
        .titled(Group::Statements, "Protocol")
        .default("prepared, where the database has it")
        .choices(choices::protocols),
    value("isolation", "LEVEL", DRIVE, "Isolation level")
        .titled(Group::Statements, "Isolation level")
        .default("the database's own")
        .choices(choices::isolations),
    value(
        "load",
        "MODEL",
        ALIKE,
        "Load model: closed; rate:500/s, or rate:500/s,constant; ramp:100..2000/10m; \
         steps:FILE (CSV: rate,duration); keyed (the workload's keying and thinking times)",
    )
    .titled(Group::Load, "Load model")
    .default("closed")
    .marked(&[OfLoad]),
    value(
        "late",
        "POLICY",
        ALIKE,
        "What becomes of arrivals that no session was free for: issue, or skip:100ms when \
         later than that",
    )
    .titled(Group::Load, "Late arrivals")
    .default("issue")
    .marked(&[OfLoad]),
    value(
        "backlog",
        "N",
        ALIKE,
        "Arrivals that may wait for a session; when more are due, those that waited longest \
         are given up",
    )
    .titled(Group::Load, "Longest backlog")
    .default("60 s of the highest rate")
    .marked(&[OfLoad]),
    value("terminals", "N", ALIKE, "Terminals of a keyed load")
        .titled(Group::Load, "Terminals")
        .default("as many as the workload has, 10 per warehouse"),
    value(
        "sessions",
        "N",
        ALIKE,
        "Sessions that the terminals of a keyed load share, or `own` for one each",
    )
    .titled(Group::Load, "Sessions")
    .default("min(64, terminals); 1 on SQLite"),
    value(
        "login-delay",
        "TIME",
        ALIKE,
        "From one terminal's log-in to the next one's; keyed loads only",
    )
    .titled(Group::Load, "Delay between log-ins")
    .default("0s"),
    value(
        "retries",
        "N",
        DRIVE,
        "Attempts in all at a transaction that meets a deadlock or a serialization failure",
    )
    .titled(Group::Failures, "Attempts per transaction")
    .default("3"),
    value(
        "transaction-timeout",
        "TIME",
        DRIVE,
        "Cancel an attempt that takes longer; 0s for never",
    )
    .titled(Group::Failures, "Longest attempt")
    .default("0s"),
    value("drain-timeout", "TIME", DRIVE, "Longest wait for transactions in flight at the end")
        .titled(Group::Length, "Longest drain")
        .default("30s"),
    value(
        "max-failures",
        "SHARE",
        DRIVE,
        "Share of transactions that may fail; above it the exit code is 1",
    )
    .titled(Group::Failures, "Failures allowed")
    .default("1%"),
    value(
        "abort-on-failures",
        "SHARE/TIME",
        &[RUN],
        "End the run early when this share of transactions failed in any such time: 50%/10s. The \
         run is stored, and the exit code is 1",
    )
    .titled(Group::Failures, "End early above")
    .default("never"),
    value(
        "replay-exemplar",
        "JOB:N",
        &[RUN],
        "Run one of the slowest transactions of a stored run again, with the same input; it \
         commits",
    )
    .marked(&[NotInJobFile]),
    value(
        "require",
        "REQUIREMENT",
        &[RUN, REPORT],
        "Figure that the run must reach, such as `nopm >= 50000`, `new_order.p95 < 10ms` or \
         `failures < 0.1%`; several with commas, or the flag again. When one fails the exit \
         code is 1",
    )
    .titled(Group::Failures, "Requirements")
    .marked(&[Repeats]),
    value(
        "label",
        "TEXT",
        &[RUN, PROFILE, CAPACITY, COMPARE, JOBS],
        "Name for the job, to find it again",
    )
    .titled(Group::Question, "Label")
    .marked(&[NotReplayed, Shared, Label]),
    value("series", "FILE", &[RUN], "Write every second to this file as it passes: .csv or .jsonl")
        .marked(&[OfHost]),
    value("junit", "FILE", &[RUN, CHECK], "Write what passed and failed as JUnit XML")
        .marked(&[OfHost]),
    value(
        "metrics-listen",
        "ADDRESS",
        &[RUN],
        "Offer the run's figures to Prometheus at this address, as 127.0.0.1:9187; a port \
         alone is on 127.0.0.1",
    )
    .marked(&[OfHost]),
    value(
        "otlp",
        "URL",
        &[RUN],
        "Send the run's figures to this OpenTelemetry collector every 10 s, by OTLP over \
         HTTP with JSON: http://localhost:4318, or https:// for TLS",
    )
    .marked(&[OfHost]),
    value(
        "otlp-ca",
        "FILE",
        &[RUN],
        "PEM file of the authorities that an https:// collector's certificate is held against",
    )
    .default("those of the system")
    .marked(&[OfHost]),
    value("warehouses", "A-B", &[CHECK], "Check only these")
        .titled(Group::Data, "Only these warehouses")
        .default("all"),
    switch("yes", &[DROP], "Do it without asking").marked(&[NotInJobFile]),
    switch("force", &[BUILD, DROP], "Also touch tables that the build's record does not vouch for")
        .titled(Group::Data, "Touch unknown tables too")
        .marked(&[NotInJobFile, InRequest]),
    switch(
        "json",
        &[BUILD, RUN, PROFILE, CAPACITY, COMPARE, HISTORY, CHECK, DATAGEN, JOBS],
        "Print one JSON document instead of text",
    )
    .marked(&[NotInJobFile, Anew, NotReplayed, OfStored]),
    switch(
        "tui",
        &[RUN, PROFILE, CAPACITY],
        "Show the job on the whole terminal: figures, charts and a table, live; press ? there \
         for the keys",
    )
    .marked(&[NotInJobFile]),
    value(
        "progress",
        "TIME",
        &[RUN],
        "Write a line about each such time to stderr, as pgbench -P does: 10s",
    )
    .default("30s where stderr is no terminal")
    .marked(&[NotInJobFile]),
    switch(
        "show-spec",
        &[BUILD, RUN, PROFILE, CAPACITY, COMPARE],
        "Print every setting with its source, and do nothing",
    )
    .marked(&[NotInJobFile, Anew, NotReplayed]),
    value(
        "store",
        "FILE",
        &[BUILD, RUN, PROFILE, CAPACITY, COMPARE, HISTORY, CHECK, JOBS, REPORT, SERVE],
        "Job store",
    )
    .default("the user's data folder")
    .marked(&[OfHost, Anew, NotReplayed, Shared, OfStored]),
    value("limit", "N", &[JOBS], "How many jobs to list").default("20").marked(&[NotInJobFile]),
    value("parent", "JOB", &[JOBS], "List the runs of this profile, capacity or compare job")
        .default("jobs that belong to no other")
        .marked(&[NotInJobFile]),
    value("format", "FORMAT", &[DATAGEN], "Form of the files: {words}")
        .default("tbl")
        .choices(choices::file_formats)
        .marked(&[NotInJobFile]),
    value("parts", "N", &[DATAGEN], "Files of each table, made side by side")
        .default("1")
        .marked(&[NotInJobFile]),
    value("output", "DIR", &[DATAGEN], "Folder of the files, made where there is none")
        .short('o')
        .default("this folder")
        .marked(&[NotInJobFile]),
    value("format", "FORMAT", &[REPORT], "Form of the report: {words}")
        .default("by the ending of --output, else text")
        .choices(choices::formats)
        .marked(&[NotInJobFile]),
    value("format", "FORMAT", &[COMPARE], "Form of what is printed: {words}")
        .default("text")
        .choices(choices::printed_formats)
        .marked(&[NotInJobFile, AnewOrKept, OfStored]),
    value("output", "FILE", &[REPORT], "Write to this file instead of the terminal")
        .short('o')
        .marked(&[NotInJobFile]),
    value("listen", "HOST:PORT", &[SERVE], "Address and port to listen on")
        .default("127.0.0.1:7400")
        .marked(&[NotInJobFile]),
    value(
        "token-file",
        "FILE",
        &[SERVE],
        "File that holds the token on its first line, which clients must show",
    )
    .default("TRIPHAMMER_TOKEN, else one that is made and printed once")
    .marked(&[NotInJobFile]),
    value(
        "targets",
        "FILE",
        &[SERVE],
        "TOML file of targets with their passwords, as docs/serve.md has it; only these use \
         files, sockets and passwords of this host",
    )
    .marked(&[NotInJobFile]),
    value("data", "FOLDER", &[SERVE], "Folder of the SQLite files that clients may use")
        .default("this folder")
        .marked(&[NotInJobFile]),
    value("tls-cert", "FILE", &[SERVE], "Certificate chain to serve by HTTPS with, PEM")
        .marked(&[NotInJobFile]),
    value("tls-key", "FILE", &[SERVE], "Key of the certificate, PEM").marked(&[NotInJobFile]),
    value(
        "host",
        "NAMES",
        &[SERVE],
        "Names by which browsers may call the server, with commas between, beside addresses \
         and localhost",
    )
    .marked(&[NotInJobFile]),
    switch("open", &[SERVE], "Open the interface in a browser").marked(&[NotInJobFile]),
];
