//! Whose transaction is next, and when it is due: what the load model says, in the words of the loop.

use super::exemplar::Author;
use super::user::VirtualUser;
use super::worker::Context;
use crate::clock::Elapsed;
use crate::event::Note;
use crate::pace::Load;
use crate::random::Rng;
use crate::session::Database;
use crate::spec::{Length, RunSpec, Sessions};
use crate::workload::Workload;

/// Purposes of the streams of random numbers that inputs are drawn from.
const USERS: u64 = 1;
const ARRIVALS: u64 = 5;

/// Someone whose transactions are run: a user of a closed load, a terminal, or whoever has just arrived.
/// Plain data, so that a waiting terminal costs its bytes and no task.
pub(super) struct Client<W: Workload> {
    pub state: W::User,
    pub inputs: Rng,
    pub author: Author,
    /// The transaction type that comes next, or is being run.
    pub transaction: usize,
    /// When the last one finished; at first, the log-in.
    since: Elapsed,
}

/// A transaction that is to be run now.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    pub due: Elapsed,
    pub started: Elapsed,
    pub transaction: usize,
}

/// How a session finds its next transaction.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pace {
    /// Its own user's, at once.
    Closed,
    /// The next arrival.
    Open,
    /// Its own terminal's.
    Keyed,
    /// That of the terminal of the pool that has been due for longest. While the session serves it, the
    /// two have changed places.
    Pooled(Option<u32>),
}

impl Pace {
    pub fn of(spec: &RunSpec) -> Self {
        match (&spec.load, spec.pacing.sessions) {
            (Load::Closed, _) => Self::Closed,
            (Load::Keyed, Sessions::Own) => Self::Keyed,
            (Load::Keyed, Sessions::Pool(_)) => Self::Pooled(None),
            _ => Self::Open,
        }
    }

    /// What a session is called.
    pub const fn who(self) -> &'static str {
        match self {
            Self::Closed => "virtual user",
            Self::Keyed => "terminal",
            Self::Open | Self::Pooled(..) => "session",
        }
    }
}

impl<W: Workload> Client<W> {
    /// User or terminal `id`, as yet without a transaction.
    pub fn user(workload: &W, spec: &RunSpec, id: u32) -> Self {
        let mut inputs = Rng::of(spec.seed, &[USERS, u64::from(id)]);
        Self {
            state: workload.user(id, spec.users, &mut inputs),
            inputs,
            author: Author::User { user: id, nth: 0 },
            transaction: 0,
            since: Elapsed::from_duration(spec.pacing.login_delay.saturating_mul(id)),
        }
    }

    /// Goes on to the user's next transaction; false when there is none.
    #[inline]
    pub fn advance(&mut self, workload: &W, spec: &RunSpec) -> bool {
        let Author::User { nth, .. } = &mut self.author else { return false };
        if matches!(spec.length, Length::Transactions(all) if *nth == all) {
            return false;
        }
        let Some(next) = workload.next(&mut self.state, &mut self.inputs) else { return false };
        *nth += 1;
        self.transaction = next;
        true
    }

    /// Becomes an arrival; false when the workload has nothing for it to do.
    pub fn arrive(&mut self, workload: &W, seed: u64, arrival: u64) -> bool {
        self.inputs = Rng::of(seed, &[ARRIVALS, arrival]);
        self.author = Author::Arrival(arrival);
        let next = workload.arrive(&mut self.state, &mut self.inputs);
        self.transaction = next.unwrap_or_default();
        next.is_some()
    }

    /// Goes on to the terminal's next transaction, and says when it is due; `None` when there is none.
    ///
    /// # Panics
    /// When the workload has no keying times: [`RunSpec::validate`] refuses a keyed load without.
    pub fn key(&mut self, workload: &W, spec: &RunSpec) -> Option<Elapsed> {
        let last = self.transaction;
        if !self.advance(workload, spec) {
            return None;
        }
        let Author::User { user, nth } = self.author else { return None };
        let next = self.transaction;
        // Who has just logged in thinks first, so that not all begin at once.
        let last = if nth == 1 { next } else { last };
        let cycle = workload.description().cycle.as_ref();
        let cycle = cycle.expect("a spec of a keyed load was validated with its cycle");
        let pause = cycle.pause(last, next, spec.seed, user.into(), nth);
        Some(Elapsed(self.since.0.saturating_add(Elapsed::from_duration(pause).0)))
    }
}

impl<W: Workload, D: Database> Context<W, D> {
    /// Logs the terminals of the thread's pool in.
    pub(super) fn log_in(&self) {
        let plan = &self.plan;
        let ids = (self.thread_number()..plan.spec.users).step_by(plan.spec.threads as usize);
        let terminals =
            ids.map(|id| Client::user(&*plan.workload, &plan.spec, id)).collect::<Vec<_>>();
        self.working.set(terminals.len());
        *self.terminals.borrow_mut() = terminals;
        for place in 0..self.working.get() {
            self.key(u32::try_from(place).expect("terminals are counted in 32 bits"));
        }
    }

