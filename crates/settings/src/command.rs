//! The declarations of job kinds and commands: names, titles, and what several kinds have in
//! common.
//!
//! A [`JobKind`] does work: a job runs it, for the command line, the server or another program. The
//! other commands show stored jobs, or serve.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The list of job kinds, in the order of use: `Variant("name", Nature, document, type) "title"`. The
/// document is a type of the crate `document`; the type is one of the crate `runner` that implements
/// `JobType`, as a `Question` does too. Everything that differs between kinds is derived from this
/// list, each crate with its own macro: [`JobKind`], the document of any job, its report, the
/// published schemas, and the work. The paths are resolved where the list is used, so this crate
/// depends on neither.
#[macro_export]
macro_rules! job_kinds {
    ($then:ident) => {
        $then! {
            Build("build", Data, build::BuildReport, job::BuildJob) "Create the schema and load the data of a workload",
            Run("run", Run, result::RunResult, job::RunJob) "Run a workload and measure it",
            Profile("profile", Campaign, profile::ProfileResult, profile::ProfileSearch)
                "Run with increasing numbers of virtual users and fit a scalability curve",
            Capacity("capacity", Campaign, capacity::CapacityResult, capacity::Capacity)
                "Find the highest rate at which a response time stays within a limit",
            Compare("compare", Campaign, compare::ComparisonResult, compare::Pairs)
                "Compare A and B: faster, slower or equivalent",
            Matrix("matrix", Campaign, matrix::MatrixResult, matrix::Matrix)
                "Run over all combinations of settings, with a table and a heat map",
            Drill("drill", OwnLoad, drill::DrillResult, drill::DrillJob)
                "Prove which commits a database keeps after a fault",
            Isolation("isolation", OwnLoad, isolation::IsolationResult, isolation::IsolationJob)
                "Prove which anomalies an isolation level prevents, and what it costs",
            Check("check", Data, check::CheckReport, job::CheckJob) "Verify the consistency of the data",
            Drop("drop", Data, remove::Removal, job::DropJob) "Remove what a build created",
        }
    };
}
pub use job_kinds;

/// Nature of a job kind: what several kinds have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Nature {
    /// Changes or reads the data, and measures nothing.
    Data,
    /// Drives a workload once.
    Run,
    /// Makes several runs, and can be resumed.
    Campaign,
    /// Drives a workload of its own.
    OwnLoad,
}

macro_rules! kinds {
    ($($variant:ident($name:literal, $nature:ident, $($document:ident)::+, $($type:ident)::+) $title:literal,)+) => {
        /// What a job does.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum JobKind {
            $(#[doc = $title] $variant,)+
        }

        impl JobKind {
            /// Every kind, in the order of use.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// Name on the command line, in documents, in the store and in the API.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// Description in one line.
            #[must_use]
            pub const fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)+ }
            }

            const fn nature(self) -> Nature {
                match self { $(Self::$variant => Nature::$nature,)+ }
            }
        }
    };
}
job_kinds!(kinds);

impl JobKind {
    /// Noun for a job of the kind, in sentences: `job 3 is a comparison`. Each begins with a consonant.
    #[must_use]
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Capacity => "capacity search",
            Self::Compare => "comparison",
            Self::Drop => "removal",
            Self::Isolation => "test of isolation",
            _ => self.name(),
        }
    }

    /// Whether the kind drives the workload that the user names: it accepts the options of runs.
    #[must_use]
    pub const fn drives(self) -> bool {
        matches!(self.nature(), Nature::Run | Nature::Campaign)
    }

    /// Whether the kind drives a workload of its own.
    #[must_use]
    pub const fn has_own_load(self) -> bool {
        matches!(self.nature(), Nature::OwnLoad)
    }

    /// Whether the kind puts load on a database, so that its end waits for transactions in flight.
    #[must_use]
    pub const fn drains(self) -> bool {
        self.drives() || self.has_own_load()
    }

    /// Whether the kind makes several runs, and can be resumed.
    #[must_use]
    pub const fn is_campaign(self) -> bool {
        matches!(self.nature(), Nature::Campaign)
    }
}

