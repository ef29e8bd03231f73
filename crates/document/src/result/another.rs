//! How much another run would differ: from the earlier runs of the same load on the same target.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_settings::format::{counted, figure};
use triphammer_statistics::Interval;
use triphammer_statistics::prediction::predict;

use super::facts::RunFacts;

/// How much another run would differ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnotherRun {
    /// 95 % prediction interval of the primary metric of another run; `None` if it is unknown, because
    /// there is only one run.
    pub interval: Option<Interval>,
    /// Number of runs that it is based on, with this one.
    pub runs: usize,
    /// Number of their days, UTC. From one day, the interval is that of another run on that day.
    pub days: usize,
    /// The interval in words.
    pub words: String,
}

impl AnotherRun {
    /// Predicts another run like this one, which began at `started_at` (RFC 3339); `None` if nobody
    /// asked for earlier runs, and if this one did not run to its end (`is_whole`): its figure is that of
    /// another length.
    pub(super) fn new(
        facts: &RunFacts,
        started_at: &str,
        value: f64,
        is_whole: bool,
    ) -> Option<Self> {
        let is_comparable = is_whole && value > 0.0;
        let earlier = facts.earlier.as_ref().filter(|_| is_comparable)?;
        let today = started_at.chars().take(DAY).collect();
        let mut days: BTreeMap<String, Vec<f64>> = BTreeMap::from([(today, vec![value])]);
        for run in earlier {
            days.entry(run.day.clone()).or_default().push(run.value);
        }
        let (runs, by_day) = (earlier.len() + 1, days.into_values().collect::<Vec<_>>());
        let found = predict(&by_day);
        let interval = found.map(|found| found.interval);
        let days = by_day.len();
        let words = words(interval, runs, days);
        Some(Self { interval, runs, days, words })
    }
}

/// Characters of a date at the start of RFC 3339.
pub const DAY: usize = "2026-05-09".len();

fn words(interval: Option<Interval>, runs: usize, days: usize) -> String {
    let Some(Interval { low, high }) = interval else {
        return "unknown: no earlier run of this load on this target".to_owned();
    };
    let range = format!("{} to {} (95 %)", figure(low), figure(high));
    let runs = counted(runs as u64, "runs");
    match days {
        1 => format!("{range} on the same day, by {runs}; how much days differ is unknown"),
        days => format!("{range}, by {runs} on {days} days"),
    }
}
