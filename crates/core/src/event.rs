//! The events that a run reports while it is in progress. They leave the engine in order, through
//! one channel; the caller that started the run passes them to its sinks: terminal, job store, live
//! stream, files.

use serde::{Deserialize, Serialize};

use crate::clock::{Clock, Elapsed};
use crate::recorder::RecordedInterval;

/// Something that happened in a run.
#[derive(Debug)]
pub enum Event {
    /// Sessions are being opened.
    Connecting {
        /// Number of sessions open so far.
        connected: u32,
        /// Number of sessions to open.
        of: u32,
    },
    /// All sessions are connected; the run's clock has its zero.
    Started {
        /// The run's clock, for what others do at times of the run.
        clock: Clock,
    },
    /// A second of all threads is complete (or several, if the receiver did not keep up).
    Second(Box<RecordedInterval>),
    /// The run entered another phase, at this time.
    Phase(Phase, Elapsed),
    /// A remark for the user.
    Note(Note),
}

/// Phase of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Load before the timed window; not measured.
    RampUp,
    /// The timed window, in which the result is measured.
    Window,
    /// No new transactions start; those in flight complete.
    Drain,
    /// Transactions in flight are abandoned.
    Abort,
}

impl Phase {
    /// All phases, in order.
    pub const ALL: [Self; 4] = [Self::RampUp, Self::Window, Self::Drain, Self::Abort];

    /// Name of the phase in documents, the store, series and the API.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RampUp => "ramp_up",
            Self::Window => "window",
            Self::Drain => "drain",
            Self::Abort => "abort",
        }
    }

    /// Name of the phase for people, in one word.
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
    /// Time since the run's zero; `None` before and after the run.
    pub at: Option<Elapsed>,
    /// Kind of remark, for programs: `interrupted`, `outage`, `user_ended`.
    pub kind: String,
    /// Text for people, without secrets.
    pub text: String,
}

impl Note {
    /// Creates a remark of a kind, at a time of the run.
    pub fn new(kind: &str, at: Option<Elapsed>, text: impl Into<String>) -> Self {
        Self { at, kind: kind.to_owned(), text: text.into() }
    }
}
