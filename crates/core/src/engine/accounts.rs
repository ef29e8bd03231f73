//! What the worker threads counted, put together at the end of a run and proven to add up.

use std::cmp::Reverse;
use std::ops::Range;

use super::queue::due_before;
use super::worker::WorkerEnd;
use super::{EXEMPLARS, ErrorSample, Exemplar, Offered};
use crate::clock::Elapsed;
use crate::recorder::TypeInterval;
use crate::spec::RunSpec;

/// The counting identities, asserted at the end of every run.
///
/// ```text
/// started = ended + in flight at abort          (ended = committed + by rule + failed + in doubt)
/// Σ intervals = totals
/// ```
pub(super) fn assert_identities(
    started: &[u64],
    ended: &[u64],
    in_flight: &[u64],
    run: &[TypeInterval],
) {
    for (index, seen) in run.iter().enumerate() {
        assert_eq!(
            started[index],
            ended[index] + in_flight[index],
            "counting identity: started = ended + in flight, type {index}"
        );
        assert_eq!(
            seen.counts.ended(),
            ended[index],
            "counting identity: the intervals' sum = totals, type {index}"
        );
    }
}

/// Every number that an open load's queue has given out came to one end.
///
/// ```text
/// given out = started + skipped + given up + returned
/// ```
pub(super) fn assert_tickets(given: u64, ends: &[WorkerEnd]) {
    let ended = |end: &WorkerEnd| {
        let started: u64 = end.totals.started.iter().sum();
        started + end.skipped + end.given_up + end.returned.len() as u64
    };
    assert!(
        given == 0 || given == ends.iter().map(ended).sum::<u64>(),
        "counting identity: given out = started + skipped + given up + returned"
    );
}

/// What became of the arrivals of an open load that stopped at `stop`, with so many numbers given out.
pub(super) fn offered(
    spec: &RunSpec,
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
    let never_started = sum(|end| end.given_up) + in_vain + due_before(spec, given, stop);
    Some(Offered { offered: started + skipped + never_started, skipped, never_started })
}

/// The slowest transactions of all threads that ended in these seconds.
pub(super) fn slowest(ends: &mut [WorkerEnd], seconds: Range<u64>) -> Vec<Exemplar> {
    let kept = ends.iter_mut().flat_map(|end| std::mem::take(&mut end.slowest));
    let mut slowest: Vec<Exemplar> =
        kept.filter(|kept| seconds.contains(&kept.timing.finished.second())).collect();
    slowest.sort_by_key(|kept| Reverse(kept.timing.response_ns()));
    slowest.truncate(EXEMPLARS);
    slowest
}

/// The first error of each type and class of all threads, with how often that happened.
pub(super) fn errors(ends: &[WorkerEnd]) -> Vec<ErrorSample> {
    let mut merged: Vec<ErrorSample> = Vec::new();
    for sample in ends.iter().flat_map(|end| &end.errors) {
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
