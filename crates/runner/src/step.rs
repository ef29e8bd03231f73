//! Descriptions of a campaign and its runs, for events.

use std::time::Duration;

use triphammer_settings::GivenValue;

/// A run requested by a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedRun {
    /// Position in the sequence, from 0.
    pub number: u32,
    /// Index of the campaign's target on which it runs.
    pub target: usize,
    /// Settings chosen by the question, by name.
    pub settings: Vec<(String, GivenValue)>,
    /// Title for people to read: `8 virtual users`.
    pub title: String,
}

/// The most that a question can need, for an upper bound of its time: the pause and the ramp-up of
/// each run, and the windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunsAtMost {
    /// Number of runs.
    pub runs: u32,
    /// Their timed windows together, in windows of the usual length: some runs are longer.
    pub windows: u32,
}

/// Facts at the start of a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begin {
    /// Total number of runs, if known.
    pub runs: Option<u32>,
    /// The most runs that it can need; `None` if that is not known.
    pub at_most: Option<RunsAtMost>,
    /// Number of runs that are already stored.
    pub done: u32,
    /// Maximum time of a run and the pause before it, without connecting and draining.
    pub each: Duration,
}

impl Begin {
    /// Longest time that the remaining runs can take, with the pauses; `None` without a limit. A
    /// long run counts as several.
    #[must_use]
    pub fn longest(&self) -> Option<Duration> {
        let most = self.at_most?;
        let left = most.windows.max(most.runs).saturating_sub(self.done);
        Some(Duration::from_secs(self.each.as_secs()) * left)
    }
}
