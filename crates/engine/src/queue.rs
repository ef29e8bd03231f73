//! The queue of an open load. The run has one stream of arrivals, from which a [`Share`] takes, for
//! example, every second one. Every thread can compute when each arrival is due, and a free session
//! anywhere takes the next number. So the queue is one counter, and sessions serve it in the order
//! of arrival regardless of their thread. Assigning arrivals to threads beforehand would need no
//! counter, but arrivals could wait on a busy thread while sessions of another one are idle:
//! response times would depend on the number of threads.
//!
//! A session takes its number as soon as it is free, and then waits until the arrival is due. Each
//! number that the counter hands out ends in exactly one way:
//!
//! ```text
//! given out = started + skipped + dropped + returned (not due yet, or the run stopped)
//! offered   = all that were due before the stop = started + skipped + never started
//! never started = dropped + those returned or never given out that were due before the stop
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use triphammer_core::clock::Elapsed;
use triphammer_core::pace::{Arrivals, Late, Load, RateProfile};
use triphammer_core::recorder::RecordedInterval;
use triphammer_core::spec::RunSpec;

use super::Share;

/// The counter that the threads share.
#[derive(Debug, Default)]
pub(super) struct Tickets {
    next: AtomicU64,
    overflowed: AtomicBool,
}

impl Tickets {
    /// Number of tickets handed out.
    pub fn given(&self) -> u64 {
        self.next.load(Ordering::Relaxed)
    }
}

/// A thread's view of the queue.
#[derive(Debug)]
pub(super) struct Queue {
    tickets: Arc<Tickets>,
    share: Share,
    arrivals: Arrivals,
    /// The same stream, ahead by the length of the backlog: when that arrival is due, the current
    /// one is dropped.
    ahead: Arrivals,
    /// Length of the whole run's backlog, as numbers of arrivals are those of the whole run.
    backlog: u64,
    late: Late,
    /// Taken too late, by policy.
    pub skipped: u64,
    /// Dropped because the backlog behind them was full.
    pub given_up: u64,
}

/// An entry that a session takes from the queue: an arrival's number and when it is due.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticket {
    pub arrival: u64,
    pub due: Elapsed,
    /// The sum of gaps from which it was computed, and is again if the rate changes.
    pub sum: f64,
}

/// A ticket, and the outcome of the arrivals before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct TakenTicket {
    pub ticket: Ticket,
    /// Number skipped as too late, by policy.
    pub skipped: u64,
    /// Number dropped because the backlog behind them was full.
    pub given_up: u64,
    /// Whether this thread is the first of the run to see the backlog overflow.
    pub overflows_first: bool,
}

impl Queue {
    /// Creates the queue of an open load; `None` for others.
    pub fn new(spec: &RunSpec, share: Share, tickets: Arc<Tickets>) -> Option<Self> {
        let arrivals = arrivals(spec)?;
        Some(Self {
            tickets,
            share,
            ahead: arrivals.clone(),
            arrivals,
            backlog: spec.pacing.backlog,
            late: spec.pacing.late,
            skipped: 0,
            given_up: 0,
        })
    }

    /// Follows another rate.
    pub fn follow(&mut self, profile: &Arc<RateProfile>) {
        self.arrivals.follow(Arc::clone(profile));
        self.ahead.follow(Arc::clone(profile));
    }

    /// Takes the next arrival that is neither too late nor dropped from a full backlog.
    pub fn take(&mut self, now: Elapsed) -> TakenTicket {
        let before = (self.skipped, self.given_up);
        let ticket = self.next(now);
        TakenTicket {
            ticket,
            skipped: self.skipped - before.0,
            given_up: self.given_up - before.1,
            overflows_first: self.overflows_first(),
        }
    }

    fn next(&mut self, now: Elapsed) -> Ticket {
        loop {
            let arrival = self.share.arrival(self.tickets.next.fetch_add(1, Ordering::Relaxed));
            let due = self.arrivals.due(arrival);
            let ticket = Ticket { arrival, due, sum: self.arrivals.sum() };
            if due > now {
                return ticket;
            }
            if self.ahead.due(arrival + self.backlog) <= now {
                self.given_up += 1;
            } else if matches!(self.late, Late::Skip(limit) if is_late(due, now, limit)) {
                self.skipped += 1;
            } else {
                return ticket;
            }
        }
    }

    fn overflows_first(&self) -> bool {
        self.given_up > 0 && !self.tickets.overflowed.swap(true, Ordering::Relaxed)
    }
}

/// The control thread's view of the queue: what falls due, second by second.
#[derive(Debug)]
pub(super) struct Offer {
    share: Share,
    arrivals: Arrivals,
    /// The share's first arrival that is not yet due.
    next: u64,
    /// Arrivals that left the queue: started, skipped or dropped.
    left: u64,
    backlog: u64,
}

impl Offer {
    /// Creates the view for an open load; `None` for others.
    pub fn new(spec: &RunSpec, share: Share) -> Option<Self> {
        let arrivals = arrivals(spec)?;
        Some(Self { share, arrivals, next: 0, left: 0, backlog: share.part(spec.pacing.backlog) })
    }

    /// Follows another rate.
    pub fn follow(&mut self, profile: &Arc<RateProfile>) {
        self.arrivals.follow(Arc::clone(profile));
    }

    /// Adds to the sum of all threads for a second the arrivals that fell due in it, and how many
    /// of those were waiting at its end. From `stop` on nothing falls due and nothing waits.
    pub fn complete(&mut self, interval: &mut RecordedInterval, stop: Elapsed) {
        let end = Elapsed::at_second(interval.last + 1);
        let before = self.next;
        while self.arrivals.due(self.share.arrival(self.next)) < end.min(stop) {
            self.next += 1;
        }
        let arrived = interval.arrived.get_or_insert_default();
        arrived.due = self.next - before;
        self.left += arrived.started + arrived.skipped + arrived.given_up;
        let waiting = if end > stop { 0 } else { self.next.saturating_sub(self.left) };
        // Arrivals beyond the backlog are dropped as soon as a session takes one.
        interval.backlog = Some(waiting.min(self.backlog));
    }
}

/// Whether more than `limit` has passed since an arrival was due.
fn is_late(due: Elapsed, now: Elapsed, limit: std::time::Duration) -> bool {
    now.since(due) > Elapsed::from_duration(limit).0
}

/// The stream of arrivals of an open load.
fn arrivals(spec: &RunSpec) -> Option<Arrivals> {
    let profile = RateProfile::new(&spec.load, &spec.pacing.steps, spec.rampup)?;
    let constant = matches!(spec.load, Load::Rate { constant: true, .. });
    Some(Arrivals::new(Arc::new(profile), constant, spec.seed).of_half(spec.pacing.half))
}

/// How many of a share's arrivals, from its number `first` on, are due before `stop`; by another
/// profile than the spec's if the rate was changed.
pub(super) fn due_before(
    (spec, profile): (&RunSpec, Option<&Arc<RateProfile>>),
    share: Share,
    first: u64,
    stop: Elapsed,
) -> u64 {
    let Some(mut arrivals) = arrivals(spec) else { return 0 };
    if let Some(profile) = profile {
        arrivals.follow(Arc::clone(profile));
    }
    (first..).take_while(|nth| arrivals.due(share.arrival(*nth)) < stop).count() as u64
}
