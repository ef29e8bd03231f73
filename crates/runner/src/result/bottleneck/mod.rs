//! What limited a run: the load that was asked for, the client, the host, the network, or else the
//! database. A pure function of figures that the run measured of itself, so that a figure is never
//! shown without what it is a figure of.
//!
//! The question is what would raise the throughput. So the verdict follows the time of a transaction:
//! the client works, or is ready and waits for a CPU; the same of the server's processes, where they
//! run on this host; it is on the way; and what is left is the server waiting for locks and disks.
//! Utilisation alone decides nothing: a CPU that is used is no limit as long as nobody waits for it.
//!
//! | kind | when it has the largest share of the time |
//! |---|---|
//! | undecided | there is less than the [`Evidence`] that the measure asks for; or the CPUs are full and the server's processes are out of sight |
//! | load | first of all: it was paced, and as good as all of it was served or the sessions were busy for less than [`SESSIONS_BUSY`]; else: client and server worked and nobody waited, so more users would get more |
//! | client | a worker thread that never rests; lag; or threads that wait for a CPU because the client is pinned or nice |
//! | host | client or server ready, without a CPU: because of other processes, where they used more than [`OTHERS_SHARE`] of all |
//! | network | round trip time × round trips, where a round trip is more than [`LOCAL_ROUND_TRIP_US`] or leaves the host |
//! | database | waiting for locks and disks, or for the CPUs to which the server is pinned |
//!
//! A verdict is sure when its share is at least [`MOST`] and nothing else has more than [`CLEAR`] of
//! that; else it is "probably", and the next is named.

mod decide;
mod figures;
mod words;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use figures::{LimitFigures, TimeShares};

use crate::measure::Evidence;

/// Fewest measurements of lag that its mean is read from.
pub const LAG_SAMPLES_MIN: u64 = 20;
/// Share of the time: below it the sessions of a paced load wait for work, not the work for sessions.
pub const SESSIONS_BUSY: f64 = 0.5;
/// Share of a core: above it a worker thread holds the load back.
pub const THREAD_BUSY: f64 = 0.8;
/// Lag that waking a thread which sleeps costs on any host, in microseconds: it is every client's, and
/// limits nothing.
pub const LAG_MIN_US: u64 = 500;
/// Lag above which a wake-up counts as late, in microseconds.
pub const LATE_US: u64 = 10_000;
/// Share of the time: above it a CPU or a thread has nothing left to give.
pub const HOST_BUSY: f64 = 0.9;
/// Share of all CPUs: below it nobody waits for one for long.
pub const HOST_FREE: f64 = 0.7;
/// Share of all CPUs: above it other processes are to blame when somebody waits for one.
pub const OTHERS_SHARE: f64 = 0.2;
/// Share of a transaction's time from which on it is most of it.
pub const MOST: f64 = 0.5;
/// Of the largest share: up to it the next one leaves no doubt.
pub const CLEAR: f64 = 0.5;
/// Share of arrivals that may be missed by a load that is kept up with.
pub const MISSED_MAX: f64 = 0.01;
/// A round trip up to which it is two processes of one host that wake each other, in microseconds.
pub const LOCAL_ROUND_TRIP_US: u64 = 1_000;
/// The round trip time that is judged is this quantile of those measured. The fast ones show the
/// network; the slow ones waited for a busy server as well. The very fastest may be a lucky one.
pub const ROUND_TRIP_QUANTILE: f64 = 0.1;
/// The transport of a database that is a part of this process.
const IN_PROCESS: &str = "in process";

/// What limited a run, why, and what to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BottleneckVerdict {
    /// What it was.
    pub kind: Bottleneck,
    /// Which of its ways; `None` in documents of older versions.
    #[serde(default)]
    pub cause: Option<Cause>,
    /// How sure that is.
    #[serde(default)]
    pub certainty: Certainty,
    /// What else it may be, where it is not sure.
    #[serde(default)]
    pub second: Option<Bottleneck>,
    /// Why, in words with figures.
    pub words: String,
    /// What to do next.
    pub advice: String,
    /// What it was decided from.
    pub figures: LimitFigures,
}

/// What can limit a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Bottleneck {
    /// The load was paced and kept up with, or its sessions were idle most of the time; or client and server
    /// worked while nobody waited, so that more users would get more.
    #[serde(rename = "load_limited")]
    Load,
    /// A worker thread never rests, answers wait for one, or the client is pinned or nice and waits for a CPU.
    #[serde(rename = "client_bound")]
    Client,
    /// Client or server were ready and waited for a CPU for the largest part of a transaction's time.
    #[serde(rename = "host_bound")]
    Host,
    /// Round trips were the largest part of a transaction's time.
    #[serde(rename = "network_bound")]
    Network,
    /// The server waited, for locks or disks, or for the CPUs to which it is pinned; or nothing else was the
    /// limit.
    #[serde(rename = "database_bound")]
    Database,
    /// Too little data: a window of less than 2 s or fewer than 30 transactions; or the CPUs were full and the
    /// server's processes out of sight.
    #[serde(rename = "undecided")]
    Undecided,
}

/// In which way it limited the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Undecided: the window is too short, or has too few transactions.
    TooLittle,
    /// Undecided: CPUs are full, and the server's processes cannot be seen.
    Unseen,
    /// Load: it was paced, and asked for no more.
    Offered,
    /// Load: its users had all they wanted; more of them would get more.
    FewUsers,
    /// Client: a worker thread never rests.
    Threads,
    /// Client: answers wait for its threads.
    Lag,
    /// Client: its threads wait for the CPUs that it may use, or behind everybody else.
    Starved,
    /// Host: client and server have not enough CPUs for both.
    Shared,
    /// Host: other processes use its CPUs.
    OtherProcesses,
    /// Network: the time of round trips.
    RoundTrips,
    /// Database: it waits for locks, disks and such; or nothing else was the limit.
    Waits,
    /// Database: it waits for the CPUs to which it is pinned.
    OwnCpus,
}

/// How sure a verdict is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// Nothing else comes near.
    #[default]
    Sure,
    /// Something else comes near, or cannot be ruled out.
    Probable,
}

impl Bottleneck {
    /// Every one.
    pub const ALL: [Self; 6] =
        [Self::Load, Self::Client, Self::Host, Self::Network, Self::Database, Self::Undecided];

    /// For people, after "Limited by".
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
    /// Decides, and says why and what to do.
    #[must_use]
    pub fn new(figures: LimitFigures, evidence: Evidence) -> Self {
        let verdict = figures.verdict(evidence);
        Self {
            kind: verdict.kind,
            cause: Some(verdict.cause),
            certainty: verdict.certainty,
            second: verdict.second,
            words: words::of(verdict, &figures, evidence),
            advice: words::advice(verdict, &figures).to_owned(),
            figures,
        }
    }

    /// `probably the host, because of other processes`.
    #[must_use]
    pub fn title(&self) -> String {
        let label = self.kind.label();
        let reason = match self.cause {
            Some(Cause::OtherProcesses) => ", because of other processes",
            _ => "",
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
