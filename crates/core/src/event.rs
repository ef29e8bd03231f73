//! What a run tells while it goes on. Events leave the engine in order, through one channel; whoever
//! started the run hands them to its sinks: terminal, job store, live stream, files.

use serde::{Deserialize, Serialize};

use crate::clock::Elapsed;
use crate::recorder::RecordedInterval;
use crate::value::Timestamp;

/// Something that happened in a run.
#[derive(Debug)]
pub enum Event {
    /// Sessions are being opened.
    Connecting {
        /// Open so far.
        connected: u32,
        /// To be opened.
        of: u32,
    },
    /// All are connected; the clock's zero.
    Started {
        /// The date and time of zero.
        at: Timestamp,
    },
    /// A second of all threads is complete (or several, when the receiver did not keep up).
    Second(Box<RecordedInterval>),
    /// The run is in another phase.
    Phase(Phase, Elapsed),
    /// Something worth telling.
    Note(Note),
}

/// Where a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Load without timing.
    RampUp,
    /// The timed window.
    Window,
    /// No new transactions; those in flight end.
    Drain,
    /// Those in flight are abandoned.
    Abort,
}

impl Phase {
    /// Every phase, in their order.
    pub const ALL: [Self; 4] = [Self::RampUp, Self::Window, Self::Drain, Self::Abort];

    /// Its word in documents, the store, series and the API.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RampUp => "ramp_up",
            Self::Window => "window",
            Self::Drain => "drain",
            Self::Abort => "abort",
        }
    }

    /// What the client does in it, in a word for people.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::RampUp => "ramp-up",
            Self::Window => "timed",
            Self::Drain => "draining",
            Self::Abort => "aborting",
        }
    }
}

/// A remark on a run, stored with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// When, since the run's zero; `None` before and after it.
    pub at: Option<Elapsed>,
    /// One word for programs: `interrupted`, `outage`, `user_ended`.
    pub kind: String,
    /// A sentence for people, without any secret.
    pub text: String,
}

impl Note {
    /// A remark.
    pub fn new(kind: &str, at: Option<Elapsed>, text: impl Into<String>) -> Self {
        Self { at, kind: kind.to_owned(), text: text.into() }
    }
}
