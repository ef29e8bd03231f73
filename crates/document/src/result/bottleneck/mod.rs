//! The bottleneck of a run: the requested load, the client, the host, the network, or the database.
//! A pure function of figures that the run measured about itself, so that every result states what
//! it is a measurement of.
//!
//! The question is what would raise the throughput. The verdict therefore follows the time of a
//! transaction: the client works, or is ready but waits for a CPU; the same for the server's
//! processes if they run on this host; time in transit; and the remainder, in which the server
//! waits for locks and disks. Utilisation alone decides nothing: a busy CPU is not a bottleneck as
//! long as nothing waits for it.
//!
//! | kind | when it has the largest share of the time |
//! |---|---|
//! | undecided | there is less than the [`Evidence`] that the measure asks for; or the CPUs are full and the server's processes are out of sight |
//! | load | first of all: it was paced, and practically all of it was served or the sessions were busy for less than [`SESSIONS_BUSY`]; otherwise: client and server worked without waiting, so more users would achieve more |
//! | client | a worker thread that never rests; lag; or threads that wait for a CPU because the client is pinned or nice |
//! | host | client or server ready, without a CPU: because of other processes, where they used more than [`OTHERS_SHARE`] of all |
//! | network | round trip time × round trips, where a round trip is more than [`LOCAL_ROUND_TRIP_US`] or leaves the host |
//! | database | waiting for locks and disks, for the CPUs to which the server is pinned, or for one of its connections |
//!
//! A verdict is certain if its share is at least [`MOST`] and nothing else has more than [`CLEAR`]
//! of that; otherwise it is "probably", and the second candidate is named.

mod decide;
mod figures;
mod words;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_settings::format::{figure, percent};

pub use figures::{LimitFigures, TimeShares};
pub(in crate::result) use figures::{Part, whole};
pub use words::{SPACE_CHECKPOINTS, STOP_OTHERS};

use super::cores::CPU_SATURATED;
use super::observed::{Observed, WaitClass};
use crate::measure::Evidence;

/// Minimum number of lag measurements for a mean.
pub const LAG_SAMPLES_MIN: u64 = 20;
/// Share of time below which the sessions of a paced load wait for work, not the work for sessions.
pub const SESSIONS_BUSY: f64 = 0.5;
/// Share of a core above which a worker thread limits the load.
pub const THREAD_BUSY: f64 = 0.8;
/// Lag of waking a sleeping thread on any host, in microseconds: every client has it, and it limits
/// nothing.
pub const LAG_MIN_US: u64 = 500;
/// Lag above which a wake-up counts as late, in microseconds.
pub const LATE_US: u64 = 10_000;
/// Share of time above which a CPU or a thread is saturated.
pub const HOST_BUSY: f64 = CPU_SATURATED;
/// Share of all CPUs below which nothing waits long for a CPU.
pub const HOST_FREE: f64 = 0.7;
/// Share of all CPUs above which other processes are the cause of waits for a CPU.
pub const OTHERS_SHARE: f64 = 0.2;
/// Minimum share of a transaction's time that counts as most of it.
pub const MOST: f64 = 0.5;
/// Ratio to the largest share up to which the second one leaves no doubt.
pub const CLEAR: f64 = 0.5;
/// Maximum share of missed arrivals of a load that is kept up with.
pub const MISSED_MAX: f64 = 0.01;
/// Maximum round trip between two processes on one host, in microseconds.
pub const LOCAL_ROUND_TRIP_US: u64 = 1_000;
/// Quantile of the measured round trips that is used. Fast ones show the network; slow ones also
/// waited for a busy server; the very fastest may be an outlier.
pub const ROUND_TRIP_QUANTILE: f64 = 0.1;
/// Minimum share of the time of active sessions of a wait that the advice is about.
pub const WAIT_SHARE_MIN: f64 = 0.2;
/// Checkpoints per minute from which on they are named with what sessions waited for.
pub const CHECKPOINTS_FREQUENT: f64 = 2.0;
/// Transport of a database that is part of this process.
pub const IN_PROCESS: &str = "in process";

