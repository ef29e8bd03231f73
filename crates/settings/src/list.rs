//! The only list of settings, in the order of the reference page. A new setting is one declaration
//! here and the line that reads it.

use triphammer_workloads::isolation;

use super::declaration::Mark::{
    BesideForm, Database, InRequest, Label, NotInJobFile, NotReplayed, OfHost, OfLoad, OfOutput,
    OfStored, OfTransactions, OnResume, OnResumeOrStored, OnlyAtStart, Positional, Repeats, Shared,
};
use super::declaration::{Group, Mark, SettingDef, switch, value};
use crate::choices;
use crate::command::{Command, Commands, JobKind};
use crate::setting::{DATABASE_DEFAULT, LISTEN_DEFAULT, PROTOCOL_DEFAULT};

const BUILD: Command = Command::Job(JobKind::Build);
const RUN: Command = Command::Job(JobKind::Run);
const PROFILE: Command = Command::Job(JobKind::Profile);
const CAPACITY: Command = Command::Job(JobKind::Capacity);
const COMPARE: Command = Command::Job(JobKind::Compare);
const MATRIX: Command = Command::Job(JobKind::Matrix);
const DRILL: Command = Command::Job(JobKind::Drill);
const ISOLATION: Command = Command::Job(JobKind::Isolation);
const CHECK: Command = Command::Job(JobKind::Check);
const DROP: Command = Command::Job(JobKind::Drop);
const CAPTURE: Command = Command::Capture;
const DATAGEN: Command = Command::Datagen;
const DOCTOR: Command = Command::Doctor;
const HISTORY: Command = Command::History;
const JOBS: Command = Command::Jobs;
const BOARD: Command = Command::Board;
const BUNDLE: Command = Command::Bundle;
const REPEAT: Command = Command::Repeat;
const REPORT: Command = Command::Report;
const MCP: Command = Command::Mcp;
const SERVE: Command = Command::Serve;
const SNAPSHOT: Command = Command::Snapshot;
const TRY: Command = Command::Try;
const VERIFY: Command = Command::Verify;
const WHY: Command = Command::Why;

const fn of(commands: &[Command]) -> Commands {
    Commands::of(commands)
}

/// Commands that work on a database; a job file may have a table for each.
pub(super) const ON_TARGET: Commands = Commands::jobs();
/// Commands that connect to a database.
const CONNECT: Commands = ON_TARGET.and(&[DOCTOR, CAPTURE, REPEAT, SNAPSHOT, TRY]);
/// Commands that drive a workload.
const DRIVE: Commands = Commands::drive();
/// Commands whose runs can be routed to several nodes.
const ROUTED: Commands = of(&[RUN, PROFILE, CAPACITY, MATRIX, DRILL, ISOLATION]);
/// Commands that make several runs.
const SEVERAL: Commands = Commands::campaigns();
/// Commands whose runs all have the same load.
const ALIKE: Commands = of(&[RUN, COMPARE, MATRIX]);

