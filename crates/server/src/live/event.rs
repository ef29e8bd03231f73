//! Live events. Each is sent as `event: <its type>` with its JSON in `data`.

use serde::{Deserialize, Serialize};
use triphammer_document::judgement::Judgement;
use triphammer_runner::watch::{CheckProgress, FoundKind};
use utoipa::ToSchema;

use super::second::LiveSecond;
use crate::activity_state::Activity;
use crate::schema::judgements_schema;

/// An event of `GET /api/v1/events`.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "a few a second, each serialised once and dropped")]
pub enum LiveEvent {
    /// The first event of every connection: the current state.
    Hello(Hello),
    /// An activity is new or has changed: its queue position, its state, its end.
    Activity(Activity),
    /// A run has entered another phase.
    Phase(LivePhase),
    /// A second of a run, or several merged seconds.
    Second(LiveSecond),
    /// A run of a profile, search or comparison has started or ended.
    Step(LiveStep),
    /// Progress of a build, a check, or a run of queries.
    Progress(LiveProgress),
    /// What the timed window so far says about the requirements of a run.
    Requirements(LiveRequirements),
    /// What the checker of a test of isolation has found so far.
    Checked(LiveCheck),
    /// A note on an activity.
    Note(LiveNote),
    /// Load of the server's host.
    Host(HostLoad),
    /// The server is shutting down; no events follow.
    Goodbye(Goodbye),
}

impl LiveEvent {
    /// Event type, as sent in `event:`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Hello(_) => "hello",
            Self::Activity(_) => "activity",
            Self::Phase(_) => "phase",
            Self::Second(_) => "second",
            Self::Step(_) => "step",
            Self::Progress(_) => "progress",
            Self::Requirements(_) => "requirements",
            Self::Checked(_) => "checked",
            Self::Note(_) => "note",
            Self::Host(_) => "host",
            Self::Goodbye(_) => "goodbye",
        }
    }

    /// Number of the activity that the event refers to.
    #[must_use]
    pub const fn activity(&self) -> Option<u64> {
        match self {
            Self::Activity(it) => Some(it.id),
            Self::Phase(it) => Some(it.activity),
            Self::Second(it) => Some(it.activity),
            Self::Step(it) => Some(it.activity),
            Self::Progress(it) => Some(it.activity),
            Self::Requirements(it) => Some(it.activity),
            Self::Checked(it) => Some(it.activity),
            Self::Note(it) => Some(it.activity),
            Self::Hello(_) | Self::Host(_) | Self::Goodbye(_) => None,
        }
    }
}

/// State at the start of a connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Hello {
    /// Identifier of the server process; activities of another instance no longer exist.
    pub instance: String,
    /// Version of the server program.
    pub version: String,
    /// Whether the stream continues after the last event that the client received. If not, the
    /// client should discard its state.
    pub resumed: bool,
}

/// A run has entered another phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LivePhase {
    /// Number of the activity.
    pub activity: u64,
    /// `connecting`, `ramp_up`, `window`, `drain`, `abort`.
    pub phase: String,
    /// Seconds since the start of the run; `null` before it.
    pub at_s: Option<f64>,
    /// While connecting: number of connected sessions.
    pub connected: Option<u32>,
    /// While connecting: number of sessions to connect.
    pub of: Option<u32>,
}

/// A run of a profile, capacity search or comparison. The following phases and seconds belong to
/// it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LiveStep {
    /// Number of the activity.
    pub activity: u64,
    /// Number of the run in the sequence, from 1.
    pub step: u32,
    /// Total number of runs; `null` if it depends on their results.
    pub of: Option<u32>,
    /// Description of the run: `8 virtual users, repeat 2`.
    pub what: String,
    /// Job number of the run, once it has one.
    pub job: Option<i64>,
    /// Value of the workload's primary metric at the end of the run; `null` before.
    pub primary_metric: Option<f64>,
}

