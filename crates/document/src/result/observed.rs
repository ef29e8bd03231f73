//! The part of a result about what was observed beside the run, over the timed window: what the
//! sessions waited for, what blocked them, the load profile of the server, and its top statements.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::stats::Times;

use super::captured::Capture;
use super::cores::CoreMap;
use super::cpu_profile::CpuProfile;
use super::log_writes::{LogFigure, LogWrites, log_writes};
use crate::doctor::LatencyClass;
use crate::unit::Unit;

/// What was observed beside the run in its timed window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Observed {
    /// Time between two samples of the sessions, in seconds.
    #[schemars(range(min = 0.0))]
    pub interval_s: f64,
    /// What the sessions did and waited for; `None` if they could not be sampled.
    pub sessions: Option<ActiveSessions>,
    /// Sessions that others waited for, the worst first.
    pub blockers: Vec<Blocker>,
    /// Counters and states of the server, in the order of their names.
    pub profile: Vec<ProfileFigure>,
    /// Share of the pages read that were in the database's memory; `None` if it does not count them.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub memory_hits: Option<f64>,
    /// The server's own writes and syncs of its log, by file; empty if it does not count them.
    #[serde(default)]
    pub log_writes: Vec<LogWrites>,
    /// Figures of hosts, in the order of their names: of the client's, and of that of a node
    /// exporter, which has the label `host.name`.
    pub hosts: Vec<ProfileFigure>,
    /// What each CPU did, by host.
    #[serde(default)]
    pub cores: Vec<CoreMap>,
    /// Statements by the server's own statistics, by total time.
    pub statements: Vec<TopStatement>,
    /// Commits of the log probe; `None` without `--log-probe`.
    pub log_probe: Option<CommitProbe>,
    /// Where the CPUs of this host were; `None` without `--cpu-profile`.
    #[serde(default)]
    pub cpu_profile: Option<CpuProfile>,
    /// Full detail around the moments in which a condition of `--capture-on` became true.
    pub captures: Vec<Capture>,
    /// What the observers cost.
    pub cost: ObserverCost,
    /// What a missing privilege or setting hid, or could not be read.
    pub gaps: Vec<ObserverGap>,
}

impl Observed {
    /// Divides the increases per second by the transactions completed per minute.
    #[must_use]
    pub(super) fn per_transaction(mut self, per_minute: f64) -> Self {
        for figure in &mut self.profile {
            let per_second = figure.per_transaction.filter(|_| per_minute > 0.0);
            figure.per_transaction = per_second.map(|rate| rate * 60.0 / per_minute);
        }
        self.log_writes = log_writes(&self.profile);
        self
    }

    /// The same of a job without transactions, whose increases are per second only.
    #[must_use]
    pub fn without_transactions(self) -> Self {
        self.per_transaction(0.0)
    }

    /// The same with the share of pages that were in memory, from the counters of the server.
    #[must_use]
    pub fn with_memory_hits(self) -> Self {
        Self { memory_hits: memory_hits(&self.profile), ..self }
    }

    /// What the run's sessions did or waited for most, apart from the client; `None` if they were
    /// not sampled, or never active.
    #[must_use]
    pub fn top_wait(&self) -> Option<&WaitShare> {
        self.sessions.as_ref()?.classes.iter().find(|of| of.class != WaitClass::Client)
    }

    /// Which of a class of waits, if it is at least half of it: the table that blocked most
    /// sessions, or the name of the wait; empty otherwise, and where it says no more than the class.
    pub(super) fn which(&self, top: &WaitShare) -> String {
        match top.class {
            WaitClass::RowLock | WaitClass::Lock => {
                let worst = self.blockers.iter().find(|of| !of.object.is_empty());
                let object = worst.and_then(|of| of.object.split_whitespace().next());
                object.unwrap_or_default().to_owned()
            }
            WaitClass::Latch | WaitClass::Other => {
                let mut waits = self.sessions.iter().flat_map(|sessions| &sessions.waits);
                let most = waits.find(|of| of.class == top.class && of.share >= 0.5 * top.share);
                most.map(|of| of.wait.clone()).unwrap_or_default()
            }
            _ => String::new(),
        }
    }

