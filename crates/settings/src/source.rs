//! Source of a value.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::command::Command;

/// Source of a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A flag or the positional target.
    Flag,
    /// An environment variable of this process.
    Environment,
    /// A job file, by its name.
    JobFile(String),
    /// The command that made the run, such as `profile`.
    Command(Command),
    /// A stored job that is replayed.
    Job(i64),
    /// The build record of the target.
    Build,
    /// A request to the server.
    Request,
    /// A call of the library, such as a keyword argument in Python.
    Call,
    /// The default, because no value was given.
    Default,
}

impl Source {
    /// Whether the value was given for this one job, and not for several.
    #[must_use]
    pub const fn is_of_job(&self) -> bool {
        matches!(self, Self::Flag | Self::Request | Self::Call)
    }
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
            Self::Call => f.write_str("call"),
            Self::Build => f.write_str("build record"),
            Self::Default => f.write_str("default"),
        }
    }
}