/// All settings, except the options of workloads.
pub const SETTINGS: &[SettingDef] = &[
    switch(
        "host-test",
        of(&[DOCTOR]),
        "Also measure the host itself, for at most 30 seconds: processors, memory, and the disk of the \
         data, with a file of 256 MiB that goes at once; keeps the figures in the job store",
    )
    .marked(&[NotInJobFile]),
    value(
        "test-dir",
        "DIR",
        of(&[DOCTOR]),
        "With --host-test: directory of its file, on the disk that is to be measured",
    )
    .default_words("one on the file system of the database's data, or the current one")
    .marked(&[NotInJobFile]),
    value(
        "target",
        "TARGET",
        ON_TARGET.but(&[COMPARE]),
        "URL of the database: postgres://user@host/db, mysql://user@host/db, sqlite:file.db, \
         duckdb:file.duckdb, trino://user@host/catalog/schema, sqlserver://user@host/db (tested with \
         Babelfish only, never with SQL Server itself: please report, see docs/sql-server.md), \
         odbc:DSN=name or null:",
    )
    .default_words(
        "an SQLite file in the current directory, named after the workload; for TPROC-H a DuckDB \
         file if DuckDB's library is installed and there is no such SQLite file",
    )
    .marked(&[Positional, Database, OfHost, OnResume, NotReplayed, BesideForm]),
    value("target", "TARGET", of(&[TRY]), "URL of the database to try, as in `run`")
        .default_words("an SQLite file in the folder for temporary files")
        .marked(&[Positional, Database, OfHost]),
    value("target", "TARGET", of(&[REPEAT]), "URL of the database on which to repeat, as in `run`")
        .default_words("an SQLite file in the current directory, named after the workload")
        .marked(&[Positional, Database, OfHost]),
    value("target", "TARGET", of(&[SNAPSHOT]), "URL of the database, as in `run`")
        .default_words("an SQLite file in the current directory, named after the workload")
        .marked(&[Positional, Database, OfHost]),
    value("target", "TARGET", of(&[DOCTOR]), "URL of the database to examine, as in `run`")
        .default_words("none: only the host is examined")
        .marked(&[Positional, Database, OfHost]),
    value(
        "target",
        "SOURCE",
        of(&[CAPTURE]),
        "Server log that contains every statement: PostgreSQL's csvlog or jsonlog, the general or \
         slow log of MySQL or MariaDB, or an extended SQL trace of Oracle. Or the URL of a database \
         with statistics of its statements: pg_stat_statements of PostgreSQL, performance_schema of \
         MySQL and MariaDB; with --listen, any server of PostgreSQL, MySQL or MariaDB",
    )
    .marked(&[Positional, Database, OfHost, NotInJobFile]),
    value(
        "listen",
        "HOST:PORT",
        of(&[CAPTURE]),
        "Listen here for clients of the database at TARGET, forward them to it, and record what passes",
    )
    .marked(&[NotInJobFile]),
    value("for", "TIME", of(&[CAPTURE]), "With --listen: end the recording after this time")
        .default_words("at Ctrl-C")
        .marked(&[NotInJobFile]),
    value(
        "drain",
        "TIME",
        of(&[CAPTURE]),
        "With --listen: time after the recording in which open connections are still forwarded; Ctrl-C \
         ends it",
    )
    .default("1m")
    .marked(&[NotInJobFile]),
    value(
        "max-memory",
        "SIZE",
        of(&[CAPTURE]),
        "With --listen: memory for what is not recorded yet; if it is not enough, the recording ends, \
         and forwarding continues",
    )
    .default("256MiB")
    .marked(&[NotInJobFile]),
    value(
        "max-file",
        "SIZE",
        of(&[CAPTURE]),
        "With --listen: longest recording; when it is reached, the recording ends, and forwarding goes \
         on",
    )
    .default("1GiB")
    .marked(&[NotInJobFile]),
    value("from", "FORMAT", of(&[CAPTURE]), "Format of the log: {words}")
        .default_words("detected")
        .choices(choices::log_formats)
        .marked(&[NotInJobFile]),
    value(
        "database",
        "NAME",
        of(&[CAPTURE]),
        "Database whose statements are captured, if the log has those of several",
    )
    .default_words("the only one in the log; with --listen, that of TARGET")
    .marked(&[NotInJobFile]),
    value(
        "mask",
        "COLUMNS",
        of(&[CAPTURE]),
        "Replace the values of these columns, such as users.email,orders.note, or `all`, by others of the \
         same form; the same value becomes the same one",
    )
    .default_words("values are captured as they are")
    .marked(&[NotInJobFile]),
    value(
        "goal",
        "GOAL",
        of(&[DOCTOR]),
        "Judge this host by one goal only; what serves the other one is fine: {words}",
    )
    .default_words("both")
    .choices(choices::setup_goals)
    .marked(&[NotInJobFile]),
    value(
        "prove",
        "CHECK",
        of(&[DOCTOR]),
        "Change the setting of this check on this host between pairs of short runs, and say what it is worth \
         here: CHECK, or CHECK=A,B with the values of both sides; asks first, and restores the setting",
    )
    .marked(&[NotInJobFile]),
    value(
        "prove",
        "CHECK=A,B",
        of(&[COMPARE]),
        "With --ab, give a setting of this host the value A in the runs of A, and B in those of B; \
         `doctor --prove` finds the values",
    )
    .marked(&[NotInJobFile, OfHost]),
    switch(
        "restore-host",
        of(&[DOCTOR]),
        "Only restore what a killed `doctor --prove` left changed on this host",
    )
    .marked(&[NotInJobFile]),
    switch(
        "cpu-test",
        of(&[DOCTOR]),
        "Also measure the speed of one thread of the database, for at most five minutes: creates \
         and drops a routine, and keeps the time in the job store",
    )
    .marked(&[NotInJobFile]),
    switch(
        "write-test",
        of(&[DOCTOR]),
        "Also measure the latency of commits, for about three seconds: creates and drops a table",
    )
    .marked(&[NotInJobFile]),
    value(
        "target",
        "A",
        of(&[COMPARE]),
        "Baseline: a job number, `last`, or a label (all complete runs with that label); or a target \
         as in `run`, on which runs are made",
    )
    .marked(&[Positional, Database, OfHost, OnResume, Shared, OfStored, BesideForm]),
    value("other", "B", of(&[COMPARE]), "What to compare with A: a job number, `last` or a label; or a \
                                     second target")
        .default_words("with --ab, the target of A")
        .marked(&[Positional, Database, OfHost, OnResume, OfStored, BesideForm]),
    value("label", "LABEL", of(&[HISTORY]), "Only runs with this label").default_words("any").marked(&[
        Positional,
        NotInJobFile,
        Label,
    ]),
    value("workload", "NAME", ON_TARGET.but(&[DRILL, ISOLATION]), "Workload: {words}")
        .titled(Group::Data, "Workload")
        .short('w')
        .default(triphammer_workloads::DEFAULT)
        .choices(choices::workloads)
        .marked(&[Shared]),
    value("workload", "NAME", of(&[DOCTOR]), "With --prove: workload of the runs: {words}")
        .short('w')
        .default_words("the one that is built there")
        .choices(choices::workloads)
        .marked(&[NotInJobFile]),
    value("workload", "NAME", of(&[SNAPSHOT]), "Workload whose runs must not take place meanwhile: {words}")
        .short('w')
        .default(triphammer_workloads::DEFAULT)
        .choices(choices::workloads)
        .marked(&[NotInJobFile]),
    value("workload", "NAME", of(&[DATAGEN]), "Workload whose data to write: {words}")
        .short('w')
        .default(triphammer_workloads::DEFAULT)
        .choices(choices::workloads)
        .marked(&[NotInJobFile]),
    value("workload", "NAME", of(&[HISTORY]), "Only runs of this workload: {words}")
        .short('w')
        .default_words("the workload of the newest run")
        .choices(choices::workloads)
        .marked(&[NotInJobFile]),
    value("on", "TEXT", of(&[HISTORY]), "Only runs whose target, as listed by `jobs`, contains this \
                                     text")
        .default_words("any")
        .marked(&[NotInJobFile]),
    value(
        "control",
        "LABEL",
        of(&[HISTORY]),
        "Label of the runs of a fixed build, one beside each run: follow the ratios to them, which \
         do not depend on the host",
    )
    .default_words("none")
    .marked(&[NotInJobFile]),
    value("schema", "NAME", CONNECT, "Database schema to use")
        .default_words("the user's default schema")
        .marked(&[BesideForm]),
    value(
        "dialect",
        "NAME",
        CONNECT,
        "Dialect of SQL for an odbc target (oracle and db2 were not run against Oracle and Db2: please \
         report, see docs/coverage.md)",
    )
    .default_words("that of the product that the driver reports")
    .marked(&[OfHost, OnResumeOrStored]),
    value(
        "dialect-dir",
        "DIR",
        CONNECT,
        "Folder of a dialect of your own for an odbc target, such as docs/examples/sqlite-odbc",
    )
    .marked(&[OfHost, OnResumeOrStored]),
    value(
        "nodes",
        "FILE",
        ROUTED,
        "File that declares the nodes of a cluster, and rules that route transactions to them: TOML, \
         or a connect pool of HammerDB in XML",
    )
    .default_words("the hosts of the target, if --route is given")
    .marked(&[OfHost, OnResumeOrStored, NotReplayed, OfTransactions]),
    value(
        "route",
        "RULES",
        ROUTED,
        "Which node a transaction goes to, by its type: reads=round-robin:replicas,writes=first:primaries. \
         The types are all, reads, writes, or a transaction's name; the policies are first, last, random, \
         round-robin, weighted, least-outstanding, partition and user (a fixed node per user); the nodes are \
         all, primaries, replicas, or names with + between them",
    )
    .titled(Group::Connection, "Rules that route transactions to the hosts of the target")
    .default_words("with --nodes, writes=user:primaries,reads=user:replicas; otherwise one host is used")
    .marked(&[Repeats, OnResumeOrStored, NotReplayed, OfTransactions]),
    value("password-file", "FILE", CONNECT, "File with the password on its first line")
        .marked(&[OfHost, OnResume, NotReplayed, BesideForm]),
    switch("ask-password", CONNECT, "Prompt for the password").short('W').marked(&[
        NotInJobFile,
        OnResume,
        NotReplayed,
    ]),
    value("connect-timeout", "TIME", CONNECT, "Maximum time to open a connection")
        .titled(Group::Connection, "Maximum time to open a connection")
        .default("10s")
        .marked(&[OnResumeOrStored]),
    value(
        "query-timeout",
        "TIME",
        ON_TARGET.and(&[CAPTURE]),
        "Maximum time for statements that are not part of a transaction under test (locks, \
         settings, counters, the build record). A load, an index or a check may take longer as \
         long as the server is still working on it. In a run of TPROC-H or CH-benCHmark, the maximum \
         time of a query, which is then cancelled and counts as not answered; there is none unless \
         it is set",
    )
    .titled(Group::Connection, "Maximum time per query")
    .default("30s"),
    value(
        "work-timeout",
        "TIME",
        ON_TARGET,
        "Maximum time for one statement of a build, check or drop, even if the server is still \
         working on it",
    )
    .titled(Group::Connection, "Maximum time per build statement")
    .default("24h"),
    value("job-file", "FILE", CONNECT, "TOML file with settings").short('f').marked(&[
        NotInJobFile,
        OnlyAtStart,
        NotReplayed,
    ]),
    value("scale", "N", of(&[TRY]), "Warehouses of TPROC-C, if it builds them")
        .titled(Group::Data, "Scale")
        .default("4"),
    value(
        "scale",
        "N",
        DRIVE.and(&[BUILD, DATAGEN]),
        "Scale of the data: warehouses for tproc-c and ch, branches for tpc-b, million rows for kv, \
         scale factor (such as 0.01) for tproc-h. `run` accepts it only for null: (which stores \
         nothing) and for the default SQLite file (which it builds)",
    )
    .titled(Group::Data, "Scale")
    .default_words("1; 10 for a build of kv, and for null: except with your own SQL"),
    value("jobs", "N", of(&[DATAGEN]), "Number of threads that write files in parallel")
        .default_words("min(cores, parts)")
        .marked(&[NotInJobFile]),
    value("jobs", "N", of(&[BUILD, CHECK]), "Number of parallel sessions")
        .titled(Group::Data, "Parallel loaders")
        .default_words(
            "min(2 x cores, chunks of the data), with --cluster on each host; 1 to build a database that \
             allows only one writer",
        ),
    value(
        "seed",
        "N",
        DRIVE.and(&[BUILD, DATAGEN]),
        "Random seed for the data (`build`, `datagen`), the transaction inputs (`run`) and the order of runs \
         (`profile`, `compare`, `matrix`). The same seed produces the same rows and the same inputs",
    )
    .titled(Group::Data, "Random seed")
    .default("1"),
    value("seed", "N", of(&[DRILL]), "Random seed of the rows and of their hashes")
        .titled(Group::Data, "Random seed")
        .default_words("random, so that rows of an earlier drill are recognised"),
    value("seed", "N", of(&[ISOLATION]), "Random seed of the users' choices, and of the order of levels")
        .titled(Group::Data, "Random seed")
        .default_words("random"),
    switch("create-database", of(&[BUILD, REPEAT]), "Create the database first if it does not exist")
        .titled(Group::Data, "Create the database if missing")
        .marked(&[NotInJobFile, InRequest]),
    switch(
        "add",
        of(&[BUILD]),
        "Add the tables of a workload to a build of the one that it extends, as -w ch does with \
         TPROC-C; scale, seed and options are those of that build",
    )
    .titled(Group::Data, "Add to an existing build")
    .marked(&[NotInJobFile, InRequest]),
    switch("replace", of(&[BUILD, REPEAT]), "Drop what an earlier build created, then build")
        .titled(Group::Data, "Replace an earlier build")
        .marked(&[NotInJobFile, InRequest]),
    value("vus", "N", of(&[RUN, MATRIX]), "Number of virtual users, or of sessions for a rate, ramp or \
                                   steps load")
        .titled(Group::Load, "Virtual users")
        .default_words("1 for SQLite, else min(10, scale)")
        .marked(&[OfTransactions, OfLoad]),
    value(
        "vus",
        "N|LEVELS",
        of(&[COMPARE]),
        "Number of virtual users, or of sessions for a rate, ramp or steps load. With --ab, also \
         levels, as in `profile`: a list (1,2,4,8) or a range that doubles (1..64), of each of \
         which pairs are made",
    )
    .titled(Group::Load, "Virtual users")
    .default_words("1 for SQLite, else min(10, scale)")
    .marked(&[OfTransactions, OfLoad]),
    value(
        "vus",
        "LEVELS",
        of(&[PROFILE]),
        "Virtual users at each level: a list (1,2,4,8), a range that doubles (1..64), or auto \
         (increases until the throughput peaks and declines)",
    )
    .titled(Group::Load, "Virtual users")
    .default("auto")
    .marked(&[OfTransactions, OfLoad]),
    value(
        "vus",
        "N",
        of(&[CAPACITY]),
        "Number of virtual users that serve the arrivals; choose more than are ever busy at once",
    )
    .titled(Group::Load, "Virtual users")
    .default_words("1 for SQLite, else 64")
    .marked(&[OfLoad]),
    value("vus", "N", of(&[TRY]), "Number of virtual users")
        .titled(Group::Load, "Virtual users")
        .default_words("1 for SQLite, else min(10, scale)"),
    value("vus", "N", of(&[DRILL]), "Number of virtual users, each with a session and a chain of rows")
        .titled(Group::Load, "Virtual users")
        .default_words("8; 1 for SQLite"),
    value("vus", "N", of(&[ISOLATION]), "Number of virtual users, each with a session")
        .titled(Group::Load, "Virtual users")
        .default_words("16; 4 for SQLite"),
    value("max-vus", "N", of(&[PROFILE]), "Highest number of virtual users, or of streams for TPROC-H, that `auto` tries")
        .titled(Group::Load, "Maximum virtual users")
        .default_words("64 for SQLite, else 512"),
    value(
        "repeats",
        "N",
        of(&[PROFILE]),
        "Number of runs per level; 2 or more show how much repeated runs vary",
    )
    .titled(Group::Question, "Runs per level")
    .default("3"),
    value(
        "over",
        "NAME=VALUES",
        of(&[MATRIX]),
        "A setting of a run and its values, such as vus=1,8,32 or isolation=read-committed,serializable; \
         vus=1..64 doubles; between values that contain commas, write |. Can be repeated: the runs cover all \
         combinations. The target may contain {NAME} for the value of such a setting, as in \
         postgres://db1/tpcc{scale} with --over scale=10,100",
    )
    .titled(Group::Question, "Settings and their values")
    .marked(&[Repeats]),
    value(
        "repeats",
        "N",
        of(&[MATRIX]),
        "Number of runs of each combination; 2 or more show how much repeated runs vary",
    )
    .titled(Group::Question, "Runs per combination")
    .default("3"),
    value(
        "restore",
        "HOOK",
        DRIVE,
        "What restores the database before each run: copy=NAME, a snapshot made by `snapshot`; copy, a snapshot \
         of the state at the start of the job, for jobs with several runs; or 'cmd=COMMAND', a command of this \
         host's shell, which has the values of the combination as CELL_VUS and so on, in `compare` the side as \
         CELL_SIDE, A or B, and the target as CELL_TARGET",
    )
    .titled(Group::Question, "Before each run")
    .default_words("nothing")
    .marked(&[OnResumeOrStored, NotReplayed]),
    value(
        "restore-timeout",
        "TIME",
        DRIVE.and(&[SNAPSHOT]),
        "Maximum time for making a snapshot, and for each restore",
    )
    .titled(Group::Question, "Maximum time of a restore")
    .default_words("1h; 24h for a command")
    .marked(&[OnResumeOrStored, NotReplayed]),
    switch(
        "end-sessions",
        DRIVE.and(&[SNAPSHOT]),
        "Let snapshots and restores of PostgreSQL end all other sessions at the database, whoever has them; \
         without it, they fail as long as there are any",
    )
    .titled(Group::Question, "End other sessions")
    .marked(&[OnResumeOrStored, NotReplayed]),
    value(
        "fingerprint",
        "KIND",
        DRIVE.and(&[SNAPSHOT]),
        "What shows whether two runs began from the same state: rows (the number of rows of each table, for at \
         most 30 s), checksums (of all rows of all tables) or none",
    )
    .titled(Group::Question, "Fingerprint of the state")
    .default_words("rows with --restore and for snapshots, else none")
    .choices(choices::fingerprints)
    .marked(&[NotReplayed]),
    value(
        "warm",
        "WHAT",
        DRIVE,
        "What is read into caches before each run: tables, indexes, tables,indexes or none",
    )
    .titled(Group::Question, "Read into caches")
    .default("none")
    .marked(&[NotReplayed]),
    value(
        "until-quiet",
        "TIME",
        DRIVE,
        "Wait before each run until the server has finished its work in the background: checkpoints, vacuum, \
         purge and merges; at most for this time",
    )
    .titled(Group::Question, "Wait for background work")
    .default_words("no wait")
    .marked(&[NotReplayed]),
    value(
        "pause",
        "TIME",
        DRIVE,
        "Before each run, close every connection to the database and wait for this time, as long as a \
         serverless database takes to suspend; then measure the time of its first answer",
    )
    .titled(Group::Question, "Pause without connections")
    .default_words("none")
    .marked(&[NotReplayed]),
    value("make", "NAME", of(&[SNAPSHOT]), "Make a snapshot of the present state with this name")
        .marked(&[NotInJobFile]),
    value("restore", "NAME", of(&[SNAPSHOT]), "Bring the database to the state of the snapshot of this name")
        .marked(&[NotInJobFile]),
    value("drop", "NAME", of(&[SNAPSHOT]), "Drop the snapshot of this name").marked(&[NotInJobFile]),
    value("threads", "N", DRIVE.and(&[DRILL, ISOLATION]), "Worker threads")
        .titled(Group::Statements, "Worker threads")
        .default_words("min(cores, sessions)")
    .marked(&[OfTransactions]),
    value("rampup", "TIME", DRIVE, "Time under load before the timed window starts")
        .titled(Group::Length, "Ramp-up")
        .default_words("1m, or 5s for the default SQLite file; in `capacity` 10s, or 5s")
    .marked(&[OfTransactions]),
    value("duration", "TIME", DRIVE, "Length of the timed window; its maximum with --until-ci")
        .titled(Group::Length, "Timed window")
        .default_words(
            "5m, or 30m with --until-ci; for the default SQLite file 30s, or 5m; in `capacity` 1m, \
             or 10s",
        )
    .marked(&[OfTransactions]),
    value("duration", "TIME", of(&[TRY]), "Length of the timed window")
        .titled(Group::Length, "Timed window")
        .default("20s"),
    value("duration", "TIME", of(&[DRILL, ISOLATION]), "Time under load, of each level; every fault begins and ends \
                                                       in it")
        .titled(Group::Length, "Time under load")
        .default("1m"),
    value(
        "levels",
        "LEVELS",
        of(&[ISOLATION]),
        "Levels to test and to compare, in random order: all, or names with commas between them",
    )
    .titled(Group::Question, "Levels")
    .default_words("the one of --isolation"),
    value(
        "control",
        "TIME",
        of(&[ISOLATION]),
        "Time of the same load at the database's weakest level, before: what it does not show, this load \
         could not have shown; 0s for none",
    )
    .titled(Group::Length, "Control at a weaker level")
    .default("5s"),
    value(
        "weights",
        "TYPE=N,…",
        of(&[ISOLATION]),
        "Weights of the transactions append, read, counter, pair and predicate; others have none",
    )
    .titled(Group::Load, "Weights of the transactions")
    .default(isolation::WEIGHTS_DEFAULT),
    value("rows", "N", of(&[ISOLATION]), "Rows of each kind on which users meet: fewer rows, more conflicts")
        .titled(Group::Load, "Rows of each kind")
        .default(isolation::ROWS_DEFAULT),
    value(
        "expect",
        "KIND",
        of(&[ISOLATION]),
        "Anomaly that must be found, such as lost-update or G2-item: exit code 0 if it is, 1 if not; \
         no control then",
    )
    .titled(Group::Question, "Expected anomaly")
    .default_words("none: no promise may be broken"),
    switch(
        "fail-if-undecided",
        of(&[ISOLATION]),
        "Exit code 1 if the load could not have shown a kind of anomaly, too",
    )
    .titled(Group::Question, "Fail if a kind is undecided"),
    value(
        "fault",
        "FAULT",
        of(&[DRILL, ISOLATION]),
        "What happens during the load, such as 'at=30s cut=5s' (nothing passes the network for 5 s, \
         then all connections are closed), 'at=30s terminate' (the server ends the load's sessions: \
         PostgreSQL, MySQL, MariaDB) or 'at=30s cmd=COMMAND' (a command of this host's shell); can be \
         repeated",
    )
    .titled(Group::Question, "Faults")
    .default_words("none: cause them yourself during the load")
    .marked(&[Repeats]),
    value(
        "verify",
        "TARGET",
        of(&[DRILL]),
        "URL of the database to read the table back from after the load, such as that of the \
         promoted replica",
    )
    .default_words("the target")
    .marked(&[Database, OfHost]),
    value(
        "verify-timeout",
        "TIME",
        of(&[DRILL]),
        "Maximum wait after the load until that database answers and accepts writes",
    )
    .titled(Group::Length, "Maximum wait for the database after the load")
    .default("1m"),
    value("duration", "TIME", of(&[DOCTOR]), "With --prove: length of the timed window of each run")
        .default("30s")
        .marked(&[NotInJobFile]),
    value("rampup", "TIME", of(&[DOCTOR]), "With --prove: time under load before each timed window")
        .default("5s")
        .marked(&[NotInJobFile]),
    value("vus", "N", of(&[DOCTOR]), "With --prove: number of virtual users")
        .default_words("as in `compare`")
        .marked(&[NotInJobFile]),
    value("pairs", "N", of(&[DOCTOR]), "With --prove: number of pairs of runs")
        .default("7")
        .marked(&[NotInJobFile]),
    value("margin", "SHARE", of(&[DOCTOR]), "With --prove: smallest difference that matters")
        .default("2%")
        .marked(&[NotInJobFile]),
    value("cool-down", "TIME", of(&[DOCTOR]), "With --prove: pause between two runs")
        .default_words("as in `compare`")
        .marked(&[NotInJobFile]),
    value("label", "TEXT", of(&[DOCTOR]), "With --prove: label of the job, to find it later")
        .marked(&[NotInJobFile, Label]),
    value(
        "until-ci",
        "SHARE",
        DRIVE.but(&[CAPACITY]),
        "End the timed window as soon as the 95 % confidence interval of the primary metric is \
         within this share of its value, such as 1%",
    )
    .titled(Group::Length, "End at this precision")
    .default_words("off")
    .marked(&[OfTransactions]),
    value(
        "cool-down",
        "TIME",
        SEVERAL,
        "Pause between two runs, so that the database can finish its background work",
    )
    .titled(Group::Length, "Pause between runs")
    .formerly("settle")
    .default_words(
        "at most 10s, and shorter when a server on this host is quiet; 1s where the database is in this \
         process",
    ),
    value(
        "limit",
        "LIMIT",
        of(&[CAPACITY]),
        "Response time limit to keep, as in 'new_order.p95 < 50ms': a transaction type (or `all`), \
         a percentile and a maximum",
    )
    .titled(Group::Question, "Response time limit"),
    value(
        "max-rate",
        "RATE",
        of(&[CAPACITY]),
        "Highest rate to try, in transactions per second",
    )
    .titled(Group::Question, "Highest rate")
    .default_words("until the limit is exceeded"),
    value("precision", "SHARE", of(&[CAPACITY]), "Search until the capacity is known to within this \
                                              share")
        .titled(Group::Question, "Precision")
        .default("5%"),
    switch(
        "ab",
        of(&[COMPARE]),
        "Run A and B in pairs, one after the other, with either of them first, and compare them; A and B \
         are targets",
    )
    .marked(&[NotInJobFile, BesideForm]),
    switch(
        "duet",
        of(&[COMPARE]),
        "Run A and B at the same time, with equal load at every moment, and compare them block by \
         block; A and B are targets",
    )
    .titled(Group::Question, "Both at the same time")
    .default_words("off; on for targets on two other hosts, without --ab, --interleave or --pairs"),
    value(
        "interleave",
        "TIME",
        of(&[COMPARE]),
        "Run A and B at the same time, in slices of this length that alternate in a random order: one of \
         them works at a time; A and B are targets",
    )
    .titled(Group::Question, "Length of interleaved slices")
    .default_words(
        "no slices with --ab or --duet; else 10s, or less in a short window, where A or B is on this \
         host or both are on one, and the load can take turns",
    ),
    value(
        "replay",
        "FILE",
        of(&[COMPARE]),
        "Replay this recording on A and B in pairs, and compare what they answer, too: --ab with --load replay:FILE",
    )
    .marked(&[NotInJobFile, BesideForm]),
    value(
        "a",
        "NAME=VALUE",
        of(&[COMPARE]),
        "With --ab, a setting that applies only to the runs of A, such as vus=8; of stored jobs only \
         price=FILE; can be repeated",
    )
    .titled(Group::Question, "Settings of A only")
    .marked(&[Repeats]),
    value("b", "NAME=VALUE", of(&[COMPARE]), "With --ab, a setting that applies only to the runs of \
                                          B; of stored jobs only price=FILE; can be repeated")
        .titled(Group::Question, "Settings of B only")
        .marked(&[Repeats]),
    value("pairs", "N", of(&[COMPARE]), "Number of pairs of runs, of each level if there are \
                                         levels; without a way, of runs one after the other")
        .titled(Group::Question, "Pairs of runs")
        .default_words("7, or 4 of each level; 1 with --duet and --interleave"),
    value("margin", "SHARE", of(&[REPEAT]), "Difference up to which the figures are the same")
        .default("5%")
        .marked(&[NotInJobFile]),
    value("runs", "N", of(&[REPEAT]), "Number of runs")
        .default_words("as many as the bundle has")
        .marked(&[NotInJobFile]),
    value("margin", "SHARE", of(&[COMPARE]), "Smallest difference that matters")
        .titled(Group::Question, "Smallest difference that matters")
        .default("2%")
        .marked(&[OfStored]),
    switch(
        "fail-if-slower",
        of(&[COMPARE, HISTORY]),
        "Exit with code 1 if B is slower, or if the last change in a history is a slowdown",
    )
    .marked(&[NotInJobFile, OnResumeOrStored, OfStored]),
    switch("fail-if-inconclusive", of(&[COMPARE]), "Exit with code 1 if the comparison is inconclusive")
        .marked(&[NotInJobFile, OnResumeOrStored, OfStored]),
    value(
        "resume",
        "JOB",
        SEVERAL,
        "Resume this interrupted job (a number or `last`) with its original settings",
    )
    .marked(&[NotInJobFile, OnResume]),
    value(
        "transactions",
        "N",
        ALIKE,
        "Number of transactions per virtual user, instead of a duration",
    )
    .titled(Group::Length, "Transactions per user")
    .marked(&[OfTransactions]),
    value("mode", "MODE", DRIVE, "Where the transaction logic runs: procedures (in the database) \
                                  or statements (in the client)")
        .titled(Group::Statements, "Transaction logic")
        .default_words("procedures if the workload and the database support them")
        .choices(choices::modes)
    .marked(&[OfTransactions]),
    value("protocol", "PROTOCOL", DRIVE.and(&[DRILL, ISOLATION]), "How statements are sent: prepared, extended or simple")
        .titled(Group::Statements, "Protocol")
        .default_words(PROTOCOL_DEFAULT)
        .choices(choices::protocols),
    value("pipeline", "WHAT", DRIVE.and(&[DRILL, ISOLATION]), "What of a transaction shares a round trip: {words}. Only \
                                                   PostgreSQL can")
        .titled(Group::Statements, "Pipelining")
        .default("off")
        .choices(choices::pipelinings)
    .marked(&[OfTransactions]),
    value(
        "delay",
        "TIME",
        DRIVE.and(&[DRILL, ISOLATION]),
        "Time that the network takes longer for each round trip: connections go through a relay in \
         this process, also with 0s",
    )
    .titled(Group::Statements, "Delay of the network")
    .default_words("none: connections are direct"),
    value("io", "WAY", DRIVE.and(&[DRILL, ISOLATION]), "How worker threads wait for a server: {words}")
        .titled(Group::Statements, "Waiting for the server")
        .default("auto")
        .choices(choices::io)
    .marked(&[OfTransactions]),
    value("isolation", "LEVEL", DRIVE.and(&[DRILL, ISOLATION]), "Isolation level: {words}")
        .titled(Group::Statements, "Isolation level")
        .default_words(DATABASE_DEFAULT)
        .choices(choices::isolations),
    value(
        "dop",
        "N",
        DRIVE,
        "Degree of parallelism: processes (PostgreSQL) or threads (DuckDB) that work on one query; 1 \
         turns parallel queries off. Other databases reject it",
    )
    .titled(Group::Statements, "Degree of parallelism")
    .default_words("the database's own"),
    value(
        "engine-memory",
        "SIZE",
        DRIVE,
        "Maximum memory of an engine in this process (DuckDB), such as 2GiB or 500MB. Servers reject \
         it: their memory is their own setting",
    )
    .titled(Group::Statements, "Memory of the engine")
    .default_words("the database's own"),
    value(
        "load",
        "MODEL",
        ALIKE,
        "Load model: closed; rate:500/s or rate:500/s,constant; rate:500/s,at=2m,rate=2000/s (a rate \
         that changes at times after the start of the timed window); ramp:100..2000/10m; steps:FILE \
         (CSV with the columns rate,duration); keyed (with the workload's keying and thinking \
         times); replay:FILE or replay:FILE,speed=2x (a recording that `capture` made)",
    )
    .titled(Group::Load, "Load model")
    .default("closed")
    .marked(&[OfTransactions, OfLoad]),
    value(
        "change",
        "CHANGE",
        ALIKE,
        "Change of the load during the run, at a time after the start of the timed window: 'at=2m \
         rate=2000/s' (arrivals of an open load), 'at=3m users=32' (users of a closed load, at most --vus) \
         or 'at=4m mix=new_order=50,payment=50' (weights of transaction types); can be repeated. The \
         result has the reaction to each",
    )
    .titled(Group::Load, "Changes during the run")
    .default_words("none")
    .marked(&[OfTransactions, OfLoad, Repeats]),
    value(
        "late",
        "POLICY",
        ALIKE,
        "What to do with arrivals that found no free session: issue (run them late) or skip:TIME \
         (skip those later than that, such as skip:100ms)",
    )
    .titled(Group::Load, "Late arrivals")
    .default("issue")
    .marked(&[OfTransactions, OfLoad]),
    value(
        "backlog",
        "N",
        ALIKE,
        "Maximum number of arrivals that wait for a session; beyond it, those that have waited \
         longest are dropped",
    )
    .titled(Group::Load, "Maximum backlog")
    .default_words("60 s of arrivals at the highest rate")
    .marked(&[OfTransactions, OfLoad]),
    value("terminals", "N", ALIKE, "Number of terminals of a keyed load")
        .titled(Group::Load, "Terminals")
        .default_words("as defined by the workload: 10 per warehouse")
    .marked(&[OfTransactions]),
    value(
        "sessions",
        "N",
        ALIKE,
        "Number of sessions that the terminals of a keyed load share, or `own` for one per terminal",
    )
    .titled(Group::Load, "Sessions")
    .default_words("min(64, terminals); 1 for SQLite")
    .marked(&[OfTransactions]),
    value(
        "login-delay",
        "TIME",
        ALIKE,
        "Time between the logins of two terminals of a keyed load",
    )
    .titled(Group::Load, "Delay between logins")
    .default("0s")
    .marked(&[OfTransactions]),
    value(
        "reconnect",
        "every=N",
        DRIVE,
        "Log in again after every N transactions of a session; every=1 is a new connection for each \
         transaction, as pgbench -C makes. The result has the times of logins, by phase",
    )
    .titled(Group::Load, "New login after")
    .default_words("never: sessions remain")
    .marked(&[OfTransactions]),
    value(
        "login-rate",
        "N/s",
        DRIVE,
        "Number of sessions per second that begin to log in at the start, if the server keeps up",
    )
    .titled(Group::Load, "Logins per second at the start")
    .default_words("no limit: on each thread 8 at a time, and one more for each that is in, up to 256")
    .marked(&[OfTransactions]),
    value(
        "retries",
        "N",
        DRIVE.and(&[DRILL, ISOLATION]),
        "Maximum attempts at a transaction that fails with a deadlock or a serialization error, \
         including the first",
    )
    .titled(Group::Failures, "Attempts per transaction")
    .default("10")
    .marked(&[OfTransactions]),
    value(
        "transaction-timeout",
        "TIME",
        DRIVE,
        "Cancel an attempt that takes longer than this; 0s disables it",
    )
    .titled(Group::Failures, "Maximum time per attempt")
    .default("0s")
    .marked(&[OfTransactions]),
    value(
        "transaction-timeout",
        "TIME",
        of(&[DRILL, ISOLATION]),
        "Cancel an attempt that takes longer than this and reconnect; 0s disables it",
    )
    .titled(Group::Failures, "Maximum time per attempt")
    .default("10s"),
    value("drain-timeout", "TIME", DRIVE.and(&[DRILL, ISOLATION]), "Maximum wait for transactions in flight at the end of \
                                           the run")
        .titled(Group::Length, "Maximum drain time")
        .default("30s")
    .marked(&[OfTransactions]),
    value(
        "max-failures",
        "SHARE",
        DRIVE,
        "Maximum share of failed transactions; above it, the exit code is 1",
    )
    .titled(Group::Failures, "Failures allowed")
    .default("1%")
    .marked(&[OfTransactions]),
    value(
        "abort-on-failures",
        "SHARE/TIME",
        of(&[RUN]),
        "End the run early if this share of transactions fails within this time, such as 50%/10s. \
         The run is stored and the exit code is 1",
    )
    .titled(Group::Failures, "Abort on failures above")
    .default_words("never")
    .marked(&[OfTransactions]),
    switch(
        "no-observe",
        DRIVE.and(&[BUILD]),
        "Do not observe the database's sessions and hosts during the run; also turns off \
         --host-metrics, --energy-metrics, --log-probe, --cpu-profile and --capture-on",
    )
    .titled(Group::Observe, "Do not observe the database"),
    value(
        "observe-interval",
        "TIME",
        DRIVE.and(&[BUILD]),
        "Time between two samples of what the database's sessions do and wait for, from 10ms to 1s",
    )
    .titled(Group::Observe, "Time between samples of sessions")
    .default("100ms"),
    value(
        "cluster",
        "ADDRESS",
        DRIVE.and(&[BUILD]),
        "Spread the work over the hosts of a Ray cluster: ray://HEAD:10001, or `auto` on one of them; \
         `local` for several processes on this host",
    )
    .default_words("none: one process")
    .marked(&[OfHost, OfTransactions, NotReplayed, Shared]),
    value("hosts", "N", DRIVE.and(&[BUILD]), "Number of hosts that share the work")
        .default_words("all nodes of the cluster; 2 processes with `local`")
        .marked(&[OfHost, OfTransactions, NotReplayed, Shared]),
    value(
        "on-host-loss",
        "POLICY",
        DRIVE,
        "What to do when a host is lost: continue (the others continue) or abort",
    )
    .default("continue")
    .marked(&[OfHost, OfTransactions, NotReplayed, Shared]),
    value(
        "host-metrics",
        "URL",
        DRIVE.and(&[BUILD]),
        "Prometheus node exporter on the database's host, such as http://db1:9100/metrics",
    )
    .titled(Group::Observe, "Node exporter of the database's host")
    .marked(&[OfHost]),
    value(
        "energy-metrics",
        "URL",
        DRIVE,
        "Exporter of energy or power on the database's host: Scaphandre, Kepler, a node exporter, or \
         any with --power-metric, such as http://db1:8080/metrics",
    )
    .titled(Group::Observe, "Exporter of the database host's energy")
    .default_words("that of --host-metrics, and the counters of this host")
    .marked(&[OfHost, OfTransactions, NotReplayed]),
    value(
        "power-metric",
        "METRIC",
        DRIVE,
        "Metric of that exporter that is a power in watts, such as power_watts{plug=\"db1\"}",
    )
    .titled(Group::Observe, "Metric of power in watts")
    .default_words("the known metrics of energy")
    .marked(&[OfHost, OfTransactions, NotReplayed]),
    value(
        "idle",
        "TIME",
        DRIVE,
        "Read the power of the idle host for this time before each run, to report energy above it",
    )
    .titled(Group::Observe, "Read the idle host first")
    .default_words("not: energy includes that of the idle host")
    .marked(&[OfTransactions]),
    value(
        "sysfs",
        "DIR",
        DRIVE.and(&[DOCTOR]),
        "Directory with the host's /sys, if a container has it elsewhere: the energy counters \
         (class/powercap), and how processors and disks are set up",
    )
    .default_words("/sys")
    .marked(&[OfHost, OfTransactions, NotReplayed]),
    switch(
        "log-probe",
        DRIVE,
        "Also time commits of a small transaction of triphammer's own, ten per second: creates and \
         drops a table",
    )
    .titled(Group::Observe, "Measure the latency of commits")
    .marked(&[OfTransactions]),
    value(
        "cpu-profile",
        "TIME",
        DRIVE,
        "Sample where the CPUs of this host are with perf, for this time from the start of the timed window: \
         a flame graph of client and server",
    )
    .titled(Group::Observe, "Profile the CPUs")
    .default_words("none")
    .marked(&[OfTransactions]),
    value(
        "capture-on",
        "CONDITION",
        DRIVE,
        "Keep full detail of the database's sessions around the moment when this becomes true for a \
         second, such as `new_order.p95 > 100ms`; separate several with commas",
    )
    .titled(Group::Observe, "Capture detail when")
    .marked(&[OfTransactions, Repeats, NotReplayed]),
    value(
        "replay-exemplar",
        "JOB:N",
        of(&[RUN]),
        "Rerun one of the slowest transactions of a stored run with the same input; it is committed",
    )
    .marked(&[OfOutput, OfTransactions, NotInJobFile]),
    value(
        "require",
        "REQUIREMENT",
        of(&[RUN, REPORT]),
        "Requirement that the run must meet, such as `nopm >= 50000`, `new_order.p95 < 10ms` or \
         `failures < 0.1%`; separate several with commas. If one is not met, the exit code is 1",
    )
    .titled(Group::Failures, "Requirements")
    .marked(&[Repeats]),
    value(
        "require",
        "REQUIREMENT",
        of(&[PROFILE]),
        "Requirement that a level must keep to be the cheapest by --price, such as `all.p95 < 10ms`; \
         separate several with commas",
    )
    .titled(Group::Failures, "Requirements")
    .marked(&[Repeats]),
    value(
        "price",
        "FILE",
        of(&[RUN, PROFILE, COMPARE]),
        "Price list in TOML (see docs/price-energy.md): adds the costs per million transactions and \
         per year",
    )
    .marked(&[OfHost, NotReplayed, OfStored]),
    value(
        "price",
        "FILE",
        of(&[HISTORY, REPORT]),
        "Price list in TOML (see docs/price-energy.md) by which stored runs are priced",
    )
    .default_words("that of each run")
    .marked(&[NotInJobFile]),
    value("label", "TEXT", DRIVE.and(&[DRILL, ISOLATION]), "Label of the job, to find it later")
        .titled(Group::Question, "Label")
        .marked(&[NotReplayed, Shared, Label]),
    value("label", "TEXT", of(&[JOBS]), "Only jobs with this label")
        .marked(&[NotInJobFile, Label]),
    value("series", "FILE", of(&[RUN]), "Write the figures of each second to this file during the run: \
                                     .csv or .jsonl; an existing one is replaced")
        .marked(&[OfTransactions, OfHost]),
    value(
        "history",
        "FILE",
        of(&[ISOLATION]),
        "Write the history of lists to this file as Jepsen's EDN, which Elle checks; an existing one is \
         replaced; of one level",
    )
    .marked(&[OfTransactions, OfHost]),
    value("junit", "FILE", of(&[RUN, DRILL, ISOLATION, CHECK]), "Write what passed and failed to this file as JUnit XML; an existing one is \
                                                 replaced")
        .marked(&[OfHost, OfOutput]),
    value(
        "metrics-listen",
        "ADDRESS",
        of(&[RUN]),
        "Serve the run's metrics to Prometheus at this address, such as 127.0.0.1:9187; a port \
         alone means 127.0.0.1",
    )
    .marked(&[OfTransactions, OfHost]),
    value(
        "otlp",
        "URL",
        of(&[RUN]),
        "Send the run's metrics to this OpenTelemetry collector every 10 s (OTLP over HTTP with \
         JSON): http://localhost:4318, or https:// for TLS",
    )
    .marked(&[OfTransactions, OfHost]),
    value(
        "otlp-ca",
        "FILE",
        of(&[RUN]),
        "PEM file with the certificate authorities to verify an https:// collector against",
    )
    .default_words("the system's authorities")
    .marked(&[OfHost]),
    value("warehouses", "A-B", of(&[CHECK]), "Check only these warehouses")
        .titled(Group::Data, "Warehouses")
        .default_words("all"),
    switch("yes", of(&[DROP]), "Do not ask for confirmation").marked(&[NotInJobFile]),
    switch("yes", of(&[COMPARE, DOCTOR]), "With --prove, change the setting of this host without asking")
        .marked(&[NotInJobFile, OnResume]),
    switch("force", of(&[BUILD, DROP]), "Also change tables that are not in the build record")
        .titled(Group::Data, "Also change unknown tables")
        .marked(&[NotInJobFile, InRequest]),
    switch(
        "json",
        CONNECT.but(&[DROP, SNAPSHOT, TRY]).and(&[HISTORY, CAPTURE, DATAGEN, JOBS, VERIFY, WHY]),
        "Print a JSON document instead of text",
    )
    .marked(&[OfOutput, NotInJobFile, OnResume, NotReplayed, OfStored]),
    switch(
        "tui",
        DRIVE.but(&[COMPARE]),
        "Show live figures, charts and a table on the full terminal; press ? for the keys",
    )
    .marked(&[OfOutput, OfTransactions, NotInJobFile]),
    value(
        "progress",
        "TIME",
        of(&[RUN]),
        "Print a progress line to stderr at this interval, as pgbench -P does, such as 10s",
    )
    .default_words("30s if stderr is not a terminal")
    .marked(&[OfOutput, NotInJobFile]),
    value(
        "slices",
        "TIME",
        of(&[RUN]),
        "Print to stderr, at this interval, such as 10s, each transaction type's minimum, median, p95, p99 and \
         maximum, in the form of HammerDB's log",
    )
    .default_words("none")
    .marked(&[OfOutput, OfTransactions, NotInJobFile]),
    value(
        "slices",
        "TIME",
        of(&[REPORT]),
        "Print only each transaction type's minimum, median, p95, p99 and maximum in slices of this length, such \
         as 10s, in the form of HammerDB's log",
    )
    .marked(&[NotInJobFile]),
    switch(
        "show-spec",
        DRIVE.and(&[BUILD, DRILL, ISOLATION]),
        "Print every setting with its source, and exit",
    )
    .marked(&[OfOutput, NotInJobFile, OnResume, NotReplayed]),
    value(
        "store",
        "FILE",
        ON_TARGET.but(&[DROP]).and(&[BUNDLE, DOCTOR, HISTORY, JOBS, MCP, REPEAT, REPORT, SERVE, TRY, WHY]),
        "File of the job store",
    )
    .default_words("in the user's data directory")
    .marked(&[OfHost, OnResume, NotReplayed, Shared, OfStored]),
    value(
        "at",
        "FROM..TO",
        of(&[WHY]),
        "Stretch of the run to explain, on its time axis, such as 3m10s..3m40s; at least 5 s",
    )
    .default_words("where the throughput was notably lower than in the rest, else the timed window")
    .marked(&[NotInJobFile]),
    value("limit", "N", of(&[JOBS]), "Maximum number of jobs to list")
        .default("20")
        .marked(&[NotInJobFile]),
    value("parent", "JOB", of(&[JOBS]), "List the runs of this profile, capacity, compare or matrix job")
        .default_words("jobs that are not part of another job")
        .marked(&[NotInJobFile]),
    value("format", "FORMAT", of(&[DATAGEN]), "Format of the files: {words}")
        .default("tbl")
        .choices(choices::file_formats)
        .marked(&[NotInJobFile]),
    value("parts", "N", of(&[DATAGEN]), "Number of files per table, written in parallel")
        .default("1")
        .marked(&[NotInJobFile]),
    value("output", "DIR", of(&[DATAGEN]), "Directory of the files; created if it does not exist")
        .short('o')
        .default_words("a directory named after the workload")
        .marked(&[NotInJobFile]),
    value(
        "output",
        "FILE",
        of(&[CAPTURE]),
        "Workload file (FILE.toml) or recording (FILE.recording) to write, or a directory for \
         workload.toml; created if it does not exist; an existing file is never overwritten",
    )
    .short('o')
    .default_words("the current directory")
    .marked(&[NotInJobFile]),
    value("format", "FORMAT", of(&[REPORT]), "Format of the report: {words}")
        .default_words("from the file extension of --output, else text")
        .choices(choices::formats)
        .marked(&[NotInJobFile]),
    value("format", "FORMAT", of(&[COMPARE]), "Output format: {words}")
        .default("text")
        .choices(choices::printed_formats)
        .marked(&[OfOutput, NotInJobFile, OnResumeOrStored, OfStored]),
    value(
        "plan",
        "QUERY",
        of(&[REPORT]),
        "Print the execution plan of this query of a run, such as 9, or of `all` queries",
    )
    .marked(&[NotInJobFile]),
    value("output", "FILE", of(&[REPORT]), "Write to this file instead of stdout; an existing one is replaced")
        .short('o')
        .marked(&[NotInJobFile]),
    value("output", "FILE", of(&[BUNDLE]), "Bundle to write; an existing file is replaced")
        .short('o')
        .default_words("job-N.zip in the current directory, N being the job's number")
        .marked(&[NotInJobFile]),
    value(
        "output",
        "DIR",
        of(&[BOARD]),
        "Folder of the site; it is replaced if everything in it was written by this command",
    )
    .short('o')
    .default_words("`site` in the current directory")
    .marked(&[NotInJobFile]),
    value("title", "TEXT", of(&[BOARD]), "Title of the site")
        .default("Database results")
        .marked(&[NotInJobFile]),
    switch(
        "anonymous",
        of(&[BUNDLE]),
        "Replace hosts, labels, folders and files of databases by numbers, everywhere in the bundle",
    )
    .marked(&[NotInJobFile]),
    value(
        "sign",
        "FILE",
        of(&[BUNDLE]),
        "SSH key that signs the manifest of the bundle, as `ssh-keygen -Y sign` does: a private key, \
         or the public key of one in an agent",
    )
    .default_words("no signature")
    .marked(&[NotInJobFile]),
    value(
        "signer",
        "FILE",
        of(&[VERIFY]),
        "Public SSH key that must have signed the bundle: a file such as id_ed25519.pub",
    )
    .default_words("any key, or no signature")
    .marked(&[NotInJobFile]),
    value("listen", "HOST:PORT", of(&[SERVE]), "Address and port to listen on")
        .default(LISTEN_DEFAULT)
        .marked(&[NotInJobFile]),
    value(
        "token-file",
        "FILE",
        of(&[SERVE]),
        "File with the access token on its first line",
    )
    .default_words("TRIPHAMMER_TOKEN, else a token that is generated and printed once")
    .marked(&[NotInJobFile]),
    value(
        "targets",
        "FILE",
        of(&[SERVE]),
        "TOML file of targets with their passwords (see docs/serve.md); only these targets may use \
         files, sockets and passwords of this host",
    )
    .marked(&[NotInJobFile]),
    value(
        "targets",
        "FILE",
        of(&[MCP]),
        "TOML file of the targets that the assistant may use, with their passwords (see docs/mcp.md)",
    )
    .default_words("none: stored jobs only")
    .marked(&[NotInJobFile]),
    value(
        "max-time",
        "TIME",
        of(&[MCP]),
        "Longest time of a job of the assistant: what takes longer is refused, or stopped",
    )
    .default("1h")
    .marked(&[NotInJobFile]),
    switch(
        "allow-destructive",
        of(&[MCP]),
        "Let the assistant drop tables, and replace what is built",
    )
    .marked(&[NotInJobFile]),
    value("data", "DIR", of(&[SERVE]), "Directory of the SQLite and DuckDB files that clients may use")
        .default_words("the current directory")
        .marked(&[NotInJobFile]),
    value(
        "metrics-token-file",
        "FILE",
        of(&[SERVE]),
        "File with a token on its first line that opens only /metrics",
    )
    .default_words("the token opens /metrics too")
    .marked(&[NotInJobFile]),
    value(
        "tls-cert",
        "FILE",
        of(&[SERVE, CAPTURE]),
        "PEM file with the certificate chain, for HTTPS, or for clients that connect to --listen",
    )
    .marked(&[NotInJobFile]),
    value(
        "tls-key",
        "FILE",
        of(&[SERVE, CAPTURE]),
        "PEM file with the private key of the certificate",
    )
    .marked(&[NotInJobFile]),
    value(
        "host",
        "NAMES",
        of(&[SERVE]),
        "Host names under which browsers may reach the server, in addition to IP addresses and \
         localhost; separate several with commas",
    )
    .marked(&[NotInJobFile]),
    switch(
        "allow-scripts",
        of(&[SERVE]),
        "Let clients run their own SQL (workloads script and custom), which can do anything that the \
         database user of a target may do; in SQLite and DuckDB it opens no other files",
    )
    .marked(&[NotInJobFile]),
    switch("open", of(&[SERVE]), "Open the web page in a browser").marked(&[NotInJobFile]),
];

/// Settings of a command, in the order of the list.
pub fn of_command(command: Command) -> impl Iterator<Item = &'static SettingDef> {
    SETTINGS.iter().filter(move |setting| setting.commands.contains(command))
}

/// Finds a setting of a command by its name or former name.
#[must_use]
pub fn declared(command: impl Into<Command>, name: &str) -> Option<&'static SettingDef> {
    of_command(command.into()).find(|setting| setting.is_called(name))
}

/// Whether a setting of a command has a property; options of workloads have none.
#[must_use]
pub fn is(command: impl Into<Command>, name: &str, mark: Mark) -> bool {
    declared(command, name).is_some_and(|setting| setting.is(mark))
}