    /// Average number of sessions at the database, those of others included; `None` if it does not
    /// show them.
    pub(super) fn connections(&self) -> Option<f64> {
        let is_count = |of: &&ProfileFigure| match of.metric.as_str() {
            "postgresql.backends" | "sqlserver.user.connection.count" => true,
            "mysql.threads" => of.labels.get("kind").is_some_and(|kind| kind == "connected"),
            _ => false,
        };
        self.profile.iter().find(is_count).map(|of| of.mean)
    }

    /// Checkpoints per minute; `None` if the database does not show them.
    pub(super) fn checkpoints_per_minute(&self) -> Option<f64> {
        let of =
            self.profile.iter().filter(|of| of.metric == "postgresql.bgwriter.checkpoint.count");
        of.map(|of| 60.0 * of.mean).reduce(|a, b| a + b)
    }
}

/// Share of the pages read that were in the database's memory: PostgreSQL counts hits and reads, InnoDB requests and the
/// reads among them.
fn memory_hits(profile: &[ProfileFigure]) -> Option<f64> {
    let of = |metric: &str| profile.iter().find(|of| of.metric == metric && of.labels.is_empty());
    let operation = |name: &str| {
        let is_it = |of: &&ProfileFigure| {
            of.metric == "mysql.buffer_pool.operations"
                && of.labels.values().any(|label| label == name)
        };
        profile.iter().find(is_it)
    };
    let (hits, all) = match (of("postgresql.blks_hit"), of("postgresql.blks_read")) {
        (Some(hit), Some(read)) => (hit.mean, hit.mean + read.mean),
        _ => {
            let all = operation("read_requests")?.mean;
            (all - operation("reads")?.mean, all)
        }
    };
    (all > 0.0).then(|| (hits / all).clamp(0.0, 1.0))
}

/// Average numbers of active sessions: how many sessions did something, or waited for it, at a time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ActiveSessions {
    /// Number of samples.
    pub samples: u64,
    /// Number of samples that were due but not taken, because the server answered late.
    pub missed: u64,
    /// Active sessions of this run.
    #[schemars(range(min = 0.0))]
    pub average: f64,
    /// Sessions of this run that were idle in a transaction: they wait for the client.
    #[schemars(range(min = 0.0))]
    pub idle_in_transaction: f64,
    /// Active sessions of others.
    #[schemars(range(min = 0.0))]
    pub other: f64,
    /// Background processes at work.
    #[schemars(range(min = 0.0))]
    pub background: f64,
    /// `average` by class of wait, the largest first.
    pub classes: Vec<WaitShare>,
    /// `average` by class and name of the wait at the server, the largest first.
    pub waits: Vec<WaitShare>,
    /// `average` by statement, the largest first.
    pub statements: Vec<StatementWaits>,
}

/// A class of wait of active sessions, or a wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaitShare {
    /// Class of the wait.
    pub class: WaitClass,
    /// Name of the wait at the server, such as `Lock:transactionid`; empty for a whole class, and
    /// for sessions that do not wait.
    pub wait: String,
    /// Average number of active sessions.
    #[schemars(range(min = 0.0))]
    pub average: f64,
    /// Share of all active sessions of this run.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: f64,
}

/// The active sessions of a statement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatementWaits {
    /// Name of the workload's statement, such as `new_order.call`, or the text of another.
    pub statement: String,
    /// Transaction type that it belongs to; `None` if it belongs to none or several.
    pub transaction: Option<String>,
    /// Average number of active sessions.
    #[schemars(range(min = 0.0))]
    pub average: f64,
    /// Share of all active sessions of this run.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: f64,
    /// The class in which its sessions were most often.
    pub top_class: WaitClass,
}

