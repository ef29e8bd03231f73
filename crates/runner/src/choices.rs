//! The words that a setting takes, each with what it means in a line: for forms and help.

use triphammer_core::session::{Isolation, Protocol};
use triphammer_core::workload::{Mode, Name};

use crate::datagen::FileFormat;
use crate::formats::{Declared, FORMATS};
use crate::workloads as all;

/// A word and what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// As it is typed.
    pub value: Name,
    /// What it means, in a line.
    pub meaning: Name,
}

fn choice(value: &str, meaning: &str) -> Choice {
    Choice { value: value.into(), meaning: meaning.into() }
}

/// The workloads.
#[must_use]
pub fn workloads() -> Vec<Choice> {
    all().iter().map(|workload| choice(&workload.name, &workload.title)).collect()
}

/// The formats of files of data.
#[must_use]
pub fn file_formats() -> Vec<Choice> {
    FileFormat::ALL.iter().map(|(_, word, meaning)| choice(word, meaning)).collect()
}

/// The formats of stored jobs.
#[must_use]
pub fn formats() -> Vec<Choice> {
    FORMATS.iter().map(of_format).collect()
}

/// The formats that a command prints by itself.
#[must_use]
pub fn printed_formats() -> Vec<Choice> {
    FORMATS.iter().filter(|known| known.is_printed).map(of_format).collect()
}

fn of_format(known: &Declared) -> Choice {
    choice(known.name, known.help)
}

/// Where a workload's logic can run.
#[must_use]
pub fn modes() -> Vec<Choice> {
    let modes = [Mode::Procedures, Mode::Statements];
    modes.map(|mode| choice(mode.name(), of_mode(mode))).to_vec()
}

/// How statements can travel.
#[must_use]
pub fn protocols() -> Vec<Choice> {
    Protocol::ALL.map(|(protocol, name)| choice(name, of_protocol(protocol))).to_vec()
}

/// Isolation levels.
#[must_use]
pub fn isolations() -> Vec<Choice> {
    Isolation::ALL.map(|(level, name)| choice(name, of_isolation(level))).to_vec()
}

const fn of_mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Procedures => "the logic runs in the database, called in one round trip",
        Mode::Statements => "the logic runs in the client, statement by statement",
    }
}

const fn of_protocol(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Prepared => "prepared once a session, bound and executed each time",
        Protocol::Extended => "parsed, bound and executed each time, nothing kept on the server",
        Protocol::Simple => "one text with the values in it, as poolers without sessions need it",
    }
}

const fn of_isolation(level: Isolation) -> &'static str {
    match level {
        Isolation::ReadUncommitted => "sees what others have not yet committed",
        Isolation::ReadCommitted => "each statement sees what was committed when it began",
        Isolation::RepeatableRead => "what was read stays the same until the end",
        Isolation::Snapshot => "the whole transaction sees one instant",
        Isolation::Serializable => {
            "as if transactions ran one after the other; conflicts are retried"
        }
    }
}
