//! What a job reports while it runs, as data: the live events of the server and the messages of the
//! Python package. Seconds have forms of their own, because each caller shows other figures.

use serde::{Deserialize, Serialize};
use triphammer_document::judgement::Judgement;
use utoipa::ToSchema;
use utoipa::openapi::schema::ArrayBuilder;
use utoipa::openapi::{Ref, RefOr, Schema};

use crate::watch::{CheckProgress, FoundKind};

mod reports;

pub use self::reports::LiveReports;

/// A report of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum LiveReport {
    /// The job has started.
    Began(LiveJob),
    /// A run has entered another phase.
    Phase(LivePhase),
    /// A run of a profile, search or comparison has started or ended.
    Step(LiveStep),
    /// Progress of a build, a check, or a run of queries.
    Progress(LiveProgress),
    /// What the timed window so far says about the requirements of a run.
    Requirements(LiveRequirements),
    /// What the checker of a test of isolation has found so far.
    Checked(LiveCheck),
    /// A note on the job.
    Note(LiveNote),
}

/// A job that has started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveJob {
    /// Number of the job; `null` if it is not stored.
    pub job: Option<i64>,
}

/// A run has entered another phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LivePhase {
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
    /// What the run showed in terms of the sequence's question: `p95 41 ms: ok`; `null` before its
    /// end, and where the primary metric is the answer.
    pub outcome: Option<String>,
}

/// Progress of a build, a check, a run of queries, or streams of queries beside transactions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LiveProgress {
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LiveRequirements {
    /// The requirements. A value of `null` is known only at the end of the run.
    #[schema(schema_with = judgements_schema)]
    pub requirements: Vec<Judgement>,
}

/// What the checker of a test of isolation has found so far in one of its loads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LiveCheck {
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

impl From<&CheckProgress> for LiveCheck {
    fn from(progress: &CheckProgress) -> Self {
        let finding = |found: &FoundKind| LiveFinding {
            kind: found.kind.clone(),
            title: found.title.to_owned(),
            count: found.count,
        };
        Self {
            level: progress.level.name().to_owned(),
            is_control: progress.is_control,
            transactions: progress.transactions,
            found: progress.found.iter().map(finding).collect(),
        }
    }
}

/// A note on a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LiveNote {
    /// Seconds since the start of the run; `null` before and after it, and without a run.
    pub at_s: Option<f64>,
    /// Machine-readable kind: `outage`, `interrupted`, `warning`, `progress`.
    pub kind: String,
    /// Sentence for people to read.
    pub text: String,
}

impl LiveNote {
    /// A note without a time.
    #[must_use]
    pub fn new(kind: &str, text: &str) -> Self {
        Self { at_s: None, kind: kind.to_owned(), text: text.to_owned() }
    }

    /// A warning.
    #[must_use]
    pub fn warning(text: &str) -> Self {
        Self::new("warning", text)
    }
}

/// Schema of the requirements of a run in progress.
fn judgements_schema() -> RefOr<Schema> {
    ArrayBuilder::new()
        .items(Ref::from_schema_name("Judgement"))
        .description(Some(
            "The requirements. A value of `null` is known only at the end of the run.",
        ))
        .into()
}