    /// The terminal at `place` goes on to its next transaction, and waits for its time.
    fn key(&self, place: u32) {
        let plan = &self.plan;
        let due = self.terminals.borrow_mut()[place as usize].key(&*plan.workload, &plan.spec);
        match due {
            Some(due) => self.agenda.push(due, place),
            None => {
                self.working.set(self.working.get() - 1);
                if self.working.get() == 0 {
                    self.agenda.close();
                }
            }
        }
    }

    /// The next arrival that shall be run.
    fn next_arrival(&self, now: Elapsed) -> Option<super::queue::Ticket> {
        let mut queue = self.queue.borrow_mut();
        let queue = queue.as_mut()?;
        let before = (queue.skipped, queue.given_up);
        let ticket = queue.take(now);
        if before != (queue.skipped, queue.given_up) {
            let mut recorder = self.recorder.borrow_mut();
            recorder.arrived().skipped += queue.skipped - before.0;
            recorder.arrived().given_up += queue.given_up - before.1;
        }
        if queue.overflows_first() {
            let text = format!(
                "the database does not follow: more than {} arrivals waited for a session; those that \
                 waited longest are given up and count as never started",
                self.plan.spec.pacing.backlog
            );
            self.note(Note::new("backlog", Some(now), text));
        }
        Some(ticket)
    }
}

impl<W: Workload, D: Database> VirtualUser<W, D> {
    /// The next transaction of a load that waits, when its time has come; `None` when there is none any
    /// more.
    pub(super) async fn wait_for_turn(&mut self, now: Elapsed) -> Option<Turn> {
        let turn = match self.pace {
            Pace::Closed => self.at_once(now),
            Pace::Open => self.arrival(now).await,
            Pace::Keyed => self.own_terminal(now).await,
            Pace::Pooled(_) => self.any_terminal(now).await,
        }?;
        // The stop may have come while it waited.
        (!self.context.signal.is_stopped(turn.started)).then_some(turn)
    }

    /// A closed load's: due now.
    #[inline]
    pub(super) fn at_once(&mut self, now: Elapsed) -> Option<Turn> {
        let plan = &self.context.plan;
        let goes_on = self.client.advance(&*plan.workload, &plan.spec);
        goes_on.then_some(Turn { due: now, started: now, transaction: self.client.transaction })
    }

    async fn arrival(&mut self, now: Elapsed) -> Option<Turn> {
        let ticket = self.context.next_arrival(now)?;
        let started = if ticket.due <= now {
            now
        } else {
            self.context.agenda.push(ticket.due, self.place);
            self.context.agenda.wait(self.place).await?;
            self.clock.now()
        };
        if self.context.signal.is_stopped(started) {
            self.context.returned.borrow_mut().push(ticket.due);
            return None;
        }
        let plan = &self.context.plan;
        let goes_on = self.client.arrive(&*plan.workload, plan.spec.seed, ticket.arrival);
        if !goes_on {
            self.context.returned.borrow_mut().push(ticket.due);
            return None;
        }
        self.context.tick(started);
        self.context.recorder.borrow_mut().arrived().started += 1;
        Some(Turn { due: ticket.due, started, transaction: self.client.transaction })
    }

    async fn own_terminal(&mut self, now: Elapsed) -> Option<Turn> {
        let plan = &self.context.plan;
        let due = self.client.key(&*plan.workload, &plan.spec)?;
        let started = if due <= now {
            now
        } else {
            self.context.agenda.push(due, self.place);
            self.context.agenda.wait(self.place).await?;
            self.clock.now()
        };
        Some(Turn { due, started, transaction: self.client.transaction })
    }

    async fn any_terminal(&mut self, now: Elapsed) -> Option<Turn> {
        let agenda = &self.context.agenda;
        let ((due, place), started) = match agenda.take_due(now) {
            Some(entry) => (entry, now),
            None => (agenda.wait(self.place).await?, self.clock.now()),
        };
        self.change_places(place);
        if let Pace::Pooled(serves) = &mut self.pace {
            *serves = Some(place);
        }
        Some(Turn { due, started, transaction: self.client.transaction })
    }

    /// The transaction has finished: a terminal goes back to its user, who thinks.
    #[inline]
    pub(super) fn leave(&mut self, finished: Elapsed) {
        self.client.since = finished;
        if let Pace::Pooled(serves) = &mut self.pace
            && let Some(place) = serves.take()
        {
            self.change_places(place);
            self.context.key(place);
        }
    }

    fn change_places(&mut self, place: u32) {
        std::mem::swap(&mut self.client, &mut self.context.terminals.borrow_mut()[place as usize]);
    }
}