/// Declares the classes of waits: each with its name in declarations and in the store, its title
/// for people, and what to try next if a run waits for it most.
macro_rules! wait_classes {
    ($($(#[$attribute:meta])* $class:ident($name:literal, $title:literal, $advice:expr),)+) => {
        /// Class of what an active session waits for, the same for all databases.
        #[derive(
            Clone,
            Copy,
            Debug,
            Default,
            PartialEq,
            Eq,
            PartialOrd,
            Ord,
            Hash,
            Serialize,
            Deserialize,
            JsonSchema,
        )]
        pub enum WaitClass {
            $($(#[$attribute])* #[serde(rename = $name)] $class,)+
        }

        impl WaitClass {
            const ALL: &[(Self, &'static str, &'static str, &'static str)] =
                &[$((Self::$class, $name, $title, $advice),)+];
        }
    };
}

wait_classes! {
    /// It does not wait: it uses a CPU, or is ready for one.
    Cpu("cpu", "CPU", "look at the top statements and their plans; faster or more cores help"),
    /// A lock on a row that another transaction holds.
    RowLock(
        "row_lock",
        "row locks",
        "transactions queue for the same rows: use more warehouses or a larger scale, or shorter \
         transactions"
    ),
    /// Another lock: on a table, an object, or an advisory lock.
    Lock("lock", "other locks", "find who holds the lock: the report lists what blocked others"),
    /// The log of commits: WAL, redo log, binlog.
    Log(
        "log",
        "commit log",
        "commits wait for the disk of the log: use a faster disk for it, or let commits share a \
         write"
    ),
    /// A standby that confirms commits.
    Replica(
        "replica",
        "standby",
        "commits wait for a standby: look at its disk and at the network"
    ),
    /// Reads and writes of data files.
    Io(
        "io",
        "data I/O",
        "the data does not fit the buffers: give them more memory, or use a faster disk"
    ),
    /// Latches and pins: short locks on structures in memory.
    Latch(
        "latch",
        "latches",
        "sessions queue for the same structures in memory: try fewer --vus, and see which latch it \
         is"
    ),
    /// The client, in the middle of a statement.
    Client(
        "client",
        "client",
        "the server waits for the client in the middle of statements: look at the network"
    ),
    /// A sleep or a delay.
    Sleep("sleep", "sleep", SEE_REPORT),
    /// Anything else.
    #[default]
    Other("other", "other waits", SEE_REPORT),
}

/// What to try where a class says little.
const SEE_REPORT: &str = "see which waits these are in the report";

impl WaitClass {
    /// Whether sessions wait for disks, which checkpoints keep busy.
    #[must_use]
    pub const fn is_of_disks(self) -> bool {
        matches!(self, Self::Log | Self::Io | Self::Latch)
    }

    /// The class with a name; `Other` if there is none.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self::ALL.iter().find(|of| of.1 == name).map_or(Self::Other, |of| of.0)
    }

    fn entry(self) -> &'static (Self, &'static str, &'static str, &'static str) {
        Self::ALL.iter().find(|of| of.0 == self).expect("ALL has every class")
    }

    /// Name in the store.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.entry().1
    }

    /// Name for people.
    #[must_use]
    pub fn title(self) -> &'static str {
        self.entry().2
    }

    /// What to try next if a run waits for this most.
    #[must_use]
    pub fn advice(self) -> &'static str {
        self.entry().3
    }
}

/// A session, or the sessions of this run, for which others waited.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Blocker {
    /// Number of the session at the server; `None` for all sessions of this run together.
    pub session: Option<String>,
    /// User, program and state of the session.
    pub description: String,
    /// Its last statement.
    pub statement: String,
    /// The table, and the row if known, that others waited for; empty if the server does not say.
    pub object: String,
    /// Average number of sessions of this run that waited for it.
    #[schemars(range(min = 0.0))]
    pub blocked: f64,
    /// Maximum number of sessions of this run that waited for it at once.
    pub blocked_max: u64,
}

/// A counter or state over the timed window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProfileFigure {
    /// Name of the metric.
    pub metric: String,
    /// Labels of the metric.
    pub labels: BTreeMap<String, String>,
    /// Title of the metric.
    pub title: String,
    /// Unit of the values.
    #[schemars(with = "String")]
    pub unit: Unit,
    /// Mean over the seconds in which it was read.
    pub mean: f64,
    /// Highest value of a second.
    pub max: f64,
    /// Last value.
    pub last: f64,
    /// Increase per completed transaction; `None` for states.
    pub per_transaction: Option<f64>,
    /// Part of a transaction's time that it is, in milliseconds per second; `None` for others.
    #[serde(default)]
    pub part: Option<ServerTime>,
    /// What it is of the server's log writes; `None` for others.
    #[serde(default)]
    pub log: Option<LogFigure>,
}

