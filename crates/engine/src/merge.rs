//! Merges the seconds of several parts of a run. A part is a worker thread, or a process that
//! drives a [`Share`](super::Share) of the run: this module does not distinguish them. It takes
//! [`RecordedInterval`]s, which can be serialised, and returns the seconds that all parts have
//! completed, in order. Gauges are added as those of one process on one host: callers that merge
//! processes must separate their gauges beforehand.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

use triphammer_core::recorder::{
    Gauges, LoginInterval, NodeInterval, RecordedInterval, TypeInterval, add_nodes, merge,
};

/// Whether two intervals may be merged: never across an edge of the timed window, because what
/// ended in the window could no longer be separated from the rest.
#[must_use]
pub fn may_join(edges: [u64; 2], earlier: &RecordedInterval, later: &RecordedInterval) -> bool {
    !edges.iter().any(|edge| (earlier.first + 1..=later.last).contains(edge))
}

/// Merges the seconds of several parts into those of the run.
#[derive(Debug)]
pub struct Merger {
    /// For each part: every second before this one has been received.
    complete: Vec<u64>,
    /// Every second before this one has been returned.
    given: u64,
    types: usize,
    /// Waiting intervals, by their last second.
    seconds: BTreeMap<u64, RecordedInterval>,
}

impl Merger {
    /// Creates a merger for this many parts and transaction types.
    #[must_use]
    pub fn new(parts: usize, types: usize) -> Self {
        Self { complete: vec![0; parts], given: 0, types, seconds: BTreeMap::new() }
    }

    /// Takes an interval of a part; every second of that part before `complete` has now been
    /// received.
    ///
    /// # Panics
    /// When there is no such part.
    pub fn take(&mut self, part: usize, complete: u64, interval: RecordedInterval) {
        self.complete[part] = self.complete[part].max(complete);
        match self.seconds.get_mut(&interval.last) {
            Some(second) => {
                second.first = second.first.min(interval.first);
                second.add_thread(&interval);
            }
            None => {
                self.seconds.insert(interval.last, interval);
            }
        }
    }

    /// Records that a part sends nothing more.
    ///
    /// # Panics
    /// When there is no such part.
    pub fn end(&mut self, part: usize) {
        self.complete[part] = u64::MAX;
    }

    /// Returns the next second that all parts have completed; an empty one if nothing happened in
    /// it. When all parts have ended, seconds are returned up to `until` at least.
    pub fn next_second(&mut self, until: u64) -> Option<RecordedInterval> {
        let ready = self.complete.iter().copied().min().unwrap_or_default();
        let ready = if ready == u64::MAX {
            let seen = self.seconds.last_key_value().map_or(0, |(last, _)| last + 1);
            seen.max(until)
        } else {
            ready
        };
        if self.given >= ready {
            return None;
        }
        let second = self.given;
        self.given += 1;
        let seen = self.seconds.remove(&second);
        Some(seen.unwrap_or_else(|| RecordedInterval::new(second, self.types)))
    }

    /// How many seconds have been returned.
    #[must_use]
    pub const fn given(&self) -> u64 {
        self.given
    }
}

/// The sums of all intervals of a run.
#[derive(Clone, Debug)]
pub struct Sums {
    /// Counts of all transactions, by transaction type.
    pub run: Vec<TypeInterval>,
    /// Counts of transactions that ended in the timed window, by transaction type.
    pub window: Vec<TypeInterval>,
    /// Time from due to the start of the first attempt, of transactions that ended in the timed
    /// window, µs.
    pub pool_wait: Option<Histogram<u64>>,
    /// Gauges of the timed window; round trips of the whole run.
    pub gauges: Gauges,
    /// Largest number of transactions waiting for a session at the end of a second of the timed
    /// window.
    pub backlog_max: Option<u64>,
    /// Sessions lost during the run.
    pub lost: u64,
    /// Sessions reconnected during the run.
    pub reconnected: u64,
    /// Sessions opened during the run, and in the timed window.
    pub logins: [LoginInterval; 2],
    /// What happened on each node, in the whole run.
    pub nodes: Vec<NodeInterval>,
    /// The same in the timed window.
    pub nodes_in_window: Vec<NodeInterval>,
}

