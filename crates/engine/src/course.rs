//! The course of a run, which is the same for one process and for several: its phases, the sums of its
//! seconds, its outages, and what is reported. The control thread and the coordinator own one each, and
//! add what differs: the messages of workers or hosts.

use std::ops::Range;

use tokio::sync::mpsc;
use triphammer_core::clock::{Clock, Elapsed};
use triphammer_core::event::{Event, Note, Phase};
use triphammer_core::recorder::RecordedInterval;

use super::demand::Demand;
use super::merge::Sums;
use super::outage::Outages;
use super::outbox::Outbox;
use super::phases::Phases;
use super::signal::{State, StopHandle};
use super::{RunEnding, accounts};

/// The longest sleep of the thread that leads a run; a timer cannot be set as far ahead as
/// [`Elapsed::NEVER`].
const SLEEP_MAX: Elapsed = Elapsed(86_400_000_000_000);

pub(super) struct Course {
    pub stopper: StopHandle,
    pub phases: Phases,
    pub sums: Sums,
    pub outbox: Outbox,
    pub demand: Demand,
    pub outages: Outages,
}

impl Course {
    pub fn new(
        phases: Phases,
        types: usize,
        demand: Demand,
        events: mpsc::Sender<Event>,
        stopper: StopHandle,
    ) -> Self {
        Self {
            stopper,
            phases,
            sums: Sums::new(types),
            outbox: Outbox::new(events),
            demand,
            outages: Outages::default(),
        }
    }

    /// Starts the run's clock, and enters the first phase.
    pub async fn begin(&mut self, clock: Clock) {
        let first = self.phases.begin(clock);
        self.outbox.send(Event::Started { clock }).await;
        self.enter(first);
    }

    pub fn enter(&mut self, phase: Phase) {
        if matches!(phase, Phase::Drain | Phase::Abort) {
            self.stopper.load().end();
        }
        let now = self.phases.enter(phase);
        self.outbox.offer(Event::Phase(phase, now));
    }

    /// Whether a state of the stop signal asks for something that has not been done yet.
    pub fn is_called(&self) -> impl Fn(&State) -> bool + use<> {
        let draining = self.phases.is_draining();
        let aborting = self.phases.current == Some(Phase::Abort);
        let shortens = self.phases.can_shorten();
        move |state| {
            (state.stop_requested && !draining)
                || (state.aborted && !aborting)
                || (state.window_over.is_some() && shortens)
        }
    }

    /// When to wake for the end of the phase, or for nothing.
    pub fn wake(&self, deadline: Option<Elapsed>) -> tokio::time::Instant {
        let far = Elapsed(self.phases.clock.now().0 + SLEEP_MAX.0);
        self.phases.clock.instant(deadline.unwrap_or(far).min(far))
    }

    /// Reports a second that all parts have completed, and notices an outage.
    pub fn emit(&mut self, mut second: RecordedInterval) {
        let completed = second.types.iter().map(|seen| seen.counts.completed()).sum();
        let number = second.last;
        if Elapsed::at_second(number + 1) <= self.phases.stop()
            && self.demand.asks_for_work(number)
            && let Some(note) = self.outages.second(number, completed)
        {
            self.outbox.note(note);
        }
        second.outage_since = self.outages.since();
        self.sums.add_second(&second, self.phases.is_timed(&second));
        self.outbox.second(second, self.phases.edges());
    }

    /// Ends a phase that lasts by the clock, and enters the next one. Returns false in the others.
    pub fn next_phase(&mut self) -> bool {
        match self.phases.current {
            Some(Phase::RampUp) => self.enter(Phase::Window),
            Some(Phase::Window) => {
                self.phases.window_is_over();
                self.stop();
            }
            Some(Phase::Drain | Phase::Abort) | None => return false,
        }
        true
    }

    /// Ends the run early, by request. Returns false if it is at its end anyway.
    pub fn stop_early(&mut self) -> bool {
        if self.phases.is_draining() {
            return false;
        }
        let now = self.phases.stop_early();
        self.outbox.note(Note::new("interrupted", Some(now), "stopped early"));
        self.stop();
        true
    }

    /// Lets no transaction start any more.
    pub fn stop(&mut self) {
        self.stopper.stopped();
        self.enter(Phase::Drain);
    }

    /// Abandons transactions in flight.
    pub fn abort(&mut self) {
        self.phases.ending = RunEnding::Aborted;
        self.enter(Phase::Abort);
        self.stopper.abort();
    }

    /// Closes the sinks, when `given` seconds have been reported. Returns the outages.
    pub async fn close(&mut self, given: u64) -> Vec<Range<u64>> {
        self.outbox.flush().await;
        self.stopper.over();
        let last = self.phases.window_end().map_or(given, Elapsed::second);
        let (outages, notes) = std::mem::take(&mut self.outages).end(last);
        let lost = accounts::sessions_lost((self.sums.lost, self.sums.reconnected));
        notes.into_iter().chain(lost).for_each(|note| self.outbox.note(note));
        outages
    }
}
