//! Combines what the worker threads counted at the end of a run, and checks that it adds up.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use triphammer_core::clock::Elapsed;
use triphammer_core::event::Note;
use triphammer_core::pace::RateProfile;
use triphammer_core::recorder::TypeInterval;
use triphammer_core::spec::RunSpec;

use super::queue::due_before;
use super::uplink::WorkerEnd;
use super::{EXEMPLARS, ErrorSample, Exemplar, Offered, Share};

/// A counting identity that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// The equation, its left side first.
    pub identity: Cow<'static, str>,
    /// The transaction type that it was checked for; `None` for all together.
    pub transaction: Option<usize>,
    /// Value of the left side.
    pub left: u64,
    /// Value of the right side.
    pub right: u64,
}

const STARTED: &str = "started = ended + in flight";
const INTERVALS: &str = "sum of the seconds = total ended";
const PANICKED: &str = "virtual users that ended by a defect of the program = none";
const TICKETS: &str = "arrivals = started + skipped + dropped + returned";

/// Whether virtual users ended because their code panicked: their work is missing.
pub(super) fn panics(ends: &[WorkerEnd]) -> Option<Violation> {
    let left = ends.iter().map(|end| end.panicked).sum();
    (left > 0).then(|| Violation { identity: PANICKED.into(), transaction: None, left, right: 0 })
}

/// Checks the counting identities of each type, and returns those that do not hold.
///
/// ```text
/// started = ended + in flight at abort          (ended = committed + by rule + failed + in doubt)
/// Σ intervals = totals
/// ```
pub(super) fn violations(
    started: &[u64],
    ended: &[u64],
    in_flight: &[u64],
    run: &[TypeInterval],
) -> Vec<Violation> {
    let of_type = |(index, seen): (usize, &TypeInterval)| {
        let violation = |identity: &'static str, left, right| Violation {
            identity: identity.into(),
            transaction: Some(index),
            left,
            right,
        };
        [
            violation(STARTED, started[index], ended[index] + in_flight[index]),
            violation(INTERVALS, seen.counts.ended(), ended[index]),
        ]
    };
    run.iter().enumerate().flat_map(of_type).filter(|v| v.left != v.right).collect()
}

/// Checks that every number that an open load's queue handed out ended in exactly one way.
///
/// ```text
/// given out = started + skipped + dropped + returned
/// ```
pub(super) fn ticket_violation(given: u64, ends: &[WorkerEnd]) -> Option<Violation> {
    let ended = |end: &WorkerEnd| {
        let started: u64 = end.totals.started.iter().sum();
        started + end.skipped + end.given_up + end.returned.len() as u64
    };
    let right = ends.iter().map(ended).sum();
    let is_violated = given > 0 && given != right;
    is_violated.then_some(Violation {
        identity: TICKETS.into(),
        transaction: None,
        left: given,
        right,
    })
}

/// Outcome of the arrivals of an open load that stopped at `stop` after handing out this many
/// numbers.
pub(super) fn offered(
    (spec, profile): (&RunSpec, Option<&Arc<RateProfile>>),
    share: Share,
    given: u64,
    stop: Elapsed,
    ends: &[WorkerEnd],
) -> Option<Offered> {
    if !spec.load.is_open() {
        return None;
    }
    let sum = |read: fn(&WorkerEnd) -> u64| ends.iter().map(read).sum::<u64>();
    let started = sum(|end| end.totals.started.iter().sum());
    let skipped = sum(|end| end.skipped);
    let returned = ends.iter().flat_map(|end| &end.returned);
    let in_vain = returned.filter(|due| **due < stop).count() as u64;
    let never_started =
        sum(|end| end.given_up) + in_vain + due_before((spec, profile), share, given, stop);
    Some(Offered { offered: started + skipped + never_started, skipped, never_started })
}

/// The slowest of these transactions that ended in these seconds, slowest first.
pub(super) fn slowest(kept: impl Iterator<Item = Exemplar>, seconds: Range<u64>) -> Vec<Exemplar> {
    let mut slowest: Vec<Exemplar> =
        kept.filter(|kept| seconds.contains(&kept.timing.finished.second())).collect();
    slowest.sort_by_key(|kept| Reverse(kept.timing.response_ns()));
    slowest.truncate(EXEMPLARS);
    slowest
}

/// The note about sessions that were lost, of the numbers of those lost and reconnected.
pub(super) fn sessions_lost((lost, reconnected): (u64, u64)) -> Option<Note> {
    let text = format!("{lost} sessions were lost and {reconnected} reconnected");
    (lost > 0).then(|| Note::new("sessions_lost", None, text))
}

/// The first error of each type and class across all threads or hosts, with its number of
/// occurrences.
pub(super) fn errors<'a>(samples: impl Iterator<Item = &'a ErrorSample>) -> Vec<ErrorSample> {
    let mut merged: Vec<ErrorSample> = Vec::new();
    for sample in samples {
        let same =
            |m: &&mut ErrorSample| m.transaction == sample.transaction && m.class == sample.class;
        match merged.iter_mut().find(same) {
            Some(known) => known.count += sample.count,
            None => merged.push(sample.clone()),
        }
    }
    merged.sort_by_key(|sample| (sample.transaction, sample.class.index()));
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_that_does_not_add_up_is_named_with_both_numbers() {
        let mut seen = TypeInterval::default();
        seen.counts.committed = 7;
        let run = [TypeInterval::default(), seen];
        assert_eq!(violations(&[0, 8], &[0, 7], &[0, 1], &run), []);
        let found = violations(&[0, 9], &[0, 6], &[0, 1], &run);
        let numbers: Vec<_> =
            found.iter().map(|v| (&*v.identity, v.transaction, v.left, v.right)).collect();
        assert_eq!(numbers, [(STARTED, Some(1), 9, 7), (INTERVALS, Some(1), 7, 6)]);
    }

    #[test]
    fn an_arrival_without_an_end_is_named() {
        let end = WorkerEnd { skipped: 3, given_up: 4, ..WorkerEnd::default() };
        assert_eq!(ticket_violation(7, std::slice::from_ref(&end)), None);
        assert_eq!(ticket_violation(0, &[]), None, "of a load without arrivals");
        let found = ticket_violation(8, &[end]).unwrap();
        assert_eq!((&*found.identity, found.left, found.right), (TICKETS, 8, 7));
    }
}