/// A part of a transaction's time that some servers count themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServerTime {
    /// Reading the texts of statements.
    Parsing,
    /// Choosing execution plans.
    Planning,
    /// Waiting for row locks.
    RowLocks,
}

impl ServerTime {
    /// The part with a name in declarations; `None` if there is none.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "parsing" => Some(Self::Parsing),
            "planning" => Some(Self::Planning),
            "row_locks" => Some(Self::RowLocks),
            _ => None,
        }
    }
}

/// A statement, by the server's own statistics over the timed window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TopStatement {
    /// Its text, shortened.
    pub text: String,
    /// Number of calls.
    pub calls: u64,
    /// Total time at the server, in seconds.
    #[schemars(range(min = 0.0))]
    pub total_s: f64,
    /// Mean time at the server, in milliseconds.
    #[schemars(range(min = 0.0))]
    pub mean_ms: f64,
    /// Rows returned or changed.
    pub rows: u64,
    /// Blocks read.
    pub blocks_read: u64,
    /// Blocks found in memory.
    pub blocks_hit: u64,
}

/// Commits of the log probe (`--log-probe`): a transaction of triphammer's own that updates one row
/// of a table of its own. No server keeps a histogram of its log writes; this one is the probe's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CommitProbe {
    /// Time between two commits, in seconds.
    #[schemars(range(min = 0.0))]
    pub interval_s: f64,
    /// Times of the commits, with their round trip.
    pub times: Times,
    /// How many commits took how long, the shortest first; each class is twice as wide as the one
    /// before.
    pub histogram: Vec<LatencyClass>,
    /// Number of commits that failed, or had no answer in time.
    pub failed: u64,
    /// Number of commits that were due but left out, because another one was in progress.
    pub missed: u64,
}

/// What the observers cost, in the whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObserverCost {
    /// CPU time of the observers' threads, in seconds.
    #[schemars(range(min = 0.0))]
    pub cpu_s: f64,
    /// The same as a share of one core.
    #[schemars(range(min = 0.0))]
    pub cpu_share: f64,
    /// Number of queries sent to the database.
    pub queries: u64,
    /// Time in which the database answered them, in seconds.
    #[schemars(range(min = 0.0))]
    pub query_s: f64,
    /// Number of times that the observers' session was lost.
    pub lost: u64,
    /// Values that could not be stored.
    pub values_lost: u64,
}

/// Something that was hidden, or could not be read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObserverGap {
    /// Name of the privilege, setting or query.
    pub name: String,
    /// What is missing.
    pub hides: String,
    /// Statement or setting that shows it; empty if none does.
    pub change: String,
    /// Part of a transaction's time that it hides, and nothing else; `None` if it hides more.
    #[serde(default)]
    pub part: Option<ServerTime>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counter(metric: &str, operation: Option<&str>, mean: f64) -> ProfileFigure {
        let label = operation.map(|name| ("operation".to_owned(), name.to_owned()));
        ProfileFigure {
            metric: metric.to_owned(),
            labels: label.into_iter().collect(),
            title: metric.to_owned(),
            unit: Unit::PerSecond,
            mean,
            max: mean,
            last: mean,
            per_transaction: None,
            part: None,
            log: None,
        }
    }

    #[test]
    fn hits_in_memory_follow_from_the_counters_of_both_families() {
        let postgres = [
            counter("postgresql.blks_hit", None, 90.0),
            counter("postgresql.blks_read", None, 10.0),
        ];
        assert_eq!(memory_hits(&postgres), Some(0.9));
        let name = "mysql.buffer_pool.operations";
        let mysql =
            [counter(name, Some("read_requests"), 200.0), counter(name, Some("reads"), 50.0)];
        assert_eq!(memory_hits(&mysql), Some(0.75));
        assert_eq!(memory_hits(&postgres[..1]), None);
        let idle =
            [counter("postgresql.blks_hit", None, 0.0), counter("postgresql.blks_read", None, 0.0)];
        assert_eq!(memory_hits(&idle), None, "nothing was read");
    }
}