/// Progress of a build, a check, a run of queries, or streams of queries beside transactions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LiveProgress {
    /// Number of the activity.
    pub activity: u64,
    /// Current part: `loading`, `keys and indexes`.
    pub phase: String,
    /// Number of units done.
    pub done: u64,
    /// Total number of units, possibly an estimate; 0 for streams of queries beside transactions, which have no end of
    /// their own.
    pub total: u64,
    /// Unit of the counts: `rows`, `steps`.
    pub unit: String,
    /// Elapsed time in ms.
    pub elapsed_ms: u64,
    /// During a load: rows loaded so far per table, in the order of their start.
    pub tables: Vec<TableRows>,
    /// During a run of queries, or beside transactions: those that are running, by stream.
    pub running: Vec<LiveQuery>,
    /// Beside transactions: geometric mean of the median times of the queries that were answered in the timed window so
    /// far, in ms; `null` before the first one, and for others.
    pub geomean_ms: Option<f64>,
}

/// A query or refresh function that is running.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LiveQuery {
    /// Number of its stream; `null` for the stream of refresh functions.
    pub stream: Option<u32>,
    /// Key of the query, `q7`; or of the refresh function, `rf1`.
    pub name: String,
    /// How long it has been running, in ms.
    pub lasts_ms: u64,
}

/// Rows of a table loaded so far.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TableRows {
    /// Name of the table.
    pub table: String,
    /// Number of rows loaded.
    pub rows: u64,
}

/// The requirements of a run, judged by its timed window so far; sent after each second of the window.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct LiveRequirements {
    /// Number of the activity.
    pub activity: u64,
    /// The requirements. A value of `null` is known only at the end of the run.
    #[schema(schema_with = judgements_schema)]
    pub requirements: Vec<Judgement>,
}

/// What the checker of a test of isolation has found so far in one of its loads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LiveCheck {
    /// Number of the activity.
    pub activity: u64,
    /// Isolation level of the load: `read-committed`.
    pub level: String,
    /// Whether the load is the control, which shows what the load can show.
    pub is_control: bool,
    /// Number of transactions that were examined.
    pub transactions: u64,
    /// The kinds of anomalies that were found.
    pub found: Vec<LiveFinding>,
}

/// A kind of anomaly that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LiveFinding {
    /// Name of the kind: `lost-update`.
    pub kind: String,
    /// What happened, in words.
    pub title: String,
    /// How often it was found.
    pub count: u64,
}

impl LiveCheck {
    /// The progress of an activity's checker.
    #[must_use]
    pub fn of(activity: u64, progress: &CheckProgress) -> Self {
        let finding = |found: &FoundKind| LiveFinding {
            kind: found.kind.clone(),
            title: found.title.to_owned(),
            count: found.count,
        };
        Self {
            activity,
            level: progress.level.name().to_owned(),
            is_control: progress.is_control,
            transactions: progress.transactions,
            found: progress.found.iter().map(finding).collect(),
        }
    }
}

/// A note on an activity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LiveNote {
    /// Number of the activity.
    pub activity: u64,
    /// Seconds since the start of the run; `null` before and after it, and without a run.
    pub at_s: Option<f64>,
    /// Machine-readable kind: `outage`, `interrupted`, `warning`, `progress`.
    pub kind: String,
    /// Sentence for people to read.
    pub text: String,
}

/// Load of the server's host since the last event of this type. Shares are from 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct HostLoad {
    /// Busy share of all CPUs, from 0 to 1.
    pub busy: f64,
    /// Busy share of each CPU, from 0 to 1.
    pub cores: Vec<f64>,
    /// Used memory, in bytes.
    pub memory_used_bytes: Option<u64>,
    /// Total memory, in bytes; `null` if unknown.
    pub memory_bytes: Option<u64>,
}

/// The server is shutting down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Goodbye {
    /// Sentence for people to read.
    pub text: String,
}
