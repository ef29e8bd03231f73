//! Live events. Each is sent as `event: <its type>` with its JSON in `data`.

use serde::{Deserialize, Serialize};
use triphammer_runner::live::{
    LiveCheck, LiveNote, LivePhase, LiveProgress, LiveReport, LiveRequirements, LiveStep,
};
use utoipa::ToSchema;

use super::second::LiveSecond;
use crate::activity_state::Activity;

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
    Phase(ActivityPhase),
    /// A second of a run, or several merged seconds.
    Second(LiveSecond),
    /// A run of a profile, search or comparison has started or ended.
    Step(ActivityStep),
    /// Progress of a build, a check, or a run of queries.
    Progress(ActivityProgress),
    /// What the timed window so far says about the requirements of a run.
    Requirements(ActivityRequirements),
    /// What the checker of a test of isolation has found so far.
    Checked(ActivityCheck),
    /// A note on an activity.
    Note(ActivityNote),
    /// Load of the server's host.
    Host(HostLoad),
    /// The server is shutting down; no events follow.
    Goodbye(Goodbye),
}

/// Reports of an activity's job, each with the number of the activity.
macro_rules! of_activities {
    ($($name:ident($report:ty)),* $(,)?) => {
        $(
            /// A report of an activity's job.
            #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
            pub struct $name {
                /// Number of the activity.
                pub activity: u64,
                /// The report.
                #[serde(flatten)]
                pub report: $report,
            }
        )*
    };
}

of_activities! {
    ActivityPhase(LivePhase),
    ActivityStep(LiveStep),
    ActivityProgress(LiveProgress),
    ActivityRequirements(LiveRequirements),
    ActivityCheck(LiveCheck),
    ActivityNote(LiveNote),
}

impl LiveEvent {
    /// The event for a report of an activity's job; `None` if the activity itself has it.
    #[must_use]
    pub fn of(activity: u64, report: LiveReport) -> Option<Self> {
        Some(match report {
            LiveReport::Began(_) => return None,
            LiveReport::Phase(report) => Self::Phase(ActivityPhase { activity, report }),
            LiveReport::Step(report) => Self::Step(ActivityStep { activity, report }),
            LiveReport::Progress(report) => Self::Progress(ActivityProgress { activity, report }),
            LiveReport::Requirements(report) => {
                Self::Requirements(ActivityRequirements { activity, report })
            }
            LiveReport::Checked(report) => Self::Checked(ActivityCheck { activity, report }),
            LiveReport::Note(report) => Self::Note(ActivityNote { activity, report }),
        })
    }

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
