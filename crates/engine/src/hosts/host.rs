//! A host as the coordinator sees it: its link, its clock, and what it has reported.

use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use triphammer_core::clock::Elapsed;
use triphammer_core::recorder::{Arrived, RecordedInterval};
use triphammer_core::spec::{RunSpec, THREADS_MAX};

use super::message::{FromShare, ShareEnd, ToShare};
use super::{Link, SILENCE_MAX};
use crate::queue::due_before;
use crate::{Offered, Share};

/// Number of pings from which the offset of a clock is taken.
pub(super) const PINGS: u32 = 16;

/// How far a host's clock is ahead of the coordinator's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockOffset {
    /// Offset in nanoseconds.
    pub ns: i64,
    /// Its largest possible error in nanoseconds: half of the fastest round trip of a message.
    pub error_ns: u64,
}

impl ClockOffset {
    /// The offset of a clock that showed `clock_ns` at some time between two of ours.
    fn new(sent_ns: i64, clock_ns: i64, received_ns: i64) -> Self {
        let half = received_ns.saturating_sub(sent_ns).max(0) / 2;
        Self { ns: clock_ns - (sent_ns + half), error_ns: half.unsigned_abs() }
    }

    /// The offset to reckon with: none if the clocks may agree, as synchronised ones do more
    /// exactly than messages can show.
    pub(super) const fn to_apply(self) -> i64 {
        if self.ns.unsigned_abs() <= self.error_ns { 0 } else { self.ns }
    }
}

/// A host that was lost during a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostLoss {
    /// When that was noticed.
    pub at: Elapsed,
    /// Why.
    pub reason: String,
    /// Transactions that were in flight at its last second, by type: they are in doubt.
    pub open: Vec<u64>,
}

/// What a host did in a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HostEnd {
    /// Name for people.
    pub name: String,
    /// Number of its CPUs.
    pub cpus: u32,
    /// Number of sessions of its share.
    pub sessions: u32,
    /// Its clock, before the start.
    pub clock: ClockOffset,
    /// How long after the agreed instant it began, in nanoseconds.
    pub late_ns: Option<u64>,
    /// Transactions completed in the timed window.
    pub completed: u64,
    /// Transactions completed in the whole run.
    pub completed_in_run: u64,
    /// What it reported at its end; `None` if it was lost.
    pub end: Option<Box<ShareEnd>>,
    /// How it was lost; `None` if it was not.
    pub loss: Option<HostLoss>,
}

/// A host during a run.
pub(super) struct Host {
    pub link: Link,
    pub share: Share,
    pub sessions: u32,
    pub connected: u32,
    pub late_ns: Option<u64>,
    clock: Option<ClockOffset>,
    pings: u32,
    last_message: Instant,
    /// Every second before this one has been received.
    pub next: u64,
    /// Transactions ended, and in flight at the end of the last second, by type.
    ended: Vec<u64>,
    in_flight: Vec<u64>,
    arrived: Arrived,
    completed: u64,
    completed_in_run: u64,
    end: Option<Box<ShareEnd>>,
    loss: Option<HostLoss>,
}

impl Host {
    pub fn new(link: Link, share: Share, sessions: u32, types: usize) -> Self {
        Self {
            link,
            share,
            sessions,
            connected: 0,
            late_ns: None,
            clock: None,
            pings: 0,
            last_message: Instant::now(),
            next: 0,
            ended: vec![0; types],
            in_flight: vec![0; types],
            arrived: Arrived::default(),
            completed: 0,
            completed_in_run: 0,
            end: None,
            loss: None,
        }
    }

    /// Whether it is neither lost nor at its end.
    pub const fn is_at_work(&self) -> bool {
        self.end.is_none() && self.loss.is_none()
    }

    /// Whether it was lost.
    pub const fn is_lost(&self) -> bool {
        self.loss.is_some()
    }

    /// Whether it is connected, and its clock known.
    pub const fn is_ready(&self) -> bool {
        self.connected == self.sessions && self.pings == PINGS
    }

    /// Sends a message; false if its link has ended.
    pub fn send(&self, message: &ToShare) -> bool {
        !self.is_at_work() || (self.link.send)(message)
    }

    pub fn note_message(&mut self) {
        self.last_message = Instant::now();
    }

    /// Whether it has been silent for too long.
    pub fn is_silent(&self) -> bool {
        self.is_at_work() && self.last_message.elapsed() > SILENCE_MAX
    }