/// The bottleneck of a run, the reason, and advice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BottleneckVerdict {
    /// What limited the run.
    pub kind: Bottleneck,
    /// The specific cause; `None` for a set of queries.
    pub cause: Option<Cause>,
    /// Certainty of the verdict.
    pub certainty: Certainty,
    /// The second candidate, if the verdict is not certain.
    pub second: Option<Bottleneck>,
    /// What the database's sessions waited for most, if the database is the bottleneck and was
    /// observed.
    pub wait: Option<BottleneckWait>,
    /// Reason in words, with figures.
    pub words: String,
    /// What to do next, as advice to the user; `None` when there is nothing to do.
    pub advice: String,
    /// Figures from which it was decided.
    pub figures: LimitFigures,
}

/// What the sessions of a run waited for at the database.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BottleneckWait {
    /// Class of the wait.
    pub class: WaitClass,
    /// Share of the time of active sessions, from 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: f64,
    /// Which of the class, if it is most of it: the table of a lock, or the name of a latch or
    /// another wait at the server; empty otherwise.
    pub which: String,
    /// Checkpoints per minute, if they are frequent.
    #[schemars(range(min = 0.0))]
    pub checkpoints_per_minute: Option<f64>,
}

impl BottleneckWait {
    /// Formats `: row locks on warehouse (62 % of active-session time)`.
    fn title(&self) -> String {
        let Self { class, share, which, .. } = self;
        let which = match (which.is_empty(), class) {
            (true, _) => String::new(),
            (_, WaitClass::RowLock | WaitClass::Lock) => format!(" on {which}"),
            _ => format!(" {which}"),
        };
        let checkpoints = self.checkpoints_per_minute.map_or_else(String::new, |count| {
            format!(", with {} checkpoints per minute", figure(count))
        });
        let share = percent(*share);
        format!(": {}{which} ({share} of active-session time){checkpoints}", class.title())
    }
}

/// A possible bottleneck of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Bottleneck {
    /// The load was paced and kept up with, or its sessions were idle most of the time; or client
    /// and server worked without waiting, so that more users would achieve more.
    #[serde(rename = "load_limited")]
    Load,
    /// A worker thread is saturated, answers wait for one, or the client is pinned or niced and
    /// waits for a CPU.
    #[serde(rename = "client_bound")]
    Client,
    /// Client or server were ready but waited for a CPU for the largest part of a transaction's
    /// time.
    #[serde(rename = "host_bound")]
    Host,
    /// Round trips were the largest part of a transaction's time.
    #[serde(rename = "network_bound")]
    Network,
    /// The server waited for locks or disks, or for the CPUs to which it is pinned; transactions
    /// waited for one of its connections; or nothing else was the bottleneck.
    #[serde(rename = "database_bound")]
    Database,
    /// Too little data: a window of less than 2 s or fewer than 30 transactions; or the CPUs were
    /// saturated and the server's processes could not be observed.
    #[serde(rename = "undecided")]
    Undecided,
}

/// The specific cause of a bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Undecided: the window is too short, or has too few transactions.
    TooLittle,
    /// Undecided: the CPUs are saturated, and the server's processes cannot be observed.
    Unseen,
    /// Load: it was paced and offered no more.
    Offered,
    /// Load: its users got everything they asked for; more users would achieve more.
    FewUsers,
    /// Client: a worker thread is saturated.
    Threads,
    /// Client: answers wait for its threads.
    Lag,
    /// Client: its threads wait for the CPUs that it may use, or have a low priority.
    Starved,
    /// Host: there are not enough CPUs for client and server.
    Shared,
    /// Host: other processes use its CPUs.
    OtherProcesses,
    /// Network: the time of round trips.
    RoundTrips,
    /// Database: it waits for locks, disks and so on; or nothing else was the bottleneck.
    Waits,
    /// Database: it waits for the CPUs to which it is pinned.
    OwnCpus,
    /// Database: transactions wait for one of its connections, in a pooler.
    Connections,
}

/// Certainty of a verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// Nothing else comes close.
    #[default]
    Sure,
    /// Something else comes close or cannot be ruled out.
    Probable,
}

