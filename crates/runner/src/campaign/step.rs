//! What is told of the runs of a campaign.

use std::time::Duration;

use crate::settings::Given;

/// A run that a question wants made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedRun {
    /// Place in the sequence, from 0.
    pub number: u32,
    /// Which of the campaign's targets it is run on.
    pub target: usize,
    /// What the question decides of the run: settings by name.
    pub settings: Vec<(String, Given)>,
    /// What is run, for people: `8 virtual users`.
    pub title: String,
}

/// What is known when a campaign begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begin {
    /// Runs in all, where that is known.
    pub runs: Option<u32>,
    /// Of which the store holds these already.
    pub done: u32,
    /// Longest time of a run with the rest before it, without waits for connections and drains.
    pub each: Duration,
}
