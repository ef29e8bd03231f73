//! When the statements of a recording ran.

use triphammer_capture::recording::Recording;
use triphammer_capture::{Gap, Transaction};

/// A statement of a transaction, and when it ran, in µs from the start of the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    pub transaction: u32,
    pub step: u32,
    pub start_us: i64,
    /// When its answer was complete, as far as that was recorded.
    pub end_us: i64,
}

/// When the gap after something ends that began and ended then.
fn after((start_us, end_us): (i64, i64), gap: Gap) -> i64 {
    let us = i64::try_from(gap.us).unwrap_or(i64::MAX);
    if gap.from_start { start_us.saturating_add(us) } else { end_us.saturating_add(us) }
}

/// When the end of a transaction was asked for, and when its answer was complete, in µs from the start of the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    pub asked_us: i64,
    pub over_us: i64,
}

/// The moments of a transaction's statements, and its end.
pub fn moments(number: u32, transaction: &Transaction) -> (Vec<Moment>, End) {
    let us = |us: u64| i64::try_from(us).unwrap_or(i64::MAX);
    let took = transaction.took_us;
    let mut last = (transaction.start_us, transaction.start_us.saturating_add(us(took.begin)));
    let mut found = Vec::with_capacity(transaction.steps.len());
    for (step, place) in transaction.steps.iter().zip(0..) {
        let start_us = after(last, step.gap);
        let took_us = step.answer.as_ref().map_or(0, |answer| answer.took_us);
        let end_us = start_us.saturating_add(us(took_us));
        last = (start_us, end_us);
        found.push(Moment { transaction: number, step: place, start_us, end_us });
    }
    // A single statement is its own end: it holds what it has until its answer.
    let asked_us = after(last, transaction.last_gap);
    (found, End { asked_us, over_us: asked_us.saturating_add(us(took.end)) })
}

/// The statements of a recording in the order in which they began, and by transaction, its end.
#[derive(Debug, Default)]
pub struct Timeline {
    pub moments: Vec<Moment>,
    pub ends: Vec<End>,
}

impl Timeline {
    /// The timeline of a recording.
    pub fn of(recording: &Recording) -> Self {
        let mut timeline = Self::default();
        for (transaction, number) in recording.transactions.iter().zip(0..) {
            let (moments, end) = moments(number, transaction);
            timeline.moments.extend(moments);
            timeline.ends.push(end);
        }
        timeline.moments.sort_by_key(|moment| (moment.start_us, moment.transaction, moment.step));
        timeline
    }
}