/// A command of `triphammer` that has settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "&str", try_from = "String")]
pub enum Command {
    /// Runs a job.
    Job(JobKind),
    /// Makes a site of a folder of bundles.
    Board,
    /// Writes a stored job as a file that others can check and repeat.
    Bundle,
    /// Makes a workload file or a recording from a server's log.
    Capture,
    /// Writes the data of a workload to files.
    Datagen,
    /// Examines host, network and database before a run.
    Doctor,
    /// Shows when results changed.
    History,
    /// Lists stored jobs.
    Jobs,
    /// Serves an assistant by the Model Context Protocol.
    Mcp,
    /// Repeats the job of a bundle.
    Repeat,
    /// Prints a stored job.
    Report,
    /// Serves the HTTP API and the web interface.
    Serve,
    /// Makes, lists and drops snapshots of a database.
    Snapshot,
    /// Builds, runs and drops a small workload.
    Try,
    /// Checks a bundle.
    Verify,
    /// Explains a stored run, or a part of it.
    Why,
}

impl Command {
    /// Every command, in the order of the help: jobs first, then commands on stored jobs.
    pub const ALL: [Self; JobKind::ALL.len() + Self::OTHERS.len()] = {
        let mut all = [Self::Capture; JobKind::ALL.len() + Self::OTHERS.len()];
        let mut next = 0;
        while next < all.len() {
            all[next] = match next < JobKind::ALL.len() {
                true => Self::Job(JobKind::ALL[next]),
                false => Self::OTHERS[next - JobKind::ALL.len()],
            };
            next += 1;
        }
        all
    };

    /// The commands that are no jobs.
    const OTHERS: [Self; 15] = [
        Self::Snapshot,
        Self::Try,
        Self::Capture,
        Self::Datagen,
        Self::Doctor,
        Self::History,
        Self::Jobs,
        Self::Report,
        Self::Why,
        Self::Bundle,
        Self::Verify,
        Self::Repeat,
        Self::Board,
        Self::Serve,
        Self::Mcp,
    ];

    /// Name on the command line, and of the command's table in a job file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Job(kind) => kind.name(),
            Self::Board => "board",
            Self::Bundle => "bundle",
            Self::Capture => "capture",
            Self::Datagen => "datagen",
            Self::Doctor => "doctor",
            Self::History => "history",
            Self::Jobs => "jobs",
            Self::Mcp => "mcp",
            Self::Repeat => "repeat",
            Self::Report => "report",
            Self::Serve => "serve",
            Self::Snapshot => "snapshot",
            Self::Try => "try",
            Self::Verify => "verify",
            Self::Why => "why",
        }
    }

    /// Description in one line.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Job(kind) => kind.title(),
            Self::Board => "Make a static site of a folder of bundles, each verified",
            Self::Bundle => "Write a stored job as one file that others can check and repeat",
            Self::Capture => {
                "Make a workload file, or a recording to replay, from the log, the clients or the statistics of a \
                 server"
            }
            Self::Datagen => "Write the data of a workload to files",
            Self::Doctor => "Examine host, network and database before a run",
            Self::History => "Show runs over time, and where the performance changed",
            Self::Jobs => "List stored jobs",
            Self::Mcp => "Let an assistant measure and explain, by the Model Context Protocol",
            Self::Repeat => {
                "Repeat the runs of a bundle, and judge whether the figures are the same"
            }
            Self::Report => "Print the report of a stored job",
            Self::Serve => "Serve the web page and the HTTP API",
            Self::Snapshot => {
                "Make, list and drop snapshots of a database, to restore it from before runs"
            }
            Self::Try => {
                "Try a database: build a small TPROC-C, run it for 20 seconds, and drop it"
            }
            Self::Verify => "Check a bundle: compute its figures again, and judge its method",
            Self::Why => "Explain a stored run or a part of it by what the database waited for",
        }
    }

    /// Returns the command with this name; `None` if there is none.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|command| command.name() == name)
    }

    /// Bit of the command in a set.
    const fn bit(self) -> u32 {
        let others = JobKind::ALL.len();
        1 << match self {
            Self::Job(kind) => kind as usize,
            Self::Datagen => others,
            Self::Doctor => others + 1,
            Self::History => others + 2,
            Self::Jobs => others + 3,
            Self::Report => others + 4,
            Self::Serve => others + 5,
            Self::Why => others + 6,
            Self::Capture => others + 7,
            Self::Try => others + 8,
            Self::Mcp => others + 9,
            Self::Bundle => others + 10,
            Self::Verify => others + 11,
            Self::Repeat => others + 12,
            Self::Board => others + 13,
            Self::Snapshot => others + 14,
        }
    }

    /// Returns the job kind; `None` if the command runs no job.
    #[must_use]
    pub const fn job(self) -> Option<JobKind> {
        match self {
            Self::Job(kind) => Some(kind),
            Self::Board
            | Self::Bundle
            | Self::Capture
            | Self::Datagen
            | Self::Doctor
            | Self::History
            | Self::Jobs
            | Self::Mcp
            | Self::Repeat
            | Self::Report
            | Self::Serve
            | Self::Snapshot
            | Self::Try
            | Self::Verify
            | Self::Why => None,
        }
    }
}