impl Sums {
    /// Creates empty sums for this many transaction types.
    #[must_use]
    pub fn new(types: usize) -> Self {
        let nothing = vec![TypeInterval::default(); types];
        Self {
            run: nothing.clone(),
            window: nothing,
            pool_wait: None,
            gauges: Gauges::default(),
            backlog_max: None,
            lost: 0,
            reconnected: 0,
            logins: Default::default(),
            nodes: Vec::new(),
            nodes_in_window: Vec::new(),
        }
    }

    /// Adds what a part of the run counted, in the timed window or outside it.
    pub fn add(&mut self, interval: &RecordedInterval, in_window: bool) {
        let sums = [Some(&mut self.run), in_window.then_some(&mut self.window)];
        for sum in sums.into_iter().flatten() {
            for (sum, seen) in sum.iter_mut().zip(&interval.types) {
                sum.add(seen);
            }
        }
        if in_window {
            merge(&mut self.pool_wait, interval.pool_wait.as_ref());
        }
        self.lost += interval.lost;
        self.reconnected += interval.reconnected;
        let [run, window] = &mut self.logins;
        for sum in [Some(run), in_window.then_some(window)].into_iter().flatten() {
            sum.add(&interval.logins);
        }
    }

    /// Adds what is only known of a whole second: its gauges, and the backlog at its end.
    pub fn add_second(&mut self, second: &RecordedInterval, in_window: bool) {
        let sums = [Some(&mut self.nodes), in_window.then_some(&mut self.nodes_in_window)];
        for sum in sums.into_iter().flatten() {
            add_nodes(sum, &second.nodes, NodeInterval::add_later);
        }
        if in_window {
            self.backlog_max = self.backlog_max.max(second.backlog);
            self.gauges.add(&second.gauges);
        } else {
            // Few where they are long, and the network is the same before the window and after it.
            let round_trip = second.gauges.round_trip.clone();
            self.gauges.add(&Gauges { round_trip, ..Gauges::default() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(second: u64, committed: u64) -> RecordedInterval {
        let mut interval = RecordedInterval::new(second, 1);
        interval.types[0].counts.committed = committed;
        interval
    }

    fn committed(interval: Option<RecordedInterval>) -> Option<(u64, u64)> {
        interval.map(|i| (i.last, i.types[0].counts.committed))
    }

    #[test]
    fn a_second_is_given_out_when_all_parts_have_completed_it() {
        let mut merger = Merger::new(2, 1);
        merger.take(0, 1, interval(0, 3));
        merger.take(0, 3, interval(2, 5));
        assert_eq!(committed(merger.next_second(0)), None, "the other part is at its first");
        merger.take(1, 2, interval(0, 4));
        assert_eq!(committed(merger.next_second(0)), Some((0, 7)));
        assert_eq!(committed(merger.next_second(0)), Some((1, 0)), "nothing happened in it");
        assert_eq!(committed(merger.next_second(0)), None);
        merger.end(1);
        assert_eq!(committed(merger.next_second(0)), Some((2, 5)));
        merger.end(0);
        assert_eq!(committed(merger.next_second(5)), Some((3, 0)));
        assert_eq!(committed(merger.next_second(5)), Some((4, 0)));
        assert_eq!((committed(merger.next_second(5)), merger.given()), (None, 5));
    }

    #[test]
    fn intervals_join_on_one_side_of_the_windows_edges() {
        let joins = |from, to| may_join([5, 10], &interval(from, 0), &interval(to, 0));
        assert!(joins(3, 4) && joins(5, 9) && joins(10, 20));
        assert!(!joins(4, 5) && !joins(9, 10) && !joins(0, 30));
    }
}
