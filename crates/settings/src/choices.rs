//! The accepted words of settings with their descriptions, for forms and help.

use triphammer_capture::Format as LogFormat;
use triphammer_core::io::Io;
use triphammer_core::session::{Isolation, Pipelining, Protocol};
use triphammer_core::workload::{Mode, Name};
use triphammer_workloads::all;

use crate::file_format::FileFormat;
use crate::formats::{FORMATS, FormatDeclaration};

/// An accepted word and its description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The word as typed.
    pub value: Name,
    /// Description in one line.
    pub meaning: Name,
}

fn choice(value: &str, meaning: &str) -> Choice {
    Choice { value: value.into(), meaning: meaning.into() }
}

/// Names of the workloads.
#[must_use]
pub fn workloads() -> Vec<Choice> {
    all().iter().map(|workload| choice(&workload.name, &workload.title)).collect()
}

/// What a host may be set up for.
#[must_use]
pub fn setup_goals() -> Vec<Choice> {
    vec![
        choice("speed", "the highest speed that the hardware has"),
        choice("comparable", "runs that can be compared, at the cost of some speed"),
    ]
}

/// What shows whether two states are equal.
#[must_use]
pub fn fingerprints() -> Vec<Choice> {
    vec![
        choice("rows", "number of rows of each table"),
        choice("checksums", "checksum of all rows of each table"),
        choice("none", "nothing is read"),
    ]
}

/// File formats of `datagen`.
#[must_use]
pub fn file_formats() -> Vec<Choice> {
    FileFormat::ALL.iter().map(|(_, word, meaning)| choice(word, meaning)).collect()
}

/// Report formats of stored jobs.
#[must_use]
pub fn formats() -> Vec<Choice> {
    FORMATS.iter().map(of_format).collect()
}

/// Formats that a command can print directly.
#[must_use]
pub fn printed_formats() -> Vec<Choice> {
    FORMATS.iter().filter(|known| known.is_printed).map(of_format).collect()
}

fn of_format(known: &FormatDeclaration) -> Choice {
    choice(known.name, known.help)
}

/// Modes: where a workload's logic runs.
#[must_use]
pub fn modes() -> Vec<Choice> {
    let modes = [Mode::Procedures, Mode::Statements];
    modes.map(|mode| choice(mode.name(), of_mode(mode))).to_vec()
}

/// Protocols: how statements are sent.
#[must_use]
pub fn protocols() -> Vec<Choice> {
    Protocol::ALL.map(|(protocol, name)| choice(name, of_protocol(protocol))).to_vec()
}

/// Which messages of a transaction share a round trip.
#[must_use]
pub fn pipelinings() -> Vec<Choice> {
    Pipelining::ALL.map(|(pipelining, name)| choice(name, of_pipelining(pipelining))).to_vec()
}

/// How worker threads wait for a server.
#[must_use]
pub fn io() -> Vec<Choice> {
    Io::ALL.map(|(io, name)| choice(name, of_io(io))).to_vec()
}

/// Isolation levels of transactions.
#[must_use]
pub fn isolations() -> Vec<Choice> {
    Isolation::ALL.map(|(level, name)| choice(name, of_isolation(level))).to_vec()
}

const fn of_mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Procedures => "the logic runs in the database and is called in one round trip",
        Mode::Statements => "the logic runs in the client, statement by statement",
    }
}

const fn of_protocol(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Prepared => "prepared once per session, then bound and executed each time",
        Protocol::Extended => "parsed, bound and executed each time; nothing is kept on the server",
        Protocol::Simple => {
            "sent as one text that includes the values, for poolers without \
                             session support"
        }
    }
}

const fn of_pipelining(pipelining: Pipelining) -> &'static str {
    match pipelining {
        Pipelining::Off => "BEGIN, each statement and COMMIT take a round trip each",
        Pipelining::Begin => "BEGIN is sent with the first statement",
        Pipelining::On => "also COMMIT with the last statement, unless that decides the outcome",
    }
}

const fn of_io(io: Io) -> &'static str {
    match io {
        Io::Auto => "io_uring where the kernel allows it and it takes less CPU time",
        Io::Epoll => "a system call for each message, and one to wait",
        Io::Uring => "one system call for all sessions of a thread (io_uring, Linux 6.1)",
    }
}

const fn of_isolation(level: Isolation) -> &'static str {
    match level {
        Isolation::ReadUncommitted => "sees uncommitted changes of other transactions",
        Isolation::ReadCommitted => "each statement sees what was committed when it started",
        Isolation::RepeatableRead => "rows that were read stay the same until the transaction ends",
        Isolation::Snapshot => "the whole transaction sees one point in time",
        Isolation::Serializable => {
            "as if transactions ran one after the other; conflicts are retried"
        }
    }
}

/// Formats of logs that can be captured.
#[must_use]
pub fn log_formats() -> Vec<Choice> {
    LogFormat::ALL.map(|format| choice(format.name(), of_log_format(format))).to_vec()
}

const fn of_log_format(format: LogFormat) -> &'static str {
    match format {
        LogFormat::PostgresCsv => "PostgreSQL, log_destination = csvlog",
        LogFormat::PostgresJson => "PostgreSQL from 15 on, log_destination = jsonlog",
        LogFormat::MySqlGeneral => "the general log of MySQL or MariaDB",
        LogFormat::MySqlSlow => "the slow log of MySQL or MariaDB",
        LogFormat::OracleTrace => "Oracle's extended SQL trace (event 10046) with binds",
    }
}