/// A set of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Commands(u32);

impl Commands {
    /// Creates the set of these commands.
    #[must_use]
    pub const fn of(commands: &[Command]) -> Self {
        let (mut set, mut next) = (0, 0);
        while next < commands.len() {
            set |= commands[next].bit();
            next += 1;
        }
        Self(set)
    }

    /// Returns the set of all job kinds.
    #[must_use]
    pub const fn jobs() -> Self {
        Self::kinds(false, false)
    }

    /// Returns the set of job kinds that drive a workload.
    #[must_use]
    pub const fn drive() -> Self {
        Self::kinds(true, false)
    }

    /// Returns the set of job kinds that make several runs.
    #[must_use]
    pub const fn campaigns() -> Self {
        Self::kinds(true, true)
    }

    const fn kinds(drive: bool, are_campaigns: bool) -> Self {
        let (mut set, mut next) = (0, 0);
        while next < JobKind::ALL.len() {
            let kind = JobKind::ALL[next];
            if (kind.drives() || !drive) && (kind.is_campaign() || !are_campaigns) {
                set |= Command::Job(kind).bit();
            }
            next += 1;
        }
        Self(set)
    }

    /// Adds commands to the set.
    #[must_use]
    pub const fn and(self, commands: &[Command]) -> Self {
        Self(self.0 | Self::of(commands).0)
    }

    /// Removes commands from the set.
    #[must_use]
    pub const fn but(self, commands: &[Command]) -> Self {
        Self(self.0 & !Self::of(commands).0)
    }

    /// Whether the set contains a command.
    #[must_use]
    pub const fn contains(self, command: Command) -> bool {
        self.0 & command.bit() != 0
    }

    /// Iterates over the commands of the set, in the order of [`Command::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Command> {
        Command::ALL.into_iter().filter(move |command| self.contains(*command))
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
        Self::of(&name).ok_or_else(|| format!("unknown command `{name}`"))
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
            let is_consonant = kind.noun().starts_with(|c: char| !"aeiou".contains(c));
            assert!(is_consonant, "messages say `a {}`", kind.noun());
        }
    }

    #[test]
    fn sets_hold_what_they_were_made_of() {
        let all = Commands::of(&Command::ALL);
        assert_eq!(all.iter().collect::<Vec<_>>(), Command::ALL);
        let drive: Vec<_> = Commands::drive().but(&[Command::Job(JobKind::Run)]).iter().collect();
        assert_eq!(drive, Commands::campaigns().iter().collect::<Vec<_>>());
        assert!(drive.iter().all(|command| command.job().is_some_and(JobKind::is_campaign)));
        assert!(Commands::jobs().and(&[Command::Serve]).contains(Command::Serve));
        assert!(!Commands::jobs().contains(Command::Serve));
    }
}
