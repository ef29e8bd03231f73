//! What an event says. Each is sent as `event: <its type>` with itself as JSON in `data`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::second::LiveSecond;
use crate::activity::Activity;

/// An event of `GET /api/v1/events`.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "a few a second, each serialised once and dropped")]
pub enum LiveEvent {
    /// The first event of every connection: how things stand.
    Hello(Hello),
    /// An activity is new or has changed: its place in the queue, its state, its end.
    Activity(Activity),
    /// A run is in another phase.
    Phase(LivePhase),
    /// A second of a run, or several merged.
    Second(LiveSecond),
    /// A profile or a search is at another of its runs, or one has ended.
    Step(LiveStep),
    /// How far a build or a check is.
    Progress(LiveProgress),
    /// A remark on an activity.
    Note(LiveNote),
    /// How busy the server's host is.
    Host(HostLoad),
    /// The server ends; nothing follows.
    Goodbye(Goodbye),
}

impl LiveEvent {
    /// Its type, as `event:` has it.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Hello(_) => "hello",
            Self::Activity(_) => "activity",
            Self::Phase(_) => "phase",
            Self::Second(_) => "second",
            Self::Step(_) => "step",
            Self::Progress(_) => "progress",
            Self::Note(_) => "note",
            Self::Host(_) => "host",
            Self::Goodbye(_) => "goodbye",
        }
    }

    /// The activity that it is about.
    #[must_use]
    pub const fn activity(&self) -> Option<u64> {
        match self {
            Self::Activity(it) => Some(it.id),
            Self::Phase(it) => Some(it.activity),
            Self::Second(it) => Some(it.activity),
            Self::Step(it) => Some(it.activity),
            Self::Progress(it) => Some(it.activity),
            Self::Note(it) => Some(it.activity),
            Self::Hello(_) | Self::Host(_) | Self::Goodbye(_) => None,
        }
    }
}

/// How things stand when a connection begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Hello {
    /// Another one after each start of the server; activities of another instance are gone.
    pub instance: String,
    /// The server's version.
    pub version: String,
    /// Whether what follows goes on after the last event that the page has seen. If not, it should forget
    /// what it has.
    pub resumed: bool,
}

/// A run is in another phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LivePhase {
    /// The activity.
    pub activity: u64,
    /// `connecting`, `ramp_up`, `window`, `drain`, `abort`.
    pub phase: String,
    /// Seconds since the run's zero; `null` before it.
    pub at_s: Option<f64>,
    /// While connecting: sessions open so far.
    pub connected: Option<u32>,
    /// While connecting: sessions to be opened.
    pub of: Option<u32>,
}

/// A run of a profile or of a search for the capacity. Phases and seconds after it are those of this run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LiveStep {
    /// The activity.
    pub activity: u64,
    /// Which run it is, from 1.
    pub step: u32,
    /// Runs in all; `null` where it depends on what they find.
    pub of: Option<u32>,
    /// What is run: `8 virtual users, repeat 2`.
    pub what: String,
    /// Number of the run's job, once it has one.
    pub job: Option<i64>,
    /// The workload's first figure, at the end of the run; `null` before.
    pub primary_metric: Option<f64>,
}

/// How far a build or a check is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LiveProgress {
    /// The activity.
    pub activity: u64,
    /// What is being done: `loading`, `keys and indexes`.
    pub phase: String,
    /// Units done.
    pub done: u64,
    /// Units to do.
    pub total: u64,
    /// `rows`, `steps`.
    pub unit: String,
    /// Since it began, ms.
    pub elapsed_ms: u64,
    /// Where rows are loaded: how many of each table so far, in the order in which they began.
    pub tables: Vec<TableRows>,
}

/// Rows of a table that are loaded so far.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TableRows {
    /// The table.
    pub table: String,
    /// Its rows.
    pub rows: u64,
}

/// A remark on an activity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LiveNote {
    /// The activity.
    pub activity: u64,
    /// Seconds since the run's zero; `null` before and after it, and where there is none.
    pub at_s: Option<f64>,
    /// One word for programs: `outage`, `interrupted`, `warning`, `progress`.
    pub kind: String,
    /// A sentence for people.
    pub text: String,
}

/// How busy the server's host is. Shares are from 0 to 1, since the last such event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct HostLoad {
    /// Of all CPUs.
    pub busy: f64,
    /// Of each CPU.
    pub cores: Vec<f64>,
    /// Memory that is not to be had, in bytes.
    pub memory_used_bytes: Option<u64>,
    /// Memory, in bytes.
    pub memory_bytes: Option<u64>,
}

/// The server ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Goodbye {
    /// A sentence for people.
    pub text: String,
}
