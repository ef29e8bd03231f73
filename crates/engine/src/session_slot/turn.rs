//! The next transaction of a session: its user, and when it is due. Expresses the load model for
//! the user loop.

use triphammer_core::clock::Elapsed;
use triphammer_core::event::Note;
use triphammer_core::pace::Load;
use triphammer_core::session::Database;
use triphammer_core::spec::{RunSpec, Sessions};
use triphammer_core::workload::Workload;

use super::SessionSlot;
use crate::context::Context;
use crate::queue::Ticket;

/// A transaction that should run now.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    pub due: Elapsed,
    pub started: Elapsed,
    pub transaction: usize,
}

/// How a session finds its next transaction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pace {
    /// The next transaction of the session's own user, at once.
    Closed,
    /// The next arrival of the open load.
    Open,
    /// The next transaction of the session's own terminal.
    Keyed,
    /// The next transaction of the recorded session.
    Recorded,
    /// That of the pool's terminal that has been due longest. While the session serves it, the two
    /// have changed places.
    Pooled(Option<u32>),
}

impl Pace {
    pub fn of(spec: &RunSpec) -> Self {
        match (&spec.load, spec.pacing.sessions) {
            (Load::Closed, _) => Self::Closed,
            (Load::Keyed, Sessions::Own) => Self::Keyed,
            (Load::Keyed, Sessions::Pool(_)) => Self::Pooled(None),
            (Load::Replay(_), _) => Self::Recorded,
            _ => Self::Open,
        }
    }

    /// Name of a session in messages.
    pub const fn who(self) -> &'static str {
        match self {
            Self::Closed => "virtual user",
            Self::Keyed => "terminal",
            Self::Open | Self::Pooled(..) | Self::Recorded => "session",
        }
    }
}

impl<W: Workload, D: Database> Context<W, D> {
    /// The next arrival that should run.
    fn next_arrival(&self, now: Elapsed) -> Option<Ticket> {
        let taken = self.waiting.take_ticket(now, self.signal.load())?;
        if taken.skipped + taken.given_up > 0 {
            let mut ledger = self.ledger.borrow_mut();
            let arrived = ledger.recorder.arrived();
            arrived.skipped += taken.skipped;
            arrived.given_up += taken.given_up;
        }
        if taken.overflows_first {
            let text = format!(
                "the database does not keep up: more than {} arrivals waited for a session; those \
                 that waited longest are dropped and count as never started",
                self.plan.spec.pacing.backlog
            );
            self.note(Note::new("backlog", Some(now), text));
        }
        Some(taken.ticket)
    }
}

impl<W: Workload, D: Database> SessionSlot<W, D> {
    /// The next transaction of a load that waits, once it is due; `None` when there are no more.
    pub(super) async fn wait_for_turn(&mut self, now: Elapsed) -> Option<Turn> {
        let turn = match self.pace {
            Pace::Closed => self.at_once(now),
            Pace::Open => self.arrival(now).await,
            Pace::Keyed => {
                let due = self.client.key(&*self.context.plan.workload, &self.context.plan.spec);
                self.own_user(now, due?).await
            }
            Pace::Recorded => {
                let plan = &self.context.plan;
                let Some(due) = self.client.replay(&*plan.workload, &plan.spec) else {
                    self.context.without_work(now);
                    return None;
                };
                self.own_user(now, due).await
            }
            Pace::Pooled(_) => self.any_terminal(now).await,
        }?;
        // The run may have stopped during the wait.
        (!self.context.signal.is_stopped(turn.started)).then_some(turn)
    }

    /// The next transaction of a closed load: due now.
    #[inline]
    pub(super) fn at_once(&mut self, now: Elapsed) -> Option<Turn> {
        let plan = &self.context.plan;
        let goes_on = self.client.advance(&*plan.workload, &plan.spec);
        if !goes_on {
            self.context.without_work(now);
        }
        goes_on.then_some(Turn { due: now, started: now, transaction: self.client.transaction })
    }

    async fn arrival(&mut self, now: Elapsed) -> Option<Turn> {
        let ticket = self.context.next_arrival(now)?;
        let (due, started) = if ticket.due <= now {
            (ticket.due, now)
        } else {
            let due = self.context.waiting.until_due(ticket, self.place).await?;
            (due, self.clock.now())
        };
        if self.context.signal.is_stopped(started) {
            self.context.waiting.give_back(due);
            return None;
        }
        let plan = &self.context.plan;
        let goes_on = self.client.arrive(&*plan.workload, plan.spec.seed, ticket.arrival);
        if !goes_on {
            self.context.waiting.give_back(due);
            self.context.without_work(due);
            return None;
        }
        self.context.tick(started);
        self.context.ledger.borrow_mut().recorder.arrived().started += 1;
        Some(Turn { due, started, transaction: self.client.transaction })
    }

    /// The next transaction of the session's own user, once it is due.
    async fn own_user(&mut self, now: Elapsed, due: Elapsed) -> Option<Turn> {
        let started = if due <= now {
            now
        } else {
            self.context.waiting.timers.push(due, self.place);
            self.context.waiting.timers.wait(self.place).await?;
            self.clock.now()
        };
        Some(Turn { due, started, transaction: self.client.transaction })
    }

    async fn any_terminal(&mut self, now: Elapsed) -> Option<Turn> {
        let timers = &self.context.waiting.timers;
        let ((due, place), started) = match timers.take_due(now) {
            Some(entry) => (entry, now),
            None => (timers.wait(self.place).await?, self.clock.now()),
        };
        self.change_places(place);
        if let Pace::Pooled(serves) = &mut self.pace {
            *serves = Some(place);
        }
        Some(Turn { due, started, transaction: self.client.transaction })
    }

    /// Records that the transaction has finished: a terminal returns to its user, who thinks.
    #[inline]
    pub(super) fn leave(&mut self, finished: Elapsed) {
        self.client.since = finished;
        if let Pace::Pooled(serves) = &mut self.pace
            && let Some(place) = serves.take()
        {
            self.change_places(place);
            self.context.waiting.key(&self.context.plan, place);
        }
    }

    fn change_places(&mut self, place: u32) {
        self.context.waiting.change_places(&mut self.client, place);
    }
}