    /// Takes the answer to a ping; the fastest one has the smallest error. Returns whether another
    /// ping is needed.
    pub fn pong(&mut self, sent_ns: i64, clock_ns: i64, received_ns: i64) -> bool {
        let offset = ClockOffset::new(sent_ns, clock_ns, received_ns);
        if self.clock.is_none_or(|known| offset.error_ns < known.error_ns) {
            self.clock = Some(offset);
        }
        self.pings = (self.pings + 1).min(PINGS);
        self.pings < PINGS
    }

    /// Its clock; before the first answer, ours.
    pub fn clock(&self) -> ClockOffset {
        self.clock.unwrap_or(ClockOffset { ns: 0, error_ns: 0 })
    }

    /// Counts an interval before it is merged with those of other hosts; its threads get numbers
    /// that no other host's have.
    pub fn count(&mut self, interval: &mut RecordedInterval, host: usize, is_timed: bool) {
        let first = u32::try_from(host).unwrap_or(u32::MAX).saturating_mul(THREADS_MAX);
        for cpu in &mut interval.gauges.cpu {
            cpu.thread = first.saturating_add(cpu.thread);
        }
        self.next = self.next.max(interval.last + 1);
        for (sum, seen) in self.ended.iter_mut().zip(&interval.types) {
            *sum += seen.counts.ended();
            let completed = seen.counts.completed();
            self.completed += if is_timed { completed } else { 0 };
            self.completed_in_run += completed;
        }
        self.in_flight.clone_from(&interval.in_flight);
        self.in_flight.resize(self.ended.len(), 0);
        if let Some(arrived) = &interval.arrived {
            self.arrived.add(arrived);
        }
    }

    /// Records that it is lost. Returns the interval after its last, in which the transactions that
    /// were in flight are in doubt.
    pub fn lose(&mut self, at: Elapsed, reason: String) -> RecordedInterval {
        let mut interval = RecordedInterval::new(self.next, self.ended.len());
        for (seen, open) in interval.types.iter_mut().zip(&self.in_flight) {
            seen.counts.indeterminate = *open;
        }
        for (ended, open) in self.ended.iter_mut().zip(&self.in_flight) {
            *ended += open;
        }
        self.loss = Some(HostLoss { at, reason, open: std::mem::take(&mut self.in_flight) });
        interval
    }

    pub fn ended(&mut self, end: Box<ShareEnd>) {
        self.end = Some(end);
    }

    /// What it reported at its end.
    pub fn end(&self) -> Option<&ShareEnd> {
        self.end.as_deref()
    }

    /// Transactions started, by type, as far as is known.
    pub fn started(&self) -> &[u64] {
        self.end().map_or(&self.ended, |end| &end.started)
    }

    /// Transactions ended, by type.
    pub fn all_ended(&self) -> Vec<u64> {
        match self.end() {
            Some(end) => {
                let pairs = end.started.iter().zip(&end.in_flight);
                pairs.map(|(started, open)| started.saturating_sub(*open)).collect()
            }
            None => self.ended.clone(),
        }
    }

    /// Outcome of its arrivals, if the load is open. Those of a lost host that were due later never
    /// started.
    pub fn offered(&self, spec: &RunSpec, stop: Elapsed) -> Option<Offered> {
        if !spec.load.is_open() {
            return None;
        }
        if let Some(end) = self.end() {
            return end.offered;
        }
        let Arrived { started, skipped, given_up, .. } = self.arrived;
        let taken = started + skipped + given_up;
        let never_started = given_up + due_before((spec, None), self.share, taken, stop);
        Some(Offered { offered: started + skipped + never_started, skipped, never_started })
    }

    pub fn into_end(self) -> HostEnd {
        HostEnd {
            clock: self.clock(),
            name: self.link.name,
            cpus: self.link.cpus,
            sessions: self.sessions,
            late_ns: self.late_ns,
            completed: self.completed,
            completed_in_run: self.completed_in_run,
            end: self.end,
            loss: self.loss,
        }
    }
}

/// Whether a message can be of a share of this workload.
pub(super) fn is_possible(message: &FromShare, types: usize) -> bool {
    match message {
        FromShare::Second(interval) => interval.types.len() == types,
        FromShare::Ended(end) => end.started.len() == types && end.in_flight.len() == types,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_known_within_half_a_round_trip() {
        let ahead = ClockOffset::new(1_000, 6_500, 2_000);
        assert_eq!(ahead, ClockOffset { ns: 5_000, error_ns: 500 });
        assert_eq!(ahead.to_apply(), 5_000);
        assert_eq!(ClockOffset::new(1_000, 1_800, 2_000).to_apply(), 0, "they may agree");
        assert_eq!(ClockOffset::new(10_000, 4_000, 11_000).to_apply(), -6_500, "it may be behind");
    }
}
