//! Descriptions of a campaign and its runs, for events.

use std::time::Duration;

use crate::settings::Given;

/// A run requested by a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedRun {
    /// Position in the sequence, from 0.
    pub number: u32,
    /// Index of the campaign's target on which it runs.
    pub target: usize,
    /// Settings chosen by the question, by name.
    pub settings: Vec<(String, Given)>,
    /// Title for people to read: `8 virtual users`.
    pub title: String,
}

/// Facts at the start of a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begin {
    /// Total number of runs, if known.
    pub runs: Option<u32>,
    /// Number of runs that are already stored.
    pub done: u32,
    /// Maximum time of a run and the pause before it, without connecting and draining.
    pub each: Duration,
}