impl Bottleneck {
    /// All variants, in declaration order.
    pub const ALL: [Self; 6] =
        [Self::Load, Self::Client, Self::Host, Self::Network, Self::Database, Self::Undecided];

    /// Name in reports, after "Limited by".
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Load => "the load",
            Self::Client => "the client",
            Self::Host => "the host",
            Self::Network => "the network",
            Self::Database => "the database",
            Self::Undecided => "undecided",
        }
    }
}

impl BottleneckVerdict {
    /// Determines the bottleneck, with the reason and advice. Without `evidence` that a measure asks for, the
    /// verdict does not apply.
    #[must_use]
    pub fn new(figures: LimitFigures, evidence: Option<Evidence>) -> Self {
        let Some(evidence) = evidence else { return Self::not_applicable(figures) };
        let named =
            words::ReasonDetails { observed: evidence.observed, ..words::ReasonDetails::default() };
        Self::of(figures.verdict(evidence), figures, named)
    }

    fn of(verdict: decide::Verdict, figures: LimitFigures, named: words::ReasonDetails) -> Self {
        Self {
            kind: verdict.kind,
            cause: Some(verdict.cause),
            certainty: verdict.certainty,
            second: verdict.second,
            wait: None,
            words: words::of(verdict, &figures, named),
            advice: words::advice(verdict, &figures).to_owned(),
            figures,
        }
    }

    /// States that there are no transactions whose time could be divided.
    fn not_applicable(figures: LimitFigures) -> Self {
        Self {
            kind: Bottleneck::Undecided,
            cause: None,
            certainty: Certainty::Sure,
            second: None,
            wait: None,
            words: "the verdict is about transactions and does not apply to a set of queries"
                .to_owned(),
            advice: String::new(),
            figures,
        }
    }

    /// Adds what was observed: that transactions waited for one of the database's connections, or,
    /// where its waits are the bottleneck, what its sessions waited for.
    #[must_use]
    pub(super) fn explained(self, observed: Option<&Observed>) -> Self {
        let Some(observed) = observed else { return self };
        let connections = observed.connections();
        match (self.cause, connections.filter(|count| self.figures.is_pooled(*count))) {
            (Some(Cause::Waits | Cause::RoundTrips), Some(count)) => self.pooled(count),
            (Some(Cause::Waits), None) => self.with_waits(observed),
            _ => self,
        }
    }

    /// The database has too few connections for the sessions, each of which needs one for a
    /// transaction; so the empty round trips waited for one, too.
    fn pooled(self, connections: f64) -> Self {
        let named = words::ReasonDetails { connections, ..words::ReasonDetails::default() };
        Self::of(self.figures.pooled(), self.figures, named)
    }

    fn with_waits(mut self, observed: &Observed) -> Self {
        let Some(top) = observed.top_wait() else { return self };
        let checkpoints = observed.checkpoints_per_minute().filter(|_| top.class.is_of_disks());
        let checkpoints = checkpoints.filter(|count| *count >= CHECKPOINTS_FREQUENT);
        if top.share >= WAIT_SHARE_MIN {
            let of_class = top.class.advice();
            self.advice = checkpoints.map_or(of_class, |_| SPACE_CHECKPOINTS).to_owned();
        }
        self.wait = Some(BottleneckWait {
            class: top.class,
            share: top.share,
            which: observed.which(top),
            checkpoints_per_minute: checkpoints,
        });
        self
    }

    /// Formats `probably the host, because of other processes`, or `the database: row locks (62 %
    /// of active-session time)`.
    #[must_use]
    pub fn title(&self) -> String {
        let label = self.kind.label();
        let reason = match (self.cause, &self.wait) {
            (Some(Cause::OtherProcesses), _) => ", because of other processes".to_owned(),
            (Some(Cause::Connections), _) => ": its number of connections".to_owned(),
            (_, Some(wait)) => wait.title(),
            _ => String::new(),
        };
        let doubt = match (self.certainty, self.kind) {
            (Certainty::Probable, kind) if kind != Bottleneck::Undecided => "probably ",
            _ => "",
        };
        format!("{doubt}{label}{reason}")
    }
}

#[cfg(test)]
mod tests;
