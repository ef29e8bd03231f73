//! The commands, once: their names, what they are for, and which of them are jobs.
//!
//! A [`JobKind`] is work: a job does it, for the command line, the server or another program.
//! The other commands look at what jobs left, or serve.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a job does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobKind {
    /// Makes a workload's schema and data.
    Build,
    /// Drives a workload and measures.
    Run,
    /// Runs at several numbers of virtual users.
    Profile,
    /// Searches the highest rate that keeps a limit.
    Capacity,
    /// Judges B against A.
    Compare,
    /// Verifies every invariant of the data.
    Check,
    /// Removes what a build made. It leaves nothing in the job store.
    Drop,
}

impl JobKind {
    /// Every kind, in the order in which they are used.
    pub const ALL: [Self; 7] = [
        Self::Build,
        Self::Run,
        Self::Profile,
        Self::Capacity,
        Self::Compare,
        Self::Check,
        Self::Drop,
    ];

    /// Its word on the command line, in documents, the store and the API.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.words().0
    }

    /// What it is for, in a line.
    #[must_use]
    pub const fn title(self) -> &'static str {
        self.words().1
    }

    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Build => ("build", "Make a workload's schema and data"),
            Self::Run => ("run", "Drive a workload and measure"),
            Self::Profile => {
                ("profile", "Run at several numbers of virtual users and fit the curve")
            }
            Self::Capacity => {
                ("capacity", "Search the highest rate that keeps a response time within a limit")
            }
            Self::Compare => ("compare", "Say whether B is faster than A, slower, or the same"),
            Self::Check => ("check", "Verify every invariant of the data"),
            Self::Drop => ("drop", "Remove what a build made"),
        }
    }

    /// Whether it drives a workload: it takes the options of runs, and what it does can be drained.
    #[must_use]
    pub const fn drives(self) -> bool {
        matches!(self, Self::Run | Self::Profile | Self::Capacity | Self::Compare)
    }

    /// Whether it is made of several runs, and can be resumed.
    #[must_use]
    pub const fn is_campaign(self) -> bool {
        matches!(self, Self::Profile | Self::Capacity | Self::Compare)
    }
}

/// Something that can be typed after `triphammer`, and that has settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "&str", try_from = "String")]
pub enum Command {
    /// Work.
    Job(JobKind),
    /// Writes a workload's data to files.
    Datagen,
    /// Shows when results changed.
    History,
    /// Lists stored jobs.
    Jobs,
    /// Prints a stored job.
    Report,
    /// Serves all this, and the web interface, over HTTP.
    Serve,
}

impl Command {
    /// Every command, in the order of the help.
    pub const ALL: [Self; 12] = [
        Self::Job(JobKind::Build),
        Self::Job(JobKind::Run),
        Self::Job(JobKind::Profile),
        Self::Job(JobKind::Capacity),
        Self::Job(JobKind::Compare),
        Self::History,
        Self::Job(JobKind::Check),
        Self::Job(JobKind::Drop),
        Self::Datagen,
        Self::Jobs,
        Self::Report,
        Self::Serve,
    ];

    /// Its name on the command line, and of its table in a job file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Job(kind) => kind.name(),
            Self::Datagen => "datagen",
            Self::History => "history",
            Self::Jobs => "jobs",
            Self::Report => "report",
            Self::Serve => "serve",
        }
    }

    /// What it is for, in a line.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Job(kind) => kind.title(),
            Self::Datagen => "Write a workload's data to files",
            Self::History => "Show runs in the order of time, and when they changed",
            Self::Jobs => "List stored jobs",
            Self::Report => "Print a stored job as its command printed it",
            Self::Serve => "Serve all this, and the web interface, over HTTP",
        }
    }

    /// The command of a name.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|command| command.name() == name)
    }

    /// What it does, where that is a job.
    #[must_use]
    pub const fn job(self) -> Option<JobKind> {
        match self {
            Self::Job(kind) => Some(kind),
            Self::Datagen | Self::History | Self::Jobs | Self::Report | Self::Serve => None,
        }
    }
}

impl From<JobKind> for Command {
    fn from(kind: JobKind) -> Self {
        Self::Job(kind)
    }
}

impl From<Command> for &str {
    fn from(command: Command) -> Self {
        command.name()
    }
}

impl TryFrom<String> for Command {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Self::of(&name).ok_or_else(|| format!("no command is called `{name}`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_job_is_a_command_and_its_word_is_that_of_its_json() {
        for kind in JobKind::ALL {
            assert_eq!(Command::of(kind.name()), Some(Command::Job(kind)));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
    }
}
